/// The number of a commit: the first that a database object counts has number 1, and each has one more than the one
/// before.
///
/// ```swift
/// let (_, number) = try await dbPool.writeWithCommitNumber { db in try player.insert(db) }
/// try await statistics.advance(to: number)
/// ```
///
/// A state of the database has the number of the last commit that it contains. A transaction that changes nothing, or
/// is rolled back, has no number. Counting begins with the first use of numbers on a queue or pool: commits before it
/// have none. Numbers belong to the queue or pool that has counted them: another one, another process, and the same
/// program after a restart count anew.
public struct CommitNumber: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    /// The number as an integer; 0 before the first commit.
    public let rawValue: Int

    /// The number with an integer.
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension CommitNumber: CustomStringConvertible {
    /// The integer.
    public var description: String { String(rawValue) }
}
