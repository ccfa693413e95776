import Quarry
import QuarryExpectations
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

@Suite struct DatabaseRegionObservationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makePool() throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.write { db in
            try db.makeScoredPlayers(["a": 1, "b": 1])
            try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY)")
        }
        return pool
    }

    /// Starts an observation that counts its calls.
    private func start(
        _ regions: [any DatabaseRegionConvertible], in writer: any DatabaseWriter, _ calls: Recorded<Int>
    ) -> AnyDatabaseCancellable {
        DatabaseRegionObservation(tracking: regions).start(in: writer) { error in
            Issue.record(error)
        } onChange: { _ in
            calls.update { $0 += 1 }
        }
    }

    @Test func eachTransactionThatChangesTheRegionIsToldBeforeTheWriteReturns() throws {
        let pool = try makePool()
        let calls = Recorded(0)
        let cancellable = start([Player.all()], in: pool, calls)
        try pool.write { db in try db.execute(sql: "UPDATE player SET score = 2; UPDATE player SET score = 3") }
        #expect(calls.value == 1)
        try pool.write { db in try db.execute(sql: "INSERT INTO team VALUES (1)") }
        try pool.write { db in try db.execute(sql: "UPDATE player SET score = 3 WHERE id = 99") }
        try pool.inTransactionThatRollsBack()
        #expect(calls.value == 1)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "DELETE FROM player WHERE id = 1; DELETE FROM player WHERE id = 2")
        }
        #expect(calls.value == 3)
        withExtendedLifetime(cancellable) {}
    }

    @Test func columnsAndRowsCount() throws {
        let pool = try makePool()
        let (names, row, both) = (Recorded(0), Recorded(0), Recorded(0))
        let cancellables = [
            start([Player.select(Column("name"))], in: pool, names), start([Player.filter(key: 1)], in: pool, row),
            start([Table("team"), Player.filter(key: 2)], in: AnyDatabaseWriter(pool), both),
        ]
        try pool.write { db in try db.execute(sql: "UPDATE player SET score = 2 WHERE id = 1") }
        #expect([names, row, both].map(\.value) == [0, 1, 0])
        try pool.write { db in try db.execute(sql: "UPDATE player SET name = 'z' WHERE id = 2") }
        #expect([names, row, both].map(\.value) == [1, 1, 1])
        try pool.write { db in try db.execute(sql: "INSERT INTO player VALUES (3, 'c', 1)") }
        #expect([names, row, both].map(\.value) == [2, 1, 1])
        try pool.write { db in try db.execute(sql: "INSERT INTO team VALUES (1); DELETE FROM player") }
        #expect([names, row, both].map(\.value) == [3, 2, 2])
        withExtendedLifetime(cancellables) {}
    }

    /// The observation of a write that runs begins with that write.
    @Test func anObservationStartedInsideAWriteObservesIt() throws {
        let pool = try makePool()
        let calls = Recorded(0)
        let cancellable = try pool.write { db in
            defer { try? db.execute(sql: "DELETE FROM player") }
            return start([Player.all()], in: pool, calls)
        }
        #expect(calls.value == 1)
        cancellable.cancel()
    }

    @Test func cancellingAndReleasingEndTheCalls() throws {
        let pool = try makePool()
        let calls = Recorded(0)
        let first = start([DatabaseRegion.fullDatabase], in: pool, calls)
        var second: AnyDatabaseCancellable? = start([Player.all()], in: pool, calls)
        try pool.write { db in try db.execute(sql: "UPDATE player SET score = 5") }
        #expect(calls.value == 2)
        first.cancel()
        withExtendedLifetime(second) {}
        second = nil
        try pool.write { db in try db.execute(sql: "UPDATE player SET score = 6") }
        #expect(calls.value == 2)
        // An observation that is cancelled before it has begun observes nothing.
        try pool.write { db in
            let late = start([Player.all()], in: pool, calls)
            late.cancel()
            try db.execute(sql: "UPDATE player SET score = 7")
        }
        #expect(calls.value == 2)
    }

    /// The connection may be used, and the transactions inside are told, too.
    @Test func theClosureMayWrite() throws {
        let pool = try makePool()
        let scores = Recorded<[Int]>([])
        let cancellable = DatabaseRegionObservation(tracking: Player.select(Column("score"))).start(in: pool) {
            Issue.record($0)
        } onChange: { db in
            do {
                let score = try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player") ?? 0
                scores.update { $0.append(score) }
                if score < 4 {
                    try db.inTransaction {
                        try db.execute(sql: "UPDATE player SET score = ?", arguments: [score + 1])
                        return .commit
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        try pool.write { db in try db.execute(sql: "UPDATE player SET score = 2") }
        #expect(scores.value == [2, 3, 4])
        cancellable.cancel()
    }

    @Test func errorsAreReported() async throws {
        let pool = try makePool()
        let errors = Recorded<[String]>([])
        let missing = DatabaseRegionObservation(tracking: Table("nope")).start(in: pool) { error in
            errors.update { $0.append("\(error)") }
        } onChange: { _ in
            Issue.record("there is no region")
        }
        try await until("the error of the region") { !errors.value.isEmpty }
        #expect(errors.value[0].contains("no such table: nope"))
        try pool.close()
        let closed = DatabaseRegionObservation(tracking: Player.all()).start(in: pool) { error in
            errors.update { $0.append("\(error)") }
        } onChange: { _ in
            Issue.record("the database is closed")
        }
        try await until("the error of the closed database") { errors.value.count == 2 }
        #expect(errors.value[1].contains("Connection is closed"))
        withExtendedLifetime((missing, closed)) {}
    }

    @Test func notifyChangesTellsOfUnseenChanges() throws {
        let pool = try makePool()
        let calls = Recorded(0)
        let cancellable = start([Player.filter(key: 1)], in: pool, calls)
        try pool.write { db in
            try db.notifyChanges(in: Player.filter(key: 2))
            #expect(calls.value == 0)
        }
        #expect(calls.value == 1)
        try pool.writeWithoutTransaction { db in try db.notifyChanges(in: DatabaseRegion.fullDatabase) }
        #expect(calls.value == 2)
        try pool.writeInTransaction { db in
            try db.notifyChanges(in: Player.all())
            return .rollback
        }
        #expect(calls.value == 2)
        cancellable.cancel()
    }
}

extension DatabasePool {
    fileprivate func inTransactionThatRollsBack() throws {
        try writeInTransaction { db in
            try db.execute(sql: "DELETE FROM player")
            return .rollback
        }
    }
}
