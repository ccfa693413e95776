import Quarry
public import QuarryCore
public import QuarrySQL

extension BoundTable {
    /// The name of the table.
    public var tableName: String { table.tableName }

    /// A part of the table: the closure of a method changes the request for all rows.
    public typealias Part<T> = (QueryInterfaceRequest<RowDecoder>) throws -> QueryInterfaceRequest<T>

    /// Reads the whole database, in the access that this thread has, or else in one of its own.
    ///
    /// ```swift
    /// let (count, teams) = try players.read { db in
    ///     (try players.fetchCount(), try Team.fetchAll(db))
    /// }
    /// ```
    ///
    /// - throws: the errors of `DatabaseReader.read`; `SQLITE_MISUSE` where both a read and a write of a pool are open.
    public func read<T>(_ value: (Database) throws -> T) throws -> T { try reader.joinedRead(tableName, value) }

    /// As the synchronous `read`, in an access of its own; waiting suspends the task.
    ///
    /// - throws: the errors of `DatabaseReader.read`; `CancellationError`.
    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await reader.read(value)
    }

    /// As the asynchronous `read` that returns other values; returns rows.
    ///
    /// ```swift
    /// let rows = try await players.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player") }
    /// ```
    ///
    /// - throws: the errors of `DatabaseReader.read` for rows; `CancellationError`.
    public func read<Rows: RowContainer>(_ value: @Sendable (Database) throws -> Rows) async throws -> sending Rows {
        try await reader.read(value)
    }

    /// The number of rows, or of those of a part.
    ///
    /// ```swift
    /// try players.fetchCount()                                  // SELECT COUNT(*) FROM "player"
    /// try players.fetchCount { $0.filter(Column("score") > 10) }
    /// ```
    ///
    /// - throws: the errors of `read`; the closure's error.
    public func fetchCount(_ part: Part<RowDecoder> = { $0 }) throws -> Int {
        let request = try part(table.all())
        return try read { db in try request.fetchCount(db) }
    }

    /// As the synchronous `fetchCount`; waiting suspends the task.
    ///
    /// - throws: the errors of the asynchronous `read`; the closure's error.
    public func fetchCount(_ part: Part<RowDecoder> = { $0 }) async throws -> Int {
        let request = try part(table.all())
        return try await read { db in try request.fetchCount(db) }
    }

    /// Whether a row with the given primary key exists.
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; the errors of `read`.
    public func exists(key: some DatabaseValueConvertible & Sendable) throws -> Bool {
        try read { db in try table.exists(db, key: key) }
    }

    /// As the synchronous `exists(key:)`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `exists(key:)`; `CancellationError`.
    public func exists(key: some DatabaseValueConvertible & Sendable) async throws -> Bool {
        try await read { [table] db in try table.exists(db, key: key) }
    }
}

extension BoundTable where RowDecoder: RowDecodable {
    /// All rows: `SELECT * FROM "player"`.
    ///
    /// - throws: the errors of `read`; the error of decoding a row, such as `RowDecodingError`.
    public func fetchAll() throws -> [RowDecoder] { try read { db in try table.fetchAll(db) } }

    /// As the synchronous `fetchAll`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `fetchAll`; `CancellationError`.
    public func fetchAll() async throws -> [RowDecoder] where RowDecoder: Sendable {
        try await read { [table] db in try table.fetchAll(db) }
    }

    /// Any row: `SELECT * FROM "player" LIMIT 1`.
    ///
    /// - throws: the errors of `read`; the error of decoding the row, such as `RowDecodingError`.
    public func fetchOne() throws -> RowDecoder? { try read { db in try table.fetchOne(db) } }

    /// As the synchronous `fetchOne`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `fetchOne`; `CancellationError`.
    public func fetchOne() async throws -> RowDecoder? where RowDecoder: Sendable {
        try await read { [table] db in try table.fetchOne(db) }
    }

    /// The row with the given primary key; nil if there is none.
    ///
    /// ```swift
    /// let player = try players.fetchOne(key: 1)
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; the errors of `read` and of decoding.
    public func fetchOne(key: some DatabaseValueConvertible & Sendable) throws -> RowDecoder? {
        try read { db in try table.fetchOne(db, key: key) }
    }

    /// As the synchronous `fetchOne(key:)`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `fetchOne(key:)`; `CancellationError`.
    public func fetchOne(key: some DatabaseValueConvertible & Sendable) async throws -> RowDecoder?
    where RowDecoder: Sendable {
        try await read { [table] db in try table.fetchOne(db, key: key) }
    }
}

extension BoundTable {
    /// The rows of a part of the table, or values of them.
    ///
    /// ```swift
    /// let best = try players.fetchAll { $0.filter(Column("score") > 10) }                    // [Player]
    /// let names = try players.fetchAll { $0.select(Column("name"), as: String.self).distinct() }
    /// let rows = try players.fetchAll { $0.asRequest(of: Row.self) }
    /// ```
    ///
    /// - throws: the errors of `read` and of decoding; the closure's error.
    public func fetchAll<T: RowDecodable>(_ part: Part<T>) throws -> [T] {
        let request = try part(table.all())
        return try read { db in try request.fetchAll(db) }
    }

    /// As the synchronous `fetchAll`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `fetchAll`; `CancellationError`.
    public func fetchAll<T: RowDecodable & Sendable>(_ part: Part<T>) async throws -> [T] {
        let request = try part(table.all())
        return try await read { db in try request.fetchAll(db) }
    }

    /// The first row of a part of the table, or a value of it; nil if there is none.
    ///
    /// ```swift
    /// let best = try players.fetchOne { $0.order(Column("score").desc) }
    /// let highest = try players.fetchOne { $0.select(max(Column("score")), as: Int.self) }
    /// ```
    ///
    /// - throws: the errors of `read` and of decoding; the closure's error.
    public func fetchOne<T: RowDecodable>(_ part: Part<T>) throws -> T? {
        let request = try part(table.all())
        return try read { db in try request.fetchOne(db) }
    }

    /// As the synchronous `fetchOne`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `fetchOne`; `CancellationError`.
    public func fetchOne<T: RowDecodable & Sendable>(_ part: Part<T>) async throws -> T? {
        let request = try part(table.all())
        return try await read { db in try request.fetchOne(db) }
    }
}
