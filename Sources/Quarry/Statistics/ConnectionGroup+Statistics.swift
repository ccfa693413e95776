import QuarryCore

extension ConnectionGroup {
    /// The connections and their accesses.
    var connectionStatistics: DatabaseStatistics.Connections {
        state.withLock { state in
            var statistics = DatabaseStatistics.Connections()
            statistics.limit = state.machine.capacity
            statistics.open = state.connections.count { $0 != nil }
            statistics.idle = state.machine.idleCount
            statistics.leased = state.machine.leasedCount
            statistics.waiters = state.machine.waiterCount
            return statistics
        }
    }
}
