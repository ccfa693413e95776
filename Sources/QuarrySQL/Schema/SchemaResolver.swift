package import QuarryCore

/// The facts that rendering a definition requires of the database.
package protocol SchemaResolver {
    /// SQL as text, with its values written as literals.
    func text(of sql: SQL) throws -> String

    /// Whether a table exists in the schema of the definition.
    func tableExists(_ name: String, in schemaName: String?) throws -> Bool

    /// The name of the attached database that has a table; nil for a table of `main` or `temp`, which CREATE INDEX
    /// finds by its name alone: <https://www.sqlite.org/lang_createindex.html>.
    func attachedSchema(of table: String) throws -> String?

    /// Whether a table has rows.
    ///
    /// - throws: `DatabaseError` if the table doesn't exist.
    func hasRows(in table: String, _ schemaName: String?) throws -> Bool

    /// The columns of the primary key of a table; empty if the key is the hidden rowid.
    ///
    /// - throws: `DatabaseError` if the table doesn't exist.
    func primaryKeyColumns(of table: String, in schemaName: String?) throws -> [ReferencedColumn]

    /// Whether foreign keys are currently enforced.
    var checksForeignKeys: Bool { get }

    /// The type that a column declares.
    func declaredType(_ type: SQLColumnType) -> String
}

extension SchemaResolver {
    package func declaredType(_ type: SQLColumnType) -> String { type.rawValue }
}

/// A column that a foreign key references.
package struct ReferencedColumn: Equatable, Sendable {
    package var name: String
    package var type: SQLColumnType?
    /// The suffix of the name of a column that `belongsTo` defines: `Id`.
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

    /// The rowid of a table without a primary key. No foreign key can reference it, but SQLite accepts the definition:
    /// <https://www.sqlite.org/foreignkeys.html#fk_indexes>.
    static let hiddenRowID = ReferencedColumn(name: "rowid", type: .integer, suffix: "Id")
}

/// The qualified name of an object in its schema: `"player"`, `"main"."player"`.
struct QualifiedName {
    var name: String
    var schemaName: String?

    var sql: String { (schemaName.map { $0.quotedDatabaseIdentifier + "." } ?? "") + name.quotedDatabaseIdentifier }
}

extension [String] {
    /// `"a", "b"`
    var quotedList: String { map(\.quotedDatabaseIdentifier).joined(separator: ", ") }
}
