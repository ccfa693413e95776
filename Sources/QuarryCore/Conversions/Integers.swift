/// Integers: stored as INTEGER; read from an INTEGER, or a REAL with an integer value, that fits.
public protocol SQLInteger: DatabaseValueConvertible, StatementColumnConvertible, FixedWidthInteger {}

extension SQLInteger {
    /// An integer. A value above `Int64.max` can't be stored, and binding it throws.
    @inlinable
    public var databaseValue: DatabaseValue {
        if let value = Int64(exactly: self) { return DatabaseValue(content: .int64(value)) }
        return .unrepresentable(String(self), reason: "it doesn't fit in a signed integer of 64 bits")
    }

    /// An integer that fits, or a real with an integer value that fits; nil for other values.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        switch dbValue.content {
        case .int64(let value): Self(exactly: value)
        case .double(let value): Self(exactly: value)
        default: nil
        }
    }

    /// Reads an integer that fits, or a real with an integer value that fits.
    @inlinable
    @inline(__always)
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        if let value = StatementColumns.integer(sqliteStatement, index) {
            self.init(exactly: value)
        } else {
            guard let value = StatementColumns.real(sqliteStatement, index) else { return nil }
            self.init(exactly: value)
        }
    }

    /// Reads the column; nil for NULL.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        Self(sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds an integer; returns `SQLITE_MISMATCH` for a value above `Int64.max`.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        guard let value = Int64(exactly: self) else { return ResultCode.SQLITE_MISMATCH.rawValue }
        return StatementBindings.bind(value, to: sqliteStatement, at: index)
    }
}

extension Int: SQLInteger {
    /// Reads an integer that fits, or a real with an integer value that fits; nil for other values, and for NULL.
    ///
    /// ```swift
    /// let id = Int.fromStatement(sqliteStatement, atUncheckedIndex: 0)
    /// ```
    ///
    /// Without it, an array of structs takes half as long again in a debug build: the form of `SQLInteger` is generic.
    ///
    /// The corresponding C function is `sqlite3_column_int64`: <https://www.sqlite.org/c3ref/column_blob.html>.
    ///
    /// - parameter index: the column, from 0, which must be in the row.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int? {
        if let value = StatementColumns.integer(sqliteStatement, index) { return Int(exactly: value) }
        return Int(sqliteStatement: sqliteStatement, index: index)
    }
}

extension Int8: SQLInteger {}
extension Int16: SQLInteger {}
extension Int32: SQLInteger {}

extension Int64: SQLInteger {
    /// Reads an integer that fits, or a real with an integer value that fits; nil for other values, and for NULL.
    ///
    /// ```swift
    /// let id = Int64.fromStatement(sqliteStatement, atUncheckedIndex: 0)
    /// ```
    ///
    /// Without it, an array of structs takes half as long again in a debug build: the form of `SQLInteger` is generic.
    ///
    /// The corresponding C function is `sqlite3_column_int64`: <https://www.sqlite.org/c3ref/column_blob.html>.
    ///
    /// - parameter index: the column, from 0, which must be in the row.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int64? {
        StatementColumns.integer(sqliteStatement, index) ?? Int64(sqliteStatement: sqliteStatement, index: index)
    }
}

extension UInt: SQLInteger {}
extension UInt8: SQLInteger {}
extension UInt16: SQLInteger {}
extension UInt32: SQLInteger {}
extension UInt64: SQLInteger {}
