/// A message from a node to a client.
public enum Response: Hashable, Sendable {
    /// The request failed. The code is SQLite's extended result code, or one of dqlite's: 10250 is "not leader".
    ///
    /// Bytes of the message that aren't UTF-8 are replaced by U+FFFD: the error counts more than its wording.
    case failure(code: UInt64, message: String)

    /// The leader that the node knows; 0 and an empty address if it knows none.
    case server(id: UInt64, address: String)

    /// The client is registered. Times are in milliseconds.
    case welcome(heartbeatTimeout: UInt64)

    /// The members of the cluster, as the node knows them.
    case servers([ClusterMember])

    /// A database was opened.
    case database(id: UInt32)

    /// A statement was prepared.
    case statement(database: UInt32, id: UInt32, parameterCount: UInt64)

    /// A statement ran.
    case result(lastInsertedRowID: Int64, changesCount: UInt64)

    /// Rows of a query.
    case rows(RowPage)

    /// Done, without an answer.
    case empty

    /// The files of a database: its main file and its write-ahead log, empty if it doesn't exist.
    case files([DumpedFile])

    /// The failure domain and the weight of a node.
    case metadata(failureDomain: UInt64, weight: UInt64)
}

/// A file of a database.
public struct DumpedFile: Hashable, Sendable {
    /// The name of the database, or this with "-wal".
    public let name: String

    /// A part of the frame's bytes, not copied.
    public let contents: ArraySlice<UInt8>

    /// A file.
    public init(name: String, contents: ArraySlice<UInt8>) {
        self.name = name
        self.contents = contents
    }
}

/// The type of a response, as a number on the wire.
enum ResponseCode: UInt8 {
    case failure = 0
    case server = 1
    case welcome = 2
    case servers = 3
    case database = 4
    case statement = 5
    case result = 6
    case rows = 7
    case empty = 8
    case files = 9
    case metadata = 10

    /// The protocol's name.
    var name: StaticString {
        switch self {
        case .failure: "FAILURE"
        case .server: "SERVER"
        case .welcome: "WELCOME"
        case .servers: "SERVERS"
        case .database: "DB"
        case .statement: "STMT"
        case .result: "RESULT"
        case .rows: "ROWS"
        case .empty: "EMPTY"
        case .files: "FILES"
        case .metadata: "METADATA"
        }
    }
}

extension Response {
    var code: ResponseCode {
        switch self {
        case .failure: .failure
        case .server: .server
        case .welcome: .welcome
        case .servers: .servers
        case .database: .database
        case .statement: .statement
        case .result: .result
        case .rows: .rows
        case .empty: .empty
        case .files: .files
        case .metadata: .metadata
        }
    }

    /// The protocol's name of the response, such as "ROWS", for errors.
    public var name: String { "\(code.name)" }
}
