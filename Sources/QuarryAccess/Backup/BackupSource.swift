import QuarryCore

/// The file of a queue's connection.
enum QueueFile {
    /// A database in memory, or a temporary one.
    case none
    /// In WAL mode, which lets another connection read while this one writes.
    case wal
    case otherJournal

    init(_ db: Database) throws {
        guard db.mainFilePath != nil else {
            self = .none
            return
        }
        let isShared = try String.fetchOne(db, sql: "PRAGMA main.locking_mode")?.lowercased() != "exclusive"
        self = try isShared && db.journalMode() == .wal ? .wal : .otherJournal
    }
}

extension DatabaseSnapshot {
    /// Pins the last commit for a backup.
    ///
    /// - parameter path: the path of the copy.
    /// - returns: also the number of that commit, if commits are counted.
    static func forBackup(
        of database: any GroupWriter, _ path: String, _ workers: WorkerThreads, followsTask: Bool
    ) throws -> (DatabaseSnapshot, CommitNumber?) {
        let connections = try database.openConnections(count: 1, followsTask: followsTask)
        var number: CommitNumber?
        if let journal = database.core.journalIfMade, journal.countsAll {
            number = try database.pinExactly(connections, journal, followsTask: followsTask).commitNumber
        } else {
            _ = try database.pinAlike(connections, followsTask: followsTask)
        }
        let snapshot = DatabaseSnapshot(
            of: database, connection: connections[0], workers: workers, kind: .backup, label: path)
        return (snapshot, number)
    }
}

extension GroupReader {
    /// The number of the state that a connection of this database sees; nil if commits aren't counted.
    func countedCommitNumber(_ db: Database) -> CommitNumber? {
        if let reader = self as? StableReader { return reader.commitNumber }
        if db.options.storesCommitNumbers { return db.configuredCommitNumber.map { CommitNumber(rawValue: $0) } }
        // The state of a snapshot is older than the last commit.
        guard self is any GroupWriter, let journal = core.journalIfMade, journal.countsAll else { return nil }
        return journal.commitNumber
    }
}
