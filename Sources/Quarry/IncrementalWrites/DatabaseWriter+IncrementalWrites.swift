public import QuarryCore

extension DatabaseWriter {
    /// Writes in steps, and lets other accesses write in between: they wait for one step, not for the whole write.
    ///
    /// ```swift
    /// try dbPool.writeIncrementally { step in
    ///     let count = try Event.filter { $0.day < day }.limit(500).deleteAll(step.db)
    ///     return count == 0 ? .done : .next
    /// }
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// DELETE FROM event …
    /// DELETE FROM event …
    /// COMMIT TRANSACTION       -- another access waits: it writes before the next transaction begins
    /// BEGIN IMMEDIATE TRANSACTION
    /// DELETE FROM event …
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// Steps share a transaction until another access waits for the connection. After a commit the write takes the last
    /// place in the queue, and waits there as long as it has to: `Configuration.acquireTimeout` and
    /// `Configuration.maximumWaiters` apply to its first transaction only.
    ///
    /// An error rolls back the steps of its transaction, and earlier transactions stay. Closing the database, with
    /// or without a grace period, waits for the open transaction; then the write throws.
    ///
    /// - parameter pace: how long the connection is kept.
    /// - parameter step: returns whether another step follows.
    /// - returns: the numbers of steps and of transactions.
    /// - throws: the error of `step`, after the rollback; the errors of `write`.
    @discardableResult
    public func writeIncrementally(
        _ pace: IncrementalWritePace = IncrementalWritePace(),
        _ step: (IncrementalWriteStep) throws -> IncrementalWriteStep.Completion
    ) throws -> IncrementalWriteResult {
        let runner = try incrementalRunner()
        var progress = IncrementalWriteProgress(pace)
        while !progress.isDone {
            let request = progress.nextRequest
            try runner.performInLine(request) { db in try progress.run(db, in: runner.group, step) }
            progress.transactionDidCommit()
        }
        return progress.result
    }

    /// Writes as the synchronous `writeIncrementally`; waiting suspends the task, and holds no thread.
    ///
    /// ```swift
    /// let result = try await dbPool.writeIncrementally { step in
    ///     let count = try Event.filter { $0.day < day }.limit(500).deleteAll(step.db)
    ///     return count == 0 ? .done : .next
    /// }
    /// print("\(result.stepCount) steps in \(result.transactionCount) transactions")
    /// ```
    ///
    /// If the task is cancelled, the open transaction is rolled back, and earlier ones stay.
    ///
    /// - throws: the errors of the synchronous `writeIncrementally`; `CancellationError`.
    @discardableResult
    public func writeIncrementally(
        _ pace: IncrementalWritePace = IncrementalWritePace(),
        _ step: @Sendable (IncrementalWriteStep) throws -> IncrementalWriteStep.Completion
    ) async throws -> IncrementalWriteResult {
        let runner = try incrementalRunner()
        var progress = IncrementalWriteProgress(pace)
        while !progress.isDone {
            let beginning = progress
            progress = try await runner.perform(progress.nextRequest) { db in
                var progress = beginning
                try progress.run(db, in: runner.group, step)
                return progress
            }
            progress.transactionDidCommit()
        }
        return progress.result
    }

    /// Writes elements in order, and lets others write in between.
    ///
    /// ```swift
    /// try dbPool.writeIncrementally(players) { db, player in try player.insert(db) }
    /// ```
    ///
    /// Each element is a step: see `writeIncrementally(_:_:)`.
    ///
    /// - parameter elements: read once, as they are needed.
    /// - parameter body: writes one element.
    /// - returns: the numbers of elements and of transactions.
    /// - throws: the error of `body`, after the rollback of the elements since the last commit; the errors of `write`.
    @discardableResult
    public func writeIncrementally<Element>(
        _ elements: some Sequence<Element>, pace: IncrementalWritePace = IncrementalWritePace(),
        _ body: (Database, Element) throws -> Void
    ) throws -> IncrementalWriteResult {
        var iterator = elements.makeIterator()
        guard var element = iterator.next() else { return IncrementalWriteResult() }
        return try writeIncrementally(pace) { step in
            try body(step.db, element)
            guard let next = iterator.next() else { return .done }
            element = next
            return .next
        }
    }

    /// Writes as the synchronous `writeIncrementally` of elements; waiting suspends the task.
    ///
    /// ```swift
    /// try await dbPool.writeIncrementally(players) { db, player in try player.insert(db) }
    /// ```
    ///
    /// - throws: the errors of the synchronous `writeIncrementally`; `CancellationError`.
    @discardableResult
    public func writeIncrementally<Element>(
        _ elements: some Sequence<Element> & Sendable, pace: IncrementalWritePace = IncrementalWritePace(),
        _ body: @Sendable (Database, Element) throws -> Void
    ) async throws -> IncrementalWriteResult {
        let remaining = RemainingElements(elements)
        guard remaining.first != nil else { return IncrementalWriteResult() }
        return try await writeIncrementally(pace) { step in
            guard let element = remaining.first else { return .done }
            try body(step.db, element)
            remaining.removeFirst()
            return remaining.first == nil ? .done : .next
        }
    }

    /// Runs the transactions of an incremental write.
    private func incrementalRunner() throws -> AccessRunner {
        guard let writer = groupReader as? any GroupWriter else { throw DatabaseError.foreignReader() }
        return writer.writer
    }
}

extension IncrementalWriteProgress {
    /// The request of the next transaction. It may take long, so it never runs on one of Swift's threads.
    fileprivate var nextRequest: AccessRequest {
        AccessRequest(.write, .offloaded, origin: result.transactionCount == 0 ? .user : .continuation)
    }

    /// Runs the steps of one transaction.
    fileprivate mutating func run(
        _ db: Database, in group: ConnectionGroup,
        _ step: (IncrementalWriteStep) throws -> IncrementalWriteStep.Completion
    ) throws {
        transactionDidBegin(now: SystemClock.monotonicNanoseconds())
        while true {
            let completion = try step(
                IncrementalWriteStep(db: db, index: result.stepCount, isNewTransaction: isNewTransaction))
            let isCommitted = stepDidEnd(
                completion, isAwaited: group.waiterCount > 0, now: SystemClock.monotonicNanoseconds())
            // If SQL of the step has ended the transaction, the commit throws.
            if isCommitted || !db.isInsideTransaction { return }
            try db.checkCancellation()
        }
    }
}

/// The elements of a sequence that no step has written.
private final class RemainingElements<Elements: Sequence & Sendable>: @unchecked Sendable {
    // Sendable: one step after another uses it.
    private var iterator: Elements.Iterator
    private(set) var first: Elements.Element?

    init(_ elements: Elements) {
        iterator = elements.makeIterator()
        first = iterator.next()
    }

    func removeFirst() { first = iterator.next() }
}
