#if Instrumentation || AllButTLS
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Quarry
import QuarryInstrumentation
import Testing
import Tracing

/// Programs that do with databases as they please: each access has one span, which ends, and one measured wait.
@Suite(.timeLimit(.minutes(5))) struct HostileProgramTests {
    let tracer = InMemoryTracer()
    let metrics = TestMetrics()
    let handler = InMemoryLogHandler()

    func addTracers(_ reader: some DatabaseReader) {
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .trace
        reader.addTracer(LoggingTracer(logger: logger, slowStatementThreshold: .zero, waitThreshold: .zero))
        reader.addTracer(MetricsTracer(factory: metrics))
        reader.addTracer(TracingTracer(tracer: tracer))
    }

    /// The number of accesses by the logs, the metrics and the traces, which must be equal.
    func accessCount() -> Int {
        let logged = handler.entries.count { $0.message == "Access" }
        let measured = metrics.timers(label: "db.client.connection.wait_time").reduce(0) { $0 + $1.values.count }
        let traced = tracer.finishedSpans.count { $0.attributes.get("quarry.access.outcome") != nil }
        #expect(logged == measured && measured == traced, "\(logged) \(measured) \(traced)")
        #expect(tracer.activeSpans.isEmpty)
        return traced
    }

    @Test func transactionsAndDatabasesInRawSQL() throws {
        let database = try TestDatabase()
        addTracers(database.pool)
        #expect(throws: DatabaseError.self) {
            try database.pool.write { db in
                try db.execute(sql: "ROLLBACK")
                try db.execute(sql: "DELETE FROM player; BEGIN; SELECT no_such_column FROM player")
            }
        }
        try database.pool.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ':memory:' AS other; CREATE TABLE other.t (a); DETACH other")
        }
        #expect(accessCount() == 2)
        let attached = tracer.finishedSpans.first { $0.operationName == "CREATE TABLE other.t" }
        #expect(attached?.attributes.get("db.collection.name") == "other.t")
    }

    @Test func accessesInsideAccesses() throws {
        let database = try TestDatabase()
        let pool = database.pool
        addTracers(pool)
        try pool.write { _ in
            try pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
            #expect(throws: DatabaseError.self) { try pool.write { _ in } }
        }
        #expect(accessCount() == 3)
        #expect(tracer.finishedSpans.count { $0.operationName == "write players" && $0.status?.code == .error } == 1)
    }

    /// A closure that closes the database, or drops the last reference to it.
    @Test func databaseThatGoesAway() throws {
        let database = try TestDatabase()
        addTracers(database.pool)
        #expect(throws: DatabaseError.self) { try database.pool.read { _ in try database.pool.close() } }
        try database.pool.close()
        #expect(throws: DatabaseError.self) { try database.pool.read { _ in } }
        do {
            let queue = try DatabaseQueue()
            addTracers(queue)
            try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        }
        #expect(accessCount() == 3)
    }

    @Test func cursorThatOutlivesItsAccess() throws {
        let queue = try DatabaseQueue()
        addTracers(queue)
        let cursor = try queue.read { db in try Int.fetchCursor(db, sql: "SELECT 1 UNION SELECT 2") }
        #expect(throws: DatabaseError.self) { _ = try cursor.next() }
        #expect(accessCount() == 1)
    }

    @Test func namedDatabaseInMemoryAndSnapshots() async throws {
        let queue = try DatabaseQueue(named: "hostile")
        addTracers(queue)
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let database = try TestDatabase()
        addTracers(database.pool)
        let snapshot = try database.pool.makeSnapshot()
        let before = accessCount()
        let count = try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
        #expect(count == 3 && accessCount() == before + 1)
        #expect(
            !metrics.timers(
                label: "db.client.connection.wait_time",
                dimensions: [
                    ("db.client.connection.pool.name", "players/snapshot")
                ]
            ).isEmpty)
        try snapshot.close()
    }

    /// A tracer that uses the database that it traces.
    @Test func tracerThatUsesItsDatabase() throws {
        struct Auditor: DatabaseTracer {
            let audit: DatabaseQueue
            let options = DatabaseTracing.Options(.statements)

            func receive(_ event: DatabaseTraceEvent) {
                guard case .statement(let statement) = event else { return }
                try? audit.write { db in
                    try db.execute(sql: "INSERT INTO audit VALUES (?)", arguments: [statement.sql])
                }
            }
        }
        let audit = try DatabaseQueue()
        try audit.write { db in try db.execute(sql: "CREATE TABLE audit (sql)") }
        let database = try TestDatabase()
        addTracers(database.pool)
        let registration = DatabaseTracing.addTracer(Auditor(audit: audit))
        defer { registration.remove() }
        try database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
        #expect(accessCount() == 1)
        let sql = try audit.read { db in try String.fetchAll(db, sql: "SELECT sql FROM audit") }
        #expect(sql.contains("DELETE FROM player"))
    }

    /// SQL without end: names and texts that aren't what a backend expects.
    @Test func strangeNames() throws {
        let database = try TestDatabase { $0.label = "a \"label\"\n" }
        addTracers(database.pool)
        let name = String(repeating: "é", count: 10_000)
        try database.pool.write { db in
            try db.execute(sql: "CREATE TABLE \"\(name)\" (a); INSERT INTO \"\(name)\" VALUES (1)")
            try db.execute(sql: "CREATE TABLE \" \" (a); DROP TABLE \" \"")
        }
        #expect(accessCount() == 1)
        let spans = tracer.finishedSpans.filter { $0.attributes.get("db.query.text") != nil }
        #expect(spans.allSatisfy { $0.operationName.utf8.count <= 255 })
    }
}
#endif
