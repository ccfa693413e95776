import Quarry
import QuarryTestSupport
import Testing

/// Copies of databases, and what is left of one that is erased.
@Suite struct CopyTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A pool with a table `t` that holds 1, 2, 3.
    private func makePool(_ name: String = "a.sqlite") throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file(name))
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3)") }
        return pool
    }

    private func values(_ reader: any DatabaseReader) throws -> [Int] {
        try reader.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") }
    }

    @Test func copiesOfAFile() throws {
        let pool = try makePool()
        let copies = [
            try DatabaseQueue.inMemoryCopy(fromPath: pool.path), try DatabaseQueue.temporaryCopy(fromPath: pool.path),
        ]
        for copy in copies {
            #expect(try values(copy) == [1, 2, 3])
            try copy.write { db in try db.execute(sql: "DELETE FROM t") }
            #expect(try values(copy) == [])
        }
        #expect(try values(pool) == [1, 2, 3])
        #expect(copies.map(\.path) == [":memory:", ""])
    }

    @Test func readOnlyCopies() throws {
        let pool = try makePool()
        var configuration = Configuration()
        configuration.readonly = true
        for copy in [
            try DatabaseQueue.inMemoryCopy(fromPath: pool.path, configuration: configuration),
            try DatabaseQueue.temporaryCopy(fromPath: pool.path, configuration: configuration),
        ] {
            #expect(try values(copy) == [1, 2, 3])
            let error = #expect(throws: DatabaseError.self) {
                try copy.writeWithoutTransaction { db in try db.execute(sql: "DELETE FROM t") }
            }
            #expect(error?.resultCode == .SQLITE_READONLY)
        }
    }

    @Test func copiesOfWhatIsNotThere() throws {
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue.inMemoryCopy(fromPath: folder.file("missing.sqlite"))
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
    }

    /// The wait for the lock of the copied file is that of the configuration.
    @Test func busyModesOfCopies() async throws {
        let file = try DatabaseQueue(path: folder.file("a.sqlite"))
        try await file.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let isHeld = Step("the file is locked")
        let mayEnd = Step("the copies have failed")
        let holder = OwnThread {
            try file.inTransaction(.exclusive) { _ in
                isHeld.reach()
                try mayEnd.wait()
                return .commit
            }
        }
        try await isHeld.reached()
        let tries = Recorded<[Int]>([])
        var configuration = Configuration()
        configuration.busyMode = .callback { number in
            tries.update { $0.append(number) }
            return number < 2
        }
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue.inMemoryCopy(fromPath: file.path, configuration: configuration)
        }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(tries.value == [0, 1, 2])
        await #expect(throws: DatabaseError.self) {
            try await DatabaseQueue.temporaryCopyAsync(fromPath: file.path, configuration: configuration)
        }
        #expect(tries.value == [0, 1, 2, 0, 1, 2])
        mayEnd.reach()
        try await holder.value
    }

    @Test func backupOfAPoolIntoAPool() throws {
        let source = try makePool()
        let destination = try DatabasePool(path: folder.file("b.sqlite"))
        try destination.write { db in try db.execute(sql: "CREATE TABLE old (a)") }
        var steps: [Int] = []
        try source.backup(to: destination, pagesPerStep: 1) { progress in
            steps.append(progress.remainingPageCount)
            // A write meanwhile isn't copied, and doesn't wait.
            if steps.count == 1 { try source.write { db in try db.execute(sql: "INSERT INTO t VALUES (4)") } }
        }
        #expect(steps == steps.sorted(by: >) && steps.last == 0 && steps.count > 1)
        #expect(try values(destination) == [1, 2, 3])
        #expect(try values(source) == [1, 2, 3, 4])
    }

    @Test func aBackupThatIsStoppedLeavesTheDestination() throws {
        struct Stop: Error {}
        let source = try makePool()
        let destination = try makePool("b.sqlite")
        try destination.write { db in try db.execute(sql: "DELETE FROM t WHERE a > 1") }
        #expect(throws: Stop.self) {
            try source.backup(to: destination, pagesPerStep: 1) { _ in throw Stop() }
        }
        #expect(try values(destination) == [1])
        try destination.write { db in try db.execute(sql: "DELETE FROM t") }
        #expect(try values(destination) == [])
    }

    @Test func erasing() async throws {
        let pool = try makePool()
        func eraseOnThisThread() throws { try pool.erase() }
        try eraseOnThisThread()
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE u (a)") }
        try await pool.erase()
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
        #expect(try await pool.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } == "wal")
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: "CREATE TABLE u (a)") }
        try await queue.erase()
        #expect(try await queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
    }
}
