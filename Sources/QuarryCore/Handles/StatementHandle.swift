public import CSQLite

/// A pointer to a prepared statement: <https://www.sqlite.org/c3ref/stmt.html>.
public typealias SQLiteStatement = OpaquePointer

/// Finalizes the statements of a connection, at once or when the connection is next in use.
@usableFromInline
protocol StatementFinalizer: AnyObject {
    func finalize(_ statement: SQLiteStatement)
}

/// Owns a prepared statement.
@usableFromInline
package struct StatementHandle: ~Copyable {
    @usableFromInline
    let pointer: SQLiteStatement

    /// Decides where the statement is finalized; nil to finalize it on the thread that releases the handle.
    private let finalizer: (any StatementFinalizer)?

    /// The outcome of preparing the first statement of some SQL.
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
        _ connection: SQLiteConnection, sql: UnsafeBufferPointer<UInt8>, from start: inout Int, persistent: Bool,
        finalizer: (any StatementFinalizer)? = nil
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
            return .statement(StatementHandle(pointer, finalizer))
        }
    }

    private init(_ pointer: SQLiteStatement, _ finalizer: (any StatementFinalizer)?) {
        self.pointer = pointer
        self.finalizer = finalizer
    }

    deinit {
        if let finalizer { finalizer.finalize(pointer) } else { Self.finalize(pointer) }
    }

    /// For finalizers. The corresponding C function is `sqlite3_finalize`.
    static func finalize(_ statement: SQLiteStatement) { sqlite3_finalize(statement) }

    // MARK: - Execution

    /// The code of a step that returned a row.
    @inlinable
    static var row: CInt {
        @inline(__always) get { SQLITE_ROW }
    }

    /// The code of a step after the last row.
    static var done: CInt { SQLITE_DONE }

    /// The corresponding C function is `sqlite3_step`.
    @inlinable
    @inline(__always)
    func step() -> CInt { sqlite3_step(pointer) }

    /// Ends the execution, and returns the code of the last step. The corresponding C function is `sqlite3_reset`.
    @inlinable
    @discardableResult
    func reset() -> CInt { sqlite3_reset(pointer) }

    /// The corresponding C function is `sqlite3_clear_bindings`.
    func clearBindings() { sqlite3_clear_bindings(pointer) }

    /// Whether the statement has been stepped, and has neither finished nor been reset. The corresponding C function is
    /// `sqlite3_stmt_busy`.
    var isBusy: Bool { sqlite3_stmt_busy(pointer) != 0 }

    // MARK: - Information

    /// The corresponding C function is `sqlite3_stmt_readonly`.
    package var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

    /// The corresponding C function is `sqlite3_column_count`.
    var columnCount: Int { Int(sqlite3_column_count(pointer)) }

    /// The names of all columns. The corresponding C function is `sqlite3_column_name`.
    package var columnNames: [String] {
        (0..<columnCount).map { index in
            sqlite3_column_name(pointer, CInt(index)).map { String(cString: $0) } ?? ""
        }
    }

    /// The number of times SQLite has prepared the statement again because the schema had changed. The corresponding C
    /// function is `sqlite3_stmt_status`.
    var repreparationCount: CInt { sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0) }

    /// The corresponding C function is `sqlite3_bind_parameter_count`.
    package var parameterCount: Int { Int(sqlite3_bind_parameter_count(pointer)) }

    /// The name of a parameter without its prefix, or nil for `?` and `?5`. The corresponding C function is
    /// `sqlite3_bind_parameter_name`.
    ///
    /// - parameter index: from 1.
    func parameterName(_ index: Int) -> String? {
        guard let name = sqlite3_bind_parameter_name(pointer, CInt(index)), name[0] != UInt8(ascii: "?") else {
            return nil
        }
        return String(cString: name + 1)
    }

    /// A parameter as SQL that gives it the same index: `:name`, `?5`. The corresponding C function is
    /// `sqlite3_bind_parameter_name`.
    ///
    /// - parameter index: from 1.
    package func parameterSQL(_ index: Int) -> String {
        sqlite3_bind_parameter_name(pointer, CInt(index)).map { String(cString: $0) } ?? "?\(index)"
    }
}
