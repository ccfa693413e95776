import QuarryCore

extension ConnectionGroup {
    /// The connections and their accesses, and the counts of the connections.
    ///
    /// Reads the page caches of idle connections, which takes about a microsecond for each, with the lock held.
    var statistics: (connections: DatabaseStatistics.Connections, counts: ConnectionCounts) {
        state.withLock { state in
            var statistics = DatabaseStatistics.Connections()
            statistics.limit = state.machine.capacity
            statistics.open = state.connections.count { !($0?.database.isClosed ?? true) }
            statistics.idle = state.machine.isClosed ? 0 : state.machine.idleCount
            statistics.leased = state.machine.leasedCount
            statistics.waiters = state.machine.programWaiterCount
            statistics.accessCount = state.counts.accessCount
            statistics.waitCount = state.counts.waitCount
            statistics.wait = state.counts.wait
            statistics.wait.record(
                nanoseconds: 0, times: UInt64(max(0, state.counts.accessCount - state.counts.waitCount)))
            statistics.hold = state.counts.hold
            statistics.run = state.counts.run
            var counts = state.counts.ofClosed
            for (slot, connection) in state.connections.enumerated() {
                guard let database = connection?.database else { continue }
                guard !database.isClosed else {
                    counts.addCounts(of: database.counts)
                    continue
                }
                if state.machine.isIdle(slot) { database.readCacheStatus() }
                database.askForStatus()
                counts += database.counts
            }
            return (statistics, counts)
        }
    }
}

extension DatabaseReader {
    /// Counts of the database's work since it was opened, and its state.
    ///
    /// ```swift
    /// print(dbPool.statistics.writer.wait.percentile(99))
    /// ```
    ///
    /// Reading it waits for no access, and costs other accesses next to nothing. The snapshots of a pool have their own
    /// statistics. See `DatabaseStatistics`.
    public var statistics: DatabaseStatistics {
        guard let reader = groupReader else { return DatabaseStatistics() }
        var statistics = DatabaseStatistics(
            of: reader.groups, (reader as? any GroupWriter)?.writer, readers: reader.readers)
        if let log = reader.walStatistics {
            statistics.logBytes = log.bytes
            statistics.oldestReaderAge = log.oldestReader?.age
        }
        statistics.observations = reader.core.observationCount
        statistics.commitReaders = reader.core.journal.readerCount
        return statistics
    }
}

extension DatabaseStatistics {
    /// The counts of groups, without those of the log.
    ///
    /// - parameter writer: one of the groups', if it writes; so is `readers`.
    package init(of groups: [ConnectionGroup], _ writer: AccessRunner?, readers: AccessRunner) {
        for group in groups {
            let (connections, counts) = group.statistics
            if group === readers.group { self.readers = connections }
            if group === writer?.group { self.writer = connections }
            add(counts)
        }
    }

    /// Adds the counts of connections.
    fileprivate mutating func add(_ counts: ConnectionCounts) {
        transactions.committed += counts.commits
        transactions.rolledBack += counts.rollbacks
        transactions.failed += counts.failedCommits
        statements.prepared += counts.preparedStatements
        statements.foundInCache += counts.foundStatements
        statements.run += counts.runStatements
        pageCache.hitCount += counts.cacheHits
        pageCache.missCount += counts.cacheMisses
        pageCache.writeCount += counts.cacheWrites
        pageCache.spillCount += counts.cacheSpills
        pageCache.bytes += counts.cacheBytes
        pageCache.schemaBytes += counts.schemaBytes
        pageCache.statementBytes += counts.statementBytes
        busyRetryCount += counts.busyRetries
    }
}
