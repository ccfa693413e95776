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
        case belongsTo(ForeignKeyDefinition)
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

    /// Adds a column that references the primary key of another table, and an index on it.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in t.belongsTo("team", onDelete: .setNull) }
    /// ```
    /// ```sql
    /// ALTER TABLE "player" ADD COLUMN "teamId" INTEGER REFERENCES "team"("id") ON DELETE SET NULL
    /// CREATE INDEX "player_on_teamId" ON "player"("teamId")
    /// ```
    ///
    /// The column is NULL in existing rows. `unique()` makes the index unique. `notNull()` throws if the table has
    /// rows: add the column, fill it, and then make it NOT NULL with `Database.rebuild(table:)`, which can also
    /// reference keys of several columns. See `TableDefinition.belongsTo` and
    /// <https://www.sqlite.org/lang_altertable.html>.
    ///
    /// - parameter name: the beginning of the column's name.
    /// - parameter table: the referenced table; nil for the table with that name, or with its plural.
    /// - parameter deleteAction: the action when the referenced row is deleted.
    /// - parameter updateAction: the action when the referenced key changes.
    /// - parameter isDeferred: whether the key is checked when the transaction commits.
    /// - parameter indexed: whether to create an index.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete deleteAction: SQLForeignKeyAction? = nil,
        onUpdate updateAction: SQLForeignKeyAction? = nil, deferred isDeferred: Bool = false, indexed: Bool = true
    ) -> ForeignKeyDefinition {
        let definition = ForeignKeyDefinition(
            name: name, table: table, deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred,
            isIndexed: indexed)
        changes.append(.belongsTo(definition))
        return definition
    }

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
                if column.isIndexed { try body(try index(on: column, [], resolver).sql(resolver)) }
            case .belongsTo(let definition):
                let column = try addedColumn(definition, keys)
                // ALTER TABLE can't add a UNIQUE column, but an index may be unique.
                let isUnique = column.unique != nil
                column.unique = nil
                try body("\(alter) ADD COLUMN \(try column.sql(keys))")
                if isUnique || column.isIndexed {
                    try body(try index(on: column, isUnique ? .unique : [], resolver).sql(resolver))
                }
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

    private func index(
        on column: ColumnDefinition, _ options: IndexOptions, _ resolver: some SchemaResolver
    ) throws -> IndexDefinition {
        IndexDefinition(
            name: "\(name)_on_\(column.name)", schemaName: try schemaName ?? resolver.attachedSchema(of: name),
            table: name, columns: [column.name], options: options)
    }

    /// The column of a `belongsTo`.
    ///
    /// - throws: `SQLITE_ERROR` if ALTER TABLE can't add it: <https://www.sqlite.org/lang_altertable.html>.
    private func addedColumn(_ definition: ForeignKeyDefinition, _ keys: ReferencedKeys) throws -> ColumnDefinition {
        let key = try ResolvedForeignKey(definition, keys)
        func refusal(_ reason: String) -> DatabaseError {
            DatabaseError(message: "belongsTo(\"\(definition.name)\") in alter(table: \"\(name)\"): \(reason)")
        }
        guard key.columns.count == 1, let column = key.columns.first else {
            let table = key.constraint?.reference.table ?? definition.name
            throw refusal(
                "the key of table \(table) has \(key.columns.count) columns, and ALTER TABLE adds keys of one column "
                    + "only: use rebuild(table: \"\(name)\")")
        }
        if column.isNotNull, try keys.resolver.hasRows(in: name, schemaName) {
            throw refusal(
                "\(column.name) can't be NOT NULL, because the rows of the table have no value for it: add it without "
                    + "notNull(), fill it, and make it NOT NULL with rebuild(table: \"\(name)\")")
        }
        return column
    }
}
