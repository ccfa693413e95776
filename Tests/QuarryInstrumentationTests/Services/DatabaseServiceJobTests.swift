#if Instrumentation || AllButTLS
import InMemoryLogging
import Logging
import Quarry
import QuarryInstrumentation
import ServiceLifecycle
import Testing

/// The jobs of `DatabaseService`.
@Suite(.timeLimit(.minutes(5))) struct DatabaseServiceJobTests {
    struct Failed: Error {}

    let handler = InMemoryLogHandler()

    var logger: Logger { Logger(label: "test") { _ in handler } }

    func entries(_ message: Logger.Message) -> [InMemoryLogHandler.Entry] {
        handler.entries.filter { $0.message == message }
    }

    /// Jobs run until the shutdown, and may use the database while they end.
    @Test func jobsAreCancelledBeforeTheDatabaseIsClosed() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let hasBegun = Step("the job runs")
        let job = DatabaseService.Job("farewell") {
            hasBegun.reach()
            try? await forever()
            // The job's task is cancelled, so its accesses would be, too.
            try await Task.detached {
                try await pool.write { db in
                    try db.execute(sql: "INSERT INTO player (name, score) VALUES ('farewell', 0)")
                }
            }.value
        }
        let group = ServiceGroup(
            services: [DatabaseService(pool, jobs: [job], gracePeriod: .seconds(Int64.max), logger: logger)],
            logger: logger)
        async let running: Void = group.run()
        try await hasBegun.reached()
        await group.triggerGracefulShutdown()
        try await running
        #expect(try database.playerCount() == 4 && !database.logExists)
        #expect(handler.entries.allSatisfy { $0.level < .warning }, "\(handler.entries)")
    }

    @Test func errorOfAJobIsLogged() async throws {
        let database = try TestDatabase()
        let other = Step("the other job goes on")
        let jobs = [
            DatabaseService.Job("fails") { throw Failed() },
            DatabaseService.Job("ends") {},
            DatabaseService.Job("goes on") {
                other.reach()
                try await forever()
            },
        ]
        let group = ServiceGroup(
            services: [DatabaseService(database.pool, jobs: jobs, logger: logger)], logger: logger)
        async let running: Void = group.run()
        try await other.reached()
        try await until("the error is logged") { !entries("Job has failed").isEmpty }
        try await until("the end is logged") { !entries("Job has ended").isEmpty }
        // The service goes on.
        try await database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
        await group.triggerGracefulShutdown()
        try await running
        let entry = try #require(entries("Job has failed").first)
        #expect(entries("Job has failed").count == 1 && entry.level == .error && entry.error is Failed)
        #expect(entry.metadata["quarry.job.name"] == "fails")
        #expect(entries("Job has ended").first?.metadata["quarry.job.name"] == "ends")
    }

    /// An error of a job ends the service if it is asked to: the databases are closed, and the service throws it.
    @Test func errorOfAJobEndsTheService() async throws {
        let database = try TestDatabase()
        let service = DatabaseService(
            database.pool,
            jobs: [
                .init("fails", onFailure: .endService) { throw Failed() }, .init("forever") { try await forever() },
            ],
            logger: logger)
        await #expect(throws: Failed.self) { try await service.run() }
        #expect(!database.logExists && entries("Job has failed").count == 1 && entries("Database closed").count == 1)
    }

    /// A job that ignores its cancellation doesn't keep the service from ending.
    @Test func jobThatIgnoresItsCancellation() async throws {
        let database = try TestDatabase()
        let (hasBegun, hasEnded) = (Step("the job runs"), Step("the job has ended"))
        let mayEnd = Step("the service has ended")
        let job = DatabaseService.Job("stubborn") {
            hasBegun.reach()
            await Task.detached { try? await mayEnd.reached() }.value
            hasEnded.reach()
        }
        let group = ServiceGroup(
            services: [DatabaseService(database.pool, jobs: [job], gracePeriod: .milliseconds(2), logger: logger)],
            logger: logger)
        async let running: Void = group.run()
        try await hasBegun.reached()
        await group.triggerGracefulShutdown()
        try await running
        let beginning = try #require(entries("Database shutdown begins").first)
        #expect(beginning.metadata["quarry.shutdown.jobs"] == ["stubborn"])
        #expect(entries("A job goes on after its cancellation; the databases are closed").count == 1)
        #expect(entries("Database closed").count == 1)
        mayEnd.reach()
        try await hasEnded.reached()
    }

    /// The failures of work that goes on are logged.
    @Test func failuresOfWorkThatGoesOn() async throws {
        struct Work: ContinuousWork {
            let hasFailed: Step

            func run(onFailure: @escaping @Sendable (any Error, Duration) -> Void) async throws {
                onFailure(Failed(), .seconds(60))
                onFailure(DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "no folder"), .seconds(120))
                hasFailed.reach()
                try await forever()
            }
        }
        let database = try TestDatabase()
        let hasFailed = Step("the work has failed twice")
        let service = DatabaseService(
            database.pool, jobs: [.init("backups", Work(hasFailed: hasFailed))], logger: logger)
        let group = ServiceGroup(services: [service], logger: logger)
        async let running: Void = group.run()
        try await hasFailed.reached()
        await group.triggerGracefulShutdown()
        try await running
        let failures = entries("Job has failed, and tries again")
        #expect(failures.count == 2 && failures.allSatisfy { $0.level == .error })
        #expect(failures.map { $0.metadata["quarry.job.name"] } == ["backups", "backups"])
        #expect(failures.first?.error is Failed && failures.last?.metadata["error.type"] == "SQLITE_CANTOPEN")
        #expect(failures.map { $0.metadata["quarry.job.next_after"].map { "\($0)" } } == ["60.0", "120.0"])
        #expect(entries("Job has failed").isEmpty && entries("Database closed").count == 1)
    }
}
#endif
