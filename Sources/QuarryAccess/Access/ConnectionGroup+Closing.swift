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

    /// Refuses the waiting accesses, and interrupts the running ones.
    func endGracePeriod() {
        perform(decide { $0.endGracePeriod(now: clock.now) })
        let error = DatabaseError(
            resultCode: .SQLITE_INTERRUPT, message: "Connection is closing: its grace period has ended")
        for access in runningAccesses { _ = end(access, error) }
        interrupt()
        endWork?(error)
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
        case .draining, .ending: throw DatabaseError.connectionIsClosing(name)
        case .closed: throw DatabaseError.connectionIsClosed(name)
        }
    }
}
