import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Values and regions that are observed: schedulers, operators, sequences, shared observations.
enum ObservationsProgram: Program {
    static func run() async throws {
        try await callbacks()
        try await operators()
        try await sequences()
        try await sharing()
        try await errors()
        try await regions()
    }

    private static func makeQueue() async throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull().defaults(to: 0)
            }
            try db.create(table: "team") { t in t.autoIncrementedPrimaryKey("id") }
        }
        return queue
    }

    private static func add(_ name: String, to writer: some DatabaseWriter) async throws {
        try await writer.write { db in try Player(id: nil, name: name, score: 0).insert(db) }
    }

    private static func callbacks() async throws {
        let queue = try await makeQueue()
        let values = Inbox<Int>()
        let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }
        let cancellable = observation.start(
            in: queue, scheduling: .async(onQueue: DispatchQueue(label: "values")), onError: { print($0) },
            onChange: { values.put($0) })
        print("count", await values.next())
        try await add("Arthur", to: queue)
        print("count", await values.next())
        try await queue.write { db in try db.execute(sql: "INSERT INTO team DEFAULT VALUES") }
        try await add("Barbara", to: queue)
        print("count", await values.next())
        cancellable.cancel()
        try await add("Craig", to: queue)

        let names = Inbox<[String]>()
        let constant = ValueObservation.trackingConstantRegion(Player.select(Column("name"), as: String.self).fetchAll)
            .start(in: queue, scheduling: .task, onError: { print($0) }, onChange: { names.put($0) })
        print("names", await names.next())
        try await queue.write { db in _ = try Player.filter(Column("name") == "Craig").deleteAll(db) }
        print("names", await names.next())
        constant.cancel()

        let scores = Inbox<Int>()
        let ofRegion =
            ValueObservation
            .tracking(region: Player.select(Column("score")), fetch: { db in try sum(db) })
            .start(in: queue, scheduling: .task(priority: .high), onError: { print($0) }, onChange: { scores.put($0) })
        print("sum", await scores.next())
        try await queue.write { db in try db.execute(sql: "UPDATE player SET score = 10") }
        print("sum", await scores.next())
        ofRegion.cancel()

        let ofRegions =
            ValueObservation
            .tracking(regions: [Table("player"), Table("team")], fetch: { db in try sum(db) })
            .start(
                in: queue, scheduling: .async(onQueue: .global()), onError: { print($0) }, onChange: { scores.put($0) })
        print("sum", await scores.next())
        try await queue.write { db in try db.execute(sql: "INSERT INTO team DEFAULT VALUES") }
        print("sum", await scores.next())
        ofRegions.cancel()
    }

    @Sendable private static func sum(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT SUM(score) FROM player") ?? 0
    }

    private static func operators() async throws {
        let queue = try await makeQueue()
        let texts = Inbox<String>()
        let cancellable = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player") }
            .removeDuplicates()
            .map { score in "best: \(score.map(String.init) ?? "none")" }
            .start(in: queue, scheduling: .task, onError: { print($0) }, onChange: { texts.put($0) })
        print(await texts.next())
        for score in [5, 5, 3, 7] {
            try await queue.write { db in try Player(id: nil, name: "p", score: score).insert(db) }
            if score != 3, score != 5 { print(await texts.next()) }
            // The first 5 is a change, the second is none.
            if score == 5, try await queue.read({ try Player.fetchCount($0) }) == 1 { print(await texts.next()) }
        }
        cancellable.cancel()

        let parities = Inbox<Int>()
        let events = Inbox<String>()
        let byPredicate = ValueObservation.tracking { db in try Player.fetchCount(db) }
            .removeDuplicates { $0 % 2 == $1 % 2 }
            .handleEvents(willStart: { events.put("will start") }, didCancel: { events.put("did cancel") })
            .start(in: queue, scheduling: .task, onError: { print($0) }, onChange: { parities.put($0) })
        print("count", await parities.next())
        try await add("odd", to: queue)
        print("count", await parities.next())
        byPredicate.cancel()
        print(await events.next(), "-", await events.next())
    }

    private static func sequences() async throws {
        let queue = try await makeQueue()
        let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }
        for try await count in observation.values(in: queue) {
            print("in the loop:", count)
            if count == 2 { break }
            try await add("p\(count)", to: queue)
        }
        let first = try await observation.values(in: queue, scheduling: .task, bufferingPolicy: .unbounded)
            .first { $0 > 1 }
        print("first:", first ?? -1)
        let task = Task {
            for try await count in observation.values(in: queue) where count > 100 { return count }
            return 0
        }
        task.cancel()
        do { print("cancelled:", try await task.value) } catch { print("cancelled:", error is CancellationError) }
    }

    private static func sharing() async throws {
        let queue = try await makeQueue()
        let shared = ValueObservation.tracking { db in try Player.fetchCount(db) }
            .shared(in: queue, scheduling: .task, extent: .observationLifetime)
        let (first, second) = (Inbox<Int>(), Inbox<Int>())
        let one = shared.start(onError: { print($0) }, onChange: { first.put($0) })
        print("first", await first.next())
        let two = shared.start(onError: { print($0) }, onChange: { second.put($0) })
        print("second", await second.next())
        try await add("a", to: queue)
        print("both", await first.next(), await second.next())
        one.cancel()
        try await add("b", to: queue)
        print("second", await second.next())
        two.cancel()
        for try await count in shared.values() {
            print("values", count)
            break
        }
    }

    private static func errors() async throws {
        let queue = try await makeQueue()
        let failures = Inbox<String>()
        let cancellable = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM nothing") }
            .start(
                in: queue, scheduling: .task, onError: { failures.put("\($0)") }, onChange: { _ in print("a value") })
        print("fails:", await failures.next())
        cancellable.cancel()
        struct Odd: Error {}
        let values = Inbox<Int>()
        let mapped = ValueObservation.tracking { db in try Player.fetchCount(db) }
            .map { count in
                if count % 2 == 1 { throw Odd() }
                return count
            }
            .start(in: queue, scheduling: .task, onError: { failures.put("\($0)") }, onChange: { values.put($0) })
        print("count", await values.next())
        try await add("a", to: queue)
        print("fails:", await failures.next())
        mapped.cancel()
        do {
            for try await _ in ValueObservation.tracking({ db in try Int.fetchAll(db, sql: "SELEC 1") }).values(
                in: queue)
            {
                print("a value")
            }
        } catch let error as DatabaseError {
            print("throws:", error.resultCode == .SQLITE_ERROR)
        }
    }

    private static func regions() async throws {
        let queue = try await makeQueue()
        let counts = Inbox<Int>()
        let cancellable = DatabaseRegionObservation(tracking: Player.all()).start(in: queue) { error in
            print(error)
        } onChange: { db in
            counts.put((try? Player.fetchCount(db)) ?? -1)
        }
        try await add("a", to: queue)
        print("after the commit:", await counts.next())
        try await queue.write { db in try db.execute(sql: "INSERT INTO team DEFAULT VALUES") }
        try await add("b", to: queue)
        print("after the commit:", await counts.next())
        cancellable.cancel()
        try await add("c", to: queue)
    }
}

private struct Player: Codable, FetchableRecord, PersistableRecord {
    var id: Int64?
    var name: String
    var score: Int
}

/// Values that callbacks put, and that the program waits for.
private final class Inbox<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func put(_ value: Value) { continuation.yield(value) }

    func next() async -> Value { await stream.first { _ in true }! }
}
