/// A message from a client to a node.
///
/// A node answers requests in the order of their arrival: a client may send several at once.
public enum Request: Hashable, Sendable {
    /// Asks for the leader. Any node answers `Response.server`.
    case leader

    /// Registers the client under a number of its own. The answer is `Response.welcome`.
    case client(id: UInt64)

    /// Opens a database, once for each connection. The answer is `Response.database`.
    case open(name: String)

    /// Prepares the first statement of a text. The answer is `Response.statement`.
    case prepare(database: UInt32, sql: String)

    /// Runs a prepared statement that returns no rows. The answer is `Response.result`.
    case execute(database: UInt32, statement: UInt32, arguments: [WireValue])

    /// Runs a prepared statement that returns rows. The answers are `Response.rows`, until a page is the last.
    case query(database: UInt32, statement: UInt32, arguments: [WireValue])

    /// Releases a prepared statement. The answer is `Response.empty`.
    case finalize(database: UInt32, statement: UInt32)

    /// Runs the statements of a text. The answer is `Response.result`.
    case executeSQL(database: UInt32, sql: String, arguments: [WireValue])

    /// Runs a statement that returns rows. The answers are `Response.rows`, until a page is the last.
    case querySQL(database: UInt32, sql: String, arguments: [WireValue])

    /// Ends the pages of the running query after the current one. The answer is `Response.empty`.
    case interrupt(database: UInt32)

    /// Makes a node a spare member. The leader answers `Response.empty`.
    case add(id: UInt64, address: String)

    /// Gives a member a role. The leader answers `Response.empty`.
    case assign(id: UInt64, role: NodeRole)

    /// Removes a member. The leader answers `Response.empty`.
    case remove(id: UInt64)

    /// Asks for the files of a database. The answer is `Response.files`.
    case dump(name: String)

    /// Asks for the members. The answer is `Response.servers`.
    case cluster

    /// Hands the leadership over to a voter. The leader answers `Response.empty`.
    case transfer(id: UInt64)

    /// Asks a node for its failure domain and its weight. The answer is `Response.metadata`.
    ///
    /// A node of version 1.11.1 refuses other versions of this request, and aborts at the next one.
    case describe

    /// Sets the weight of a node. The answer is `Response.empty`.
    case weight(UInt64)
}

/// The type of a request, as a number on the wire.
enum RequestCode: UInt8 {
    case leader = 0
    case client = 1
    case open = 3
    case prepare = 4
    case execute = 5
    case query = 6
    case finalize = 7
    case executeSQL = 8
    case querySQL = 9
    case interrupt = 10
    case add = 12
    case assign = 13
    case remove = 14
    case dump = 15
    case cluster = 16
    case transfer = 17
    case describe = 18
    case weight = 19

    /// The protocol's name.
    var name: StaticString {
        switch self {
        case .leader: "LEADER"
        case .client: "CLIENT"
        case .open: "OPEN"
        case .prepare: "PREPARE"
        case .execute: "EXEC"
        case .query: "QUERY"
        case .finalize: "FINALIZE"
        case .executeSQL: "EXEC_SQL"
        case .querySQL: "QUERY_SQL"
        case .interrupt: "INTERRUPT"
        case .add: "ADD"
        case .assign: "ASSIGN"
        case .remove: "REMOVE"
        case .dump: "DUMP"
        case .cluster: "CLUSTER"
        case .transfer: "TRANSFER"
        case .describe: "DESCRIBE"
        case .weight: "WEIGHT"
        }
    }
}

extension Request {
    /// SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE. Nodes open each database so, and ignore the flags.
    static let openFlags: UInt64 = 6

    /// The version of the list of members that has roles.
    static let clusterFormat: UInt64 = 1

    /// The only version of a node's metadata.
    static let describeFormat: UInt64 = 0

    var code: RequestCode {
        switch self {
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
        case .add: .add
        case .assign: .assign
        case .remove: .remove
        case .dump: .dump
        case .cluster: .cluster
        case .transfer: .transfer
        case .describe: .describe
        case .weight: .weight
        }
    }
}
