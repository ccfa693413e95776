import CSQLite

/// The functions of a statement that SQLite passes to a trace, which doesn't own it.
enum TracedStatementCalls {
    /// The corresponding C function is `sqlite3_stmt_readonly`.
    static func isReadOnly(_ statement: SQLiteStatement) -> Bool { sqlite3_stmt_readonly(statement) != 0 }

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
