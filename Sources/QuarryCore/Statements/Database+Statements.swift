extension Database {
    // MARK: - Preparing

    /// Prepares a statement.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (:name)")
    /// try statement.execute(arguments: ["name": "Arthur"])
    /// ```
    ///
    /// - parameter sql: exactly one statement.
    /// - throws: `DatabaseError` if the SQL is wrong, or has no statement or more than one.
    public func makeStatement(sql: String) throws -> Statement {
        try makeStatement(sql: sql, persistent: true)
    }

    private func makeStatement(sql: String, persistent: Bool) throws -> Statement {
        var first: Statement?
        try forEachStatement(sql: sql, persistent: persistent) { statement, isLast in
            first = statement
            guard isLast else {
                throw DatabaseError.misuse(
                    "more than one statement: use execute(sql:) or allStatements(sql:)", sql: sql)
            }
        }
        guard let first else { throw DatabaseError(message: "empty statement", sql: sql) }
        return first
    }

    /// A prepared statement, which the connection keeps for later calls.
    ///
    /// ```swift
    /// let statement = try db.cachedStatement(sql: "SELECT name FROM player WHERE id = ?")
    /// let name = try String.fetchOne(statement, arguments: [1])
    /// ```
    ///
    /// While a caller holds the cached statement, a second caller receives a new one. The connection keeps a limited
    /// number of statements, and drops the least recently used one.
    ///
    /// - parameter sql: exactly one statement.
    /// - throws: the errors of `makeStatement`.
    public func cachedStatement(sql: String) throws -> Statement {
        try checkAccess()
        if let statement = statementCache.newestStatement(for: sql) {
            lifetime.counters.foundStatements.increment()
            // The previous user may have left arguments.
            statement.bound.forget()
            return statement
        }
        let key = SQLKey(sql)
        if let statement = statementCache.statement(for: key) {
            lifetime.counters.foundStatements.increment()
            statement.bound.forget()
            return statement
        }
        let statement = try makeStatement(sql: sql, persistent: true)
        statementCache.insert(statement, for: key)
        return statement
    }

    /// The statement that `cachedStatement` has kept for some SQL; nil if `cachedStatement` would prepare one.
    package func keptStatement(sql: String) throws -> Statement? {
        try checkAccess()
        return statementCache.newestStatement(for: sql) ?? statementCache.statement(for: SQLKey(sql))
    }

    /// A statement for SQL that is likely to run again.
    ///
    /// Only queries and changes of rows are kept, because a PRAGMA may act when it is prepared.
    @usableFromInline
    package func reusableStatement(sql: String) throws -> Statement {
        try checkAccess()
        if let statement = statementCache.newestStatement(for: sql) {
            lifetime.counters.foundStatements.increment()
            return statement
        }
        let key = SQLKey(sql)
        if let statement = statementCache.statement(for: key) {
            lifetime.counters.foundStatements.increment()
            return statement
        }
        let isToKeep = statementCache.admits(key)
        let statement = try makeStatement(sql: sql, persistent: isToKeep)
        if isToKeep, case .query = statement.kind { statementCache.insert(statement, for: key) }
        return statement
    }

    // MARK: - Executing

    /// Runs one or more statements to the end.
    ///
    /// ```swift
    /// try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
    /// try db.execute(
    ///     sql: """
    ///         INSERT INTO player (name) VALUES (:a);
    ///         INSERT INTO player (name) VALUES (:b);
    ///         """, arguments: ["a": "Arthur", "b": "Barbara"])
    /// ```
    ///
    /// Statements take positional arguments from left to right; each statement that names a named argument takes it. If
    /// positional arguments are left over, the last statement throws and doesn't run.
    ///
    /// - parameter sql: statements, separated by semicolons.
    /// - parameter arguments: the arguments of all statements; every positional argument must be used.
    /// - throws: `DatabaseError`; the statements before the failed one have run. `CancellationError` in a cancelled
    ///   task.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        try checkAccess()
        if let statement = statementCache.newestStatement(for: sql) {
            lifetime.counters.foundStatements.increment()
            return try statement.executeAndForget(arguments)
        }
        let key = SQLKey(sql)
        if let statement = statementCache.statement(for: key) {
            lifetime.counters.foundStatements.increment()
            return try statement.executeAndForget(arguments)
        }
        let isToKeep = statementCache.admits(key)
        var cursor = ArgumentCursor(arguments)
        var count = 0
        var last: Statement?
        try forEachStatement(sql: sql, persistent: isToKeep) { statement, isLast in
            count += 1
            last = statement
            let values = try cursor.values(for: statement)
            if isLast { try cursor.finish(sql: sql) }
            statement.bound.give(arguments, values: values)
            try statement.execute()
        }
        try cursor.finish(sql: sql)
        if isToKeep, count == 1, let last, case .query = last.kind {
            last.clearArguments()
            statementCache.insert(last, for: key)
        }
    }

    /// Runs one statement that won't be used again.
    func executeOnce(sql: String) throws { try makeStatement(sql: sql, persistent: false).execute() }

    /// Prepares the statements of some SQL, and passes each to `body` before the next is prepared.
    ///
    /// - parameter body: receives the statement, and whether it is the last one.
    private func forEachStatement(
        sql: String, persistent: Bool, _ body: (_ statement: Statement, _ isLast: Bool) throws -> Void
    ) throws {
        try withSQL(sql) { text in
            try checkNoNUL(text, sql)
            var start = 0
            while start < text.count {
                let (statement, end) = try prepare(text, from: start, sql: sql, persistent: persistent)
                start = end
                guard let statement else { continue }
                try body(statement, isEnd(of: sql, at: start))
            }
        }
    }

    /// Whether only white space and comments follow.
    func isEnd(of sql: String, at position: Int) -> Bool {
        position >= sql.utf8.count || Substring(sql).utf8.dropFirst(position).skippingSpaceAndComments.isEmpty
    }

    /// Prepares the statement that begins at a byte of some SQL.
    ///
    /// - returns: the statement, or nil if there is only white space; and the byte where the next statement begins.
    func prepare(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, sql: String, persistent: Bool
    ) throws -> (statement: Statement?, end: Int) {
        try checkAccess()
        if let statementPolicy = watchers.statementPolicy {
            try statementPolicy.willPrepare(text, from: start, sql: sql)
        }
        if let accessRecorder = watchers.accessRecorder {
            return try prepare(text, from: start, sql: sql, persistent: persistent, accessRecorder)
        }
        return try prepareUnrecorded(text, from: start, sql: sql, persistent: persistent)
    }

    /// As `prepare`, and keeps what SQLite reports about the statement.
    @inline(never)
    private func prepare(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, sql: String, persistent: Bool, _ recorder: AccessRecorder
    ) throws -> (statement: Statement?, end: Int) {
        let stamp = schemaStamp
        let (result, report) = try recorder.recording {
            // Without the hook, SQLite may delete all rows of a table at once.
            try hooks.withPreupdateLifted {
                try prepareUnrecorded(text, from: start, sql: sql, persistent: persistent)
            }
        }
        guard let statement = result.statement else { return result }
        if !report.deletions.isEmpty, let monitor = watchers.monitor {
            let accesses = try? makeAccesses(report, sql: statement.sql)
            if accesses.map({ monitor.asksForDeletions($0, self) }) ?? true {
                let again = try recorder.pausing {
                    try prepareUnrecorded(text, from: start, sql: sql, persistent: persistent)
                }
                if let accesses { again.statement?.accesses = (accesses, stamp, 0) }
                again.statement?.expiryAtPreparation = -1
                return again
            }
        }
        statement.accessReport = (report, stamp)
        statement.expiryAtPreparation = hooks.expiryCount
        return result
    }

    private func prepareUnrecorded(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, sql: String, persistent: Bool
    ) throws -> (statement: Statement?, end: Int) {
        let prepared = try prepareOnce(text, from: start, sql: sql, persistent: persistent)
        guard let statement = prepared.statement, case .other = statement.kind, hooks.needsWAL else { return prepared }
        hooks.takeWALBack()
        guard statement.sql.lowercased().contains("wal_autocheckpoint") else { return prepared }
        // SQLite answers with the number of its own hook, when the pragma is prepared.
        return try hooks.withWALGivenBack {
            try prepareOnce(text, from: start, sql: sql, persistent: persistent)
        }
    }

    private func prepareOnce(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, sql: String, persistent: Bool
    ) throws -> (statement: Statement?, end: Int) {
        var end = start
        try route?.statementWillBePrepared(Substring(sql).utf8.dropFirst(start))
        switch StatementHandle.prepare(
            pointer, sql: text, from: &end, persistent: persistent, finalizer: lifetime)
        {
        case .statement(let handle):
            lifetime.counters.preparedStatements.increment()
            let utf8 = sql.utf8
            let lower = utf8.index(utf8.startIndex, offsetBy: start)
            let upper = utf8.index(utf8.startIndex, offsetBy: end)
            let statement =
                if let route {
                    try route.statement(handle, sql: sql[lower..<upper], persistent: persistent, self)
                } else {
                    Statement(handle, sql: sql[lower..<upper], lifetime: lifetime, schemaStamp: schemaStamp)
                }
            try watchers.statementPolicy?.didPrepare(statement, self)
            return (statement, end)
        case .empty:
            return (nil, end)
        case .failure(let code):
            let rest = Substring(sql).utf8.dropFirst(start)
            if let route, try route.preparationDidFail(code, sql: rest, self) {
                return try prepareOnce(text, from: start, sql: sql, persistent: persistent)
            }
            throw error(code, sql: String(Substring(rest.skippingSpaceAndComments.droppingTrailingSpace)))
        }
    }

    /// Passes `body` the bytes of some SQL; a NUL follows them.
    func withSQL<T>(_ sql: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> T) rethrows -> T {
        try sql.withCString { text in
            let count = sql.utf8.count
            return try text.withMemoryRebound(to: UInt8.self, capacity: count + 1) { bytes in
                return try body(UnsafeBufferPointer(start: bytes, count: count))
            }
        }
    }

    /// Throws for SQL with a NUL: SQLite would stop there, and silently ignore the rest.
    func checkNoNUL(_ text: UnsafeBufferPointer<UInt8>, _ sql: String) throws(DatabaseError) {
        guard let index = text.firstIndex(of: 0) else { return }
        throw DatabaseError.misuse("SQL has a NUL character at byte \(index)", sql: sql)
    }
}

extension Database {
    /// Whether a policy decides which statements may be prepared.
    package var hasStatementPolicy: Bool { watchers.statementPolicy != nil }

    /// Runs `body` while a policy decides which statements may be prepared. Its statements end with it.
    ///
    /// - parameter limits: SQLite's limits meanwhile, unless those of the connection are lower.
    /// - parameter deadline: the time at which the statements of `body` fail.
    /// - parameter authorize: answers to SQLite for each table, column and function of a statement.
    package func withStatements<T>(
        under policy: any StatementPolicy, limits: [(limit: Limit, value: Int)], until deadline: AccessDeadline,
        authorizing authorize: @escaping (HookSlots.Authorization) -> HookSlots.AuthorizationAnswer,
        _ body: () throws -> T
    ) throws -> T {
        let outerStatements = Set(running.statements.newestFirst.map { ObjectIdentifier($0) })
        let outerCache = statementCache
        statementCache = StatementCache(capacity: options.statementCacheCapacity)
        watchers.statementPolicy = policy
        let client = hooks.onAuthorization(authorize)
        // The program's statements have to pass, too.
        hooks.expireStatementsUncounted()
        let outerLimits = limits.map { limit, value in
            let outer = ConnectionCalls.limit(pointer, limit.rawValue, -1)
            _ = ConnectionCalls.limit(pointer, limit.rawValue, min(outer, CInt(clamping: value)))
            return (limit, outer)
        }
        defer {
            for statement in running.statements.newestFirst
            where !outerStatements.contains(ObjectIdentifier(statement)) { statement.stopExecution(self) }
            policy.retireStatements()
            if !lifetime.isClosed {
                for (limit, outer) in outerLimits { _ = ConnectionCalls.limit(pointer, limit.rawValue, outer) }
            }
            hooks.remove(client)
            watchers.statementPolicy = nil
            // Released when the cache is no longer being changed.
            let innerCache = statementCache
            statementCache = outerCache
            _ = consume innerCache
        }
        return try ending(by: deadline) {
            // A thousand steps may call a slow function a hundred times.
            try hooks.checkingProgress(each: 20, body)
        }
    }
}

extension Statement {
    /// The statement can't run any more.
    package func retire() { activity.retire() }
}

extension Database {
    func controlStatement(_ control: ControlStatement) throws -> Statement {
        try checkAccess()
        if let statement = controlStatements[control.rawValue] { return statement }
        let statement = try makeStatement(sql: control.sql)
        controlStatements[control.rawValue] = statement
        return statement
    }

    /// Prepares the statement that releases the locks, before they are taken: without free memory no statement can be
    /// prepared.
    @inline(__always)
    func prepareRollback() throws {
        try checkAccess()
        if controlStatements[ControlStatement.rollback.rawValue] == nil { try prepareFirstRollback() }
    }

    @inline(never)
    private func prepareFirstRollback() throws {
        do {
            _ = try controlStatement(.rollback)
        } catch let error as DatabaseError where error.resultCode != .SQLITE_NOMEM {
            // Any other problem also makes BEGIN fail, and BEGIN's error names the caller's request.
        }
    }

    func run(_ control: ControlStatement) throws {
        try checkAccess()
        guard let statement = controlStatements[control.rawValue] else {
            return try controlStatement(control).execute(in: self)
        }
        // Not retained: the statement lives until the connection is closed, and an access never closes its own
        // connection.
        try Unmanaged.passUnretained(statement)._withUnsafeGuaranteedRef { try $0.execute(in: self) }
    }
}
