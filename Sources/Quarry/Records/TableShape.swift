import QuarryCore

/// What the persistence methods need to know of a table or view.
final class TableShape: Equatable {
    private let schema: String

    let name: String

    /// The columns, generated ones too.
    let columns: [String]

    /// The columns of the primary key; the hidden `rowid` where none is declared; none for views.
    let primaryKey: [String]

    /// The column that has the rowid, by its declared name.
    let rowIDColumn: String?

    /// Whether rows have a rowid.
    let hasRowID: Bool

    let isView: Bool

    /// Reads the schema.
    ///
    /// - throws: `DatabaseError` if there is no such table or view.
    init(_ db: Database, _ name: String) throws {
        let tables = try Row.fetchAll(
            db, sql: "SELECT schema, type, wr FROM pragma_table_list WHERE name = ? COLLATE NOCASE", arguments: [name])
        // Where SQLite looks for a name: https://www.sqlite.org/lang_naming.html
        guard let table = tables.min(by: { Self.rank($0[0]) < Self.rank($1[0]) }) else {
            throw DatabaseError(message: "no such table: \(name)")
        }
        let schema: String = table[0]
        let type: String = table[1]
        let prefix = "PRAGMA \(schema.quotedDatabaseIdentifier)."
        let argument = "(\(name.quotedDatabaseIdentifier))"
        let rows = try Row.fetchAll(db, sql: "\(prefix)table_xinfo\(argument)")
        let key = rows.filter { $0["pk"] > 0 }.sorted { ($0["pk"] as Int) < $1["pk"] }.map { $0["name"] as String }
        self.schema = schema
        self.name = name
        isView = type == "view"
        hasRowID = !isView && table[2] == 0
        // Hidden columns of virtual tables are no columns to write.
        columns = rows.filter { $0["hidden"] != 1 }.map { $0["name"] }
        if key.isEmpty {
            primaryKey = hasRowID ? ["rowid"] : []
            rowIDColumn = nil
        } else {
            primaryKey = key
            // The rowid needs no index of its own.
            let indexes = try Row.fetchAll(db, sql: "\(prefix)index_list\(argument)")
            rowIDColumn = hasRowID && type == "table" && !indexes.contains { $0["origin"] == "pk" } ? key[0] : nil
        }
    }

    static func == (lhs: TableShape, rhs: TableShape) -> Bool {
        lhs.schema == rhs.schema && lhs.name == rhs.name && lhs.columns == rhs.columns
            && lhs.primaryKey == rhs.primaryKey && lhs.rowIDColumn == rhs.rowIDColumn
            && lhs.hasRowID == rhs.hasRowID && lhs.isView == rhs.isView
    }

    private static func rank(_ schema: String) -> Int {
        switch schema {
        case "temp": 0
        case "main": 1
        default: 2
        }
    }

    /// The columns of each unique index that has a value for every row.
    func uniqueKeys(_ db: Database) throws -> [[String]] {
        let prefix = "PRAGMA \(schema.quotedDatabaseIdentifier)."
        let indexes = try Row.fetchAll(db, sql: "\(prefix)index_list(\(name.quotedDatabaseIdentifier))")
        return try indexes.filter { $0["unique"] == 1 && $0["partial"] == 0 }.compactMap { index in
            let columns = try String?.fetchAll(
                db, sql: "\(prefix)index_info(\((index["name"] as String).quotedDatabaseIdentifier))",
                adapter: SuffixRowAdapter(fromIndex: 2))
            // Expressions have no name.
            return columns.contains(nil) ? nil : columns.compactMap { $0 }
        }
    }

    /// The name of a column in the table, whatever the case; nil if there is none.
    func column(_ name: String) -> String? { columns.first { $0.isSameColumn(as: name) } }

    func isOfPrimaryKey(_ column: String) -> Bool { primaryKey.contains { $0.isSameColumn(as: column) } }
}
