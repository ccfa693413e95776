import Synchronization

/// An access that can be cancelled while it waits and while it runs, and may have a deadline.
///
/// Cancelling raises a flag. It interrupts the connection only while this access has the connection, and never
/// interrupts the connection's next user.
package final class AccessToken: @unchecked Sendable {
    // Sendable: `connection` is written before `phase` says that the access runs, and read only after `phase` has said
    // so.

    private enum Phase {
        static let waiting = 0
        static let running = 1
        /// The cancelling thread is about to interrupt the connection; the end of the access waits for it.
        static let interrupting = 2
    }

    private let flag = Atomic<Bool>(false)
    private let phase = Atomic<Int>(Phase.waiting)
    private var connection: ConnectionLifetime?

    /// The time at which the access must have ended; nil for any time.
    package let deadline: AccessDeadline?

    package init(deadline: AccessDeadline? = nil) { self.deadline = deadline }

    package var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Cancels the access, from any thread.
    package func cancel() {
        flag.store(true, ordering: .sequentiallyConsistent)
        let (exchanged, _) = phase.compareExchange(
            expected: Phase.running, desired: Phase.interrupting, ordering: .sequentiallyConsistent)
        guard exchanged else { return }
        connection?.interrupt()
        phase.store(Phase.running, ordering: .releasing)
    }

    func begin(_ connection: ConnectionLifetime) {
        self.connection = connection
        phase.store(Phase.running, ordering: .sequentiallyConsistent)
    }

    func end() {
        // An interruption takes some nanoseconds.
        while true {
            let (exchanged, _) = phase.compareExchange(
                expected: Phase.running, desired: Phase.waiting, ordering: .acquiringAndReleasing)
            let isOver = exchanged || phase.load(ordering: .relaxed) == Phase.waiting
            if isOver { break }
        }
        connection = nil
    }
}
