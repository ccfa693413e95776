import QuarryClusterWire

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The reason for which a node can't be used.
enum LinkError: Error, Hashable, Sendable {
    /// The host has no address.
    case notResolved(NodeAddress, reason: String)

    /// No process listens at the address.
    case refused(NodeAddress)

    /// No route leads to the address.
    case unreachable(NodeAddress, reason: String)

    /// The deadline has passed.
    case timedOut(NodeAddress, LinkActivity)

    /// The node ended the connection.
    case closedByNode(NodeAddress)

    /// The node, or a host on the way to it, broke the connection.
    case reset(NodeAddress)

    /// The node sent bytes that are no response, or a response to another request.
    case protocolViolation(NodeAddress, reason: String)

    /// The node refused a request. The code is SQLite's extended result code, or one of dqlite's.
    case failed(NodeAddress, code: UInt64, message: String)

    /// The system of this process refused a call: it has no descriptor left, for example.
    case systemFailure(NodeAddress?, reason: String)

    /// The waker ended the wait.
    case interrupted

    /// A request can't be written as bytes. Nothing was sent, and the link remains usable.
    case unsendable(WireError)

    /// This process closed the link.
    case closed(NodeAddress)

    /// No leader was found before the deadline. The text has the last reason of each node.
    case noLeader(String)
}

/// The purpose of a wait.
enum LinkActivity: Hashable, Sendable {
    /// The connection is being established.
    case connecting

    /// The node reads too slowly.
    case sending

    /// The node hasn't responded.
    case receiving
}

extension LinkError: CustomStringConvertible {
    var description: String {
        switch self {
        case .notResolved(let address, let reason): "The host of node \(address) can't be resolved: \(reason)."
        case .refused(let address): "Node \(address) refused the connection: no process listens there."
        case .unreachable(let address, let reason): "Node \(address) is unreachable: \(reason)."
        case .timedOut(let address, .connecting): "Node \(address) didn't accept the connection in time."
        case .timedOut(let address, .sending): "Node \(address) didn't read the request in time."
        case .timedOut(let address, .receiving): "Node \(address) didn't respond in time."
        case .closedByNode(let address): "Node \(address) closed the connection."
        case .reset(let address): "The connection to node \(address) was reset."
        case .protocolViolation(let address, let reason): "Node \(address) violated the protocol: \(reason)"
        case .failed(let address, let code, let message):
            "Node \(address) responded with error \(code): \(message.shortened(to: 200))"
        case .systemFailure(let address?, let reason): "This process can't connect to node \(address): \(reason)."
        case .systemFailure(nil, let reason): "This process can't wait for nodes: \(reason)."
        case .interrupted: "The wait for the cluster was interrupted."
        case .unsendable(let error): "The request can't be sent: \(error)"
        case .closed(let address): "The link to node \(address) is closed."
        case .noLeader(let report): "No leader was found in time: \(report)"
        }
    }
}

extension LinkError {
    /// dqlite's codes of a node that isn't the leader, or no longer: SQLITE_IOERR with 40 and 41 above it.
    static let notLeaderCodes: Set<UInt64> = [10_250, 10_506]

    /// The error for an `errno`.
    init(errno code: CInt, _ address: NodeAddress, _ activity: LinkActivity) {
        switch code {
        case ECONNREFUSED: self = .refused(address)
        case ECONNRESET, EPIPE, ECONNABORTED: self = .reset(address)
        case ETIMEDOUT: self = .timedOut(address, activity)
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EAFNOSUPPORT, EADDRNOTAVAIL:
            self = .unreachable(address, reason: LinkError.text(of: code))
        default: self = .systemFailure(address, reason: LinkError.text(of: code))
        }
    }

    static func text(of code: CInt) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
}

extension String {
    /// The text, or its beginning: other processes send texts of any length.
    func shortened(to count: Int) -> String {
        guard let end = index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex else { return self }
        return self[..<end] + "…"
    }
}
