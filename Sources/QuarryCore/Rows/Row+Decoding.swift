extension Row {
    /// The value of a column, converted.
    ///
    /// ```swift
    /// let id = try row.decode(Int64.self, atIndex: 0)
    /// let score: Int? = try row.decode(atIndex: 2)
    /// ```
    ///
    /// - parameter index: the column, from 0.
    /// - throws: `RowDecodingError` if the row has no such column, or if the value can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        if let value = fastDecode(type, index) { return value }
        return try decodeSlowly(type, atIndex: index)
    }

    /// The value of the leftmost column with that name, converted.
    ///
    /// ```swift
    /// let name = try row.decode(String.self, forColumn: "name")
    /// ```
    ///
    /// - throws: `RowDecodingError` if the row has no such column, or if the value can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn columnName: String
    ) throws -> Value {
        guard let index = columnIndex(columnName) else { return try missing(type, columnName) }
        return try decode(type, atIndex: index)
    }

    /// The value of the leftmost column with that name, converted.
    ///
    /// ```swift
    /// let name = try row.decode(String.self, forColumn: Column("name"))
    /// ```
    ///
    /// - throws: `RowDecodingError` if the row has no such column, or if the value can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some NamedColumn
    ) throws -> Value {
        try decode(type, forColumn: column.name)
    }

    // MARK: - Off the hot path

    /// Converts a value that the fast path did not convert: from other sources of rows, and after every failure.
    @usableFromInline
    @inline(never)
    func decodeSlowly<Value: DatabaseValueConvertible>(
        _ type: Value.Type, atIndex index: Int, as name: Any.Type = Value.self
    ) throws -> Value {
        guard 0..<count ~= index else {
            throw RowDecodingError.indexOutOfRange(index, count: count, place: place())
        }
        if isExpired { throw expiredError }
        if let adaptedSource, let statement = adaptedSource.base.sqliteStatement {
            let column = CInt(truncatingIfNeeded: adaptedSource.adaptation.columns[index])
            if let result = Value.fromStatement(statement, atUncheckedIndex: column) { return result }
        }
        let value = value(atUncheckedIndex: index)
        if let result = Value.fromDatabaseValue(value) { return result }
        if let memoryError { throw memoryError }
        throw RowDecodingError.mismatch(
            name, value: shown(value), place: place(columnName: layout.names[index], columnIndex: index))
    }

    /// The value of the leftmost column; nil for NULL, unless the type has a value for NULL.
    @usableFromInline
    @inline(never)
    func decodeFirstSlowly<Value: DatabaseValueConvertible>(_ type: Value.Type) throws -> Value? {
        // The error names the requested type, not an optional of it.
        if let value = try decodeSlowly(Value?.self, atIndex: 0, as: type) { return value }
        return nil
    }

    @usableFromInline
    @inline(never)
    func missing<Value: DatabaseValueConvertible>(_ type: Value.Type, _ columnName: String) throws -> Value {
        if let value = Value.fromMissingColumn() { return value }
        throw RowDecodingError.columnNotFound(columnName, place: place())
    }

    /// Decodes for subscripts, which can't throw.
    @usableFromInline
    @inline(never)
    func decodeOrTrap<Value: DatabaseValueConvertible>(_ type: Value.Type, atIndex index: Int) -> Value {
        do {
            return try decodeSlowly(type, atIndex: index)
        } catch {
            trap("\(error)")
        }
    }

    /// Decodes a missing column for subscripts, which can't throw.
    @usableFromInline
    @inline(never)
    func missingOrTrap<Value: DatabaseValueConvertible>(_ type: Value.Type, _ columnName: String) -> Value {
        do {
            return try missing(type, columnName)
        } catch {
            trap("\(error)")
        }
    }

    /// A copy of the value at an index, which must be in the row.
    package func checkedValue(atIndex index: Int) -> DatabaseValue {
        guard 0..<count ~= index else {
            trap("\(RowDecodingError.indexOutOfRange(index, count: count, place: place()))")
        }
        return value(atUncheckedIndex: index)
    }

    var expiredError: DatabaseError {
        .misuse("The row's cursor has ended: copy() a row to keep it.")
    }

    /// SQLite's error, if it had no memory to convert a value: such a value looks like NULL.
    private var memoryError: (any Error)? {
        guard case .statement(let running) = unadapted.source,
            let database = running.statement.lifetime.database,
            ConnectionCalls.errorCode(database.pointer).primaryResultCode == .SQLITE_NOMEM
        else { return nil }
        return database.error(of: running.statement, ResultCode.SQLITE_NOMEM.rawValue)
    }

    func place(columnName: String? = nil, columnIndex: Int? = nil) -> RowDecodingError.Place {
        var place = RowDecodingError.Place(columnName: columnName, columnIndex: columnIndex, row: shown)
        if case .statement(let running) = unadapted.source {
            let statement = running.statement
            place.sql = statement.sql
            if statement.lifetime.database?.options.publicStatementArguments == true {
                place.arguments = statement.arguments
            }
        }
        return place
    }
}
