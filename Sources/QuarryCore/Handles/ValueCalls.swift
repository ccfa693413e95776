import CSQLite

/// Reads values that SQLite lends for the length of a call: arguments of functions, columns of changing rows.
enum ValueCalls {
    /// A copy of the value; nil if SQLite has no memory to convert it. Text that isn't UTF-8 is returned as a blob. The
    /// corresponding C functions are `sqlite3_value_type` and its relatives.
    static func value(_ value: OpaquePointer) -> DatabaseValue? {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER:
            return DatabaseValue(content: .int64(sqlite3_value_int64(value)))
        case SQLITE_FLOAT:
            return DatabaseValue(content: .double(sqlite3_value_double(value)))
        case SQLITE_TEXT:
            guard let text = sqlite3_value_text(value) else { return nil }
            let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
            if let string = String(validating: bytes, as: UTF8.self) { return DatabaseValue(content: .string(string)) }
            return DatabaseValue(content: .blob(Array(bytes)))
        case SQLITE_BLOB:
            let count = Int(sqlite3_value_bytes(value))
            guard count > 0 else { return DatabaseValue(content: .blob([])) }
            // SQLite expands a zeroblob now.
            guard let start = sqlite3_value_blob(value) else { return nil }
            return DatabaseValue(content: .blob(Array(UnsafeRawBufferPointer(start: start, count: count))))
        default:
            return .null
        }
    }
}
