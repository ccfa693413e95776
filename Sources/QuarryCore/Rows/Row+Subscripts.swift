extension Row {
    // MARK: - By index

    /// The value of a column, converted. Ends the process if the row has no such column, or if the value can't be
    /// converted; `decode` throws instead.
    ///
    /// ```swift
    /// let id: Int64 = row[0]
    /// let score: Int? = row[2]
    /// ```
    ///
    /// - parameter index: the column, from 0.
    @inlinable
    @inline(__always)
    public subscript<Value: DatabaseValueConvertible>(_ index: Int) -> Value {
        // `??` is a call in a debug build.
        if let value = fastDecode(Value.self, index) { return value }
        return decodeOrTrap(Value.self, atIndex: index)
    }

    // MARK: - By name

    /// The value of the leftmost column with that name, ignoring case, converted.
    ///
    /// If the column is missing, an optional is nil. Ends the process if the column is missing for another type, or if
    /// the value can't be converted; `decode` throws instead.
    ///
    /// ```swift
    /// let name: String = row["name"]
    /// let score: Int? = row["score"]
    /// ```
    @inlinable
    @inline(__always)
    public subscript<Value: DatabaseValueConvertible>(_ columnName: String) -> Value {
        guard let index = columnIndex(columnName) else { return missingOrTrap(Value.self, columnName) }
        // As `self[index]`, which is a call in a debug build, too.
        if let value = fastDecode(Value.self, index) { return value }
        return decodeOrTrap(Value.self, atIndex: index)
    }

    // MARK: - By column

    /// The value of a column, converted. Same as the subscript by name.
    ///
    /// ```swift
    /// let name: String = row[Column("name")]
    /// ```
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: some NamedColumn) -> Value {
        self[column.name]
    }

    // MARK: - Questions

    /// Whether the row has a column with that name, ignoring case.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, sql: "SELECT 1 AS id")!
    /// row.hasColumn("ID") // true
    /// ```
    public func hasColumn(_ columnName: String) -> Bool {
        columnIndex(columnName) != nil
    }

    /// Whether a column is NULL. Doesn't create the value.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, sql: "SELECT 1 AS id, NULL AS name")!
    /// row.hasNull(atIndex: 1) // true
    /// ```
    ///
    /// - parameter index: the column, from 0. An index outside the row ends the process.
    public func hasNull(atIndex index: Int) -> Bool {
        if let sqliteStatement, 0..<count ~= index {
            return StatementColumns.isNull(sqliteStatement, CInt(index) + CInt(columnOffset))
        }
        return checkedValue(atIndex: index).isNull
    }

    /// Whether any column of the row or its scopes isn't NULL.
    public var containsNonNullValue: Bool {
        (0..<count).contains { !hasNull(atIndex: $0) } || scopes.contains { $0.row.containsNonNullValue }
    }

    /// The first value among columns that isn't NULL; nil if all are NULL.
    ///
    /// ```swift
    /// let name: String? = row.coalesce(["nickname", "name"])
    /// ```
    public func coalesce<T: DatabaseValueConvertible>(_ columns: some Collection<String>) -> T? {
        for column in columns {
            if let value = self[column] as T? { return value }
        }
        return nil
    }

    /// The first value among columns that isn't NULL; nil if all are NULL.
    ///
    /// ```swift
    /// let name: String? = row.coalesce([Column("nickname"), Column("name")])
    /// ```
    public func coalesce<T: DatabaseValueConvertible>(_ columns: some Collection<any NamedColumn>) -> T? {
        coalesce(columns.map(\.name))
    }

    /// The bytes of text or a blob without a copy, for the length of a closure; nil for NULL and numbers.
    ///
    /// ```swift
    /// let size = try row.withUnsafeBytes(atIndex: 0) { bytes in bytes?.count ?? 0 }
    /// ```
    ///
    /// - throws: `RowDecodingError` if the index is outside the row; the closure's error.
    public func withUnsafeBytes<T>(
        atIndex index: Int, _ body: (UnsafeRawBufferPointer?) throws -> T
    ) throws -> T {
        guard 0..<count ~= index else {
            _ = try decodeSlowly(DatabaseValue.self, atIndex: index)
            return try body(nil)
        }
        switch source {
        case .statement(let running):
            let statement = running.sqliteStatement
            switch StatementColumns.type(statement, CInt(index)) {
            case .text, .blob: return try StatementColumns.withBytes(statement, CInt(index), body)
            default: return try body(nil)
            }
        case .block(let block):
            switch block.type(index) {
            case .text, .blob: return try block.withBytes(index, body)
            default: return try body(nil)
            }
        case .adapted(let adapted):
            return try adapted.base.withUnsafeBytes(atIndex: adapted.adaptation.columns[index], body)
        case .expired:
            _ = try decodeSlowly(DatabaseValue.self, atIndex: index)
            return try body(nil)
        }
    }
}
