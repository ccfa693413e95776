public import QuarryCore

/// A table that is there for one statement: `WITH "name" AS (SELECT …)`.
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

    /// Whether SQLite makes a table of it before it goes on, or writes it in place of its name.
    public enum Materialization: String, Sendable {
        /// `MATERIALIZED`
        case materialized = "MATERIALIZED"
        /// `NOT MATERIALIZED`
        case notMaterialized = "NOT MATERIALIZED"
    }

    /// The name of the table.
    public var tableName: String { table.name }

    /// A table that a request makes.
    ///
    /// - parameter recursive: whether the request names the table itself.
    /// - parameter tableName: the name of the table.
    /// - parameter columns: the names of its columns; nil for those of the request.
    /// - parameter materialization: nil to leave it to SQLite.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        materialization: Materialization? = nil, request: some SQLSubqueryable, as type: RowDecoder.Type
    ) {
        table = SelectQuery.NamedTable(
            name: tableName, columns: columns, isRecursive: recursive, query: request.sqlSubquery,
            hint: materialization?.rawValue)
    }

    /// A table that SQL makes.
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
    /// A table that SQL makes.
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

    /// A table that SQL makes.
    public init(recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, literal: sqlLiteral, as: RowDecoder.self)
    }

    /// A table that a request makes.
    @_disfavoredOverload
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, request: some SQLSubqueryable
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, request: request, as: RowDecoder.self)
    }

    /// A request for all its rows. It needs `with(_:)`.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(query: SelectQuery(.named(table.name, columns: table.columns)))
    }

    /// Whether the table, which has one column, has a value: `x IN "name"`.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        .node(.inQuery(element.sqlExpression, SQLSubquery(content: .name(table.name)), isNegated: false))
    }
}

extension CommonTableExpression {
    /// A table that a request makes, with rows as the request's.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        request: QueryInterfaceRequest<RowDecoder>
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, request: request, as: RowDecoder.self)
    }
}

extension CommonTableExpression where RowDecoder == Row {
    /// A table that SQL makes.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: recursive, named: tableName, columns: columns, literal: SQL(sql: sql, arguments: arguments),
            as: Row.self)
    }

    /// A table that SQL makes.
    public init(recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL) {
        self.init(recursive: recursive, named: tableName, columns: columns, literal: sqlLiteral, as: Row.self)
    }

    /// A table that a request makes.
    @_disfavoredOverload
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, request: some SQLSubqueryable
    ) {
        self.init(recursive: recursive, named: tableName, columns: columns, request: request, as: Row.self)
    }
}
