public import QuarryCore

// Requests that begin with a type: `Player.filter(…)` is `Player.all().filter(…)`.

extension TableRecord {
    /// All rows.
    ///
    /// ```swift
    /// let players = try Player.all().fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "player"
    /// ```
    public static func all() -> QueryInterfaceRequest<Self> {
        var query = SelectQuery(table: databaseTableName)
        query.selection = selection
        return QueryInterfaceRequest(query: query)
    }

    /// No rows: `WHERE 0`.
    public static func none() -> QueryInterfaceRequest<Self> {
        all().none()
    }

    /// A request for some columns.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// A request for some columns.
    public static func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// A request for some columns, decoded to another type.
    public static func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self) -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// A request for some columns, decoded to another type.
    public static func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self) -> QueryInterfaceRequest<
        T
    > {
        all().select(selection, as: type)
    }

    /// A request for columns written in SQL.
    public static func select(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// A request for columns written in SQL, decoded to another type.
    public static func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// A request for columns written in SQL.
    public static func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: sqlLiteral)
    }

    /// A request for columns written in SQL, decoded to another type.
    public static func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        all().select(literal: sqlLiteral, as: type)
    }

    /// A request for the primary key.
    public static func selectPrimaryKey<PrimaryKey>(as type: PrimaryKey.Type = PrimaryKey.self)
        -> QueryInterfaceRequest<PrimaryKey>
    {
        all().selectPrimaryKey(as: type)
    }

    /// All rows, with additional columns.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// All rows, with additional columns.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// The rows that satisfy a condition.
    public static func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().filter(predicate)
    }

    /// The rows that satisfy a condition written in SQL.
    public static func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// The rows that satisfy a condition written in SQL.
    public static func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: sqlLiteral)
    }

    /// The row with the given unique key; no row for nil.
    public static func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// The rows with the given unique keys.
    public static func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<Self> {
        all().filter(keys: keys)
    }

    /// All rows, in an order.
    public static func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// All rows, in an order.
    public static func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// All rows, in the order of their primary key.
    public static func orderByPrimaryKey() -> QueryInterfaceRequest<Self> {
        all().orderByPrimaryKey()
    }

    /// All rows, in an order written in SQL.
    public static func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// All rows, in an order written in SQL.
    public static func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: sqlLiteral)
    }

    /// One row for each group of rows with the same values.
    public static func group(_ expressions: any SQLExpressible...) -> QueryInterfaceRequest<Self> {
        all().group(expressions)
    }

    /// The first rows, or rows after an offset.
    public static func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(limit, offset: offset)
    }

    /// All rows, with an alias for the table, by which other requests can name its columns.
    public static func aliased(_ alias: TableAlias<Self>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// All rows, with an alias for the table, by which other requests can name its columns.
    ///
    /// ```swift
    /// let request = Player.aliased(TableAlias(name: "p")).filter(sql: "p.score > 100")
    /// ```
    /// ```sql
    /// SELECT "p".* FROM "player" "p" WHERE p.score > 100
    /// ```
    @_disfavoredOverload
    public static func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// All rows, with a common table expression.
    public static func with<T>(_ cte: CommonTableExpression<T>) -> QueryInterfaceRequest<Self> {
        all().with(cte)
    }
}

// MARK: - With columns as arguments of closures

extension TableRecord {
    /// A request for some columns.
    ///
    /// - throws: the error of `selection`.
    public static func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().select(selection)
    }

    /// A request for one column.
    ///
    /// - throws: the error of `selection`.
    public static func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().select(selection)
    }

    /// A request for some columns, decoded to another type.
    ///
    /// - throws: the error of `selection`.
    public static func select<T>(
        _ selection: (DatabaseComponents) throws -> [any SQLSelectable], as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        try all().select(selection, as: type)
    }

    /// A request for one column, decoded to the type of its values.
    ///
    /// - throws: the error of `selection`.
    public static func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        try all().select(selection, as: type)
    }

    /// All rows, with additional columns.
    ///
    /// - throws: the error of `selection`.
    public static func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection)
    }

    /// All rows, with an additional column.
    ///
    /// - throws: the error of `selection`.
    public static func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection)
    }

    /// The rows that satisfy a condition.
    ///
    /// - throws: the error of `predicate`.
    public static func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().filter(predicate)
    }

    /// All rows, in an order.
    ///
    /// - throws: the error of `orderings`.
    public static func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(orderings)
    }

    /// All rows, in an order.
    ///
    /// - throws: the error of `ordering`.
    public static func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(ordering)
    }

    /// One row for each group of rows with the same values.
    ///
    /// - throws: the error of `expressions`.
    public static func group(_ expressions: (DatabaseComponents) throws -> [any SQLExpressible]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().group(expressions)
    }
}

extension TableRecord where Self: Identifiable {
    /// A request for the primary key, decoded to ids.
    public static func selectID() -> QueryInterfaceRequest<ID> { all().selectID() }
}
