import Dispatch
import QuarryCore

/// A named step of a schedule: some reach it, others wait until it is reached.
///
/// ```swift
/// let hasRead = Step("the reader has read")
/// let reader = OwnThread { try dbPool.read { db in … ; hasRead.reach() } }
/// try await hasRead.reached()
/// ```
///
/// A wait for a step that is never reached throws after two minutes: a schedule that is stuck fails.
public final class Step: Sendable {
    /// Says which step, or condition, has not come.
    public struct NeverReached: Error, CustomStringConvertible {
        /// The name.
        public let description: String

        /// - parameter name: what was waited for.
        public init(_ name: String) { description = "never reached: \(name)" }
    }

    private struct State {
        var isReached = false
        var waiters: [Int: @Sendable (Bool) -> Void] = [:]
        var lastID = 0
    }

    /// How many seconds to wait for what is never reached. A machine that is busy with all tests at once runs some task
    /// for the first time after a minute.
    public static let patience = 120.0

    /// The step, in words.
    public let name: String
    private let state = Lock(State())

    /// A step that isn't reached yet.
    public init(_ name: String) { self.name = name }

    /// Whether the step is reached.
    public var isReached: Bool { state.withLock { $0.isReached } }

    /// The step is reached, for good.
    public func reach() {
        let waiters = state.withLock { state in
            state.isReached = true
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter(true) }
    }

    /// Waits on a thread of one's own.
    public func wait() throws {
        SwiftThreads.willBlock(until: name)
        let semaphore = DispatchSemaphore(value: 0)
        guard let id = add({ _ in semaphore.signal() }) else { return }
        if semaphore.wait(timeout: .now() + Self.patience) == .timedOut, remove(id) != nil { throw neverReached }
    }

    /// Suspends the task.
    ///
    /// - parameter seconds: how long at most.
    public func reached(within seconds: Double = Step.patience) async throws {
        let isReached = await withUnsafeContinuation { continuation in
            // A timer goes as soon as the step is reached: a delayed block would stay for its minute.
            let timer = Timer()
            guard
                let id = add({ isReached in
                    timer.source.cancel()
                    continuation.resume(returning: isReached)
                })
            else {
                timer.source.resume()
                return continuation.resume(returning: true)
            }
            timer.source.setEventHandler { [weak self] in self?.remove(id)?(false) }
            timer.source.schedule(deadline: .now() + seconds)
            timer.source.resume()
        }
        if !isReached { throw neverReached }
    }

    // Sendable: Dispatch's sources may be used from any thread.
    private struct Timer: @unchecked Sendable {
        let source = DispatchSource.makeTimerSource()
    }

    private var neverReached: NeverReached { NeverReached(name) }

    /// - returns: nil if the step is reached already.
    private func add(_ waiter: @escaping @Sendable (Bool) -> Void) -> Int? {
        state.withLock { state in
            guard !state.isReached else { return nil }
            state.lastID += 1
            state.waiters[state.lastID] = waiter
            return state.lastID
        }
    }

    private func remove(_ id: Int) -> (@Sendable (Bool) -> Void)? {
        state.withLock { $0.waiters.removeValue(forKey: id) }
    }
}
