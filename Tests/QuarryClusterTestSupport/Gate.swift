/// A named step at which a request waits, until a test opens it.
///
/// ```swift
/// let gate = Gate("the commit has arrived")
/// cluster.faults.once(.delay(gate), at: .received) { $0.sql == "COMMIT" }
/// …
/// try await gate.reached()
/// gate.open()
/// ```
///
/// A gate stays open. The end of the node or of the cluster ends the waiting, too.
public final class Gate: Sendable {
    /// A request never came to the gate.
    public struct NeverReached: Error, CustomStringConvertible {
        /// The gate's name.
        public let description: String
    }

    private struct State {
        var isOpen = false
        var isReached = false
        /// The connections whose waiting has ended although the gate is closed.
        var released: Set<Int> = []
    }

    /// The step, in words.
    public let name: String
    private let state = Monitor(State())

    /// A closed gate.
    public init(_ name: String) { self.name = name }

    /// Whether the gate is open.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Whether a request has come to the gate.
    public var isReached: Bool { state.withLock { $0.isReached } }

    /// Lets all requests pass, for good.
    public func open() { state.withLock { $0.isOpen = true } }

    /// Suspends the task until a request has come to the gate.
    ///
    /// - throws: `NeverReached` after `seconds`.
    public func reached(within seconds: Int = 120) async throws {
        guard await state.becomes(within: seconds, { $0.isReached }) else {
            throw NeverReached(description: "never reached: \(name)")
        }
    }

    /// Blocks the thread until a request has come to the gate. A task calls `reached(within:)` instead.
    ///
    /// - throws: `NeverReached` after `seconds`.
    public func waitUntilReached(within seconds: Int = 120) throws {
        guard state.wait(atMost: seconds, until: { $0.isReached }) else {
            throw NeverReached(description: "never reached: \(name)")
        }
    }

    /// Blocks a connection's thread until the gate is open, or the connection is released.
    func pass(_ connection: Int) {
        state.withLock { $0.isReached = true }
        state.wait { $0.isOpen || $0.released.contains(connection) }
    }

    /// Ends the waiting of a connection, now or in the future.
    func release(_ connection: Int) { state.withLock { _ = $0.released.insert(connection) } }
}
