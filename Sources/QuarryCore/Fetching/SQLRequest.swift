/// A request with raw SQL.
///
/// ```swift
/// let request: SQLRequest<String> = "SELECT name FROM player WHERE teamId = \(teamId)"
/// let names = try dbQueue.read { db in try request.fetchAll(db) }
/// ```
/// ```sql
/// SELECT name FROM player WHERE teamId = ?
/// ```
public struct SQLRequest<RowDecoder>: FetchRequest {
    package let literal: SQL

    /// The adapter of the rows, if any.
    public var adapter: (any RowAdapter)?

    private let isCached: Bool

    /// Called by the initializers of constrained extensions.
    private init(_ literal: SQL, _ adapter: (any RowAdapter)?, _ cached: Bool) {
        self.literal = literal
        self.adapter = adapter
        isCached = cached
    }

    /// A request with raw SQL and the arguments of its parameters.
    ///
    /// ```swift
    /// let request = SQLRequest<String>(sql: "SELECT name FROM player WHERE id = ?", arguments: [1])
    /// let name = try request.fetchOne(db)
    /// ```
    ///
    /// - parameter adapter: changes the visible columns.
    /// - parameter cached: whether to keep the statement, even if it isn't a query.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(SQL(sql: sql, arguments: arguments), adapter, cached)
    }

    /// A request with SQL and its values.
    ///
    /// ```swift
    /// let request = SQLRequest<String>(literal: "SELECT name FROM player WHERE teamId = \(teamId)", cached: true)
    /// ```
    ///
    /// - parameter adapter: changes the visible columns.
    /// - parameter cached: whether to keep the statement, even if it isn't a query.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter, cached)
    }

    /// The statement, with its arguments set.
    ///
    /// - throws: `DatabaseError` if the SQL is wrong, or the arguments don't fit.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false
    ) throws -> PreparedRequest {
        let (sql, arguments) = try literal.build(db)
        let statement = try isCached ? db.cachedStatement(sql: sql) : db.reusableStatement(sql: sql)
        try statement.setArguments(arguments)
        return PreparedRequest(statement: statement, adapter: adapter)
    }
}

extension SQLRequest where RowDecoder == Row {
    /// A request with raw SQL and the arguments of its parameters, for rows, or for the type that fetches from it.
    ///
    /// ```swift
    /// let request = SQLRequest(sql: "SELECT * FROM player WHERE id = ?", arguments: [1])
    /// let player = try Player.fetchOne(db, request)
    /// ```
    ///
    /// - parameter adapter: changes the visible columns.
    /// - parameter cached: whether to keep the statement, even if it isn't a query.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(SQL(sql: sql, arguments: arguments), adapter, cached)
    }

    /// A request with SQL and its values, for rows, or for the type that fetches from it.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, SQLRequest(literal: "SELECT * FROM player WHERE teamId = \(teamId)"))
    /// ```
    ///
    /// - parameter adapter: changes the visible columns.
    /// - parameter cached: whether to keep the statement, even if it isn't a query.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter, cached)
    }
}

extension SQLRequest: Sendable {}

extension SQLRequest: ExpressibleByStringInterpolation {
    /// Raw SQL.
    public init(stringLiteral value: String) { self.init(sql: value) }

    /// SQL with interpolated values.
    public init(stringInterpolation sqlInterpolation: SQLInterpolation) {
        self.init(literal: SQL(stringInterpolation: sqlInterpolation))
    }
}

extension Database {
    /// Prepares a statement with its arguments set.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(literal: "SELECT * FROM player WHERE id = \(1)")
    /// ```
    ///
    /// If no value is interpolated, parameters in the text (`?`, `:name`) get their arguments later.
    ///
    /// - throws: `DatabaseError` if the SQL is wrong, or the arguments don't fit.
    public func makeStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try makeStatement(sql: sql)
        // Parameters in the text get their arguments later if nothing is interpolated.
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// A prepared statement with its arguments set, which the connection keeps for later calls.
    ///
    /// ```swift
    /// let name = try String.fetchOne(db.cachedStatement(literal: "SELECT name FROM player WHERE id = \(1)"))
    /// ```
    ///
    /// - throws: `DatabaseError` if the SQL is wrong, or the arguments don't fit.
    public func cachedStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try cachedStatement(sql: sql)
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// The statements of some SQL, prepared one after the other, with their arguments set.
    ///
    /// ```swift
    /// let statements = try db.allStatements(literal: """
    ///     DELETE FROM player WHERE teamId = \(teamId);
    ///     DELETE FROM team WHERE id = \(teamId);
    ///     """)
    /// while let statement = try statements.next() { try statement.execute() }
    /// ```
    ///
    /// If no value is interpolated, parameters in the text (`?`, `:name`) get their arguments later.
    ///
    /// - throws: `DatabaseError` if parts of the SQL can't be written for this connection. The cursor throws the errors
    ///   of preparing the statements.
    public func allStatements(literal sqlLiteral: SQL) throws -> SQLStatementCursor {
        let (sql, arguments) = try sqlLiteral.build(self)
        return try allStatements(sql: sql, arguments: arguments.isEmpty ? nil : arguments)
    }

    /// Runs one or more statements.
    ///
    /// ```swift
    /// try db.execute(literal: "INSERT INTO player (name) VALUES (\(name))")
    /// ```
    ///
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    public func execute(literal sqlLiteral: SQL) throws {
        let (sql, arguments) = try sqlLiteral.build(self)
        try execute(sql: sql, arguments: arguments)
    }
}

extension SQLInterpolation {
    /// `score = \(request)`: the SQL of a request, in parentheses. The parentheses are omitted if they are already
    /// written, as in `IN (\(request))`, or if a statement begins: `WITH … \(request)`, `INSERT INTO player
    /// \(request)`.
    public mutating func appendInterpolation<Decoder>(_ request: SQLRequest<Decoder>) {
        let isOpen = isBeforeStatement
        if !isOpen { elements.append(.sql("(", StatementArguments())) }
        elements.append(.request(request.literal))
        if !isOpen { elements.append(.sql(")", StatementArguments())) }
    }
}

extension Database {
    /// The statements of some SQL, prepared one after the other.
    ///
    /// ```swift
    /// let statements = try db.allStatements(sql: """
    ///     CREATE TABLE player (name TEXT);
    ///     INSERT INTO player VALUES (?);
    ///     """, arguments: ["Arthur"])
    /// while let statement = try statements.next() { try statement.execute() }
    /// ```
    ///
    /// Each statement is prepared when it is requested, so it sees the tables that the previous statements have
    /// created.
    ///
    /// - parameter arguments: the arguments of all statements; nil to set none. If arguments are left over, the cursor
    ///   throws instead of returning the last statement.
    /// - throws: `SQLITE_MISUSE` outside an access. The cursor throws the errors of the SQL.
    public func allStatements(sql: String, arguments: StatementArguments? = nil) throws -> SQLStatementCursor {
        try checkAccess()
        return SQLStatementCursor(self, sql: sql, arguments: arguments)
    }
}
