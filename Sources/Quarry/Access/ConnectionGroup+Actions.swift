import QuarryCore

// Carrying out the decisions of the state machine, without its lock.

extension ConnectionGroup {
    func perform(_ actions: [Machine.Action], endsJob: Bool) {
        if endsJob { WorkerThreads.endingJob { perform(actions) } } else { perform(actions) }
    }

    func perform(_ actions: [Machine.Action]) {
        var hasRefused = false
        for action in actions {
            switch action {
            case .grant(let waiter, let grant): waiter.resolve(.granted(grant))
            case .wake(let waiter): waiter.resolve(.retry)
            case .refuse(let waiter, let refusal):
                waiter.resolve(.failed(error(refusal)))
                hasRefused = true
            case .drop: break  // `takeDropped` has done it.
            }
        }
        if hasRefused { gate?.accessGaveUp() }
    }

    /// Takes the connections to be dropped out of their slots. The caller passes them to `close(_:_:)`.
    ///
    /// Called under the same lock as the decision: a moment later another access may have opened a new connection in
    /// the slot.
    static func takeDropped(_ state: inout State, _ actions: [Machine.Action]) -> [Connection] {
        let dropped = actions.compactMap { action -> Connection? in
            guard case .drop(let slot) = action, let connection = state.connections[slot].take() else { return nil }
            state.counts.connectionWillClose(connection)
            return connection
        }
        state.droppedCount += dropped.count
        return dropped
    }

    /// Closes connections that `takeDropped` has taken. The caller doesn't have the lock.
    ///
    /// - parameter state: of their group.
    static func close(_ dropped: consuming [Connection], _ state: Lock<State>) {
        let count = dropped.count
        _ = consume dropped
        state.withLock { $0.droppedCount -= count }
    }
}
