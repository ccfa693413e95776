import QuarryCore
import QuarrySQL

/// A query for the rows of a table that have the given keys.
struct KeyQuery {
    private let table: String

    /// The columns of the key.
    private let columns: [String]

    /// The values of all keys, one key after another.
    private let values: [DatabaseValue]

    /// Whether the keys are values of a primary key with one column.
    private let isSimple: Bool

    /// Selects rows by values of a primary key with one column; nil if no row can have any of them.
    init?<Record: TableRecord, Keys: Collection>(
        _ type: Record.Type, keys: Keys, _ table: String?, _ db: Database
    ) throws where Keys.Element: DatabaseValueConvertible {
        let plan = try RecordPlans.plan(type, table, db)
        let column = try plan.keyColumn(db, sure: true)
        self.table = plan.table
        columns = [column]
        isSimple = true
        values = keys.map { type.databaseValue(ofKey: $0, column: column) }.filter { !$0.isNull }
        if values.isEmpty { return nil }
    }

    /// Selects the row with a value of a primary key with one column; nil if no row can have it.
    init?<Record: TableRecord>(
        _ type: Record.Type, key: some DatabaseValueConvertible, _ table: String?, _ db: Database
    ) throws {
        try self.init(type, keys: CollectionOfOne(key), table, db)
    }

    /// Selects rows by the columns of a unique key; nil if no key is given.
    ///
    /// - throws: `SQLITE_MISUSE` if the keys have different columns, or columns that aren't a unique key.
    init?<Record: TableRecord>(
        _ type: Record.Type, keys: some Collection<[String: (any DatabaseValueConvertible)?]>, _ table: String?,
        _ db: Database
    ) throws {
        guard let first = keys.first else { return nil }
        let plan = try RecordPlans.plan(type, table, db)
        let columns = try plan.uniqueKey(Array(first.keys), db)
        self.table = plan.table
        self.columns = columns
        isSimple = false
        values = try keys.flatMap { key in
            guard key.count == columns.count else { throw Self.mixture(plan.table) }
            return try columns.map { column in
                guard let value = key[column] else { throw Self.mixture(plan.table) }
                return value.map { type.databaseValue(ofKey: $0, column: column) } ?? .null
            }
        }
    }

    private static func mixture(_ table: String) -> DatabaseError {
        DatabaseError.misuse("keys of table \(table) must have the same columns")
    }

    // MARK: - SQL

    private var keyCount: Int { values.count / columns.count }

    /// The condition for a range of the keys, and its arguments.
    private func condition(_ keys: Range<Int>) -> (sql: String, arguments: [DatabaseValue]) {
        let names = columns.map(\.quotedDatabaseIdentifier)
        let values = self.values[keys.lowerBound * columns.count..<keys.upperBound * columns.count]
        if isSimple, keys.count > 1 {
            let marks = repeatElement("?", count: keys.count).joined(separator: ", ")
            return ("\(names[0]) IN (\(marks))", Array(values))
        }
        let alternatives = keys.map { key in
            let tests = names.indices.map { index in
                self.values[key * names.count + index].isNull ? "\(names[index]) IS NULL" : "\(names[index]) = ?"
            }
            return tests.count == 1 ? tests[0] : tests.map { "(\($0))" }.joined(separator: " AND ")
        }
        let sql = alternatives.count == 1 ? alternatives[0] : alternatives.map { "(\($0))" }.joined(separator: " OR ")
        return (sql, values.filter { !$0.isNull })
    }

    /// Ranges of keys that each fit into a statement.
    private func parts(_ db: Database) -> [Range<Int>] {
        let most = max(1, db.maximumStatementArgumentCount / columns.count)
        // Alternatives nest, and the depth is limited to 1000: https://www.sqlite.org/limits.html#max_expr_depth
        let count = isSimple ? most : min(most, db.limit(.expressionDepth) / 2 - 10)
        return stride(from: 0, to: keyCount, by: max(1, count)).map { $0..<min($0 + max(1, count), keyCount) }
    }

    private var selection: String { "SELECT * FROM \(table.quotedDatabaseIdentifier) WHERE " }

    /// The query for a range of the keys, with the columns that a type selects.
    private func query<Record: FetchableRecord>(
        _ keys: Range<Int>, _ type: Record.Type, _ db: Database
    ) throws -> SQLRequest<Record> {
        let (sql, arguments) = condition(keys)
        var request = SQLRequest<Record>(sql: selection + sql, arguments: StatementArguments(values: arguments))
        if let selected = Record.recordSelection {
            let columns = try WrittenSQL(db) { try $0.write(returned: selected, table: table) }
            request = SQLRequest(
                sql: "SELECT \(columns.text) FROM \(table.quotedDatabaseIdentifier) WHERE " + sql,
                arguments: StatementArguments(values: columns.arguments + arguments))
        }
        if db.asksForRegion, isSimple, Record.recordSelection?.contains(where: \.mayReadTables) != true {
            db.noteRows(arguments, column: columns[0], of: table, request)
        }
        return request
    }

    // MARK: - Running

    func fetchOne<Record: FetchableRecord>(_ db: Database, _ type: Record.Type) throws -> Record? {
        try query(0..<1, type, db).fetchOne(db)
    }

    func fetchAll<Record: FetchableRecord>(_ db: Database, _ type: Record.Type) throws -> [Record] {
        let parts = parts(db)
        if parts.count > 1 { return try withoutRepetitions().fetchParts(db, type) }
        return try fetchParts(db, type)
    }

    private func fetchParts<Record: FetchableRecord>(_ db: Database, _ type: Record.Type) throws -> [Record] {
        var records: [Record] = []
        for part in parts(db) {
            records += try query(part, type, db).fetchAll(db)
        }
        return records
    }

    func fetchCursor<Record: FetchableRecord>(_ db: Database, _ type: Record.Type) throws -> RecordCursor<Record> {
        let parts = parts(db)
        let query = parts.count > 1 ? withoutRepetitions() : self
        var rest = query.parts(db)[...]
        return try FetchCursor(query.query(rest.removeFirst(), type, db).makePreparedRequest(db)) {
            try rest.popFirst().map { try query.query($0, type, db).makePreparedRequest(db) }
        }
    }

    func exists(_ db: Database) throws -> Bool {
        let (sql, arguments) = condition(0..<1)
        let request = SQLRequest<Bool>(
            sql: "SELECT EXISTS (\(selection)\(sql))", arguments: StatementArguments(values: arguments))
        if db.asksForRegion, isSimple { db.noteRows(arguments, column: columns[0], of: table, request) }
        return try request.fetchOne(db) ?? false
    }

    /// - returns: the number of deleted rows.
    func delete(_ db: Database) throws -> Int {
        let parts = parts(db)
        guard parts.count > 1 else { return try delete(parts, db) }
        var count = 0
        try db.inSavepoint {
            count = try delete(parts, db)
            return .commit
        }
        return count
    }

    private func delete(_ parts: [Range<Int>], _ db: Database) throws -> Int {
        var count = 0
        for part in parts {
            let (sql, arguments) = condition(part)
            count += try db.countingChanges(of: table) {
                try db.execute(
                    sql: "DELETE FROM \(table.quotedDatabaseIdentifier) WHERE \(sql)",
                    arguments: StatementArguments(values: arguments))
            }
        }
        return count
    }

    /// The keys without duplicates: a key in two parts would find its row twice.
    private func withoutRepetitions() -> KeyQuery {
        var seen: Set<[DatabaseValue]> = []
        let keys = (0..<keyCount).map { Array(values[$0 * columns.count..<($0 + 1) * columns.count]) }
        return KeyQuery(
            table: table, columns: columns, values: keys.filter { seen.insert($0).inserted }.flatMap { $0 },
            isSimple: isSimple)
    }

    private init(table: String, columns: [String], values: [DatabaseValue], isSimple: Bool) {
        self.table = table
        self.columns = columns
        self.values = values
        self.isSimple = isSimple
    }
}

extension RecordPlan {
    /// The given columns, which identify a row: first the columns of a unique key in its order, then the others.
    ///
    /// - throws: `SQLITE_MISUSE` if they contain no unique key, or the table has no such column.
    func uniqueKey(_ columns: [String], _ db: Database) throws -> [String] {
        let shape = try shape(db, sure: true)
        var keys = [shape.primaryKey]
        keys += shape.rowIDNames.map { [$0] }
        let key = try keys.first { $0.isKey(in: columns) } ?? shape.uniqueKey(db) { $0.isKey(in: columns) }
        if let key {
            let others = columns.filter { column in !key.contains { $0.isSameName(as: column) } }
            // SQLite would take a name that isn't a column for a text.
            if others.allSatisfy({ shape.column($0) != nil }) { return key.spelled(as: columns) + others.sorted() }
        }
        let names = columns.sorted().map { String(reflecting: $0) }.joined(separator: ", ")
        throw DatabaseError.misuse("table \(table) has no unique key on \(names.isEmpty ? "no column" : names)")
    }
}

extension [String] {
    /// Whether all of these columns are among the given ones, in any order.
    fileprivate func isKey(in columns: [String]) -> Bool {
        !isEmpty && allSatisfy { name in columns.contains { $0.isSameName(as: name) } }
    }

    /// The names of the given columns, in the order of these columns.
    fileprivate func spelled(as columns: [String]) -> [String] {
        map { name in columns.first { $0.isSameName(as: name) } ?? name }
    }
}
