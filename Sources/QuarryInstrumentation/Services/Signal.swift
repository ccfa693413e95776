#if Instrumentation || AllButTLS
internal import Quarry

/// One value, which is sent once, and for which tasks wait.
final class Signal<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state = Lock(State())

    /// Sends the value, unless another one was sent.
    func send(_ value: Value) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits for the value.
    ///
    /// - returns: nil if the task is cancelled before.
    func value() async -> Value? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDecided = state.withLock { state in
                    if state.value != nil || state.cancelled.remove(id) != nil { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isDecided { continuation.resume(returning: state.withLock { $0.value }) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let waiter = state.waiters.removeValue(forKey: id) else {
                    if state.value == nil { state.cancelled.insert(id) }
                    return nil as CheckedContinuation<Value?, Never>?
                }
                return waiter
            }
            waiter?.resume(returning: nil)
        }
    }
}
#endif
