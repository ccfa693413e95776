import Dispatch
import Quarry
import QuarryExpectations
import QuarryOutbox
import QuarryRecovery
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Parts of the library that replace or consume the content of databases, in a directory with few places, and databases
/// that can't be written or opened.
@Suite struct DirectoryContentTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func make(
        _ maximumOpenCount: Int = 1, migrator: DatabaseMigrator? = DatabaseDirectoryTests.migrator,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabaseDirectory {
        var configuration = Configuration()
        // An access that isn't served fails the test.
        configuration.acquireTimeout = 110 * Double(TestTime.factor)
        configure(&configuration)
        return try DatabaseDirectory(
            path: folder.path, maximumOpenCount: maximumOpenCount, configuration: configuration, migrator: migrator)
    }

    private static func insert(_ database: SharedDatabase, _ value: Int) async throws {
        try await database.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }
    }

    private static func values(_ database: SharedDatabase) async throws -> [Int] {
        try await database.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") }
    }

    // MARK: - Restoring

    /// Several databases are backed up and restored at once, while fewer can be open.
    @Test(arguments: [1, 2]) func restoring(maximumOpenCount: Int) async throws {
        let directory = try make(maximumOpenCount)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                let database = try directory.database(named: "\(number)")
                let backup = folder.file("backup-\(number)")
                var options = BackupOptions()
                options.replacesExisting = true
                group.addTask { [options] in
                    for round in 0..<5 {
                        try await Self.insert(database, 2 * round)
                        try await database.backup(toFile: backup, options: options)
                        let saved = try await Self.values(database)
                        try await Self.insert(database, 2 * round + 1)
                        if number.isMultiple(of: 2) {
                            try await database.restore(from: backup)
                        } else {
                            try await onOwnThread { try database.restore(from: backup) }
                        }
                        #expect(try await Self.values(database) == saved)
                        #expect(saved == (0...round).map { 2 * $0 })
                    }
                }
            }
            try await group.waitForAll()
        }
        try await until("no database is beyond the limit") { directory.statistics.openCount <= maximumOpenCount }
        try await directory.closeAsync()
        #expect(try folder.openFiles == [])
    }

    /// A restore inside an access of another database doesn't wait for its place, and an observation goes on.
    @Test func restoringInsideAnAccess() async throws {
        let directory = try make()
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let backup = folder.file("backup")
        try await Self.insert(a, 1)
        try await a.backup(toFile: backup)
        try await Self.insert(a, 2)
        let seen = Recorded<[Int]>([])
        let cancellable = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")! }
            .removeDuplicates()
            .start(in: a, scheduling: .async(onQueue: .global())) { error in
                Issue.record(error)
            } onChange: { count in
                seen.update { $0.append(count) }
            }
        try await until("the first value") { seen.value == [2] }
        try await onOwnThread {
            try b.write { db in
                try a.restore(from: backup)
                try db.execute(sql: "INSERT INTO t VALUES (7)")
            }
        }
        try await until("the restored value") { seen.value == [2, 1] }
        #expect(try await Self.values(a) == [1])
        #expect(try await Self.values(b) == [7])
        cancellable.cancel()
    }

    /// Content of an earlier version is migrated when the database is opened next.
    @Test func restoringAnEarlierVersion() async throws {
        let backup = folder.file("backup")
        try await onOwnThread {
            let queue = try DatabaseQueue(path: backup)
            try DatabaseDirectoryTests.migrator.migrate(queue)
            try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (5)") }
        }
        var migrator = DatabaseDirectoryTests.migrator
        migrator.registerMigration("v2") { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 7") }
        let directory = try make(migrator: migrator)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await a.restore(from: backup)
        try await b.write { _ in }
        #expect(!a.isOpened)
        #expect(try await a.read { db in try Int.fetchAll(db, sql: "SELECT b FROM t") } == [7])
    }

    /// A file that can't be restored leaves the content as it was, and takes no place.
    @Test func filesThatCannotBeRestored() async throws {
        let directory = try make()
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await Self.insert(a, 1)
        for _ in 0..<3 {
            await expectError(.SQLITE_CANTOPEN) { try await a.restore(from: folder.file("missing")) }
            await expectError(.SQLITE_MISUSE) { try await a.restore(from: a.path) }
            try await b.write { _ in }
        }
        #expect(try await Self.values(a) == [1])
        // The file of another database, which is closed for it.
        try await b.restore(from: a.path)
        #expect(try await Self.values(b) == [1])
        try await Self.insert(a, 2)
        #expect(try await Self.values(b) == [1])
    }

    // MARK: - Outboxes

    /// The messages of each database are delivered once and in order, by consumers that all need the same places.
    @Test(arguments: [1, 2]) func outboxes(maximumOpenCount: Int) async throws {
        let outbox = Outbox<Int>("events")
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try outbox.createTables(db) }
        let directory = try make(maximumOpenCount, migrator: migrator)
        let names = (0..<4).map(String.init)
        let delivered = Recorded<[String: [Int]]>([:])
        let messageCount = 20
        // Messages are noticed at their commit alone.
        let options = OutboxOptions(batch: 3, pollInterval: .seconds(3_600)) { _ in .zero }
        struct Failed: Error {}
        let failed = Recorded<Set<String>>([])
        let consumers = try names.map { name in
            let database = try directory.database(named: name)
            return Task {
                try await outbox.deliver(from: database, options: options) { messages in
                    // A delivery that uses its own database, and one that fails, now and then.
                    let count = try await database.read { db in try outbox.pendingCount(db) }
                    #expect(count >= messages.count)
                    let bad = messages.first { $0.id.isMultiple(of: 5) }
                    if let bad, failed.update({ $0.insert("\(name) \(bad.id)").inserted }) { throw Failed() }
                    delivered.update { $0[name, default: []] += messages.map(\.payload) }
                }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                let database = try directory.database(named: name)
                group.addTask {
                    for payload in 0..<messageCount {
                        _ = try await database.write { db in try outbox.append(payload, db) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await until("all messages are delivered") { delivered.value.values.map(\.count).reduce(0, +) >= 80 }
        for name in names { #expect(delivered.value[name] == Array(0..<messageCount)) }
        #expect(failed.value.count == 16)
        for name in names {
            let database = try directory.database(named: name)
            var pendingCount = 1
            for _ in 0..<10_000 where pendingCount > 0 {
                pendingCount = try await database.read { db in try outbox.pendingCount(db) }
            }
            #expect(pendingCount == 0)
        }
        for consumer in consumers {
            consumer.cancel()
            await expectError(CancellationError.self) { try await consumer.value }
        }
        #expect(directory.statistics.evictedCount > 0)
    }

    // MARK: - Databases that can't be written

    /// A directory that only reads opens and closes as any other, and migrates nothing.
    @Test func readOnly() async throws {
        for (number, name) in ["a", "b"].enumerated() {
            let pool = try await onOwnThread {
                let pool = try DatabasePool(path: folder.file("\(name).sqlite"))
                try DatabaseDirectoryTests.migrator.migrate(pool)
                return pool
            }
            try await pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number]) }
            try await pool.closeAsync()
        }
        let directory = try make { $0.readonly = true }
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        for _ in 0..<2 {
            #expect(try await Self.values(a) == [0])
            #expect(!b.isOpened)
            #expect(try await Self.values(b) == [1])
            #expect(!a.isOpened)
        }
        await expectError(.SQLITE_READONLY) { try await Self.insert(a, 2) }
        #expect(try await Self.values(a) == [0])
        // A missing file isn't made.
        let missing = try directory.database(named: "missing")
        await expectError(.SQLITE_CANTOPEN) { try await Self.values(missing) }
        await expectError(.SQLITE_CANTOPEN) { try await Self.insert(missing, 1) }
        #expect(try await Self.values(b) == [1])
        #expect(try directory.names() == ["a", "b"])
        try await directory.closeAsync()
        #expect(try folder.openFiles == [])
    }

    /// A migration that has to run can't: the error is SQLite's, and nothing is changed.
    @Test func readOnlyWithALaterMigration() async throws {
        try await onOwnThread {
            let pool = try DatabasePool(path: folder.file("a.sqlite"))
            try DatabaseDirectoryTests.migrator.migrate(pool)
            try pool.close()
        }
        var migrator = DatabaseDirectoryTests.migrator
        migrator.registerMigration("v2") { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN b") }
        let directory = try make(migrator: migrator) { $0.readonly = true }
        let a = try directory.database(named: "a")
        for _ in 0..<2 { await expectError(.SQLITE_READONLY) { try await Self.values(a) } }
        try await directory.closeAsync()
        let columns = try await onOwnThread {
            try DatabaseQueue(path: folder.file("a.sqlite")).read { db in try db.columns(in: "t").map(\.name) }
        }
        #expect(columns == ["a"])
    }

    // MARK: - Databases that can't be opened

    /// Whichever operation of the disk fails while a database is opened, the next access opens it, and the others go
    /// on.
    /// A fault may also hit the end of the log of the database that closes for it, which is no error: SQLite keeps the
    /// log.
    @Test(arguments: [FaultVFS.Operations.open, .read, .write, .sync, .lock, .sharedMemory], [true, false])
    func openingsThatFail(_ operations: FaultVFS.Operations, _ closesOther: Bool) async throws {
        let disk = try FaultVFS()
        let directory = try make { configuration in
            configuration.vfs = disk.name
            configuration.busyMode = .immediateError
        }
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await Self.insert(a, 0)
        var rows = [0]
        var (failureCount, faultCount) = (0, 0)
        for number in 1...100 {
            // Closes a.
            _ = try await Self.values(b)
            #expect(!a.isOpened)
            if !closesOther { try await b.closeAsync() }
            disk.arm(operations, nth: number)
            do {
                try await Self.insert(a, number)
                rows.append(number)
            } catch {
                failureCount += 1
            }
            let hasFailed = disk.failures > 0
            if hasFailed { faultCount += 1 }
            disk.disarm()
            // A commit whose log can't be synced may be there.
            let stored = try await Self.values(a)
            #expect(Set(stored).symmetricDifference(rows).isSubset(of: [number]), "operation \(number)")
            rows = stored
            if !hasFailed { break }
        }
        #expect(faultCount > 0)
        if !closesOther { #expect(failureCount > 0) }
        #expect(directory.statistics.openCount == 1 && directory.statistics.waitingCount == 0)
        try await directory.closeAsync()
        #expect(try folder.openFiles == [])
    }
}
