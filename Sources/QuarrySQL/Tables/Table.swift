public import QuarryCore

/// A table without a record type, or one of several tables of a record type.
///
/// ```swift
/// let players = Table("player")                   // Table<Row>
/// let rows = try players.filter(Column("score") > 10).fetchAll(db)
///
/// let archive = Table<Player>("playerArchive")
/// let old = try archive.order(Column("name")).fetchAll(db) // [Player]
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE "score" > 10
/// SELECT * FROM "playerArchive" ORDER BY "name"
/// ```
public struct Table<RowDecoder>: Sendable {
    /// The name of the table.
    public var tableName: String

    /// The table with the given name.
    public init(_ tableName: String) { self.tableName = tableName }

    /// All rows.
    ///
    /// ```sql
    /// SELECT * FROM "player"
    /// ```
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(query: SelectQuery(table: tableName))
    }
}

extension Table {
    /// No rows: `WHERE 0`.
    public func none() -> QueryInterfaceRequest<RowDecoder> {
        all().none()
    }

    /// A request for some columns.
    public func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// A request for some columns.
    public func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// A request for some columns, decoded to another type.
    public func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        all().select(selection, as: type)
    }

    /// A request for some columns, decoded to another type.
    public func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        all().select(selection, as: type)
    }

    /// A request for columns written in SQL.
    public func select(sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<
        RowDecoder
    > {
        all().select(sql: sql, arguments: arguments)
    }

    /// A request for columns written in SQL, decoded to another type.
    public func select<T>(sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// A request for columns written in SQL.
    public func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().select(literal: sqlLiteral)
    }

    /// A request for columns written in SQL, decoded to another type.
    public func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        all().select(literal: sqlLiteral, as: type)
    }

    /// A request for the primary key.
    public func selectPrimaryKey<PrimaryKey>(as type: PrimaryKey.Type = PrimaryKey.self) -> QueryInterfaceRequest<
        PrimaryKey
    > {
        all().selectPrimaryKey(as: type)
    }

    /// All rows, with additional columns.
    public func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    /// All rows, with additional columns.
    public func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    /// The rows that satisfy a condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(predicate)
    }

    /// The rows that satisfy a condition written in SQL.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<
        RowDecoder
    > {
        all().filter(sql: sql, arguments: arguments)
    }

    /// The rows that satisfy a condition written in SQL.
    public func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(literal: sqlLiteral)
    }

    /// The row with the given unique key; no row for nil.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// The rows with the given unique keys.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(keys: keys)
    }

    /// All rows, in an order.
    public func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// All rows, in an order.
    public func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// All rows, in the order of their primary key.
    public func orderByPrimaryKey() -> QueryInterfaceRequest<RowDecoder> {
        all().orderByPrimaryKey()
    }

    /// All rows, in an order written in SQL.
    public func order(sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<
        RowDecoder
    > {
        all().order(sql: sql, arguments: arguments)
    }

    /// All rows, in an order written in SQL.
    public func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().order(literal: sqlLiteral)
    }

    /// One row for each group of rows with the same values.
    public func group(_ expressions: any SQLExpressible...) -> QueryInterfaceRequest<RowDecoder> {
        all().group(expressions)
    }

    /// The first rows, or rows after an offset.
    public func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        all().limit(limit, offset: offset)
    }

    /// All rows, with an alias for the table, by which other requests can name its columns.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// All rows, with an alias for the table, by which other requests can name its columns.
    @_disfavoredOverload
    public func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// All rows, with a common table expression.
    public func with<T>(_ cte: CommonTableExpression<T>) -> QueryInterfaceRequest<RowDecoder> {
        all().with(cte)
    }
}

// The compiler prefers the members of a constrained extension: `Table("player")` alone is a table of rows. It still
// becomes a `Table<Player>` beside another one, which it wouldn't if the general initializer were disfavored.
extension Table where RowDecoder == Row {
    /// The table with the given name.
    public init(_ tableName: String) { self.tableName = tableName }

    /// All rows, with an alias for the table, by which other requests can name its columns.
    ///
    /// ```swift
    /// let request = Table("player").aliased(TableAlias(name: "p")).filter(sql: "p.score > 100")
    /// ```
    /// ```sql
    /// SELECT "p".* FROM "player" "p" WHERE p.score > 100
    /// ```
    public func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<Row> {
        all().aliased(alias)
    }
}

// MARK: - With columns as arguments of closures

extension Table where RowDecoder: TableRecord {
    /// A request for some columns.
    ///
    /// - throws: the error of `selection`.
    public func select(_ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().select(selection)
    }

    /// A request for one column.
    ///
    /// - throws: the error of `selection`.
    public func select(_ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().select(selection)
    }

    /// A request for some columns, decoded to another type.
    ///
    /// - throws: the error of `selection`.
    public func select<T>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable], as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        try all().select(selection, as: type)
    }

    /// A request for one column, decoded to the type of its values.
    ///
    /// - throws: the error of `selection`.
    public func select<T>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        try all().select(selection, as: type)
    }

    /// All rows, with additional columns.
    ///
    /// - throws: the error of `selection`.
    public func annotated(with selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().annotated(with: selection)
    }

    /// All rows, with an additional column.
    ///
    /// - throws: the error of `selection`.
    public func annotated(with selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().annotated(with: selection)
    }

    /// The rows that satisfy a condition.
    ///
    /// - throws: the error of `predicate`.
    public func filter(_ predicate: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().filter(predicate)
    }

    /// All rows, in an order.
    ///
    /// - throws: the error of `orderings`.
    public func order(_ orderings: (RowDecoder.DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().order(orderings)
    }

    /// All rows, in an order.
    ///
    /// - throws: the error of `ordering`.
    public func order(_ ordering: (RowDecoder.DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().order(ordering)
    }

    /// One row for each group of rows with the same values.
    ///
    /// - throws: the error of `expressions`.
    public func group(_ expressions: (RowDecoder.DatabaseComponents) throws -> [any SQLExpressible]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try all().group(expressions)
    }
}

extension Table where RowDecoder: Identifiable {
    /// A request for the primary key, decoded to ids.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> { all().selectID() }
}
