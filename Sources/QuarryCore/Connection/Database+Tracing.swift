extension Database {
    /// The events to trace: <https://www.sqlite.org/c3ref/c_trace.html>.
    public struct TracingOptions: OptionSet, Sendable {
        /// SQLite's number.
        public let rawValue: CInt

        /// A set of SQLite's numbers.
        public init(rawValue: CInt) { self.rawValue = rawValue }

        /// Statements as they begin (`SQLITE_TRACE_STMT`).
        public static let statement = TracingOptions(rawValue: 1)

        /// Statements as they end, with the time they took (`SQLITE_TRACE_PROFILE`).
        public static let profile = TracingOptions(rawValue: 2)
    }

    /// A statement that begins or has ended.
    ///
    /// ```swift
    /// config.prepareDatabase { db in
    ///     db.trace(options: [.statement, .profile]) { event in
    ///         switch event {
    ///         case .statement(let statement): print(statement.sql)
    ///         case .profile(_, let duration): print("\(duration) seconds")
    ///         }
    ///     }
    /// }
    /// ```
    public enum TraceEvent: CustomStringConvertible {
        /// A traced statement, or a comment that names a trigger, its statement, or a statement inside another.
        public struct Statement: CustomStringConvertible {
            let traced: TracedStatement

            /// The SQL with its parameters: `SELECT * FROM player WHERE id = ?`.
            public var sql: String { traced.sql }

            /// The SQL with its arguments: `SELECT * FROM player WHERE id = 1`.
            ///
            /// - warning: arguments may hold data that logs must not: passwords, names, addresses.
            public var expandedSQL: String { traced.expandedSQL }

            /// The SQL, with arguments only if `Configuration.publicStatementArguments` is true.
            public var description: String { traced.showsArguments ? expandedSQL : sql }
        }

        /// A statement begins.
        case statement(Statement)

        /// A statement has ended.
        ///
        /// - parameter duration: seconds, as SQLite measures them: to the millisecond.
        case profile(statement: Statement, duration: Double)

        /// `SELECT * FROM player`, or `0.004s SELECT * FROM player`; with arguments only if
        /// `Configuration.publicStatementArguments` is true.
        public var description: String {
            switch self {
            case .statement(let statement): statement.description
            case .profile(let statement, let duration): Self.seconds(duration) + " " + statement.description
            }
        }

        /// As `description`, with the arguments.
        ///
        /// - warning: arguments may hold data that logs must not: passwords, names, addresses.
        public var expandedDescription: String {
            switch self {
            case .statement(let statement): statement.expandedSQL
            case .profile(let statement, let duration): Self.seconds(duration) + " " + statement.expandedSQL
            }
        }

        /// With three decimals.
        private static func seconds(_ duration: Double) -> String {
            let milliseconds = Int((duration * 1000).rounded())
            let fraction = String(1000 + milliseconds % 1000).dropFirst()
            return "\(milliseconds / 1000).\(fraction)s"
        }
    }

    /// Traces the statements that run; nil ends the tracing.
    ///
    /// ```swift
    /// config.prepareDatabase { db in
    ///     db.trace { print($0) }                     // SELECT * FROM player WHERE id = ?
    ///     db.trace { print($0.expandedDescription) } // SELECT * FROM player WHERE id = 1
    ///     db.trace(options: .profile) { event in
    ///         if case .profile(let statement, let duration) = event, duration > 0.5 {
    ///             print("slow: \(statement.sql)")
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// A connection has one trace: each call replaces the previous one. Statements of triggers are reported as SQL
    /// comments. Statements by which the library reads the schema or explains a statement aren't reported. The closure
    /// must not use the connection.
    ///
    /// See <https://www.sqlite.org/c3ref/trace_v2.html>.
    ///
    /// - parameter options: the events to trace.
    /// - parameter trace: called with each event, on the thread that has the connection.
    public func trace(options: TracingOptions = .statement, _ trace: ((TraceEvent) -> Void)? = nil) {
        self.trace(options: options, includesOwnStatements: false, trace)
    }

    /// Traces also the library's own statements, if `includesOwnStatements` is true.
    package func trace(
        options: TracingOptions = .statement, includesOwnStatements: Bool, _ trace: ((TraceEvent) -> Void)? = nil
    ) {
        failingAccess {
            try checkAccess()
            try checkIsLocal("trace(options:_:), whose statements are the library's: use a DatabaseTracer")
            // A loop, because releasing the closure's objects may set another closure.
            while let client = running.traceClient.take() { hooks.remove(client) }
            guard let trace else { return }
            let showsArguments = self.options.publicStatementArguments
            var events = HookSlots.TraceEvents()
            if options.contains(.statement) { events.insert(.statements) }
            if options.contains(.profile) { events.insert(.profiles) }
            running.traceClient = hooks.onTrace(events) { [unowned self] event in
                if running.runsOwnStatements, !includesOwnStatements { return }
                switch event {
                case .statement(let pointer, let text):
                    TracedStatement.lend(pointer, text: text, showsArguments: showsArguments) {
                        trace(.statement($0))
                    }
                case .profile(let pointer, let nanoseconds):
                    TracedStatement.lend(pointer, text: nil, showsArguments: showsArguments) {
                        trace(.profile(statement: $0, duration: Double(nanoseconds) * 1e-9))
                    }
                case .row: break
                }
            }
        }
    }
}

extension Database {
    /// Runs `body`, whose statements are the library's own: `trace(options:_:)` isn't told of them.
    package func untraced<T, Failure: Error>(_ body: () throws(Failure) -> T) throws(Failure) -> T {
        let outer = running.runsOwnStatements
        running.runsOwnStatements = true
        defer { running.runsOwnStatements = outer }
        return try body()
    }
}

/// The texts of a statement that SQLite lends for the length of a call. They are made on demand, because making them is
/// costly.
final class TracedStatement {
    let showsArguments: Bool

    /// Nil after the call, and for comments.
    private var pointer: SQLiteStatement?
    private(set) lazy var sql = pointer.flatMap { TracedStatementCalls.sql($0) }.map { Self.trimmed($0) } ?? ""
    private(set) lazy var expandedSQL =
        pointer.flatMap { TracedStatementCalls.expandedSQL($0) }.map { Self.trimmed($0) } ?? sql

    private init(_ pointer: SQLiteStatement?, showsArguments: Bool) {
        self.pointer = pointer
        self.showsArguments = showsArguments
    }

    /// - parameter text: the text that SQLite reports at the beginning, which may be a comment instead of the
    ///   statement; nil at the end.
    static func lend(
        _ pointer: SQLiteStatement, text: UnsafePointer<CChar>?, showsArguments: Bool,
        _ body: (Database.TraceEvent.Statement) -> Void
    ) {
        var traced: TracedStatement
        if let text, !TracedStatementCalls.isSQL(text, of: pointer) {
            traced = TracedStatement(nil, showsArguments: showsArguments)
            traced.sql = String(cString: text)
        } else {
            traced = TracedStatement(pointer, showsArguments: showsArguments)
        }
        body(Database.TraceEvent.Statement(traced: traced))
        if !isKnownUniquelyReferenced(&traced) {
            // The closure keeps the event.
            _ = (traced.sql, traced.expandedSQL)
        }
        traced.pointer = nil
    }

    /// The SQL without surrounding white space and semicolons.
    private static func trimmed(_ sql: String) -> String {
        let text = Substring(sql).utf8.drop { $0.separatesStatements }
        return String(Substring(text.droppingTrailingSpace))
    }
}

extension Database {
    /// Runs `body`, and returns the SQL of the statements it ran that may write, as written, in order.
    ///
    /// Statements that begin and end transactions and savepoints are left out, and so are statements of triggers.
    /// Arguments are shown only if `publicStatementArguments` is true.
    package func recordingChanges(_ body: () throws -> Void) throws -> [String] {
        try checkAccess()
        var texts: [String] = []
        let client = hooks.onTrace(.statements) { [options] event in
            guard case .statement(let statement, let text) = event, TracedStatementCalls.isSQL(text, of: statement),
                !TracedStatementCalls.isReadOnly(statement)
            else { return }
            let sql = String(cString: text)
            guard !StatementKind(sql: Substring(sql).utf8.skippingSpaceAndComments).controlsTransactions else { return }
            TracedStatement.lend(statement, text: text, showsArguments: options.publicStatementArguments) {
                texts.append($0.description)
            }
        }
        defer { hooks.remove(client) }
        try body()
        return texts
    }
}

extension Database {
    /// Lets a tracer follow the access that is running, until `endTracing`.
    ///
    /// - returns: the tracer's client of the trace slot, if it follows statements.
    package func beginTracing(_ tracer: any AccessTracer) -> HookSlots.Client? {
        watchers.tracer = tracer
        guard !tracer.followedEvents.isEmpty else { return nil }
        return hooks.onTrace(tracer.followedEvents) { [unowned tracer] event in
            switch event {
            case .row(let statement): tracer.statementDidReturnRow(statement)
            case .profile(let statement, _): tracer.statementDidEnd(statement)
            case .statement: break
            }
        }
    }

    /// Ends the tracing of an access. The caller has the connection's lease; the access itself may have ended.
    package func endTracing(_ client: HookSlots.Client?) {
        watchers.tracer = nil
        if let client { hooks.remove(client) }
    }

    /// Runs `body` without telling the tracer of its statements and errors.
    package func withoutTracing<T>(_ body: () throws -> T) rethrows -> T {
        let tracer = watchers.tracer
        watchers.tracer = nil
        defer { watchers.tracer = tracer }
        return try body()
    }

    /// SQLite's counters of a statement that the current thread runs.
    package static func counters(of statement: SQLiteStatement) -> StatementCounters {
        TracedStatementCalls.counters(statement)
    }

    /// The SQL of a statement that the current thread runs, with its arguments.
    package static func expandedSQL(of statement: SQLiteStatement) -> String? {
        TracedStatementCalls.expandedSQL(statement)
    }
}
