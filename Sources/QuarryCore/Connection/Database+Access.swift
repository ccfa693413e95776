// The frame of an access: the calls of the queue and the pool before and after a closure has the connection.

extension Database {
    /// Makes the current thread the connection's owner. The caller has the connection's lease.
    ///
    /// - parameter token: lets the access be cancelled while it runs.
    /// - parameter followsTask: whether the access is cancelled with the task that runs it, and stays on the task's
    ///   thread. Then it needs no token: the connection isn't interrupted, but asks the task.
    /// - returns: whether the body of the access is to be timed: a return value, because other modules check each read
    ///   of a field for overlapping accesses.
    /// - throws: `SQLITE_MISUSE` if the connection is closed; the error of a rollback that was due, or of a setup.
    @discardableResult
    package func beginAccess(_ token: AccessToken?, followsTask: Bool = false) throws -> Bool {
        try takeForAccess(token, followsTask: followsTask)
        if hasPendingSetups { try runSetupsOrEnd() }
        return clocks.timing.isOn
    }

    /// Runs `body` as one access of a connection that no other access can have. It can't be cancelled.
    package func asAccess<T>(_ body: (Database) throws -> T) throws -> T {
        try beginAccess(nil)
        let result: T
        do {
            result = try body(self)
        } catch {
            // The first error counts.
            _ = endAccess()
            throw error
        }
        if let error = endAccess() { throw error }
        return result
    }

    /// Begins an access that closes the connection. As `beginAccess`, but runs no setups: they may fail.
    package func beginClosing() throws { try takeForAccess(nil, followsTask: false) }

    @inline(never)
    private func runSetupsOrEnd() throws {
        do {
            try runSetups()
        } catch {
            _ = endAccess()
            throw error
        }
    }

    /// Begins an access without its setups.
    @inline(__always)
    func takeForAccess(_ token: AccessToken?, followsTask: Bool) throws {
        access.begin(error: try lifetime.take())
        lifetime.publish(access: access.number)
        if openTransaction.rollbackIsDue { try rollBackAtLast() }
        if followsTask {
            if access.follow(.task) { installCancellation() }
        } else if let token {
            if access.follow(.token(token)) { installCancellation() }
            if let deadline = token.deadline { beginDeadline(deadline) }
            token.begin(lifetime)
        }
    }

    /// Ends the access and its cursors, and rolls back a transaction that it left open.
    ///
    /// - returns: an error if a transaction was left open, if a change failed whose cursor was released before its end,
    ///   or if a method that can't throw has failed.
    package func endAccess() -> (any Error)? {
        let wasCancelled = endCancellation()
        stopAllStatements()
        if wasCancelled, !lifetime.isClosed { ConnectionCalls.forgetInterruption(pointer) }
        if !running.blobs.isEmpty { closeBlobs() }
        // SQLite's C functions may have committed what no statement of the connection accounts for.
        if watches.transactions || openTransaction.state.isInside, !lifetime.isClosed { noteUntoldEnd() }
        var error = access.takeError()
        if !lifetime.isClosed, !ConnectionCalls.isAutocommit(pointer), !options.allowsUnsafeTransactions {
            try? rollback()
            openTransaction.rollbackIsDue = isInsideTransaction
            error = error ?? DatabaseError.misuse("A transaction has been left open at the end of a database access.")
        }
        if hasPendingSetupsAtEnd { runSetupsAtEnd() }
        if lifetime.counters.needStatus, !lifetime.isClosed { lifetime.counters.readStatus(of: pointer) }
        lifetime.leave()
        return error
    }

    /// Prevents further cancellation of the access.
    ///
    /// - returns: whether a token has cancelled the access: SQLite may not have received the interruption yet.
    @inline(__always)
    private func endCancellation() -> Bool {
        guard let token = access.unfollow() else { return false }
        token.end()
        if token.deadline != nil { clocks.deadlines.restore(nil) }
        return token.isCancelled
    }

    /// Rolls back the transaction that the last access could not roll back for lack of memory. No access begins until
    /// this succeeds.
    @inline(never)
    private func rollBackAtLast() throws {
        do {
            try rollback()
            openTransaction.rollbackIsDue = false
        } catch {
            lifetime.leave()
            throw error
        }
    }

    /// Ends every cursor.
    func stopAllStatements() {
        guard running.statements.count > 0 else { return }
        for statement in running.statements.newestFirst { statement.stopExecution(self) }
    }

    /// Ends the executions that haven't taken a step.
    @inline(never)
    func stopUnsteppedStatements() {
        guard running.statements.count > 0 else { return }
        for statement in running.statements.newestFirst where !statement.handle.isBusy {
            statement.stopExecution(self)
        }
    }

    /// Runs the body of a method that can't throw. Its error is thrown when the access ends.
    ///
    /// Outside an access, the next access throws the error.
    package func failingAccess(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if lifetime.isAccessed { access.note(error) } else { lifetime.leave(error: error) }
        }
    }

    /// Lets the body of the next access be timed. The caller has the connection's lease.
    package func beginTiming() { clocks.timing = (isOn: true, runTime: 0) }

    /// Ends the timing.
    ///
    /// - returns: the nanoseconds that the body has taken; 0 if it hasn't run.
    package func endTiming() -> UInt64 {
        defer { clocks.timing = (isOn: false, runTime: 0) }
        return clocks.timing.runTime
    }

    /// Whether the body is to be timed, which it isn't any more if the caller times it itself.
    package func takeTiming() -> Bool {
        defer { clocks.timing.isOn = false }
        return clocks.timing.isOn
    }

    /// Runs the body of an access, and measures the time it takes.
    package func timed<T>(_ body: (Database) throws -> T) rethrows -> T {
        let start = clock.now
        defer { clocks.timing.runTime = clock.now - start }
        return try body(self)
    }

    /// Whether an access on the current thread has the connection.
    package var isOwned: Bool { lifetime.isAccessed }

    /// The number of the thread whose access has the connection; 0 if none has. Each thread has a different number.
    package var accessingThread: UInt { lifetime.accessingThread }

    /// The number of the current thread.
    package static var currentThread: UInt { ConnectionLifetime.currentThread }

    /// Whether the connection is closed; may be read from any thread.
    package var isClosed: Bool { lifetime.isClosed }

    /// The object that keeps the connection open if `close` has thrown: statements hold it, too. To be held weakly.
    package var handleOwner: AnyObject { lifetime }

    /// The number of the running access; nil if none is running. May be read from any thread.
    package var runningAccess: Int? { lifetime.runningAccess }

    /// Ends an access from another thread: its statements throw an error from now on, except those that end its
    /// transaction. Code of the access that runs no statement goes on.
    ///
    /// The caller prevents the connection from being closed, and the next access from beginning meanwhile.
    ///
    /// - returns: whether the access was running, and hadn't been ended.
    package func end(access number: Int, _ error: DatabaseError) -> Bool { lifetime.end(access: number, error) }

    /// The error with which another thread has ended the access; nil if none has.
    @inline(__always)
    var endError: DatabaseError? {
        lifetime.hasEndedAccess ? lifetime.endError(ofAccess: access.number) : nil
    }

    /// Interrupts the running statements, from any thread: <https://www.sqlite.org/c3ref/interrupt.html>.
    ///
    /// The caller prevents the connection from being closed meanwhile.
    package func interrupt() {
        if !lifetime.isClosed { lifetime.interrupt() }
    }

    /// Closes the connection.
    ///
    /// A backup that reads the database ends.
    ///
    /// - throws: `SQLITE_BUSY` if statements or blobs are left, or while a changeset is made; then the connection stays
    ///   usable.
    package func close() throws {
        guard !lifetime.isClosed else { return }
        try checkAccess()
        // SQLite doesn't know that a session points to the connection.
        guard !hooks.hasSessions else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY, message: "unable to close the connection while a changeset is made")
        }
        forgetInterruption()
        forgetStatements()
        running.backup?.abandon()
        try lifetime.close()
        route?.close()
        hooks.connectionDidClose()
    }

    /// Lets closing copy the log: an interruption that no statement was running for lasts until the next statement is
    /// prepared, and would stop the checkpoint of the last connection, which then leaves the log behind.
    private func forgetInterruption() {
        guard lifetime.wasInterrupted else { return }
        _ = try? makeStatement(sql: "SELECT 1")
    }

    /// Runs `body` so that cancelling the task doesn't stop it.
    ///
    /// - parameter isShielded: whether no interruption may arrive meanwhile. Otherwise a statement may still be
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

    /// Runs `body`, which restores the connection's settings, also in an access that was cancelled, or ended by another
    /// thread.
    package func restoringSettings<T>(_ body: () throws -> T) rethrows -> T {
        access.isRestoring = true
        defer { access.isRestoring = false }
        return try withoutCancellation(body)
    }

    /// Frees as much memory as possible: <https://www.sqlite.org/c3ref/db_release_memory.html>.
    ///
    /// ```swift
    /// try dbQueue.read { db in db.releaseMemory() }
    /// ```
    public func releaseMemory() { release(pages: true, statements: true) }

    /// Frees the pages of the cache that no statement uses, and the prepared statements.
    package func release(pages: Bool, statements: Bool) {
        guard !lifetime.isClosed else { return }
        failingAccess {
            try checkAccess()
            if statements { forgetKeptStatements() }
            if pages { ConnectionCalls.releaseMemory(pointer) }
        }
    }

    /// Forgets all kept statements, so that every text is prepared again.
    package func forgetKeptStatements() {
        _ = statementCache.removeAll()
        _ = attachments.removeStatementKeepers()
    }

    func forgetStatements() {
        forgetKeptStatements()
        for index in controlStatements.indices { controlStatements[index] = nil }
    }

    /// Runs `body` while nothing may be written.
    ///
    /// ```swift
    /// try db.readOnly {
    ///     try db.execute(sql: "DELETE FROM player") // throws SQLITE_READONLY
    /// }
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` outside an access; the error of `body`.
    public func readOnly<T>(_ body: () throws -> T) throws -> T {
        try checkAccess()
        access.beginReadOnly()
        defer { access.endReadOnly() }
        return try body()
    }

    /// Runs a callback that SQLite calls in the middle of its work on pages or on the schema: see `CurrentAccess.seal`.
    func sealed<T>(_ body: () throws -> T) rethrows -> T {
        access.seal()
        defer { access.unseal() }
        return try body()
    }

    /// Whether writing is prevented.
    package var isReadOnly: Bool { options.readonly || access.isReadOnly }
}

extension Database {
    /// Leaves the connection to another thread in the middle of an access. The transaction stays open; statements and
    /// blobs end.
    package func suspendAccess() {
        stopAllStatements()
        if !running.blobs.isEmpty { closeBlobs() }
        if endCancellation() { ConnectionCalls.forgetInterruption(pointer) }
        lifetime.leave()
    }
}

extension Database {
    /// A name for the access that has the connection. Reports of a read that keeps the write-ahead log from being
    /// emptied show it.
    ///
    /// ```swift
    /// try dbPool.read { db in
    ///     db.accessLabel = "nightly report"
    ///     …
    /// }
    /// ```
    ///
    /// It is forgotten at the end of the access. Outside an access it is nil, and setting it has no effect.
    public var accessLabel: String? {
        get { isOwned ? lifetime.label(ofAccess: access.number) : nil }
        set { if isOwned { lifetime.setLabel(newValue, ofAccess: access.number) } }
    }

    /// The label of an access. May be called from any thread.
    package func accessLabel(ofAccess number: Int) -> String? { lifetime.label(ofAccess: number) }
}
