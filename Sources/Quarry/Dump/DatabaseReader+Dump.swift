public import QuarryCore

extension DatabaseReader {
    /// Prints the rows of some SQL.
    ///
    /// ```swift
    /// try dbQueue.dumpSQL("SELECT name, score FROM player")
    /// // Arthur|500
    /// // Barbara|1000
    /// ```
    ///
    /// Inside an access of this thread, it uses the connection of that access, so that it can be called from a
    /// debugger. The SQL can be changes if that connection writes, as a queue's does.
    ///
    /// - parameter sql: statements, separated by semicolons.
    /// - parameter format: the format of the rows.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { db in try db.dumpSQL(sql, format: format, to: stream) }
    }

    /// Prints the rows of a request, followed by its prefetched rows, all of one state.
    ///
    /// ```swift
    /// try dbQueue.dumpRequest(Team.including(all: Team.players))
    /// // 1|Reds
    /// //
    /// // players
    /// // 1|Arthur|1
    /// ```
    ///
    /// - parameter request: a request.
    /// - parameter format: the format of the rows.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpRequest(
        _ request: some FetchRequest, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try dumpOneState { db in try db.dumpRequest(request, format: format, to: stream) }
    }

    /// Prints the rows of tables and views, all of one state.
    ///
    /// ```swift
    /// try dbQueue.dumpTables(["player"], format: .csv())
    /// ```
    ///
    /// - parameter tables: the names of tables and views.
    /// - parameter format: the format of the rows.
    /// - parameter tableHeader: whether the names of the tables are written.
    /// - parameter stableOrder: whether rows are sorted by their primary key, and rows of views by their values, so
    ///   that equal tables give equal dumps.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`: "no such table: player"; the error of a ``ThrowingTextOutputStream``. The text
    ///   written before stays.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(), tableHeader: DumpTableHeaderOptions = .automatic,
        stableOrder: Bool = false, to stream: (any TextOutputStream)? = nil
    ) throws {
        try dumpOneState { db in
            try db.dumpTables(
                tables, format: format, tableHeader: tableHeader, stableOrder: stableOrder, to: stream)
        }
    }

    /// Prints the schema and the rows of all tables, in a stable order, all of one state.
    ///
    /// ```swift
    /// try dbQueue.dumpContent()
    /// ```
    ///
    /// - parameter format: the format of the rows.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpContent(
        format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try dumpOneState { db in try db.dumpContent(format: format, to: stream) }
    }

    /// Prints the schema: the statements that create tables, indexes, triggers and views.
    ///
    /// ```swift
    /// try dbQueue.dumpSchema()
    /// ```
    ///
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        try dumpOneState { db in try db.dumpSchema(to: stream) }
    }

    /// Reads in a transaction; inside an access of this thread, in the transaction of that access.
    private func dumpOneState(_ dump: (Database) throws -> Void) throws {
        try unsafeReentrantRead { db in
            if db.isInsideTransaction { return try dump(db) }
            try db.inTransaction(.deferred) {
                try dump(db)
                return .commit
            }
        }
    }
}

// MARK: - Asynchronous

extension DatabaseReader {
    /// Same as the synchronous `dumpSQL`, in a read: the SQL can't be changes.
    ///
    /// - throws: the errors of the synchronous `dumpSQL`; `SQLITE_READONLY` for a change; `CancellationError`.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat & Sendable = .debug(), to stream: (any TextOutputStream & Sendable)? = nil
    ) async throws {
        try await read { db in try db.dumpSQL(sql, format: format, to: stream) }
    }

    /// Same as the synchronous `dumpRequest`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `dumpRequest`; `CancellationError`.
    public func dumpRequest(
        _ request: some FetchRequest & Sendable, format: some DumpFormat & Sendable = .debug(),
        to stream: (any TextOutputStream & Sendable)? = nil
    ) async throws {
        try await read { db in try db.dumpRequest(request, format: format, to: stream) }
    }

    /// Same as the synchronous `dumpTables`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `dumpTables`; `CancellationError`.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat & Sendable = .debug(),
        tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        to stream: (any TextOutputStream & Sendable)? = nil
    ) async throws {
        try await read { db in
            try db.dumpTables(
                tables, format: format, tableHeader: tableHeader, stableOrder: stableOrder, to: stream)
        }
    }

    /// Same as the synchronous `dumpContent`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `dumpContent`; `CancellationError`.
    public func dumpContent(
        format: some DumpFormat & Sendable = .debug(), to stream: (any TextOutputStream & Sendable)? = nil
    ) async throws {
        try await read { db in try db.dumpContent(format: format, to: stream) }
    }

    /// Same as the synchronous `dumpSchema`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `dumpSchema`; `CancellationError`.
    public func dumpSchema(to stream: (any TextOutputStream & Sendable)? = nil) async throws {
        try await read { db in try db.dumpSchema(to: stream) }
    }
}
