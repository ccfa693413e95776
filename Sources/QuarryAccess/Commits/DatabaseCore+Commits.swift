import QuarryCore

extension DatabaseCore {
    /// The commits of the database.
    package var journal: CommitJournal { part(CommitJournal.self) { CommitJournal(self) } }

    /// The commits of the database; nil as long as they aren't used.
    package var journalIfMade: CommitJournal? { part(CommitJournal.self) }

    /// Keeps the numbers of commits in the file, if the configuration asks for it.
    ///
    /// - parameter database: the connection that writes.
    func storeCommitNumbers(_ database: Database, followsTask: Bool) throws {
        guard database.options.storesCommitNumbers else { return }
        let number = try AccessRunner.frame(database, nil, followsTask: followsTask) { db in
            if !db.configuration.readonly { try db.storeCommitNumbers() }
            return db.configuredCommitNumber
        }
        journal.storeNumbers(from: number ?? 0)
    }
}
