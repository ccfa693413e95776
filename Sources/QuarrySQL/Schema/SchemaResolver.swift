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

    /// Whether foreign keys are checked at the moment.
    var checksForeignKeys: Bool { get }
}

/// A column that a foreign key refers to.
package struct ReferencedColumn: Equatable, Sendable {
    package var name: String
    package var type: SQLColumnType?
    /// The end of the name of a column that `belongsTo` defines: `Id`.
    var suffix: String

    package init(name: String, type: SQLColumnType?) {
        self.name = name
        self.type = type
        suffix = name.prefix(1).uppercased() + name.dropFirst()
    }

    private init(name: String, type: SQLColumnType?, suffix: String) {
        self.name = name
        self.type = type
        self.suffix = suffix
    }

    /// The rowid of a table without a primary key. SQLite lets no foreign key refer to it, but accepts the definition:
    /// <https://www.sqlite.org/foreignkeys.html#fk_indexes>.
    static let hiddenRowID = ReferencedColumn(name: "rowid", type: .integer, suffix: "Id")
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
