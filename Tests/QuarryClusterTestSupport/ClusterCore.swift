/// The part of a cluster that its threads share.
///
/// Lock order: `execution`, then `state`. Nothing waits for a thread, a gate or a socket with one of them held.
final class ClusterCore: Sendable {
    let addresses: [String]
    let interruptsRunningQueries: Bool
    let file: DatabaseFile
    let faults = FaultScript()
    let log = RequestLog()
    let state: Monitor<ClusterState>
    private let threads = OwnThreads()
    /// Held while SQLite works for a session: a node has one thread, and only one node leads.
    ///
    /// A value of `Void` would share its address with another property, which the thread sanitizer takes for a race.
    private let execution = Monitor(0)
    /// Bound, and never listening. They keep the ports of dead nodes from other programs.
    private let reservations: [Socket]

    init(nodeCount: Int, interruptsRunningQueries: Bool) throws {
        precondition(nodeCount > 0)
        self.interruptsRunningQueries = interruptsRunningQueries
        file = try DatabaseFile()
        let reservations = try (0..<nodeCount).map { _ in
            let socket = try Socket()
            try socket.bind(port: 0)
            return socket
        }
        self.reservations = reservations
        addresses = reservations.map { "127.0.0.1:\($0.port)" }
        let listeners = try reservations.indices.map { try NodeListener(node: $0, port: reservations[$0].port) }
        state = Monitor(ClusterState(listeners: listeners))
        for listener in listeners { start(listener) }
    }

    private func start(_ listener: NodeListener) {
        threads.start { [self] in
            listener.run { socket in
                let session = state.withLock { state in
                    state.admit(to: listener.node) { NodeSession(socket, of: listener, number: $0, self) }
                }
                if let session { threads.start { session.run() } }
            }
        }
    }

    // MARK: Execution

    /// Runs `body` while no session executes a request.
    func execute<Result>(_ body: () throws -> Result) rethrows -> Result { try execution.withLock { _ in try body() } }

    func standing(of session: NodeSession) -> ClusterState.Standing {
        state.withLock { $0.standing(of: session.number) }
    }

    // MARK: Nodes

    /// Kills a node: its transactions are rolled back and its connections have ended when this returns.
    func kill(_ node: Int, electing successor: ClusterState.Successor, abort reason: String? = nil) {
        let (listener, sessions) = execute {
            let ended = state.withLock { $0.kill(node, electing: successor, abort: reason) }
            for session in ended.sessions { session.rollBack() }
            return ended
        }
        // A client that sees the end of its connection may try again at once, and must be refused.
        listener?.stop()
        for session in sessions { session.end() }
    }

    func restart(_ node: Int) throws {
        guard state.withLock({ !$0.isAlive(node) && !$0.isStopped }) else { return }
        let listener = try NodeListener(node: node, port: reservations[node].port)
        let isAdded = state.withLock { state in
            guard !state.isAlive(node), !state.isStopped else { return false }
            state.restart(node, listener)
            return true
        }
        if isAdded { start(listener) }
    }

    /// Changes the leader, and rolls back the transactions of the old one.
    func depose(_ body: (inout ClusterState) -> [NodeSession]) {
        execute {
            for session in state.withLock(body) { session.rollBack() }
        }
    }

    func stop() {
        let (listeners, sessions) = execute {
            let ended = state.withLock { $0.stop() }
            for session in ended.sessions { session.rollBack() }
            return ended
        }
        for listener in listeners { listener.stop() }
        for session in sessions { session.end() }
        faults.clear()
        threads.waitUntilEnded()
        for reservation in reservations { reservation.close() }
        execute { file.remove() }
    }
}
