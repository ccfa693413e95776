public import QuarryCore

/// The changes of an altered table.
///
/// ```swift
/// try db.alter(table: "player") { t in
///     t.add(column: "url", .text)
///     t.rename(column: "score", to: "points")
///     t.drop(column: "bonus")
/// }
/// ```
/// ```sql
/// ALTER TABLE "player" ADD COLUMN "url" TEXT
/// ALTER TABLE "player" RENAME COLUMN "score" TO "points"
/// ALTER TABLE "player" DROP COLUMN "bonus"
/// ```
///
/// For changes that ALTER TABLE can't make, use `Database.rebuild(table:)`. See
/// <https://www.sqlite.org/lang_altertable.html>.
public final class TableAlteration {
    private enum Change {
        case add(ColumnDefinition)
        case addSQL(SQL)
        case rename(String, String)
        case drop(String)
    }

    private let name: String
    private let schemaName: String?
    private var changes: [Change] = []

    package init(name: String, schemaName: String?) {
        self.name = name
        self.schemaName = schemaName
    }

    /// Adds a column.
    ///
    /// ```sql
    /// ALTER TABLE "player" ADD COLUMN "url" TEXT
    /// ```
    ///
    /// - parameter name: the column's name.
    /// - parameter type: the column's type; nil for none.
    @discardableResult
    public func add(column name: String, _ type: SQLColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        changes.append(.add(column))
        return column
    }

    /// Adds a column defined in SQL.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in t.addColumn(sql: "bonus INTEGER NOT NULL DEFAULT 0") }
    /// ```
    /// ```sql
    /// ALTER TABLE "player" ADD COLUMN bonus INTEGER NOT NULL DEFAULT 0
    /// ```
    public func addColumn(sql: String) { changes.append(.addSQL(SQL(sql: sql))) }

    /// Adds a column defined in SQL, with values written as literals.
    ///
    /// ```swift
    /// let start = 100
    /// try db.alter(table: "player") { t in t.addColumn(literal: "score INTEGER DEFAULT \(start)") }
    /// ```
    /// ```sql
    /// ALTER TABLE "player" ADD COLUMN score INTEGER DEFAULT 100
    /// ```
    public func addColumn(literal: SQL) { changes.append(.addSQL(literal)) }

    /// Renames a column, also in indexes, triggers and views.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in t.rename(column: "score", to: "points") }
    /// ```
    /// ```sql
    /// ALTER TABLE "player" RENAME COLUMN "score" TO "points"
    /// ```
    public func rename(column name: String, to newName: String) { changes.append(.rename(name, newName)) }

    /// Removes a column, which no key, index, trigger or view may use.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in t.drop(column: "bonus") }
    /// ```
    /// ```sql
    /// ALTER TABLE "player" DROP COLUMN "bonus"
    /// ```
    public func drop(column name: String) { changes.append(.drop(name)) }
}

extension TableAlteration {
    /// Makes the statements one after another. Each may depend on the changes of the previous ones.
    package func forEachStatement(_ resolver: some SchemaResolver, _ body: (String) throws -> Void) throws {
        let keys = ReferencedKeys(resolver: resolver, table: name, schemaName: schemaName, ownKey: .inDatabase)
        let alter = "ALTER TABLE \(QualifiedName(name: name, schemaName: schemaName).sql)"
        for change in changes {
            switch change {
            case .add(let column):
                try body("\(alter) ADD COLUMN \(try column.sql(keys))")
                guard column.isIndexed else { continue }
                let index = IndexDefinition(
                    name: "\(name)_on_\(column.name)", schemaName: schemaName, table: name, columns: [column.name])
                try body(try index.sql(resolver))
            case .addSQL(let sql):
                try body("\(alter) ADD COLUMN \(try resolver.text(of: sql))")
            case .rename(let name, let newName):
                try body(
                    "\(alter) RENAME COLUMN \(name.quotedDatabaseIdentifier) TO \(newName.quotedDatabaseIdentifier)")
            case .drop(let name):
                try body("\(alter) DROP COLUMN \(name.quotedDatabaseIdentifier)")
            }
        }
    }
}
