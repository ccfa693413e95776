import QuarryCore

// The accesses that run or wait, as numbers and as a moment to wait for.

extension DatabaseWriter {
    /// The number of writes that run or wait, of whatever kind: also those of the library, such as checkpoints.
    ///
    /// ```swift
    /// if dbPool.pendingWriteCount > 100 { throw Abort(.serviceUnavailable) }
    /// ```
    ///
    /// A queue's reads count, since they use the same connection. `statistics` has more.
    public var pendingWriteCount: Int { (groupReader as? any GroupWriter)?.writer.group.accessCount ?? 0 }

    /// Waits until everything that was in line for the writer has finished: returned, committed, or thrown.
    ///
    /// ```swift
    /// dbPool.asyncWrite { db in try Event.deleteAll(db) } completion: { _, _ in }
    /// try await dbPool.flush()   // the events are gone
    /// ```
    ///
    /// It begins no transaction, and waits for no write that comes later. A write in steps (`writeIncrementally`)
    /// counts as finished when it lets others write. A `SharedDatabase` that is closed stays closed.
    ///
    /// - throws: `SQLITE_MISUSE` if the database is closed; `CancellationError`.
    public func flush() async throws {
        guard let writer = (groupReader as? any GroupWriter)?.writer else { return }
        if (groupReader as? DatabasePool)?.opener != nil, writer.group.isClosedAtRest {
            return try Task.checkCancellation()
        }
        let last = writer.group.decide { $0.lastID }
        while true {
            try await writer.perform(AccessRequest(.bare, .offloaded, origin: .library)) { _ in }
            // A task that was woken and hasn't come yet may have been passed over.
            if !writer.group.decide({ $0.isWaiting(upTo: last) }) { return }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}

extension DatabaseReader {
    /// The number of reads that have a connection.
    ///
    /// ```swift
    /// print("\(dbPool.activeReadCount) of \(dbPool.configuration.maximumReaderCount)")
    /// ```
    public var activeReadCount: Int { groupReader?.readers.group.runningAccesses.count ?? 0 }

    /// The number of reads that have a connection, or wait for one.
    public var pendingReadCount: Int { groupReader?.readers.group.accessCount ?? 0 }

    /// The accesses and backups that run, in words for a log: `close(gracePeriod:)` would wait for them.
    ///
    /// ```swift
    /// print(dbPool.runningWork)  // ["the access “import” of the writer of shop"]
    /// ```
    ///
    /// An access is named by its `Database.accessLabel`. Reading it waits for no access.
    public var runningWork: [String] {
        guard let groupReader else { return [] }
        var groups: [ConnectionGroup] = []
        groupReader.core.parts.forEach { groups += $0.work(on: groupReader.groups) }
        return (groups + groupReader.groups).flatMap(\.runningWork)
    }
}
