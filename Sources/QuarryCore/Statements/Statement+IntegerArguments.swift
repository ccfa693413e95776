extension Statement {
    /// Runs to the end with integers as positional arguments.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO score (playerId, points) VALUES (?, ?)")
    /// try statement.execute(arguments: [playerId, 10])
    /// ```
    ///
    /// It does what `execute(arguments:)` does with `StatementArguments`, in less time: the integers are bound from
    /// the array.
    ///
    /// - parameter arguments: one for each parameter.
    /// - throws: `DatabaseError`; `CancellationError` in a task that is cancelled.
    @inlinable
    public func execute<Value: SQLInteger>(arguments: [Value]) throws {
        guard Value.isSigned, MemoryLayout<Value>.size == MemoryLayout<Int64>.size else {
            return try execute(arguments: StatementArguments(arguments))
        }
        try arguments.withUnsafeBytes { try execute(integers: $0.assumingMemoryBound(to: Int64.self)) }
    }

    @usableFromInline
    func execute(integers: UnsafeBufferPointer<Int64>) throws {
        guard integers.count == parameterCount else { return try execute(arguments: StatementArguments(integers)) }
        let database = try startExecution(isTracked: false)
        integerArguments.removeAll(keepingCapacity: true)
        integerArguments.append(contentsOf: integers)
        hasIntegerArguments = true
        boundValues = nil
        isBound = false
        for index in integers.indices {
            let code = StatementBindings.bind(integers[index], to: sqliteStatement, at: CInt(index + 1))
            if code != 0 {
                stopExecution(database)
                throw bindingError(code, integers[index].databaseValue, index)
            }
        }
        isBound = true
        try run(database)
    }
}
