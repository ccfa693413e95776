#if Instrumentation || AllButTLS
import Metrics
import MetricsTestKit
import Quarry
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@testable import QuarryInstrumentation

/// The gauges and counters of `StatisticsReporter`.
@Suite(.timeLimit(.minutes(5))) struct StatisticsReporterTests {
    let metrics = TestMetrics()

    func gauge(_ name: String, _ pool: String, state: String? = nil) throws -> Double? {
        let attributes = [("db.client.connection.pool.name", pool)]
        return try metrics.expectMeter(
            name, attributes + (state.map { [("db.client.connection.state", $0)] } ?? [])
        ).lastValue
    }

    @Test func connections() async throws {
        let database = try TestDatabase { $0.maximumReaderCount = 3 }
        let pool = database.pool
        let reporter = StatisticsReporter([pool], factory: metrics)
        let (hasBegun, mayEnd) = (Step("the holder has begun"), Step("the report is made"))
        async let holder: Void = pool.write { _ in
            hasBegun.reach()
            try mayEnd.wait()
        }
        try await hasBegun.reached()
        async let waiter: Void = pool.write { _ in }
        try await until("a write waits") { pool.statistics.writer.waiters == 1 }
        try await pool.read { _ in }
        reporter.report()
        mayEnd.reach()
        _ = try await (holder, waiter)

        #expect(try gauge("db.client.connection.count", "players/writer", state: "used") == 1)
        #expect(try gauge("db.client.connection.count", "players/writer", state: "idle") == 0)
        #expect(try gauge("db.client.connection.pending_requests", "players/writer") == 1)
        #expect(try gauge("db.client.connection.max", "players/writer") == 1)
        #expect(try gauge("db.client.connection.count", "players/reader", state: "used") == 0)
        #expect(try gauge("db.client.connection.count", "players/reader", state: "idle") == 1)
        #expect(try gauge("db.client.connection.pending_requests", "players/reader") == 0)
        #expect(try gauge("db.client.connection.max", "players/reader") == 3)
        #expect(try gauge("db.client.connection.idle.max", "players/reader") == 3)

        reporter.report()
        #expect(try gauge("db.client.connection.count", "players/writer", state: "idle") == 1)
        #expect(try gauge("db.client.connection.pending_requests", "players/writer") == 0)
    }

    @Test func logAndMemory() throws {
        let database = try TestDatabase()
        let pool = database.pool
        let snapshot = try pool.makeSnapshot()
        let reporter = StatisticsReporter([pool], factory: metrics)
        reporter.report()
        let attributes = [("db.namespace", "players")]
        let log = try #require(pool.walStatistics)
        #expect(log.bytes > 0)
        #expect(try metrics.expectMeter("quarry.wal.size", attributes).lastValue == Double(log.bytes))
        #expect(try metrics.expectMeter("quarry.memory.size").lastValue.map { $0 > 0 } == true)
        // The age of the snapshot.
        let age = try metrics.expectMeter("quarry.wal.oldest_reader.age", attributes)
        #expect(age.lastValue.map { $0 > 0 && $0 < 600 } == true)
        try snapshot.close()
        reporter.report()
        #expect(age.lastValue == 0)
    }

    /// Counters get differences: their sum is the database's count.
    @Test func countersGrowByTheDifference() throws {
        let database = try TestDatabase()
        let pool = database.pool
        let reporter = StatisticsReporter([pool], factory: metrics)
        let committed = [("db.namespace", "players"), ("quarry.transaction.outcome", "committed")]
        for _ in 0..<3 {
            try pool.write { db in try db.execute(sql: "UPDATE player SET score = score + 1") }
            reporter.report()
        }
        let count = try metrics.expectCounter("quarry.transactions", committed)
        #expect(count.totalValue == Int64(pool.statistics.transactions.committed) && count.totalValue >= 3)
        #expect(count.values.dropFirst() == [1, 1])
        let hits = try metrics.expectCounter("quarry.page_cache.hits", [("db.namespace", "players")])
        #expect(hits.totalValue > 0 && hits.totalValue == Int64(pool.statistics.pageCache.hitCount))
    }

    @Test func queueHasOnePool() throws {
        var configuration = Configuration()
        configuration.label = "queue"
        let queue = try DatabaseQueue(configuration: configuration)
        StatisticsReporter([queue], factory: metrics).report()
        #expect(try gauge("db.client.connection.count", "queue/writer", state: "idle") == 1)
        #expect(metrics.meters(label: "db.client.connection.max").count == 1)
    }

    /// Intervals that no clock can add, and such that never end.
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero])
    func strangeIntervals(interval: Duration) async throws {
        let database = try TestDatabase()
        let task = Task { try await StatisticsReporter([database.pool], every: interval, factory: metrics).run() }
        try await until("a report is made") { !metrics.meters(label: "quarry.memory.size").isEmpty }
        task.cancel()
        try await task.value
        #expect(metrics.meters(label: "quarry.memory.size").first.map { $0.values.count >= 2 } == true)
    }

    /// It reports at once, after each interval, and at the shutdown.
    @Test func reportsUntilTheShutdown() async throws {
        let database = try TestDatabase()
        let reporter = StatisticsReporter([database.pool], every: .seconds(30), factory: metrics)
        let pauses = Recorded<[Signal<Void>]>([])
        await testGracefulShutdown { trigger in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await reporter.run { interval in
                        #expect(interval == .seconds(30))
                        let end = Signal<Void>()
                        pauses.update { $0.append(end) }
                        guard await end.value() != nil else { throw CancellationError() }
                    }
                }
                group.addTask {
                    for count in 1...3 {
                        try? await until("the reporter pauses") { pauses.value.count == count }
                        #expect(metrics.meters(label: "quarry.memory.size").first?.values.count == count)
                        if count < 3 { pauses.value.last?.send(()) }
                    }
                    trigger.triggerGracefulShutdown()
                }
            }
        }
        #expect(try metrics.expectMeter("quarry.memory.size").values.count == 4)
    }
}
#endif
