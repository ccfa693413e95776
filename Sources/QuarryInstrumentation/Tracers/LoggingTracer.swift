#if Instrumentation || AllButTLS
public import Logging
public import Quarry

/// A tracer that writes to a swift-log `Logger`.
///
/// ```swift
/// DatabaseTracing.addTracer(LoggingTracer(logger: Logger(label: "database")))
/// ```
///
/// | level | entries |
/// |---|---|
/// | its severity | an error, also one that the program ignores: SQLite's message |
/// | `warning` | `Slow statement`, with SQLite's plan |
/// | `warning` | `Waiting for a connection`, with the accesses that have the connections, and their SQL |
/// | `warning` | `A synchronous access has blocked a thread of tasks` |
/// | `debug` | `Access`, `Connection opened`, `Connection closed`, `Checkpoint` |
/// | `trace` | `Statement` |
///
/// The metadata has the names of OpenTelemetry's attributes, and times in seconds. SQL has no literals, unless
/// `options` say otherwise. Arguments are logged only if `Configuration.publicStatementArguments` is true.
///
/// An entry about an access is written by the task that has asked for it, so that a metadata provider sees its
/// task-local values. An entry about a wait is written while that task is suspended, from a thread of its own.
public struct LoggingTracer: DatabaseTracer {
    public var options: DatabaseTracing.Options

    private let logger: Logger

    /// A tracer that logs the events for which the logger has a level.
    ///
    /// Accesses are traced only if the logger logs at `debug`, statements only if it logs at `trace`: the level is read
    /// here, because tracing costs time even if the logger drops the entry.
    ///
    /// - parameter logger: the logger; its metadata is in each entry.
    /// - parameter slowStatementThreshold: the duration from which on a statement is slow.
    /// - parameter waitThreshold: the time after which a wait for a connection is logged.
    public init(
        logger: Logger = Logger(label: "quarry"), slowStatementThreshold: Duration = .milliseconds(100),
        waitThreshold: Duration = .seconds(1)
    ) {
        var interests: DatabaseTracing.Interests = [.slowStatements, .waits, .blockedThreads, .errors]
        if logger.logLevel <= .debug { interests.formUnion([.accesses, .connections, .checkpoints]) }
        if logger.logLevel <= .trace { interests.insert(.statements) }
        var options = DatabaseTracing.Options(interests)
        options.slowStatementThreshold = slowStatementThreshold
        options.waitThreshold = waitThreshold
        self.init(logger: logger, options: options)
    }

    /// A tracer that logs the events of some options.
    ///
    /// ```swift
    /// var options = DatabaseTracing.Options([.statements, .errors])
    /// options.everyNthStatement = 100
    /// let tracer = LoggingTracer(logger: logger, options: options)
    /// ```
    public init(logger: Logger, options: DatabaseTracing.Options) {
        self.logger = logger
        self.options = options
    }

    public func receive(_ event: DatabaseTraceEvent) {
        switch event {
        case .access(let access): logger.debug("Access", metadata: Self.metadata(access))
        case .statement(let statement): logger.trace("Statement", metadata: Self.metadata(statement))
        case .slowStatement(let slow):
            var metadata = Self.metadata(slow.statement)
            if let plan = slow.plan { metadata[Attribute.plan] = "\(plan)" }
            logger.warning("Slow statement", metadata: metadata)
        case .connectionOpened(let opening):
            var metadata = Self.metadata(opening.connection)
            metadata["db.client.connection.create_time"] = .seconds(opening.duration)
            logger.debug("Connection opened", metadata: metadata)
        case .connectionClosed(let connection):
            logger.debug("Connection closed", metadata: Self.metadata(connection))
        case .checkpoint(let event): logger.debug("Checkpoint", metadata: Self.metadata(event))
        case .wait(let wait): logger.warning("Waiting for a connection", metadata: Self.metadata(wait))
        case .blockedThread(let blocked):
            var metadata = Self.metadata(blocked.access)
            metadata["db.client.connection.wait_time"] = .seconds(blocked.waited)
            logger.warning("A synchronous access has blocked a thread of tasks", metadata: metadata)
        case .failure(let failure): log(failure)
        }
    }

    private func log(_ failure: DatabaseTraceEvent.Failure) {
        let error = failure.error
        var metadata: Logger.Metadata = [
            Attribute.namespace: .string(failure.database.name),
            Attribute.statusCode: .string(error.extendedResultCode.statusCode),
            Attribute.errorType: .string(error.errorType),
        ]
        metadata[Attribute.poolName] = (failure.connection?.poolName).map { .string($0) }
        metadata[Attribute.accessID] = failure.accessID.map { .stringConvertible($0) }
        metadata[Attribute.accessLabel] = failure.label.map { .string($0) }
        metadata[Attribute.queryText] = error.sql.map { .string($0) }
        if error.publicStatementArguments, let arguments = error.arguments, !arguments.isEmpty {
            metadata["quarry.query.arguments"] = .string("\(arguments)")
        }
        logger.log(
            level: Logger.Level(failure.severity), "\(error.message ?? "\(error.extendedResultCode)")", error: error,
            metadata: metadata)
    }

    // MARK: - Metadata

    private static func metadata(_ access: DatabaseTraceEvent.AccessBeginning) -> Logger.Metadata {
        [
            Attribute.namespace: .string(access.database.name), Attribute.poolName: .string(access.poolName),
            Attribute.accessID: .stringConvertible(access.id), Attribute.accessKind: .string(access.kind.rawValue),
            Attribute.accessOrigin: .string(access.origin.rawValue),
        ]
    }

    private static func metadata(_ access: DatabaseTraceEvent.Access) -> Logger.Metadata {
        var metadata = metadata(access.beginning)
        metadata["db.client.connection.wait_time"] = .seconds(access.wait)
        metadata["db.client.connection.use_time"] = .seconds(access.hold)
        metadata[Attribute.accessLabel] = access.label.map { .string($0) }
        if access.statementCount > 0 { metadata[Attribute.statementCount] = .stringConvertible(access.statementCount) }
        metadata[Attribute.accessOutcome] = .string(access.outcome.name)
        // The error's text may have arguments and literals: the entry of its failure has neither.
        if case .error(let error) = access.outcome { metadata[Attribute.errorType] = .string(error.errorType) }
        return metadata
    }

    private static func metadata(_ statement: DatabaseTraceEvent.Statement) -> Logger.Metadata {
        let summary = StatementSummary(statement.sql)
        var metadata: Logger.Metadata = [
            Attribute.namespace: .string(statement.database.name),
            Attribute.poolName: .string(statement.connection.poolName),
            Attribute.accessID: .stringConvertible(statement.accessID),
            Attribute.queryText: .string(statement.sql),
            "db.client.operation.duration": .seconds(statement.duration),
            Attribute.returnedRows: .stringConvertible(statement.rowCount),
        ]
        metadata[Attribute.operation] = summary.operation.map { .string($0) }
        metadata[Attribute.collection] = summary.collection.map { .string($0) }
        metadata[Attribute.accessLabel] = statement.label.map { .string($0) }
        metadata[Attribute.expandedText] = statement.expandedSQL.map { .string($0) }
        for (name, count) in statement.costs where count > 0 { metadata[name] = .stringConvertible(count) }
        if let code = statement.errorCode {
            metadata[Attribute.statusCode] = .string(code.statusCode)
            metadata[Attribute.errorType] = .string(code.errorType)
        }
        return metadata
    }

    private static func metadata(_ connection: DatabaseTraceEvent.Connection) -> Logger.Metadata {
        [
            Attribute.namespace: .string(connection.database.name), Attribute.poolName: .string(connection.poolName),
            Attribute.connectionNumber: .stringConvertible(connection.number),
        ]
    }

    private static func metadata(_ event: DatabaseTraceEvent.Checkpoint) -> Logger.Metadata {
        let checkpoint = event.checkpoint
        return [
            Attribute.namespace: .string(event.database.name),
            Attribute.checkpointReason: .string(checkpoint.reason.rawValue),
            "quarry.checkpoint.duration": .seconds(checkpoint.duration),
            "quarry.wal.size": .stringConvertible(checkpoint.bytes),
            "quarry.checkpoint.copied": .stringConvertible(checkpoint.copiedBytes),
            "quarry.checkpoint.emptied": .stringConvertible(checkpoint.isEmptied),
        ]
    }

    private static func metadata(_ wait: DatabaseTraceEvent.Wait) -> Logger.Metadata {
        var metadata = metadata(wait.access)
        metadata["db.client.connection.wait_time"] = .seconds(wait.waited)
        metadata["db.client.connection.pending_requests"] = .stringConvertible(wait.waiterCount)
        metadata["quarry.wait.holders"] = .array(
            wait.holders.map { holder in
                var entry = Self.metadata(holder.connection)
                entry[Attribute.accessID] = holder.accessID.map { .stringConvertible($0) }
                entry[Attribute.accessLabel] = holder.label.map { .string($0) }
                entry["db.client.connection.use_time"] = holder.hold.map { .seconds($0) }
                entry[Attribute.queryText] = holder.sql.map { .string($0) }
                entry["quarry.query.running"] = .stringConvertible(holder.isRunning)
                return .dictionary(entry)
            })
        return metadata
    }
}

extension DatabaseTraceEvent.Access.Outcome {
    /// The value of `quarry.access.outcome`.
    var name: String {
        switch self {
        case .value: "value"
        case .error: "error"
        case .cancelled: "cancelled"
        }
    }
}

extension DatabaseTraceEvent.Statement {
    /// The signs of a missing index: full scans, sorts, and indexes made for one execution.
    var costs: [(name: String, count: Int)] {
        [
            (Attribute.fullScanSteps, fullScanStepCount), (Attribute.sorts, sortCount),
            (Attribute.automaticIndexRows, automaticIndexRowCount),
        ]
    }
}

extension Logger.Level {
    fileprivate init(_ severity: DatabaseTraceEvent.Severity) {
        self =
            switch severity {
            case .debug: .debug
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}

extension Logger.MetadataValue {
    fileprivate static func seconds(_ duration: Duration) -> Self { .stringConvertible(duration.seconds) }
}
#endif
