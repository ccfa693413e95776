#if Instrumentation || AllButTLS
import InMemoryLogging
import Logging
import Quarry
import ServiceLifecycle
import Testing

@testable import QuarryInstrumentation

/// `DatabaseService` in a `ServiceGroup`.
@Suite(.timeLimit(.minutes(5))) struct DatabaseServiceTests {
    let handler = InMemoryLogHandler()

    var logger: Logger { Logger(label: "test") { _ in handler } }

    func entries(_ message: Logger.Message) -> [InMemoryLogHandler.Entry] {
        handler.entries.filter { $0.message == message }
    }

    /// Runs services until the body has ended, and shuts them down.
    func withServices(
        _ services: any Service..., body: @Sendable (ServiceGroup) async throws -> Void
    ) async throws {
        let group = ServiceGroup(services: services, logger: logger)
        async let running: Void = group.run()
        do {
            try await body(group)
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running
    }

    @Test func logIsGoneAfterTheShutdown() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        try await withServices(DatabaseService(pool, logger: logger)) { _ in
            try await pool.write { db in try db.execute(sql: "CREATE INDEX player_on_score ON player(score)") }
            #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") } == 3)
            #expect(database.logExists)
        }
        #expect(!database.logExists)
        #expect(entries("Database closed").count == 1)
        #expect(handler.entries.allSatisfy { $0.level < .warning }, "\(handler.entries)")
        let error = await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
        #expect(error?.resultCode == .SQLITE_MISUSE && error?.message == "Connection is closed")
        #expect(try database.playerCount() == 3)
    }

    /// The log is emptied also if a reader of another kind keeps it from being deleted.
    @Test func logIsCopiedAndStatisticsAreUpdated() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let other = try DatabaseQueue(path: database.path)
        try await withServices(DatabaseService(pool, logger: logger)) { _ in
            try await pool.write { db in
                try db.execute(
                    sql: """
                        CREATE INDEX player_on_score ON player(score);
                        WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                        INSERT INTO player SELECT i, 'player ' || i, i FROM n;
                        """)
                _ = try Int.fetchAll(db, sql: "SELECT id FROM player WHERE score = 1")
            }
        }
        #expect(entries("Database closed").count == 1)
        // `PRAGMA optimize` has found a table that was never analyzed.
        let statistics = try await other.read { db in
            try String.fetchAll(db, sql: "SELECT idx FROM sqlite_stat1 WHERE tbl = 'player' ORDER BY idx")
        }
        #expect(statistics.contains("player_on_score"))
        try other.close()
    }

    /// Under load, each accepted access ends or fails with a clear error, and nothing acknowledged is lost.
    @Test func shutdownUnderLoad() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let written = Recorded(0)
        let refusals = Recorded<[any Error]>([])
        let hasWritten = Step("some writes have ended")
        try await withThrowingTaskGroup(of: Void.self) { load in
            for task in 0..<16 {
                load.addTask {
                    // It ends when the database refuses it.
                    for number in 0..<1_000_000 {
                        do {
                            if number % 4 == 3 {
                                _ = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT 1 FROM player") }
                                continue
                            }
                            try await pool.write { db in
                                try db.execute(
                                    sql: "INSERT INTO player (name, score) VALUES (?, 0)",
                                    arguments: ["\(task)/\(number)"])
                            }
                            written.update { $0 += 1 }
                            if written.value >= 200 { hasWritten.reach() }
                        } catch {
                            refusals.update { $0.append(error) }
                            return
                        }
                    }
                }
            }
            try await withServices(DatabaseService(pool, logger: logger)) { _ in try await hasWritten.reached() }
            try await load.waitForAll()
        }
        #expect(refusals.value.count == 16)
        for error in refusals.value {
            let error = try #require(error as? DatabaseError)
            #expect(error.resultCode == .SQLITE_MISUSE)
            #expect(["Connection is closing", "Connection is closed"].contains(error.message), "\(error)")
        }
        #expect(!database.logExists)
        #expect(entries("Database closed").count == 1 && entries("Database left open").isEmpty)
        #expect(try database.playerCount() == 3 + written.value)
    }

    /// Running and waiting accesses end, later ones are refused.
    @Test func acceptedAccessesEnd() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let (hasBegun, mayEnd) = (Step("the write has begun"), Step("the shutdown has begun"))
        async let running: Void = pool.write { db in
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('running', 1)")
            hasBegun.reach()
            try mayEnd.wait()
        }
        try await hasBegun.reached()
        async let waiting: Void = pool.write { db in
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('waiting', 1)")
        }
        try await until("a write waits") { pool.statistics.writer.waiters == 1 }
        let group = ServiceGroup(
            services: [DatabaseService(pool, gracePeriod: .seconds(600), logger: logger)], logger: logger)
        async let service: Void = group.run()
        await group.triggerGracefulShutdown()
        var refusal: DatabaseError?
        try await until("the database refuses accesses") {
            do { try pool.read { _ in } } catch let error as DatabaseError { refusal = error }
            return refusal != nil
        }
        #expect(refusal?.resultCode == .SQLITE_MISUSE && refusal?.message == "Connection is closing")
        mayEnd.reach()
        _ = try await (running, waiting, service)
        #expect(!database.logExists && entries("Database closed").count == 1)
        #expect(try database.playerCount() == 5)
    }

    /// After the grace period, a statement that runs is interrupted, and its transaction is rolled back.
    @Test func longStatementIsInterrupted() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let hasBegun = Step("the statement runs")
        let running = Task {
            try await pool.write { db in
                try db.execute(sql: "INSERT INTO player (name, score) VALUES ('lost', 1)")
                hasBegun.reach()
                try db.execute(
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                        INSERT INTO player SELECT max(i), 'endless', 0 FROM n
                        """)
            }
        }
        try await hasBegun.reached()
        let service = DatabaseService(
            pool, gracePeriod: .milliseconds(1), interruptionTimeout: .seconds(100), logger: logger)
        try await withServices(service) { _ in }
        let error = await #expect(throws: DatabaseError.self) { try await running.value }
        #expect(error?.resultCode == .SQLITE_INTERRUPT)
        #expect(!database.logExists && entries("Database closed").count == 1)
        #expect(try database.playerCount() == 3)
    }

    /// The service ends also if an access doesn't return; the log names it.
    @Test func accessThatDoesNotReturn() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let (hasBegun, mayEnd) = (Step("the access has begun"), Step("the service has ended"))
        async let running: Void = pool.write { db in
            db.accessLabel = "stuck"
            hasBegun.reach()
            try mayEnd.wait()
        }
        try await hasBegun.reached()
        let service = DatabaseService(
            pool, gracePeriod: .milliseconds(1), interruptionTimeout: .milliseconds(1), logger: logger)
        try await withServices(service) { _ in }
        let entry = try #require(entries("Database left open").first)
        #expect(entry.level == .error && entry.metadata["error.type"] == "SQLITE_BUSY")
        #expect(entry.error.map { "\($0)".contains("stuck") } == true)
        mayEnd.reach()
        try? await running
        // The database is still usable.
        try await pool.write { db in try db.execute(sql: "DELETE FROM player WHERE id = 1") }
        try pool.close()
        #expect(try database.playerCount() == 2)
    }

    /// Cancellation interrupts accesses at once.
    @Test func cancelledService() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let service = DatabaseService(
            pool, jobs: [.init("forever") { try await forever() }], gracePeriod: .seconds(600),
            interruptionTimeout: .seconds(100), logger: logger)
        let hasBegun = Step("the read has begun")
        let running = endlessRead(pool, hasBegun)
        try await hasBegun.reached()
        let task = Task { try await service.run() }
        task.cancel()
        try await task.value
        await #expect(throws: DatabaseError.self) { try await running.value }
        #expect(!database.logExists && entries("Database closed").count == 1)
    }

    /// Cancellation during the shutdown ends its grace period.
    @Test func serviceThatIsCancelledWhileItShutsDown() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let service = DatabaseService(
            pool, gracePeriod: .seconds(600), interruptionTimeout: .seconds(100), logger: logger)
        let hasBegun = Step("the read has begun")
        let running = endlessRead(pool, hasBegun)
        try await hasBegun.reached()
        let group = ServiceGroup(services: [service], logger: logger)
        let task = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await until("the database closes") {
            do { try pool.read { _ in } } catch ResultCode.SQLITE_MISUSE { return true }
            return false
        }
        task.cancel()
        try? await task.value
        await #expect(throws: DatabaseError.self) { try await running.value }
        #expect(!database.logExists)
    }

    /// A read that goes on until it is interrupted.
    private func endlessRead(_ pool: DatabasePool, _ hasBegun: Step) -> Task<Int?, any Error> {
        Task {
            try await pool.read { db in
                hasBegun.reach()
                return try Int.fetchOne(
                    db, sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
            }
        }
    }

    @Test func severalDatabases() async throws {
        let databases = try (0..<3).map { number in try TestDatabase { $0.label = "shard \(number)" } }
        let memory = try DatabaseQueue()
        try await withServices(DatabaseService(databases.map(\.pool) + [memory], logger: logger)) { _ in
            for database in databases {
                try await database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
            }
        }
        #expect(databases.allSatisfy { !$0.logExists })
        #expect(entries("Database closed").compactMap { $0.metadata["db.namespace"] }.count == 4)
        #expect(throws: DatabaseError.self) { try memory.read { _ in } }
        #expect(handler.entries.allSatisfy { $0.level < .warning }, "\(handler.entries)")
    }

    /// A database that can't be written gets no upkeep; one that is closed already stays closed.
    @Test func readOnlyAndClosedDatabases() async throws {
        let database = try TestDatabase()
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: database.path, configuration: configuration)
        let closed = try DatabaseQueue()
        try closed.close()
        try await withServices(DatabaseService([reader, closed], logger: logger)) { _ in }
        #expect(throws: DatabaseError.self) { try reader.read { _ in } }
        #expect(entries("Database left open").isEmpty)
    }

    // MARK: - What a shutdown waits for

    /// It is logged at the beginning, and again while the shutdown waits.
    @Test func waitIsLogged() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let (hasBegun, mayEnd) = (Step("the write has begun"), Step("the shutdown has waited"))
        let (hasValue, hasWaited) = (Step("the observation has a value"), Step("the shutdown has waited three times"))
        let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
        let values = observation.start(in: pool, scheduling: .task) { _ in
        } onChange: { _ in
            hasValue.reach()
        }
        let commits = pool.commits.makeAsyncIterator()
        try await hasValue.reached()
        async let running: Void = pool.write { db in
            db.accessLabel = "import"
            hasBegun.reach()
            try mayEnd.wait()
        }
        try await hasBegun.reached()
        let pauses = Recorded<[Duration]>([])
        var service = DatabaseService(pool, gracePeriod: .seconds(600), logger: logger)
        service.pause = { pause in
            let count = pauses.update { pauses in
                pauses.append(pause)
                return pauses.count
            }
            guard count > 8 else { return }
            hasWaited.reach()
            try await forever()
        }
        let group = ServiceGroup(services: [service], logger: logger)
        async let ending: Void = group.run()
        await group.triggerGracefulShutdown()
        try await hasWaited.reached()
        mayEnd.reach()
        _ = try await (running, ending)
        let expected: Logger.Metadata = [
            "db.namespace": "players",
            "quarry.shutdown.work": ["the access “import” of the writer of players"],
            "quarry.shutdown.observations": .stringConvertible(1),
            "quarry.shutdown.commit_readers": .stringConvertible(1),
        ]
        let (first, later) = (entries("Database shutdown begins"), entries("Database shutdown waits"))
        #expect(first.map(\.metadata) == [expected] && first.allSatisfy { $0.level == .info })
        #expect(later.count == 8 && later.allSatisfy { $0.metadata == expected && $0.level == .info }, "\(later)")
        #expect(pauses.value == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        #expect(entries("Database closed").count == 1)
        withExtendedLifetime(commits) { values.cancel() }
    }

    /// A database that nothing uses is closed without further entries.
    @Test func nothingToWaitFor() async throws {
        let databases = try (0..<2).map { number in try TestDatabase { $0.label = "shard \(number)" } }
        try await withServices(DatabaseService(databases.map(\.pool), logger: logger)) { _ in }
        #expect(
            entries("Database shutdown begins").map(\.metadata) == [
                ["db.namespace": "shard 0"], ["db.namespace": "shard 1"],
            ])
        #expect(entries("Database shutdown waits").isEmpty)
    }

    /// Loops over the sequences of the library, as the answers of a server do.
    private struct Listener: Service {
        let pool: DatabasePool
        let isListening: Step
        let hasEnded: Step

        func run() async throws {
            let observation = ValueObservation.tracking { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? 0
            }
            let shared = observation.shared(in: pool, scheduling: .task)
            let started = Recorded(0)
            @Sendable func hasElement() {
                let count = started.update { count in
                    count += 1
                    return count
                }
                if count == 4 { isListening.reach() }
            }
            try await withThrowingTaskGroup(of: Void.self) { [pool] group in
                group.addTask {
                    for try await _ in observation.values(in: pool).cancelOnGracefulShutdown() { hasElement() }
                }
                group.addTask { for try await _ in shared.values().cancelOnGracefulShutdown() { hasElement() } }
                group.addTask {
                    let texts = observation.values(in: pool).map { count in "\(count) players" }
                    for try await _ in texts.cancelOnGracefulShutdown() { hasElement() }
                }
                group.addTask {
                    // A commit for each task that listens may come before it does.
                    let commits = pool.commits.cancelOnGracefulShutdown()
                    var iterator = commits.makeAsyncIterator()
                    hasElement()
                    while await iterator.next() != nil {}
                }
                try await group.waitForAll()
            }
            _ = consume shared
            // The observations have ended with their loops, and not with the database.
            try await until("nothing follows the database") {
                pool.statistics.observations == 0 && pool.statistics.commitReaders == 0
            }
            try await pool.write { db in try db.execute(sql: "DELETE FROM player WHERE id = 1") }
            hasEnded.reach()
        }
    }

    /// Sequences of the library end at the shutdown: without an error, and before the database is closed.
    @Test func sequencesEndAtTheShutdown() async throws {
        let database = try TestDatabase()
        let (isListening, hasEnded) = (Step("four sequences are read"), Step("they have ended"))
        let listener = Listener(pool: database.pool, isListening: isListening, hasEnded: hasEnded)
        try await withServices(DatabaseService(database.pool, logger: logger), listener) { _ in
            try await isListening.reached()
        }
        try await hasEnded.reached()
        #expect(try database.playerCount() == 2)
        #expect(handler.entries.allSatisfy { $0.level < .warning }, "\(handler.entries)")
    }

    /// With `PRAGMA wal_autocheckpoint = 0`, another process copies the log.
    @Test func logOfAnotherProcessIsLeft() async throws {
        let database = try TestDatabase { configuration in
            configuration.prepareDatabase { db in
                if !db.configuration.readonly { try db.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
            }
        }
        let other = try DatabaseQueue(path: database.path)
        try await other.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
        try await withServices(DatabaseService(database.pool, logger: logger)) { _ in }
        #expect(entries("Database closed").count == 1 && database.logSize > 0)
        try other.close()
        #expect(!database.logExists)
    }
}
#endif
