import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Observations that are started at unusual places, and beside barriers and writes.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationStartingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// The closure of the program that starts the observation.
    enum Place: CaseIterable, Codable, Sendable {
        case preparation
        case fetch
        case onChange
        case map
        case afterNextTransaction
        case databaseWillCommit
        case databaseDidCommit
        case databaseDidRollback
        case anotherWrite
    }

    private static let kinds = [WriterKind.memoryQueue, .walQueue, .pool]

    /// Starts an observation once, when it is called for the first time.
    private final class Starter: Sendable {
        let received = Received<Int>()
        private let cancellable = Recorded<AnyDatabaseCancellable?>(nil)
        private let isStarted = Recorded(false)

        func start(in writer: any DatabaseWriter) {
            let isFirst = isStarted.update { isStarted in
                defer { isStarted = true }
                return !isStarted
            }
            guard isFirst else { return }
            let new = ValueObservationTests.counting().start(
                in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
            cancellable.update { $0 = new }
        }

        func cancel() { cancellable.value?.cancel() }
    }

    @Test(arguments: Place.allCases, kinds) func itIsCurrent(_ place: Place, _ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let starter = Starter()
        let start: @Sendable () -> Void = { [unowned writer] in starter.start(in: writer) }
        var outer: AnyDatabaseCancellable?
        let observer = RecordingObserver()
        switch place {
        case .preparation: writer.prepareConnections { _ in start() }
        case .fetch:
            outer = ValueObservation.tracking { db in
                start()
                return try db.count()
            }.start(in: writer, scheduling: .task, onError: { Issue.record($0) }, onChange: { _ in })
        case .onChange:
            outer = ValueObservationTests.counting().start(
                in: writer, scheduling: .task, onError: { Issue.record($0) }, onChange: { _ in start() })
        case .map:
            outer = ValueObservationTests.counting().map { value in
                start()
                return value
            }.start(in: writer, scheduling: .task, onError: { Issue.record($0) }, onChange: { _ in })
        case .afterNextTransaction:
            try await writer.write { db in
                try db.insert(0)
                db.afterNextTransaction { _ in start() }
            }
        case .databaseWillCommit, .databaseDidCommit, .databaseDidRollback:
            switch place {
            case .databaseWillCommit: observer.willCommit = { start() }
            case .databaseDidCommit: observer.didCommit = { _ in start() }
            default: observer.didRollback = { _ in start() }
            }
            try await writer.writeWithoutTransaction { db in
                db.add(transactionObserver: observer)
                try db.inTransaction {
                    try db.insert(0)
                    return place == .databaseDidRollback ? .rollback : .commit
                }
                db.remove(transactionObserver: observer)
            }
        case .anotherWrite:
            try await writer.write { db in
                try db.insert(0)
                start()
            }
        }
        let first = try await writer.read { db in try db.count() }
        try await until("the first value") { starter.received.values.last == first }
        try writer.add(1)
        try await until("the value after a write") { starter.received.values.last == first + 1 }
        try writer.add(2)
        try await until("the value after another write") { starter.received.values.last == first + 2 }
        #expect(starter.received.errors.isEmpty && starter.received.values == starter.received.values.sorted())
        starter.cancel()
        outer?.cancel()
        // An observation that is being started on another thread ends once it has begun.
        try await until("no observation is left") { writer.broker.observationCount == 0 }
    }

    // MARK: - Barriers

    /// The first fetch waits for the barrier's end, and sees its commit.
    @Test func whileABarrierWrites() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let (hasBegun, mayEnd) = (Step("the barrier has begun"), Step("the barrier may end"))
        let barrier = OwnThread {
            try pool.barrierWriteWithoutTransaction { db in
                try db.insert(1)
                hasBegun.reach()
                try mayEnd.wait()
                try db.insert(2)
            }
        }
        try await hasBegun.reached()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        try await until("the fetch waits") { pool.readers.group.waiterCount == 1 }
        mayEnd.reach()
        try await barrier.value
        #expect(try await received.value(1) == [2])
        try pool.add(3)
        #expect(try await received.value(2) == [2, 3])
        cancellable.cancel()
    }

    /// A fetch after a barrier runs on a connection that has had the preparations added meanwhile.
    @Test func connectionsArePreparedWhileABarrierWrites() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let isPrepared = Recorded(false)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            let count = isPrepared.value ? "double(COUNT(*))" : "COUNT(*)"
            return try Int.fetchOne(db, sql: "SELECT \(count) FROM t") ?? -1
        }.start(in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        let (hasBegun, mayEnd) = (Step("the barrier has begun"), Step("the barrier may end"))
        let barrier = OwnThread {
            try pool.barrierWriteWithoutTransaction { db in
                hasBegun.reach()
                try mayEnd.wait()
                try db.insert(1)
            }
        }
        try await hasBegun.reached()
        pool.prepareConnections { db in
            db.add(
                function: DatabaseFunction("double", argumentCount: 1) { values in
                    (Int.fromDatabaseValue(values[0]) ?? 0) * 2
                })
        }
        isPrepared.update { $0 = true }
        mayEnd.reach()
        try await barrier.value
        #expect(try await received.value(2) == [0, 2])
        // The writer has had its preparation too, and still reports its commits.
        #expect(try await pool.write { db in try Int.fetchOne(db, sql: "SELECT double(2)") } == 4)
        try pool.add(2)
        #expect(try await received.value(3) == [0, 2, 4])
        cancellable.cancel()
    }

    /// A preparation that fails fails the fetch, which ends the observation as any error does.
    @Test func aPreparationFails() async throws {
        struct Refusal: Error {}
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        pool.prepareConnections { db in if db.configuration.readonly { throw Refusal() } }
        try pool.add(1)
        #expect(try await received.error() is Refusal)
        #expect(received.values == [0] && pool.broker.observationCount == 0)
        cancellable.cancel()
    }

    // MARK: - Writes

    /// Nothing has recorded the changes of a write that runs when the first observation starts. So its end counts as a
    /// change of everything: the first value comes twice.
    @Test(arguments: [true, false]) func theFirstObservationWhileAWriteRuns(_ commits: Bool) async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        try await pool.write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        let (isWriting, mayEnd) = (Step("a write runs"), Step("the write may end"))
        let write = OwnThread {
            try pool.writeInTransaction { db in
                try db.execute(sql: "INSERT INTO other VALUES (1)")
                isWriting.reach()
                try mayEnd.wait()
                return commits ? .commit : .rollback
            }
        }
        try await isWriting.reached()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        mayEnd.reach()
        try await write.value
        #expect(try await received.value(2) == [0, 0])
        cancellable.cancel()
    }

    /// The second observation finds a connection that reports its changes.
    @Test func anotherObservationWhileAWriteRuns() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        try await pool.write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        let first = ValueObservation.tracking(regions: []) { _ in 0 }.start(
            in: pool, scheduling: .task, onError: { Issue.record($0) }, onChange: { _ in })
        let (isWriting, mayEnd) = (Step("a write runs"), Step("the write may end"))
        let write = OwnThread {
            try pool.write { db in
                try db.execute(sql: "INSERT INTO other VALUES (1)")
                isWriting.reach()
                try mayEnd.wait()
            }
        }
        try await isWriting.reached()
        let received = Received<Int>()
        let cancellable = ValueObservationTests.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        mayEnd.reach()
        try await write.value
        try pool.add(1)
        #expect(try await received.value(2) == [0, 1])
        first.cancel()
        cancellable.cancel()
    }
}
