public import QuarryCore

// Values whose type depends on their storage class.

extension Row {
    /// The value of a column: nil for NULL, otherwise an `Int64`, `Double`, `String` or `Data`.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, sql: "SELECT 'Arthur', NULL")!
    /// if let name = row[0] as? String { print(name) }
    /// ```
    ///
    /// - parameter index: the column, from 0. An index outside the row ends the process.
    @_disfavoredOverload
    public subscript(_ index: Int) -> (any DatabaseValueConvertible)? {
        checkedValue(atIndex: index).storage.value
    }

    /// The value of the leftmost column with that name: nil for NULL or a missing column, otherwise an `Int64`,
    /// `Double`, `String` or `Data`.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, sql: "SELECT 'Arthur' AS name")!
    /// if let name = row["name"] as? String { print(name) }
    /// ```
    @_disfavoredOverload
    public subscript(_ columnName: String) -> (any DatabaseValueConvertible)? {
        columnIndex(columnName).flatMap { value(atUncheckedIndex: $0).storage.value }
    }

    /// The value of a column. Same as the subscript by name.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, sql: "SELECT 'Arthur' AS name")!
    /// if let name = row[Column("name")] as? String { print(name) }
    /// ```
    @_disfavoredOverload
    public subscript(_ column: some NamedColumn) -> (any DatabaseValueConvertible)? {
        self[column.name]
    }
}
