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

extension DatabaseStatistics {
    /// Adds the counts and states of another database. The oldest reader is that of both.
    mutating func merge(_ other: DatabaseStatistics) {
        mergeCounts(other)
        writer.mergeState(other.writer)
        readers.mergeState(other.readers)
        pageCache.bytes += other.pageCache.bytes
        pageCache.schemaBytes += other.pageCache.schemaBytes
        pageCache.statementBytes += other.pageCache.statementBytes
        logBytes += other.logBytes
        oldestReaderAge = [oldestReaderAge, other.oldestReaderAge].compactMap(\.self).max()
    }

    /// Adds the counts of another database, but not its state.
    mutating func mergeCounts(_ other: DatabaseStatistics) {
        writer.mergeCounts(other.writer)
        readers.mergeCounts(other.readers)
        transactions.committed += other.transactions.committed
        transactions.rolledBack += other.transactions.rolledBack
        transactions.failed += other.transactions.failed
        statements.prepared += other.statements.prepared
        statements.foundInCache += other.statements.foundInCache
        statements.run += other.statements.run
        pageCache.hitCount += other.pageCache.hitCount
        pageCache.missCount += other.pageCache.missCount
        pageCache.writeCount += other.pageCache.writeCount
        pageCache.spillCount += other.pageCache.spillCount
        busyRetryCount += other.busyRetryCount
    }
}

extension DatabaseStatistics.Connections {
    fileprivate mutating func mergeCounts(_ other: Self) {
        accessCount += other.accessCount
        waitCount += other.waitCount
        wait.merge(other.wait)
        hold.merge(other.hold)
        run.merge(other.run)
    }

    fileprivate mutating func mergeState(_ other: Self) {
        limit += other.limit
        open += other.open
        idle += other.idle
        leased += other.leased
        waiters += other.waiters
    }
}
