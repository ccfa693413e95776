import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Several writers against many observations of random tables.
@Suite(.timeLimit(.minutes(10 * TestTime.factor))) struct ObservationRandomTests {
    /// The counters of the tables that an observation reads, in one snapshot.
    private final class Observer: Sendable {
        let tables: [Int]
        let values = Recorded<[[Int]]>([])
        let fetchCount = Recorded(0)
        let errors = Recorded<[any Error]>([])

        init(_ tables: [Int]) { self.tables = tables }

        func observation() -> ValueObservation<ValueReducers.Fetch<[Int]>> {
            .tracking(regions: tables.map(ObservationRandomTests.region)) { [tables, fetchCount] db in
                fetchCount.update { $0 += 1 }
                return try tables.map { table in
                    try Int.fetchOne(db, sql: "SELECT n FROM t\(table)") ?? -1
                }
            }
        }
    }

    private static func region(_ table: Int) -> DatabaseRegion {
        DatabaseRegion(TableName(schema: "main", name: "t\(table)"))
    }

    private struct Rollback: Error {}

    /// The last value is that of the end. None is older than the one before, and none comes twice.
    @Test(arguments: [WriterKind.pool, .walQueue, .memoryQueue], 0..<3)
    func manyWriters(_ kind: WriterKind, _ round: Int) async throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let folder = try TemporaryFolder(isFast: true)
        let tableCount = 6
        let writer = try kind.make(folder)
        try await writer.write { db in
            for table in 0..<tableCount {
                try db.execute(sql: "CREATE TABLE t\(table) (n INTEGER); INSERT INTO t\(table) VALUES (0)")
            }
        }
        // Nobody writes the last table.
        let observers = (0..<40).map { index -> Observer in
            if index == 0 { return Observer([tableCount - 1]) }
            let count = Int.random(in: 1...3, using: &generator)
            return Observer((0..<count).map { _ in Int.random(in: 0..<tableCount - 1, using: &generator) })
        }
        var cancellables: [AnyDatabaseCancellable] = []
        func start(_ observer: Observer) {
            cancellables.append(
                observer.observation().start(
                    in: writer, scheduling: .task, onError: { error in observer.errors.update { $0.append(error) } },
                    onChange: { value in observer.values.update { $0.append(value) } }))
        }
        for observer in observers.prefix(20) { start(observer) }
        let seeds = (0..<4).map { _ in UInt64.random(in: 0 ... .max, using: &generator) }
        let threads = seeds.map { seed in
            OwnThread {
                var generator = SeededGenerator(seed: seed)
                for _ in 0..<100 {
                    let tables = Set((0...1).map { _ in Int.random(in: 0..<tableCount - 1, using: &generator) })
                    let rollsBack = Int.random(in: 0..<4, using: &generator) == 0
                    do {
                        try writer.change { db in
                            for table in tables { try db.execute(sql: "UPDATE t\(table) SET n = n + 1") }
                            if rollsBack { throw Rollback() }
                        }
                    } catch is Rollback {}
                }
            }
        }
        // These start among the writes.
        for observer in observers.suffix(20) { start(observer) }
        for thread in threads { try await thread.value }
        let end = try await writer.read { db in
            try (0..<tableCount).map { try Int.fetchOne(db, sql: "SELECT n FROM t\($0)") ?? -1 }
        }
        for observer in observers {
            let expected = observer.tables.map { end[$0] }
            try await until("the last value, seed \(seed)") { observer.values.value.last == expected }
            let values = observer.values.value
            #expect(observer.errors.value.isEmpty, "seed \(seed)")
            for (older, newer) in zip(values, values.dropFirst()) {
                #expect(zip(older, newer).allSatisfy { $0 <= $1 } && older != newer, "seed \(seed): \(older), \(newer)")
            }
        }
        #expect(observers[0].values.value == [[0]] && observers[0].fetchCount.value == 1, "seed \(seed)")
        for cancellable in cancellables { cancellable.cancel() }
        #expect(writer.broker.observationCount == 0)
    }

    /// Observations that come and go while the database is written leave nothing behind.
    @Test func startedAndCancelledAmongWrites() async throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let folder = try TemporaryFolder(isFast: true)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let isEnding = Recorded(false)
        let thread = OwnThread {
            var value = 0
            while !isEnding.value {
                try pool.add(value)
                value += 1
            }
        }
        let released = Recorded(0)
        for _ in 0..<300 {
            let observer = ReleaseObserver { released.update { $0 += 1 } }
            let cancellable = ValueObservationTests.counting().start(
                in: pool, scheduling: .task, onError: { _ in Issue.record("an error") },
                onChange: { [observer] _ in withExtendedLifetime(observer) {} })
            for _ in 0..<Int.random(in: 0..<50, using: &generator) { await Task.yield() }
            cancellable.cancel()
        }
        isEnding.update { $0 = true }
        try await thread.value
        try await until("the closures are released, seed \(seed)") { released.value == 300 }
        #expect(pool.broker.observationCount == 0)
    }
}
