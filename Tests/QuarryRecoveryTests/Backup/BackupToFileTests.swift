import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryRecovery

@Suite struct BackupToFileTests {
    let folder: TemporaryFolder
    let target: TemporaryFolder
    var path: String { target.file("copy.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
        target = try TemporaryFolder()
    }

    @Test(arguments: WriterKind.allCases, CallForm.allCases) func copiesAsOneFile(
        kind: WriterKind, form: CallForm
    ) async throws {
        let writer = try kind.make(folder)
        try writer.makePages(300)
        let seen = Recorded<[DatabaseBackupProgress]>([])
        let result = try await writer.backup(form, toFile: path) { progress in seen.update { $0.append(progress) } }

        #expect(try target.names == ["copy.sqlite"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(Array(bytes[18...19]) == [1, 1], "not in WAL mode")
        #expect(try contents(ofFile: path) == contents(of: writer))
        #expect(result.path == path && result.byteCount == bytes.count && result.pageCount == bytes.count / 4096)
        #expect(result.duration > .zero && result.commitNumber == nil)
        #expect(seen.value.map(\.isCompleted) == seen.value.indices.map { $0 == seen.value.count - 1 })
        #expect(seen.value.count >= 2 && seen.value.last?.completedPageCount == result.pageCount)
        // Opening and reading it makes no file beside it, and a pool can have it.
        #expect(try target.names == ["copy.sqlite"])
        let pool = try DatabasePool(path: path)
        try pool.insertPage()
        #expect(try rowCount(of: pool) == 301)
    }

    @Test(arguments: CallForm.allCases) func ofPoolHasTheFirstStateWhileWritesGoOn(form: CallForm) async throws {
        for kind in [WriterKind.pool, .walQueue] {
            let writer = try kind.make(folder)
            try writer.makePages(300)
            let number = writer.lastCommitNumber
            let before = try contents(of: writer)
            var options = BackupOptions()
            options.pagesPerStep = 50
            options.replacesExisting = true
            let result = try await writer.backup(form, toFile: path, options) { _ in
                try writer.write { db in
                    try db.execute(sql: "DELETE FROM t WHERE a % 2; UPDATE t SET b = randomblob(10)")
                }
            }
            #expect(try contents(ofFile: path) == before)
            #expect(result.commitNumber == number && writer.lastCommitNumber > number)
            let state = try rowCount(of: writer)
            #expect(state == 150)
            #expect(writer.walStatistics?.oldestReader?.kind != .backup, "the backup's connection is closed")
            try writer.close()
        }
    }

    @Test(arguments: CallForm.allCases) func ofQueueHasTheLastStateAndServesAccesses(form: CallForm) async throws {
        let queue = try DatabaseQueue(path: folder.file("db"))
        try queue.makePages(300)
        _ = queue.lastCommitNumber
        var options = BackupOptions()
        options.pagesPerStep = 50
        let result = try await queue.backup(form, toFile: path, options) { progress in
            guard !progress.isCompleted else { return }
            try queue.write { db in
                try db.execute(
                    sql: """
                        UPDATE t SET b = randomblob(3800) WHERE a % 7 = 0;
                        INSERT INTO t (b) VALUES (randomblob(3900))
                        """)
            }
            // A transaction that is rolled back changes nothing, although its pages were written.
            try queue.inTransaction { db in
                try db.execute(sql: "PRAGMA cache_size = 5; UPDATE t SET b = zeroblob(3900)")
                return .rollback
            }
        }
        #expect(try contents(ofFile: path) == contents(of: queue))
        #expect(result.commitNumber == queue.lastCommitNumber && result.commitNumber! >= CommitNumber(rawValue: 5))
    }

    /// Another connection's writes make SQLite begin anew: at last the copy is made in one access.
    @Test(arguments: CallForm.allCases) func ofDisturbedQueueEnds(form: CallForm) async throws {
        let queue = try DatabaseQueue(path: folder.file("db"))
        let other = try DatabaseQueue(path: folder.file("db"))
        try queue.makePages(200)
        var options = BackupOptions()
        options.pagesPerStep = 10
        let writes = Recorded(0)
        let result = try await queue.backup(form, toFile: path, options) { progress in
            // The last access holds a lock that the other can't pass.
            guard writes.value < 4 else { return }
            writes.update { $0 += 1 }
            try other.insertPage()
        }
        #expect(writes.value == 4)
        #expect(try contents(ofFile: path) == contents(of: queue))
        #expect(result.pageCount > 200)
    }

    @Test(arguments: CallForm.allCases) func ofReadersOfOneState(form: CallForm) async throws {
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(50)
        let before = try contents(of: pool)
        let stable = try await pool.makeStableReader()
        let readers: [any DatabaseReader] = [
            try pool.makeSnapshot(), try pool.makeSnapshotPool(), stable, AnyDatabaseReader(try pool.makeSnapshot()),
        ]
        try pool.insertPage()
        for (index, reader) in readers.enumerated() {
            let file = target.file("\(index)")
            let result = try await reader.backup(form, toFile: file)
            #expect(try contents(ofFile: file) == before)
            #expect(result.commitNumber == (index == 2 ? stable.commitNumber : nil))
        }
    }

    @Test func ofSharedMemoryWhileOthersWrite() async throws {
        let queue = try DatabaseQueue(named: "backup-\(UUID())")
        try queue.makePages(20)
        let result = try await queue.backup(toFile: path)
        #expect(try contents(ofFile: path) == contents(of: queue))
        #expect(result.pageCount > 20)
    }

    @Test func numbersOfTheFileAreCopied() async throws {
        var configuration = Configuration()
        configuration.commitNumbers = .stored
        for kind in [WriterKind.fileQueue, .pool, .memoryQueue] {
            let writer = try kind.make(folder, configuration)
            try writer.makePages(3)
            let file = target.file(kind.rawValue)
            let result = try await writer.backup(toFile: file)
            #expect(result.commitNumber == writer.lastCommitNumber && result.commitNumber! > CommitNumber(rawValue: 0))
            let copy = try DatabaseQueue(path: file, configuration: configuration)
            #expect(copy.lastCommitNumber == writer.lastCommitNumber)
        }
    }

    // MARK: - Options

    @Test(arguments: CallForm.allCases) func compactCopyHasNoUnusedPages(form: CallForm) async throws {
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(200)
        try await pool.write { db in try db.execute(sql: "DELETE FROM t WHERE a > 10") }
        var options = BackupOptions()
        options.compact = true
        let result = try await pool.backup(form, toFile: path, options)
        #expect(result.pageCount < 20)
        #expect(try contents(ofFile: path) == contents(of: pool))
        #expect(try target.names == ["copy.sqlite"])
    }

    @Test(arguments: CallForm.allCases) func pausesForTheSpeed(form: CallForm) async throws {
        // Its time doesn't move: a pause is as long as the copying should have taken.
        let still = ManualMonotonicClock()
        var configuration = Configuration()
        configuration.monotonicClock = still.monotonicClock
        let pool = try DatabasePool(path: folder.file("db"), configuration: configuration)
        try pool.makePages(100)
        let pauses = Recorded<[UInt64]>([])
        var options = BackupOptions()
        options.bytesPerSecond = 400 << 10
        options.sleep = { pause in pauses.update { $0.append(pause) } }
        options.sleepAsync = { pause in pauses.update { $0.append(pause) } }
        let result = try await pool.backup(form, toFile: path, options)
        // 10 pages are 40 KiB: a tenth of a second.
        let count = (result.pageCount - 1) / 10
        #expect(count >= 10 && pauses.value == (1...count).map { UInt64($0) * 100_000_000 })
    }

    @Test func paceAsValue() {
        var options = BackupOptions()
        #expect(BackupPace(options, now: 5).pageCount(pageSize: 4096) == 256)
        options.bytesPerSecond = 1_000_000
        var pace = BackupPace(options, now: 1_000)
        #expect(pace.pageCount(pageSize: 4096) == 24)
        #expect(pace.pageCount(pageSize: 0) == 195)
        #expect(pace.pause(afterCopying: 100_000, now: 1_000) == 100_000_000)
        #expect(pace.pause(afterCopying: 100_000, now: 150_001_000) == 50_000_000)
        #expect(pace.pause(afterCopying: 0, now: 900_000_000) == 0)
        options.bytesPerSecond = 1
        #expect(BackupPace(options, now: 0).pageCount(pageSize: 4096) == 1)
    }

    @Test func uselessOptionsAreRefused() throws {
        let queue = try DatabaseQueue()
        for (pages, speed, text) in [
            (0, nil, "pagesPerStep must be at least 1, not 0"), (-1, nil, "pagesPerStep must be at least 1, not -1"),
            (1, 0, "bytesPerSecond must be at least 1, not 0"),
        ] as [(Int, Int?, String)] {
            var options = BackupOptions()
            options.pagesPerStep = pages
            options.bytesPerSecond = speed
            expectError(.SQLITE_MISUSE, "backup of :memory: to \(path): BackupOptions.\(text)") {
                try queue.backup(toFile: path, options: options)
            }
        }
        #expect(try target.names == [])
    }

    @Test func damageIsFoundUnlessUnchecked() throws {
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(50)
        try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        try pool.close()
        let file = try #require(FileHandle(forUpdatingAtPath: folder.file("db")))
        try file.seek(toOffset: 4096)
        file.write(Data(repeating: 0x55, count: 4096))
        try file.close()
        let damaged = try DatabasePool(path: folder.file("db"))
        for check in [BackupCheck.quick, .integrity] {
            var options = BackupOptions()
            options.check = check
            let error = expectError(.SQLITE_CORRUPT) { try damaged.backup(toFile: path, options: options) }
            #expect(error?.message?.hasPrefix("backup of \(damaged.path) to \(path): ") == true)
            #expect(try target.names == [])
        }
        var options = BackupOptions()
        options.check = .none
        #expect(try damaged.backup(toFile: path, options: options).pageCount > 50)
        #expect(try target.names == ["copy.sqlite"])
    }

    @Test func checkKnowsTheProgramsCollations() throws {
        var configuration = Configuration()
        let backwards = DatabaseCollation("backwards") { (a: String, b: String) in
            let (a, b) = (String(a.reversed()), String(b.reversed()))
            return a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
        }
        configuration.prepareDatabase { db in db.add(collation: backwards) }
        let queue = try DatabaseQueue(path: folder.file("db"), configuration: configuration)
        _ = queue.prepareConnections { db in
            db.add(function: DatabaseFunction("twice", argumentCount: 1, pure: true) { $0[0] })
        }
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a TEXT COLLATE backwards UNIQUE, b);
                    CREATE INDEX i ON t (twice(b));
                    INSERT INTO t VALUES ('ab', 1), ('ba', 2), ('cz', 3);
                    """)
        }
        var options = BackupOptions()
        options.check = .integrity
        options.compact = true
        #expect(try queue.backup(toFile: path, options: options).pageCount == 4)
    }

    @Test func fileHasThePermissionsOfTheDatabase() throws {
        let pool = try DatabasePool(path: folder.file("db"))
        for permissions in [0o600, 0o640, 0o666] {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: pool.path)
            for isCompact in [false, true] {
                var options = BackupOptions()
                options.replacesExisting = true
                options.compact = isCompact
                try pool.backup(toFile: path, options: options)
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == permissions)
            }
        }
    }

    // MARK: - Misuse

    @Test func insideAccesses() throws {
        let queue = try DatabaseQueue(path: folder.file("queue"))
        try queue.makePages(3)
        let pool = try DatabasePool(path: folder.file("pool"))
        try pool.makePages(3)
        expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") {
            try queue.read { _ in try queue.backup(toFile: path) }
        }
        expectError(.SQLITE_MISUSE, "a snapshot sees the last commit: it can't be made inside a transaction") {
            try pool.write { _ in try pool.backup(toFile: path) }
        }
        #expect(try target.names == [])
        try pool.read { _ in _ = try pool.backup(toFile: path) }
        try pool.writeWithoutTransaction { _ in _ = try pool.backup(toFile: target.file("other")) }
        #expect(try target.names == ["copy.sqlite", "other"])
    }

    @Test(arguments: CallForm.allCases) func twoBackupsOfOneQueue(form: CallForm) async throws {
        let queue = try DatabaseQueue(path: folder.file("queue"))
        try queue.makePages(20)
        var options = BackupOptions()
        options.pagesPerStep = 5
        _ = try await queue.backup(form, toFile: path, options) { progress in
            guard !progress.isCompleted else { return }
            expectError(
                .SQLITE_MISUSE, "backup of \(queue.path) to \(target.file("b")): a backup of \(queue.path) is under way"
            ) {
                try queue.backup(toFile: target.file("b"))
            }
        }
        #expect(try target.names == ["copy.sqlite"])
    }

    @Test(arguments: CallForm.allCases) func closingTheQueueEndsTheBackup(form: CallForm) async throws {
        let queue = try DatabaseQueue(path: folder.file("queue"))
        try queue.makePages(20)
        var options = BackupOptions()
        options.pagesPerStep = 5
        await expectError(.SQLITE_MISUSE, "Connection is closed") {
            try await queue.backup(form, toFile: path, options) { _ in try queue.close() }
        }
        #expect(try target.names == [])
    }

    @Test(arguments: CallForm.allCases) func replacingTheContentEndsTheBackupOfAQueue(form: CallForm) async throws {
        let queue = try DatabaseQueue(path: folder.file("queue"))
        try queue.makePages(20)
        try await queue.backup(toFile: target.file("first"))
        var options = BackupOptions()
        options.pagesPerStep = 5
        let error = await expectError(.SQLITE_ABORT) {
            try await queue.backup(form, toFile: path, options) { _ in try queue.restore(from: target.file("first")) }
        }
        #expect(error?.message?.contains("its content replaced") == true)
        #expect(try target.names == ["first"])
        #expect(try await queue.backup(toFile: path, options: options).pageCount > 20)
    }

    @Test func readOnlyDatabases() throws {
        try DatabasePool(path: folder.file("db")).makePages(5)
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: folder.file("db"), configuration: configuration)
        let pool = try DatabasePool(path: folder.file("db"), configuration: configuration)
        try queue.backup(toFile: path)
        try pool.backup(toFile: target.file("b"))
        #expect(try contents(ofFile: path) == contents(ofFile: target.file("b")))
    }

    @Test func exclusiveQueueInWALModeUsesItsOwnConnection() throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        }
        let queue = try DatabaseQueue(path: folder.file("db"), configuration: configuration)
        try queue.makePages(20)
        var options = BackupOptions()
        options.pagesPerStep = 5
        try queue.backup(toFile: path, options: options) { _ in try queue.insertPage() }
        #expect(try contents(ofFile: path).last == "ok")
    }
}
