extension Array: StatementBinding where Element == UInt8 {}
extension Array: RowDecodable where Element == UInt8 {}

extension Array: DatabaseValueConvertible, StatementColumnConvertible where Element == UInt8 {
    /// A blob.
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(content: .blob(self)) }

    /// A blob, or the UTF-8 of text; nil for NULL and numbers.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> [UInt8]? {
        switch dbValue.content {
        case .blob(let value): value
        case .string(let value): Array(value.utf8)
        default: nil
        }
    }

    /// Reads a blob, or the UTF-8 of text.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = StatementColumns.bytes(sqliteStatement, index) else { return nil }
        self = value
    }

    /// Reads the column; nil for NULL.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> [UInt8]? {
        [UInt8](sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds a blob with its length.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementBindings.bind(self, to: sqliteStatement, at: index)
    }
}

extension Array: SQLExpressible where Element == UInt8 {}
