#if Instrumentation || AllButTLS
public import Metrics
public import Quarry
public import ServiceLifecycle

/// Reports the statistics of databases with swift-metrics, every so often.
///
/// ```swift
/// let reporter = StatisticsReporter([dbPool], every: .seconds(10))
/// let group = ServiceGroup(services: [DatabaseService(dbPool), reporter], logger: logger)
/// ```
///
/// It reads `DatabaseReader.statistics`, which waits for no access, in the task that calls `run()`.
///
/// Gauges with `db.client.connection.pool.name`:
///
/// * `db.client.connection.count`: the open connections, by `db.client.connection.state`: `idle`, `used`.
/// * `db.client.connection.max`, `db.client.connection.idle.max`: the limit of the pool.
/// * `db.client.connection.pending_requests`: the accesses that wait.
///
/// Gauges with `db.namespace`:
///
/// * `quarry.wal.size`: the bytes of the write-ahead log.
/// * `quarry.wal.oldest_reader.age`: the seconds since the oldest reader began that may hold the log back; 0 without
///   one.
/// * `quarry.page_cache.size`, `quarry.schema.size`, `quarry.statements.size`: bytes of the connections.
///
/// Counters with `db.namespace`:
///
/// * `quarry.transactions`, by `quarry.transaction.outcome`: `committed`, `rolled_back`, `failed`.
/// * `quarry.statements.run`, `quarry.statements.prepared`, `quarry.statements.cached`: executions, preparations, and
///   statements that were found in a cache.
/// * `quarry.page_cache.hits`, `quarry.page_cache.misses`, `quarry.page_cache.writes`, `quarry.page_cache.spills`:
///   pages.
/// * `quarry.busy_retries`: tries to get a lock of another connection again.
///
/// Also the counter `quarry.access.count` of each pool, of the accesses that have got a connection, and the gauge
/// `quarry.memory.size`, the bytes that SQLite uses in this process, for all databases.
public final class StatisticsReporter: Service {
    private struct Source: Sendable {
        let database: any DatabaseReader
        let name: String
    }

    private let sources: [Source]
    private let interval: Duration
    private let instruments: Instruments
    /// The statistics of the last report, by database.
    private let last: Lock<[DatabaseStatistics?]>

    /// A reporter of some databases.
    ///
    /// - parameter databases: databases with different labels or paths.
    /// - parameter interval: the time between two reports, at least ten milliseconds.
    /// - parameter factory: the backend; by default that of `MetricsSystem.bootstrap`, which must have been called.
    public init(
        _ databases: [any DatabaseReader], every interval: Duration = .seconds(10),
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        sources = databases.map { Source(database: $0, name: $0.namespace) }
        // A year is forever, and the clock can add it.
        self.interval = min(max(interval, .milliseconds(10)), .seconds(365 * 86400))
        instruments = Instruments(factory)
        last = Lock(databases.map { _ in nil })
    }

    /// Reports at once and every so often, until the task is cancelled or the service is shut down.
    public func run() async throws {
        await run { interval in try await Task.sleep(for: interval) }
    }

    /// - parameter pause: waits between two reports; throws when the task is cancelled.
    func run(pause: @escaping @Sendable (Duration) async throws -> Void) async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.report()
                guard (try? await pause(self.interval)) != nil else { return }
            }
        }
        report()
    }

    /// Reports now.
    ///
    /// Counters get the difference to the last report; the first one reports all since the opening.
    public func report() {
        let current = sources.map(\.database.statistics)
        let changes = last.withLock { last in
            defer { last = current }
            return zip(current, last).map { current, last in last.map { current.since($0) } ?? current }
        }
        for (index, source) in sources.enumerated() {
            // A queue has one connection for both.
            let isQueue = current[index].writer == current[index].readers
            report(changes[index].writer, .writer, source)
            if !isQueue { report(changes[index].readers, .reader, source) }
            report(changes[index], source)
        }
        instruments.set(Double(DatabaseStatistics.process.memoryBytes), "quarry.memory.size", [])
    }

    private func report(_ statistics: DatabaseStatistics, _ source: Source) {
        let attributes = [(Attribute.namespace, source.name)]
        for (outcome, count) in [
            ("committed", statistics.transactions.committed), ("rolled_back", statistics.transactions.rolledBack),
            ("failed", statistics.transactions.failed),
        ] {
            instruments.count("quarry.transactions", attributes + [("quarry.transaction.outcome", outcome)], by: count)
        }
        for (name, count) in [
            ("quarry.statements.run", statistics.statements.run),
            ("quarry.statements.prepared", statistics.statements.prepared),
            ("quarry.statements.cached", statistics.statements.foundInCache),
            ("quarry.page_cache.hits", statistics.pageCache.hitCount),
            ("quarry.page_cache.misses", statistics.pageCache.missCount),
            ("quarry.page_cache.writes", statistics.pageCache.writeCount),
            ("quarry.page_cache.spills", statistics.pageCache.spillCount),
            ("quarry.busy_retries", statistics.busyRetryCount),
        ] {
            // The page cache of a connection that was closed meanwhile no longer counts.
            instruments.count(name, attributes, by: max(0, count))
        }
        for (name, bytes) in [
            ("quarry.page_cache.size", statistics.pageCache.bytes),
            ("quarry.schema.size", statistics.pageCache.schemaBytes),
            ("quarry.statements.size", statistics.pageCache.statementBytes),
            ("quarry.wal.size", statistics.logBytes),
        ] {
            instruments.set(Double(bytes), name, attributes)
        }
        instruments.set(statistics.oldestReaderAge?.seconds ?? 0, "quarry.wal.oldest_reader.age", attributes)
    }

    private func report(
        _ connections: DatabaseStatistics.Connections, _ role: DatabaseTraceEvent.Connection.Role, _ source: Source
    ) {
        // A snapshot has no writer.
        guard connections.limit > 0 else { return }
        let attributes = [(Attribute.poolName, role.poolName(source.name))]
        for (state, count) in [("idle", connections.idle), ("used", connections.leased)] {
            instruments.set(
                Double(count), "db.client.connection.count", attributes + [(Attribute.connectionState, state)])
        }
        instruments.set(Double(connections.limit), "db.client.connection.max", attributes)
        instruments.set(Double(connections.limit), "db.client.connection.idle.max", attributes)
        instruments.set(Double(connections.waiters), "db.client.connection.pending_requests", attributes)
        instruments.count("quarry.access.count", attributes, by: max(0, connections.accessCount))
    }
}
#endif
