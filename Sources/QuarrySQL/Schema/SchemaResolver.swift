package import QuarryCore

/// What the rendering of a definition has to ask the database.
package protocol SchemaResolver {
    /// Some SQL as text, with its values written as literals.
    func text(of sql: SQL) throws -> String

    /// Whether there is such a table where the definition's will be.
    func tableExists(_ name: String, in schemaName: String?) throws -> Bool

    /// The columns of the primary key of a table; none if its key is its hidden rowid.
    ///
    /// - throws: `DatabaseError` if there is no such table.
    func primaryKeyColumns(of table: String, in schemaName: String?) throws -> [ReferencedColumn]
}

/// A column that a foreign key refers to.
package struct ReferencedColumn: Equatable, Sendable {
    package var name: String
    package var type: Database.ColumnType?

    package init(name: String, type: Database.ColumnType?) {
        self.name = name
        self.type = type
    }
}

/// The name of a thing in its schema: `"player"`, `"main"."player"`.
struct QualifiedName {
    var name: String
    var schemaName: String?

    var sql: String { (schemaName.map { $0.quotedDatabaseIdentifier + "." } ?? "") + name.quotedDatabaseIdentifier }
}

extension [String] {
    /// `"a", "b"`
    var quotedList: String { map(\.quotedDatabaseIdentifier).joined(separator: ", ") }
}
