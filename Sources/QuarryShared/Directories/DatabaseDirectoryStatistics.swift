public import Quarry
import QuarryCore

/// Counts of the work of a directory's databases, and their state.
///
/// ```swift
/// let statistics = tenants.statistics
/// print(statistics.openCount, statistics.waitingCount, statistics.total.transactions.committed)
/// ```
public struct DatabaseDirectoryStatistics: Sendable, Hashable {
    /// The number of databases that have a place, open or about to be.
    public internal(set) var openCount = 0
    /// The number of databases that are being closed, to give their places to others.
    public internal(set) var closingCount = 0
    /// The number of databases whose accesses wait for a place.
    public internal(set) var waitingCount = 0
    /// The number of places: `maximumOpenCount`.
    public internal(set) var limit = 0
    /// The number of times that a database has got a place.
    public internal(set) var openedCount = 0
    /// The number of times that a database was closed to give its place to another.
    public internal(set) var evictedCount = 0
    /// The counts of all databases, also of those that were released, and the sums of their states.
    public internal(set) var total = DatabaseStatistics()
    /// The counts of each database that the program has, or that is open, by its name.
    public internal(set) var databases: [String: DatabaseStatistics] = [:]
}
