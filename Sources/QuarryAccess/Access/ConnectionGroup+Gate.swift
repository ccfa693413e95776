import QuarryCore

extension ConnectionGroup {
    /// Whether a thread or task has a connection of the group, opens one, or has the barrier.
    package func isHeld(by holder: UInt) -> Bool {
        state.withLock { state in
            state.barrier.isHeld(by: holder)
                || state.holders.values.contains(holder)
                || state.connections.contains { $0?.database.accessingThread == holder }
        }
    }

    /// Shuts the gate of a database if no access has a connection of its groups or waits for one.
    ///
    /// Takes the writer's lock first, as `endBarriers` does.
    package static func shutGate(_ groups: ArraySlice<ConnectionGroup>) -> Bool {
        guard let group = groups.first else { return true }
        return group.state.withLock { state in
            guard state.machine.phase.isOpen, state.machine.isUnused, shutGate(groups.dropFirst()) else { return false }
            state.machine.beginBarrier()
            state.barrier = .gate(thread: 0)
            return true
        }
    }

    /// A waiter has entered the queue. A database in a directory may have to be opened for it.
    ///
    /// - parameter holder: the thread or task that waits, if it may have another connection; otherwise 0.
    func waiterDidEnter(_ holder: UInt) {
        guard let gate, state.withLock({ $0.barrier.isGate }) else { return }
        gate.accessWaits(holder)
    }

    /// Opens the gate, if it is shut.
    package static func openGate(_ groups: [ConnectionGroup]) {
        endBarriers(groups) { group, state in
            guard state.barrier.isGate else { return nil }
            return group.endBarrier(&state)
        }
    }

    /// Closes the connections behind a shut gate, which stays shut.
    package static func closeBehindGate(_ groups: [ConnectionGroup]) throws {
        let thread = Database.currentThread
        // An access of this thread, by a tracer, would wait for its own gate.
        for group in groups { group.state.withLock { if $0.barrier.isGate { $0.barrier = .gate(thread: thread) } } }
        defer {
            for group in groups {
                let forgotten = group.state.withLock { state in
                    if state.barrier.isGate { state.barrier = .gate(thread: 0) }
                    return group.forgetClosed(&state)
                }
                _ = consume forgotten
            }
            for group in groups { tellIfUnused(group.state) }
        }
        try closeConnections(groups)
    }
}
