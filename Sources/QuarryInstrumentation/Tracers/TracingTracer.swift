#if Instrumentation || AllButTLS
public import Quarry
public import Tracing

/// A tracer that makes spans with swift-distributed-tracing: one for each access, with one for each of its statements
/// inside.
///
/// ```swift
/// InstrumentationSystem.bootstrap(tracer)
/// DatabaseTracing.addTracer(TracingTracer())
/// ```
///
/// The span of an access is a child of the current span of the task that asks for it, also if the access runs on a
/// thread of the library. It lasts from the request to the end of the access, and has the wait in
/// `quarry.access.wait_time`. Spans that the program makes inside the access are its siblings, because they belong to
/// the task's span, too.
///
/// Spans have the kind `client` and the attributes of OpenTelemetry's conventions
/// (<https://opentelemetry.io/docs/specs/semconv/database/database-spans/>): `db.system.name`, `db.namespace`,
/// `db.query.text` (without literals, unless `options` say otherwise), `db.query.summary`, `db.operation.name`,
/// `db.collection.name` (of statements with one table), `db.response.returned_rows`, and of errors
/// `db.response.status_code` and `error.type`. Arguments are in no span.
///
/// The span of an access also gets events: `quarry.wait` while it waits for a connection for longer than
/// `options.waitThreshold`, with the access that has it, and `quarry.slow_statement` with SQLite's plan.
public struct TracingTracer: DatabaseTracer {
    /// All events that are part of a span.
    public static let interests: DatabaseTracing.Interests = [.accesses, .statements, .slowStatements, .waits]

    public var options: DatabaseTracing.Options

    private let tracer: (any Tracer)?

    /// A tracer that makes spans.
    ///
    /// ```swift
    /// var options = DatabaseTracing.Options(TracingTracer.interests)
    /// options.everyNthAccess = 100
    /// TracingTracer(options: options)
    /// ```
    ///
    /// - parameter tracer: the maker of spans; nil for that of `InstrumentationSystem`, as it is when an access begins.
    /// - parameter options: the events. Without `.accesses`, statements are children of the task's span.
    public init(tracer: (any Tracer)? = nil, options: DatabaseTracing.Options = .init(interests)) {
        self.tracer = tracer
        self.options = options
    }

    public func accessWillBegin(_ access: DatabaseTraceEvent.AccessBeginning) -> (any Sendable)? {
        let span = startSpan(
            "\(access.kind.rawValue) \(access.database.name)", ServiceContext.current, Instant(access.start))
        span.updateAttributes { attributes in
            attributes[Attribute.system] = Attribute.sqlite
            attributes[Attribute.namespace] = access.database.name
            attributes[Attribute.operation] = access.kind.rawValue
            attributes[Attribute.poolName] = access.poolName
            attributes[Attribute.accessID] = access.id
            attributes[Attribute.accessOrigin] = access.origin.rawValue
            attributes[Attribute.isAsynchronous] = access.isAsynchronous
        }
        return AccessSpan(span)
    }

    public func receive(_ event: DatabaseTraceEvent) {
        switch event {
        case .access(let access): end(access)
        case .statement(let statement): makeSpan(of: statement)
        case .slowStatement(let slow): addEvent(of: slow)
        case .wait(let wait): addEvent(of: wait)
        default: break
        }
    }

    private func startSpan(_ name: String, _ context: ServiceContext?, _ start: Instant) -> any Span {
        (tracer ?? InstrumentationSystem.tracer).startSpan(
            name, context: context ?? .topLevel, ofKind: .client, at: start)
    }

    // MARK: - Accesses

    private func end(_ access: DatabaseTraceEvent.Access) {
        guard let accessSpan = access.context as? AccessSpan else { return }
        let span = accessSpan.span
        span.updateAttributes { attributes in
            attributes[Attribute.accessLabel] = access.label
            attributes[Attribute.accessOutcome] = access.outcome.name
            attributes["quarry.access.wait_time"] = access.wait.seconds
            if access.statementCount > 0 { attributes[Attribute.statementCount] = access.statementCount }
            if let connection = access.connection { attributes[Attribute.connectionNumber] = connection.number }
        }
        if case .error(let error) = access.outcome {
            span.updateAttributes { attributes in
                attributes[Attribute.errorType] = error.errorType
                if let error = error as? DatabaseError {
                    attributes[Attribute.statusCode] = error.extendedResultCode.statusCode
                }
            }
            // The whole text of the error may have literals of its SQL.
            span.setStatus(SpanStatus(code: .error, message: (error as? DatabaseError)?.message))
        }
        accessSpan.end(at: Instant(access.beginning.start, adding: access.wait + access.hold))
    }

    private func addEvent(of wait: DatabaseTraceEvent.Wait) {
        guard let span = (wait.context as? AccessSpan)?.span else { return }
        var attributes: SpanAttributes = [
            "quarry.access.wait_time": .double(wait.waited.seconds),
            "db.client.connection.pending_requests": .int64(Int64(wait.waiterCount)),
        ]
        if let holder = wait.holders.first {
            attributes["quarry.holder.access.id"] = holder.accessID
            attributes["quarry.holder.access.label"] = holder.label
            attributes["quarry.holder.query.text"] = holder.sql
            attributes["quarry.holder.use_time"] = holder.hold?.seconds
        }
        span.addEvent(SpanEvent(name: "quarry.wait", attributes: attributes))
    }

    // MARK: - Statements

    private func makeSpan(of statement: DatabaseTraceEvent.Statement) {
        let summary = StatementSummary(statement.sql)
        let parent = (statement.context as? AccessSpan)?.span.context ?? ServiceContext.current
        let span = startSpan(
            summary.text.isEmpty ? Attribute.sqlite : summary.text, parent, Instant(statement.start))
        span.updateAttributes { attributes in
            attributes[Attribute.system] = Attribute.sqlite
            attributes[Attribute.namespace] = statement.database.name
            attributes[Attribute.queryText] = statement.sql
            if !summary.text.isEmpty { attributes[Attribute.querySummary] = summary.text }
            attributes[Attribute.operation] = summary.operation
            attributes[Attribute.collection] = summary.collection
            attributes[Attribute.returnedRows] = statement.rowCount
            attributes[Attribute.accessLabel] = statement.label
            for (name, count) in statement.costs where count > 0 { attributes[name] = count }
            if let code = statement.errorCode {
                attributes[Attribute.statusCode] = code.statusCode
                attributes[Attribute.errorType] = code.errorType
            }
        }
        if statement.errorCode != nil { span.setStatus(SpanStatus(code: .error)) }
        span.end(at: Instant(statement.start, adding: statement.duration))
    }

    private func addEvent(of slow: DatabaseTraceEvent.SlowStatement) {
        let statement = slow.statement
        guard let span = (statement.context as? AccessSpan)?.span else { return }
        var attributes: SpanAttributes = [
            Attribute.queryText: .string(statement.sql),
            "db.client.operation.duration": .double(statement.duration.seconds),
        ]
        if let plan = slow.plan { attributes[Attribute.plan] = "\(plan)" }
        span.addEvent(
            SpanEvent(
                name: "quarry.slow_statement", at: Instant(statement.start, adding: statement.duration),
                attributes: attributes))
    }
}

/// The span of an access, which ends once: when the access ends or, if the tracer was removed meanwhile, when the
/// access releases it.
private final class AccessSpan: Sendable {
    let span: any Span
    private let isEnded = Lock(false)

    init(_ span: any Span) { self.span = span }

    deinit {
        if !isEnded.withLock({ $0 }) { span.end() }
    }

    func end(at instant: Instant) {
        let isFirst = isEnded.withLock { isEnded in
            defer { isEnded = true }
            return !isEnded
        }
        if isFirst { span.end(at: instant) }
    }
}

/// The time of an event.
private struct Instant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    init(_ time: DatabaseTraceEvent.Timestamp, adding duration: Duration = .zero) {
        nanosecondsSinceEpoch = time.nanosecondsSinceEpoch &+ UInt64(max(0, duration.nanoseconds))
    }

    static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanosecondsSinceEpoch < rhs.nanosecondsSinceEpoch }
}
#endif
