#if Instrumentation || AllButTLS
import Metrics
import MetricsTestKit
import Quarry
import Testing

@testable import QuarryInstrumentation

/// The names, units and values of `MetricsTracer`.
@Suite(.timeLimit(.minutes(5))) struct MetricsTracerTests {
    let metrics = TestMetrics()

    /// The only timer with a name and some of its attributes.
    func timer(_ name: String, _ attributes: [(String, String)] = []) throws -> TestTimer {
        let timers = metrics.timers(label: name, dimensions: attributes)
        #expect(timers.count == 1, "\(timers.map(\.dimensions))")
        return try #require(timers.first)
    }

    @Test func statementsAreTimed() throws {
        let database = try TestDatabase()
        database.pool.addTracer(MetricsTracer(factory: metrics))
        for id in 1...3 {
            let name = try database.pool.read { db in
                try String.fetchOne(db, sql: "SELECT name FROM player WHERE id = ?", arguments: [id])
            }
            #expect(name != nil)
        }
        let timer = try timer("db.client.operation.duration", [("db.operation.name", "SELECT")])
        #expect(
            Dictionary(uniqueKeysWithValues: timer.dimensions) == [
                "db.system.name": "sqlite", "db.namespace": "players", "db.operation.name": "SELECT",
                "db.collection.name": "player",
            ])
        #expect(timer.displayUnit == .seconds)
        #expect(timer.values.count == 3)
        #expect(timer.values.allSatisfy { $0 > 0 && $0 < 100_000_000_000 })
        let rows = try metrics.expectRecorder("db.client.response.returned_rows", timer.dimensions)
        #expect(rows.values == [1, 1, 1] && rows.aggregate)
    }

    @Test func errorsHaveTheirCodes() throws {
        let database = try TestDatabase()
        database.pool.addTracer(MetricsTracer(factory: metrics))
        #expect(throws: DatabaseError.self) {
            try database.pool.write { db in
                try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 1)")
            }
        }
        let timer = try timer("db.client.operation.duration", [("db.operation.name", "INSERT")])
        #expect(timer.dimensions.contains { $0 == ("db.response.status_code", "2067") })
        #expect(timer.dimensions.contains { $0 == ("error.type", "SQLITE_CONSTRAINT_UNIQUE") })
        let errors = try metrics.expectCounter(
            "quarry.errors",
            [
                ("db.namespace", "players"), ("error.type", "SQLITE_CONSTRAINT_UNIQUE"),
                ("quarry.error.severity", "notice"),
            ])
        #expect(errors.totalValue == 1)
    }

    @Test func connectionsAreTimed() throws {
        let database = try TestDatabase()
        database.pool.addTracer(MetricsTracer(factory: metrics))
        try database.pool.write { _ in }
        for _ in 0..<2 { try database.pool.read { _ in } }
        for (pool, count) in [("players/writer", 1), ("players/reader", 2)] {
            let attributes = [("db.client.connection.pool.name", pool)]
            for name in ["db.client.connection.wait_time", "db.client.connection.use_time"] {
                let timer = try metrics.expectTimer(name, attributes)
                #expect(timer.values.count == count && timer.displayUnit == .seconds)
            }
        }
        // The pool opens its readers when they are needed.
        let opening = try metrics.expectTimer(
            "db.client.connection.create_time", [("db.client.connection.pool.name", "players/reader")])
        #expect(opening.values.count == 1 && opening.values[0] > 0)
    }

    @Test func timeoutsAreCounted() async throws {
        let database = try TestDatabase { $0.acquireTimeout = 0.001 }
        let pool = database.pool
        pool.addTracer(MetricsTracer(factory: metrics))
        let (hasBegun, mayEnd) = (Step("the holder has begun"), Step("the waiter has given up"))
        async let holder: Void = pool.write { _ in
            hasBegun.reach()
            try mayEnd.wait()
        }
        try await hasBegun.reached()
        await #expect(throws: DatabaseError.self) { try await pool.write { _ in } }
        mayEnd.reach()
        try await holder
        let attributes = [("db.client.connection.pool.name", "players/writer")]
        #expect(try metrics.expectCounter("db.client.connection.timeouts", attributes).totalValue == 1)
        #expect(try metrics.expectTimer("db.client.connection.wait_time", attributes).values.count == 2)
        #expect(try metrics.expectTimer("db.client.connection.use_time", attributes).values.count == 1)
    }

    /// A handler that does something else in the middle of a write makes all other writes wait: the 99th percentile
    /// grows.
    @Test func percentileOfTheWaitGrowsBehindAHeldWrite() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        pool.addTracer(MetricsTracer(factory: metrics))
        for _ in 0..<20 { try await pool.write { _ in } }
        let timer = try metrics.expectTimer(
            "db.client.connection.wait_time", [("db.client.connection.pool.name", "players/writer")])
        let before = percentile99(timer.values)

        let (hasBegun, mayEnd) = (Step("the handler has begun"), Step("the handler may go on"))
        async let handler: Void = pool.write { _ in
            hasBegun.reach()
            try mayEnd.wait()
        }
        try await hasBegun.reached()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await pool.write { _ in } } }
            try await until("20 writes wait") { pool.statistics.writer.waiters == 20 }
            let start = ContinuousClock.now
            // The handler takes so long that no slow machine can be the reason.
            let long: Duration = max(.milliseconds(10), .nanoseconds(2 * before))
            try await until("the handler has taken long") { start.duration(to: .now) >= long }
            mayEnd.reach()
            try await group.waitForAll()
        }
        try await handler
        #expect(timer.values.count == 41)
        #expect(percentile99(timer.values) >= max(10_000_000, 2 * before))
        #expect(timer.values.count { $0 >= 10_000_000 } >= 20)
    }

    private func percentile99(_ values: [Int64]) -> Int64 {
        let sorted = values.sorted()
        return sorted[(sorted.count * 99 - 1) / 100]
    }

    /// Tables without end don't make instruments without end.
    @Test func instrumentsAreLimited() throws {
        let database = try TestDatabase()
        let pool = database.pool
        pool.addTracer(MetricsTracer(factory: metrics))
        try pool.writeWithoutTransaction { db in
            for number in 0..<(Instruments.maximumCount + 100) {
                try db.execute(sql: "CREATE TEMP TABLE t\(number) (a)")
                try db.execute(sql: "DROP TABLE t\(number)")
            }
        }
        let timers = metrics.timers(label: "db.client.operation.duration")
        #expect(timers.count <= Instruments.maximumCount + 10)
        let rest = try metrics.expectTimer(
            "db.client.operation.duration",
            [("db.system.name", "sqlite"), ("db.namespace", "players"), ("db.operation.name", "DROP TABLE")])
        #expect(rest.values.count > 100)
        #expect(timers.reduce(0) { $0 + $1.values.count } >= 2 * (Instruments.maximumCount + 100))
    }
}
#endif
