import Dispatch
import QuarryCore

/// A named step of a schedule: some reach it, others wait until it is reached.
///
/// ```swift
/// let hasRead = Step("the reader has read")
/// let reader = OwnThread { try dbPool.read { db in … ; hasRead.reach() } }
/// try await hasRead.reached(by: reader)
/// ```
///
/// A wait for a step that is never reached throws: at once if the code that has to reach it has ended, otherwise after
/// two minutes. So a schedule that is stuck fails.
public final class Step: Sendable {
    /// Says which step, or condition, has not come.
    public struct NeverReached: Error, CustomStringConvertible {
        /// The name.
        public let description: String

        /// - parameter name: what was waited for.
        public init(_ name: String) { description = "never reached: \(name)" }

        /// - parameter name: what was waited for.
        /// - parameter error: what the code that had to reach it has thrown; nil if it has returned.
        init(_ name: String, byCodeThatThrew error: (any Error)?) {
            let end = error.map { "has thrown \($0)" } ?? "has returned"
            description = "never reached: \(name), because the code that should reach it \(end)"
        }
    }

    private struct State {
        var isReached = false
        /// Called with nil when the step is reached.
        var waiters: [Int: @Sendable (NeverReached?) -> Void] = [:]
        var lastID = 0
    }

    /// How many seconds to wait for what is never reached. A machine that is busy with all tests at once runs some task
    /// for the first time after a minute.
    public static let patience = 120.0 * Double(TestTime.factor)

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
        for waiter in waiters { waiter(nil) }
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
    /// - parameter code: the task or thread that has to reach the step. When it has ended, the wait ends, too.
    public func reached(within seconds: Double = Step.patience, by code: (any CodeUnderTest)? = nil) async throws {
        let failure: NeverReached? = await withUnsafeContinuation { continuation in
            // A timer goes as soon as the step is reached: a delayed block would stay for its minute.
            let timer = Timer()
            guard
                let id = add({ failure in
                    timer.source.cancel()
                    continuation.resume(returning: failure)
                })
            else {
                timer.source.resume()
                return continuation.resume(returning: nil)
            }
            timer.source.setEventHandler { [weak self, neverReached] in self?.remove(id)?(neverReached) }
            timer.source.schedule(deadline: .now() + seconds)
            timer.source.resume()
            code?.whenEnded { [weak self, name] error in
                self?.remove(id)?(NeverReached(name, byCodeThatThrew: error))
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` when the step is reached.
    func whenReached(_ body: @escaping @Sendable () -> Void) {
        if add({ _ in body() }) == nil { body() }
    }

    // Sendable: Dispatch's sources may be used from any thread.
    private struct Timer: @unchecked Sendable {
        let source = DispatchSource.makeTimerSource()
    }

    private var neverReached: NeverReached { NeverReached(name) }

    /// - returns: nil if the step is reached already.
    private func add(_ waiter: @escaping @Sendable (NeverReached?) -> Void) -> Int? {
        state.withLock { state in
            guard !state.isReached else { return nil }
            state.lastID += 1
            state.waiters[state.lastID] = waiter
            return state.lastID
        }
    }

    private func remove(_ id: Int) -> (@Sendable (NeverReached?) -> Void)? {
        state.withLock { $0.waiters.removeValue(forKey: id) }
    }
}
