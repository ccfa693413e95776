#if Instrumentation || AllButTLS
public import Logging
public import Quarry
public import ServiceLifecycle

/// A service that closes databases when the program shuts down, and runs jobs until then.
///
/// ```swift
/// let database = DatabaseService(dbPool, jobs: [.init("backup") { try await schedule.run() }], logger: logger)
/// let group = ServiceGroup(
///     services: [database, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// List it before the services that use the databases: a group shuts its services down in the opposite order, so that
/// the server has answered its last request by then.
///
/// On graceful shutdown:
///
/// 1. The jobs are cancelled, and may end within half of `gracePeriod`.
/// 2. New accesses throw `SQLITE_MISUSE`, "Connection is closing". Running and waiting ones go on.
/// 3. When they have ended, the write-ahead log is copied into the file and emptied, unless `PRAGMA wal_autocheckpoint`
///    is 0, and the query planner's statistics are updated:
///
///    ```sql
///    PRAGMA main.wal_checkpoint(TRUNCATE)
///    PRAGMA analysis_limit = 400 -- unless the program has set it
///    PRAGMA optimize
///    ```
///
/// 4. The connections are closed. SQLite deletes the log, unless another process uses the file.
///
/// After `gracePeriod`, waiting accesses throw, and running statements throw `SQLITE_INTERRUPT`; then closing waits for
/// `interruptionTimeout`. If an access runs no statement and doesn't return, the service logs its label, leaves the
/// database open and returns, so that the process can end: nothing that was committed is lost, and the next opening
/// reads the log.
///
/// It logs at `info` when the shutdown begins, and while it waits, after 1, 3, 7, … seconds: the accesses and backups
/// that run, by their labels (`quarry.shutdown.work`), the jobs that haven't ended (`quarry.shutdown.jobs`), and the
/// number of observations and of readers of commits that still follow the database. In a service that is shut down
/// before this one, end such sequences with ServiceLifecycle's `cancelOnGracefulShutdown()`: otherwise a server waits
/// for the answer to a client that listens, and this service isn't asked to shut down.
///
/// ```swift
/// for try await players in observation.values(in: dbPool).cancelOnGracefulShutdown() { … }
/// ```
///
/// If the service's task is cancelled instead, or meanwhile, the grace period ends at once. Several databases are
/// closed at the same time. A failure to close is logged and doesn't end the service with an error, because a group
/// then cancels the services that haven't shut down yet.
///
/// See `DatabaseReader.close(gracePeriod:interruptionTimeout:)` and
/// <https://github.com/swift-server/swift-service-lifecycle>.
public struct DatabaseService: Service {
    /// Work that runs from the start of the service to its shutdown: a schedule of backups, the delivery of an outbox.
    public struct Job: Sendable {
        /// The consequence of an error.
        public enum FailurePolicy: Sendable, Hashable {
            /// The error is logged; the service and the other jobs go on.
            case log
            /// The error is logged, the databases are closed as for a graceful shutdown, and the service throws it.
            case endService
        }

        /// The name, for logs.
        public let name: String

        let failurePolicy: FailurePolicy
        let run: @Sendable (Logger) async throws -> Void

        /// A job that runs until its task is cancelled.
        ///
        /// ```swift
        /// DatabaseService.Job("outbox", onFailure: .endService) { try await outbox.deliver() }
        /// ```
        ///
        /// - parameter name: a name, for logs.
        /// - parameter failurePolicy: the consequence of an error.
        /// - parameter run: the work. Its task is cancelled at the shutdown.
        public init(
            _ name: String, onFailure failurePolicy: FailurePolicy = .log,
            run: @escaping @Sendable () async throws -> Void
        ) {
            self.name = name
            self.failurePolicy = failurePolicy
            self.run = { _ in try await run() }
        }

        /// A job that goes on after failures, each of which is logged with the time until its next try.
        ///
        /// ```swift
        /// DatabaseService.Job("backups", try ScheduledBackups(of: dbPool, in: folder, schedule: schedule))
        /// ```
        ///
        /// - parameter name: a name, for logs.
        /// - parameter failurePolicy: the consequence of an error that ends the work.
        /// - parameter work: the work. Its task is cancelled at the shutdown.
        public init(_ name: String, onFailure failurePolicy: FailurePolicy = .log, _ work: some ContinuousWork) {
            self.name = name
            self.failurePolicy = failurePolicy
            self.run = { logger in
                try await work.run { error, pause in
                    logger.error(
                        "Job has failed, and tries again", error: error,
                        metadata: [
                            Attribute.jobName: "\(name)", Attribute.errorType: "\(error.errorType)",
                            "quarry.job.next_after": .stringConvertible(pause.seconds),
                        ])
                }
            }
        }
    }

    private let databases: [any DatabaseWriter]
    private let jobs: [Job]
    private let gracePeriod: Duration
    private let interruptionTimeout: Duration
    private let logger: Logger
    /// Waits between two reports of a shutdown.
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// A service for one database.
    ///
    /// - parameter database: the database, which the service closes.
    /// - parameter jobs: work until the shutdown.
    /// - parameter gracePeriod: how long jobs and accesses may go on after the beginning of the shutdown.
    /// - parameter interruptionTimeout: how long to wait for accesses that were interrupted then.
    /// - parameter logger: receives the errors of jobs, and the course of the shutdown.
    public init(
        _ database: any DatabaseWriter, jobs: [Job] = [], gracePeriod: Duration = .seconds(10),
        interruptionTimeout: Duration = .seconds(5), logger: Logger = Logger(label: "quarry")
    ) {
        self.init(
            [database], jobs: jobs, gracePeriod: gracePeriod, interruptionTimeout: interruptionTimeout, logger: logger)
    }

    /// A service for several databases, which are closed at the same time.
    ///
    /// - parameter databases: the databases, which the service closes.
    /// - parameter jobs: work until the shutdown.
    /// - parameter gracePeriod: how long jobs and accesses may go on after the beginning of the shutdown.
    /// - parameter interruptionTimeout: how long to wait for accesses that were interrupted then.
    /// - parameter logger: receives the errors of jobs, and the course of the shutdown.
    public init(
        _ databases: [any DatabaseWriter], jobs: [Job] = [], gracePeriod: Duration = .seconds(10),
        interruptionTimeout: Duration = .seconds(5), logger: Logger = Logger(label: "quarry")
    ) {
        self.databases = databases
        self.jobs = jobs
        self.gracePeriod = gracePeriod
        self.interruptionTimeout = interruptionTimeout
        self.logger = logger
    }

    /// Runs the jobs until the shutdown, and closes the databases.
    ///
    /// - throws: the error of a job with `FailurePolicy.endService`.
    public func run() async throws {
        let failed = Signal<any Error>()
        let running = jobs.map { job in RunningJob(name: job.name, task: Task { await run(job, failed) }) }
        let ending = await ending(failed)
        for job in running { job.task.cancel() }
        let shutdown = DatabaseShutdown(
            databases: databases, gracePeriod: ending.isCancelled ? .zero : gracePeriod,
            interruptionTimeout: interruptionTimeout, logger: logger, pause: pause)
        // Cancellation must not end the shutdown, only its grace period.
        let closing = Task { await shutdown.perform(after: running) }
        await withTaskCancellationHandler {
            await closing.value
        } onCancel: {
            shutdown.endGracePeriod()
        }
        if case .failure(let error) = ending { throw error }
    }

    // MARK: - Running

    /// The reason for the end of the service.
    private enum Ending {
        case shutdown
        case cancellation
        case failure(any Error)

        var isCancelled: Bool { if case .cancellation = self { true } else { false } }
    }

    /// Waits for the shutdown, the cancellation of the task, or the failure of a job.
    private func ending(_ failed: Signal<any Error>) async -> Ending {
        await withTaskGroup(of: Ending?.self) { group in
            group.addTask {
                do {
                    try await gracefulShutdown()
                    return .shutdown
                } catch {
                    return .cancellation
                }
            }
            group.addTask { await failed.value().map { .failure($0) } }
            // The other child ends when it is cancelled.
            defer { group.cancelAll() }
            for await ending in group {
                if let ending { return ending }
            }
            return .cancellation
        }
    }

    private func run(_ job: Job, _ failed: Signal<any Error>) async {
        do {
            try await job.run(logger)
            if !Task.isCancelled { logger.info("Job has ended", metadata: [Attribute.jobName: "\(job.name)"]) }
        } catch {
            if Task.isCancelled, error is CancellationError { return }
            logger.error(
                "Job has failed", error: error,
                metadata: [Attribute.jobName: "\(job.name)", Attribute.errorType: "\(error.errorType)"])
            if job.failurePolicy == .endService { failed.send(error) }
        }
    }
}

extension DatabaseService: CustomStringConvertible {
    /// `DatabaseService(shop, archive)`, for the logs of a group.
    public var description: String { "DatabaseService(\(databases.map(\.namespace).joined(separator: ", ")))" }
}
#endif
