/// A table, view or virtual table of a connection. Names are compared without regard to case, as SQLite does.
package struct TableName: Hashable, Sendable {
    /// `main`, `temp`, or the name of an attached database.
    package let schema: String

    /// The name as written.
    package let name: String

    /// The schema and the name in lower case. Only this is compared and hashed.
    private let key: String

    package init(schema: String, name: String) {
        self.schema = schema
        self.name = name
        key = schema.lowercasedASCII + "\0" + name.lowercasedASCII
    }

    /// Whether it is SQLite's own list of tables, indexes, triggers and views.
    var isSchemaTable: Bool { name == "sqlite_master" || name == "sqlite_temp_master" }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.key == rhs.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension TableName: CustomStringConvertible {
    /// `player`, `archive.player`
    package var description: String { schema.lowercasedASCII == "main" ? name : "\(schema).\(name)" }
}
