import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Databases that come and go between two fetches of an observation.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ObservationAttachingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// A file with a table `name`, which has a row for each value.
    private func file(_ file: String, table name: String, _ values: Int...) throws -> String {
        let path = folder.file(file)
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE \(name) (a INTEGER)")
            for value in values { try db.execute(sql: "INSERT INTO \(name) VALUES (?)", arguments: [value]) }
        }
        try queue.close()
        return path
    }

    private static func sum(_ table: String) -> ValueObservation<ValueReducers.Fetch<Int>> {
        .tracking { db in try Int.fetchOne(db, sql: "SELECT ifnull(SUM(a), 0) FROM \(table)") ?? 0 }
    }

    @Test func tablesOfTheMainDatabase() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable(1)
        let other = try file("other.sqlite", table: "t", 100)
        let received = Received<Int>()
        let cancellable = Self.sum("t").start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await queue.writeWithoutTransaction { db in try db.attach(other, as: "other") }
        try queue.add(2)
        // The attached table of the same name is another one.
        try await queue.write { db in try db.execute(sql: "INSERT INTO other.t VALUES (200)") }
        try queue.add(4)
        try await until("the last sum") { received.values.last == 7 }
        try await queue.writeWithoutTransaction { db in try db.detach("other") }
        try queue.add(8)
        try await until("the last sum") { received.values.last == 15 }
        #expect(received.errors.isEmpty)
        cancellable.cancel()
    }

    @Test func writesToAnAttachedTableOfTheSameName() async throws {
        let queue = try DatabaseQueue()
        try queue.makeTable(1)
        let other = try file("other.sqlite", table: "t", 100)
        try await queue.writeWithoutTransaction { db in try db.attach(other, as: "other") }
        let fetches = Recorded(0)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking { db in
            fetches.update { $0 += 1 }
            return try db.count()
        }.start(in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        for _ in 0..<5 { try await queue.write { db in try db.execute(sql: "INSERT INTO other.t VALUES (1)") } }
        try queue.add(2)
        #expect(try await received.value(2) == [1, 2])
        #expect(fetches.value == 2)
        cancellable.cancel()
    }

    @Test func tablesOfTheAttachedDatabase() async throws {
        let queue = try DatabaseQueue()
        let other = try file("other.sqlite", table: "u", 1)
        try await queue.writeWithoutTransaction { db in try db.attach(other, as: "other") }
        let received = Received<Int>()
        let cancellable = Self.sum("u").start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await queue.write { db in try db.execute(sql: "INSERT INTO other.u VALUES (2)") }
        #expect(try await received.value(2) == [1, 3])
        cancellable.cancel()
    }

    /// The table is gone with its database: the fetch throws.
    @Test func theObservedDatabaseIsDetached() async throws {
        let queue = try DatabaseQueue()
        let other = try file("other.sqlite", table: "u", 1)
        try await queue.writeWithoutTransaction { db in try db.attach(other, as: "other") }
        let received = Received<Int>()
        let cancellable = Self.sum("other.u").start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await queue.writeWithoutTransaction { db in try db.detach("other") }
        let error = try #require(try await received.error() as? DatabaseError)
        #expect(error.message == "no such table: other.u")
        #expect(received.values == [1] && queue.broker.observationCount == 0)
        cancellable.cancel()
    }

    /// Another database with the same name has other rows.
    @Test func anotherDatabaseIsAttachedUnderTheSameName() async throws {
        let queue = try DatabaseQueue()
        let paths = [try file("one.sqlite", table: "u", 1), try file("two.sqlite", table: "u", 2)]
        try await queue.writeWithoutTransaction { db in try db.attach(paths[0], as: "other") }
        let received = Received<Int>()
        let cancellable = Self.sum("u").start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await queue.writeWithoutTransaction { db in
            try db.detach("other")
            try db.attach(paths[1], as: "other")
        }
        try await until("the other sum") { received.values.last == 2 }
        try await queue.write { db in try db.execute(sql: "INSERT INTO u VALUES (5)") }
        try await until("the sum after a write") { received.values.last == 7 }
        #expect(received.errors.isEmpty)
        cancellable.cancel()
    }
}
