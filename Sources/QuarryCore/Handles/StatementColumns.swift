public import CSQLite

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Reads the columns of the current row of a statement.
///
/// For types that conform to `StatementColumnConvertible`; other code reads a `Row`. Indexes count from 0 and aren't
/// checked: SQLite returns NULL for an index that is out of range. See <https://www.sqlite.org/c3ref/column_blob.html>.
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

    // `sqlite3_column_type` and `sqlite3_column_int64` each look the column up: both together cost twice as much as
    // one. The functions of a value need no look-up. SQLite calls such a value unprotected; without mutexes, as in
    // Quarry, that makes no difference: https://www.sqlite.org/c3ref/value.html

    /// The value of a column, valid until the next step. The corresponding C function is `sqlite3_column_value`.
    @inlinable
    @inline(__always)
    package static func borrow(_ statement: SQLiteStatement, _ index: CInt) -> OpaquePointer {
        // Never null: SQLite returns a NULL value for an index that is out of range.
        sqlite3_column_value(statement, index).unsafelyUnwrapped
    }

    /// The storage class of a value. The corresponding C function is `sqlite3_value_type`.
    @inlinable
    @inline(__always)
    package static func type(ofBorrowed value: OpaquePointer) -> StorageType {
        StorageType(rawValue: sqlite3_value_type(value)) ?? .null
    }

    /// The corresponding C function is `sqlite3_value_int64`.
    @inlinable
    @inline(__always)
    package static func int64(ofBorrowed value: OpaquePointer) -> Int64 { sqlite3_value_int64(value) }

    /// The corresponding C function is `sqlite3_value_double`.
    @inlinable
    @inline(__always)
    package static func double(ofBorrowed value: OpaquePointer) -> Double { sqlite3_value_double(value) }

    /// The UTF-8 of text, or the bytes of a blob; none if SQLite has no memory for them. The corresponding C functions
    /// are `sqlite3_value_text`, `sqlite3_value_blob` and `sqlite3_value_bytes`.
    @inlinable
    @inline(__always)
    package static func bytes(ofBorrowed value: OpaquePointer, _ type: StorageType) -> UnsafeRawBufferPointer {
        let start =
            type == .text ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
        guard let start else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    /// An integer, or nil for any other storage class.
    @inlinable
    @inline(__always)
    public static func integer(_ statement: SQLiteStatement, _ index: CInt) -> Int64? {
        let value = borrow(statement, index)
        return sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil
    }

    /// An integer; `.some(nil)` for NULL; nil for any other storage class.
    @inlinable
    @inline(__always)
    package static func integerOrNull(_ statement: SQLiteStatement, _ index: CInt) -> Int64?? {
        let value = borrow(statement, index)
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: return .some(.some(sqlite3_value_int64(value)))
        case SQLITE_NULL: return .some(.none)
        default: return nil
        }
    }

    /// A real, or nil for any other storage class.
    @inlinable
    @inline(never)
    public static func real(_ statement: SQLiteStatement, _ index: CInt) -> Double? {
        let value = borrow(statement, index)
        return sqlite3_value_type(value) == SQLITE_FLOAT ? sqlite3_value_double(value) : nil
    }

    /// An integer or a real, as a `Double`; nil for any other storage class.
    @inlinable
    @inline(__always)
    public static func number(_ statement: SQLiteStatement, _ index: CInt) -> Double? {
        let value = borrow(statement, index)
        switch sqlite3_value_type(value) {
        case SQLITE_FLOAT, SQLITE_INTEGER: return sqlite3_value_double(value)
        default: return nil
        }
    }

    /// Text, a blob that is UTF-8, or a number as SQLite writes it.
    @inlinable
    public static func string(_ statement: SQLiteStatement, _ index: CInt) -> String? {
        let value = borrow(statement, index)
        switch sqlite3_value_type(value) {
        case SQLITE_TEXT:
            guard let text = sqlite3_value_text(value) else { return nil }
            return String(utf8: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
        case SQLITE_BLOB:
            return withBlob(statement, index) { String(utf8: $0.assumingMemoryBound(to: UInt8.self)) }
        case SQLITE_NULL:
            return nil
        default:
            return text(ofNumber: value)
        }
    }

    /// The text of a number. `sqlite3_value_text` would convert the value in place.
    @usableFromInline
    @inline(never)
    static func text(ofNumber value: OpaquePointer) -> String {
        type(ofBorrowed: value) == .integer
            ? String(sqlite3_value_int64(value)) : SQLiteLibrary.text(of: sqlite3_value_double(value))
    }

    /// A blob, or the UTF-8 of text, copied.
    @inlinable
    public static func bytes(_ statement: SQLiteStatement, _ index: CInt) -> [UInt8]? {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_TEXT, SQLITE_BLOB: withBytes(statement, index) { Array($0) }
        default: nil
        }
    }

    /// Passes `body` the bytes of a blob or the UTF-8 of text, without a copy. They are valid until the next step.
    ///
    /// - throws: the error of `body`.
    @inlinable
    public static func withBytes<T, E: Error>(
        _ statement: SQLiteStatement, _ index: CInt, _ body: (UnsafeRawBufferPointer) throws(E) -> T
    ) throws(E) -> T {
        if sqlite3_column_type(statement, index) == SQLITE_TEXT { return try withUTF8(statement, index, body) }
        return try withBlob(statement, index, body)
    }

    /// Passes `body` the bytes of a blob, without a copy. They are valid until the next step. The corresponding C
    /// functions are `sqlite3_column_blob` and `sqlite3_column_bytes`.
    ///
    /// - throws: the error of `body`.
    @inlinable
    @inline(__always)
    public static func withBlob<T, E: Error>(
        _ statement: SQLiteStatement, _ index: CInt, _ body: (UnsafeRawBufferPointer) throws(E) -> T
    ) throws(E) -> T {
        let pointer = sqlite3_column_blob(statement, index)
        let count = Int(sqlite3_column_bytes(statement, index))
        return try body(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
    }

    /// Passes `body` the UTF-8 of text, without a copy. It is valid until the next step. The corresponding C functions
    /// are `sqlite3_column_text` and `sqlite3_column_bytes`.
    ///
    /// In a UTF-16 database SQLite converts the text; `sqlite3_column_blob` would return UTF-16.
    ///
    /// - throws: the error of `body`.
    @inlinable
    @inline(__always)
    public static func withUTF8<T, E: Error>(
        _ statement: SQLiteStatement, _ index: CInt, _ body: (UnsafeRawBufferPointer) throws(E) -> T
    ) throws(E) -> T {
        let pointer = sqlite3_column_text(statement, index)
        let count = Int(sqlite3_column_bytes(statement, index))
        return try body(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
    }

    /// The value of a column. Text that isn't UTF-8 is returned as a blob.
    @inlinable
    public static func value(_ statement: SQLiteStatement, _ index: CInt) -> DatabaseValue {
        let value = borrow(statement, index)
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER:
            return DatabaseValue(content: .int64(sqlite3_value_int64(value)))
        case SQLITE_FLOAT:
            return DatabaseValue(content: .double(sqlite3_value_double(value)))
        case SQLITE_TEXT:
            if let text = string(statement, index) { return DatabaseValue(content: .string(text)) }
            return DatabaseValue(content: .blob(withUTF8(statement, index) { Array($0) }))
        case SQLITE_BLOB:
            return DatabaseValue(content: .blob(withBlob(statement, index) { Array($0) }))
        default:
            return .null
        }
    }
}

extension String {
    /// The text of UTF-8; nil for other bytes. Most texts are ASCII, which is faster to check.
    @inlinable
    init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        if #available(macOS 26, *), UnsafeRawBufferPointer(bytes).areASCII {
            self.init(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: true))
        } else {
            self.init(checking: bytes)
        }
    }

    /// Decodes with repair, and compares: this is faster than `String(validating:as:)`, which isn't specialized for
    /// bytes in Swift 6.3.
    @usableFromInline
    @inline(never)
    init?(checking bytes: UnsafeBufferPointer<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // Bytes that aren't UTF-8 were replaced.
        guard UnsafeRawBufferPointer(bytes).isUTF8(of: &self) else { return nil }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are ASCII, eight at a time.
    @inlinable
    @inline(__always)
    var areASCII: Bool {
        guard count >= 8 else { return areFewASCII }
        var bits = loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        var offset = 0
        while offset < count &- 8 {
            bits |= loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    /// As `areASCII`, for fewer than eight bytes.
    @inlinable
    @inline(__always)
    var areFewASCII: Bool {
        var bits: UInt8 = 0
        for byte in self { bits |= byte }
        return bits < 0x80
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are the UTF-8 of a text. The text is made contiguous for the comparison.
    package func isUTF8(of text: inout String) -> Bool {
        text.withUTF8Bytes { text in
            count == text.count
                && (count == 0 || memcmp(baseAddress.unsafelyUnwrapped, text.baseAddress.unsafelyUnwrapped, count) == 0)
        }
    }
}
