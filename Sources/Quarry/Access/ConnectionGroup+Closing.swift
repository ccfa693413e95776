import QuarryCore

// Closing the connections of groups.

extension ConnectionGroup {
    /// Drops all connections; leased connections are dropped when they come back, and those of another caller's barrier
    /// at its end.
    ///
    /// - parameter hasOwnBarrier: whether this access has the group's barrier.
    package func retireAll(hasOwnBarrier: Bool = false) {
        let dropped = state.withLock { state in
            Self.takeDropped(&state, state.machine.retireAll(hasOwnBarrier: hasOwnBarrier))
        }
        Self.close(dropped, state)
    }

    /// Closes all connections of some groups, and refuses the waiting accesses.
    ///
    /// Closing waits for the running accesses, and precedes the waiting ones.
    ///
    /// - parameter groups: in the order in which they are waited for. Their connections are closed in the opposite
    ///   order.
    /// - throws: `SQLITE_BUSY` if statements are left, or if this thread has one of the connections. Then the groups
    ///   stay usable.
    static func close(_ groups: [ConnectionGroup]) throws {
        guard let first = groups.first, !first.isClosed else { return }
        // Checked before waiting for any group, whose access may wait for a connection of this thread.
        for group in groups.reversed() { try group.checkMayClose() }
        var heldCount = 0
        do {
            for group in groups {
                do {
                    _ = try group.wait(for: .barrier, .user, nil, .closer, isFirst: true)
                } catch  where group.isClosed {
                    return endBarriers(groups.prefix(heldCount))
                }
                heldCount += 1
            }
            try closeConnections(groups)
        } catch {
            endBarriers(groups.prefix(heldCount))
            throw error
        }
        for group in groups.reversed() { group.finishClosing() }
    }

    /// As the synchronous `close`, but waiting suspends the task, and closing runs on the library's threads.
    ///
    /// - throws: the errors of the synchronous `close`; `CancellationError` if the task is cancelled while it waits.
    static func close(_ groups: [ConnectionGroup], _ workers: WorkerThreads) async throws {
        guard let first = groups.first, !first.isClosed else { return }
        for group in groups.reversed() { try group.checkMayClose() }
        let token = AccessToken()
        let waiters = groups.map { _ in TaskWaiter(workers, .offloadedTask) }
        first.request(waiters[0], token, .barrier, .user, nil, .closer, isFirst: true)
        try await withTaskCancellationHandler {
            // Like a barrier, closing must not need one of Swift's threads, since all of them may wait behind it.
            try await withTaskExecutorPreference(waiters[0], isolation: nil) {
                try await close(groups, waiters, token)
            }
        } onCancel: {
            token.cancel()
            for (group, waiter) in zip(groups, waiters) { group.cancel(waiter) }
        }
    }

    /// - parameter waiters: one for each group. The first has already entered its queue.
    private static func close(_ groups: [ConnectionGroup], _ waiters: [TaskWaiter], _ token: AccessToken) async throws {
        var heldCount = 0
        do {
            for (group, waiter) in zip(groups, waiters) {
                if heldCount > 0 { group.request(waiter, token, .barrier, .user, nil, .closer, isFirst: true) }
                do {
                    _ = try await group.grant(waiter)
                } catch  where group.isClosed {
                    return endBarriers(groups.prefix(heldCount))
                }
                heldCount += 1
            }
            if token.isCancelled { throw CancellationError() }
            try closeConnections(groups)
        } catch {
            endBarriers(groups.prefix(heldCount))
            throw error
        }
        for group in groups.reversed() { group.finishClosing() }
    }

    /// Throws `SQLITE_BUSY` if closing would wait for an access of this thread.
    func checkMayClose() throws {
        try checkIsOutsideWindow()
        guard ownedConnection != nil else { return }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY, message: "unable to close \(name): an access of this thread still runs")
    }

    /// Throws `SQLITE_BUSY` if closing would wait for work of this thread.
    func checkWorkMayEnd() throws {
        guard state.withLock({ $0.holders[0] == Database.currentThread }) else { return }
        throw DatabaseError(resultCode: .SQLITE_BUSY, message: "unable to close: \(name) runs on this thread")
    }

    /// Closes the connections of some groups, whose barriers are granted: `endBarriers` or `finishClosing` follows.
    static func closeConnections(_ groups: [ConnectionGroup]) throws {
        for group in groups { try group.endLending() }
        for group in groups.reversed() { try group.closeConnections() }
    }

    private func closeConnections() throws {
        // The group's other connections are closed first, so that its files are free afterwards.
        try waitForDropped()
        var closed: [Database] = []
        // Told when no lock is held and no connection is missing from its slot.
        defer { for database in closed { database.connectionContext?.connectionDidClose() } }
        let connections = state.withLock { $0.connections }
        for (slot, connection) in connections.enumerated() {
            guard let connection else { continue }
            // `interrupt()` must not reach the connection while it closes.
            state.withLock { state in
                state.connections[slot] = nil
                state.closing = connection
            }
            // Put back, whether closed or not, so that a later access reports it.
            defer {
                state.withLock { state in
                    state.connections[slot] = connection
                    state.closing = nil
                }
            }
            defer { _ = connection.database.endAccess() }
            try connection.database.beginClosing()
            connection.database.readCacheStatus()
            try connection.database.close()
            closed.append(connection.database)
        }
    }

    /// Empties the slots of connections that were closed under the barrier. The caller has the lock.
    ///
    /// - returns: the connections, to be released without the lock.
    func forgetClosed(_ state: inout State) -> [Connection] {
        state.connections.indices.compactMap { slot in
            guard state.connections[slot]?.database.isClosed ?? false, state.machine.forget(slot),
                let connection = state.connections[slot].take()
            else { return nil }
            state.counts.connectionWillClose(connection)
            return connection
        }
    }

    func finishClosing() {
        perform(state.withLock { $0.machine.close() })
        idleClock?.remove(ObjectIdentifier(state))
    }

    // MARK: - Requests while the groups close

    /// The requester of a connection on this thread.
    func requester(_ origin: AccessRequest.Origin) -> ClosingPhase.Requester {
        if origin != .user { return .admitted }
        let groups = state.withLock { $0.closingGroups }
        return groups.contains { $0 !== self && $0.ownedConnection != nil } ? .admitted : .newcomer
    }

    /// Throws if the group closes, or is closed.
    func checkIsOpen() throws {
        switch state.withLock({ $0.machine.phase }) {
        case .open: break
        case .draining, .ending: throw DatabaseError.connectionIsClosing()
        case .closed: throw DatabaseError.connectionIsClosed()
        }
    }
}
