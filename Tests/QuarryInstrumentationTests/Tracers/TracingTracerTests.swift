#if Instrumentation || AllButTLS
import InMemoryTracing
import Quarry
import QuarryInstrumentation
import Testing
import Tracing

/// The spans of `TracingTracer`.
@Suite(.timeLimit(.minutes(5))) struct TracingTracerTests {
    let tracer = InMemoryTracer()

    func spans(_ name: String) -> [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.operationName == name } }

    /// The span of an access is a child of the task's span, and the parent of its statements' spans, also if the access
    /// runs on a thread of the library.
    @Test(arguments: [AsyncExecution.offloaded, .inline])
    func spansAreNested(execution: AsyncExecution) async throws {
        let database = try TestDatabase { $0.asyncExecution = execution }
        database.pool.addTracer(TracingTracer(tracer: tracer))
        try await tracer.withSpan("request") { _ in
            let score = try await database.pool.read { db in
                db.accessLabel = "best"
                return try Int.fetchOne(db, sql: "SELECT max(score) FROM player WHERE name <> 'Craig'")
            }
            #expect(score == 200)
        }
        let request = try #require(spans("request").first)
        let access = try #require(spans("read players").first)
        let statement = try #require(spans("SELECT player").first)
        #expect(access.parentSpanID == request.spanID && access.traceID == request.traceID)
        #expect(statement.parentSpanID == access.spanID && statement.traceID == request.traceID)
        #expect(access.kind == .client && statement.kind == .client)
        #expect(tracer.activeSpans.isEmpty)

        #expect(access.attributes.get("db.system.name") == "sqlite")
        #expect(access.attributes.get("db.namespace") == "players")
        #expect(access.attributes.get("db.operation.name") == "read")
        #expect(access.attributes.get("quarry.access.label") == "best")
        #expect(access.attributes.get("quarry.access.outcome") == "value")
        #expect(access.attributes.get("quarry.access.asynchronous") == .bool(true))
        guard case .double(let wait) = access.attributes.get("quarry.access.wait_time") else {
            throw Step.NeverReached(description: "quarry.access.wait_time")
        }
        #expect(wait >= 0 && wait < 100)

        #expect(statement.attributes.get("db.system.name") == "sqlite")
        #expect(statement.attributes.get("db.namespace") == "players")
        #expect(statement.attributes.get("db.operation.name") == "SELECT")
        #expect(statement.attributes.get("db.collection.name") == "player")
        #expect(statement.attributes.get("db.query.summary") == "SELECT player")
        #expect(statement.attributes.get("db.query.text") == "SELECT max(score) FROM player WHERE name <> ?")
        #expect(statement.attributes.get("db.response.returned_rows") == .int64(1))
        #expect(statement.attributes.get("error.type") == nil && statement.status == nil && access.status == nil)

        // Times are those of the events, not of their delivery.
        let (start, end) = (access.startInstant.nanosecondsSinceEpoch, access.endInstant.nanosecondsSinceEpoch)
        #expect(start >= request.startInstant.nanosecondsSinceEpoch && end <= request.endInstant.nanosecondsSinceEpoch)
        #expect(statement.startInstant.nanosecondsSinceEpoch >= start)
        #expect(statement.endInstant.nanosecondsSinceEpoch <= end)
    }

    @Test func errorsHaveTheirCodes() throws {
        let database = try TestDatabase()
        database.pool.addTracer(TracingTracer(tracer: tracer))
        #expect(throws: DatabaseError.self) {
            try database.pool.write { db in
                try db.execute(
                    sql: "INSERT INTO player (name, score) VALUES (?, 'classified')", arguments: ["Arthur"])
            }
        }
        for name in ["write players", "INSERT player"] {
            let span = try #require(spans(name).first)
            #expect(span.status?.code == .error)
            #expect(span.attributes.get("db.response.status_code") == "2067")
            #expect(span.attributes.get("error.type") == "SQLITE_CONSTRAINT_UNIQUE")
        }
        #expect(spans("write players").first?.parentSpanID == nil)
        #expect(!spans("ROLLBACK").isEmpty)
        #expect(!"\(tracer.finishedSpans)".contains("classified") && !"\(tracer.finishedSpans)".contains("Arthur"))
    }

    @Test func errorOfTheProgramHasTheNameOfItsType() throws {
        struct Refused: Error {}
        let database = try TestDatabase()
        database.pool.addTracer(TracingTracer(tracer: tracer))
        #expect(throws: Refused.self) { try database.pool.read { _ in throw Refused() } }
        let span = try #require(spans("read players").first)
        #expect(span.attributes.get("error.type").map { "\($0)".contains("Refused") } == true)
        #expect(span.attributes.get("db.response.status_code") == nil && span.status?.code == .error)
    }

    /// A cancelled access has no error.
    @Test func cancelledAccess() async throws {
        let database = try TestDatabase()
        database.pool.addTracer(TracingTracer(tracer: tracer))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await database.pool.write { _ in }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let span = try #require(spans("write players").first)
        #expect(span.attributes.get("quarry.access.outcome") == "cancelled" && span.status == nil)
        #expect(tracer.activeSpans.isEmpty)
    }

    /// The wait is an event of the waiting access's span, with the access that has the connection.
    @Test func waitIsAnEvent() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let isTold = Step("the wait is told")
        var options = DatabaseTracing.Options(TracingTracer.interests)
        options.waitThreshold = .zero
        options.slowStatementThreshold = .zero
        pool.addTracer(TracingTracer(tracer: tracer, options: options))
        options.interests = .waits
        pool.addTracer(options) { _ in isTold.reach() }
        let hasWritten = Step("the holder has written")
        async let holder: Void = pool.write { db in
            db.accessLabel = "import"
            try db.execute(sql: "UPDATE player SET score = 1")
            hasWritten.reach()
            try isTold.wait()
        }
        try await hasWritten.reached()
        try await pool.writeWithoutTransaction { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
        try await holder
        let span = try #require(spans("withoutTransaction players").first)
        let wait = try #require(span.events.first { $0.name == "quarry.wait" })
        #expect(wait.attributes.get("quarry.holder.access.label") == "import")
        #expect(wait.attributes.get("quarry.holder.query.text") == "UPDATE player SET score = ?")
        #expect(wait.attributes.get("db.client.connection.pending_requests") == .int64(1))
        let slow = try #require(span.events.first { $0.name == "quarry.slow_statement" })
        #expect(slow.attributes.get("quarry.query.plan") == "QUERY PLAN\n`--SCAN player")
        #expect(slow.attributes.get("db.query.text") == "SELECT * FROM player")
    }

    /// The span of an access whose tracer is removed meanwhile ends, too.
    @Test func spanOfARemovedTracerEnds() throws {
        let database = try TestDatabase()
        let registration = Recorded(TracerRegistration?.none)
        registration.update { $0 = database.pool.addTracer(TracingTracer(tracer: tracer)) }
        try database.pool.write { _ in registration.value?.remove() }
        #expect(spans("write players").count == 1 && tracer.activeSpans.isEmpty)
        try database.pool.write { _ in }
        #expect(spans("write players").count == 1)
    }

    /// Of two accesses one has a span; each statement has one, in that of its access or of its task.
    @Test func sampledAccesses() async throws {
        let database = try TestDatabase()
        var options = DatabaseTracing.Options(TracingTracer.interests)
        options.everyNthAccess = 2
        database.pool.addTracer(TracingTracer(tracer: tracer, options: options))
        try await tracer.withSpan("request") { _ in
            for _ in 0..<4 {
                let count = try await database.pool.read { db in
                    try Int.fetchAll(db, sql: "SELECT score FROM player").count
                }
                #expect(count == 3)
            }
        }
        let request = try #require(spans("request").first)
        let accesses = spans("read players")
        #expect(accesses.count == 2)
        let parents = spans("SELECT player").map(\.parentSpanID)
        #expect(parents.count == 4 && parents.count { $0 == request.spanID } == 2)
        #expect(accesses.allSatisfy { access in parents.contains(access.spanID) })
    }
}
#endif
