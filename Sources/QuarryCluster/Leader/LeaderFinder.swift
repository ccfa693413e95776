import QuarryClusterWire
import QuarryCore

/// Opens a database at the leader of a cluster.
///
/// All sessions of a cluster share one: it remembers the last leader and the members. `LeaderSearch` decides which node
/// is asked next.
final class LeaderFinder: Sendable {
    /// Connects to a node, until a deadline in nanoseconds of the waker's clock.
    typealias Connect = @Sendable (NodeAddress, UInt64, Waker) throws(LinkError) -> NodeLink

    private let nodes: Lock<NodeList>
    private let outage = Lock(Outage())
    private let connect: Connect

    /// A finder that has asked no node yet.
    ///
    /// - parameter addresses: some nodes of the cluster. A single live one suffices: it knows the others.
    /// - parameter connect: makes a connection by other means than TCP.
    init(
        _ addresses: [NodeAddress],
        connect: @escaping Connect = { (address, deadline, waker) throws(LinkError) in
            try NodeLink(to: address, until: deadline, waker: waker)
        }
    ) {
        nodes = Lock(NodeList(configured: addresses))
        self.connect = connect
    }

    /// The leader that was found last.
    var lastLeader: NodeAddress? { nodes.withLock { $0.leader } }

    /// The nodes that a search asks, in this order.
    var candidates: [NodeAddress] { nodes.withLock { $0.candidates } }

    /// Reports that a node broke an open link, or that it isn't the leader any longer. The next search asks it last.
    func leaderFailed(_ address: NodeAddress) { nodes.withLock { $0.nodeFailed(address) } }

    /// Finds the leader, registers a client and opens a database.
    ///
    /// - parameter clientID: a number for the node's log.
    /// - parameter deadline: in nanoseconds of the waker's clock.
    /// - returns: the open link, and the number of the database on it.
    /// - throws: `LinkError.noLeader` if no leader is found in time, `.interrupted` once the waker is woken, `.failed`
    ///   if the leader refuses to open the database, `.unsendable` if the name contains a NUL.
    func openLeader(
        database name: String, clientID: UInt64, until deadline: UInt64, waker: Waker
    ) throws(LinkError) -> (link: NodeLink, database: UInt32) {
        var generator = SystemRandomNumberGenerator()
        let clock = waker.clock
        let deadline = outage.withLock { $0.searchBegins(at: clock.now, until: deadline) }
        var search = LeaderSearch(deadline: deadline)
        var report = SearchReport()
        // The link of the last answer.
        var link: NodeLink?
        var action = search.beginRound(candidates, at: clock.now, using: &generator)
        while true {
            do throws(LinkError) {
                switch action {
                case .ask(let address, let limit), .verify(let address, let limit):
                    // A node has no use for two connections of one client.
                    link?.close()
                    let next = try connect(address, limit, waker)
                    link = next
                    let leader = try LeaderFinder.leader(of: next, until: limit)
                    if leader != address { report.note(address, LeaderFinder.sentence(on: address, leader)) }
                    action = search.answered(leader: leader, at: clock.now, using: &generator)
                case .open(let address, let limit):
                    let leader: NodeLink
                    if let link { leader = link } else { leader = try connect(address, limit, waker) }
                    let result = try open(name, clientID, by: leader, until: limit, waker)
                    search.connected()
                    outage.withLock { $0.leaderFound() }
                    return result
                case .wait(let nanoseconds):
                    link?.close()
                    try LeaderFinder.wait(nanoseconds, waker)
                    // Other sessions may have found the leader meanwhile.
                    action = search.beginRound(candidates, at: clock.now, using: &generator)
                case .giveUp:
                    outage.withLock { $0.searchFailed(at: clock.now) }
                    throw .noLeader(report.description)
                }
            } catch {
                guard let address = action.address, !error.endsSearch(in: action) else { throw error }
                report.note(address, error)
                leaderFailed(address)
                action = search.failed(at: clock.now, using: &generator)
            }
        }
    }

    /// Opens the database by a link to the leader.
    private func open(
        _ name: String, _ clientID: UInt64, by link: NodeLink, until deadline: UInt64, _ waker: Waker
    ) throws(LinkError) -> (link: NodeLink, database: UInt32) {
        let mustAskForMembers = nodes.withLock { $0.mustAskForMembers(link.address) }
        let requests: [Request] = [.client(id: clientID), .open(name: name)]
        try link.send(mustAskForMembers ? requests + [.cluster] : requests, until: deadline)
        let database = try LeaderFinder.database(of: link, until: deadline)
        nodes.withLock { $0.leaderFound(link.address) }
        guard mustAskForMembers else { return (link, database) }
        do throws(LinkError) {
            if case .servers(let members) = try link.receive(until: deadline) {
                nodes.withLock { $0.learn(members) }
            }
            return (link, database)
        } catch {
            if case .interrupted = error { throw error }
            // The answer about the members broke the link. The leader isn't asked again: the list is a convenience.
            let second = try connect(link.address, deadline, waker)
            try second.send(requests, until: deadline)
            return (second, try LeaderFinder.database(of: second, until: deadline))
        }
    }

    /// Receives the answers to CLIENT and OPEN.
    private static func database(of link: NodeLink, until deadline: UInt64) throws(LinkError) -> UInt32 {
        switch try link.receive(until: deadline) {
        case .welcome: break
        case let response: throw unexpected(response, to: "CLIENT", of: link)
        }
        switch try link.receive(until: deadline) {
        case .database(let id): return id
        case let response: throw unexpected(response, to: "OPEN", of: link)
        }
    }

    /// Asks a node for the leader; nil if it knows none.
    private static func leader(of link: NodeLink, until deadline: UInt64) throws(LinkError) -> NodeAddress? {
        try link.send([.leader], until: deadline)
        switch try link.receive(until: deadline) {
        case .server(_, ""): return nil
        case .server(_, let text):
            do {
                return try NodeAddress(text)
            } catch {
                throw link.violation("it names a leader whose address is invalid: \(error)")
            }
        case let response: throw unexpected(response, to: "LEADER", of: link)
        }
    }

    /// The error of a response that isn't the answer to its request. It closes the link: other responses may follow.
    private static func unexpected(_ response: Response, to request: StaticString, of link: NodeLink) -> LinkError {
        if case .failure(let code, let message) = response {
            link.close()
            return .failed(link.address, code: code, message: message)
        }
        return link.violation("it responded to \(request) with \(response.name).")
    }

    private static func sentence(on address: NodeAddress, _ leader: NodeAddress?) -> String {
        leader.map { "Node \(address) names \($0) as the leader." } ?? "Node \(address) knows no leader."
    }

    private static func wait(_ nanoseconds: UInt64, _ waker: Waker) throws(LinkError) {
        switch waker.wait(until: waker.clock.now + nanoseconds) {
        case .woken: throw .interrupted
        case .failed(let code): throw .systemFailure(nil, reason: LinkError.text(of: code))
        case .timedOut, .ready: break
        }
    }
}

extension LeaderSearch.Action {
    /// The node that the action uses.
    fileprivate var address: NodeAddress? {
        switch self {
        case .ask(let address, _), .verify(let address, _), .open(let address, _): address
        case .wait, .giveUp: nil
        }
    }
}

extension LinkError {
    /// Whether no other node can do what this one didn't.
    fileprivate func endsSearch(in action: LeaderSearch.Action) -> Bool {
        switch (self, action) {
        case (.interrupted, _), (.unsendable, _): true
        // A leader that refuses the name of a database, for example.
        case (.failed(_, let code, _), .open): !LinkError.notLeaderCodes.contains(code)
        default: false
        }
    }
}
