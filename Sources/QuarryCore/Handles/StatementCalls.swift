public import CSQLite

/// The functions of a statement that is owned by a `Statement`.
@usableFromInline
enum StatementCalls {
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
    static func step(_ statement: SQLiteStatement) -> CInt { sqlite3_step(statement) }

    /// Ends the execution, and returns the code of the last step. The corresponding C function is `sqlite3_reset`.
    @inlinable
    @discardableResult
    static func reset(_ statement: SQLiteStatement) -> CInt { sqlite3_reset(statement) }

    /// The corresponding C function is `sqlite3_finalize`.
    static func finalize(_ statement: SQLiteStatement) { sqlite3_finalize(statement) }

    /// The corresponding C function is `sqlite3_clear_bindings`.
    static func clearBindings(_ statement: SQLiteStatement) { sqlite3_clear_bindings(statement) }

    /// The corresponding C function is `sqlite3_stmt_readonly`.
    static func isReadOnly(_ statement: SQLiteStatement) -> Bool { sqlite3_stmt_readonly(statement) != 0 }

    /// Whether the statement has been stepped, and has neither finished nor been reset. The corresponding C function is
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

    /// The number of times SQLite has prepared the statement again because the schema had changed. The corresponding C
    /// function is `sqlite3_stmt_status`.
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

    /// The SQL with the bound values. The corresponding C function is `sqlite3_expanded_sql`.
    static func expandedSQL(_ statement: SQLiteStatement) -> String? {
        guard let text = sqlite3_expanded_sql(statement) else { return nil }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }

    /// Whether a traced text is the statement's own SQL. A comment in its place begins with two dashes. The
    /// corresponding C function is `sqlite3_sql`.
    static func isSQL(_ text: UnsafePointer<CChar>, of statement: SQLiteStatement) -> Bool {
        let dash = CChar(UInt8(ascii: "-"))
        return text[0] != dash || text[1] != dash || UnsafePointer(sqlite3_sql(statement)) == text
    }

    /// The SQL as it was prepared. The corresponding C function is `sqlite3_sql`.
    static func sql(_ statement: SQLiteStatement) -> String? { sqlite3_sql(statement).map { String(cString: $0) } }
}
