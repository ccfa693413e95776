import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import Quarry
@testable import QuarryAccess

@Suite("Migrations in tasks", .timeLimit(.minutes(2 * TestTime.factor))) struct AsyncMigrationTests {
    @Test(arguments: WriterKind.allCases) func progress(kind: WriterKind) async throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        let migrator = MigratorTests.players()
        try await onOwnThread { try migrator.migrate(writer, upTo: "v1") }
        let lines = Recorded<[String]>([])
        try await migrator.migrate(writer) { progress in
            lines.update {
                $0.append("\(progress.identifier) \(progress.index)/\(progress.count) \(progress.state)")
            }
        }
        #expect(lines.value == ["v2 1/2 begins", "v2 1/2 committed", "v3 2/2 begins", "v3 2/2 committed"])
        try await migrator.migrate(writer) { _ in Issue.record("nothing is to be done") }
        let other = Recorded<[String]>([])
        let queue = try DatabaseQueue()
        try await migrator.migrate(queue, upTo: "v2") { progress in other.update { $0.append(progress.identifier) } }
        #expect(other.value == ["v1", "v1", "v2", "v2"])
        try writer.close()
    }

    @Test(arguments: WriterKind.allCases) func withACompletion(kind: WriterKind) async throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        let count = await completion { (done: @escaping @Sendable (Result<Int, any Error>) -> Void) in
            MigratorTests.players().asyncMigrate(writer) { result in
                done(Result { try result.get().count("player") })
            }
        }
        #expect(try count.get() == 1)
        let failing = MigratorTests.players { $0.registerMigration("v4") { db in try db.execute(sql: "DROP TABLE t") } }
        let failure = await completion { (done: @escaping @Sendable (Result<Int, any Error>) -> Void) in
            failing.asyncMigrate(writer) { result in done(Result { try result.get().count("player") }) }
        }
        let error = #expect(throws: DatabaseError.self) { try failure.get() }
        #expect(error?.message == "no such table: t")
        try writer.close()
        let closed = await completion { (done: @escaping @Sendable (Result<Int, any Error>) -> Void) in
            failing.asyncMigrate(writer) { result in done(Result { try result.get().count("player") }) }
        }
        #expect(throws: DatabaseError.self) { try closed.get() }
    }

    @Test(.blocksSwiftThreads, arguments: WriterKind.allCases)
    func cancellingRollsTheRunningMigrationBack(kind: WriterKind) async throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        let runs = Step("the migration runs")
        let migrator = MigratorTests.players { migrator in
            migrator.registerMigration("v4") { db in
                try db.execute(sql: "DELETE FROM player")
                runs.reach()
                try db.runForever()
            }
        }
        let task = Task { try await migrator.migrate(writer) { _ in } }
        try await runs.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let (applied, count, checked) = try await writer.read { db in
            (
                try migrator.appliedMigrations(db), try db.count("player"),
                try Bool.fetchOne(db, sql: "PRAGMA foreign_keys")
            )
        }
        #expect(applied == ["v1", "v2", "v3"])
        #expect(count == 1)
        // A pool's reader is another connection.
        #expect(checked == true)
        let writes = try await writer.write { db in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") }
        #expect(writes == true)
        try writer.close()
    }

    @Test(arguments: WriterKind.allCases) func cancellingBetweenMigrationsKeepsTheAppliedOnes(kind: WriterKind)
        async throws
    {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        let migrator = MigratorTests.players()
        let task = Recorded<Task<Void, any Error>?>(nil)
        let isKept = Step("the task is known")
        task.update {
            $0 = Task {
                try await isKept.reached()
                try await migrator.migrate(writer) { progress in
                    if progress.identifier == "v2", progress.state == .committed { task.value?.cancel() }
                }
            }
        }
        isKept.reach()
        await #expect(throws: CancellationError.self) { try await task.value?.value }
        let applied = try await writer.read { db in try migrator.appliedMigrations(db) }
        #expect(applied == ["v1", "v2"])
        try writer.close()
    }

    @Test func waitForTheConnectionCanBeCancelled() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("db"))
        let (holds, done) = (Step("the writer is held"), Step("the writer is free"))
        let holder = OwnThread {
            try pool.writeWithoutTransaction { _ in
                holds.reach()
                try done.wait()
            }
        }
        try await holds.reached()
        let migrator = MigratorTests.players()
        // More than Swift has threads: none of them is blocked, or this test would go no further.
        let tasks = (0..<32).map { _ in Task { try await migrator.migrate(pool) { _ in } } }
        try await until("all wait") { pool.writer.group.waiterCount == 32 }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        done.reach()
        try await holder.value
        let exists = try await pool.read { db in try db.tableExists("player") }
        #expect(!exists)
    }

    // MARK: - Several connections

    @Test(arguments: ["queue", "wal", "pool"]) func concurrentMigratorsMigrateOnce(kind: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("db")
        let runs = Recorded<[String]>([])
        let (first, second) = (Step("the first migrates"), Step("the second has begun"))
        @Sendable func migrator() -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            for number in 1...5 {
                migrator.registerMigration("v\(number)") { db in
                    runs.update { $0.append("v\(number)") }
                    if number == 1 {
                        first.reach()
                        try second.wait()
                    }
                    try db.execute(sql: "CREATE TABLE t\(number) (a)")
                }
            }
            return migrator
        }
        func open(_ configuration: Configuration) throws -> any DatabaseWriter {
            var configuration = configuration
            if kind == "wal" { configuration.journalMode = .wal }
            return kind == "pool"
                ? try DatabasePool(path: path, configuration: configuration)
                : try DatabaseQueue(path: path, configuration: configuration)
        }
        var waiting = Configuration()
        waiting.busyMode = .callback { _ in
            second.reach()
            return true
        }
        let writers = try [open(Configuration()), open(waiting)]
        let threads = writers.enumerated().map { index, writer in
            OwnThread("migrator \(index)") {
                if index == 1 { try first.wait() }
                try migrator().migrate(writer)
                return try writer.read { db in try migrator().appliedMigrations(db) }
            }
        }
        for thread in threads {
            let applied = try await thread.value
            #expect(applied == ["v1", "v2", "v3", "v4", "v5"])
        }
        #expect(runs.value == ["v1", "v2", "v3", "v4", "v5"])
    }

    @Test func busyModeLimitsTheWaitForEachMigration() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("db")
        let (runs, busy) = (
            (1...2).map { Step("v\($0) runs") }, (1...2).map { Step("the other was told that v\($0) holds the lock") }
        )
        @Sendable func migrator(_ isFirst: Bool) -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            for number in 1...2 {
                migrator.registerMigration("v\(number)") { db in
                    #expect(isFirst)
                    guard isFirst else { return }
                    runs[number - 1].reach()
                    try busy[number - 1].wait()
                }
            }
            return migrator
        }
        let calls = Recorded(0)
        var impatient = Configuration()
        impatient.busyMode = .callback { _ in
            switch calls.update({ count -> Int in
                count += 1
                return count
            }) {
            case 1:
                // SQLITE_BUSY, after the other has gone on to v2.
                busy[0].reach()
                try? runs[1].wait()
                return false
            default:
                busy[1].reach()
                return true
            }
        }
        let (first, second) = (
            try DatabaseQueue(path: path, configuration: .wal), try DatabaseQueue(path: path, configuration: impatient)
        )
        let threads = [
            OwnThread { try migrator(true).migrate(first) },
            OwnThread {
                try runs[0].wait()
                try migrator(false).migrate(second)
            },
        ]
        for thread in threads { try await thread.value }
        let applied = try await second.read { db in try migrator(false).appliedMigrations(db) }
        #expect(applied == ["v1", "v2"])
    }

    @Test func aLockThatNobodyGivesBack() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("db")
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        let (holder, queue) = (
            try DatabaseQueue(path: path, configuration: configuration),
            try DatabaseQueue(path: path, configuration: configuration)
        )
        try holder.write { _ in
            _ = expectError(
                .SQLITE_BUSY, "database is locked: migration v1 could not begin", sql: "BEGIN IMMEDIATE TRANSACTION"
            ) { try MigratorTests.players().migrate(queue) }
        }
        try MigratorTests.players().migrate(queue)
    }
}

extension Configuration {
    fileprivate static var wal: Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        return configuration
    }
}

extension Database {
    fileprivate func count(_ table: String) throws -> Int {
        try Int.fetchOne(self, sql: "SELECT COUNT(*) FROM \(table)") ?? -1
    }
}
