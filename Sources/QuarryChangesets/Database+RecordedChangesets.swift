public import QuarryCore

extension Database {
    /// Runs `body` in a savepoint, and returns the changes of rows that it has made.
    ///
    /// ```swift
    /// let recorded = try dbQueue.write { db in
    ///     try db.recordChangeset(of: ["player"]) {
    ///         try db.execute(sql: "UPDATE player SET score = score + 1")
    ///     }
    /// }
    /// send(recorded.changeset.bytes)
    /// ```
    ///
    /// The changeset has the net change of each row. Changes that were rolled back aren't in it; neither are changes of
    /// the schema, nor rows whose primary key has a NULL. Recordings nest. An error of `body` rolls the savepoint back.
    ///
    /// SQLite has one preupdate hook for a recording and for transaction observers, so the connection can't have both.
    /// Observations go on: for a request of some rows, the changes during a recording count as changes of all rows of
    /// their tables. See <https://www.sqlite.org/sessionintro.html>.
    ///
    /// - parameter tables: the tables whose changes are recorded; nil for all tables with a primary key, but not the
    ///   ones in which virtual tables store their content, nor, with an older SQLite, those whose key has a column of
    ///   type REAL.
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    /// - returns: the result of `body`, the changes, and the changed tables that couldn't be recorded.
    /// - throws: `SQLITE_MISUSE` for a table that can't be recorded, such as one without a primary key, and while a
    ///   `TransactionObserver` observes this connection; `SQLITE_SCHEMA` if `body` has altered a table that it changes;
    ///   an error that says so if this build of SQLite has no session extension; the error of `body`; other
    ///   `DatabaseError`s.
    public func recordChangeset<T>(
        of tables: [String]? = nil, schema: String = "main", _ body: () throws -> T
    ) throws -> RecordedChangeset<T> {
        try operationWillStart(writes: false)
        try checkSession(of: tables, schema: schema, forRecording: true)
        try checkSessionsMayNoteChanges()
        return try withSavepoint { () -> (TransactionCompletion, RecordedChangeset<T>) in
            return try withSessions(notingChanges: true) {
                let noted = SessionTables(tables)
                let session = try makeSession(schema: schema) { [unowned self] table in
                    noted.accepts(table, schema: schema, self)
                }
                let value = try body()
                let changeset = try makeChangeset(session)
                return (
                    .commit, RecordedChangeset(value: value, changeset: changeset, unrecordedTables: noted.omitted)
                )
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
            try withSessions(notingChanges: false) {
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
        try checkTransactionIsOpen()
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
