internal import CSQLite

/// A failure that a node answers.
struct StatementFailure: Error, CustomStringConvertible {
    let code: UInt64
    let message: String

    var description: String { "\(code): \(message)" }

    static let notLeader = StatementFailure(code: 10250, message: "not leader")
    static let noDatabase = StatementFailure(code: UInt64(SQLITE_NOTFOUND), message: "no database opened")
    static let noStatement = StatementFailure(code: UInt64(SQLITE_NOTFOUND), message: "no statement with the given id")
    static let emptyStatement = StatementFailure(code: 0, message: "empty statement")
    static let alreadyOpen = StatementFailure(
        code: UInt64(SQLITE_BUSY), message: "a database for this connection is already open")

    /// The answer to an EXEC of a statement that returns a row.
    static let row = StatementFailure(code: UInt64(SQLITE_ROW), message: "another row available")

    /// The answer to a QUERY of a statement without columns, in dqlite's words.
    static let noColumns = StatementFailure(code: UInt64(SQLITE_ERROR), message: "not an error")

    init(code: UInt64, message: String) {
        self.code = code
        self.message = message
    }

    /// The last error of a connection.
    init(_ connection: OpaquePointer?) {
        code = UInt64(sqlite3_extended_errcode(connection))
        message = String(cString: sqlite3_errmsg(connection))
    }
}

/// The reason for which dqlite would abort its process.
struct NodeAbort: Error {
    let reason: String
    /// The answer that is sent before.
    var answer: StatementFailure?
}
