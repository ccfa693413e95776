public import Quarry
public import QuarryCore

// Writes of sequences, in steps of an incremental write.

extension DatabaseWriter {
    /// Writes elements in order, and lets others write in between.
    ///
    /// ```swift
    /// try dbPool.writeIncrementally(players) { db, player in try player.insert(db) }
    /// ```
    ///
    /// Each element is a step: see `writeIncrementally(_:_:)`. An error rolls back the elements since the last commit,
    /// and earlier ones stay: always the first elements of the sequence.
    ///
    /// - parameter elements: read once, as they are needed, while the connection is held.
    /// - parameter pace: how long the connection is kept.
    /// - parameter body: writes one element.
    /// - parameter progress: called after each commit, without the connection. An error ends the write.
    /// - returns: the numbers of elements and of transactions.
    /// - throws: `BulkWriteError`, with the error of `body` or of `write`.
    @discardableResult
    public func writeIncrementally<Element>(
        _ elements: some Sequence<Element>, pace: IncrementalWritePace = IncrementalWritePace(),
        _ body: (Database, Element) throws -> Void, progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) throws -> BulkWriteProgress {
        try writeInBulk(elements, stepSize: 1, pace, progress) { db, elements, _ in
            try body(db, elements[0])
            return 1
        }
    }

    /// Writes as the synchronous `writeIncrementally` of elements; waiting suspends the task.
    ///
    /// ```swift
    /// try await dbPool.writeIncrementally(players) { db, player in try player.insert(db) }
    /// ```
    ///
    /// - parameter isolation: the actor on which `progress` is called; the caller's.
    /// - throws: the errors of the synchronous `writeIncrementally`; `CancellationError`.
    @discardableResult
    public func writeIncrementally<Element>(
        _ elements: some Sequence<Element> & Sendable, pace: IncrementalWritePace = IncrementalWritePace(),
        isolation: isolated (any Actor)? = #isolation, _ body: @Sendable (Database, Element) throws -> Void,
        progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) async throws -> BulkWriteProgress {
        try await writeInBulk(elements, stepSize: 1, pace, progress) { db, elements, _ in
            try body(db, elements[0])
            return 1
        }
    }

    /// Writes the elements of an asynchronous sequence in order, and lets others write in between.
    ///
    /// ```swift
    /// try await dbPool.writeIncrementally(request.body.lines) { db, line in try Event(line).insert(db) }
    /// ```
    /// ```sql
    ///                          -- reads 10,000 elements
    /// BEGIN IMMEDIATE TRANSACTION
    /// INSERT INTO "event" …    -- a step for each
    /// COMMIT TRANSACTION
    ///                          -- calls progress, reads 10,000 elements
    /// BEGIN IMMEDIATE TRANSACTION
    /// ```
    ///
    /// No connection is held, and no place in the queue, while the sequence is read. It is read on only when its last
    /// chunk is written. The elements of a chunk that the sequence doesn't complete because it throws, or because the
    /// task is cancelled, aren't written.
    ///
    /// - parameter elements: read once.
    /// - parameter chunkSize: the number of elements that are read before they are written; a chunk needs more than one
    ///   transaction if others wait, or after `IncrementalWritePace.maximumHold`.
    /// - parameter pace: how long the connection is kept.
    /// - parameter isolation: the actor on which `elements` is read and `progress` is called; the caller's.
    /// - parameter body: writes one element.
    /// - parameter progress: called after each commit, without the connection. An error ends the write.
    /// - returns: the numbers of elements and of transactions.
    /// - throws: `BulkWriteError`, with the error of `elements`, of `body` or of `write`; `CancellationError`;
    ///   `SQLITE_MISUSE` if `chunkSize` is less than 1.
    @discardableResult
    public func writeIncrementally<Elements: AsyncSequence>(
        _ elements: Elements, chunkSize: Int = 10_000, pace: IncrementalWritePace = IncrementalWritePace(),
        isolation: isolated (any Actor)? = #isolation, _ body: @Sendable (Database, Elements.Element) throws -> Void,
        progress: ((BulkWriteProgress) throws -> Void)? = nil
    ) async throws -> BulkWriteProgress where Elements.Element: Sendable {
        try await writeInBulk(elements, chunkSize, stepSize: 1, pace, progress) { db, elements, _ in
            try body(db, elements[0])
            return 1
        }
    }
}

extension DatabaseWriter {
    /// Writes elements in steps.
    ///
    /// - parameter body: writes the elements of a step, and returns the number of rows. Its last argument becomes the
    ///   index of the one that fails.
    func writeInBulk<Elements: Sequence>(
        _ elements: Elements, stepSize: Int, _ pace: IncrementalWritePace,
        _ progress: ((BulkWriteProgress) throws -> Void)?,
        _ body: (Database, [Elements.Element], inout Int) throws -> Int
    ) throws -> BulkWriteProgress {
        let runner = try incrementalRunner()
        let write = BulkWrite(elements.makeIterator(), stepSize: stepSize)
        guard !write.isAtEnd else { return write.committed }
        var steps = IncrementalWriteProgress(pace)
        do {
            try runner.write(&steps) { step in
                try write.write(step.db, body)
            } didCommit: {
                try write.transactionDidCommit(progress)
            }
        } catch {
            throw write.error(error)
        }
        return write.committed
    }

    /// As the synchronous `writeInBulk`, for a task.
    func writeInBulk<Elements: Sequence & Sendable>(
        _ elements: Elements, stepSize: Int, _ pace: IncrementalWritePace,
        _ progress: ((BulkWriteProgress) throws -> Void)?, isolation: isolated (any Actor)? = #isolation,
        _ body: @Sendable (Database, [Elements.Element], inout Int) throws -> Int
    ) async throws -> BulkWriteProgress {
        let runner = try incrementalRunner()
        let write = BulkWrite(elements.makeIterator(), stepSize: stepSize)
        guard !write.isAtEnd else { return write.committed }
        var steps = IncrementalWriteProgress(pace)
        do {
            try await runner.write(&steps) { step in
                try write.write(step.db, body)
            } didCommit: {
                try write.transactionDidCommit(progress)
            }
        } catch {
            throw write.error(error)
        }
        return write.committed
    }

    /// Reads chunks of an asynchronous sequence, and writes each in steps.
    func writeInBulk<Elements: AsyncSequence>(
        _ elements: Elements, _ chunkSize: Int, stepSize: Int, _ pace: IncrementalWritePace,
        _ progress: ((BulkWriteProgress) throws -> Void)?, isolation: isolated (any Actor)? = #isolation,
        _ body: @Sendable (Database, [Elements.Element], inout Int) throws -> Int
    ) async throws -> BulkWriteProgress where Elements.Element: Sendable {
        let runner = try incrementalRunner()
        guard chunkSize > 0 else {
            throw DatabaseError.misuse("chunkSize must be at least 1, not \(chunkSize)")
        }
        let write = BulkWrite([Elements.Element]().makeIterator(), stepSize: stepSize)
        var steps = IncrementalWriteProgress(pace)
        var iterator = elements.makeAsyncIterator()
        var chunk: [Elements.Element] = []
        repeat {
            // No longer used by `write`, the memory of the last chunk is that of the next one.
            write.goOn(with: [].makeIterator())
            chunk.removeAll(keepingCapacity: true)
            do {
                while chunk.count < chunkSize, let element = try await iterator.next(isolation: isolation) {
                    chunk.append(element)
                }
            } catch {
                throw write.error(error, readingAt: write.committed.elementCount + chunk.count)
            }
            // A sequence may end because the task is cancelled: AsyncStream does.
            try Task.checkCancellation()
            guard !chunk.isEmpty else { break }
            write.goOn(with: chunk.makeIterator())
            steps.goOn()
            do {
                try await runner.write(&steps) { step in
                    try write.write(step.db, body)
                } didCommit: {
                    try write.transactionDidCommit(progress)
                }
            } catch {
                throw write.error(error)
            }
        } while chunk.count == chunkSize
        return write.committed
    }
}
