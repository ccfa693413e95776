import QuarryCore

// The end of a group whose pool is released: its last access may end later.

extension ConnectionGroup {
    /// Sets the closure that is called when the group may have become unused, without its lock; nil for none.
    package func whenUnused(_ action: (@Sendable () -> Void)?) {
        let previous = state.withLock { state in
            defer { state.whenUnused = action }
            return state.whenUnused
        }
        // Released without the lock.
        _ = consume previous
    }

    /// Calls that closure if no access has a connection, or waits for one.
    static func tellIfUnused(_ state: Lock<State>) {
        let action = state.withLock { state in state.isUnused ? state.whenUnused : nil }
        action?()
    }

    /// Closes the connections, unless an access has one, or waits for one.
    ///
    /// - returns: whether all connections are closed.
    package func closeIfUnused() -> Bool {
        let dropped = state.withLock { state in
            state.isUnused ? Self.takeDropped(&state, state.machine.dropIdle()) : nil
        }
        guard let dropped else { return false }
        Self.close(dropped, state)
        return state.withLock { state in
            state.isUnused && state.dropped.isEmpty
                && !state.connections.contains { $0.map { !$0.database.isClosed } ?? false }
        }
    }

    /// Whether no access has a connection, or waits for one. A shut gate is no access.
    package var isUnused: Bool { state.withLock { $0.isUnused } }
}

extension ConnectionGroup.State {
    fileprivate var isUnused: Bool {
        barrier.isGate ? machine.leasedCount == 0 && machine.waiterCount == 0 : machine.isUnused
    }
}
