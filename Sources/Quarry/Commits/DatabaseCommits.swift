import QuarryCore

/// The commits of a database, as a sequence.
///
/// ```swift
/// for await commit in dbPool.commits {
///     print(commit.number, commit.changes) // 1 player(*)
/// }
/// ```
///
/// Each iterator reads all commits that happen after it was made, in order. It keeps the database open as long as it
/// exists. The sequence ends when the database is closed, and in a cancelled task.
public struct DatabaseCommits: AsyncSequence, Sendable {
    public typealias Element = DatabaseCommit

    /// Nil for a type of another module: it has no commits.
    let database: (any GroupReader)?
    let keys: Bool
    let limit: Int

    /// Starts to read commits: those of writes that begin after this call.
    ///
    /// A write that is running meanwhile may come as a commit that may have changed anything.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: database.map { CommitReader($0, keys: keys, limit: limit) })
    }

    /// An iterator, which reads commits until it is released.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: CommitReader?

        /// Commits that were taken with one before, the last first.
        private var taken: [DatabaseCommit] = []

        fileprivate init(reader: CommitReader?) { self.reader = reader }

        /// The next commit; nil when the database is closed, and in a cancelled task.
        public mutating func next() async -> DatabaseCommit? { await next(isolation: nil) }

        /// The next commit; nil when the database is closed, and in a cancelled task.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> DatabaseCommit? {
            guard let reader, !Task.isCancelled else { return nil }
            if taken.isEmpty { taken = reader.nextFew().reversed() }
            if let commit = taken.popLast() { return commit }
            return await reader.next(isolation: actor)
        }
    }
}

/// A reader of a journal, registered as long as it exists.
final class CommitReader: Sendable {
    /// Keeps the database open.
    let database: any GroupReader
    let journal: CommitJournal
    let id: CommitLog.ReaderID
    private let keys: Bool

    init(_ database: any GroupReader, keys: Bool, limit: Int) {
        self.database = database
        self.keys = keys
        journal = database.core.journal
        id = journal.addReader(of: database, keys: keys, limit: limit)
        if database.isClosed { journal.databaseDidClose(database) }
    }

    deinit { journal.removeReader(id, keys: keys) }

    func nextFew() -> [DatabaseCommit] { journal.nextFew(id) }

    func next(isolation actor: isolated (any Actor)? = #isolation) async -> DatabaseCommit? {
        await journal.next(id)
    }
}

extension GroupReader {
    var isClosed: Bool { groups.contains { $0.isClosed } }
}
