extension Database {
    // MARK: - Functions

    /// Adds a function to the connection, in place of one with the same name and number of arguments.
    ///
    /// ```swift
    /// config.prepareDatabase { db in
    ///     db.add(function: DatabaseFunction("reversed", argumentCount: 1, pure: true) { values in
    ///         String.fromDatabaseValue(values[0]).map { String($0.reversed()) }
    ///     })
    /// }
    /// ```
    ///
    /// This doesn't throw. If it fails, the current access throws when it ends: `SQLITE_MISUSE` for a wrong name or
    /// number of arguments, `SQLITE_BUSY` if statements run while a function is replaced. See
    /// <https://www.sqlite.org/c3ref/create_function.html>.
    public func add(function: DatabaseFunction) {
        failingAccess {
            let count = try checkedArgumentCount(of: function)
            try checkIsLocal("the function \(function.name) in Swift")
            let code = FunctionCalls.add(
                pointer, FunctionRegistration(name: function.name, body: function.body), argumentCount: count,
                isPure: function.isPure, options: function.options)
            try checkDefinition(code, "could not add function \(function.name)")
        }
    }

    /// Removes the function with the name and number of arguments of `function`.
    ///
    /// ```swift
    /// let reversed = DatabaseFunction("reversed", argumentCount: 1) { values in
    ///     String.fromDatabaseValue(values[0]).map { String($0.reversed()) }
    /// }
    /// db.add(function: reversed)
    /// db.remove(function: reversed)
    /// ```
    ///
    /// If it fails, the current access throws when it ends: `SQLITE_BUSY` while statements run.
    public func remove(function: DatabaseFunction) {
        failingAccess {
            let count = try checkedArgumentCount(of: function)
            let code = FunctionCalls.remove(pointer, name: function.name, argumentCount: count)
            try checkDefinition(code, "could not remove function \(function.name)")
        }
    }

    /// The number of arguments as SQLite counts it: -1 for any.
    private func checkedArgumentCount(of function: DatabaseFunction) throws -> CInt {
        try checkAccess()
        try checkDefinedName(function.name, of: "function")
        guard let count = function.argumentCount else { return -1 }
        let maximum = limit(.functionArgument)
        guard let value = CInt(exactly: count), 0...maximum ~= count else {
            throw DatabaseError.misuse("function \(function.name) can't have \(count) arguments, but 0 to \(maximum)")
        }
        return value
    }

    /// Throws for a name that breaks the rules at <https://www.sqlite.org/c3ref/create_function.html>.
    private func checkDefinedName(_ name: String, of kind: String) throws {
        guard 1...255 ~= name.utf8.count, !name.utf8.contains(0) else {
            throw DatabaseError.misuse(
                "the name of a \(kind) has 1 to 255 bytes of UTF-8 and no NUL: \(String(reflecting: name))")
        }
    }

    private func checkDefinition(_ code: CInt, _ message: @autoclosure () -> String) throws {
        guard code != ResultCode.SQLITE_OK.rawValue else { return }
        let message = message()
        throw DatabaseError(
            resultCode: ResultCode(rawValue: code), message: "\(message): \(ConnectionCalls.errorMessage(pointer))")
    }

    /// Adds functions and collations that the process never releases. SQLite needs no destructor for them: calling it
    /// would cost more than the rest.
    package func addForGood(_ functions: [DatabaseFunction], _ collations: [DatabaseCollation]) {
        failingAccess {
            try checkAccess()
            for function in functions {
                try checkDefinition(
                    FunctionCalls.addForGood(pointer, function), "could not add function \(function.name)")
            }
            for collation in collations {
                try checkDefinition(
                    FunctionCalls.addForGood(pointer, collation), "could not add collation \(collation.name)")
            }
        }
    }

    // MARK: - Collations

    /// Adds a collation to the connection, in place of one with the same name.
    ///
    /// ```swift
    /// config.prepareDatabase { db in
    ///     db.add(collation: DatabaseCollation("byLength") { lhs, rhs in lhs.count - rhs.count })
    /// }
    /// ```
    ///
    /// This doesn't throw. If it fails, the current access throws when it ends: `SQLITE_MISUSE` for a wrong name,
    /// `SQLITE_BUSY` if statements run while a collation is replaced. See
    /// <https://www.sqlite.org/c3ref/create_collation.html>.
    public func add(collation: DatabaseCollation) {
        failingAccess {
            try checkAccess()
            try checkDefinedName(collation.name, of: "collation")
            try checkIsLocal("the collation \(collation.name) in Swift")
            let registration = CollationRegistration(collation, database: self)
            try checkDefinition(
                FunctionCalls.add(pointer, registration), "could not add collation \(collation.name)")
        }
    }

    /// Removes the collation with the name of `collation`.
    ///
    /// ```swift
    /// let byLength = DatabaseCollation("byLength") { lhs, rhs in lhs.count - rhs.count }
    /// db.add(collation: byLength)
    /// db.remove(collation: byLength)
    /// ```
    ///
    /// If it fails, the current access throws when it ends: `SQLITE_BUSY` while statements run.
    public func remove(collation: DatabaseCollation) {
        failingAccess {
            try checkAccess()
            try checkDefinedName(collation.name, of: "collation")
            try checkDefinition(
                FunctionCalls.removeCollation(pointer, name: collation.name),
                "could not remove collation \(collation.name)")
        }
    }

    /// Rebuilds every index that uses a collation, after the collation's order has changed.
    ///
    /// ```sql
    /// REINDEX "byLength"
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_reindex.html>.
    ///
    /// - throws: `DatabaseError`: "unable to identify the object to be reindexed" for an unknown collation.
    public func reindex(collation: DatabaseCollation) throws {
        try execute(sql: "REINDEX \(collation.name.quotedDatabaseIdentifier)")
    }
}
