import Quarry
import QuarryCore

/// The database that salvaged rows are written to.
final class SalvageTarget {
    /// A table that exists in the target.
    struct Table {
        let name: String
        let shape: RowShape
        /// A name of the rowid that no column has; nil for a table WITHOUT ROWID, or without such a name.
        let rowIDName: String?
        let isWithoutRowID: Bool
    }

    /// A row of a damaged file.
    struct Row {
        var page: UInt32
        /// nil for a row of a table WITHOUT ROWID.
        var rowID: Int64?
        var record: SalvagedRecord
    }

    /// The end of an insertion.
    enum Outcome: Equatable {
        case inserted
        /// The table has the same row.
        case duplicate
        /// The table refuses the row.
        case refused(String)
    }

    let db: Database
    let encoding: FileHeader.Encoding
    private var insertions: [Insertion: Statement] = [:]
    private(set) var lostAndFound: LostAndFound

    /// The facts on which the SQL of an insertion depends.
    private struct Insertion: Hashable {
        var table: String
        var columnCount: Int
        var hasRowID: Bool
        /// The columns whose text is bound as bytes.
        var castColumns: [Int]
    }

    init(_ db: Database, encoding: FileHeader.Encoding, tableNames: Set<String>) {
        self.db = db
        self.encoding = encoding
        lostAndFound = LostAndFound(avoiding: tableNames)
    }

    // MARK: - Tables

    /// The table as created in the target; nil if there is none with that name.
    func table(_ name: String) throws -> Table? {
        let found = try QuarryCore.Row.fetchOne(
            db, sql: "SELECT type, wr FROM pragma_table_list(?) WHERE schema = 'main'", arguments: [name])
        guard let found else { return nil }
        let (type, isWithoutRowID): (String, Bool) = (found[0], found[1])
        guard type == "table" || type == "shadow" else { return nil }
        return isWithoutRowID ? try tableWithoutRowID(name) : try tableWithRowID(name)
    }

    private struct ColumnRow {
        var column: RowShape.Column
        var isKey: Bool
        var declaredType: String
        var isVirtual: Bool
    }

    private func columnRows(_ name: String) throws -> [ColumnRow] {
        try QuarryCore.Row.fetchAll(
            db, sql: #"SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid"#,
            arguments: [name]
        ).map { row in
            let (type, hidden): (String, Int) = (row[1] ?? "", row[4])
            return ColumnRow(
                column: RowShape.Column(
                    name: row[0], affinity: ColumnAffinity(declaredType: type), isNotNull: row[2],
                    isGenerated: hidden >= 2),
                isKey: row[3] != 0, declaredType: type, isVirtual: hidden == 2)
        }
    }

    private func tableWithRowID(_ name: String) throws -> Table {
        var rows = try columnRows(name)
        let keys = rows.indices.filter { rows[$0].isKey }
        if keys.count == 1, rows[keys[0]].declaredType.uppercased() == "INTEGER" {
            // A key that isn't the rowid has an index: <https://www.sqlite.org/lang_createtable.html#rowid>.
            let hasIndex = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk')", arguments: [name])
            if hasIndex == false {
                rows[keys[0]].column.isRowID = true
                rows[keys[0]].column.isNotNull = false
            }
        }
        let names = Set(rows.map { $0.column.name.lowercased() })
        // Values of virtual columns aren't stored.
        return Table(
            name: name, shape: RowShape(columns: rows.filter { !$0.isVirtual }.map(\.column)),
            rowIDName: RowID.names.first { !names.contains($0) }, isWithoutRowID: false)
    }

    /// The records of such a table begin with its key:
    /// <https://www.sqlite.org/fileformat2.html#representation_of_without_rowid_tables>.
    private func tableWithoutRowID(_ name: String) throws -> Table {
        let rows = try columnRows(name)
        let order = try Int.fetchAll(
            db,
            sql: """
                SELECT x.cid FROM pragma_index_list(?1) AS l, pragma_index_xinfo(l.name) AS x \
                WHERE l.origin = 'pk' AND x.cid >= 0 ORDER BY x.seqno
                """, arguments: [name])
        return Table(
            name: name,
            shape: RowShape(
                columns: order.filter { rows.indices.contains($0) && !rows[$0].isVirtual }.map { rows[$0].column }),
            rowIDName: nil, isWithoutRowID: true)
    }

    // MARK: - Rows

    /// Inserts a row.
    ///
    /// - throws: errors that concern all rows: a full disk, a cancelled task.
    func insert(_ row: Row, into table: Table) throws -> Outcome {
        guard row.record.isComplete else { return .refused("the row is damaged") }
        if let doubt = row.record.doubt { return .refused(doubt.rawValue) }
        guard row.record.values.count <= table.shape.columns.count else {
            return .refused("the row has more values than the table has columns")
        }
        if !table.isWithoutRowID, table.rowIDName == nil, !table.shape.columns.contains(where: \.isRowID) {
            // The columns have all names of the rowid: SQLite chooses a new rowid.
            return try insert(row, into: table, rowIDName: nil)
        }
        return try insert(row, into: table, rowIDName: table.rowIDName)
    }

    private func insert(_ row: Row, into table: Table, rowIDName: String?) throws -> Outcome {
        var arguments: [DatabaseValue] = []
        var cast: [Int] = []
        if rowIDName != nil, let rowID = row.rowID { arguments.append(DatabaseValue(rawStorage: .int64(rowID))) }
        for (index, value) in row.record.values.enumerated() {
            let column = table.shape.columns[index]
            if column.isGenerated || column.isRowID && rowIDName != nil { continue }
            if column.isRowID, let rowID = row.rowID {
                arguments.append(DatabaseValue(rawStorage: .int64(rowID)))
            } else {
                arguments.append(bound(value, index, &cast))
            }
        }
        let insertion = Insertion(
            table: table.name, columnCount: row.record.values.count, hasRowID: rowIDName != nil, castColumns: cast)
        do {
            let statement = try statement(insertion, table, rowIDName: rowIDName)
            try statement.execute(arguments: StatementArguments(arguments))
            return .inserted
        } catch let error as DatabaseError where error.concernsRow {
            if error.resultCode == .SQLITE_CONSTRAINT, try hasRow(row, table) { return .duplicate }
            return .refused(error.message ?? "\(error.resultCode)")
        }
    }

    /// The value to bind. Text that isn't valid in its encoding is bound as bytes, and converted by SQL, so that each
    /// byte is kept.
    private func bound(_ value: SalvagedRecord.Value, _ index: Int, _ cast: inout [Int]) -> DatabaseValue {
        if let value = value.databaseValue(encoding) { return value }
        cast.append(index)
        guard case .text(let bytes) = value else { return .null }
        return DatabaseValue(rawStorage: .blob(bytes))
    }

    private func statement(_ insertion: Insertion, _ table: Table, rowIDName: String?) throws -> Statement {
        if let statement = insertions[insertion] { return statement }
        var names = rowIDName.map { [$0] } ?? []
        var values = names.map { _ in "?" }
        for (index, column) in table.shape.columns.prefix(insertion.columnCount).enumerated() {
            if column.isGenerated || column.isRowID && rowIDName != nil { continue }
            names.append(column.name.quotedDatabaseIdentifier)
            values.append(insertion.castColumns.contains(index) ? "CAST(? AS TEXT)" : "?")
        }
        let list =
            names.isEmpty
            ? "DEFAULT VALUES" : "(\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
        // The table's own policy might drop a row, replace another one, or roll back everything:
        // <https://www.sqlite.org/lang_conflict.html>.
        let statement = try db.makeStatement(
            sql: "INSERT OR ABORT INTO main.\(table.name.quotedDatabaseIdentifier) \(list)")
        if insertions.count >= 64 { insertions.removeAll() }
        insertions[insertion] = statement
        return statement
    }

    /// Whether the table has the row already: the file had it twice.
    private func hasRow(_ row: Row, _ table: Table) throws -> Bool {
        let columns = zip(table.shape.columns, row.record.values).filter { !$0.0.isGenerated && !$0.0.isRowID }
        let names = columns.isEmpty ? "1" : columns.map { $0.0.name.quotedDatabaseIdentifier }.joined(separator: ", ")
        var condition: String
        var arguments: [DatabaseValue] = []
        if let rowID = row.rowID {
            guard let name = table.rowIDName ?? table.shape.columns.first(where: \.isRowID)?.name else { return false }
            condition = "\(name.quotedDatabaseIdentifier) = ?"
            arguments = [DatabaseValue(rawStorage: .int64(rowID))]
        } else {
            // The key comes first. SQLite limits the depth of expressions: <https://www.sqlite.org/limits.html>.
            let usable = columns.prefix(500).filter { $0.1.databaseValue(encoding) != nil }
            condition = usable.map { "\($0.0.name.quotedDatabaseIdentifier) IS ?" }.joined(separator: " AND ")
            arguments = usable.compactMap { $0.1.databaseValue(encoding) }
            if condition.isEmpty { condition = "1" }
        }
        let sql = "SELECT \(names) FROM main.\(table.name.quotedDatabaseIdentifier) WHERE \(condition)"
        let found = try QuarryCore.Row.fetchOne(db, sql: sql, arguments: StatementArguments(arguments))
        guard let found else { return false }
        return columns.enumerated().allSatisfy { index, column in
            // Text that isn't valid is compared by its valid rest: it differs.
            column.1.databaseValue(encoding).map { $0 == found[index] as DatabaseValue } ?? false
        }
    }

    /// Keeps a row that has no place in a table.
    ///
    /// - parameter table: the table to which it probably belonged.
    func keep(_ row: Row, table: String?, reason: String) throws {
        var cast: [Int] = []
        let values = row.record.values.enumerated().map { bound($1, $0, &cast) }
        try lostAndFound.insert(row, values, cast, table: table, reason: reason, db)
    }
}
