import QuarryCore

extension DatabaseReader {
    /// Closes all connections, and lets the accesses end that were requested earlier.
    ///
    /// ```swift
    /// try dbPool.close(gracePeriod: .seconds(10))
    /// ```
    ///
    /// 1. From this call on, new accesses throw `SQLITE_MISUSE`, "Connection is closing". Running and waiting accesses
    ///    go on, and so do accesses inside them, running backups into files, and running restorations.
    /// 2. After the grace period, waiting accesses throw `SQLITE_MISUSE`, and the statements of running accesses throw
    ///    `SQLITE_INTERRUPT`: their transactions are rolled back. Backups and restorations throw it, too.
    /// 3. When all accesses and backups have ended, the connections are closed, as with `close()`.
    ///
    /// Code of an access that runs no statement can't be interrupted. If an access hasn't ended after
    /// `interruptionTimeout`, the method throws `SQLITE_BUSY`, and the error names the access's label.
    ///
    /// Observations end when the connections are closed. An outbox that is being delivered, and stable readers and
    /// snapshots, which have their own connections, behave as with `close()`.
    ///
    /// If the method throws, the database stays open, and serves accesses again.
    ///
    /// - parameter gracePeriod: how long accesses may go on; zero or less to interrupt them at once.
    /// - parameter interruptionTimeout: how long to wait for interrupted accesses.
    /// - throws: `SQLITE_BUSY` if an access or a backup doesn't end, if statements are left, or inside an access of
    ///   this thread or the closure of its backup.
    public func close(gracePeriod: Duration, interruptionTimeout: Duration = .seconds(5)) throws {
        guard let groupReader else { throw DatabaseError.foreignReader() }
        if try (groupReader as? DatabasePool)?.isClosedBehindGate() ?? false { return }
        let period = Closing.GracePeriod(groupReader, gracePeriod, interruptionTimeout: interruptionTimeout)
        try Closing(groupReader.groups, .afterGrace(period)).run()
        if period.whenClosed == nil { groupReader.didClose() }
    }

    /// As the synchronous `close(gracePeriod:)`; waiting suspends the task, and closing holds none of Swift's threads.
    ///
    /// ```swift
    /// try await dbPool.close(gracePeriod: .seconds(10))
    /// ```
    ///
    /// Cancelling the task ends the wait: `CancellationError` is thrown, and the database serves accesses again.
    /// Accesses that were interrupted meanwhile have failed.
    ///
    /// - throws: the errors of the synchronous `close(gracePeriod:)`; `CancellationError`.
    public func close(gracePeriod: Duration, interruptionTimeout: Duration = .seconds(5)) async throws {
        guard let groupReader else { throw DatabaseError.foreignReader() }
        if await (groupReader as? DatabasePool)?.isClosedBehindGateAsync() ?? false { return }
        let period = Closing.GracePeriod(groupReader, gracePeriod, interruptionTimeout: interruptionTimeout)
        try await Closing(groupReader.groups, .afterGrace(period)).run(groupReader.workers) {}
        if period.whenClosed == nil { groupReader.didClose() }
    }
}
