import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// The values that an observation receives.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ValueObservationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    static func counting() -> ValueObservation<ValueReducers.Fetch<Int>> {
        .tracking(region: DatabaseRegion.t) { db in try db.count() }
    }

    @Test(arguments: WriterKind.allCases) func oneInitialValueAndOneForEachChange(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let received = Received<Int>()
        let cancellable = Self.counting().start(
            in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        for count in 1...5 {
            #expect(try await received.value(count).last == count - 1)
            try writer.add(count)
        }
        #expect(try await received.value(6) == [0, 1, 2, 3, 4, 5])
        cancellable.cancel()
    }

    @Test(arguments: WriterKind.allCases) func otherTablesAreNotFetched(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let fetches = Recorded(0)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }.start(in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        for _ in 0..<10 { try await writer.write { db in try db.execute(sql: "INSERT INTO other VALUES (1)") } }
        try writer.add(1)
        #expect(try await received.value(2) == [0, 1])
        #expect(fetches.value == 2)
        cancellable.cancel()
    }

    /// A fetch may see a commit, and end, before the commit is told.
    @Test(arguments: WriterKind.allCases) func aCommitThatWasFetchedAlready(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let fetches = Recorded(0)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }.start(in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try writer.add(1)
        _ = try await received.value(2)
        let core = try #require(writer.groupReader?.core)
        let isUnneeded = core.observations.commitDidHappen(.t, number: core.journal.number)
        // The next commit of this kind is needed.
        #expect(!isUnneeded)
        try writer.add(2)
        #expect(try await received.value(3) == [0, 1, 2])
        #expect(fetches.value == 3)
        cancellable.cancel()
    }

    /// A commit while the first value is fetched is seen by a second fetch, and one before the snapshot by none.
    @Test func aCommitDuringTheFirstFetch() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let (isFetching, mayFetch) = (Step("the fetch has its snapshot"), Step("the fetch may go on"))
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            isFetching.reach()
            try mayFetch.wait()
            return try db.count()
        }.start(in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        try await isFetching.reached()
        try pool.add(1)
        try pool.add(2)
        mayFetch.reach()
        #expect(try await received.value(2) == [0, 2])
        cancellable.cancel()
    }

    /// The fetch of a pool waits for no write.
    @Test func aPoolFetchesWhileItIsWritten() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let (isWriting, mayEnd) = (Step("a write runs"), Step("the write may end"))
        let write = OwnThread {
            try pool.change { db in
                try db.insert(1)
                isWriting.reach()
                try mayEnd.wait()
            }
        }
        try await isWriting.reached()
        let received = Received<Int>()
        let cancellable = Self.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect(try await received.value(1) == [0])
        mayEnd.reach()
        try await write.value
        #expect(try await received.value(2) == [0, 1])
        cancellable.cancel()
    }

    /// A read that begins while a commit shows would not know whether it sees it.
    @Test func aFetchWaitsForTheEndOfACommit() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let broker = pool.broker
        broker.journal.settlingTime.store(60_000_000_000, ordering: .relaxed)
        broker.journal.databaseWillCommit()
        let received = Received<Int>()
        let cancellable = Self.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        try await until("the fetch waits") { broker.journal.settlingCount == 1 }
        // Its commit ends, and the fetch sees it.
        try pool.add(1)
        #expect(try await received.value(1) == [1])
        try pool.add(2)
        #expect(try await received.value(2) == [1, 2])
        cancellable.cancel()
    }

    /// A commit that takes too long delays no fetch. Its end causes another one.
    @Test func aCommitThatTakesLongIsNotWaitedFor() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let broker = pool.broker
        broker.journal.settlingTime.store(0, ordering: .relaxed)
        broker.journal.databaseWillCommit()
        let received = Received<Int>()
        let cancellable = Self.counting().start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        #expect(try await received.value(1) == [0])
        broker.journal.databaseDidNotCommit()
        try pool.add(1)
        #expect(try await received.value(2) == [0, 1])
        cancellable.cancel()
    }

    /// A slow receiver has one waiting value at most; then comes the last state.
    @Test(arguments: [WriterKind.pool, .memoryQueue]) func changesAreCoalesced(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let scheduler = ManualScheduler()
        let received = Received<Int>()
        let fetches = Recorded(0)
        let cancellable = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }.start(in: writer, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
        try await until("the first value waits") { scheduler.count == 1 }
        for value in 1...10 { try writer.add(value) }
        #expect(fetches.value == 1)
        try await scheduler.runNext()
        try await scheduler.runNext()
        #expect(received.values == [0, 10])
        #expect(fetches.value == 2 && scheduler.count == 0)
        cancellable.cancel()
    }

    /// A varying region is followed: the player points to the table that counts.
    @Test func aVaryingRegionIsFollowed() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let received = Received<[Int]>()
        let cancellable = ValueObservation.tracking { db in try db.values() }.start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try pool.add(2)
        #expect(try await received.value(2) == [[1], [1, 2]])
        cancellable.cancel()
    }

    @Test func aConstantRegionIsThatOfTheFirstFetch() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let received = Received<Int>()
        let regions = Recorded(0)
        let cancellable = ValueObservation.trackingConstantRegion { db in try db.count() }
            .handleEvents(willTrackRegion: { _ in regions.update { $0 += 1 } })
            .start(in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try pool.add(2)
        #expect(try await received.value(2) == [1, 2])
        #expect(regions.value == 1)
        cancellable.cancel()
    }

    @Test func anEmptyRegionIsFetchedOnce() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        let received = Received<Int>()
        let scheduler = ManualScheduler()
        let cancellable = ValueObservation.tracking(regions: []) { db in try db.count() }.start(
            in: queue, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
        try await scheduler.runNext()
        try queue.change { db in try db.insert(1) }
        try await queue.read { _ in }
        #expect(received.values == [0] && scheduler.count == 0)
        cancellable.cancel()
    }

    /// The same observation, started several times, is fetched once for all.
    @Test func equalObservationsShareAFetch() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        pool.broker.slowFetch.store(.max, ordering: .relaxed)
        let fetches = Recorded(0)
        let observation = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }
        let scheduler = ManualScheduler()
        let received = Received<Int>()
        let cancellables = (0..<10).map { _ in
            observation.start(in: pool, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
        }
        for _ in cancellables { try await scheduler.runNext() }
        let initial = fetches.value
        try pool.add(1)
        for _ in cancellables { try await scheduler.runNext() }
        #expect(fetches.value == initial + 1)
        #expect(received.values.count == 20 && received.values.suffix(10).allSatisfy { $0 == 1 })
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// The operators keep the fetch: what is made of one observation is fetched once for all.
    @Test func derivedObservationsShareAFetch() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        pool.broker.slowFetch.store(.max, ordering: .relaxed)
        let fetches = Recorded(0)
        let observation = ValueObservation.tracking { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }
        let scheduler = ManualScheduler()
        let (received, texts) = (Received<Int>(), Received<String>())
        let cancellables = [
            observation.start(in: pool, scheduling: scheduler, onError: received.onError, onChange: received.onChange),
            observation.removeDuplicates().start(
                in: pool, scheduling: scheduler, onError: received.onError, onChange: received.onChange),
            observation.map { count in "\(count) rows" }.start(
                in: pool, scheduling: scheduler, onError: texts.onError, onChange: texts.onChange),
        ]
        for _ in cancellables { try await scheduler.runNext() }
        let initial = fetches.value
        try pool.add(1)
        for _ in cancellables { try await scheduler.runNext() }
        #expect(fetches.value == initial + 1)
        #expect(received.values == [0, 0, 1, 1] && texts.values == ["0 rows", "1 rows"])
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// Closures can't be compared: two observations with the same closure are two.
    @Test func observationsMadeTwiceAreFetchedTwice() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        pool.broker.slowFetch.store(.max, ordering: .relaxed)
        let fetches = Recorded(0)
        let fetch: @Sendable (Database) throws -> Int = { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }
        let scheduler = ManualScheduler()
        let received = Received<Int>()
        let cancellables = (0..<2).map { _ in
            ValueObservation.tracking(fetch).start(
                in: pool, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
        }
        for _ in cancellables { try await scheduler.runNext() }
        try pool.add(1)
        for _ in cancellables { try await scheduler.runNext() }
        #expect(fetches.value == 4 && received.values == [0, 0, 1, 1])
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// Due fetches of one commit share a transaction.
    @Test func dueFetchesSeeTheSameState() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        pool.broker.slowFetch.store(.max, ordering: .relaxed)
        let accesses = Recorded<Set<Int>>([])
        let scheduler = ManualScheduler()
        let received = Received<Int>()
        let cancellables = (0..<5).map { _ in
            ValueObservation.tracking(region: DatabaseRegion.t) { db in
                _ = accesses.update { $0.insert(db.accessNumber) }
                return try db.count()
            }.start(in: pool, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
        }
        for _ in cancellables { try await scheduler.runNext() }
        accesses.update { $0 = [] }
        try pool.add(1)
        for _ in cancellables { try await scheduler.runNext() }
        #expect(accesses.value.count == 1)
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// A slow fetch is alone in its batch: the others don't wait for it.
    @Test func aSlowFetchHoldsNoOther() async throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.makeTable()
        pool.broker.slowFetch.store(0, ordering: .relaxed)
        let (slow, fast) = (Received<Int>(), Received<Int>())
        let (hasBegun, mayFetch) = (Step("the slow fetch has begun"), Step("it may go on"))
        let cancellables = [
            ValueObservation.tracking(region: DatabaseRegion.t) { db in
                let count = try db.count()
                if count == 1 {
                    hasBegun.reach()
                    try mayFetch.wait()
                }
                return count
            }.start(in: pool, scheduling: .task, onError: slow.onError, onChange: slow.onChange),
            Self.counting().start(in: pool, scheduling: .task, onError: fast.onError, onChange: fast.onChange),
        ]
        _ = try await slow.value(1)
        _ = try await fast.value(1)
        try pool.add(1)
        #expect(try await fast.value(2) == [0, 1])
        try await hasBegun.reached()
        try pool.add(2)
        #expect(try await fast.value(3) == [0, 1, 2])
        #expect(slow.values == [0])
        mayFetch.reach()
        #expect(try await slow.value(3) == [0, 1, 2])
        for cancellable in cancellables { cancellable.cancel() }
    }

    /// The fetch writes in its own transaction, whose commit makes no other fetch.
    @Test(arguments: [WriterKind.pool, .fileQueue]) func aFetchThatWrites(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let broker = writer.broker
        var observation = ValueObservation.tracking(region: DatabaseRegion.t) { db in
            try db.insert(0)
            broker.journal.databaseWillCommit()
            _ = broker.journal.databaseDidCommit(db, changes: .t, keys: [:])
            return try db.count()
        }
        observation.requiresWriteAccess = true
        let scheduler = ManualScheduler()
        let received = Received<Int>()
        let cancellable = observation.start(
            in: writer, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
        try await scheduler.runNext()
        try await writer.read { _ in }
        #expect(received.values == [1] && scheduler.count == 0)
        try writer.add(5)
        try await scheduler.runNext()
        #expect(received.values == [1, 3])
        cancellable.cancel()
        #expect(try await writer.read { db in try db.count() } == 3)
    }

    @Test func snapshotsHaveOneValue() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let readers: [any DatabaseReader] = [
            try pool.makeSnapshot(), try pool.makeSnapshotPool(), AnyDatabaseReader(try pool.makeSnapshot()),
        ]
        try pool.add(2)
        for reader in readers {
            let received = Received<Int>()
            let scheduler = ManualScheduler()
            let cancellable = Self.counting().start(
                in: reader, scheduling: scheduler, onError: received.onError, onChange: received.onChange)
            try await scheduler.runNext()
            try pool.add(3)
            #expect(received.values == [1] && scheduler.count == 0)
            cancellable.cancel()
        }
    }

    /// Started inside a write, an observation sees its commit, once the write has ended.
    @Test(arguments: WriterKind.allCases) func startedInsideAWrite(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let received = Received<Int>()
        let cancellable = try await onOwnThread {
            try writer.writeWithoutTransaction { db in
                try db.insert(1)
                return Self.counting().start(
                    in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
            }
        }
        #expect(try await received.value(1).first == 1)
        cancellable.cancel()
    }

    @Test func aRunningObservationKeepsItsDatabase() async throws {
        let received = Received<Int>()
        weak var queue: DatabaseQueue?
        var cancellable: AnyDatabaseCancellable?
        do {
            let strong = try DatabaseQueue()
            try strong.makeTable()
            queue = strong
            cancellable = Self.counting().start(
                in: strong, scheduling: .task, onError: received.onError, onChange: received.onChange)
        }
        _ = try await received.value(1)
        try queue?.add(1)
        _ = try await received.value(2)
        cancellable?.cancel()
        try await until("the queue is released") { queue == nil }
        cancellable = nil
    }
}
