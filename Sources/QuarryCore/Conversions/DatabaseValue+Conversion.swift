extension DatabaseValue: DatabaseValueConvertible, StatementColumnConvertible {
    /// Itself.
    @inlinable
    public var databaseValue: DatabaseValue { self }

    /// Itself.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseValue? { dbValue }

    /// The value of a column of the current row.
    ///
    /// Text that isn't UTF-8 is read as a blob, so that no bytes are lost.
    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumns.value(sqliteStatement, index)
    }

    /// Reads the column; NULL is read as `.null`.
    @inlinable
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> DatabaseValue? {
        StatementColumns.value(sqliteStatement, index)
    }

    /// Binds to a parameter of a statement.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementBindings.bind(self, to: sqliteStatement, at: index)
    }
}
