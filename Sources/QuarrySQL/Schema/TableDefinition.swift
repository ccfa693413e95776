public import QuarryCore

/// How a table is created: <https://www.sqlite.org/lang_createtable.html>.
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

    /// Options of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is a table of that name.
    public static let ifNotExists = TableOptions(rawValue: 1)
    /// Makes a table that only this connection sees, and that goes with it.
    public static let temporary = TableOptions(rawValue: 2)
    /// Keeps rows in the order of the primary key, without a rowid: <https://www.sqlite.org/withoutrowid.html>.
    public static let withoutRowID = TableOptions(rawValue: 4)
    /// Refuses values of other types than the columns': <https://www.sqlite.org/stricttables.html>.
    public static let strict = TableOptions(rawValue: 8)
}

/// A table that is created.
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
    /// Those of `primaryKey(_:)`: columns have their own.
    var primaryKeys: [Key] = []
    /// What happens to a row whose key is there already, of a key whose columns are defined in its body.
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

    /// Defines an integer primary key, whose values are never used again.
    ///
    /// ```sql
    /// "id" INTEGER PRIMARY KEY AUTOINCREMENT
    /// ```
    ///
    /// See <https://www.sqlite.org/autoinc.html>.
    ///
    /// - parameter name: the column.
    /// - parameter conflictResolution: what happens to a row whose key is there already.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflictResolution: SQLConflictResolution? = nil
    ) -> ColumnDefinition {
        column(name, .integer).primaryKey(onConflict: conflictResolution, autoincrement: true)
    }

    /// Defines a primary key of one column. Unless it is an integer, it can't be NULL.
    ///
    /// ```sql
    /// "uuid" TEXT PRIMARY KEY NOT NULL
    /// ```
    ///
    /// An integer that is NULL gets a number. Without NOT NULL, SQLite takes NULL in other keys:
    /// <https://www.sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls>.
    ///
    /// - parameter name: the column.
    /// - parameter type: its type.
    /// - parameter conflictResolution: what happens to a row whose key is there already.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: SQLColumnType, onConflict conflictResolution: SQLConflictResolution? = nil
    ) -> ColumnDefinition {
        let column = column(name, type).primaryKey(onConflict: conflictResolution)
        return type.isInteger ? column : column.notNull()
    }

    /// Makes a primary key of columns that are defined elsewhere.
    ///
    /// ```sql
    /// PRIMARY KEY ("countryCode", "passportNumber")
    /// ```
    ///
    /// - parameter columns: the columns.
    /// - parameter conflictResolution: what happens to a row whose key is there already.
    public func primaryKey(_ columns: [String], onConflict conflictResolution: SQLConflictResolution? = nil) {
        primaryKeys.append(Key(columns: columns, conflictResolution: conflictResolution))
    }

    /// Makes a primary key of the columns that are defined in `body`. They can't be NULL.
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
    /// - parameter conflictResolution: what happens to a row whose key is there already.
    /// - parameter body: defines the columns.
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
    /// - parameter type: its type; nil for none.
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

    /// Defines a column in SQL, in which values are written as literals.
    ///
    /// ```swift
    /// t.column(literal: "name TEXT DEFAULT \(defaultName)")
    /// ```
    public func column(literal: SQL) { items.append(.sql(literal)) }

    /// Defines a column that refers to the primary key of another table, or several if that has several. It has an
    /// index.
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
    /// The column is named by `name` and the column it refers to, whose type it takes. In the body of a primary key it
    /// isn't NULL, and has no index.
    ///
    /// No foreign key can refer to a table without a primary key
    /// (<https://www.sqlite.org/foreignkeys.html#fk_indexes>). Where foreign keys are checked, the definition throws:
    /// "table log has no primary key that a foreign key can refer to". Elsewhere, as in migrations, the column refers
    /// to the rowid: `"logId" INTEGER REFERENCES "log"("rowid")`.
    ///
    /// - parameter name: the beginning of the column's name.
    /// - parameter table: the table that is referred to; nil for that of the name, or of its plural.
    /// - parameter deleteAction: what happens when the parent row goes.
    /// - parameter updateAction: what happens when its key changes.
    /// - parameter isDeferred: whether the key is checked when the transaction commits.
    /// - parameter indexed: whether there is an index.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete deleteAction: SQLForeignKeyAction? = nil,
        onUpdate updateAction: SQLForeignKeyAction? = nil, deferred isDeferred: Bool = false, indexed: Bool = true
    ) -> ForeignKeyDefinition {
        let definition = ForeignKeyDefinition(
            name: name, table: table,
            reference: ForeignKeyReference(
                table: "", columns: nil, deleteAction: deleteAction, updateAction: updateAction,
                isDeferred: isDeferred),
            isIndexed: indexed && !isInPrimaryKeyBody)
        items.append(.belongsTo(definition, isInPrimaryKey: isInPrimaryKeyBody))
        return definition
    }

    // MARK: - Constraints

    /// Refuses rows whose values in some columns another row has.
    ///
    /// ```sql
    /// UNIQUE ("teamId", "number")
    /// ```
    public func uniqueKey(_ columns: [String], onConflict conflictResolution: SQLConflictResolution? = nil) {
        uniqueKeys.append(Key(columns: columns, conflictResolution: conflictResolution))
    }

    /// Makes a foreign key of columns that are defined elsewhere.
    ///
    /// ```swift
    /// t.foreignKey(["countryCode", "number"], references: "passport")
    /// ```
    /// ```sql
    /// FOREIGN KEY ("countryCode", "number") REFERENCES "passport"("countryCode", "number")
    /// ```
    ///
    /// - parameter columns: the columns.
    /// - parameter table: the table that is referred to.
    /// - parameter destinationColumns: its columns; nil for its primary key.
    /// - parameter deleteAction: what happens when the parent row goes.
    /// - parameter updateAction: what happens when its key changes.
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

    /// Refuses rows for which an expression is false.
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

    /// Refuses rows for which a condition is false.
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

    /// Adds a constraint in SQL, in which values are written as literals.
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
    /// Whether a primary key of the type is the rowid.
    var isInteger: Bool { rawValue.isSameName(as: "integer") }
}
