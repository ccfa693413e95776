/// The number of a commit: higher by one than that of the commit before.
///
/// ```swift
/// let (_, number) = try await dbPool.writeWithCommitNumber { db in try player.insert(db) }
/// try await statistics.advance(to: number)
/// ```
///
/// A state of the database has the number of the last commit that it contains. A transaction that changes nothing, or
/// is rolled back, has no number.
///
/// By default the numbers belong to the queue or pool that has counted them. The first use of numbers begins to count,
/// from 1; another queue or pool, another process, and the same program after a restart count anew. With
/// `CommitNumbers.stored` they belong to the file.
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
