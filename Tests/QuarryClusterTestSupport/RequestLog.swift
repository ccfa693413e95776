public import QuarryClusterWire

/// The kind of a request, with the protocol's name.
public enum RequestKind: String, Sendable {
    case leader = "LEADER"
    case client = "CLIENT"
    case open = "OPEN"
    case prepare = "PREPARE"
    case execute = "EXEC"
    case query = "QUERY"
    case finalize = "FINALIZE"
    case executeSQL = "EXEC_SQL"
    case querySQL = "QUERY_SQL"
    case interrupt = "INTERRUPT"
    case cluster = "CLUSTER"
    /// A request that the emulation answers with a failure.
    case unsupported = "unsupported"

    /// The kind of a request.
    public init(_ request: Request) {
        self =
            switch request {
            case .leader: .leader
            case .client: .client
            case .open: .open
            case .prepare: .prepare
            case .execute: .execute
            case .query: .query
            case .finalize: .finalize
            case .executeSQL: .executeSQL
            case .querySQL: .querySQL
            case .interrupt: .interrupt
            case .cluster: .cluster
            case .add, .assign, .remove, .dump, .transfer, .describe, .weight: .unsupported
            }
    }

    /// Whether the request runs a statement.
    public var runsStatement: Bool {
        switch self {
        case .execute, .query, .executeSQL, .querySQL: true
        case .leader, .client, .open, .prepare, .finalize, .interrupt, .cluster, .unsupported: false
        }
    }
}

/// A received request, executed or not.
public struct LoggedRequest: Hashable, Sendable, CustomStringConvertible {
    /// The number of the request among all of the cluster, from 1.
    public let number: Int

    /// The node's index.
    public let node: Int

    /// The number of the connection.
    public let connection: Int

    /// The kind.
    public let kind: RequestKind

    /// The SQL text; of a request with a prepared statement, too.
    public let sql: String?

    /// The arguments.
    public let arguments: [WireValue]

    /// The request in a line, such as "3: node 0, connection 1: EXEC COMMIT".
    public var description: String {
        "\(number): node \(node), connection \(connection): \(kind.rawValue)\(sql.map { " \($0)" } ?? "")"
            + (arguments.isEmpty ? "" : " \(arguments)")
    }
}

/// The requests that the nodes have received, in order.
public final class RequestLog: Sendable {
    private struct State {
        var entries: [LoggedRequest] = []
        var lastNumber = 0
    }

    private let state = Monitor(State())

    init() {}

    /// All requests since the start, or since `clear()`.
    public var entries: [LoggedRequest] { state.withLock { $0.entries } }

    /// The SQL of the requests that run statements: no PREPARE.
    public var statements: [String] { entries.filter(\.kind.runsStatement).compactMap(\.sql) }

    /// Forgets all requests. Numbers go on.
    public func clear() { state.withLock { $0.entries = [] } }

    /// Numbers a request and notes it.
    func append(_ makeInfo: (_ number: Int) -> RequestInfo) -> RequestInfo {
        state.withLock { state in
            state.lastNumber += 1
            let info = makeInfo(state.lastNumber)
            state.entries.append(
                LoggedRequest(
                    number: info.number, node: info.node, connection: info.connection, kind: info.kind, sql: info.sql,
                    arguments: info.request.arguments))
            return info
        }
    }
}

extension Request {
    fileprivate var arguments: [WireValue] {
        switch self {
        case .execute(_, _, let arguments), .query(_, _, let arguments), .executeSQL(_, _, let arguments),
            .querySQL(_, _, let arguments):
            arguments
        default: []
        }
    }
}
