#if Instrumentation || AllButTLS
public import Metrics
public import Quarry

/// A tracer that measures databases with swift-metrics, under OpenTelemetry's names.
///
/// ```swift
/// MetricsSystem.bootstrap(factory)
/// DatabaseTracing.addTracer(MetricsTracer())
/// ```
///
/// Timers, in seconds:
///
/// * `db.client.operation.duration`: each statement, with `db.system.name`, `db.namespace`, `db.operation.name`,
///   `db.collection.name` if it has one table, and of an error `db.response.status_code` and `error.type`.
/// * `db.client.connection.wait_time`: each access, with `db.client.connection.pool.name`.
/// * `db.client.connection.use_time`: each access that got a connection, with the same.
/// * `db.client.connection.create_time`: each opened connection, with the same.
/// * `quarry.blocked_thread.wait_time`: each synchronous access that has blocked a thread of tasks, with the same.
/// * `quarry.checkpoint.duration`: each checkpoint of the library, with `db.namespace` and `quarry.checkpoint.reason`.
///
/// A histogram, in rows: `db.client.response.returned_rows`, each statement that returns rows, with the attributes of
/// `db.client.operation.duration`. Counters:
///
/// * `db.client.connection.timeouts`: accesses that have given up to wait, with `db.client.connection.pool.name`.
/// * `quarry.errors`: errors, also those that the program ignores, with `db.namespace`, `error.type` and
///   `quarry.error.severity`.
///
/// The name of a pool is the database's label or path, and the use of its connections: `shop/writer`, `shop/reader`.
/// `StatisticsReporter` has the gauges. The names and units are in OpenTelemetry's conventions:
/// <https://opentelemetry.io/docs/specs/semconv/database/database-metrics/>.
public final class MetricsTracer: DatabaseTracer {
    /// All events that have a metric.
    public static let interests: DatabaseTracing.Interests = [
        .accesses, .statements, .connections, .checkpoints, .blockedThreads, .errors,
    ]

    public let options: DatabaseTracing.Options

    private let instruments: Instruments

    /// A tracer that reports to a backend.
    ///
    /// ```swift
    /// // Accesses alone, which cost less than statements.
    /// MetricsTracer(options: .init([.accesses, .connections, .errors]))
    /// ```
    ///
    /// - parameter factory: the backend; by default that of `MetricsSystem.bootstrap`, which must have been called.
    /// - parameter options: the events; those without a metric have no effect.
    public init(
        factory: any MetricsFactory = MetricsSystem.factory, options: DatabaseTracing.Options = .init(interests)
    ) {
        self.options = options
        instruments = Instruments(factory)
    }

    public func receive(_ event: DatabaseTraceEvent) {
        switch event {
        case .access(let access): record(access)
        case .statement(let statement): record(statement)
        case .connectionOpened(let opening):
            instruments.time(
                opening.duration, "db.client.connection.create_time",
                [(Attribute.poolName, opening.connection.poolName)])
        case .checkpoint(let event):
            instruments.time(
                event.checkpoint.duration, "quarry.checkpoint.duration",
                [
                    (Attribute.namespace, event.database.name),
                    (Attribute.checkpointReason, event.checkpoint.reason.rawValue),
                ])
        case .blockedThread(let blocked):
            instruments.time(
                blocked.waited, "quarry.blocked_thread.wait_time", [(Attribute.poolName, blocked.access.poolName)])
        case .failure(let failure):
            instruments.count(
                "quarry.errors",
                [
                    (Attribute.namespace, failure.database.name),
                    (Attribute.errorType, failure.error.errorType),
                    (Attribute.severity, "\(failure.severity)"),
                ])
        default: break
        }
    }

    private func record(_ access: DatabaseTraceEvent.Access) {
        let attributes = [(Attribute.poolName, access.beginning.poolName)]
        instruments.time(access.wait, "db.client.connection.wait_time", attributes)
        if access.connection != nil {
            instruments.time(access.hold, "db.client.connection.use_time", attributes)
        } else if case .error(let error) = access.outcome, ResultCode.SQLITE_BUSY ~= error {
            instruments.count("db.client.connection.timeouts", attributes)
        }
    }

    private func record(_ statement: DatabaseTraceEvent.Statement) {
        let summary = StatementSummary(statement.sql)
        var attributes = [(Attribute.system, Attribute.sqlite), (Attribute.namespace, statement.database.name)]
        if let operation = summary.operation { attributes.append((Attribute.operation, operation)) }
        if let code = statement.errorCode {
            attributes.append((Attribute.statusCode, code.statusCode))
            attributes.append((Attribute.errorType, code.errorType))
        }
        let collection = summary.collection.map { (Attribute.collection, $0) }
        instruments.time(statement.duration, "db.client.operation.duration", attributes, collection)
        if statement.rowCount > 0 || summary.operation == "SELECT" {
            instruments.record(statement.rowCount, "db.client.response.returned_rows", attributes, collection)
        }
    }
}
#endif
