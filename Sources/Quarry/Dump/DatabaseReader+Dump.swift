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
    /// Inside an access of this thread, it uses that access's connection: it can be called from a debugger. The SQL can
    /// be changes where that connection writes, as a queue's does.
    ///
    /// - parameter sql: statements, with semicolons between them.
    /// - parameter format: how rows are written.
    /// - parameter stream: where they are written; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. What was written before stays.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { db in try db.dumpSQL(sql, format: format, to: stream) }
    }

    /// Prints the rows of a request, and below them those that it fetches besides, all of one state.
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
    /// - parameter format: how rows are written.
    /// - parameter stream: where they are written; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. What was written before stays.
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
    /// - parameter format: how rows are written.
    /// - parameter tableHeader: whether the names of the tables are written.
    /// - parameter stableOrder: whether rows come in the order of their primary key, and those of views in that of
    ///   their values, so that equal tables give equal dumps.
    /// - parameter stream: where they are written; nil for the standard output.
    /// - throws: `DatabaseError`: "no such table: player"; the error of a ``ThrowingTextOutputStream``. What was
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
    /// - parameter format: how rows are written.
    /// - parameter stream: where all is written; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. What was written before stays.
    public func dumpContent(
        format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try dumpOneState { db in try db.dumpContent(format: format, to: stream) }
    }

    /// Prints the schema: statements that make tables, indexes, triggers and views.
    ///
    /// ```swift
    /// try dbQueue.dumpSchema()
    /// ```
    ///
    /// - parameter stream: where it is written; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. What was written before stays.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        try dumpOneState { db in try db.dumpSchema(to: stream) }
    }

    /// Reads in a transaction; inside an access of this thread, in that one's.
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
    /// As the synchronous `dumpSQL`, in a read: the SQL can't be changes.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat & Sendable = .debug(), to stream: (any TextOutputStream & Sendable)? = nil
    ) async throws {
        try await read { db in try db.dumpSQL(sql, format: format, to: stream) }
    }

    /// As the synchronous `dumpRequest`; waiting suspends the task.
    public func dumpRequest(
        _ request: some FetchRequest & Sendable, format: some DumpFormat & Sendable = .debug(),
        to stream: (any TextOutputStream & Sendable)? = nil
    ) async throws {
        try await read { db in try db.dumpRequest(request, format: format, to: stream) }
    }

    /// As the synchronous `dumpTables`; waiting suspends the task.
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

    /// As the synchronous `dumpContent`; waiting suspends the task.
    public func dumpContent(
        format: some DumpFormat & Sendable = .debug(), to stream: (any TextOutputStream & Sendable)? = nil
    ) async throws {
        try await read { db in try db.dumpContent(format: format, to: stream) }
    }

    /// As the synchronous `dumpSchema`; waiting suspends the task.
    public func dumpSchema(to stream: (any TextOutputStream & Sendable)? = nil) async throws {
        try await read { db in try db.dumpSchema(to: stream) }
    }
}
