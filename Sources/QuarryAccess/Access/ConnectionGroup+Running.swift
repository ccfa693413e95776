import QuarryCore

// The running accesses of a group, as other threads see them.

extension ConnectionGroup {
    /// A running access.
    struct RunningAccess: Hashable {
        let slot: Int
        /// A different number for each access of the slot's connection.
        let number: Int
    }

    /// The number of accesses that have a connection, or wait for one.
    var accessCount: Int { state.withLock { $0.machine.leasedCount + $0.machine.waiterCount } }

    /// The number of waiting accesses of the program, and of barriers: closing is one.
    package var programWaiterCount: Int { state.withLock { $0.machine.programWaiterCount } }

    /// The accesses that run.
    var runningAccesses: [RunningAccess] {
        state.withLock { state in
            state.connections.indices.compactMap { slot in
                guard let number = state.connections[slot]?.database.runningAccess else { return nil }
                return RunningAccess(slot: slot, number: number)
            }
        }
    }

    /// The label that a running access has given itself; nil if it has none.
    func label(of access: RunningAccess) -> String? {
        state.withLock { state in
            state.connections[access.slot]?.database.accessLabel(ofAccess: access.number)
        }
    }

    /// The accesses that run, or the work of a group without connections, in words for messages.
    var runningWork: [String] {
        if endWork != nil { return state.withLock { $0.machine.leasedCount > 0 } ? [name] : [] }
        return runningAccesses.map { access in
            label(of: access).map { "the access “\($0)” of \(name)" } ?? "an access without a label of \(name)"
        }
    }

    /// Whether no access has a connection, or waits for one.
    var isIdle: Bool { state.withLock { $0.machine.isUnused } }

    /// Interrupts the statements that run on any of the connections.
    func interrupt() {
        state.withLock { state in
            for connection in state.connections { connection?.database.interrupt() }
        }
    }

    /// Whether a backup reads the connection of a running access.
    func isReadByBackup(_ access: RunningAccess) -> Bool {
        state.withLock { $0.connections[access.slot]?.database.isReadByBackup ?? false }
    }

    /// Whether a backup reads one of the connections.
    var isReadByBackup: Bool {
        state.withLock { state in state.connections.contains { $0?.database.isReadByBackup ?? false } }
    }

    /// Ends a running access: its statements throw an error from now on.
    ///
    /// - returns: whether it was still running.
    func end(_ access: RunningAccess, _ error: DatabaseError) -> Bool {
        // With the lock held, no other access begins on the connection.
        state.withLock { state in
            state.connections[access.slot]?.database.end(access: access.number, error) ?? false
        }
    }
}
