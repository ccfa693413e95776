public import Quarry
import QuarryCore

extension Outbox {
    /// Delivers messages until the task is cancelled: those that are pending, and those that come.
    ///
    /// ```swift
    /// let task = Task {
    ///     try await emails.deliver(from: dbPool) { messages in
    ///         for message in messages { try await send(message.payload) }
    ///     }
    /// }
    /// ```
    ///
    /// The closure runs outside of any transaction. When it returns, its messages are deleted, and the next ones are
    /// leased in the same transaction. When it throws, they are delivered again after a pause, one by one, so that only
    /// the message that fails keeps failing.
    ///
    /// Messages are noticed at their commit, also those of other processes (`Configuration.otherProcesses`); at the
    /// latest within `OutboxOptions.pollInterval`. Nothing but a cheap look is done while another consumer has the
    /// lease.
    ///
    /// It goes on after errors that may pass, once a pause has passed or the table of messages has changed: a locked or
    /// full database, an I/O error, a lack of memory or of file descriptors, an interruption. A delivery that couldn't
    /// be noted is noted then, and isn't repeated, unless another consumer has its lease by then. Writes that share a
    /// transaction (`Configuration.groupCommit`) are made again, alone, if another write has lost it.
    ///
    /// A lease is measured by the clock of transactions (`Configuration.transactionClock`) of all processes, and the
    /// cancellation at its end by `clock`. If the clocks of processes differ, or jump forward, by more than the rest of
    /// a lease, two consumers may have the same messages for a while. A clock that is set back prolongs a lease to at
    /// most twice its length.
    ///
    /// - parameter onError: receives the errors of the closure and of the database after which the outbox tries again.
    /// - parameter clock: measures the poll interval, pauses, and the end of a lease in this process.
    /// - parameter body: delivers messages, the oldest first. It is cancelled at the end of the lease.
    /// - throws: `CancellationError`; an error that doesn't pass: `SQLITE_MISUSE` if the database is closed, or for
    ///   useless options; another `DatabaseError`, for example if the tables don't exist, or the file is damaged or
    ///   read-only.
    public func deliver(
        from writer: any DatabaseWriter, options: OutboxOptions = OutboxOptions(),
        clock: some Clock<Duration> = ContinuousClock(), onError: @escaping @Sendable (any Error) -> Void = { _ in },
        _ body: @escaping @Sendable ([OutboxMessage<Payload>]) async throws -> Void
    ) async throws {
        try options.check()
        let alarm = OutboxAlarm(clock)
        let others = OtherCommitObserver { alarm.ring() }
        let database = writer.groupReader
        if let database { database.core.journal.add(others, of: database) }
        defer { database?.core.journal.remove(others) }
        var observation: AnyDatabaseCancellable?
        defer { observation?.cancel() }
        var ended: EndedDelivery?
        var ready: OutboxTables.Next?
        var failureCount = 0
        while true {
            do {
                // Begins before the look, so that no message comes unnoticed in between.
                if observation == nil { observation = try await observe(writer) { alarm.ring() } }
                if let delivery = ended {
                    let outcome = try await note(delivery, writer, options, leasesNext: true)
                    ended = nil
                    switch outcome {
                    case .delivered(let next): ready = next
                    case .lost: break
                    case .failed(let error): onError(error)
                    }
                } else {
                    switch try await next(ready.take(), writer, options) {
                    case .wait(let seconds):
                        let pause = min(options.pollInterval, seconds.map { .seconds($0) } ?? options.pollInterval)
                        try await alarm.wait(atMost: pause)
                    case .batch(let batch): ended = await run(batch, for: options.lease, clock, body)
                    }
                }
                failureCount = 0
            } catch let error as DatabaseError where error.mayPass {
                failureCount += 1
                onError(error)
                let pause = min(options.pollInterval, OutboxOptions.exponentialBackoff(failureCount))
                try await alarm.wait(atMost: pause)
            }
        }
    }

    /// Delivers one batch of messages, if the outbox has messages and no other consumer has its lease.
    ///
    /// ```swift
    /// while try await emails.deliverNext(from: dbPool, { messages in try await send(messages) }) > 0 {}
    /// ```
    ///
    /// - parameter clock: measures the end of the lease in this process.
    /// - parameter body: delivers messages, the oldest first. It is cancelled at the end of the lease.
    /// - returns: the number of delivered messages; 0 if none could be leased, or another consumer has taken them over.
    /// - throws: the error of `body`, after which the messages are pending again; the errors of `deliver`.
    @discardableResult
    public func deliverNext(
        from writer: any DatabaseWriter, options: OutboxOptions = OutboxOptions(),
        clock: some Clock<Duration> = ContinuousClock(),
        _ body: @escaping @Sendable ([OutboxMessage<Payload>]) async throws -> Void
    ) async throws -> Int {
        try options.check()
        guard case .batch(let batch) = try await next(nil, writer, options) else { return 0 }
        let delivery = await run(batch, for: options.lease, clock, body)
        switch try await note(delivery, writer, options, leasesNext: false) {
        case .delivered: return batch.messages.count
        case .lost: return 0
        case .failed(let error): throw error
        }
    }

    /// Calls `onChange` after each commit of this process that changes the messages, from now on.
    private func observe(
        _ writer: any DatabaseWriter, _ onChange: @escaping @Sendable () -> Void
    ) async throws -> AnyDatabaseCancellable {
        let observation = DatabaseRegionObservation(tracking: Table(name))
        return try await writer.writeWithoutTransaction { db in try observation.begin(db) { _ in onChange() } }
    }

    /// Leases messages, unless that is done.
    private func next(
        _ ready: OutboxTables.Next?, _ writer: any DatabaseWriter, _ options: OutboxOptions
    ) async throws -> OutboxTables.Next {
        if let ready { return ready }
        if let wait = try await writer.read({ db in try tables.wait(db) }) { return wait }
        return try await write(writer) { db in try tables.takeLease(options, db) }
    }

    private enum Outcome {
        /// - parameter next: the next messages, if they were asked for.
        case delivered(next: OutboxTables.Next?)
        case failed(any Error)
        /// The lease has ended, and another consumer has the messages.
        case lost
    }

    /// A delivery whose result the tables don't have yet.
    private struct EndedDelivery {
        let batch: LeasedBatch
        let result: Result<Void, any Error>
        /// Whether the task was cancelled before its end.
        let isCancelled: Bool
    }

    /// Writes the result of a delivery, even if the task is cancelled now.
    ///
    /// If this throws, it may be called again: the owner of the lease tells whether the result is in the tables.
    private func note(
        _ delivery: EndedDelivery, _ writer: any DatabaseWriter, _ options: OutboxOptions, leasesNext: Bool
    ) async throws -> Outcome {
        let batch = delivery.batch
        let leasesNext = leasesNext && !delivery.isCancelled
        switch delivery.result {
        case .success:
            let (isFinished, next) = try await withoutCancellation {
                try await write(writer) { db in
                    (try tables.finish(batch, db), leasesNext ? try tables.takeLease(options, db) : nil)
                }
            }
            return isFinished ? .delivered(next: next) : .lost
        case .failure(let error):
            let failure = delivery.isCancelled && error is CancellationError ? nil : "\(error)"
            try await withoutCancellation {
                try await write(writer) { db in try tables.giveBack(batch, error: failure, options, db) }
            }
            if failure == nil { throw CancellationError() }
            return .failed(error)
        }
    }

    /// Writes in a transaction that other writes may share; once more, alone, if one of them has lost it.
    private func write<T: Sendable>(
        _ writer: any DatabaseWriter, _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        do {
            return try await writer.write(updates)
        } catch DatabaseError.SQLITE_ABORT_ROLLBACK {
            return try await writer.writeWithoutTransaction { db in
                try db.withTransaction { (.commit, try updates(db)) }
            }
        }
    }

    /// Runs `body`, and cancels it at the end of the lease.
    private func run(
        _ batch: LeasedBatch, for lease: Duration, _ clock: some Clock<Duration>,
        _ body: @escaping @Sendable ([OutboxMessage<Payload>]) async throws -> Void
    ) async -> EndedDelivery {
        let result = await withTaskGroup(of: Result<Void, any Error>?.self) { group in
            group.addTask {
                do {
                    return .success(try await body(try batch.messages.map { try OutboxMessage($0) }))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await clock.sleep(for: lease)
                return nil
            }
            var result: Result<Void, any Error> = .failure(CancellationError())
            for await ended in group {
                if let ended { result = ended }
                group.cancelAll()
            }
            return result
        }
        return EndedDelivery(batch: batch, result: result, isCancelled: Task.isCancelled)
    }

    /// Runs `body` in a task that isn't cancelled with this one.
    private func withoutCancellation<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await Task { try await body() }.value
    }
}

/// Wakes the one task that waits for messages: at a change of their table, or after a time.
private final class OutboxAlarm<C: Clock>: Sendable where C.Duration == Duration {
    private let clock: C
    private let rings: AsyncStream<Void>
    private let ringer: AsyncStream<Void>.Continuation

    init(_ clock: C) {
        self.clock = clock
        // A ring without a waiting task is kept, once.
        (rings, ringer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func ring() { ringer.yield() }

    /// - throws: `CancellationError`.
    func wait(atMost duration: Duration) async throws {
        let timer = Task { [clock, ringer] in
            try await clock.sleep(for: duration)
            ringer.yield()
        }
        defer { timer.cancel() }
        var iterator = rings.makeAsyncIterator()
        guard await iterator.next() != nil, !Task.isCancelled else { throw CancellationError() }
    }
}
