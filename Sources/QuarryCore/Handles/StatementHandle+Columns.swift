public import CSQLite

/// Reads the columns of the current row of a statement.
///
/// Indexes count from 0 and aren't checked: SQLite answers NULL for one that is out of range.
/// See <https://www.sqlite.org/c3ref/column_blob.html>.
public enum StatementColumns {
    /// The storage class of a column.
    public enum StorageType: CInt {
        /// `SQLITE_INTEGER`
        case integer = 1
        /// `SQLITE_FLOAT`
        case real = 2
        /// `SQLITE_TEXT`
        case text = 3
        /// `SQLITE_BLOB`
        case blob = 4
        /// `SQLITE_NULL`
        case null = 5
    }

    /// The corresponding C function is `sqlite3_column_type`.
    @inlinable
    public static func type(_ statement: SQLiteStatement, _ index: CInt) -> StorageType {
        StorageType(rawValue: sqlite3_column_type(statement, index)) ?? .null
    }

    /// The corresponding C function is `sqlite3_column_type`.
    @inlinable
    @inline(__always)
    public static func isInteger(_ statement: SQLiteStatement, _ index: CInt) -> Bool {
        sqlite3_column_type(statement, index) == SQLITE_INTEGER
    }

    /// The corresponding C function is `sqlite3_column_type`.
    @inlinable
    public static func isNull(_ statement: SQLiteStatement, _ index: CInt) -> Bool {
        sqlite3_column_type(statement, index) == SQLITE_NULL
    }

    /// The corresponding C function is `sqlite3_column_int64`.
    @inlinable
    @inline(__always)
    public static func int64(_ statement: SQLiteStatement, _ index: CInt) -> Int64 {
        sqlite3_column_int64(statement, index)
    }

    /// The corresponding C function is `sqlite3_column_double`.
    @inlinable
    public static func double(_ statement: SQLiteStatement, _ index: CInt) -> Double {
        sqlite3_column_double(statement, index)
    }

    /// A real, or nil for any other storage class.
    @inlinable
    @inline(never)
    public static func real(_ statement: SQLiteStatement, _ index: CInt) -> Double? {
        guard sqlite3_column_type(statement, index) == SQLITE_FLOAT else { return nil }
        return sqlite3_column_double(statement, index)
    }

    /// Text, or a blob that is UTF-8. The corresponding C functions are `sqlite3_column_text`, `sqlite3_column_blob`
    /// and `sqlite3_column_bytes`.
    @inlinable
    public static func string(_ statement: SQLiteStatement, _ index: CInt) -> String? {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_TEXT:
            guard let text = sqlite3_column_text(statement, index) else { return nil }
            let count = Int(sqlite3_column_bytes(statement, index))
            return String(validating: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
        case SQLITE_BLOB:
            return withBytes(statement, index) {
                String(validating: $0.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
            }
        default:
            return nil
        }
    }

    /// A blob, or the UTF-8 of text, copied.
    @inlinable
    public static func bytes(_ statement: SQLiteStatement, _ index: CInt) -> [UInt8]? {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_TEXT, SQLITE_BLOB: withBytes(statement, index) { Array($0) }
        default: nil
        }
    }

    /// The bytes of a blob or the UTF-8 of text, without a copy; they are gone at the next step.
    @inlinable
    public static func withBytes<T, E: Error>(
        _ statement: SQLiteStatement, _ index: CInt, _ body: (UnsafeRawBufferPointer) throws(E) -> T
    ) throws(E) -> T {
        if sqlite3_column_type(statement, index) == SQLITE_TEXT { return try withUTF8(statement, index, body) }
        return try withBlob(statement, index, body)
    }

    /// The bytes of a blob, without a copy; they are gone at the next step. The corresponding C functions are
    /// `sqlite3_column_blob` and `sqlite3_column_bytes`.
    @inlinable
    @inline(__always)
    public static func withBlob<T, E: Error>(
        _ statement: SQLiteStatement, _ index: CInt, _ body: (UnsafeRawBufferPointer) throws(E) -> T
    ) throws(E) -> T {
        let pointer = sqlite3_column_blob(statement, index)
        let count = Int(sqlite3_column_bytes(statement, index))
        return try body(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
    }

    /// The UTF-8 of text, without a copy; it is gone at the next step. The corresponding C functions are
    /// `sqlite3_column_text` and `sqlite3_column_bytes`.
    ///
    /// In a database of UTF-16 it is converted, where `sqlite3_column_blob` would give the UTF-16.
    @inlinable
    @inline(__always)
    public static func withUTF8<T, E: Error>(
        _ statement: SQLiteStatement, _ index: CInt, _ body: (UnsafeRawBufferPointer) throws(E) -> T
    ) throws(E) -> T {
        let pointer = sqlite3_column_text(statement, index)
        let count = Int(sqlite3_column_bytes(statement, index))
        return try body(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
    }

    /// The value of a column. Text that isn't UTF-8 comes as the blob of its bytes.
    @inlinable
    public static func value(_ statement: SQLiteStatement, _ index: CInt) -> DatabaseValue {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER:
            DatabaseValue(content: .int64(sqlite3_column_int64(statement, index)))
        case SQLITE_FLOAT:
            DatabaseValue(content: .double(sqlite3_column_double(statement, index)))
        case SQLITE_TEXT:
            if let text = string(statement, index) {
                DatabaseValue(content: .string(text))
            } else {
                DatabaseValue(content: .blob(withBytes(statement, index) { Array($0) }))
            }
        case SQLITE_BLOB:
            DatabaseValue(content: .blob(withBytes(statement, index) { Array($0) }))
        default:
            .null
        }
    }
}
