// The statistics of several databases together.

extension DatabaseStatistics {
    /// Adds the counts and states of another database. The oldest reader is that of both.
    package mutating func merge(_ other: DatabaseStatistics) {
        mergeCounts(other)
        writer.mergeState(other.writer)
        readers.mergeState(other.readers)
        pageCache.bytes += other.pageCache.bytes
        pageCache.schemaBytes += other.pageCache.schemaBytes
        pageCache.statementBytes += other.pageCache.statementBytes
        logBytes += other.logBytes
        observations += other.observations
        commitReaders += other.commitReaders
        oldestReaderAge = [oldestReaderAge, other.oldestReaderAge].compactMap(\.self).max()
    }

    /// Adds the counts of another database, but not its state.
    package mutating func mergeCounts(_ other: DatabaseStatistics) {
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
