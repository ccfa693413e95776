extension Bool: DatabaseValueConvertible, StatementColumnConvertible {
    /// 0 or 1.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(content: .int64(self ? 1 : 0)) }

    /// Whether a number isn't zero; nil for NULL, text and blobs.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Bool? {
        switch dbValue.content {
        case .int64(let value): value != 0
        case .double(let value): value != 0
        default: nil
        }
    }

    /// Reads whether a number isn't zero.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let value = StatementColumns.borrow(sqliteStatement, index)
        switch StatementColumns.type(ofBorrowed: value) {
        case .integer: self = StatementColumns.int64(ofBorrowed: value) != 0
        case .real: self = StatementColumns.double(ofBorrowed: value) != 0
        default: return nil
        }
    }

    /// Reads the column; nil for NULL.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Bool? {
        Bool(sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds 0 or 1.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementBindings.bind(self ? 1 : 0 as Int64, to: sqliteStatement, at: index)
    }
}

extension Double: DatabaseValueConvertible, StatementColumnConvertible {
    /// A real. SQLite stores a NaN as NULL: <https://www.sqlite.org/floatingpoint.html>.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(content: isNaN ? .null : .double(self)) }

    /// A real, or an integer as the nearest real; nil for NULL, text and blobs.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Double? {
        switch dbValue.content {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// Reads a number.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = StatementColumns.number(sqliteStatement, index) else { return nil }
        self = value
    }

    /// Reads the column; nil for NULL.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Double? {
        Double(sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds a real.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementBindings.bind(self, to: sqliteStatement, at: index)
    }
}

extension Float: DatabaseValueConvertible, StatementColumnConvertible {
    /// The same number as a `Double`.
    @inlinable
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// The nearest `Float` of a number; nil for NULL, text and blobs.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Float? {
        Double.fromDatabaseValue(dbValue).map { Float($0) }
    }

    /// Reads a number.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Double(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(value)
    }

    /// Reads the column; nil for NULL.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Float? {
        Float(sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds a real.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementBindings.bind(Double(self), to: sqliteStatement, at: index)
    }
}
