import QuarryCore

extension DatabasePool {
    /// Frees as much memory as possible: waits for the running accesses, then closes the readers, unless
    /// `Configuration.persistentReadOnlyConnections` is set.
    public func releaseMemory() {
        try? writer.perform(barrierRequest) { db in
            db.releaseMemory()
            releaseReaders(hasOwnBarrier: true)
        }
    }

    /// As `releaseMemory`, but waiting suspends the task. If the task is cancelled meanwhile, nothing is freed.
    ///
    /// ```swift
    /// await dbPool.releaseMemoryAsync()
    /// ```
    public func releaseMemoryAsync() async {
        try? await writer.perform(barrierRequest) { db in
            db.releaseMemory()
            self.releaseReaders(hasOwnBarrier: true)
        }
    }

    /// As `releaseMemory`, without waiting: leased readers are closed when they come back.
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
    /// Running reads continue with their connections.
    public func invalidateReadOnlyConnections() {
        readers.group.retireAll()
    }

    private func releaseReaders(hasOwnBarrier: Bool = false) {
        if !configuration.persistentReadOnlyConnections { readers.group.retireAll(hasOwnBarrier: hasOwnBarrier) }
    }
}
