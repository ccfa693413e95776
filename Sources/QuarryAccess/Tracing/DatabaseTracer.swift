import QuarryCore

/// A receiver of what happens in databases: accesses, statements, waits, errors.
///
/// ```swift
/// struct SlowLog: DatabaseTracer {
///     var options = DatabaseTracing.Options(.slowStatements)
///
///     func receive(_ event: DatabaseTraceEvent) {
///         guard case .slowStatement(let slow) = event else { return }
///         print(slow.statement.sql, slow.statement.duration, slow.plan.map(\.description) ?? "")
///     }
/// }
/// dbPool.addTracer(SlowLog())          // one database
/// DatabaseTracing.addTracer(SlowLog()) // all databases of the process
/// ```
///
/// Any number of tracers may be added, at any time: each takes effect with the next access. Without a tracer an access
/// pays for one comparison, and a statement for nothing.
///
/// The events of an access are delivered by the task or thread that has asked for it, when its connection has been
/// given back: so the task-local values are those of the asking task, also if the access ran on a thread of the
/// library, and a slow tracer delays its own caller alone. An access with many statements delivers them in parts, the
/// first while it still runs.
///
/// A tracer may use databases. Its accesses aren't traced, nor are the accesses of tasks that it starts as `Task { …
/// }`. While the events of a running access are delivered, accesses to the same connection throw `SQLITE_MISUSE`.
public protocol DatabaseTracer: Sendable {
    /// The events to receive. Read once, when the tracer is added.
    var options: DatabaseTracing.Options { get }

    /// An access is about to wait for its connection, in the task or on the thread that asks for it. Called for tracers
    /// of accesses; the default returns nil.
    ///
    /// - returns: a value that comes with the events of this access, as their `context`: a span, for example.
    func accessWillBegin(_ access: DatabaseTraceEvent.AccessBeginning) -> (any Sendable)?

    /// Something has happened.
    func receive(_ event: DatabaseTraceEvent)
}

extension DatabaseTracer {
    public func accessWillBegin(_ access: DatabaseTraceEvent.AccessBeginning) -> (any Sendable)? { nil }
}

/// Tracing for all databases of the process, and the options of tracers.
///
/// See `DatabaseTracer`.
public enum DatabaseTracing {
    /// Kinds of events.
    public struct Interests: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Accesses that have ended: `DatabaseTraceEvent.access`.
        public static let accesses = Interests(rawValue: 1 << 0)
        /// Each statement: `DatabaseTraceEvent.statement`.
        public static let statements = Interests(rawValue: 1 << 1)
        /// Statements that take longer than `Options.slowStatementThreshold`: `DatabaseTraceEvent.slowStatement`.
        public static let slowStatements = Interests(rawValue: 1 << 2)
        /// Connections that are opened or closed.
        public static let connections = Interests(rawValue: 1 << 3)
        /// Checkpoints of the write-ahead log that the library runs.
        public static let checkpoints = Interests(rawValue: 1 << 4)
        /// Waits for a connection that take longer than `Options.waitThreshold`: `DatabaseTraceEvent.wait`.
        public static let waits = Interests(rawValue: 1 << 5)
        /// Synchronous accesses that block a thread on which tasks run.
        public static let blockedThreads = Interests(rawValue: 1 << 6)
        /// Errors, also those that the program catches: `DatabaseTraceEvent.failure`.
        public static let errors = Interests(rawValue: 1 << 7)

        /// All events. Each statement is timed: see `DatabaseTracing.Options`.
        public static let all: Interests = [
            .accesses, .statements, .slowStatements, .connections, .checkpoints, .waits, .blockedThreads, .errors,
        ]
    }

    /// The events that a tracer receives.
    ///
    /// ```swift
    /// var options = DatabaseTracing.Options([.accesses, .slowStatements, .waits, .errors])
    /// options.slowStatementThreshold = .milliseconds(50)
    /// options.everyNthAccess = 100
    /// ```
    ///
    /// `statements` and `slowStatements` cost about half a microsecond for each statement, and a call for each row;
    /// other interests cost about a microsecond for each access.
    public struct Options: Sendable {
        /// The kinds of events.
        public var interests: Interests

        /// Of this many accesses, one is reported as `DatabaseTraceEvent.access`. Less than 2 reports each.
        public var everyNthAccess = 1

        /// Of this many statements, one is reported as `DatabaseTraceEvent.statement`. Less than 2 reports each. Slow
        /// statements are all reported.
        public var everyNthStatement = 1

        /// The duration from which on a statement is slow.
        public var slowStatementThreshold = Duration.milliseconds(100)

        /// The time after which a wait for a connection is reported, while it goes on.
        public var waitThreshold = Duration.seconds(1)

        /// The change of SQL texts before the tracer receives them. By default, literals are removed.
        public var redaction = SQLRedaction.literals

        /// Options with the defaults.
        ///
        /// - parameter interests: the kinds of events.
        public init(_ interests: Interests) { self.interests = interests }
    }

    /// Adds a tracer for all databases of the process, also those that are open.
    ///
    /// ```swift
    /// let registration = DatabaseTracing.addTracer(SlowLog())
    /// …
    /// registration.remove()
    /// ```
    ///
    /// - returns: the tracer's registration, with which it can be removed.
    @discardableResult
    public static func addTracer(_ tracer: some DatabaseTracer) -> TracerRegistration {
        TracerList.process.add(tracer)
    }

    /// Adds a closure as a tracer for all databases of the process.
    ///
    /// - returns: the closure's registration, with which it can be removed.
    @discardableResult
    public static func addTracer(
        _ options: Options, _ receive: @escaping @Sendable (DatabaseTraceEvent) -> Void
    ) -> TracerRegistration {
        addTracer(ClosureTracer(options: options, body: receive))
    }
}

/// A tracer that was added, by `DatabaseReader.addTracer(_:)` or `DatabaseTracing.addTracer(_:)`.
public struct TracerRegistration: Sendable {
    let list: TracerList
    let entry: TracerList.Entry

    /// Removes the tracer: no event is delivered to it from now on. A delivery that has begun on another thread may
    /// still be running.
    ///
    /// A tracer may remove itself in the middle of an event. Removing again has no effect.
    public func remove() { list.remove(entry) }
}

/// A closure that receives events.
struct ClosureTracer: DatabaseTracer {
    let options: DatabaseTracing.Options
    let body: @Sendable (DatabaseTraceEvent) -> Void

    func receive(_ event: DatabaseTraceEvent) { body(event) }
}
