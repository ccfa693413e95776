import Quarry
import QuarryTestSupport
import Testing

@Suite struct ConnectionsSamples {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("players.sqlite")
    }

    @Test func pool() throws {
        let dbPool = try DatabasePool(path: path)

        try dbPool.write { db in try db.makePlayers() }
        #expect(try dbPool.unsafeRead { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } == "wal")
    }

    @Test func queue() throws {
        let dbQueue = try DatabaseQueue(path: path)
        #expect(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT 1") } == 1)
    }

    func playerCount(in reader: any DatabaseReader) async throws -> Int {
        try await reader.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
        }
    }

    @Test func anyReader() async throws {
        let dbQueue = try DatabaseQueue()
        try await dbQueue.write { db in try db.makePlayers() }
        #expect(try await playerCount(in: dbQueue) == 0)
    }

    @Test func inMemory() throws {
        let alone = try DatabaseQueue()  // content of its own
        let shared = try DatabaseQueue(named: "players")  // shared by all queues of that name in the process

        let other = try DatabaseQueue(named: "players")
        try shared.write { db in try db.makePlayers() }
        let tables = "SELECT COUNT(*) FROM sqlite_master"
        #expect(try other.read { db in try Int.fetchOne(db, sql: tables) } == 1)
        #expect(try alone.read { db in try Int.fetchOne(db, sql: tables) } == 0)
    }

    @Test func copies() throws {
        do {
            let dbQueue = try DatabaseQueue(path: path)
            try dbQueue.write { db in try db.makePlayers("Arthur") }
        }
        let fixture = try DatabaseQueue.inMemoryCopy(fromPath: path)  // the file's content, in memory
        let scratch = try DatabaseQueue.temporaryCopy(fromPath: path)  // in a file that goes when it is closed

        for copy in [fixture, scratch] {
            try copy.write { db in try db.execute(sql: "DELETE FROM player") }
            #expect(try copy.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") } == 0)
        }
        let original = try DatabaseQueue(path: path)
        #expect(try original.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") } == 1)
    }

    @Test func configuration() throws {
        var config = Configuration()
        config.label = "players"  // names the database in errors
        config.maximumReaderCount = 8  // connections of a pool that read at the same time
        config.busyMode = .timeout(10)  // seconds to wait for other processes' locks
        config.acquireTimeout = 2  // seconds an access may wait for a connection
        config.statementTimeout = 30  // seconds a statement may run
        config.prepareDatabase { db in  // for each connection that is opened
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        let dbPool = try DatabasePool(path: path, configuration: config)

        #expect(try dbPool.read { db in try Int.fetchOne(db, sql: "PRAGMA temp_store") } == 2)
    }

    @Test func preparationOfOpenConnections() throws {
        let dbPool = try DatabasePool(path: path)
        try dbPool.read { _ in }

        let preparation = dbPool.prepareConnections { db in  // on the writer and all readers, from their next access on
            try db.execute(sql: "PRAGMA temp_store = FILE")
        }
        let store = try dbPool.read { db in try Int.fetchOne(db, sql: "PRAGMA temp_store") }  // 1, which means FILE
        preparation.remove()  // connections that it has not prepared yet stay without it

        #expect(store == 1)
        #expect(try dbPool.write { db in try Int.fetchOne(db, sql: "PRAGMA temp_store") } == 0)
    }

    @Test func inTasks() async throws {
        try await DatabaseQueue(path: path).write { db in try db.makePlayers("Arthur") }
        let backupPath = folder.file("backup.sqlite")

        let dbPool = try await DatabasePool.open(path: path)
        let snapshot = try await dbPool.makeSnapshotAsync()
        let copy = try await DatabaseQueue.open(path: backupPath)
        try await snapshot.backupAsync(to: copy)
        try await snapshot.closeAsync()
        await dbPool.releaseMemoryAsync()
        try await dbPool.closeAsync()

        #expect(try await copy.read { db in try Int.fetchOne(db, sql: "SELECT id FROM player") } == 1)
    }

    @Test func memory() throws {
        let dbPool = try DatabasePool(path: path)
        try dbPool.read { _ in }
        dbPool.releaseIdle()  // closes idle readers, and empties the writer
        dbPool.releaseIdle([.pages, .statements])  // closes none
        #expect(dbPool.releaseIdle().closedConnections == 0)
    }

    @Test func filesOfOthers() throws {
        let uploadPath = folder.file("upload.sqlite")

        var config = Configuration()
        config.acceptsURIs = false  // `file:a?mode=memory` is a file of that name
        config.trustedSchema = false  // views and triggers of the file call no function with side effects
        config.defensive = true  // SQL that could damage the file throws
        let dbQueue = try DatabaseQueue(path: uploadPath, configuration: config)

        #expect(throws: DatabaseError.self) {
            try dbQueue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_master")
            }
        }
    }

    @Test func snapshots() throws {
        let dbPool = try DatabasePool(path: path)
        try dbPool.write { db in try db.makePlayers() }
        let snapshot = try dbPool.makeSnapshot()

        try dbPool.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        let before = try snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }  // 0
        let now = try dbPool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")! }  // 1
        #expect(before == 0)
        #expect(now == 1)
    }

    @Test func closing() throws {
        let dbPool = try DatabasePool(path: path)
        try dbPool.close()

        do {
            try dbPool.read { db in _ = try Int.fetchOne(db, sql: "SELECT 1") }
        } catch DatabaseError.SQLITE_MISUSE {
            // "Connection is closed"
        }
        #expect(throws: DatabaseError.self) { try dbPool.read { _ in } }
    }

    @Test func backup() throws {
        let dbPool = try DatabasePool(path: path)
        try dbPool.write { db in try db.makePlayers("Arthur") }
        let backupPath = folder.file("backup.sqlite")
        let compactPath = folder.file("compact.sqlite")

        let destination = try DatabaseQueue(path: backupPath)
        try dbPool.backup(to: destination)  // page by page, while the pool goes on
        try dbPool.vacuum(into: compactPath)  // a compact copy in a new file

        let compact = try DatabaseQueue(path: compactPath)
        for copy in [destination, compact] {
            #expect(try copy.read { db in try Int.fetchOne(db, sql: "SELECT id FROM player") } == 1)
        }
    }
}
