import Dispatch
import QuarryCore

/// Tells groups, now and then, to look for connections that nobody uses.
///
/// One clock serves all groups of the process, and its timer runs on while groups come and go: to set a timer wakes a
/// thread, which would cost a good part of what opening a pool does.
final class IdleClock: Sendable {
    /// The clock of pools' readers.
    static let readers = IdleClock(seconds: 30)

    private struct State {
        /// What groups do at a tick, by group. Each answers whether it wants another one.
        var listeners: [ObjectIdentifier: @Sendable () -> Bool] = [:]
        var isRunning = false
    }

    private let seconds: Double
    private let state = Lock(State())

    init(seconds: Double) { self.seconds = seconds }

    /// Adds a group's listener, until it wants no other tick or is removed.
    ///
    /// It doesn't own the group: it would keep it.
    func add(_ id: ObjectIdentifier, _ listener: @escaping @Sendable () -> Bool) {
        let mustStart = state.withLock { state in
            state.listeners[id] = listener
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { start() }
    }

    /// Removes a group's listener. A tick that is under way may still reach it, and so may the next.
    func remove(_ id: ObjectIdentifier) {
        // It goes outside the lock, with what it holds.
        let listener = state.withLock { $0.listeners.removeValue(forKey: id) }
        _ = consume listener
    }

    private func start() {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { self.tick() }
    }

    private func tick() {
        // A group that wants no other tick may want one a moment later, and adds itself again then.
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
