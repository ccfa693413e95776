import CSQLite

/// A connection that the C API alone uses, which says what the library must say.
final class ReferenceConnection {
    struct Table {
        var name: String
        var columns: [String]
    }

    private let pointer: OpaquePointer

    init() throws {
        var pointer: OpaquePointer?
        let code = sqlite3_open_v2(
            ":memory:", &pointer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let pointer else { throw Failure(code: code) }
        self.pointer = pointer
        // As the library opens its connections.
        sqlite3_extended_result_codes(pointer, 1)
        _ = run(RandomStatement(sql: "PRAGMA foreign_keys = ON"))
        for option in [SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL] {
            csqlite_db_config_bool(pointer, option, 0, nil)
        }
    }

    struct Failure: Error {
        var code: CInt
    }

    deinit { sqlite3_close_v2(pointer) }

    /// Prepares, binds, steps to the end and finalizes.
    func run(_ statement: RandomStatement) -> SQLiteOutcome {
        var outcome = SQLiteOutcome(columns: [], rows: [])
        var handle: OpaquePointer?
        var code = sqlite3_prepare_v3(pointer, statement.sql, -1, 0, &handle, nil)
        if code == SQLITE_OK {
            for (index, value) in statement.arguments.enumerated() where code == SQLITE_OK {
                code = bind(value, to: handle, at: CInt(index + 1))
            }
        }
        if code == SQLITE_OK {
            code = sqlite3_step(handle)
            let columns = 0..<sqlite3_column_count(handle)
            outcome.columns = columns.map { String(cString: sqlite3_column_name(handle, $0)) }
            while code == SQLITE_ROW {
                outcome.rows?.append(columns.map { value(of: handle, $0) })
                code = sqlite3_step(handle)
            }
        }
        if code != SQLITE_DONE {
            outcome.failure = SQLiteOutcome.Failure(
                code: sqlite3_extended_errcode(pointer), message: String(cString: sqlite3_errmsg(pointer)))
        }
        sqlite3_finalize(handle)
        outcome.changes = Int(sqlite3_changes64(pointer))
        outcome.totalChanges = Int(sqlite3_total_changes64(pointer))
        outcome.lastRowID = sqlite3_last_insert_rowid(pointer)
        outcome.isAutocommit = sqlite3_get_autocommit(pointer) != 0
        return outcome
    }

    /// Whether text follows the first statement.
    func hasSeveralStatements(_ sql: String) -> Bool {
        sql.withCString { text in
            var handle: OpaquePointer?
            var tail: UnsafePointer<CChar>?
            defer { sqlite3_finalize(handle) }
            guard sqlite3_prepare_v3(pointer, text, -1, 0, &handle, &tail) == SQLITE_OK, let tail else { return false }
            return String(cString: tail).contains { !$0.isWhitespace }
        }
    }

    /// Asks for the tables and views there are, and their columns.
    static let tablesSQL = """
        SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') \
        ORDER BY m.rowid, c.cid
        """

    /// The tables and views there are.
    func tables() -> [Table] {
        var tables: [Table] = []
        for row in run(RandomStatement(sql: Self.tablesSQL)).rows ?? [] {
            guard case .text(let table) = row[0], case .text(let column) = row[1] else { continue }
            let (name, columnName) = (String(decoding: table, as: UTF8.self), String(decoding: column, as: UTF8.self))
            if tables.last?.name == name {
                tables[tables.count - 1].columns.append(columnName)
            } else {
                tables.append(Table(name: name, columns: [columnName]))
            }
        }
        return tables
    }

    private func bind(_ value: ExactValue, to handle: OpaquePointer?, at index: CInt) -> CInt {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let value): return sqlite3_bind_int64(handle, index, value)
        case .real(let bits): return sqlite3_bind_double(handle, index, Double(bitPattern: bits))
        case .text(let bytes):
            // With a byte more than it has: a pointer to nothing would bind NULL.
            return (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
                sqlite3_bind_text64(
                    handle, index, $0.baseAddress, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
            }
        case .blob(let bytes):
            if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
            return bytes.withUnsafeBytes {
                sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), transient)
            }
        }
    }

    /// `SQLITE_TRANSIENT`: SQLite copies what is bound.
    private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func value(of handle: OpaquePointer?, _ index: CInt) -> ExactValue {
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index).bitPattern)
        case SQLITE_TEXT:
            let text = sqlite3_column_text(handle, index)
            return .text(Array(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, index)))))
        case SQLITE_BLOB:
            let blob = sqlite3_column_blob(handle, index)
            return .blob(Array(UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(handle, index)))))
        default: return .null
        }
    }
}
