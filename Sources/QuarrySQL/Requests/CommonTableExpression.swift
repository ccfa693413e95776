public import QuarryCore

/// A table that exists for one statement: `WITH "name" AS (SELECT …)`.
///
/// ```swift
/// let best = CommonTableExpression(named: "best", request: Player.order(Column("score").desc).limit(10))
/// let players = try best.all().with(best).order(Column("name")).fetchAll(db)
/// ```
/// ```sql
/// WITH "best" AS (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10) SELECT * FROM "best" ORDER BY "name"
/// ```
///
/// See <https://www.sqlite.org/lang_with.html>.
public struct CommonTableExpression<RowDecoder>: Sendable {
    package let table: SelectQuery.NamedTable

    /// Whether SQLite computes the table first, or inlines its query.
    public enum Materialization: String, Sendable {
        /// `MATERIALIZED`
        case materialized = "MATERIALIZED"
        /// `NOT MATERIALIZED`
        case notMaterialized = "NOT MATERIALIZED"
    }

    /// The name of the table.
    public var tableName: String { table.name }

    /// Defines a table by a request.
    ///
    /// - parameter recursive: whether the request refers to the table itself.
    /// - parameter tableName: the name of the table.
    /// - parameter columns: the names of its columns; nil for those of the request.
    /// - parameter materialization: nil to let SQLite choose.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        materialization: Materialization? = nil, request: some SQLSubqueryable, as type: RowDecoder.Type
    ) {
        table = SelectQuery.NamedTable(
            name: tableName, columns: columns, isRecursive: recursive, query: request.sqlSubquery,
            hint: materialization?.rawValue)
    }

    /// Defines a table by SQL.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        materialization: Materialization? = nil, literal sqlLiteral: SQL, as type: RowDecoder.Type
    ) {
        table = SelectQuery.NamedTable(
            name: tableName, columns: columns, isRecursive: recursive,
            query: SQLSubquery(content: .sql(sqlLiteral)), hint: materialization?.rawValue)
    }
}

extension CommonTableExpression {
    /// Defines a table by SQL.
    ///
    /// ```swift
    /// let counter = CommonTableExpression<Int>(
    ///     recursive: true, named: "counter", columns: ["x"],
    ///     sql: "VALUES (1) UNION ALL SELECT x + 1 FROM counter WHERE x < ?", arguments: [10])
    /// let numbers = try counter.all().with(counter).fetchAll(db) // [1, 2, … 10]
    /// ```
    /// ```sql
    /// WITH RECURSIVE "counter"("x") AS (VALUES (1) UNION ALL SELECT x + 1 FROM counter WHERE x < 10)
    /// SELECT * FROM "counter"
    /// ```
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, literal: SQL(sql: sql, arguments: arguments),
            as: RowDecoder.self)
    }

    /// Defines a table by SQL.
    public init(recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, literal: sqlLiteral, as: RowDecoder.self)
    }

    /// Defines a table by a request.
    @_disfavoredOverload
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, request: some SQLSubqueryable
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, request: request, as: RowDecoder.self)
    }

    /// A request for all rows of the table. The request needs `with(_:)`.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(query: SelectQuery(.named(table.name, columns: table.columns)))
    }

    /// Whether the table, which must have one column, contains a value: `x IN "name"`.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        .node(.inQuery(element.sqlExpression, SQLSubquery(content: .name(table.name)), isNegated: false))
    }
}

extension CommonTableExpression {
    /// Defines a table by a request, with rows of the request's type.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        request: QueryInterfaceRequest<RowDecoder>
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, request: request, as: RowDecoder.self)
    }
}

extension CommonTableExpression where RowDecoder == Row {
    /// Defines a table by SQL.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, literal: SQL(sql: sql, arguments: arguments),
            as: Row.self)
    }

    /// Defines a table by SQL.
    public init(recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL) {
        self.init(recursive: recursive, named: tableName, columns: columns, literal: sqlLiteral, as: Row.self)
    }

    /// Defines a table by a request.
    @_disfavoredOverload
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, request: some SQLSubqueryable
    ) {
        self.init(recursive: recursive, named: tableName, columns: columns, request: request, as: Row.self)
    }
}
