import Dispatch
import QuarryCore
import Synchronization

/// One access, as tracers see it: collects its events while it waits and runs, and delivers them.
///
/// The task or thread that asks for the access makes it, and delivers the events when the connection has been given
/// back.
final class AccessTrace: AccessTracer, @unchecked Sendable {
    // Sendable: `shared` is locked. The other variables belong to the access, which uses one thread at a time.

    /// A tracer, and what it gets of this access.
    private struct Receiver {
        let entry: TracerList.Entry
        /// Whether it gets the event of the access.
        let samplesAccess: Bool
        /// The value that it has returned from `accessWillBegin`.
        let context: (any Sendable)?
    }

    /// The state that other threads read.
    private struct Shared {
        var isWaiting = false
        /// When the access got its connection.
        var holdStart: UInt64?
        var label: String?
        var sql: String?
        /// The number of statements that have begun and not ended.
        var runningCount = 0
    }

    let beginning: DatabaseTraceEvent.AccessBeginning
    private let receivers: [Receiver]
    private let interests: DatabaseTracing.Interests
    private let startTime: UInt64
    private let shared = Lock(Shared())

    private var connection: DatabaseTraceEvent.Connection?
    private(set) var showsArguments = false
    private var accessNumber = 0
    private var endTime: UInt64?
    private let clock: MonotonicClock
    /// The time for which a thread of tasks was blocked.
    private var blockedTime: Duration?
    private var events = TracedEvents()
    private var statements = TracedStatements()

    /// The hooks that follow statements.
    let followedEvents: HookSlots.TraceEvents

    private static let lastID = Atomic<Int>(0)

    /// - returns: nil if no tracer concerns the access.
    init?(_ runner: AccessRunner, _ request: AccessRequest, isAsynchronous: Bool) {
        guard !TracerList.isDelivering else { return nil }
        let entries = TracerList.current(for: runner.core, runner.configuredTracers)
        interests = entries.reduce(into: []) { $0.formUnion($1.options.interests) }
        let interestsInAccesses: DatabaseTracing.Interests = [
            .accesses, .statements, .slowStatements, .waits, .blockedThreads, .errors,
        ]
        guard !interests.isDisjoint(with: interestsInAccesses) else { return nil }
        clock = runner.group.clock
        startTime = clock.now
        let beginning = DatabaseTraceEvent.AccessBeginning(
            id: Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue, database: runner.source, role: runner.role,
            kind: DatabaseTraceEvent.AccessKind(request), origin: request.origin == .library ? .library : .program,
            isAsynchronous: isAsynchronous,
            start: DatabaseTraceEvent.Timestamp(nanosecondsSinceEpoch: SystemClock.nanosecondsSinceEpoch()))
        self.beginning = beginning
        receivers = TracerList.$isDelivering.withValue(true) {
            entries.map { entry in
                let samplesAccess = entry.wants(.accesses) && entry.samplesAccess()
                let context = samplesAccess && entry.isActive ? entry.tracer.accessWillBegin(beginning) : nil
                return Receiver(entry: entry, samplesAccess: samplesAccess, context: context)
            }
        }
        var followedEvents: HookSlots.TraceEvents = []
        if !interests.isDisjoint(with: [.statements, .slowStatements, .waits]) { followedEvents.insert(.profiles) }
        if !interests.isDisjoint(with: [.statements, .slowStatements]) { followedEvents.insert(.rows) }
        self.followedEvents = followedEvents
        statements.keepsAll = interests.contains(.statements)
        statements.slowThreshold =
            entries.filter { $0.wants(.slowStatements) }.map { $0.options.slowStatementThreshold.nanoseconds }.min()
    }

    // MARK: - The frame of the access

    /// The access has its connection, on the thread that it runs on.
    ///
    /// - returns: the client of the trace slot, for `accessDidEnd`.
    func accessWillRun(_ db: Database) -> HookSlots.Client? {
        let now = clock.now
        shared.withLock { shared in
            shared.isWaiting = false
            shared.holdStart = now
        }
        connection = db.tracedConnection
        showsArguments = db.configuration.publicStatementArguments
        if let connection { Self.running.withLock { $0[connection.number] = self } }
        return db.beginTracing(self)
    }

    /// The body of the access has ended, with all statements that slow ones are explained by.
    func bodyDidEnd(_ db: Database) { explainSlowStatements(db) }

    /// The access has ended, and its connection is about to be given back.
    func accessDidRun(_ db: Database, _ client: HookSlots.Client?) {
        db.endTracing(client)
        accessNumber = db.accessNumber
        let label = db.accessLabel(ofAccess: accessNumber)
        shared.withLock { $0.label = label }
        if let connection { Self.running.withLock { _ = $0.removeValue(forKey: connection.number) } }
        endTime = clock.now
    }

    // MARK: - Statements

    private func wallTime(_ time: UInt64) -> DatabaseTraceEvent.Timestamp {
        DatabaseTraceEvent.Timestamp(
            nanosecondsSinceEpoch: beginning.start.nanosecondsSinceEpoch &+ (time &- startTime))
    }

    func statementWillStart(_ statement: Statement, _ db: Database) {
        deliverIfFull(db)
        shared.withLock { shared in
            shared.sql = statement.sql
            shared.runningCount = statements.runningCount + 1
        }
        statements.begin(
            statement.sqliteStatement, statement.sql, isExplainable: statement.kind == .query,
            Database.counters(of: statement.sqliteStatement), expandedSQL: db.route != nil ? statement.sql : nil,
            now: clock.now)
    }

    func statementIsSent(_ expandedSQL: String) { statements.expandLast(expandedSQL) }

    func statementDidReturnRow(_ statement: SQLiteStatement) { statements.countRow(statement) }

    func statementDidEnd(_ pointer: SQLiteStatement) {
        let ended = statements.end(pointer, now: clock.now) {
            Database.counters(of: pointer)
        } expandedSQL: {
            showsArguments ? Database.expandedSQL(of: pointer) : nil
        }
        shared.withLock { $0.runningCount = statements.runningCount }
        for event in ended { events.append(event) }
    }

    func errorWasMade(_ error: DatabaseError, _ statement: Statement?, _ db: Database) {
        if let statement { note(error.extendedResultCode, of: statement.sqliteStatement) }
        guard interests.contains(.errors) else { return }
        // Statements that can't be prepared never begin.
        deliverIfFull(db)
        let severity = DatabaseTraceEvent.Severity(
            of: error, origin: beginning.origin, isRetried: db.refusesToWait)
        events.append(.failure(error, severity))
    }

    /// The error of a statement is known after its end.
    private func note(_ code: ResultCode, of pointer: SQLiteStatement) {
        events.note(code, of: pointer)
        statements.note(code, of: pointer)
    }

    private func explainSlowStatements(_ db: Database) {
        guard statements.hasSlow else { return }
        // The plans are no part of the access: nobody is told of their statements and errors.
        let explained = db.withoutTracing {
            statements.takeSlow().map { statement in (statement, plan(of: statement, db)) }
        }
        for (statement, plan) in explained { events.append(.slowStatement(statement, plan)) }
    }

    private func plan(of statement: TracedStatements.Ended, _ db: Database) -> QueryPlan? {
        // An access that has left a transaction open throws; SQLite may have cancelled it.
        guard beginning.role == .snapshot || !db.isInsideTransaction, statement.isExplainable else { return nil }
        return db.explanation(of: statement.sql)
    }

    // MARK: - Waiting

    /// The accesses that run on the connections, by the numbers of the connections.
    private static let running = Lock<[Int: AccessTrace]>([:])

    /// The access begins to wait for a connection.
    func waitDidBegin(_ group: ConnectionGroup) {
        guard interests.contains(.waits) else { return }
        shared.withLock { $0.isWaiting = true }
        let thresholds = receivers.filter { $0.entry.wants(.waits) }.map(\.entry.options.waitThreshold.nanoseconds)
        for threshold in Set(thresholds) {
            clock.after(threshold) { [weak self, weak group] in
                if let self, let group { self.reportWait(group, threshold) }
            }
        }
    }

    private func reportWait(_ group: ConnectionGroup, _ threshold: UInt64) {
        guard shared.withLock({ $0.isWaiting }) else { return }
        let holders = group.holders.map { Self.holder($0.connection, label: $0.label, now: clock.now) }
        let waited = Duration.nanoseconds(Int64(clamping: clock.now - startTime))
        let waiterCount = max(1, group.waiterCount)
        TracerList.$isDelivering.withValue(true) {
            for receiver in receivers where receiver.entry.options.waitThreshold.nanoseconds == threshold {
                receiver.entry.receive(.waits) { options in
                    .wait(
                        .init(
                            access: beginning, waited: waited, holders: holders.map { $0.redacted(options.redaction) },
                            waiterCount: waiterCount, context: receiver.context))
                }
            }
        }
    }

    /// The holder of a connection, with what its trace knows.
    private static func holder(
        _ connection: DatabaseTraceEvent.Connection, label: String?, now: UInt64
    ) -> DatabaseTraceEvent.Holder {
        let trace = running.withLock { $0[connection.number] }
        let shared = trace?.shared.withLock { $0 }
        return DatabaseTraceEvent.Holder(
            connection: connection, accessID: trace?.beginning.id, label: label,
            hold: shared?.holdStart.map { .nanoseconds(Int64(clamping: now > $0 ? now - $0 : 0)) },
            sql: shared?.sql, isRunning: shared.map { $0.runningCount > 0 } ?? false)
    }

    /// A thread has waited, which may be one on which tasks run.
    func threadDidWait() {
        guard interests.contains(.blockedThreads), CooperativePool.isTaskThread else { return }
        blockedTime = .nanoseconds(Int64(clamping: clock.now - startTime))
    }

    // MARK: - The end

    /// Delivers the events of an access that has returned a value.
    func finish() { finish(.value) }

    /// Delivers the events of an access that has thrown an error.
    ///
    /// - returns: the error to throw, of which tracers have been told.
    func finish(_ error: any Error) -> any Error {
        guard let databaseError = error as? DatabaseError else {
            finish(error is CancellationError ? .cancelled : .error(error))
            return error
        }
        if !databaseError.isTraced, interests.contains(.errors) {
            let severity = DatabaseTraceEvent.Severity(of: databaseError, origin: beginning.origin)
            events.append(.failure(databaseError, severity))
        }
        finish(.error(error))
        return databaseError.asTraced()
    }

    private func finish(_ outcome: DatabaseTraceEvent.Access.Outcome) {
        let now = clock.now
        let shared = shared.withLock { shared in
            shared.isWaiting = false
            return shared
        }
        deliver()
        let holdStart = shared.holdStart ?? now
        let wait = Duration.nanoseconds(Int64(clamping: holdStart - startTime))
        let hold = Duration.nanoseconds(Int64(clamping: (endTime ?? holdStart) - holdStart))
        TracerList.$isDelivering.withValue(true) {
            for receiver in receivers {
                if let blockedTime {
                    receiver.entry.receive(.blockedThreads) { _ in
                        .blockedThread(.init(access: beginning, waited: blockedTime, context: receiver.context))
                    }
                }
                guard receiver.samplesAccess else { continue }
                receiver.entry.receive(.accesses) { _ in
                    .access(
                        .init(
                            beginning: beginning, connection: connection, label: shared.label, wait: wait, hold: hold,
                            statementCount: statements.count,
                            outcome: outcome.redacted(receiver.entry.options.redaction), context: receiver.context))
                }
            }
        }
    }

    // MARK: - Delivery

    /// Delivers the collected events in the middle of the access, if they are many.
    private func deliverIfFull(_ db: Database) {
        guard events.isFull else { return }
        let label = db.accessLabel
        shared.withLock { $0.label = label }
        deliver()
    }

    /// Delivers the collected events.
    private func deliver() {
        guard !events.isEmpty else { return }
        let label = shared.withLock { $0.label }
        let events = events.take()
        TracerList.$isDelivering.withValue(true) {
            for event in events {
                for receiver in receivers { deliver(event, label, receiver) }
            }
        }
    }

    private func deliver(_ event: TracedEvents.Event, _ label: String?, _ receiver: Receiver) {
        let entry = receiver.entry
        switch event {
        case .statement(let statement):
            guard entry.wants(.statements), entry.samplesStatement() else { return }
            entry.receive(.statements) { _ in self.event(of: statement, label, receiver).map { .statement($0) } }
        case .slowStatement(let statement, let plan):
            guard statement.duration >= entry.options.slowStatementThreshold.nanoseconds else { return }
            entry.receive(.slowStatements) { _ in
                self.event(of: statement, label, receiver).map { .slowStatement(.init(statement: $0, plan: plan)) }
            }
        case .failure(let error, let severity):
            entry.receive(.errors) { options in
                .failure(
                    .init(
                        database: beginning.database, connection: connection, accessID: beginning.id, label: label,
                        severity: severity, error: error.redacted(options.redaction), context: receiver.context))
            }
        }
    }

    private func event(
        of statement: TracedStatements.Ended, _ label: String?, _ receiver: Receiver
    ) -> DatabaseTraceEvent.Statement? {
        guard let connection else { return nil }
        return DatabaseTraceEvent.Statement(
            connection: connection, accessID: beginning.id, label: label,
            sql: receiver.entry.options.redaction(statement.sql), expandedSQL: statement.expandedSQL,
            start: wallTime(statement.start), duration: .nanoseconds(Int64(clamping: statement.duration)),
            rowCount: statement.rowCount, fullScanStepCount: Int(statement.counters.fullScanSteps),
            sortCount: Int(statement.counters.sorts),
            automaticIndexRowCount: Int(statement.counters.automaticIndexRows),
            virtualMachineStepCount: Int(statement.counters.virtualMachineSteps),
            repreparationCount: Int(statement.counters.repreparations), errorCode: statement.errorCode,
            context: receiver.context)
    }
}
