public import QuarryCore

/// The options of CREATE TABLE: <https://www.sqlite.org/lang_createtable.html>.
///
/// ```swift
/// try db.create(table: "player", options: [.ifNotExists, .strict]) { t in t.primaryKey("name", .text) }
/// ```
/// ```sql
/// CREATE TABLE IF NOT EXISTS "player" ("name" TEXT PRIMARY KEY NOT NULL) STRICT
/// ```
public struct TableOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// The options with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Has no effect if a table with that name exists.
    public static let ifNotExists = TableOptions(rawValue: 1)
    /// Creates a temporary table, which only this connection sees, and which is dropped when it is closed.
    public static let temporary = TableOptions(rawValue: 2)
    /// Keeps rows in the order of the primary key, without a rowid: <https://www.sqlite.org/withoutrowid.html>.
    public static let withoutRowID = TableOptions(rawValue: 4)
    /// Refuses values whose type isn't that of the column: <https://www.sqlite.org/stricttables.html>.
    public static let strict = TableOptions(rawValue: 8)
}

/// The definition of a new table.
///
/// ```swift
/// try db.create(table: "player") { t in
///     t.autoIncrementedPrimaryKey("id")
///     t.column("name", .text).notNull()
///     t.belongsTo("team", onDelete: .cascade)
/// }
/// ```
/// ```sql
/// CREATE TABLE "player" (
///   "id" INTEGER PRIMARY KEY AUTOINCREMENT,
///   "name" TEXT NOT NULL,
///   "teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE)
/// CREATE INDEX "player_on_teamId" ON "player"("teamId")
/// ```
///
/// See <https://www.sqlite.org/lang_createtable.html>.
public final class TableDefinition {
    enum Item {
        case column(ColumnDefinition, isInPrimaryKey: Bool)
        case belongsTo(ForeignKeyDefinition, isInPrimaryKey: Bool)
        case sql(SQL)
    }

    struct Key {
        var columns: [String]
        var conflictResolution: SQLConflictResolution?
    }

    struct ForeignKey {
        var columns: [String]
        var reference: ForeignKeyReference
    }

    package let name: String
    package let schemaName: String?
    let options: TableOptions
    var items: [Item] = []
    /// The keys of `primaryKey(_:)`; keys of single columns belong to the columns.
    var primaryKeys: [Key] = []
    /// The conflict resolution of a key whose columns are defined in its body.
    var primaryKeyBody: (conflictResolution: SQLConflictResolution?, Void)?
    var uniqueKeys: [Key] = []
    var foreignKeys: [ForeignKey] = []
    var checks: [SQL] = []
    var constraints: [SQL] = []
    private var isInPrimaryKeyBody = false

    package init(name: String, schemaName: String?, options: TableOptions) {
        self.name = name
        self.schemaName = schemaName
        self.options = options
    }

    // MARK: - The primary key

    /// Defines an integer primary key whose values are never reused.
    ///
    /// ```sql
    /// "id" INTEGER PRIMARY KEY AUTOINCREMENT
    /// ```
    ///
    /// See <https://www.sqlite.org/autoinc.html>.
    ///
    /// - parameter name: the column.
    /// - parameter conflictResolution: the action if the key already exists.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflictResolution: SQLConflictResolution? = nil
    ) -> ColumnDefinition {
        column(name, .integer).primaryKey(onConflict: conflictResolution, autoincrement: true)
    }

    /// Defines a primary key with one column. Unless the column is an integer, it can't be NULL.
    ///
    /// ```sql
    /// "uuid" TEXT PRIMARY KEY NOT NULL
    /// ```
    ///
    /// Inserting NULL in an integer key generates a number. Without NOT NULL, SQLite accepts NULL in other keys:
    /// <https://www.sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls>.
    ///
    /// - parameter name: the column.
    /// - parameter type: the column's type.
    /// - parameter conflictResolution: the action if the key already exists.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: SQLColumnType, onConflict conflictResolution: SQLConflictResolution? = nil
    ) -> ColumnDefinition {
        let column = column(name, type).primaryKey(onConflict: conflictResolution)
        return type.isInteger ? column : column.notNull()
    }

    /// Makes a primary key of columns defined elsewhere.
    ///
    /// ```sql
    /// PRIMARY KEY ("countryCode", "passportNumber")
    /// ```
    ///
    /// - parameter columns: the columns.
    /// - parameter conflictResolution: the action if the key already exists.
    public func primaryKey(_ columns: [String], onConflict conflictResolution: SQLConflictResolution? = nil) {
        primaryKeys.append(Key(columns: columns, conflictResolution: conflictResolution))
    }

    /// Makes a primary key of the columns defined in `body`. They can't be NULL.
    ///
    /// ```swift
    /// t.primaryKey {
    ///     t.column("code", .text)
    ///     t.belongsTo("country")
    /// }
    /// ```
    /// ```sql
    /// "code" TEXT NOT NULL,
    /// "countryCode" TEXT NOT NULL REFERENCES "country"("code"),
    /// PRIMARY KEY ("code", "countryCode")
    /// ```
    ///
    /// - parameter conflictResolution: the action if the key already exists.
    /// - parameter body: defines the columns.
    /// - throws: the error of `body`.
    public func primaryKey(
        onConflict conflictResolution: SQLConflictResolution? = nil, body: () throws -> Void
    ) rethrows {
        primaryKeyBody = (conflictResolution, ())
        isInPrimaryKeyBody = true
        defer { isInPrimaryKeyBody = false }
        try body()
    }

    // MARK: - Columns

    /// Defines a column.
    ///
    /// ```swift
    /// t.column("name", .text).notNull()
    /// ```
    ///
    /// - parameter name: the column's name.
    /// - parameter type: the column's type; nil for none.
    @discardableResult
    public func column(_ name: String, _ type: SQLColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        items.append(.column(column, isInPrimaryKey: isInPrimaryKeyBody))
        return column
    }

    /// Defines a column in SQL.
    ///
    /// ```swift
    /// t.column(sql: "name TEXT NOT NULL")
    /// ```
    public func column(sql: String) { items.append(.sql(SQL(sql: sql))) }

    /// Defines a column in SQL, with values written as literals.
    ///
    /// ```swift
    /// t.column(literal: "name TEXT DEFAULT \(defaultName)")
    /// ```
    public func column(literal: SQL) { items.append(.sql(literal)) }

    /// Defines a column that references the primary key of another table, or several columns if the key has several.
    /// Creates an index on them.
    ///
    /// ```swift
    /// t.belongsTo("team", onDelete: .cascade).notNull()
    /// t.belongsTo("captain", inTable: "player")
    /// ```
    /// ```sql
    /// "teamId" INTEGER NOT NULL REFERENCES "team"("id") ON DELETE CASCADE,
    /// "captainId" INTEGER REFERENCES "player"("id")
    /// ```
    ///
    /// The column's name consists of `name` and the name of the referenced column, and its type is that of the
    /// referenced column. In the body of a primary key the column is NOT NULL, and no index is created.
    ///
    /// No foreign key can reference a table without a primary key
    /// (<https://www.sqlite.org/foreignkeys.html#fk_indexes>). If foreign keys are enforced, the definition throws:
    /// "table log has no primary key that a foreign key can refer to". If not, as in migrations, the column references
    /// the rowid: `"logId" INTEGER REFERENCES "log"("rowid")`.
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
            isIndexed: indexed && !isInPrimaryKeyBody)
        items.append(.belongsTo(definition, isInPrimaryKey: isInPrimaryKeyBody))
        return definition
    }

    // MARK: - Constraints

    /// Refuses rows with the same values in some columns as another row.
    ///
    /// ```sql
    /// UNIQUE ("teamId", "number")
    /// ```
    public func uniqueKey(_ columns: [String], onConflict conflictResolution: SQLConflictResolution? = nil) {
        uniqueKeys.append(Key(columns: columns, conflictResolution: conflictResolution))
    }

    /// Makes a foreign key of columns defined elsewhere.
    ///
    /// ```swift
    /// t.foreignKey(["countryCode", "number"], references: "passport")
    /// ```
    /// ```sql
    /// FOREIGN KEY ("countryCode", "number") REFERENCES "passport"("countryCode", "number")
    /// ```
    ///
    /// - parameter columns: the columns.
    /// - parameter table: the referenced table.
    /// - parameter destinationColumns: the referenced columns; nil for the primary key.
    /// - parameter deleteAction: the action when the referenced row is deleted.
    /// - parameter updateAction: the action when the referenced key changes.
    /// - parameter isDeferred: whether the key is checked when the transaction commits.
    public func foreignKey(
        _ columns: [String], references table: String, columns destinationColumns: [String]? = nil,
        onDelete deleteAction: SQLForeignKeyAction? = nil,
        onUpdate updateAction: SQLForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) {
        foreignKeys.append(
            ForeignKey(
                columns: columns,
                reference: ForeignKeyReference(
                    table: table, columns: destinationColumns, deleteAction: deleteAction,
                    updateAction: updateAction, isDeferred: isDeferred)))
    }

    /// Refuses rows that don't satisfy an expression.
    ///
    /// ```swift
    /// try db.create(table: "player") { t in
    ///     t.column("score", .integer)
    ///     t.column("bonus", .integer)
    ///     t.check(sql: "score >= bonus")
    /// }
    /// ```
    /// ```sql
    /// CHECK (score >= bonus)
    /// ```
    public func check(sql: String) { checks.append(SQL(sql: sql)) }

    /// Refuses rows that don't satisfy a condition.
    ///
    /// ```swift
    /// t.check(Column("score") >= Column("bonus"))
    /// ```
    /// ```sql
    /// CHECK ("score" >= "bonus")
    /// ```
    public func check(_ condition: some SQLSpecificExpressible) { checks.append(SQL(condition.sqlExpression)) }

    /// Adds a constraint in SQL.
    ///
    /// ```swift
    /// t.constraint(sql: "CONSTRAINT positive CHECK (score > 0)")
    /// ```
    public func constraint(sql: String) { constraints.append(SQL(sql: sql)) }

    /// Adds a constraint in SQL, with values written as literals.
    ///
    /// ```swift
    /// let least = 0
    /// try db.create(table: "player") { t in
    ///     t.column("score", .integer)
    ///     t.constraint(literal: "CONSTRAINT positive CHECK (score > \(least))")
    /// }
    /// ```
    public func constraint(literal: SQL) { constraints.append(literal) }
}

extension SQLColumnType {
    /// Whether a primary key of this type is the rowid.
    package var isInteger: Bool { rawValue.isSameName(as: "integer") }
}
