import Foundation
import Quarry
import QuarryOutbox
import QuarryTestSupport
import Synchronization
import Testing

@Suite struct TestingYourApplicationSamples {
    let folder = try! TemporaryFolder(isFast: true)

    struct Player: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var name: String

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
        }
        return migrator
    }()

    struct PlayerStore {
        let writer: any DatabaseWriter

        func add(_ name: String) async throws -> Player {
            try await writer.write { db in
                var player = Player(id: nil, name: name)
                try player.insert(db)
                return player
            }
        }

        func names() async throws -> [String] {
            try await writer.read { db in
                try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name")
            }
        }
    }

    func makeStore() throws -> PlayerStore {
        let dbQueue = try DatabaseQueue()
        try migrator.migrate(dbQueue)
        return PlayerStore(writer: dbQueue)
    }

    @Test(arguments: ["Arthur", "Barbara"]) func storesShareNothing(_ name: String) async throws {
        let store = try makeStore()
        let player = try await store.add(name)
        #expect(player.id == 1)
        #expect(try await store.names() == [name])
    }

    @Test func namedDatabases() throws {
        let name = UUID().uuidString
        let server = try DatabaseQueue(named: name)
        let observer = try DatabaseQueue(named: name)

        try migrator.migrate(server)
        #expect(try observer.read { db in try db.tableExists("player") })
    }

    @Test func dates() throws {
        var config = Configuration()
        config.transactionClock = .custom { _ in Date(timeIntervalSince1970: 0) }
        let dbQueue = try DatabaseQueue(configuration: config)
        let date = try dbQueue.write { db in try db.transactionDate }  // 1970-01-01 00:00:00 +0000

        #expect(date == Date(timeIntervalSince1970: 0))
    }

    private func makeFixture() throws -> DatabaseQueue {
        let fixture = try DatabaseQueue()
        try migrator.migrate(fixture)
        try fixture.write { db in
            for name in ["Arthur", "Barbara"] {
                try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])
            }
        }
        let dbQueue = try DatabaseQueue()
        try fixture.backup(to: dbQueue)
        return dbQueue
    }

    @Test func fixtures() throws {
        let dbQueue = try makeFixture()
        try dbQueue.inTransaction { db in
            try db.execute(sql: "DELETE FROM player")
            return .rollback
        }
        #expect(try dbQueue.read { db in try Player.fetchCount(db) } == 2)
        let count = try dbQueue.read { db in
            var count = 0
            db.trace { _ in count += 1 }
            _ = try Player.fetchAll(db)
            db.trace(options: [])
            return count
        }
        #expect(count == 1)
    }

    @Test func poolsAndErrors() async throws {
        let folderPath = folder.path
        let dbPool = try DatabasePool(path: folderPath + "/test.sqlite")
        try migrator.migrate(dbPool)
        var wasHandled = false
        let slow = "WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT MAX(i) FROM c"
        do {
            _ = try await dbPool.read(timeout: .milliseconds(5)) { db in try Int.fetchOne(db, sql: slow) }
        } catch DatabaseError.SQLITE_INTERRUPT {
            // The application answers 503.
            wasHandled = true
        } catch DatabaseError.SQLITE_BUSY {
            // The machine is so busy that the access had no time to begin.
            wasHandled = true
        }
        #expect(wasHandled)
    }

    struct Offline: Error {}

    func testWelcome(_ emails: Outbox<String>, in dbQueue: DatabaseQueue) async throws {
        try await dbQueue.write { db in _ = try emails.append("Welcome, Arthur!", db) }
        let sent = Mutex<[String]>([])  // import Synchronization
        let count = try await emails.deliverNext(from: dbQueue) { messages in
            sent.withLock { $0 += messages.map(\.payload) }
        }
        #expect(count == 1)
        #expect(sent.withLock(\.self) == ["Welcome, Arthur!"])

        // A delivery that fails leaves its messages.
        try await dbQueue.write { db in _ = try emails.append("Hello again!", db) }
        await #expect(throws: Offline.self) {
            try await emails.deliverNext(from: dbQueue) { _ in throw Offline() }
        }
        #expect(try await dbQueue.read { db in try emails.pendingCount(db) } == 1)
    }

    /// The commits of a delivery change no table of the program.
    @Test func outbox() async throws {
        let dbQueue = try await onOwnThread { try makeFixture() }
        let emails = Outbox<String>("email")
        try await dbQueue.write { db in try emails.createTables(db) }
        var commits = dbQueue.commits(keys: true).makeAsyncIterator()
        try await testWelcome(emails, in: dbQueue)
        try await dbQueue.write { db in try db.execute(sql: "DELETE FROM player WHERE id = 1") }
        var ownCount = 0
        while let commit = await commits.next(), !commit.changes.containsChange(in: "player") {
            #expect(commit.changes.changedKeys(in: "player")?.isEmpty == true)
            ownCount += 1
        }
        // Two messages; a lease and a deletion; a lease and a failure.
        #expect(ownCount == 6)
    }

    @Test func observations() async throws {
        let dbQueue = try await onOwnThread { try makeFixture() }
        let counts = ValueObservation.tracking { db in try Player.fetchCount(db) }.values(in: dbQueue)
        var iterator = counts.makeAsyncIterator()
        let first = try await iterator.next()
        try await dbQueue.write { db in try db.execute(sql: "DELETE FROM player") }
        let next = try await iterator.next()
        #expect([first, next] == [2, 0])
    }
}
