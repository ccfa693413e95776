// The fetch verbs, each written once: over a prepared request, for all types that rows are decoded to.

extension PreparedRequest {
    @inlinable
    consuming func fetchCursor<Value: RowDecodable>(_ type: Value.Type) throws -> FetchCursor<Value> {
        try FetchCursor(statement, adapterBox)
    }

    @inlinable
    consuming func fetchAll<Value: RowDecodable>(_ type: Value.Type) throws -> [Value] {
        var execution = try Execution(statement, adapterBox)
        var values: [Value] = []
        while try execution.advance() { values.append(try execution.detached()) }
        return values
    }

    @inlinable
    consuming func fetchSet<Value: RowDecodable & Hashable>(_ type: Value.Type) throws -> Set<Value> {
        var execution = try Execution(statement, adapterBox)
        var values: Set<Value> = []
        while try execution.advance() { values.insert(try execution.detached()) }
        return values
    }

    @inlinable
    consuming func fetchOne<Value: RowDecodable>(_ type: Value.Type) throws -> Value? {
        let statement = statement
        let value = try fetchFirst(type)
        if statement.lostValue != nil { try statement.throwLostValue() }
        return value
    }

    @inlinable
    @inline(__always)
    consuming func fetchFirst<Value: RowDecodable>(_ type: Value.Type) throws -> Value? {
        var execution = try Execution(statement, adapterBox)
        guard try execution.advance() else { return nil }
        let value = try Value.decodedFirst(from: execution.row)
        // SQLite commits or refuses the statement's changes at its end.
        if !execution.statement.isReadonly { while try execution.advance() {} }
        return value
    }
}

// MARK: - From a statement

extension RowDecodable {
    /// A cursor over the rows of a statement.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT name FROM player WHERE teamId = ?")
    /// let names = try String.fetchCursor(statement, arguments: [1]) // a cursor of String
    /// while let name = try names.next() { … }
    /// ```
    ///
    /// - parameter arguments: the statement's arguments; nil to use those set before.
    /// - parameter adapter: changes the visible columns.
    /// - throws: `DatabaseError` if the arguments don't fit, or the statement isn't used inside an access to its
    ///   database.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> FetchCursor<Self> {
        try PreparedRequest.of(statement, arguments, adapter).fetchCursor(Self.self)
    }

    /// All values of a statement.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT name FROM player WHERE teamId = ?")
    /// let reds = try String.fetchAll(statement, arguments: [1])    // [String]
    /// let blues = try String.fetchAll(statement, arguments: [2])
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError` for a value that can't be converted, such as NULL for a type that
    ///   isn't optional.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try PreparedRequest.of(statement, arguments, adapter).fetchAll(Self.self)
    }

    /// The value of the first row of a statement; nil if there is no row, or its value is NULL.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT name FROM player WHERE id = ?")
    /// for id in ids { print(try String.fetchOne(statement, arguments: [id]) ?? "nobody") }
    /// ```
    ///
    /// No other row is read, unless the statement changes the database: then it runs to its end.
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try PreparedRequest.of(statement, arguments, adapter).fetchOne(Self.self)
    }
}

extension RowDecodable where Self: Hashable {
    /// The set of values of a statement.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT teamId FROM player WHERE score > ?")
    /// let teamIds = try Int64.fetchSet(statement, arguments: [1000]) // Set<Int64>
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try PreparedRequest.of(statement, arguments, adapter).fetchSet(Self.self)
    }
}

// MARK: - From SQL

extension RowDecodable {
    /// A cursor over the rows of a query.
    ///
    /// ```swift
    /// let names = try String.fetchCursor(db, sql: "SELECT name FROM player WHERE teamId = ?", arguments: [1])
    /// while let name = try names.next() { … }
    /// ```
    ///
    /// - parameter sql: one statement.
    /// - parameter arguments: its arguments.
    /// - parameter adapter: changes the visible columns.
    /// - throws: `DatabaseError` if the SQL is wrong, or the arguments don't fit.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> FetchCursor<Self> {
        try PreparedRequest.of(db, sql, arguments, adapter).fetchCursor(Self.self)
    }

    /// All values of a query.
    ///
    /// ```swift
    /// let scores = try Int.fetchAll(db, sql: "SELECT score FROM player") // [Int]
    /// let maybes = try Int?.fetchAll(db, sql: "SELECT teamId FROM player") // [Int?]
    /// let rows = try Row.fetchAll(db, sql: "SELECT * FROM player") // [Row]
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError` for a value that can't be converted, such as NULL for a type that
    ///   isn't optional.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try PreparedRequest.of(db, sql, arguments, adapter).fetchAll(Self.self)
    }

    /// The value of the first row of a query; nil if there is no row, or its value is NULL.
    ///
    /// ```swift
    /// let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! // Int
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try PreparedRequest.of(db, sql, arguments, adapter).fetchOne(Self.self)
    }
}

extension RowDecodable where Self: Hashable {
    /// The set of values of a query.
    ///
    /// ```swift
    /// let teamIds = try Int.fetchSet(db, sql: "SELECT teamId FROM player WHERE teamId IS NOT NULL") // Set<Int>
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try PreparedRequest.of(db, sql, arguments, adapter).fetchSet(Self.self)
    }
}

// MARK: - From a request

extension RowDecodable {
    /// A cursor over the rows of a request.
    ///
    /// ```swift
    /// let request: SQLRequest<Row> = "SELECT name FROM player WHERE teamId = \(teamId)"
    /// let names = try String.fetchCursor(db, request)
    /// while let name = try names.next() { print(name) }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> FetchCursor<Self> {
        try request.makePreparedRequest(db, forSingleResult: false).fetchCursor(Self.self)
    }

    /// All values of a request.
    ///
    /// ```swift
    /// let request: SQLRequest<Row> = "SELECT name FROM player WHERE teamId = \(teamId)"
    /// let names = try String.fetchAll(db, request) // [String]
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        try request.makePreparedRequest(db, forSingleResult: false).fetchAll(Self.self)
    }

    /// The value of the first row of a request; nil if there is no row, or its value is NULL.
    ///
    /// ```swift
    /// let request: SQLRequest<Row> = "SELECT MAX(score) FROM player WHERE teamId = \(teamId)"
    /// let best = try Int.fetchOne(db, request) // Int?
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        try request.makePreparedRequest(db, forSingleResult: true).fetchOne(Self.self)
    }
}

extension RowDecodable where Self: Hashable {
    /// The set of values of a request.
    ///
    /// ```swift
    /// let request: SQLRequest<Row> = "SELECT name FROM player WHERE teamId = \(teamId)"
    /// let names = try String.fetchSet(db, request) // Set<String>
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        try request.makePreparedRequest(db, forSingleResult: false).fetchSet(Self.self)
    }
}

extension FetchRequest where RowDecoder: RowDecodable {
    /// A cursor over the values of the request.
    ///
    /// ```swift
    /// let request: SQLRequest<String> = "SELECT name FROM player WHERE teamId = \(teamId)"
    /// let names = try request.fetchCursor(db)
    /// ```
    ///
    /// - throws: `DatabaseError`.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> FetchCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// All values of the request.
    ///
    /// ```swift
    /// let request: SQLRequest<String> = "SELECT name FROM player WHERE teamId = \(teamId)"
    /// let names = try request.fetchAll(db) // [String]
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, self)
    }

    /// The first value of the request; nil if there is no row, or its value is NULL.
    ///
    /// ```swift
    /// let request: SQLRequest<Int> = "SELECT MAX(score) FROM player WHERE teamId = \(teamId)"
    /// let best = try request.fetchOne(db) // Int?
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try RowDecoder.fetchOne(db, self)
    }
}

extension FetchRequest where RowDecoder: RowDecodable & Hashable {
    /// The set of values of the request.
    ///
    /// ```swift
    /// let request: SQLRequest<String> = "SELECT name FROM player WHERE teamId = \(teamId)"
    /// let names = try request.fetchSet(db) // Set<String>
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(db, self)
    }
}
