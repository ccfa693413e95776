#if Instrumentation || AllButTLS
internal import Quarry

/// The names of attributes, in logs, metrics and spans.
///
/// Names that begin with `db.` are those of OpenTelemetry's stable conventions for database clients:
/// <https://opentelemetry.io/docs/specs/semconv/database/>. Where it has none, names begin with `quarry.`.
enum Attribute {
    static let system = "db.system.name"
    static let namespace = "db.namespace"
    static let operation = "db.operation.name"
    static let collection = "db.collection.name"
    static let queryText = "db.query.text"
    static let querySummary = "db.query.summary"
    static let returnedRows = "db.response.returned_rows"
    static let statusCode = "db.response.status_code"
    static let errorType = "error.type"
    static let poolName = "db.client.connection.pool.name"
    static let connectionState = "db.client.connection.state"

    static let accessID = "quarry.access.id"
    static let accessKind = "quarry.access.kind"
    static let accessLabel = "quarry.access.label"
    static let accessOrigin = "quarry.access.origin"
    static let accessOutcome = "quarry.access.outcome"
    static let isAsynchronous = "quarry.access.asynchronous"
    static let statementCount = "quarry.access.statements"
    static let connectionNumber = "quarry.connection.number"
    static let expandedText = "quarry.query.expanded_text"
    static let plan = "quarry.query.plan"
    static let fullScanSteps = "quarry.query.full_scan_steps"
    static let sorts = "quarry.query.sorts"
    static let automaticIndexRows = "quarry.query.automatic_index_rows"
    static let severity = "quarry.error.severity"
    static let jobName = "quarry.job.name"
    static let checkpointReason = "quarry.checkpoint.reason"

    /// The value of `db.system.name`: <https://opentelemetry.io/docs/specs/semconv/registry/attributes/db/>.
    static let sqlite = "sqlite"
}

extension DatabaseTraceEvent.Connection.Role {
    /// The name of a pool of connections: unique in the process if the names of databases are.
    ///
    /// A pool's writer is a pool of one connection: waits for it and waits for readers have different causes.
    func poolName(_ namespace: String) -> String { "\(namespace)/\(rawValue)" }
}

extension DatabaseTraceEvent.Connection {
    var poolName: String { role.poolName(database.name) }
}

extension DatabaseTraceEvent.AccessBeginning {
    var poolName: String { role.poolName(database.name) }
}

extension DatabaseReader {
    /// As `DatabaseTraceEvent.Source.name`.
    var namespace: String { configuration.label ?? path }
}

extension ResultCode {
    /// The value of `db.response.status_code`: `2067`.
    var statusCode: String { String(rawValue) }

    /// The value of `error.type`: `SQLITE_CONSTRAINT_UNIQUE`, or the number of a code without a name.
    var errorType: String { name ?? statusCode }
}

extension Error {
    /// The value of `error.type`: the name of SQLite's code, or the name of the error's type.
    var errorType: String {
        (self as? DatabaseError)?.extendedResultCode.errorType ?? String(reflecting: type(of: self))
    }
}

extension Duration {
    /// Seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// Whole nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000
    }
}
#endif
