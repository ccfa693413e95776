import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Fetches that write what other observations read.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct WritingFetchTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// An observation of one table whose fetch adds a row to another one.
    private static func writing(
        from source: String, to target: String, _ fetches: Recorded<Int>
    ) -> ValueObservation<ValueReducers.Fetch<Int>> {
        var observation = ValueObservation.tracking { db in
            fetches.update { $0 += 1 }
            try db.execute(sql: "INSERT INTO \(target) VALUES (1)")
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(source)") ?? -1
        }
        observation.requiresWriteAccess = true
        return observation
    }

    private func writer(_ kind: WriterKind) throws -> any DatabaseWriter {
        let writer = try kind.make(folder)
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE other (x)")
        }
        return writer
    }

    /// Each fetch makes the other observation due. A round begins only when the last values were taken, so it is the
    /// receivers that bound the fetches.
    @Test(arguments: [WriterKind.pool, .fileQueue, .memoryQueue])
    func aRoundForEachValueThatIsTaken(_ kind: WriterKind) async throws {
        let writer = try writer(kind)
        let (first, second) = (Recorded(0), Recorded(0))
        let (one, two) = (Received<Int>(), Received<Int>())
        let scheduler = ManualScheduler()
        let cancellables = [
            Self.writing(from: "a", to: "b", first).start(
                in: writer, scheduling: scheduler, onError: one.onError, onChange: one.onChange),
            Self.writing(from: "b", to: "a", second).start(
                in: writer, scheduling: .task, onError: two.onError, onChange: two.onChange),
        ]
        for round in 1...5 {
            try await until("the value of round \(round)") { scheduler.count == 1 && two.values.last == round }
            // The first observation's value isn't taken, so its table changes in vain.
            for _ in 0..<10 { try await writer.write { db in try db.execute(sql: "INSERT INTO other VALUES (1)") } }
            #expect(first.value == round && second.value <= round + 1)
            try await scheduler.runNext()
        }
        for cancellable in cancellables { cancellable.cancel() }
        #expect(one.errors.isEmpty && two.errors.isEmpty)
    }

    /// The two go on for ever, and leave most of the connection's time to others.
    @Test(arguments: [WriterKind.pool, .fileQueue, .memoryQueue]) func otherWritesGoOn(_ kind: WriterKind) async throws
    {
        let writer = try writer(kind)
        let (first, second) = (Recorded(0), Recorded(0))
        let (one, two) = (Received<Int>(), Received<Int>())
        let cancellables = [
            Self.writing(from: "a", to: "b", first).start(
                in: writer, scheduling: .task, onError: one.onError, onChange: one.onChange),
            Self.writing(from: "b", to: "a", second).start(
                in: writer, scheduling: .task, onError: two.onError, onChange: two.onChange),
        ]
        try await until("they run") { first.value > 3 && second.value > 3 }
        for _ in 0..<100 {
            try await writer.write { db in try db.execute(sql: "INSERT INTO other VALUES (1)") }
            #expect(try await writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM a") } ?? 0 > 0)
        }
        try await onOwnThread {
            for _ in 0..<100 { try writer.write { db in try db.execute(sql: "INSERT INTO other VALUES (1)") } }
        }
        let count = first.value
        try await until("they still run") { first.value > count + 3 }
        cancellables[0].cancel()
        // A batch that has begun ends.
        try await writer.write { _ in }
        let (last, limit) = (first.value, second.value)
        try writer.change { db in try db.execute(sql: "INSERT INTO b VALUES (1)") }
        try await until("the other one is current") { second.value > limit || two.values.last == last + 1 }
        cancellables[1].cancel()
        try await writer.write { _ in }
        #expect(first.value == last && second.value <= limit + 2)
        #expect(writer.broker.observationCount == 0 && one.errors.isEmpty && two.errors.isEmpty)
        #expect(one.values == one.values.sorted() && two.values == two.values.sorted())
    }

    /// A fetch that writes and fails takes back its changes alone.
    @Test func aFetchThatWritesAndFails() async throws {
        let writer = try writer(.pool)
        struct Refusal: Error {}
        var observation = ValueObservation.tracking { db -> Int in
            try db.execute(sql: "INSERT INTO b VALUES (1)")
            throw Refusal()
        }
        observation.requiresWriteAccess = true
        let (received, other) = (Received<Int>(), Received<Int>())
        let fetches = Recorded(0)
        let cancellables = [
            observation.start(
                in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange),
            Self.writing(from: "a", to: "other", fetches).start(
                in: writer, scheduling: .task, onError: other.onError, onChange: other.onChange),
        ]
        #expect(try await received.error() is Refusal)
        #expect(try await other.value(1) == [0])
        #expect(try await writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM b") } == 0)
        for cancellable in cancellables { cancellable.cancel() }
    }
}
