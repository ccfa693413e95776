import CSQLiteBench

/// The result of a failed C call.
struct SQLiteFailure: Error, CustomStringConvertible {
    let code: Int32
    let message: String

    var description: String { "SQLite error \(code): \(message)" }
}

/// A connection and the statements prepared on it.
///
/// Unchecked: each workload lets one thread at a time use a connection and its statements, by a mutex, by an actor or
/// by being the only client.
final class Connection: @unchecked Sendable {
    let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    init(_ path: String, flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw SQLiteFailure(code: code, message: "could not open \(path)")
        }
        self.handle = handle
    }

    deinit {
        for statement in statements.values {
            sqlite3_finalize(statement)
        }
        sqlite3_close_v2(handle)
    }

    /// The statement with this text, prepared at its first use. It lives as long as the connection.
    func cached(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        statements[sql] = statement
        return statement
    }

    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs a prepared statement to its end and makes it ready for the next time.
    @inline(__always)
    func run(_ statement: OpaquePointer) throws {
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            code = sqlite3_step(statement)
        }
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else { throw failure(code) }
    }

    /// Whether there is a row; throws for all but a row and the end.
    @inline(__always)
    func step(_ statement: OpaquePointer) throws -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else { throw failure(code) }
        return false
    }

    /// The integer that a query with one row gives.
    func integer(_ sql: String) throws -> Int {
        let statement = try cached(sql)
        guard try step(statement) else { throw failure(SQLITE_EMPTY) }
        let value = Int(sqlite3_column_int64(statement, 0))
        sqlite3_reset(statement)
        return value
    }

    @inline(never)
    func failure(_ code: Int32) -> SQLiteFailure {
        SQLiteFailure(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }
}
