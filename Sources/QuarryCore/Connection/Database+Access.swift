// The frame of an access: what the queue and the pool call before and after a closure gets the connection.

extension Database {
    /// Makes the thread that runs the connection's owner. The caller has the connection's lease.
    ///
    /// - parameter token: lets the access be cancelled while it runs.
    /// - parameter followsTask: whether it is cancelled with the task that runs it, on whose thread it stays. Then it
    ///   needs no token: cancelling a task interrupts no connection, but the task is asked.
    package func beginAccess(_ token: AccessToken?, followsTask: Bool = false) throws {
        access.begin(error: try lifetime.take())
        if rollbackIsDue { try rollBackAtLast() }
        if followsTask {
            if access.follow(.task) { installCancellation() }
        } else if let token {
            if access.follow(.token(token)) { installCancellation() }
            token.begin(lifetime)
        }
    }

    /// Ends the access and its cursors, and rolls back a transaction that it left open.
    ///
    /// - returns: an error if a transaction was left open, a change failed whose cursor was left before its end, or a
    ///   method that can't throw has failed.
    package func endAccess() -> (any Error)? {
        let wasCancelled = endCancellation()
        stopAllStatements()
        if wasCancelled, !lifetime.isClosed { ConnectionCalls.forgetInterruption(pointer) }
        if !openBlobs.isEmpty { closeBlobs() }
        var error = access.takeError()
        if !lifetime.isClosed, !ConnectionCalls.isAutocommit(pointer), !options.allowsUnsafeTransactions {
            try? rollback()
            rollbackIsDue = isInsideTransaction
            error = error ?? DatabaseError.misuse("A transaction has been left open at the end of a database access.")
        }
        lifetime.leave()
        return error
    }

    /// Keeps the access from being cancelled any more.
    ///
    /// - returns: whether a token has cancelled it: SQLite may still have its interruption to come.
    @inline(__always)
    private func endCancellation() -> Bool {
        guard let token = access.unfollow() else { return false }
        token.end()
        return token.isCancelled
    }

    /// Rolls back what the last access could not, for lack of memory. As long as that fails, no access begins.
    @inline(never)
    private func rollBackAtLast() throws {
        do {
            try rollback()
            rollbackIsDue = false
        } catch {
            lifetime.leave()
            throw error
        }
    }

    /// Ends every cursor.
    func stopAllStatements() {
        guard activeStatements.count > 0 else { return }
        for statement in activeStatements.newestFirst { statement.stopExecution(self) }
    }

    /// Ends the executions that have not taken a step.
    @inline(never)
    func stopUnsteppedStatements() {
        guard activeStatements.count > 0 else { return }
        for statement in activeStatements.newestFirst where !StatementCalls.isBusy(statement.sqliteStatement) {
            statement.stopExecution(self)
        }
    }

    /// Runs the body of a method that can't throw, as its callers expect: its error is thrown when the access ends.
    ///
    /// Where there is no access, the next one throws it.
    package func failingAccess(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if lifetime.isOwned { access.note(error) } else { lifetime.leave(error: error) }
        }
    }

    /// Whether an access of the thread that runs has the connection.
    package var isOwned: Bool { lifetime.isAccessed }

    /// The thread whose access has the connection, as a number that is another one for each thread; 0 if there is none.
    package var accessingThread: UInt { lifetime.accessingThread }

    /// The number of the thread that runs.
    package static var currentThread: UInt { ConnectionLifetime.currentThread }

    /// The connection itself, for those who wait for it from other threads.
    package var isClosed: Bool { lifetime.isClosed }

    /// Interrupts what runs, from any thread: <https://www.sqlite.org/c3ref/interrupt.html>.
    ///
    /// The caller keeps the connection from being closed meanwhile.
    package func interrupt() {
        if !lifetime.isClosed { ConnectionCalls.interrupt(pointer) }
    }

    /// Closes the connection for good.
    ///
    /// - throws: `SQLITE_BUSY` if statements, blobs or backups are left; the connection stays usable.
    package func close() throws {
        guard !lifetime.isClosed else { return }
        try checkAccess()
        forgetStatements()
        try lifetime.close()
        hooks.connectionDidClose()
    }

    /// Runs `body` so that cancelling the task doesn't stop it.
    ///
    /// - parameter isShielded: whether no interruption may come meanwhile. Without, a statement may still be
    ///   interrupted.
    func withoutCancellation<T>(isShielded: Bool = true, _ body: () throws -> T) rethrows -> T {
        let token = access.ignoreCancellation(shields: isShielded)
        token?.end()
        defer {
            token?.begin(lifetime)
            access.heedCancellation(endsShield: token != nil)
        }
        return try body()
    }

    /// Frees as much memory as can be: <https://www.sqlite.org/c3ref/db_release_memory.html>.
    ///
    /// ```swift
    /// try dbQueue.read { db in db.releaseMemory() }
    /// ```
    public func releaseMemory() {
        guard !lifetime.isClosed else { return }
        failingAccess {
            try checkAccess()
            forgetKeptStatements()
            ConnectionCalls.releaseMemory(pointer)
        }
    }

    /// Lets every text be prepared anew when it comes again.
    func forgetKeptStatements() {
        statementCache.removeAll()
        _ = attachments.removeStatementKeepers()
    }

    func forgetStatements() {
        forgetKeptStatements()
        for index in controlStatements.indices { controlStatements[index] = nil }
    }

    /// Runs `body` where nothing can be written.
    ///
    /// ```swift
    /// try db.readOnly {
    ///     try db.execute(sql: "DELETE FROM player") // throws SQLITE_READONLY
    /// }
    /// ```
    public func readOnly<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        access.beginReadOnly()
        defer { access.endReadOnly() }
        return try body()
    }

    /// Runs a callback that SQLite calls in the midst of its work on pages or on the schema: see `CurrentAccess.seal`.
    func sealed<T>(_ body: () throws -> T) rethrows -> T {
        access.seal()
        defer { access.unseal() }
        return try body()
    }

    /// Whether nothing can be written.
    package var isReadOnly: Bool { options.readonly || access.isReadOnly }
}

extension Database {
    /// Leaves the connection to another thread in the middle of an access: its transaction stays open, its statements
    /// must have ended.
    package func suspendAccess() {
        stopAllStatements()
        if !openBlobs.isEmpty { closeBlobs() }
        _ = endCancellation()
        lifetime.leave()
    }
}
