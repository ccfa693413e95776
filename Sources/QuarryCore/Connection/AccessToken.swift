import Synchronization

/// One access that can be cancelled while it waits and while it runs.
///
/// Cancelling raises a flag, and interrupts the connection only while this access has it: the connection's next user
/// never feels it.
package final class AccessToken: Sendable {
    private struct State {
        var connection: ConnectionLifetime?
    }

    private let flag = Atomic<Bool>(false)
    private let state = Lock(State())

    package init() {}

    package var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Cancels the access, from any thread.
    package func cancel() {
        flag.store(true, ordering: .relaxed)
        state.withLock { state in
            if let connection = state.connection { ConnectionCalls.interrupt(connection.pointer) }
        }
    }

    func begin(_ connection: ConnectionLifetime) {
        state.withLock { $0.connection = connection }
    }

    func end() {
        state.withLock { $0.connection = nil }
    }
}
