/// The nodes of a cluster, their sessions and their leader. Methods return what the caller has to end.
struct ClusterState {
    /// The next leader after a leader's end.
    enum Successor {
        /// The next living node, if a majority lives.
        case next
        case node(Int)
        /// Nobody, until an election is asked for.
        case nobody
    }

    /// The relation of a session to the leadership.
    enum Standing {
        /// Its node leads.
        case leads
        /// Another node leads, or none; or its node has lost the leadership since the session began.
        case follows
        /// Its node was killed, or it was closed.
        case ended
    }

    private struct Seat {
        let session: NodeSession
        var isDeposed = false
    }

    /// By node; `nil` if the node is dead.
    private var listeners: [NodeListener?]
    private var seats: [Int: Seat] = [:]
    private var lastConnection = 0
    /// While true, a restart elects no leader.
    private var awaitsElection = false

    private(set) var leader: Int?
    private(set) var aborts: [String] = []
    private(set) var isStopped = false

    init(listeners: [NodeListener]) {
        self.listeners = listeners
        leader = 0
    }

    var connectionCount: Int { seats.count }

    var livingNodes: [Int] { listeners.indices.filter { listeners[$0] != nil } }

    func isAlive(_ node: Int) -> Bool { listeners[node] != nil }

    private var majorityLives: Bool { livingNodes.count > listeners.count / 2 }

    // MARK: Sessions

    /// Makes a session of a node; `nil` if the node is dead.
    mutating func admit(to node: Int, _ makeSession: (_ number: Int) -> NodeSession) -> NodeSession? {
        guard isAlive(node) else { return nil }
        lastConnection += 1
        let session = makeSession(lastConnection)
        seats[lastConnection] = Seat(session: session)
        return session
    }

    /// - returns: `false` if the session's node was killed before.
    mutating func remove(_ connection: Int) -> Bool { seats.removeValue(forKey: connection) != nil }

    func standing(of connection: Int) -> Standing {
        guard let seat = seats[connection] else { return .ended }
        return seat.session.node == leader && !seat.isDeposed ? .leads : .follows
    }

    // MARK: Nodes

    /// Ends a node.
    ///
    /// - returns: its listener and its sessions, which are no longer part of the state.
    mutating func kill(
        _ node: Int, electing successor: Successor, abort reason: String? = nil
    ) -> (listener: NodeListener?, sessions: [NodeSession]) {
        guard let listener = listeners[node] else { return (nil, []) }
        if let reason { aborts.append("node \(node): \(reason)") }
        listeners[node] = nil
        let sessions = seats.values.map(\.session).filter { $0.node == node }
        for session in sessions { seats[session.number] = nil }
        if leader == node {
            leader = nil
            switch successor {
            case .next: leader = majorityLives ? self.successor(of: node) : nil
            case .node(let next):
                precondition(isAlive(next), "Node \(next) is dead.")
                leader = next
            case .nobody: awaitsElection = true
            }
        }
        return (listener, sessions)
    }

    /// Adds a node's new listener. A cluster without a leader elects one if a majority lives.
    mutating func restart(_ node: Int, _ listener: NodeListener) {
        listeners[node] = listener
        if leader == nil, !awaitsElection, majorityLives { leader = livingNodes[0] }
    }

    /// Moves the leadership.
    ///
    /// - returns: the sessions of the old leader.
    mutating func elect(_ node: Int) -> [NodeSession] {
        precondition(isAlive(node), "Node \(node) is dead.")
        awaitsElection = false
        guard node != leader else { return [] }
        let old = leader
        leader = node
        return depose(old)
    }

    /// Takes the leadership from a node, if it leads: the next living node leads, if there is another.
    ///
    /// - returns: the sessions of the old leader.
    mutating func dropLeadership(of node: Int) -> [NodeSession] {
        guard leader == node else { return [] }
        leader = successor(of: node)
        return depose(node)
    }

    /// Ends all nodes.
    mutating func stop() -> (listeners: [NodeListener], sessions: [NodeSession]) {
        isStopped = true
        defer {
            listeners = listeners.map { _ in nil }
            seats = [:]
            leader = nil
        }
        return (listeners.compactMap(\.self), seats.values.map(\.session))
    }

    private func successor(of node: Int) -> Int? {
        let count = listeners.count
        return (1..<count).lazy.map { (node + $0) % count }.first { isAlive($0) }
    }

    private mutating func depose(_ node: Int?) -> [NodeSession] {
        let sessions = seats.values.map(\.session).filter { $0.node == node }
        for session in sessions { seats[session.number]?.isDeposed = true }
        return sessions
    }
}
