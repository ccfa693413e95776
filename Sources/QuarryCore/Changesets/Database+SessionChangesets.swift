extension Database {
    /// Runs `body` in a savepoint, and returns the changes that it has made.
    ///
    /// - returns: the result of `body`; the changes; the changed tables that the changeset can't have, if all tables
    ///   were asked for.
    package func recordingChangeset<T>(
        of tables: [String]?, schema: String, _ body: () throws -> T
    ) throws -> (value: T, changeset: Changeset, omittedTables: [String]) {
        try operationWillStart(writes: false)
        try checkSession(of: tables, schema: schema, forRecording: true)
        guard changeMonitor?.observers.hasObserver != true else {
            throw DatabaseError.misuse(
                """
                no changeset can be made while a transaction observer observes the connection: \
                SQLite has one preupdate hook for both
                """)
        }
        return try withSavepoint {
            () -> (TransactionCompletion, (value: T, changeset: Changeset, omittedTables: [String])) in
            changeMonitor?.sessionsWillBegin()
            return try hooks.withSessions {
                let noted = SessionTables(tables)
                let session = try makeSession(schema: schema) { [unowned self] table in
                    noted.accepts(table, schema: schema, self)
                }
                // A `DELETE` that was prepared before may delete all rows at once, and tell none.
                hooks.expireStatementsUncounted()
                let value = try body()
                let changeset = try makeChangeset(session)
                return (.commit, (value, changeset, noted.omitted))
            }
        }
    }

    /// The changes that would turn the tables of one schema into those of another.
    ///
    /// ```swift
    /// try db.attachDatabase(at: "/data/yesterday.sqlite", as: "yesterday")
    /// let changeset = try db.changeset(from: "yesterday", to: "main", tables: ["player", "team"])
    /// ```
    ///
    /// The tables must have the same columns and the same primary key. See
    /// <https://www.sqlite.org/session/sqlite3session_diff.html>.
    ///
    /// - parameter oldSchema: `main`, `temp`, or the name of an attached database.
    /// - parameter newSchema: `main`, `temp`, or the name of an attached database.
    /// - parameter tables: names of tables that both schemas have.
    /// - throws: `SQLITE_MISUSE` for a table that can't be compared, such as one without a primary key; `SQLITE_SCHEMA`
    ///   for tables with different columns; an error that says so if this build of SQLite has no session extension;
    ///   other `DatabaseError`s.
    public func changeset(
        from oldSchema: String, to newSchema: String = "main", tables: [String]
    ) throws -> Changeset {
        try operationWillStart(writes: false)
        guard !oldSchema.isSameName(as: newSchema) else {
            throw DatabaseError.misuse("a schema can't be compared with itself: \(oldSchema)")
        }
        try checkSession(of: tables, schema: newSchema, forRecording: false)
        try checkSession(of: tables, schema: oldSchema, forRecording: false)
        return try withSavepoint { () -> (TransactionCompletion, Changeset) in
            try hooks.withSessions {
                let session = try makeSession(schema: newSchema) { _ in true }
                for table in tables {
                    let (code, message) = withOwnStatements { session.addDifference(from: oldSchema, table: table) }
                    guard code != ResultCode.SQLITE_OK.rawValue else { continue }
                    let operation = "could not compare \(oldSchema).\(table) with \(newSchema).\(table)"
                    guard let message else { throw error(code, operation: operation) }
                    throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "\(operation): \(message)")
                }
                return (.commit, try makeChangeset(session))
            }
        }
    }

    /// Throws unless a session can note the changes of these tables.
    private func checkSession(of tables: [String]?, schema: String, forRecording: Bool) throws {
        try ChangesetCalls.checkAvailable()
        try checkName(schema, of: "schema")
        // `temp` is made by its first table.
        guard ConnectionCalls.hasSchema(pointer, schema) || schema.isSameName(as: "temp") else {
            throw DatabaseError(message: "could not make a changeset: there is no schema \(schema)")
        }
        for table in tables ?? [] {
            try checkName(table, of: "table")
            let facts: (obstacle: SessionTables.Obstacle?, isShadow: Bool)
            do {
                facts = try sessionFacts(ofTable: table, schema: schema, forRecording: forRecording)
            } catch {
                throw self.error(error.code, operation: "could not make a changeset")
            }
            if let obstacle = facts.obstacle {
                throw DatabaseError.misuse(
                    "no changeset can be made of \(schema).\(table): \(obstacle.description)")
            }
        }
    }

    private func makeSession(
        schema: String, _ acceptsTable: @escaping (String) -> Bool
    ) throws -> SessionHandle {
        switch SessionHandle.begin(pointer, schema: schema, SessionHandle.TableFilter(acceptsTable)) {
        case .session(let session): return session
        case .failure(let code): throw error(code, operation: "could not make a changeset")
        }
    }

    /// The changes that a session has noted.
    private func makeChangeset(_ session: borrowing SessionHandle) throws -> Changeset {
        // SQLite would begin a transaction for its queries.
        if transaction.isAborted(isAutocommit: ConnectionCalls.isAutocommit(pointer)) {
            throw abortedTransactionError()
        }
        let (code, bytes) = withOwnStatements { session.changeset() }
        guard code != ResultCode.SQLITE_SCHEMA.rawValue else {
            throw DatabaseError(
                resultCode: .SQLITE_SCHEMA,
                message: "could not make a changeset: the columns of a changed table have changed meanwhile")
        }
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw error(code, operation: "could not make a changeset")
        }
        return Changeset(unchecked: bytes)
    }
}
