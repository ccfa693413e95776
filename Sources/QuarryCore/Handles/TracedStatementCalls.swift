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

    /// The counters of all executions so far. The corresponding C function is `sqlite3_stmt_status`.
    static func counters(_ statement: SQLiteStatement) -> StatementCounters {
        func counter(_ operation: CInt) -> UInt32 {
            UInt32(bitPattern: sqlite3_stmt_status(statement, operation, 0))
        }
        return StatementCounters(
            fullScanSteps: counter(SQLITE_STMTSTATUS_FULLSCAN_STEP), sorts: counter(SQLITE_STMTSTATUS_SORT),
            automaticIndexRows: counter(SQLITE_STMTSTATUS_AUTOINDEX),
            virtualMachineSteps: counter(SQLITE_STMTSTATUS_VM_STEP),
            repreparations: counter(SQLITE_STMTSTATUS_REPREPARE))
    }

    /// The SQL as it was prepared. The corresponding C function is `sqlite3_sql`.
    static func sql(_ statement: SQLiteStatement) -> String? { sqlite3_sql(statement).map { String(cString: $0) } }
}

/// SQLite's counters of a statement: <https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>.
package struct StatementCounters: Equatable {
    package var fullScanSteps: UInt32 = 0
    package var sorts: UInt32 = 0
    package var automaticIndexRows: UInt32 = 0
    package var virtualMachineSteps: UInt32 = 0
    package var repreparations: UInt32 = 0

    /// The counts between two times. SQLite's numbers begin again at 0 after the largest.
    package static func - (later: Self, earlier: Self) -> Self {
        StatementCounters(
            fullScanSteps: later.fullScanSteps &- earlier.fullScanSteps, sorts: later.sorts &- earlier.sorts,
            automaticIndexRows: later.automaticIndexRows &- earlier.automaticIndexRows,
            virtualMachineSteps: later.virtualMachineSteps &- earlier.virtualMachineSteps,
            repreparations: later.repreparations &- earlier.repreparations)
    }
}
