public import CSQLite

/// Binds values to the parameters of a statement, which are numbered from 1.
///
/// For types that implement `bind(to:at:)` of `DatabaseValueConvertible`; other code passes `StatementArguments`. Text
/// and blobs are bound with their length. See <https://www.sqlite.org/c3ref/bind_blob.html>.
public enum StatementBindings {
    /// SQLite copies the bytes before the function returns: <https://www.sqlite.org/c3ref/c_static.html>.
    @usableFromInline
    static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// The corresponding C function is `sqlite3_bind_null`.
    @inlinable
    public static func bindNull(to statement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_null(statement, index)
    }

    /// The corresponding C function is `sqlite3_bind_int64`.
    @inlinable
    public static func bind(_ value: Int64, to statement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_int64(statement, index, value)
    }

    /// The corresponding C function is `sqlite3_bind_double`.
    @inlinable
    public static func bind(_ value: Double, to statement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_double(statement, index, value)
    }

    /// The corresponding C function is `sqlite3_bind_text64`.
    @inlinable
    public static func bind(_ value: String, to statement: SQLiteStatement, at index: CInt) -> CInt {
        var value = value
        return value.withUTF8Bytes { bind(text: $0, to: statement, at: index, destructor: transient) }
    }

    /// The corresponding C function is `sqlite3_bind_blob64`.
    @inlinable
    public static func bind(_ value: [UInt8], to statement: SQLiteStatement, at index: CInt) -> CInt {
        value.withUnsafeBytes { bind(bytes: $0, to: statement, at: index) }
    }

    /// Binds a copy of UTF-8 as text. The corresponding C function is `sqlite3_bind_text64`.
    @inlinable
    public static func bind(
        utf8: UnsafeBufferPointer<UInt8>, to statement: SQLiteStatement, at index: CInt
    ) -> CInt {
        bind(text: utf8, to: statement, at: index, destructor: transient)
    }

    /// Binds a copy of bytes as a blob. The corresponding C function is `sqlite3_bind_blob64`.
    @inlinable
    public static func bind(bytes: UnsafeRawBufferPointer, to statement: SQLiteStatement, at index: CInt) -> CInt {
        bind(bytes: bytes, to: statement, at: index, destructor: transient)
    }

    @inlinable
    static func bind(
        text: UnsafeBufferPointer<UInt8>, to statement: SQLiteStatement, at index: CInt,
        destructor: sqlite3_destructor_type?
    ) -> CInt {
        UnsafeRawBufferPointer(text).withMemoryRebound(to: CChar.self) { text in
            // A null pointer would bind NULL.
            guard let base = text.baseAddress else {
                return sqlite3_bind_text64(statement, index, "", 0, transient, UInt8(SQLITE_UTF8))
            }
            return sqlite3_bind_text64(statement, index, base, UInt64(text.count), destructor, UInt8(SQLITE_UTF8))
        }
    }

    @inlinable
    static func bind(
        bytes: UnsafeRawBufferPointer, to statement: SQLiteStatement, at index: CInt,
        destructor: sqlite3_destructor_type?
    ) -> CInt {
        // A null pointer would bind NULL.
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
        return sqlite3_bind_blob64(statement, index, base, UInt64(bytes.count), destructor)
    }

    /// Binds a value of any storage class; returns `SQLITE_MISMATCH` for a value that can't be stored.
    @inlinable
    public static func bind(_ value: DatabaseValue, to statement: SQLiteStatement, at index: CInt) -> CInt {
        switch value.content {
        case .null: bindNull(to: statement, at: index)
        case .int64(let value): bind(value, to: statement, at: index)
        case .double(let value): bind(value, to: statement, at: index)
        case .string(let value): bind(value, to: statement, at: index)
        case .blob(let value): bind(value, to: statement, at: index)
        case .unrepresentable: SQLITE_MISMATCH
        }
    }
}
