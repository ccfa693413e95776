public import Quarry
import QuarryCore

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
    /// An error rolls back the steps of its transaction, and earlier transactions stay. A step can't commit: `COMMIT`
    /// throws `SQLITE_MISUSE`, and `ROLLBACK` makes the write throw `SQLITE_ABORT`. Closing the database, with
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
        var progress = IncrementalWriteProgress(pace)
        try incrementalRunner().write(&progress, step) {}
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
        var progress = IncrementalWriteProgress(pace)
        try await incrementalRunner().write(&progress, step) {}
        return progress.result
    }

    /// Runs the transactions of an incremental write.
    func incrementalRunner() throws -> AccessRunner {
        guard let writer = groupReader as? any GroupWriter else { throw DatabaseError.foreignReader() }
        return writer.writer
    }
}

extension AccessRunner {
    /// Runs the steps of an incremental write, in transactions, up to the last one.
    ///
    /// - parameter didCommit: called after each commit, without the connection.
    func write(
        _ progress: inout IncrementalWriteProgress,
        _ step: (IncrementalWriteStep) throws -> IncrementalWriteStep.Completion, didCommit: () throws -> Void
    ) throws {
        while !progress.isDone {
            try perform(progress.nextRequest) { db in try progress.run(db, in: group, step) }
            progress.transactionDidCommit()
            try didCommit()
        }
    }

    /// As the synchronous `write`, for a task.
    func write(
        _ progress: inout IncrementalWriteProgress, isolation: isolated (any Actor)? = #isolation,
        _ step: @Sendable (IncrementalWriteStep) throws -> IncrementalWriteStep.Completion,
        didCommit: () throws -> Void
    ) async throws {
        while !progress.isDone {
            let beginning = progress
            progress = try await perform(progress.nextRequest) { db in
                var progress = beginning
                try progress.run(db, in: self.group, step)
                return progress
            }
            progress.transactionDidCommit()
            try didCommit()
        }
    }
}

extension IncrementalWriteProgress {
    /// The request of the next transaction. It may take long, so it never runs on one of Swift's threads.
    fileprivate var nextRequest: AccessRequest {
        AccessRequest(
            .write, .offloaded, origin: result.transactionCount == 0 ? .user : .continuation, mayStay: false)
    }

    /// Runs the steps of one transaction.
    fileprivate mutating func run(
        _ db: Database, in group: ConnectionGroup,
        _ step: (IncrementalWriteStep) throws -> IncrementalWriteStep.Completion
    ) throws {
        transactionDidBegin(now: group.clock.now)
        try db.refusingCommits {
            while true {
                let completion = try step(
                    IncrementalWriteStep(db: db, index: result.stepCount, isNewTransaction: isNewTransaction))
                let isCommitted = stepDidEnd(
                    completion, isAwaited: group.programWaiterCount > 0, now: group.clock.now)
                // If SQL of the step has ended the transaction, the commit throws.
                if isCommitted || !db.isInsideTransaction { return }
                try db.checkCancellation()
            }
        }
    }
}
