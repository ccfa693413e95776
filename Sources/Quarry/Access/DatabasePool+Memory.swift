import QuarryCore

extension DatabasePool {
    /// Frees as much memory as can be: waits for the accesses that run, then closes the readers, unless
    /// `Configuration.persistentReadOnlyConnections` is set.
    public func releaseMemory() {
        try? writer.perform(barrierRequest) { db in
            db.releaseMemory()
            releaseReaders()
        }
    }

    /// As `releaseMemory`; waiting suspends the task. If it is cancelled meanwhile, nothing is freed.
    ///
    /// ```swift
    /// await dbPool.releaseMemoryAsync()
    /// ```
    public func releaseMemoryAsync() async {
        try? await writer.perform(barrierRequest) { db in
            db.releaseMemory()
            self.releaseReaders()
        }
    }

    /// As `releaseMemory`, without waiting: readers that are in use go when they come back.
    public func releaseMemoryEventually() {
        releaseReaders()
        writer.enqueue(writeRequest) { result in
            if case .success(let db) = result { db.releaseMemory() }
        }
    }

    /// Makes reads that start from now on open new connections.
    ///
    /// ```swift
    /// dbPool.invalidateReadOnlyConnections()
    /// ```
    ///
    /// Reads that run go on with the connections they have.
    public func invalidateReadOnlyConnections() {
        readers.group.retireAll()
    }

    private func releaseReaders() {
        if !configuration.persistentReadOnlyConnections { readers.group.retireAll() }
    }
}
