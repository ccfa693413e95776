internal import CSQLite
internal import QuarryClusterWire

/// A statement of a session.
final class EmulatedStatement {
    /// The text that was prepared.
    let sql: String
    let pointer: OpaquePointer

    /// Owns a prepared statement.
    init(owning pointer: OpaquePointer, sql: String) {
        self.pointer = pointer
        self.sql = sql
    }

    deinit { sqlite3_finalize(pointer) }

    var parameterCount: Int { Int(sqlite3_bind_parameter_count(pointer)) }

    var columnCount: Int { Int(sqlite3_column_count(pointer)) }

    private var connection: OpaquePointer? { sqlite3_db_handle(pointer) }

    /// Goes to the next row; `false` behind the last one.
    func step() throws(StatementFailure) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw StatementFailure(connection)
        }
    }

    func reset() { sqlite3_reset(pointer) }

    /// Binds arguments. As in dqlite, parameters without an argument keep their earlier values.
    func bind(_ arguments: [WireValue]) throws(StatementFailure) {
        for (index, argument) in arguments.enumerated() {
            guard bind(argument, at: Int32(index + 1)) == SQLITE_OK else { throw StatementFailure(connection) }
        }
    }

    private func bind(_ argument: WireValue, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT, which Swift can't import: SQLite copies the bytes.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch argument {
        case .integer(let number), .boolean(let number), .unixTime(let number):
            return sqlite3_bind_int64(pointer, index, number)
        case .float(let number): return sqlite3_bind_double(pointer, index, number)
        case .text(let text), .iso8601(let text):
            return sqlite3_bind_text(pointer, index, text, Int32(text.utf8.count), transient)
        case .blob(let bytes):
            // Without bytes, an array may have no address, which would bind NULL.
            if bytes.isEmpty { return sqlite3_bind_zeroblob(pointer, index, 0) }
            return sqlite3_bind_blob(pointer, index, bytes, Int32(bytes.count), transient)
        case .null: return sqlite3_bind_null(pointer, index)
        }
    }

    /// The value of a column as SQLite has it.
    func value(at column: Int32) -> WireValue {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(pointer, column))
        case SQLITE_FLOAT: .float(sqlite3_column_double(pointer, column))
        case SQLITE_TEXT:
            .text(
                String(
                    decoding: UnsafeRawBufferPointer(
                        start: sqlite3_column_text(pointer, column), count: Int(sqlite3_column_bytes(pointer, column))),
                    as: UTF8.self))
        case SQLITE_BLOB: .blob(blob(at: column))
        default: .null
        }
    }

    func blob(at column: Int32) -> [UInt8] {
        let start = sqlite3_column_blob(pointer, column)
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    /// The bytes of a text up to its first NUL: the wire has no more of it.
    func cutText(at column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_text(pointer, column) else { return [] }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
        return [UInt8](bytes.prefix { $0 != 0 })
    }
}
