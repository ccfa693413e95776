public import CSQLite

/// Owns a prepared statement.
///
/// `Statement` decides where it is finalized: on the thread that has the connection.
struct StatementHandle: ~Copyable {
    let pointer: SQLiteStatement

    /// What becomes of the first statement of some SQL.
    enum Outcome: ~Copyable {
        case statement(StatementHandle)
        /// White space and comments only.
        case empty
        case failure(CInt)
    }

    /// Prepares the first statement of `sql[start...]`, and moves `start` to where the next begins.
    /// The corresponding C function is `sqlite3_prepare_v3`.
    ///
    /// - parameter sql: UTF-8 that ends with a NUL, which isn't counted.
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

    /// Gives the pointer to one who finalizes it.
    consuming func release() -> SQLiteStatement {
        let pointer = pointer
        discard self
        return pointer
    }

    private init(pointer: SQLiteStatement) { self.pointer = pointer }

    deinit { sqlite3_finalize(pointer) }
}

/// The functions of a statement that is not owned here.
@usableFromInline
enum StatementCalls {
    /// The code of a step that gave a row.
    @inlinable
    static var row: CInt {
        @inline(__always) get { SQLITE_ROW }
    }

    /// The code of a step after the last row.
    static var done: CInt { SQLITE_DONE }

    /// The corresponding C function is `sqlite3_step`.
    @inlinable
    @inline(__always)
    static func step(_ statement: SQLiteStatement) -> CInt { sqlite3_step(statement) }

    /// Ends the execution; the code is that of the last step. The corresponding C function is `sqlite3_reset`.
    @inlinable
    @discardableResult
    static func reset(_ statement: SQLiteStatement) -> CInt { sqlite3_reset(statement) }

    /// The corresponding C function is `sqlite3_finalize`.
    static func finalize(_ statement: SQLiteStatement) { sqlite3_finalize(statement) }

    /// The corresponding C function is `sqlite3_clear_bindings`.
    static func clearBindings(_ statement: SQLiteStatement) { sqlite3_clear_bindings(statement) }

    /// The corresponding C function is `sqlite3_stmt_readonly`.
    static func isReadOnly(_ statement: SQLiteStatement) -> Bool { sqlite3_stmt_readonly(statement) != 0 }

    /// Whether it has been stepped, and neither finished nor was reset. The corresponding C function is
    /// `sqlite3_stmt_busy`.
    static func isBusy(_ statement: SQLiteStatement) -> Bool { sqlite3_stmt_busy(statement) != 0 }

    /// The corresponding C function is `sqlite3_column_count`.
    static func columnCount(_ statement: SQLiteStatement) -> Int { Int(sqlite3_column_count(statement)) }

    /// The corresponding C function is `sqlite3_column_name`.
    static func columnName(_ statement: SQLiteStatement, _ index: Int) -> String {
        sqlite3_column_name(statement, CInt(index)).map { String(cString: $0) } ?? ""
    }

    /// The names of all columns.
    static func columnNames(_ statement: SQLiteStatement) -> [String] {
        (0..<columnCount(statement)).map { columnName(statement, $0) }
    }

    /// How often SQLite has prepared it again, because the schema had changed. The corresponding C function is
    /// `sqlite3_stmt_status`.
    static func repreparationCount(_ statement: SQLiteStatement) -> CInt {
        sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0)
    }

    /// The corresponding C function is `sqlite3_bind_parameter_count`.
    static func parameterCount(_ statement: SQLiteStatement) -> Int { Int(sqlite3_bind_parameter_count(statement)) }

    /// The name of a parameter without its prefix, or nil for `?` and `?5`. The corresponding C function is
    /// `sqlite3_bind_parameter_name`.
    ///
    /// - parameter index: from 1.
    static func parameterName(_ statement: SQLiteStatement, _ index: Int) -> String? {
        guard let name = sqlite3_bind_parameter_name(statement, CInt(index)), name[0] != UInt8(ascii: "?") else {
            return nil
        }
        return String(cString: name + 1)
    }

    /// The SQL with the bound values in it. The corresponding C function is `sqlite3_expanded_sql`.
    static func expandedSQL(_ statement: SQLiteStatement) -> String? {
        guard let text = sqlite3_expanded_sql(statement) else { return nil }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }

    /// Whether a traced text is the statement's own SQL, not a comment in its place, which begins with two dashes.
    /// The corresponding C function is `sqlite3_sql`.
    static func isSQL(_ text: UnsafePointer<CChar>, of statement: SQLiteStatement) -> Bool {
        let dash = CChar(UInt8(ascii: "-"))
        return text[0] != dash || text[1] != dash || UnsafePointer(sqlite3_sql(statement)) == text
    }

    /// The SQL as it was prepared. The corresponding C function is `sqlite3_sql`.
    static func sql(_ statement: SQLiteStatement) -> String? { sqlite3_sql(statement).map { String(cString: $0) } }
}
