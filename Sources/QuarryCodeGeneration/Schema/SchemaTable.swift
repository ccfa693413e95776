/// A table or view of a database, as far as code is made of it.
struct SchemaTable {
    enum Kind {
        case table
        case view
        case virtual
        /// It belongs to a virtual table.
        case shadow
    }

    var name: String
    var kind: Kind
    var columns: [SchemaColumn] = []

    /// The columns of the primary key; none where the rowid is hidden.
    var primaryKey: [String] = []

    /// The column that is the rowid.
    var rowIDColumn: String?

    var foreignKeys: [SchemaForeignKey] = []

    /// The columns of unique keys that are about all rows, the primary key's among them.
    var uniqueKeys: [[String]] = []

    /// Why its columns can't be read.
    var problem: String?

    func column(_ name: String) -> SchemaColumn? { columns.first { $0.name.isSameSQLName(as: name) } }
}

struct SchemaColumn {
    var name: String
    /// The declared type; empty if there is none.
    var type: String
    var isNotNull: Bool
    var defaultSQL: String?
    var isGenerated: Bool
    var contents = ColumnContents()
}

struct SchemaForeignKey: Equatable {
    var table: String
    var columns: [String]
    /// Nil for the primary key.
    var destinationColumns: [String]?
    var onDelete: String
    var onUpdate: String
}

/// Something that SQL made: a table, an index, a trigger, a view.
struct SchemaObject {
    var type: String
    var name: String
    var table: String
    var sql: String
}

extension String {
    /// As SQLite compares names: without the case of the letters A to Z.
    func isSameSQLName(as other: String) -> Bool { sqlName == other.sqlName }

    /// The name in small letters.
    var sqlName: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
