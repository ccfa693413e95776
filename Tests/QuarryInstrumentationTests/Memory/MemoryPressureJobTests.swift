#if Instrumentation || AllButTLS
import Foundation
import InMemoryLogging
import Logging
import Quarry
import QuarryInstrumentation
import ServiceLifecycle
import Testing

/// The job of `DatabaseService` that gives memory back. Its tests have processes of their own, because the databases of
/// other tests would give theirs back, too.
@Suite(.timeLimit(.minutes(5))) struct MemoryPressureJobTests {
    let handler = InMemoryLogHandler()

    var logger: Logger { Logger(label: "test") { _ in handler } }

    func entries(_ message: Logger.Message) -> [InMemoryLogHandler.Entry] {
        handler.entries.filter { $0.message == message }
    }

    private func file() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("quarry-\(UUID().uuidString).events")
    }

    private func write(_ count: Int, to file: URL) throws {
        // Replaced at once, as the kernel's file is.
        try Data("high \(count)\nmax 0\noom 0\n".utf8).write(to: file, options: .atomic)
    }

    /// Waits for a line of the log.
    private func logged(_ message: Logger.Message, count: Int = 1) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while entries(message).count < count {
            try #require(ContinuousClock.now < end, "\(message) is never logged: \(handler.entries)")
            await Task.yield()
        }
    }

    @Test func memoryIsGivenBackUntilTheShutdown() async {
        await #expect(processExitsWith: .success) { try await MemoryPressureJobTests().giveBack() }
    }

    private func giveBack() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let file = file()
        defer { try? FileManager.default.removeItem(at: file) }
        try write(0, to: file)
        let job = DatabaseService.Job.memoryPressure(
            try MemoryPressureMonitor(path: file.path, interval: .milliseconds(1)), logger: logger)
        let group = ServiceGroup(
            services: [DatabaseService(pool, jobs: [job], logger: logger)], logger: logger)
        async let running: Void = group.run()
        try await logged("Memory pressure is watched")
        for count in 1...3 {
            #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") } == 3)
            try write(count, to: file)
            try await logged("Memory given back", count: count)
        }
        await group.triggerGracefulShutdown()
        try await running
        for entry in entries("Memory given back") {
            #expect(entry.metadata["quarry.memory.closed_connections"]?.description == "1")
            #expect(entry.metadata["quarry.memory.path"]?.description == file.path)
        }
        #expect(entries("Database closed").count == 1)
        #expect(handler.entries.allSatisfy { $0.level < .warning }, "\(handler.entries)")
    }

    /// The file of a container that goes away: the job fails, and the service goes on.
    @Test func aFileThatIsGone() async {
        await #expect(processExitsWith: .success) { try await MemoryPressureJobTests().removeFile() }
    }

    private func removeFile() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let file = file()
        try write(0, to: file)
        let job = DatabaseService.Job.memoryPressure(
            try MemoryPressureMonitor(path: file.path, interval: .milliseconds(1)), logger: logger)
        let group = ServiceGroup(
            services: [DatabaseService(pool, jobs: [job], logger: logger)], logger: logger)
        async let running: Void = group.run()
        try await logged("Memory pressure is watched")
        try FileManager.default.removeItem(at: file)
        try await logged("Job has failed")
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") } == 3)
        await group.triggerGracefulShutdown()
        try await running
        #expect(entries("Job has failed").first?.metadata["quarry.job.name"]?.description == "memory pressure")
        #expect(entries("Database closed").count == 1)
    }

    /// A machine that tells nothing about pressure.
    @Test func noFile() async throws {
        let database = try TestDatabase()
        let job = DatabaseService.Job.memoryPressure(
            try MemoryPressureMonitor(path: "/nothing"), onFailure: .endService, logger: logger)
        let group = ServiceGroup(
            services: [DatabaseService(database.pool, jobs: [job], logger: logger)], logger: logger)
        async let running: Void = group.run()
        try await logged("Memory pressure is not watched")
        await group.triggerGracefulShutdown()
        try await running
        #expect(entries("Job has failed").isEmpty && entries("Database closed").count == 1)
    }

    /// A mistake in the program ends the service, if asked for.
    @Test func aMistake() async throws {
        let database = try TestDatabase()
        let job = DatabaseService.Job.memoryPressure(
            try MemoryPressureMonitor(path: "/proc/self/cgroup", interval: .zero), onFailure: .endService,
            logger: logger)
        let service = DatabaseService(database.pool, jobs: [job], logger: logger)
        let error = await #expect(throws: DatabaseError.self) { try await service.run() }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }
}
#endif
