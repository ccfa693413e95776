extension Statement {
    /// The arguments of the next executions.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT name FROM player WHERE id = ?")
    /// statement.arguments = [1]
    /// let name = try String.fetchOne(statement)
    /// ```
    ///
    /// Setting arguments that don't fit the statement doesn't throw: the execution does. Use `setArguments` to find out
    /// immediately.
    public var arguments: StatementArguments {
        get {
            guard case .integers(let named) = bound.form else { return bound.given }
            return bound.integers.arguments(of: self, named: named)
        }
        set { bound.give(newValue) }
    }

    /// Checks that the arguments have a value for each parameter, and that none is left over.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT ?, ?")
    /// try statement.validateArguments([1]) // wrong number of statement arguments: 1
    /// ```
    /// - throws: `SQLITE_MISUSE` if a value is missing or left over.
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try values(of: arguments)
    }

    /// Sets the arguments of the next executions.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (?)")
    /// for name in ["Arthur", "Barbara"] {
    ///     try statement.setArguments([name])
    ///     try statement.execute()
    /// }
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` if a parameter has no value, or if an argument is left over.
    public func setArguments(_ arguments: StatementArguments) throws {
        if arguments.isPositional, arguments.values.count == parameterCount {
            // The usual case: the arguments are the values already.
            self.arguments = arguments
            return
        }
        bound.give(arguments, values: try values(of: arguments))
    }

    private func values(of arguments: StatementArguments) throws(DatabaseError) -> [DatabaseValue] {
        // The usual case: all positional.
        if arguments.isPositional, arguments.values.count == parameterCount { return arguments.values }
        var cursor = ArgumentCursor(arguments)
        let values = try cursor.values(for: self)
        try cursor.finish(sql: sql)
        return values
    }

    /// Forgets the arguments, and SQLite's copies of them.
    func clearArguments() {
        guard parameterCount > 0 else { return }
        handle.clearBindings()
        bound.forget()
    }

    /// Runs the statement to the end, and keeps no arguments, even if the execution fails.
    func executeAndForget(_ arguments: StatementArguments) throws {
        defer { clearArguments() }
        try execute(arguments: arguments)
    }

    /// Binds copies of the values, which remain for any number of steps.
    func bindCopies() throws(DatabaseError) {
        if bound.areValues(parameterCount: parameterCount) {
            try bound.given.values.withUnsafeBufferPointer { values throws(DatabaseError) in
                try bindCopies(of: values)
            }
        } else {
            try checkedValues().withUnsafeBufferPointer { values throws(DatabaseError) in try bindCopies(of: values) }
        }
        bound.didBind()
    }

    @inline(__always)
    private func bindCopies(of values: UnsafeBufferPointer<DatabaseValue>) throws(DatabaseError) {
        for index in values.indices {
            let code =
                if case .int64(let integer) = values[index].content {
                    StatementBindings.bind(integer, to: sqliteStatement, at: CInt(index + 1))
                } else {
                    StatementBindings.bind(values[index], to: sqliteStatement, at: CInt(index + 1))
                }
            if code != 0 { throw bindingError(code, values[index], index) }
        }
    }

    /// The values of the arguments, which are checked first if necessary.
    func checkedValues() throws(DatabaseError) -> [DatabaseValue] {
        if bound.form == .checked { return bound.checkedValues }
        if bound.areValues(parameterCount: parameterCount) { return bound.given.values }
        let values = try values(of: arguments)
        if bound.form == .given { bound.check(values) }
        return values
    }

    @inline(never)
    func bindingError(_ code: CInt, _ value: DatabaseValue, _ index: Int) -> DatabaseError {
        bound.didNotBind()
        let parameter = parameterNames[index].map { ":\($0)" } ?? "\(index + 1)"
        let message =
            if case .unrepresentable(let value) = value.content {
                // The value is a number or a date, which an error may show.
                "could not bind \(value) to parameter \(parameter): \(value.reason)"
            } else {
                "could not bind parameter \(parameter): \(SQLiteLibrary.errorString(code))"
            }
        return DatabaseError(
            resultCode: ResultCode(rawValue: code), message: message, sql: sql, arguments: arguments,
            publicStatementArguments: lifetime.database?.options.publicStatementArguments ?? false)
    }
}
