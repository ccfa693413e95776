#if Instrumentation || AllButTLS
import Foundation
import InMemoryLogging
import Logging
import Quarry
import QuarryInstrumentation
import Testing

/// The entries of `LoggingTracer`.
@Suite(.timeLimit(.minutes(5))) struct LoggingTracerTests {
    let handler = InMemoryLogHandler()

    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = level
        return logger
    }

    func entries(_ message: Logger.Message) -> [InMemoryLogHandler.Entry] {
        handler.entries.filter { $0.message == message }
    }

    @Test func slowStatementIsLoggedWithItsPlan() throws {
        let database = try TestDatabase()
        database.pool.addTracer(LoggingTracer(logger: logger(.info), slowStatementThreshold: .zero))
        let count = try database.pool.read { db in
            db.accessLabel = "search"
            let sql = "SELECT * FROM player WHERE score > 150 AND name <> ?"
            return try Row.fetchAll(db, sql: sql, arguments: ["Craig"]).count
        }
        #expect(count == 1)
        let entry = try #require(
            entries("Slow statement").first { $0.metadata["db.operation.name"] == "SELECT" })
        #expect(entry.level == .warning)
        #expect(entry.metadata["db.query.text"] == "SELECT * FROM player WHERE score > ? AND name <> ?")
        #expect(entry.metadata["quarry.query.plan"] == "QUERY PLAN\n`--SCAN player")
        #expect(entry.metadata["db.collection.name"] == "player")
        #expect(entry.metadata["db.namespace"] == "players")
        #expect(entry.metadata["db.response.returned_rows"].map { "\($0)" } == "1")
        #expect(entry.metadata["quarry.query.full_scan_steps"] != nil)
        #expect(entry.metadata["quarry.access.label"] == "search")
        #expect(Double("\(entry.metadata["db.client.operation.duration"] ?? "")").map { $0 > 0 && $0 < 100 } == true)
        #expect(!"\(handler.entries)".contains("Craig") && !"\(handler.entries)".contains("> 150"))
    }

    @Test func wellBehavedAccessIsNotLogged() throws {
        let database = try TestDatabase()
        database.pool.addTracer(LoggingTracer(logger: logger(.info), slowStatementThreshold: .seconds(1000)))
        try database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
        #expect(handler.entries.isEmpty)
    }

    @Test func accessesAndStatementsAreLoggedAtTheirLevels() throws {
        let database = try TestDatabase()
        let registration = database.pool.addTracer(LoggingTracer(logger: logger(.debug)))
        try database.pool.write { db in try db.execute(sql: "DELETE FROM player WHERE id = 1") }
        registration.remove()
        let access = try #require(entries("Access").first)
        #expect(access.level == .debug)
        #expect(access.metadata["quarry.access.kind"] == "write")
        #expect(access.metadata["quarry.access.outcome"] == "value")
        #expect(access.metadata["db.client.connection.pool.name"] == "players/writer")
        #expect(access.metadata["db.client.connection.wait_time"] != nil)
        #expect(access.metadata["db.client.connection.use_time"] != nil)
        #expect(entries("Statement").isEmpty)

        database.pool.addTracer(LoggingTracer(logger: logger(.trace)))
        try database.pool.write { db in try db.execute(sql: "DELETE FROM player WHERE id = 2") }
        let statement = try #require(entries("Statement").first { $0.metadata["db.operation.name"] == "DELETE" })
        #expect(statement.level == .trace)
        #expect(statement.metadata["db.query.text"] == "DELETE FROM player WHERE id = ?")
        #expect(entries("Statement").contains { $0.metadata["db.operation.name"] == "COMMIT" })
    }

    /// Arguments are in no entry unless they are public.
    @Test(arguments: [false, true]) func arguments(arePublic: Bool) throws {
        let database = try TestDatabase { $0.publicStatementArguments = arePublic }
        database.pool.addTracer(LoggingTracer(logger: logger(.trace), slowStatementThreshold: .zero))
        let error = #expect(throws: DatabaseError.self) {
            try database.pool.write { db in
                _ = try Int.fetchOne(db, sql: "SELECT id FROM player WHERE name = ?", arguments: ["secret1"])
                try db.execute(
                    sql: "INSERT INTO player (id, name, score) VALUES (1, ?, 0)", arguments: ["secret2"])
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
        // Also the texts of the logged errors.
        let log = handler.entries.map { entry in "\(entry) \(entry.error.map { "\($0)" } ?? "")" }.joined()
        #expect(log.contains("secret1") == arePublic)
        #expect(log.contains("secret2") == arePublic)
    }

    /// An error that the program ignores is logged, too.
    @Test func errorIsLoggedWithItsCodes() throws {
        let database = try TestDatabase()
        database.pool.addTracer(LoggingTracer(logger: logger(.info)))
        try database.pool.write { db in
            try? db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 1)")
        }
        let entry = try #require(handler.entries.first)
        #expect(handler.entries.count == 1)
        #expect(entry.level == .notice)
        #expect(entry.message == "UNIQUE constraint failed: player.name")
        #expect(entry.metadata["db.response.status_code"] == "2067")
        #expect(entry.metadata["error.type"] == "SQLITE_CONSTRAINT_UNIQUE")
        #expect(entry.metadata["db.query.text"] == "INSERT INTO player (name, score) VALUES (?, ?)")
    }

    /// The entry about a wait names the access that has the connection, and its SQL.
    @Test func waitIsLoggedWithItsHolder() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let isTold = Step("the wait is logged")
        pool.addTracer(LoggingTracer(logger: logger(.info), waitThreshold: .zero))
        var options = DatabaseTracing.Options(.waits)
        options.waitThreshold = .zero
        // Added later, so that the entry has been written.
        pool.addTracer(options) { _ in isTold.reach() }
        let hasWritten = Step("the holder has written")
        async let holder: Void = pool.write { db in
            db.accessLabel = "import"
            try db.execute(sql: "UPDATE player SET score = 1")
            hasWritten.reach()
            try isTold.wait()
        }
        try await hasWritten.reached()
        try await pool.write { db in try db.execute(sql: "DELETE FROM player") }
        try await holder
        let entry = try #require(entries("Waiting for a connection").first)
        #expect(entry.level == .warning)
        #expect(entry.metadata["db.client.connection.pending_requests"].map { "\($0)" } == "1")
        guard case .array(let holders) = entry.metadata["quarry.wait.holders"],
            case .dictionary(let first) = holders.first
        else { throw Step.NeverReached(description: "holders") }
        #expect(first["quarry.access.label"] == "import")
        #expect(first["db.query.text"] == "UPDATE player SET score = ?")
        #expect(first["quarry.query.running"].map { "\($0)" } == "false")
    }

    /// The severity of an error is the level of its entry.
    @Test func fullDatabaseIsCritical() throws {
        let database = try TestDatabase()
        database.pool.addTracer(LoggingTracer(logger: logger(.info)))
        let error = #expect(throws: DatabaseError.self) {
            try database.pool.write { db in
                try db.execute(sql: "PRAGMA max_page_count = 1; INSERT INTO player SELECT NULL, zeroblob(100000), 0")
            }
        }
        #expect(error?.resultCode == .SQLITE_FULL)
        #expect(handler.entries.first?.level == .critical)
        #expect(handler.entries.first?.metadata["error.type"] == "SQLITE_FULL")
    }

    @Test func checkpointsAndConnectionsAreLoggedAtDebug() throws {
        let database = try TestDatabase()
        database.pool.addTracer(LoggingTracer(logger: logger(.debug)))
        try database.pool.read { _ in }
        try database.pool.maintain()
        try database.pool.close()
        let checkpoint = try #require(entries("Checkpoint").first)
        #expect(checkpoint.level == .debug && checkpoint.metadata["quarry.checkpoint.reason"] == "requested")
        #expect(checkpoint.metadata["quarry.wal.size"].map { "\($0)" } == "0")
        let opening = try #require(entries("Connection opened").first)
        #expect(opening.metadata["db.client.connection.pool.name"] == "players/reader")
        #expect(entries("Connection closed").count == 2)
    }

    /// A synchronous access that waits in a task blocks a thread on which tasks run.
    @Test func blockedThreadIsLogged() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        pool.addTracer(LoggingTracer(logger: logger(.info)))
        let (hasBegun, mayEnd) = (Step("the holder has begun"), Step("the task waits"))
        let holder = Task {
            try await pool.write { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let blocked = Task { try pool.synchronousWrite() }
        // On a thread of its own: the task blocks one of Swift's, of which there may be only one.
        let watcher = Thread {
            let end = ContinuousClock.now + .seconds(60)
            while pool.statistics.writer.waiters == 0 {
                guard ContinuousClock.now < end else {
                    Issue.record("the task doesn't wait")
                    break
                }
                sched_yield()
            }
            mayEnd.reach()
        }
        watcher.start()
        try await blocked.value
        try await holder.value
        let entry = try #require(entries("A synchronous access has blocked a thread of tasks").first)
        #expect(entry.level == .warning && entry.metadata["quarry.access.kind"] == "write")
    }

    /// Entries are written by the asking task, also if the access ran on a thread of the library.
    @Test func metadataProviderSeesTheTask() async throws {
        let database = try TestDatabase { $0.asyncExecution = .offloaded }
        var handler = handler
        handler.metadataProvider = Logger.MetadataProvider { ["request": "\(RequestID.current ?? "none")"] }
        var logger = Logger(label: "test") { [handler] _ in handler }
        logger.logLevel = .debug
        database.pool.addTracer(LoggingTracer(logger: logger))
        try await RequestID.$current.withValue("r17") {
            _ = try await database.pool.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
        }
        let entry = try #require(entries("Access").first)
        #expect(entry.metadata["request"] == "r17")
    }
}

extension DatabasePool {
    fileprivate func synchronousWrite() throws { try write { _ in } }
}

enum RequestID {
    @TaskLocal static var current: String?
}
#endif
