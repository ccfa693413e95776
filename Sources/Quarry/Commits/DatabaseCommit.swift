import QuarryCore

/// A commit: its number, and what it has changed.
///
/// ```swift
/// for await commit in dbPool.commits {
///     if commit.changes.containsChange(in: "player") { cache.removeAll() }
/// }
/// ```
///
/// See `DatabaseWriter.commits` and `StableReader.advance()`.
public struct DatabaseCommit: Sendable {
    /// The source of a commit.
    public enum Source: Sendable, Hashable {
        /// A write of this queue or pool.
        case database
        /// Another process, or another queue or pool on the same file. Its changes aren't known.
        case other
        /// Several commits, of which no more is kept than their number: the reader of the commits was too slow.
        /// Anything may have changed: fetch again.
        case missed
    }

    /// The number of the commit; that of the last one, if `source` is `missed`.
    public let number: CommitNumber

    /// The tables and keys that have changed.
    public let changes: DatabaseChanges

    /// The value of `Database.commitOrigin` in the transaction.
    public let origin: String?

    /// The value of `Database.commitUserInfo` in the transaction.
    public let userInfo: (any Sendable)?

    /// The source of the commit.
    public let source: Source

    init(_ number: CommitNumber, _ changes: DatabaseChanges, _ note: CommitNote? = nil, _ source: Source = .database) {
        self.number = number
        self.changes = changes
        origin = note?.origin
        userInfo = note?.userInfo
        self.source = source
    }

    /// Commits that aren't kept.
    static func missed(upTo number: CommitNumber) -> DatabaseCommit { DatabaseCommit(number, .unknown, nil, .missed) }
}

extension Sequence<DatabaseCommit> {
    /// The changes of all commits together.
    ///
    /// ```swift
    /// let commits = try reader.advance()
    /// if commits.changes.containsChange(in: "player", key: 1) { … }
    /// ```
    public var changes: DatabaseChanges {
        reduce(into: DatabaseChanges()) { $0.add($1.changes) }
    }
}
