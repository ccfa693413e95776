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

    /// A write of a commit.
    ///
    /// ```swift
    /// for await commit in dbPool.commits where commit.writes.contains(where: { $0.origin != "import" }) {
    ///     cache.removeAll()
    /// }
    /// ```
    public struct Write: Sendable {
        /// The value of `Database.commitOrigin` in the write.
        public let origin: String?
        /// The value of `Database.commitUserInfo` in the write.
        public let userInfo: (any Sendable)?
    }

    /// All that is known of a commit. One object, so that a copy for each of a hundred readers retains nothing else.
    private final class Content: Sendable {
        let number: CommitNumber
        let changes: DatabaseChanges
        let origin: String?
        let userInfo: (any Sendable)?
        let sharers: [Write]
        let source: Source

        init(_ number: CommitNumber, _ changes: DatabaseChanges, _ note: CommitNote?, _ source: Source) {
            self.number = number
            self.changes = changes
            origin = note?.origin
            userInfo = note?.userInfo
            sharers = note?.parts.map { Write(origin: $0.origin, userInfo: $0.userInfo) } ?? []
            self.source = source
        }
    }

    private let content: Content

    /// The number of the commit; that of the last one, if `source` is `missed`.
    public var number: CommitNumber { content.number }

    /// The tables and keys that have changed.
    public var changes: DatabaseChanges { content.changes }

    /// The value of `Database.commitOrigin` in the transaction; nil if several writes share the commit.
    public var origin: String? { content.origin }

    /// The value of `Database.commitUserInfo` in the transaction; nil if several writes share the commit.
    public var userInfo: (any Sendable)? { content.userInfo }

    /// The writes that share the commit, in their order, each with its origin; one, unless
    /// `Configuration.groupCommit` is set.
    public var writes: [Write] {
        content.sharers.isEmpty ? [Write(origin: content.origin, userInfo: content.userInfo)] : content.sharers
    }

    /// The source of the commit.
    public var source: Source { content.source }

    init(_ number: CommitNumber, _ changes: DatabaseChanges, _ note: CommitNote? = nil, _ source: Source = .database) {
        content = Content(number, changes, note, source)
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
