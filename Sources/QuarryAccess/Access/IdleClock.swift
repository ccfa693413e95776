import Dispatch
import QuarryCore

/// Tells groups at intervals to look for unused connections.
///
/// One clock serves all groups of the process, and its timer runs on while groups come and go. Setting a timer wakes a
/// thread, which would cost a good part of opening a pool.
package final class IdleClock: Sendable {
    /// The clock of the readers of pools.
    package static let readers = IdleClock(seconds: 30)

    /// The clock of write-ahead logs.
    static let logs = IdleClock(seconds: 1)

    private struct State {
        /// The listeners by group. Each returns whether it wants another tick.
        var listeners: [ObjectIdentifier: @Sendable () -> Bool] = [:]
        var isRunning = false
    }

    private let seconds: Double
    private let state = Lock(State())

    init(seconds: Double) { self.seconds = seconds }

    /// Adds a group's listener, until it wants no other tick or is removed.
    ///
    /// The listener must not own the group, which the clock would keep alive.
    func add(_ id: ObjectIdentifier, _ listener: @escaping @Sendable () -> Bool) {
        let mustStart = state.withLock { state in
            state.listeners[id] = listener
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { start() }
    }

    /// Removes a group's listener. The current tick may still reach it, and so may the next.
    func remove(_ id: ObjectIdentifier) {
        // Released outside the lock, with all that it holds.
        let listener = state.withLock { $0.listeners.removeValue(forKey: id) }
        _ = consume listener
    }

    private func start() {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { self.tick() }
    }

    private func tick() {
        // A group that wants no other tick may add itself again a moment later.
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return state.listeners
        }
        let lasting = listeners.filter { _, listener in listener() }
        let isRunning = state.withLock { state in
            state.listeners.merge(lasting) { newer, _ in newer }
            state.isRunning = !state.listeners.isEmpty
            return state.isRunning
        }
        if isRunning { start() }
    }
}
