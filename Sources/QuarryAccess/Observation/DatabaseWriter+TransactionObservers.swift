public import QuarryCore

extension DatabaseWriter {
    /// Adds an observer of the writer's changes and transactions. Waits for running writes; inside a write of this
    /// thread, adds it to that write's connection.
    ///
    /// ```swift
    /// dbQueue.add(transactionObserver: observer)
    /// ```
    ///
    /// On a closed database it has no effect. On a cluster, whose nodes don't tell of rows, it adds nothing: inside a
    /// write, the write throws `SQLITE_MISUSE`, and otherwise tracers of errors are told.
    ///
    /// - parameter extent: how long it observes. By default, as long as others keep it.
    public func add(
        transactionObserver: some TransactionObserver, extent: Database.TransactionObservationExtent = .observerLifetime
    ) {
        try? unsafeReentrantWrite { db in db.add(transactionObserver: transactionObserver, extent: extent) }
    }

    /// Removes an observer, which is told of nothing any more. Waits for running writes.
    ///
    /// ```swift
    /// dbQueue.remove(transactionObserver: observer)
    /// ```
    public func remove(transactionObserver: some TransactionObserver) {
        try? unsafeReentrantWrite { db in db.remove(transactionObserver: transactionObserver) }
    }
}
