import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The accesses that tracers are told of.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct TracedAccessTests {
    @TaskLocal static var request: String?

    @Test func accessIsTold() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.accesses)
        database.pool.addTracer(tracer)
        let before = SystemClock.nanosecondsSinceEpoch()
        try database.pool.write { db in
            db.accessLabel = "save"
            try db.execute(sql: "DELETE FROM player")
        }
        _ = try database.pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") }
        try database.pool.writeWithoutTransaction { _ in }
        try database.pool.barrierWriteWithoutTransaction { _ in }
        let accesses = tracer.accesses
        #expect(accesses.map(\.beginning.kind) == [.write, .read, .withoutTransaction, .exclusive])
        #expect(accesses.map(\.beginning.role) == [.writer, .reader, .writer, .writer])
        #expect(accesses.map(\.label) == ["save", nil, nil, nil])
        #expect(Set(accesses.map(\.beginning.id)).count == 4)
        for access in accesses {
            #expect(access.database.label == "players" && access.database.path == database.pool.path)
            #expect(access.connection?.role == access.beginning.role && access.beginning.origin == .program)
            #expect(!access.beginning.isAsynchronous && access.wait >= .zero && access.hold > .zero)
            #expect(access.beginning.start.nanosecondsSinceEpoch >= before)
            guard case .value = access.outcome else {
                Issue.record("\(access.outcome)")
                continue
            }
        }
        #expect(accesses[0].connection == accesses[2].connection && accesses[0].connection != accesses[1].connection)
    }

    @Test func outcomes() async throws {
        struct OwnError: Error {}
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.accesses)
        database.pool.addTracer(tracer)
        expectError(OwnError.self) { try database.pool.read { _ in throw OwnError() } }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
        }
        await expectError(CancellationError.self) { try await task.value }
        try database.pool.close()
        expectError(.SQLITE_MISUSE, "Connection is closed") { try database.pool.read { _ in } }
        let accesses = tracer.accesses
        try #require(accesses.count == 3)
        guard case .error(let first) = accesses[0].outcome, case .cancelled = accesses[1].outcome,
            case .error(let last) = accesses[2].outcome
        else { throw UnexpectedEvents(description: "\(accesses.map(\.outcome))") }
        #expect(first is OwnError && (last as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        #expect(accesses[2].connection == nil && accesses[2].hold == .zero)
    }

    /// Each of the ways in which an access can be made.
    @Test func everyFormIsTold() async throws {
        let database = try TracedDatabase()
        let pool = database.pool
        let tracer = RecordingTracer(.accesses)
        pool.addTracer(tracer)
        var count = 0
        func expectTold(_ name: String, isAsynchronous: Bool, _ body: () async throws -> Void) async throws {
            try await body()
            count += 1
            try await until("\(name) is told") { tracer.accesses.count == count }
            #expect(tracer.accesses.contains { $0.beginning.isAsynchronous == isAsynchronous }, "\(name)")
            tracer.forget()
            count = 0
        }
        try await expectTold("read", isAsynchronous: true) { try await pool.read { _ in } }
        try await expectTold("write", isAsynchronous: true) { try await pool.write { _ in } }
        try await expectTold("unsafeRead", isAsynchronous: true) { try await pool.unsafeRead { _ in } }
        try await expectTold("barrier", isAsynchronous: true) { try await pool.barrierWriteWithoutTransaction { _ in } }
        try await expectTold("asyncRead", isAsynchronous: true) {
            let isRead = Step("the read has its connection")
            pool.asyncRead { _ in isRead.reach() }
            try await isRead.reached()
        }
        try await expectTold("asyncWrite", isAsynchronous: true) {
            let isWritten = Step("the write has ended")
            pool.asyncWrite { _ in
            } completion: { _, _ in
                isWritten.reach()
            }
            try await isWritten.reached()
        }
        try await expectTold("unsafeReentrantWrite", isAsynchronous: false) {
            try await onOwnThread { try pool.unsafeReentrantWrite { _ in } }
        }
        try await expectTold("read with a timeout", isAsynchronous: true) {
            try await pool.read(timeout: .seconds(60)) { _ in }
        }
        try await expectTold("write with a timeout", isAsynchronous: false) {
            try await onOwnThread { try pool.write(timeout: .seconds(60)) { _ in } }
        }
        try await expectTold("snapshot", isAsynchronous: true) {
            let snapshot = try await onOwnThread { try pool.makeSnapshot() }
            try await snapshot.read { _ in }
        }
        try await expectTold("concurrent read", isAsynchronous: true) {
            count = 1
            let isRead = Step("the concurrent read has ended")
            try await onOwnThread {
                try pool.writeWithoutTransaction { _ in pool.asyncConcurrentRead { _ in isRead.reach() } }
            }
            try await isRead.reached()
        }
    }

    /// The events come in the task that has asked, also if the access ran on a thread of the library.
    @Test(arguments: [AsyncExecution.automatic, .inline, .offloaded])
    func taskLocalsReachTheTracer(execution: AsyncExecution) async throws {
        let database = try TracedDatabase { $0.asyncExecution = execution }
        let seen = Recorded<[String?]>([])
        let tracer = RecordingTracer([.accesses, .statements, .errors]) { _ in
        } begin: { _ in
            seen.update { $0.append(Self.request) }
            return Self.request
        } _: { _ in
            seen.update { $0.append(Self.request) }
        }
        database.pool.addTracer(tracer)
        try await Self.$request.withValue("GET /players") {
            try await database.pool.write { db in
                _ = try? db.execute(sql: "DELETE FROM team")
                try db.execute(sql: "DELETE FROM player")
            }
        }
        // The beginning; BEGIN, the error, DELETE, COMMIT; the access.
        #expect(seen.value == Array(repeating: "GET /players", count: 6))
        for event in tracer.events {
            let context: (any Sendable)? =
                switch event {
                case .access(let access): access.context
                case .statement(let statement): statement.context
                case .failure(let failure): failure.context
                default: nil
                }
            #expect(context as? String == "GET /players")
        }
    }

    @Test func samplingAccesses() throws {
        let database = try TracedDatabase()
        let begun = Recorded(0)
        let tracer = RecordingTracer([.accesses, .errors]) {
            $0.everyNthAccess = 3
        } begin: { _ in
            begun.update { $0 += 1 }
            return nil
        }
        database.pool.addTracer(tracer)
        for _ in 0..<7 { try database.pool.read { db in _ = try? db.execute(sql: "DELETE FROM team") } }
        #expect(tracer.accesses.count == 3 && begun.value == 3)
        // Errors aren't sampled.
        #expect(tracer.failures.count == 7)
    }

    @Test func connectionsAreTold() throws {
        let tracer = RecordingTracer(.connections)
        func names() -> [String] {
            tracer.events.map { event in
                switch event {
                case .connectionOpened(let opening):
                    opening.duration > .zero ? "opened \(opening.connection.role)" : "no time"
                case .connectionClosed(let connection): "closed \(connection.role)"
                default: "\(event)"
                }
            }
        }
        do {
            let database = try TracedDatabase { $0.tracers = [tracer] }
            #expect(names() == ["opened writer"])
            try database.pool.read { _ in }
            let snapshot = try database.pool.makeSnapshot()
            #expect(names() == ["opened writer", "opened reader", "opened snapshot"])
            try snapshot.close()
            #expect(names().last == "closed snapshot")
            tracer.forget()
            try database.pool.close()
            #expect(names() == ["closed reader", "closed writer"])
            tracer.forget()
        }
        #expect(names().isEmpty)
        do {
            // Released without being closed.
            let database = try TracedDatabase { $0.tracers = [tracer] }
            try database.pool.read { _ in }
        }
        #expect(names().dropFirst(2).sorted() == ["closed reader", "closed writer"])
        tracer.forget()
        expectError(.SQLITE_CANTOPEN) {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.tracers = [tracer]
            return try DatabaseQueue(path: "/nowhere/at/all", configuration: configuration)
        }
        #expect(names().isEmpty)
    }

    @Test func checkpointIsTold() throws {
        let database = try TracedDatabase { $0.wal = .init() }
        let tracer = RecordingTracer(.checkpoints)
        database.pool.addTracer(tracer)
        try database.pool.maintain()
        guard case .checkpoint(let told) = tracer.events.first else {
            throw UnexpectedEvents(description: "\(tracer.events)")
        }
        #expect(told.checkpoint.reason == .requested && told.database.label == "players")
    }
}
