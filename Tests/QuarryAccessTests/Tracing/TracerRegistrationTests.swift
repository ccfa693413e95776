import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Tracers that come and go, and tracers that use databases.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct TracerRegistrationTests {
    @Test func tracersComeAndGo() throws {
        let database = try TracedDatabase()
        let (first, second) = (RecordingTracer(.accesses), RecordingTracer(.accesses))
        let registration = database.pool.addTracer(first)
        try database.pool.read { _ in }
        database.pool.addTracer(second)
        try database.pool.read { _ in }
        registration.remove()
        registration.remove()
        try database.pool.read { _ in }
        #expect(first.accesses.count == 2 && second.accesses.count == 2)
    }

    @Test func tracerOfAllDatabases() throws {
        let (first, second) = (
            try TracedDatabase { $0.label = "tracer A" }, try TracedDatabase { $0.label = "tracer B" }
        )
        let tracer = RecordingTracer([.accesses, .statements])
        let registration = DatabaseTracing.addTracer(tracer)
        defer { registration.remove() }
        try first.pool.read { _ in }
        try second.pool.write { _ in }
        // Other tests use other databases meanwhile.
        func labels() -> [String] {
            tracer.accesses.compactMap(\.database.label).filter { $0.hasPrefix("tracer ") }
        }
        #expect(labels() == ["tracer A", "tracer B"])
        registration.remove()
        try first.pool.read { _ in }
        #expect(labels() == ["tracer A", "tracer B"])
    }

    /// A tracer of a running access's middle takes effect with the next access.
    @Test func tracerAddedInsideAnAccess() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer([.accesses, .statements, .errors])
        try database.pool.write { db in
            database.pool.addTracer(tracer)
            try db.execute(sql: "DELETE FROM player")
        }
        #expect(tracer.events.isEmpty)
        try database.pool.read { _ in }
        #expect(tracer.accesses.count == 1)
    }

    /// The other events of the same access don't come any more.
    @Test func tracerRemovedInsideAnEvent() throws {
        let database = try TracedDatabase()
        let registration = Recorded<TracerRegistration?>(nil)
        // The tracer and its registration keep each other.
        defer { registration.update { $0 = nil } }
        let tracer = RecordingTracer([.accesses, .statements]) { _ in
        } _: { _ in
            registration.value?.remove()
        }
        let other = RecordingTracer([.accesses, .statements])
        registration.update { $0 = database.pool.addTracer(tracer) }
        database.pool.addTracer(other)
        try database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
        #expect(tracer.events.count == 1)
        #expect(other.statements.count == 3 && other.accesses.count == 1)
    }

    /// A statement that runs when its tracer is removed ends untold.
    @Test func tracerRemovedInsideAnAccess() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.all)
        let registration = database.pool.addTracer(tracer)
        try database.pool.write { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM player")
            _ = try cursor.next()
            registration.remove()
            try db.execute(sql: "DELETE FROM player")
        }
        #expect(tracer.events.isEmpty)
    }

    /// The database keeps its tracers, and lets them go with it.
    @Test func releasedDatabaseReleasesItsTracers() throws {
        weak var released: RecordingTracer?
        do {
            let database = try TracedDatabase()
            let tracer = RecordingTracer(.all)
            released = tracer
            database.pool.addTracer(tracer)
            try database.pool.read { _ in }
        }
        #expect(released == nil)
    }

    /// The events of an access come when its connection is free again, so the tracer may use the database. It isn't
    /// told of these accesses.
    @Test func tracerUsesTheDatabase() async throws {
        let database = try TracedDatabase { $0.maximumReaderCount = 1 }
        let pool = database.pool
        try await pool.write { db in try db.execute(sql: "CREATE TABLE log (text TEXT)") }
        let errors = Recorded<[any Error]>([])
        let tracer = RecordingTracer([.accesses, .statements, .errors]) { _ in
        } begin: { _ in
            do { _ = try pool.read { db in try Int.fetchOne(db, sql: "SELECT 1") } } catch {
                errors.update { $0.append(error) }
            }
            return nil
        } _: { event in
            do {
                try pool.write { db in try db.execute(sql: "INSERT INTO log VALUES (?)", arguments: ["\(event)"]) }
            } catch {
                errors.update { $0.append(error) }
            }
        }
        let registration = pool.addTracer(tracer)
        try await onOwnThread { try pool.write { db in try db.execute(sql: "DELETE FROM player") } }
        try await pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
        registration.remove()
        #expect(errors.value.isEmpty)
        // BEGIN, DELETE, COMMIT and the access; BEGIN, PRAGMA, SELECT, COMMIT and the access.
        #expect(tracer.events.count == 9)
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM log") } == 9)
    }

    /// The events of an access with many statements come before its end. A tracer that uses its connection then gets an
    /// error.
    @Test func tracerUsesTheDatabaseInTheMiddle() throws {
        let queue = try DatabaseQueue()
        let codes = Recorded<Set<ResultCode>>([])
        let tracer = RecordingTracer(.statements) { _ in
        } _: { _ in
            do { try queue.read { _ in } } catch {
                codes.update { _ = $0.insert((error as! DatabaseError).resultCode) }
            }
        }
        queue.addTracer(tracer)
        try queue.read { db in
            for number in 0..<300 { _ = try Int.fetchOne(db, sql: "SELECT ?", arguments: [number]) }
            #expect(tracer.statements.count == 256)
        }
        #expect(tracer.statements.count == 302 && codes.value == [.SQLITE_MISUSE])
    }

    /// A tracer that closes the database: refused while the access runs, which goes on.
    @Test(arguments: [WriterKind.memoryQueue, .walQueue, .pool], [true, false]) func tracerClosesTheDatabase(
        kind: WriterKind, hasGracePeriod: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        try writer.makeTable()
        let codes = Recorded<[ResultCode?]>([])
        let tracer = RecordingTracer(.statements) { _ in
        } _: { _ in
            do {
                try hasGracePeriod ? writer.close(gracePeriod: .zero) : writer.close()
                codes.update { $0.append(nil) }
            } catch { codes.update { $0.append((error as? DatabaseError)?.resultCode) } }
        }
        writer.addTracer(tracer)
        let count = try await onOwnThread {
            try writer.write { db in
                for number in 0..<300 { try db.insert(number) }
                #expect(codes.value == Array(repeating: .SQLITE_BUSY, count: 256))
                return try db.count()
            }
        }
        #expect(count == 300)
        // The other events came when the connection had been given back.
        #expect(codes.value.dropFirst(256).allSatisfy { $0 == nil })
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await writer.read { _ in } }
    }

    /// A tracer of connections that reads the only reader while it is opened.
    @Test func tracerUsesTheConnectionThatIsOpened() throws {
        let database = try TracedDatabase { $0.maximumReaderCount = 1 }
        let pool = database.pool
        let code = Recorded<ResultCode?>(nil)
        let tracer = RecordingTracer(.connections) { _ in
        } _: { _ in
            do { try pool.read { _ in } } catch { code.update { $0 = (error as? DatabaseError)?.resultCode } }
        }
        let registration = pool.addTracer(tracer)
        try pool.read { _ in }
        registration.remove()
        #expect(tracer.events.count == 1 && code.value == .SQLITE_BUSY)
    }

    /// Queues of one name share the tracers that are added, and have those of their configuration for themselves.
    @Test func queuesOfOneName() throws {
        let name = "tracers \(Int.random(in: 0..<Int.max))"
        let (ofFirst, ofSecond) = (RecordingTracer(.accesses), RecordingTracer(.accesses))
        func open(_ tracer: RecordingTracer) throws -> DatabaseQueue {
            var configuration = Configuration()
            configuration.tracers = [tracer]
            return try DatabaseQueue(named: name, configuration: configuration)
        }
        let (first, second) = (try open(ofFirst), try open(ofSecond))
        let shared = RecordingTracer(.accesses)
        first.addTracer(shared)
        try first.read { _ in }
        try second.read { _ in }
        try second.read { _ in }
        #expect(ofFirst.accesses.count == 1 && ofSecond.accesses.count == 2 && shared.accesses.count == 3)
    }

    @Test func closureAndErasedReader() throws {
        let queue = try DatabaseQueue()
        let count = Recorded(0)
        let reader = AnyDatabaseReader(queue)
        let registration = reader.addTracer(.init(.accesses)) { _ in count.update { $0 += 1 } }
        try queue.read { _ in }
        registration.remove()
        try queue.read { _ in }
        #expect(count.value == 1)
    }
}
