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

        /// The commits that were taken last. Readers that have read equally far share the list, so it isn't changed.
        private var taken: [DatabaseCommit] = []
        /// The number of those that were returned.
        private var returnedCount = 0

        fileprivate init(reader: CommitReader?) { self.reader = reader }

        /// The next commit; nil when the database is closed, and in a cancelled task.
        public mutating func next() async -> DatabaseCommit? {
            if returnedCount == taken.count { await take(isolation: nil) }
            return nextTaken()
        }

        /// The next commit; nil when the database is closed, and in a cancelled task.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> DatabaseCommit? {
            if returnedCount == taken.count { await take(isolation: actor) }
            return nextTaken()
        }

        /// Takes the next commits, and waits for them if there are none.
        private mutating func take(isolation actor: isolated (any Actor)?) async {
            guard let reader, !Task.isCancelled else { return }
            taken = reader.nextFew()
            if taken.isEmpty { taken = await reader.waitForNextFew(isolation: actor) }
            returnedCount = 0
        }

        private mutating func nextTaken() -> DatabaseCommit? {
            guard returnedCount < taken.count, !Task.isCancelled else { return nil }
            let commit = taken[returnedCount]
            returnedCount += 1
            // A reader that waits keeps no commits.
            if returnedCount == taken.count { (taken, returnedCount) = ([], 0) }
            return commit
        }
    }
}

/// A reader of a journal, registered as long as it exists.
package final class CommitReader: Sendable {
    /// Keeps the database open.
    let database: any GroupReader
    package let journal: CommitJournal
    package let id: CommitLog.ReaderID
    private let keys: Bool

    package init(_ database: any GroupReader, keys: Bool, limit: Int) {
        self.database = database
        self.keys = keys
        journal = database.core.journal
        id = journal.addReader(of: database, keys: keys, limit: limit)
        if database.isClosed { journal.databaseDidClose(database) }
    }

    deinit { journal.removeReader(id, keys: keys) }

    func nextFew() -> [DatabaseCommit] { journal.nextFew(id) }

    /// Waits for the next commits.
    ///
    /// - returns: an empty array at the end, and in a cancelled task.
    func waitForNextFew(isolation actor: isolated (any Actor)? = #isolation) async -> [DatabaseCommit] {
        await journal.waitForNextFew(id)
    }
}

extension GroupReader {
    var isClosed: Bool { groups.contains { $0.isClosed } }

    /// Whether it is closed, or a snapshot whose pool is.
    var learnsOfNoCommit: Bool {
        if isClosed || self is any GroupWriter { return isClosed }
        return core.runners?.writer.group.isClosed ?? true
    }
}
