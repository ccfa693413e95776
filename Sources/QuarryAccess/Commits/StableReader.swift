import QuarryCore
import Synchronization

/// A reader that sees one state of the database until it is told to advance, and then says what has changed.
///
/// ```swift
/// let reader = try dbPool.makeStableReader()
/// let page = try reader.read { db in try Player.limit(20).fetchAll(db) }
/// …
/// let commits = try reader.advance()
/// if commits.changes.containsChange(in: "player") { … }
/// ```
///
/// All reads between two calls of `advance` see the same state, whatever is written. `advance` returns the commits
/// between the two states: each of them once, in order.
///
/// A stable reader has one connection; its reads run one after another. Like a snapshot, it keeps a checkpoint from
/// moving the whole log into the database: <https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files>.
/// Closing it, or releasing it, ends that. Closing its pool doesn't: reads go on to see their state, and `advance`
/// throws.
public final class StableReader: PinnedReader {
    let connections: PinnedConnections
    private let commits: CommitReader
    private let number: Atomic<Int>
    /// The data version of the connection's read; -1 before it is known.
    private let version = Atomic<Int>(-1)

    fileprivate init(
        _ pool: DatabasePool, _ connection: ConnectionGroup.Connection, _ workers: WorkerThreads,
        _ commits: CommitReader, _ state: PinnedState, label: String
    ) {
        connections = PinnedConnections("a stable reader of", .stableReader, label, of: pool, [connection], workers)
        self.commits = commits
        number = Atomic(state.commitNumber.rawValue)
        commits.journal.skip(commits.id, to: state.number)
    }

    /// The number of the last commit that reads see.
    public var commitNumber: CommitNumber { CommitNumber(rawValue: number.load(ordering: .acquiring)) }

    /// Moves to the newest state, once running reads of this reader have ended.
    ///
    /// ```swift
    /// for commit in try reader.advance() { print(commit.number, commit.changes) }
    /// ```
    ///
    /// It waits for no write, except for a commit that is just becoming visible. Commits of other processes, and of
    /// other queues and pools on the same file, are returned as one whose `source` is `other`. If the pool's connection
    /// that writes stays in use without a transaction for 100 milliseconds, such a commit is returned if there may have
    /// been one.
    ///
    /// - returns: the commits since the previous state, in order; none if there were none. If there were more than are
    ///   kept, the first element replaces the oldest, and its `source` is `missed`.
    /// - throws: `DatabaseError`, for example `SQLITE_MISUSE` after closing the reader or its pool, or inside a read of
    ///   this reader. After an error of SQLite, reads throw `SQLITE_ABORT` until a call succeeds.
    @discardableResult
    public func advance() throws -> [DatabaseCommit] {
        try readers.perform(AccessRequest(.bare)) { db in try self.move(db) }
    }

    /// As the synchronous `advance`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `advance`; `CancellationError`.
    @discardableResult
    public func advance() async throws -> [DatabaseCommit] {
        try await readers.perform(AccessRequest(.bare, .offloaded)) { db in try self.move(db) }
    }

    /// Waits until a commit has happened, and advances to a state that has it: a task reads what another has written.
    ///
    /// ```swift
    /// let (_, number) = try await dbPool.writeWithCommitNumber { db in try player.insert(db) }
    /// try await reader.advance(to: number)
    /// ```
    ///
    /// - returns: the commits since the previous state; none if that had the commit.
    /// - throws: the errors of `advance`; `CancellationError`; `SQLITE_MISUSE` if the reader or its pool is closed
    ///   before.
    @discardableResult
    public func advance(to number: CommitNumber) async throws -> [DatabaseCommit] {
        guard commitNumber < number else { return [] }
        try await commits.journal.wait(for: number, of: self)
        return try await advance()
    }

    private func move(_ db: Database) throws -> [DatabaseCommit] {
        // A closed pool has no commits to tell.
        if learnsOfNoCommit { throw DatabaseError.connectionIsClosed(readers.group.name) }
        // SQL may have ended the transaction: then the state is lost already.
        try? db.finishRead {}
        let journal = commits.journal
        let lastVersion = version.load(ordering: .relaxed)
        var newVersion = -1
        var others = OtherCommitsOfReader(pool: commits.database as? DatabasePool)
        let number = try journal.pinExactly {
            try db.beginRead(pinned: true)
            newVersion = db.pinnedDataVersion(schema: "main").map { Int($0) } ?? -1
        } end: {
            try db.finishRead {}
        } noteOthers: {
            // The state hasn't changed, so it has no commit of others.
            if newVersion < 0 || newVersion != lastVersion { others.note(db) }
        }
        version.store(newVersion, ordering: .relaxed)
        let commitNumber = journal.commitNumber(ofState: number, db)
        let passed = journal.takeAll(commits.id, upTo: number, as: commitNumber)
        self.number.store(commitNumber.rawValue, ordering: .releasing)
        connections.didAdvance()
        return passed
    }
}

/// The state that connections see.
struct PinnedState {
    /// The number of its last commit, in the order in which they are told.
    let number: Int
    /// The number that the program is told.
    let commitNumber: CommitNumber
}

/// Tells of the commits of other connections that the state of a reader may have.
private struct OtherCommitsOfReader {
    let pool: DatabasePool?
    private var hasGuessed = false

    init(pool: DatabasePool?) { self.pool = pool }

    /// The connection that writes looks, if it is idle. If it writes, it has looked, and nothing was committed since.
    /// If it stays in use without a transaction, other connections may have committed.
    ///
    /// - parameter db: the reader's connection.
    mutating func note(_ db: Database) {
        guard let pool, let watch = pool.core.journal.watch, !hasGuessed else { return }
        let deadline = pool.core.journal.settlingDeadline
        repeat {
            if watch.isWriting || Self.look(pool) { return }
            // A write is about to begin, or to return.
            db.clock.sleep(nanoseconds: 50_000)
        } while db.clock.now < deadline
        hasGuessed = true
        pool.core.journal.otherConnectionDidCommit(number: db.configuredCommitNumber)
    }

    /// - returns: whether the connection could be asked.
    private static func look(_ pool: DatabasePool) -> Bool {
        guard let lease = pool.writer.group.leaseAtOnce() else { return false }
        return pool.writer.group.use(lease) { db in
            (try? AccessRunner.frame(db, nil) { db in db.noteOtherCommits() != nil }) ?? false
        }
    }
}

extension DatabasePool {
    /// Makes a reader that sees the last commit before this call, until it is told to advance.
    ///
    /// ```swift
    /// let reader = try dbPool.makeStableReader()
    /// ```
    ///
    /// Making it waits for no write, except for a commit that is just becoming visible. It opens a connection.
    ///
    /// - parameter keys: whether the commits that `advance` returns have the changed keys. SQLite then calls back for
    ///   each changed row. The keys of a write that has begun before this call aren't known: its commit counts as a
    ///   change of everything.
    /// - parameter limit: the number of commits that are kept for the reader.
    /// - parameter label: names the reader in reports of readers that hold the log back; by default the place of the
    ///   call.
    /// - throws: `SQLITE_MISUSE` inside a transaction of this pool's writer; `DatabaseError` if no connection can be
    ///   opened.
    public func makeStableReader(
        keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> StableReader {
        try makeStableReaders(
            count: 1, keys: keys, bufferingAtMost: limit, label: label ?? "\(fileID):\(line)")[0]
    }

    /// As `makeStableReader`; opening the connection holds none of Swift's threads.
    ///
    /// ```swift
    /// let reader = try await dbPool.makeStableReader()
    /// ```
    ///
    /// - throws: the errors of `makeStableReader`; `CancellationError`.
    public func makeStableReader(
        keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> StableReader {
        let workers = WorkerThreads(connectionCount: 1)
        let commits = CommitReader(self, keys: keys, limit: limit)
        let (connections, state) = try await workers.opening {
            let connections = try self.openConnections(count: 1, followsTask: true)
            return (connections, try self.pinExactly(connections, commits.journal, followsTask: true))
        }
        return StableReader(
            self, connections[0], workers, commits, state, label: label ?? "\(fileID):\(line)")
    }

    /// Same as `makeStableReader`, its name until 0.2.0.
    @available(*, deprecated, renamed: "makeStableReader(keys:bufferingAtMost:label:fileID:line:)")
    public func makeStableReaderAsync(
        keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> StableReader {
        try await makeStableReader(
            keys: keys, bufferingAtMost: limit, label: label, fileID: fileID, line: line)
    }

    /// Makes several readers of the same state: the last commit before this call. Each advances by itself.
    ///
    /// ```swift
    /// let readers = try dbPool.makeStableReaders(count: 4)
    /// ```
    ///
    /// - throws: the errors of `makeStableReader`.
    public func makeStableReaders(
        count: Int, keys: Bool = false, bufferingAtMost limit: Int = 10_000, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> [StableReader] {
        guard count > 0 else { return [] }
        let readers = (0..<count).map { _ in CommitReader(self, keys: keys, limit: limit) }
        let connections = try openConnections(count: count)
        let state = try pinExactly(connections, readers[0].journal)
        return zip(connections, readers).map { connection, reader in
            StableReader(
                self, connection, WorkerThreads(connectionCount: 1), reader, state,
                label: label ?? "\(fileID):\(line)")
        }
    }
}

extension GroupWriter {
    /// Makes connections see the same commit.
    func pinExactly(
        _ connections: [ConnectionGroup.Connection], _ journal: CommitJournal, followsTask: Bool = false
    ) throws -> PinnedState {
        let number = try pinAtNumber(connections, journal, followsTask: followsTask)
        let db = connections[0].database
        try db.beginAccess(nil, followsTask: followsTask)
        defer { db.suspendAccess() }
        return PinnedState(number: number, commitNumber: journal.commitNumber(ofState: number, db))
    }

    /// - returns: the number of the commit, in the order in which they are told.
    private func pinAtNumber(
        _ connections: [ConnectionGroup.Connection], _ journal: CommitJournal, followsTask: Bool
    ) throws -> Int {
        var isAlike = false
        let number = try journal.pinExactly {
            isAlike = try pinAlike(connections, followsTask: followsTask)
        } end: {
        }
        if isAlike { return number }
        try checkMayLock()
        return try writer.performReentrant(writeRequest) { db in
            try pin(connections, locking: db)
            return journal.number
        }
    }
}
