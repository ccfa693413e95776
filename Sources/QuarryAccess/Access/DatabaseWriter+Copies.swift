public import QuarryCore

extension DatabaseReader {
    /// Copies the database over another one.
    ///
    /// ```swift
    /// let copy = try DatabaseQueue(path: "/var/backups/players.sqlite")
    /// try dbPool.backup(to: copy, pagesPerStep: 1000) { progress in
    ///     print("\(progress.completedPageCount) of \(progress.totalPageCount) pages")
    /// }
    /// ```
    ///
    /// The copy runs on this thread, in one read: later changes aren't copied. Reads of the destination wait.
    ///
    /// - parameter writer: the destination, whose content is replaced.
    /// - parameter pagesPerStep: the number of pages copied between two calls of `progress`; negative for all.
    /// - parameter progress: called between steps. An error ends the backup and is thrown, unless all pages have been
    ///   copied.
    /// - throws: `DatabaseError`; the error of `progress`. See <https://www.sqlite.org/backup.html>.
    public func backup(
        to writer: any DatabaseWriter, pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try writer.barrierWriteWithoutTransaction { destination in
            try read { source in
                try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
            }
        }
    }
}

extension DatabaseReader {
    /// Copies the database over another one, as `backup`. Waiting suspends the task, and the copy runs on the library's
    /// threads.
    ///
    /// ```swift
    /// let copy = try await DatabaseQueue.open(path: "/var/backups/players.sqlite")
    /// try await dbPool.backupAsync(to: copy)
    /// ```
    ///
    /// Cancelling the task ends the wait, or the backup; then the destination is unchanged.
    ///
    /// - parameter writer: the destination, whose content is replaced.
    /// - parameter pagesPerStep: the number of pages copied between two calls of `progress`; negative for all.
    /// - parameter progress: called between steps. An error ends the backup and is thrown, unless all pages have been
    ///   copied.
    /// - throws: `DatabaseError`; the error of `progress`; `CancellationError`.
    public func backupAsync(
        to writer: any DatabaseWriter, pagesPerStep: CInt = -1,
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws {
        guard let source = groupReader, let destination = writer.groupReader as? any GroupWriter
        else {
            return try await writer.barrierWriteWithoutTransaction { destination in
                try read { source in try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
                }
            }
        }
        guard source !== destination else { throw DatabaseError.backupToItself() }
        let (from, kind) = (source.readers, source.readRequest.kind)
        let (to, barrier) = (destination.writer, destination.barrierRequest.barrier)
        typealias Held = (lease: ConnectionGroup.Lease, token: AccessToken)
        let copy: @Sendable (Held, Held) throws -> Void = { from, to in
            try AccessRunner.frame(to.lease.database, to.token) { destination in
                try AccessRunner.frame(from.lease.database, from.token, kind: kind) { source in
                    try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
                }
            }
        }
        let task = DeadlockDetector.newTask()
        defer { DeadlockDetector.end(task: task) }
        // Always in the same order: two backups in opposite directions would wait for each other.
        if ObjectIdentifier(source) < ObjectIdentifier(destination) {
            try await from.withLease(task: task) { source, sourceToken in
                try await to.withLease(barrier: barrier, task: task) { destination, token in
                    try copy((source, sourceToken), (destination, token))
                }
            }
        } else {
            try await to.withLease(barrier: barrier, task: task) { destination, token in
                try await from.withLease(task: task) { source, sourceToken in
                    try copy((source, sourceToken), (destination, token))
                }
            }
        }
    }
}

extension DatabaseWriter {
    /// Deletes everything: tables, views, triggers. Waits for running reads, and makes later reads wait.
    ///
    /// ```swift
    /// try dbQueue.erase()
    /// ```
    ///
    /// The database becomes a copy of an empty one.
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` inside an access of this thread.
    public func erase() throws {
        try barrierWriteWithoutTransaction { db in try db.erase() }
    }

    /// As the synchronous `erase`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `erase`; `CancellationError`.
    public func erase() async throws {
        try await barrierWriteWithoutTransaction { db in try db.erase() }
    }
}

extension DatabaseQueue {
    /// A copy of a file, in memory.
    ///
    /// ```swift
    /// let dbQueue = try DatabaseQueue.inMemoryCopy(fromPath: "fixtures.sqlite")
    /// ```
    ///
    /// - parameter path: the file to copy.
    /// - parameter configuration: `readonly` makes the copy read-only.
    /// - throws: `DatabaseError` if the file can't be read.
    public static func inMemoryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(of: path, at: ":memory:", isInMemory: true, configuration)
    }

    /// A copy of a file, in a temporary file that is removed with the queue.
    ///
    /// ```swift
    /// let dbQueue = try DatabaseQueue.temporaryCopy(fromPath: "fixtures.sqlite")
    /// ```
    ///
    /// See <https://www.sqlite.org/inmemorydb.html#temporary_databases>.
    ///
    /// - parameter path: the file to copy.
    /// - parameter configuration: `readonly` makes the copy read-only.
    /// - throws: `DatabaseError` if the file can't be read.
    public static func temporaryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(of: path, at: "", isInMemory: false, configuration)
    }

    /// A copy of a file, in memory, as `inMemoryCopy`. It is made on the library's threads.
    ///
    /// ```swift
    /// let dbQueue = try await DatabaseQueue.inMemoryCopyAsync(fromPath: "fixtures.sqlite")
    /// ```
    ///
    /// Cancelling the task ends the copy, or the wait for a lock on the file.
    ///
    /// - parameter path: the file to copy.
    /// - parameter configuration: `readonly` makes the copy read-only.
    /// - throws: `DatabaseError` if the file can't be read; `CancellationError`.
    public static func inMemoryCopyAsync(
        fromPath path: String, configuration: Configuration = Configuration()
    ) async throws -> DatabaseQueue {
        try await copyAsync(of: path, at: ":memory:", isInMemory: true, configuration)
    }

    /// A copy of a file, in a temporary file that is removed with the queue, as `temporaryCopy`. It is made on the
    /// library's threads.
    ///
    /// ```swift
    /// let dbQueue = try await DatabaseQueue.temporaryCopyAsync(fromPath: "fixtures.sqlite")
    /// ```
    ///
    /// Cancelling the task ends the copy, or the wait for a lock on the file.
    ///
    /// - parameter path: the file to copy.
    /// - parameter configuration: `readonly` makes the copy read-only.
    /// - throws: `DatabaseError` if the file can't be read; `CancellationError`.
    public static func temporaryCopyAsync(
        fromPath path: String, configuration: Configuration = Configuration()
    ) async throws -> DatabaseQueue {
        try await copyAsync(of: path, at: "", isInMemory: false, configuration)
    }

    private static func copyAsync(
        of path: String, at copyPath: String, isInMemory: Bool, _ configuration: Configuration
    ) async throws -> DatabaseQueue {
        let workers = WorkerThreads(connectionCount: 1)
        return try await workers.opening {
            try copy(of: path, at: copyPath, isInMemory: isInMemory, configuration, workers, followsTask: true)
        }
    }

    private static func copy(
        of path: String, at copyPath: String, isInMemory: Bool, _ configuration: Configuration,
        _ workers: WorkerThreads? = nil, followsTask: Bool = false
    ) throws -> DatabaseQueue {
        try DatabaseQueue(
            path: copyPath, isInMemory: isInMemory, configuration: configuration, workers: workers,
            followsTask: followsTask
        ) { db in try db.fill(fromPath: path, followsTask: followsTask) }
    }
}
