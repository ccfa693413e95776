import QuarryCore

/// Counts of the work of a database since it was opened, and its state.
///
/// ```swift
/// let before = dbPool.statistics
/// …
/// let last = dbPool.statistics.since(before)
/// print(last.writer.wait.percentile(99), last.transactions.committed, last.pageCache.missCount)
/// ```
///
/// Counts only grow. Reading them waits for no access. Counting costs a few instructions for an access and for a
/// statement: so of 64 accesses one is timed, and each wait.
public struct DatabaseStatistics: Sendable, Hashable {
    /// The connections of one kind, and their accesses.
    public struct Connections: Sendable, Hashable {
        /// The number of connections that are open at most.
        public internal(set) var limit = 0
        /// The number of open connections.
        public internal(set) var open = 0
        /// The number of open connections that no access has.
        public internal(set) var idle = 0
        /// The number of connections that accesses have, or open.
        public internal(set) var leased = 0
        /// The number of accesses that wait, as `Configuration.maximumWaiters` counts them: without the library's own,
        /// such as a checkpoint.
        public internal(set) var waiters = 0

        /// The number of accesses that have got a connection.
        public internal(set) var accessCount = 0
        /// The number of those that had to wait.
        public internal(set) var waitCount = 0
        /// The times that accesses have waited for a connection. Each access counts: those that found a free connection
        /// as 0. A thread that got one within the two microseconds for which it looks counts as 0, too.
        public internal(set) var wait = DurationHistogram()
        /// The times for which accesses had a connection: of 64 accesses one counts.
        public internal(set) var hold = DurationHistogram()
        /// The parts of these times in which the program's closure ran: without `BEGIN`, `COMMIT`, and the change of
        /// threads.
        public internal(set) var run = DurationHistogram()
    }

    /// Transactions that could write, by their outcome. Statements outside a transaction don't count.
    public struct Transactions: Sendable, Hashable {
        /// Committed.
        public internal(set) var committed = 0
        /// Rolled back.
        public internal(set) var rolledBack = 0
        /// The number of commits that have failed. The transaction may be committed later, or rolled back.
        public internal(set) var failed = 0
    }

    /// Statements.
    public struct Statements: Sendable, Hashable {
        /// The number of statements that were prepared.
        public internal(set) var prepared = 0
        /// The number of times that a prepared statement was found in a connection's cache.
        public internal(set) var foundInCache = 0
        /// The number of executions that have begun, also those of the library, such as `BEGIN`.
        public internal(set) var run = 0
    }

    /// The page caches of the connections: <https://www.sqlite.org/c3ref/c_dbstatus_options.html>.
    ///
    /// They are read from each connection that is idle. The numbers of a connection in use are as of an earlier time:
    /// it reads them at the end of its access, for the next time that statistics are asked for.
    public struct PageCache: Sendable, Hashable {
        /// The number of pages that were found in the cache.
        public internal(set) var hitCount = 0
        /// The number of pages that were read from the file.
        public internal(set) var missCount = 0
        /// The number of pages that were written.
        public internal(set) var writeCount = 0
        /// The number of pages that were written in the middle of a transaction, because the cache was full.
        public internal(set) var spillCount = 0
        /// The bytes of the caches now.
        public internal(set) var bytes = 0
        /// The bytes of the schemas now.
        public internal(set) var schemaBytes = 0
        /// The bytes of the prepared statements now.
        public internal(set) var statementBytes = 0
    }

    /// The writer of a pool, or the connection of a queue; nothing for a snapshot.
    public internal(set) var writer = Connections()

    /// The readers of a pool, or the connections of a snapshot; those of `writer` for a queue.
    public internal(set) var readers = Connections()

    /// Transactions that could write.
    public internal(set) var transactions = Transactions()

    /// Statements, of all connections.
    public internal(set) var statements = Statements()

    /// Page caches, of all connections.
    public internal(set) var pageCache = PageCache()

    /// The number of times that a connection has waited for a lock of another one, and tried again.
    public internal(set) var busyRetryCount = 0

    /// The bytes of the write-ahead log's pages after the last commit; 0 without a log.
    public internal(set) var logBytes = 0

    /// The time since the oldest known reader of the log began; nil if there is none. See
    /// `DatabaseReader.walStatistics`, which names it.
    public internal(set) var oldestReaderAge: Duration?

    /// The number of running observations of values. The snapshots of a pool share the pool's.
    public internal(set) var observations = 0

    /// The number of readers of the database's commits: iterators of `DatabaseWriter.commits`, and stable readers.
    public internal(set) var commitReaders = 0

    /// Without counts.
    package init() {}
}

extension DatabaseStatistics {
    /// The counts since `earlier`, an earlier value of the same database. States, such as the open connections, the
    /// waiters and bytes, are those of this value.
    ///
    /// ```swift
    /// let last = dbPool.statistics.since(before)
    /// print(last.transactions.committed)
    /// ```
    public func since(_ earlier: DatabaseStatistics) -> DatabaseStatistics {
        var difference = self
        difference.writer = writer.since(earlier.writer)
        difference.readers = readers.since(earlier.readers)
        difference.transactions.committed -= earlier.transactions.committed
        difference.transactions.rolledBack -= earlier.transactions.rolledBack
        difference.transactions.failed -= earlier.transactions.failed
        difference.statements.prepared -= earlier.statements.prepared
        difference.statements.foundInCache -= earlier.statements.foundInCache
        difference.statements.run -= earlier.statements.run
        difference.pageCache.hitCount -= earlier.pageCache.hitCount
        difference.pageCache.missCount -= earlier.pageCache.missCount
        difference.pageCache.writeCount -= earlier.pageCache.writeCount
        difference.pageCache.spillCount -= earlier.pageCache.spillCount
        difference.busyRetryCount -= earlier.busyRetryCount
        return difference
    }
}

extension DatabaseStatistics.Connections {
    fileprivate func since(_ earlier: Self) -> Self {
        var difference = self
        difference.accessCount -= earlier.accessCount
        difference.waitCount -= earlier.waitCount
        difference.wait = wait.since(earlier.wait)
        difference.hold = hold.since(earlier.hold)
        difference.run = run.since(earlier.run)
        return difference
    }
}
