extension Optional: StatementBinding where Wrapped: DatabaseValueConvertible {}
extension Optional: RowDecodable where Wrapped: DatabaseValueConvertible {}

extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
    /// NULL, or the wrapped value.
    @inlinable
    public var databaseValue: DatabaseValue {
        switch self {
        case .none: .null
        case .some(let value): value.databaseValue
        }
    }

    /// nil for NULL, otherwise the wrapped type's conversion.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Wrapped?? {
        if let value = Wrapped.fromDatabaseValue(dbValue) { return .some(.some(value)) }
        return dbValue.isNull ? .some(.none) : .none
    }

    /// A missing column reads as nil.
    @inlinable
    public static func fromMissingColumn() -> Wrapped?? { .some(.none) }

    /// Reads nil for NULL, otherwise as the wrapped type.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Wrapped?? {
        if let value = Wrapped.fromStatement(sqliteStatement, atUncheckedIndex: index) { return .some(.some(value)) }
        return StatementColumns.isNull(sqliteStatement, index) ? .some(.none) : .none
    }

    /// Binds NULL, or the wrapped value.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch self {
        case .none: StatementBindings.bindNull(to: sqliteStatement, at: index)
        case .some(let value): value.bind(to: sqliteStatement, at: index)
        }
    }
}

extension Optional: SQLExpressible where Wrapped: DatabaseValueConvertible {}
