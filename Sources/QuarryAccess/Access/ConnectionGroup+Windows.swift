import QuarryCore

// Closing the connections of groups for a while.

extension ConnectionGroup {
    /// Closes all connections of some groups in the order of arrival, runs `body`, and serves accesses again.
    ///
    /// - parameter groups: in the order in which they are waited for: a writer, which is lent to the accesses of the
    ///   second group meanwhile. Their connections are closed in the opposite order.
    /// - throws: `SQLITE_MISUSE` inside an access of this thread, or inside such a closure; `SQLITE_BUSY` if statements
    ///   are left; the error of `body`.
    package static func whileClosed<T>(_ groups: [ConnectionGroup], _ body: () throws -> T) throws -> T {
        try beginWindow(groups)
        defer { endBarriers(groups) }
        return try body()
    }

    /// Closes all connections as `whileClosed` does, until `endBarriers`, which any thread may call.
    package static func beginWindow(_ groups: [ConnectionGroup]) throws {
        for group in groups { try group.checkMayWaitForAll() }
        try Closing(groups, .window).run()
    }

    /// As the synchronous `whileClosed`, but waiting suspends the task, and `body` runs on the library's threads.
    ///
    /// - parameter staysClosed: whether the connections stay closed when `body` has returned, until `endBarriers`. Then
    ///   the task may stay on its thread: all of Swift's may wait for the end.
    package static func whileClosed<T: Sendable>(
        _ groups: [ConnectionGroup], _ workers: WorkerThreads, staysClosed: Bool = false,
        _ body: @Sendable () throws -> T
    ) async throws -> T {
        try await Closing(groups, .window).run(workers, mayStay: staysClosed) {
            var isOver = true
            defer { if isOver { endBarriers(groups) } else { leaveWindow(groups) } }
            let value = try body()
            isOver = !staysClosed
            return value
        }
    }

    /// The barriers go on, and belong to no thread.
    private static func leaveWindow(_ groups: [ConnectionGroup]) {
        for group in groups { group.state.withLock { $0.barrier = .window(thread: 0) } }
    }

    private func checkMayWaitForAll() throws {
        if ownedConnection != nil { throw DatabaseError.reentrantAccess(name) }
        try checkIsOutsideWindow()
    }

    /// Throws if this thread has the database closed.
    func checkIsOutsideWindow() throws {
        if state.withLock({ $0.machine.hasBarrier && $0.barrier.thread == Database.currentThread }) {
            throw DatabaseError.accessOfClosedDatabase(name)
        }
    }
}

extension ConnectionGroup {
    /// Whether a connection is open.
    package var hasOpenConnection: Bool {
        state.withLock { state in state.connections.contains { $0.map { !$0.database.isClosed } ?? false } }
    }

    /// Whether a window keeps the connections closed.
    package var hasWindow: Bool { state.withLock { $0.machine.hasBarrier && !$0.barrier.isGate } }

    /// Whether the group is closed, and nothing runs or waits: an access, a window, a closing.
    var isClosedAtRest: Bool {
        state.withLock { state in
            guard state.machine.waiterCount == 0 else { return false }
            if state.barrier.isGate { return true }
            return state.machine.leasedCount == 0 && !state.machine.hasBarrier
                && state.connections.allSatisfy { $0?.database.isClosed ?? true }
        }
    }

    /// Takes an open connection for its only slot, unless that is in use.
    package func adopt(_ database: Database) {
        let rest = state.withLock { state -> Database? in
            guard state.machine.adopt(0) else { return database }
            state.connections[0] = Connection(database: database)
            return nil
        }
        // Closed without the lock.
        _ = consume rest
    }
}

extension DatabaseError {
    /// - parameter name: of the connection, in messages.
    static func accessOfClosedDatabase(_ name: String) -> DatabaseError {
        DatabaseError.misuse(
            "\(name) can't be used inside the closure of withClosedDatabase, which has the database closed")
    }
}
