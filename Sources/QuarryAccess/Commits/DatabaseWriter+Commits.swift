public import QuarryCore

extension DatabaseWriter {
    /// The commits of this queue or pool, with the tables that they have changed.
    ///
    /// ```swift
    /// for await commit in dbPool.commits {
    ///     if commit.changes.containsChange(in: "player") { cache.removeAll() }
    /// }
    /// ```
    ///
    /// See `commits(keys:bufferingAtMost:)`.
    public var commits: DatabaseCommits { commits() }

    /// The commits of this queue or pool.
    ///
    /// ```swift
    /// for await commit in dbPool.commits(keys: true) {
    ///     for (key, change) in commit.changes.changedKeys(in: "player") ?? [:] { index.update(key, change) }
    /// }
    /// ```
    ///
    /// A read that begins after a commit was delivered sees the commit. Savepoints and transactions that were rolled
    /// back aren't in it. A commit that has changed nothing isn't delivered.
    ///
    /// - parameter keys: whether the commits have the changed keys. SQLite then calls back for each changed row, and
    ///   deletes all rows of a table one by one.
    /// - parameter limit: the number of commits that are kept for a slow loop. When there are more, the oldest are
    ///   replaced by one whose `source` is `missed`, which means: fetch again.
    public func commits(keys: Bool = false, bufferingAtMost limit: Int = 1_000) -> DatabaseCommits {
        DatabaseCommits(database: groupReader, keys: keys, limit: limit)
    }

    /// Writes in a transaction, on this thread, and returns the number of the commit.
    ///
    /// ```swift
    /// let (player, number) = try dbPool.writeWithCommitNumber { db in try player.inserted(db) }
    /// ```
    ///
    /// - returns: the value of `updates`, and the number of the state after the transaction: a state with this number,
    ///   or a higher one, has the changes. If nothing was changed, it is the number of the state that was read.
    /// - throws: the errors of `write`.
    public func writeWithCommitNumber<T>(
        _ updates: (Database) throws -> T
    ) throws -> (value: T, commitNumber: CommitNumber) {
        let database = try groupWriter()
        let journal = database.core.journal
        journal.startCounting(of: database)
        return try writeWithoutTransaction { db in
            let value = try db.withTransaction { (.commit, try updates(db)) }
            return (value, journal.commitNumber)
        }
    }

    /// As the synchronous `writeWithCommitNumber`; waiting suspends the task.
    ///
    /// - throws: the errors of `write`.
    public func writeWithCommitNumber<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> (value: T, commitNumber: CommitNumber) {
        let database = try groupWriter()
        let journal = database.core.journal
        journal.startCounting(of: database)
        return try await writeWithoutTransaction { db in
            let value = try db.withTransaction { (.commit, try updates(db)) }
            return (value, journal.commitNumber)
        }
    }

    /// The queue or pool.
    package func groupWriter() throws -> any GroupWriter {
        guard let writer = groupReader as? any GroupWriter else {
            throw DatabaseError.misuse("this writer is neither a DatabaseQueue nor a DatabasePool")
        }
        return writer
    }
}

extension DatabaseReader {
    /// The number of the last commit: reads that begin now see it.
    ///
    /// ```swift
    /// let number = dbPool.lastCommitNumber
    /// ```
    ///
    /// The first call begins to count: see `CommitNumber`.
    public var lastCommitNumber: CommitNumber {
        guard let database = groupReader else { return CommitNumber(rawValue: 0) }
        let journal = database.core.journal
        journal.startCounting(of: database)
        return journal.commitNumber
    }

    /// Waits until a commit has happened: reads that begin afterwards see it.
    ///
    /// ```swift
    /// try await dbPool.waitForCommit(number)
    /// ```
    ///
    /// - throws: `CancellationError`; `SQLITE_MISUSE` if the database is closed before.
    public func waitForCommit(_ number: CommitNumber) async throws {
        guard let database = groupReader else { return }
        let journal = database.core.journal
        journal.startCounting(of: database)
        try await journal.wait(for: number, of: database)
    }
}

extension Database {
    /// A label for the commit that the open transaction will make: which part of the program writes, for example.
    ///
    /// ```swift
    /// try dbPool.write { db in
    ///     db.commitOrigin = "import"
    ///     try player.insert(db)
    /// }
    /// ```
    ///
    /// It is forgotten at the end of the transaction. See `DatabaseCommit.origin`.
    public var commitOrigin: String? {
        get { commitNote?.origin }
        set { changeCommitNote { $0.origin = newValue } }
    }

    /// A value for those who read the commit that the open transaction will make.
    ///
    /// ```swift
    /// try dbPool.write { db in
    ///     db.commitUserInfo = request.id
    ///     try player.insert(db)
    /// }
    /// ```
    ///
    /// It is forgotten at the end of the transaction. See `DatabaseCommit.userInfo`.
    public var commitUserInfo: (any Sendable)? {
        get { commitNote?.userInfo }
        set { changeCommitNote { $0.userInfo = newValue } }
    }

    private func changeCommitNote(_ change: (inout CommitNote) -> Void) {
        if commitNote == nil {
            commitNote = CommitNote()
            afterNextTransaction {
                $0.commitNote = nil
            } onRollback: {
                $0.commitNote = nil
            }
        }
        change(&commitNote!)
    }
}
