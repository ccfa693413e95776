#if Instrumentation || AllButTLS
internal import Logging
internal import Quarry

/// The end of some databases: their log is copied into the file, and their connections are closed.
final class DatabaseShutdown: Sendable {
    private let databases: [any DatabaseWriter]
    private let gracePeriod: Duration
    private let interruptionTimeout: Duration
    private let logger: Logger
    /// Waits between two reports; throws when the task is cancelled.
    private let pause: @Sendable (Duration) async throws -> Void
    /// The names of the jobs that haven't ended, and the indexes of the databases that aren't closed.
    private let unfinished: Lock<(jobs: [Int: String], databases: Set<Int>)>
    /// Whether the jobs have ended; false once they may take no longer.
    private let jobsEnded = Signal<Bool>()
    private let graceEnd = Lock(ContinuousClock.Instant?.none)
    /// The calls that interrupt accesses.
    private let interruptions = Lock<[Task<Void, Never>]>([])

    init(
        databases: [any DatabaseWriter], gracePeriod: Duration, interruptionTimeout: Duration, logger: Logger,
        pause: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.databases = databases
        // A year is forever, and the clock can add it.
        self.gracePeriod = min(gracePeriod, .seconds(365 * 86400))
        self.interruptionTimeout = interruptionTimeout
        self.logger = logger
        self.pause = pause
        unfinished = Lock(([:], Set(databases.indices)))
    }

    /// Waits for cancelled jobs, and closes the databases.
    func perform(after jobs: [RunningJob]) async {
        graceEnd.withLock { end in
            if end == nil { end = .now + gracePeriod }
        }
        unfinished.withLock { $0.jobs = Dictionary(uniqueKeysWithValues: jobs.enumerated().map { ($0, $1.name) }) }
        report("Database shutdown begins")
        let reports = Task { await report() }
        defer { reports.cancel() }
        if !jobs.isEmpty, await !end(jobs, within: remaining / 2) {
            logger.warning("A job goes on after its cancellation; the databases are closed")
        }
        await withTaskGroup(of: Void.self) { group in
            for (index, database) in databases.enumerated() {
                group.addTask {
                    await self.close(database, gracePeriod: self.remaining)
                    _ = self.unfinished.withLock { $0.databases.remove(index) }
                }
            }
        }
        // A call that finds its database closed may return while another one still closes connections.
        for interruption in interruptions.withLock({ $0 }) { await interruption.value }
    }

    /// Interrupts jobs and accesses, before or during `perform`.
    func endGracePeriod() {
        graceEnd.withLock { $0 = .now }
        jobsEnded.send(false)
        for database in databases {
            // If several calls close a database, the shortest grace period applies.
            let interruption = Task {
                // The other call logs the error.
                _ = try? await database.close(gracePeriod: .zero, interruptionTimeout: interruptionTimeout)
            }
            interruptions.withLock { $0.append(interruption) }
        }
    }

    /// The rest of the grace period.
    private var remaining: Duration {
        max(.zero, ContinuousClock.now.duration(to: graceEnd.withLock { $0 } ?? .now))
    }

    // MARK: - Reports

    /// Reports what the shutdown waits for, after a second, two more, four more, and so on, up to a minute.
    private func report() async {
        var interval = Duration.seconds(1)
        while (try? await pause(interval)) != nil {
            report("Database shutdown waits")
            interval = min(interval * 2, .seconds(60))
        }
    }

    /// Logs for each open database what uses it.
    private func report(_ message: Logger.Message) {
        let unfinished = unfinished.withLock { $0 }
        let jobs = unfinished.jobs.sorted { $0.key < $1.key }.map(\.value)
        for index in unfinished.databases.sorted() {
            let database = databases[index]
            let statistics = database.statistics
            var metadata: Logger.Metadata = [Attribute.namespace: .string(database.namespace)]
            func add(_ name: String, _ texts: [String]) {
                if !texts.isEmpty { metadata[name] = .array(texts.map { .string($0) }) }
            }
            add("quarry.shutdown.work", database.runningWork)
            add("quarry.shutdown.jobs", jobs)
            // Closing ends these: they tell what else has to end, such as a stream to a client.
            let followers = [
                "quarry.shutdown.observations": statistics.observations,
                "quarry.shutdown.commit_readers": statistics.commitReaders,
            ]
            for (name, count) in followers where count > 0 { metadata[name] = .stringConvertible(count) }
            logger.info(message, metadata: metadata)
        }
    }

    // MARK: - One database

    private func close(_ database: any DatabaseWriter, gracePeriod: Duration) async {
        let start = ContinuousClock.now
        var metadata: Logger.Metadata = [Attribute.namespace: .string(database.namespace)]
        // Requested before closing begins, so it runs after all accesses: later ones are refused.
        if gracePeriod > .zero, !database.configuration.readonly { requestUpkeep(of: database) }
        do {
            try await database.close(gracePeriod: gracePeriod, interruptionTimeout: interruptionTimeout)
            metadata["quarry.close.duration"] = .stringConvertible(start.duration(to: .now).seconds)
            logger.info("Database closed", metadata: metadata)
        } catch {
            metadata[Attribute.errorType] = .string(error.errorType)
            logger.error("Database left open", error: error, metadata: metadata)
        }
    }

    private func requestUpkeep(of database: any DatabaseWriter) {
        let metadata: Logger.Metadata = [Attribute.namespace: .string(database.namespace)]
        database.asyncBarrierWriteWithoutTransaction { [logger] result in
            func perform(_ name: String, _ work: (Database) throws -> Void) {
                do {
                    try work(result.get())
                } catch {
                    logger.warning(
                        "\(name) failed before the database was closed", error: error, metadata: metadata)
                }
            }
            perform("Checkpoint") { db in
                db.accessLabel = "DatabaseService"
                // With 0, another process checkpoints, such as Litestream.
                if try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint") == 0 { return }
                try db.checkpoint(.truncate)
            }
            // If the first could not run, neither can the second.
            guard case .success = result else { return }
            perform("PRAGMA optimize") { db in
                // SQLite before 3.46 analyzes whole tables without it: https://www.sqlite.org/lang_analyze.html#req
                if try Int.fetchOne(db, sql: "PRAGMA analysis_limit") == 0 {
                    try db.execute(sql: "PRAGMA analysis_limit = 400")
                }
                try db.optimize()
            }
        }
    }

    // MARK: - Jobs

    /// Waits for jobs, which may go on afterwards.
    ///
    /// - returns: whether they have ended.
    private func end(_ jobs: [RunningJob], within limit: Duration) async -> Bool {
        Task {
            await withTaskGroup(of: Void.self) { group in
                for (index, job) in jobs.enumerated() {
                    group.addTask {
                        await job.task.value
                        self.unfinished.withLock { $0.jobs[index] = nil }
                    }
                }
            }
            jobsEnded.send(true)
        }
        let timer = Task {
            try? await Task.sleep(for: limit)
            jobsEnded.send(false)
        }
        defer { timer.cancel() }
        return await jobsEnded.value() ?? false
    }
}

/// A job that a service has started.
struct RunningJob: Sendable {
    let name: String
    let task: Task<Void, Never>
}
#endif
