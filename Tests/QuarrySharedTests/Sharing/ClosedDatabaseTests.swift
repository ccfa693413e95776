import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite("Exclusive windows of shared databases")
struct ClosedDatabaseTests {
    let folder: TemporaryFolder
    let database: SharedDatabase

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        database = SharedDatabase(path: folder.file("a.sqlite"))
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        _ = try count()
    }

    private func count(_ database: SharedDatabase? = nil) throws -> Int? {
        try (database ?? self.database).read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
    }

    private func count(ofFile path: String) throws -> Int? {
        try DatabaseQueue(path: path).read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
    }

    private func makeNew(_ name: String, rows: Int) throws -> String {
        try DatabaseQueue(path: folder.file(name)).write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for row in 0..<rows { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row]) }
        }
        return folder.file(name)
    }

    // MARK: - Order

    /// Running accesses end first, later ones wait, and the database opens again.
    @Test
    func order() async throws {
        let isRunning = Step("the write runs")
        let mayEnd = Step("the write may end")
        let isClosed = Step("the database is closed")
        let mayOpen = Step("the database may open")
        let events = Lock<[String]>([])
        let writer = OwnThread { [database] in
            try database.write { db in
                isRunning.reach()
                try mayEnd.wait()
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                // An access inside a running one doesn't wait behind the window, which waits for it.
                _ = try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                events.withLock { $0.append("write") }
            }
        }
        try await isRunning.reached()
        let window = OwnThread { [database, folder] in
            try database.withClosedDatabase { files in
                #expect(try folder.openFiles.isEmpty)
                events.withLock { $0.append("window") }
                isClosed.reach()
                try mayOpen.wait()
                #expect(try files.sizes().database > 0)
            }
        }
        let group = database.pool.writer.group
        try await until("the window waits") { group.waiterCount == 1 }
        mayEnd.reach()
        try await isClosed.reached()
        let task = Task { [database] in
            try await database.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (3)")
                events.withLock { $0.append("later") }
            }
        }
        try await until("the task waits") { group.waiterCount == 1 }
        #expect(database.isBlockaded && !database.isOpened)
        mayOpen.reach()
        try await task.value
        try await writer.value
        try await window.value
        #expect(events.withLock { $0 } == ["write", "window", "later"])
        #expect(try count() == 3)
    }

    /// A read that writes gets the writer before the window does.
    @Test
    func lending() async throws {
        let isRunning = Step("the read runs")
        let mayWrite = Step("the read may write")
        let reader = OwnThread { [database] in
            try database.read { _ in
                isRunning.reach()
                try mayWrite.wait()
                try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
            }
        }
        try await isRunning.reached()
        let window = OwnThread { [database] in try database.withClosedDatabase { try $0.sizes().total } }
        let readers = database.pool.readers.group
        try await until("the window waits for the readers") { readers.waiterCount == 1 }
        mayWrite.reach()
        try await reader.value
        #expect(try await window.value > 0)
        #expect(try count() == 2)
    }

    /// A waiting task can be cancelled, and waits have their limits.
    @Test
    func limits() async throws {
        var configuration = Configuration()
        configuration.acquireTimeout = 0.05
        configuration.maximumWaiters = 1
        let clock = ManualMonotonicClock()
        configuration.monotonicClock = clock.monotonicClock
        let database = SharedDatabase(path: folder.file("b.sqlite"), configuration: configuration)
        try await database.open()
        let blockade = try await database.blockade()
        let accesses: [(Duration, @Sendable () async throws -> Void)] = [
            (.milliseconds(50), { try await onOwnThread { try database.read { _ in } } }),
            (.milliseconds(50), { try await database.write { _ in } }),
            (.milliseconds(50), { try await database.withClosedDatabase { _ in } }),
            (.milliseconds(10), { try await onOwnThread { try database.write(timeout: .milliseconds(10)) { _ in } } }),
        ]
        let groups = [database.pool.writer.group, database.pool.readers.group]
        for (number, (timeout, access)) in accesses.enumerated() {
            let error = try await clock.advance(
                by: timeout, when: "access \(number) waits", groups.contains { $0.waiterCount == 1 }
            ) {
                await #expect(throws: DatabaseError.self) { try await access() }
            }
            #expect(error?.resultCode == .SQLITE_BUSY && error?.message?.hasPrefix("timeout while waiting") == true)
        }
        let task = Task { try await self.database.read { _ in } }
        task.cancel()
        _ = await task.result
        blockade.end()
        blockade.end()
        try await database.write { _ in }
        #expect(!database.isBlockaded)
    }

    /// Cancelling a task ends its wait for the window.
    @Test
    func cancellation() async throws {
        let isRunning = Step("the write runs")
        let mayEnd = Step("the write may end")
        let writer = OwnThread { [database] in
            try database.write { _ in
                isRunning.reach()
                try mayEnd.wait()
            }
        }
        try await isRunning.reached()
        let task = Task { [database] in try await database.withClosedDatabase { _ in } }
        let group = database.pool.writer.group
        try await until("the window waits") { group.waiterCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        mayEnd.reach()
        try await writer.value
        #expect(try count() == 1)
    }

    // MARK: - Nested use

    /// Nested uses throw, and leave the database in order.
    @Test
    func nesting() throws {
        let alias = SharedDatabase(path: database.path)
        let pool = database.pool
        let uses: [(String, () throws -> Void)] = [
            ("read", { try alias.read { _ in } }), ("write", { try alias.write { _ in } }),
            ("unsafeRead", { try alias.unsafeRead { _ in } }),
            ("unsafeReentrantRead", { try alias.unsafeReentrantRead { _ in } }),
            ("unsafeReentrantWrite", { try alias.unsafeReentrantWrite { _ in } }),
            ("barrier", { try alias.barrierWriteWithoutTransaction { _ in } }),
            ("close", { try alias.close() }), ("open", { try alias.open() }),
            ("window", { try alias.withClosedDatabase { _ in } }), ("blockade", { _ = try alias.blockade() }),
            ("snapshot", { _ = try pool.makeSnapshot() }),
            ("grace period", { try alias.close(gracePeriod: .seconds(1)) }),
            ("vacuum", { try alias.vacuum() }),
        ]
        try database.withClosedDatabase { _ in
            for (name, use) in uses {
                let error = #expect(throws: DatabaseError.self, "\(name)") { try use() }
                #expect(error?.resultCode == .SQLITE_MISUSE, "\(name): \(String(describing: error))")
            }
            #expect(!alias.canOpen)
        }
        #expect(throws: DatabaseError.self) { try database.write { _ in try alias.withClosedDatabase { _ in } } }
        #expect(throws: DatabaseError.self) { try database.read { _ in try alias.withClosedDatabase { _ in } } }
        #expect(throws: DatabaseError.self) { try database.read { _ in try alias.close() } }
        #expect(throws: DatabaseError.self) { try database.write { _ in _ = try alias.blockade() } }
        #expect(try count() == 1)
    }

    /// Two windows, each of which opens one of the other's database: one throws, and the other goes on.
    @Test(arguments: [false, true])
    func crossingWindows(isAsync: Bool) async throws {
        let other = SharedDatabase(path: folder.file("other.sqlite"))
        try await other.open()
        let areOpen = [Step("the first window is open"), Step("the second window is open")]
        let tasks = [(database, other), (other, database)].enumerated().map { index, databases in
            let body: @Sendable (ClosedDatabaseFiles) throws -> Void = { _ in
                areOpen[index].reach()
                try areOpen[1 - index].wait()
                try databases.1.withClosedDatabase { _ in }
            }
            return Task {
                if isAsync {
                    try await databases.0.withClosedDatabase(body)
                } else {
                    try await onOwnThread { try databases.0.withClosedDatabase(body) }
                }
            }
        }
        var errors: [any Error] = []
        for task in tasks {
            if case .failure(let error) = await task.result { errors.append(error) }
        }
        #expect(errors.count == 1, "\(errors)")
        let error = try #require(errors.first as? DatabaseError)
        #expect(error.resultCode == .SQLITE_BUSY && error.message?.hasPrefix("deadlock: ") ?? false, "\(error)")
        #expect(try count() == 1)
        try await other.read { _ in }
    }

    /// A closure that throws opens the database again.
    @Test
    func throwing() async throws {
        struct Failure: Error {}
        #expect(throws: Failure.self) { try database.withClosedDatabase { _ in throw Failure() } }
        await #expect(throws: Failure.self) { try await database.withClosedDatabase { _ in throw Failure() } }
        #expect(try count() == 1)
    }

    /// A snapshot refuses the window by its label, and closing leaves it alone.
    @Test
    func snapshots() throws {
        let snapshot = try database.makeSnapshot(label: "report")
        let error = #expect(throws: DatabaseError.self) { try database.withClosedDatabase { _ in } }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.contains("“report”") ?? false)
        try database.close()
        try database.write { db in try db.execute(sql: "DELETE FROM t") }
        #expect(try snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
        try snapshot.close()
        try database.withClosedDatabase { _ in }
    }

    // MARK: - Files

    /// Sizes and paths.
    @Test
    func sizes() throws {
        try database.withClosedDatabase { files in
            #expect(files.paths == ["", "-wal", "-shm", "-journal"].map { database.path + $0 })
            let sizes = try files.sizes()
            #expect(sizes.database > 0 && sizes.log == 0 && sizes.journal == 0)
            #expect(sizes.total == sizes.database + sizes.sharedMemory)
        }
    }

    /// Moving leaves the old path to a new database; a taken path is refused.
    @Test
    func move() throws {
        let target = folder.file("moved.sqlite")
        let taken = try makeNew("taken.sqlite", rows: 5)
        try database.withClosedDatabase { files in
            #expect(throws: DatabaseError.self) { try files.move(to: taken) }
            #expect(throws: DatabaseError.self) { try files.move(to: files.path) }
            #expect(throws: DatabaseError.self) { try files.move(to: folder.file("missing/a.sqlite")) }
            try files.move(to: target)
            #expect(throws: DatabaseError.self) { try files.move(to: target) }
        }
        #expect(try count(ofFile: target) == 1)
        #expect(try database.read { db in try !db.tableExists("t") })
        #expect(try count(ofFile: taken) == 5)
        try database.withClosedDatabase { files in try files.move(to: taken, overwrites: true) }
        #expect(throws: DatabaseError.self) { try count(ofFile: taken) }
    }

    /// Copying, removing and replacing.
    @Test
    func copyRemoveReplace() throws {
        let copy = folder.file("copy.sqlite")
        let new = try makeNew("new.sqlite", rows: 7)
        let escaped = try database.withClosedDatabase { files in
            try files.copy(to: copy)
            #expect(throws: DatabaseError.self) { try files.copy(to: copy) }
            try files.copy(to: copy, overwrites: true)
            #expect(try files.sizes().log == 0)
            return files
        }
        #expect(throws: DatabaseError.self) { try escaped.remove() }
        #expect(try count(ofFile: copy) == 1)
        #expect(try count() == 1)
        try database.withClosedDatabase { files in
            #expect(throws: DatabaseError.self) { try files.replace(with: folder.file("missing")) }
            #expect(throws: DatabaseError.self) { try files.replace(with: folder.path) }
            #expect(throws: DatabaseError.self) { try files.replace(with: files.path) }
            try files.replace(with: new)
        }
        #expect(try count() == 7)
        #expect(!FileManager.default.fileExists(atPath: new))
        try database.withClosedDatabase { files in
            try files.remove()
            try files.remove()
            #expect(try files.sizes().total == 0)
        }
        #expect(try database.read { db in try !db.tableExists("t") })
    }

    /// A file that another connection has written to is not moved without its log.
    @Test
    func logs() throws {
        let queue = try DatabaseQueue(path: database.path)
        try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        try database.withClosedDatabase { files in
            let error = #expect(throws: DatabaseError.self) { try files.move(to: folder.file("moved.sqlite")) }
            #expect(error?.resultCode == .SQLITE_BUSY)
        }
        #expect(try count() == 2)
        try queue.close()
        try database.withClosedDatabase { files in try files.move(to: folder.file("moved.sqlite")) }
        #expect(try count(ofFile: folder.file("moved.sqlite")) == 2)
    }
}
