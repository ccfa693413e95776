import CSQLite

/// A pointer to a prepared statement: <https://www.sqlite.org/c3ref/stmt.html>.
public typealias SQLiteStatement = OpaquePointer

/// Owns a prepared statement.
///
/// `Statement` decides where the pointer is finalized: on the thread that has the connection.
struct StatementHandle: ~Copyable {
    let pointer: SQLiteStatement

    /// The result of preparing the first statement of some SQL.
    enum Outcome: ~Copyable {
        case statement(StatementHandle)
        /// White space and comments only.
        case empty
        case failure(CInt)
    }

    /// Prepares the first statement of `sql[start...]`, and moves `start` to the beginning of the next. The
    /// corresponding C function is `sqlite3_prepare_v3`.
    ///
    /// - parameter sql: UTF-8, followed by a NUL that isn't counted.
    static func prepare(
        _ connection: SQLiteConnection, sql: UnsafeBufferPointer<UInt8>, from start: inout Int, persistent: Bool
    ) -> Outcome {
        let position = start
        let rest = sql.count - position
        start = sql.count
        guard let base = sql.baseAddress else { return .empty }
        guard rest < Int(Int32.max) else { return .failure(SQLITE_TOOBIG) }
        return UnsafeRawPointer(base + position).withMemoryRebound(to: CChar.self, capacity: rest + 1) { text in
            var pointer: OpaquePointer?
            var tail: UnsafePointer<CChar>?
            // With the terminating NUL in the count, SQLite needs no copy of the text.
            let code = sqlite3_prepare_v3(
                connection, text, CInt(rest + 1), persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0, &pointer, &tail)
            if let tail { start = position + (tail - text) }
            guard code == SQLITE_OK else { return .failure(code) }
            guard let pointer else { return .empty }
            return .statement(StatementHandle(pointer: pointer))
        }
    }

    /// Passes the pointer to a caller that finalizes it.
    consuming func release() -> SQLiteStatement {
        let pointer = pointer
        discard self
        return pointer
    }

    private init(pointer: SQLiteStatement) { self.pointer = pointer }

    deinit { sqlite3_finalize(pointer) }
}
