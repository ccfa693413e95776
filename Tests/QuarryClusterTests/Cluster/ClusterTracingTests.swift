import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryTestSupport
import Synchronization
import Testing

/// Tracers and statistics see the program's statements, not those on virtual tables.
@Suite("Tracing of a cluster", .timeLimit(.minutes(5 * TestTime.factor))) struct ClusterTracingTests {
    private final class Tracer: DatabaseTracer {
        let options: DatabaseTracing.Options
        private let events = Mutex<[DatabaseTraceEvent]>([])

        init(_ interests: DatabaseTracing.Interests) { options = DatabaseTracing.Options(interests) }

        func receive(_ event: DatabaseTraceEvent) { events.withLock { $0.append(event) } }

        func take() -> [DatabaseTraceEvent] {
            events.withLock { events in
                defer { events = [] }
                return events
            }
        }
    }

    private func description(_ event: DatabaseTraceEvent) -> String? {
        switch event {
        case .statement(let statement):
            // The library's own on a file, to see one state, and to look after the log.
            statement.sql.hasPrefix("PRAGMA")
                ? nil
                : """
                \(statement.sql) \(statement.expandedSQL ?? "nil") \(statement.rowCount) \
                \(statement.errorCode.map { "\($0)" } ?? "")
                """
        case .failure(let failure): "\(failure.severity) \(failure.error)"
        case .access(let access):
            access.beginning.origin == .library
                ? nil
                : """
                \(access.beginning.kind) \(access.beginning.kind == .read ? 0 : access.statementCount) \
                \(access.outcome)
                """
        default: nil
        }
    }

    @Test(arguments: [false, true]) func events(publicArguments: Bool) async throws {
        func run(_ writer: any DatabaseWriter, _ tracer: Tracer) async throws -> [String] {
            _ = tracer.take()
            let statement = "INSERT INTO player (name, score) VALUES (?, ?)"
            for name in ["a", "b", "a"] {
                _ = try? await writer.write { db in try db.execute(sql: statement, arguments: [name, 1]) }
            }
            try await writer.write { db in
                _ = try Row.fetchAll(db, sql: "UPDATE player SET score = ? RETURNING id", arguments: [2])
                let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM player -- all")
                _ = try cursor.next()
            }
            _ = try await writer.read { db in try Player.filter(Player.Columns.score == 2).fetchAll(db) }
            try await writer.write { db in
                // A statement inside a running one, arguments with names and numbers, and values of all types.
                let cursor = try Row.fetchCursor(
                    db, sql: "SELECT :a, ?5, @b, $c FROM player",
                    arguments: ["it's", nil, nil, nil, [UInt8](1...3), 1.5, 7])
                while try cursor.next() != nil {
                    _ = try Int.fetchOne(db, sql: "SELECT ?2 || 'x' AS y WHERE ?1", arguments: [0, "é"])
                }
            }
            _ = try? await writer.write { db in try db.execute(sql: "SELECT * FROM nope") }
            try await writer.write { db in try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY)") }
            _ = try? await writer.write { db in
                for sql in ["INSERT INTO player (name) VALUES ('c')", "ROLLBACK", "BEGIN"] { try db.execute(sql: sql) }
                throw CancellationError()
            }
            return tracer.take().compactMap(description)
        }
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.publicStatementArguments = publicArguments
        let (localTracer, remoteTracer) = (
            Tracer([.statements, .errors, .accesses]), Tracer([.statements, .errors, .accesses])
        )
        configuration.tracers = [localTracer]
        let pool = try DatabasePool(path: folder.path + "/database", configuration: configuration)
        try await pool.write { db in try db.execute(sql: ClusterFixture.schema) }
        configuration.tracers = [remoteTracer]
        let fixture = try ClusterFixture { $0.database = configuration }
        let local = try await run(pool, localTracer)
        let remote = try await run(fixture.cluster, remoteTracer)
        #expect(remote == local)
    }

    @Test func slowStatements() async throws {
        let fixture = try ClusterFixture()
        var options = DatabaseTracing.Options(.slowStatements)
        options.slowStatementThreshold = .zero
        final class Slow: DatabaseTracer {
            let options: DatabaseTracing.Options
            let plans = Mutex<[String]>([])
            init(_ options: DatabaseTracing.Options) { self.options = options }
            func receive(_ event: DatabaseTraceEvent) {
                guard case .slowStatement(let slow) = event else { return }
                plans.withLock { $0.append("\(slow.statement.sql): \(slow.plan.map { "\($0)" } ?? "nil")") }
            }
        }
        let slow = Slow(options)
        fixture.cluster.addTracer(slow)
        _ = try await fixture.cluster.read { db in try Player.fetchOne(db, key: 1) }
        let plans = slow.plans.withLock { $0 }
        #expect(plans.contains { $0.hasPrefix("SELECT * FROM \"player\"") && $0.contains("SEARCH player") }, "\(plans)")
        #expect(!plans.contains { $0.contains("quarry") }, "\(plans)")
    }

    @Test func aLostLeaderIsNoDamage() async throws {
        let clock = ManualMonotonicClock()
        let fixture = try ClusterFixture { $0.database.monotonicClock = clock.monotonicClock }
        let tracer = Tracer(.errors)
        fixture.cluster.addTracer(tracer)
        fixture.nodes.killLeader(electing: nil)
        let write = Task { try await fixture.cluster.write { db in try db.execute(sql: "DELETE FROM player") } }
        try await clock.advance(until: write)
        await #expect(throws: DatabaseError.self) { try await write.value }
        let severities = tracer.take().map { event in
            if case .failure(let failure) = event { "\(failure.severity)" } else { "none" }
        }
        #expect(!severities.isEmpty && Set(severities) == ["error"], "\(severities)")
    }

    @Test func statistics() async throws {
        let (pool, fixture) = (try temporaryPool(), try ClusterFixture())
        func run(_ writer: any DatabaseWriter) async throws -> [String] {
            let before = writer.statistics
            for number in 1...5 {
                try await writer.write { db in
                    try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [number])
                }
            }
            _ = try? await writer.write { db in
                try db.execute(sql: "DELETE FROM player")
                throw CancellationError()
            }
            for _ in 1...5 { _ = try await writer.read { db in try Player.fetchCount(db) } }
            let statistics = writer.statistics.since(before)
            return ["\(statistics.transactions)", "\(statistics.readers.accessCount) \(statistics.writer.accessCount)"]
        }
        #expect(try await run(fixture.cluster) == run(pool.pool))
    }
}
