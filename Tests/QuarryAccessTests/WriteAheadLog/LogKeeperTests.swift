import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Logs are copied and emptied by the connection that writes.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct LogKeeperTests {
    @Test(arguments: LogOfTest.kinds) func idleLogIsCopied(kind: WriterKind) async throws {
        let log = try LogOfTest(kind)
        try log.write()
        let checkpoint = try await log.checkpoint(count: 1)
        #expect(checkpoint.reason == .idle && !checkpoint.isEmptied)
        #expect(checkpoint.bytes > 0 && checkpoint.copiedBytes == checkpoint.bytes)
        try await until("the keeper is told") { log.writer.walStatistics?.lastCheckpoint != nil }
        let statistics = try #require(log.writer.walStatistics)
        #expect(statistics.bytes == checkpoint.bytes && statistics.commitCount == 2)
        #expect(statistics.checkpointCount == 1 && statistics.emptyingCount == 0 && statistics.failureCount == 0)
        // A copy of the file alone has everything.
        try FileManager.default.copyItem(atPath: log.folder.file("db"), toPath: log.folder.file("copy"))
        let copy = try DatabaseQueue(path: log.folder.file("copy"))
        #expect(try await copy.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") } == 1)
    }

    @Test func clockTicksByItself() async throws {
        let log = try LogOfTest(clock: .logs)
        try await until("a checkpoint") { log.checkpoints.count == 1 }
        try log.write()
        try await until("another checkpoint") { log.checkpoints.count == 2 }
    }

    /// A log that has grown while a reader used it is cut when it is idle.
    @Test func idleLogIsCut() async throws {
        let log = try LogOfTest()
        let snapshot = try log.pool.makeSnapshot()
        for _ in 0..<60 { try log.write(kilobytes: 100) }
        try snapshot.close()
        #expect(log.fileSize > 5 << 20)
        let checkpoint = try await log.checkpoint(count: 1)
        #expect(checkpoint.reason == .idle && checkpoint.isEmptied && checkpoint.bytes == 0)
        #expect(log.fileSize == 0)
    }

    @Test(arguments: LogOfTest.kinds) func largeLogIsEmptied(kind: WriterKind) async throws {
        let log = try LogOfTest(kind) { $0.wal.sizeLimit = 100_000 }
        for count in 1...5 {
            while log.checkpoints.filter({ $0.reason == .size }).count < count {
                try log.write(kilobytes: 20)
                // A commit passes the limit; a second one may have begun before the checkpoint had its place in line.
                try #require(log.fileSize < 100_000 + 2 * 40_000, "\(log.fileSize)")
            }
        }
        #expect(log.checkpoints.contains { $0.isEmptied })
        let limit = try await log.writer.writeWithoutTransaction { db in
            try Int.fetchOne(db, sql: "PRAGMA journal_size_limit")
        }
        #expect(limit == 100_000)
    }

    /// Reads that overlap without end would let the log grow without end. New reads don't use a log that is copied, so
    /// the wait for the others ends.
    @Test func readersThatOverlap() async throws {
        let log = try LogOfTest {
            $0.wal.sizeLimit = 200_000
            $0.wal.readerWait = 60
            $0.asyncExecution = .offloaded
        }
        let isOver = Recorded(false)
        let readers = (0..<4).map { _ in
            OwnThread {
                var count = 0
                while !isOver.value {
                    try log.pool.read { db in count += try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page")! }
                }
            }
        }
        var largest = 0
        try await onOwnThread {
            for _ in 0..<200 {
                try log.write(kilobytes: 20)
            }
        }
        largest = log.fileSize
        isOver.update { $0 = true }
        for reader in readers { _ = try await reader.value }
        // At most a write comes before the checkpoint that is due: it has a place in the writer's line.
        #expect(largest < 200_000 + 100_000, "\(largest)")
        #expect(log.checkpoints.contains { $0.isEmptied })
    }

    @Test func readThatHoldsALargeLogBackIsNamed() async throws {
        let log = try LogOfTest {
            $0.wal.sizeLimit = 50_000
            $0.wal.readerWait = 0
            $0.wal.staleReaders = .ignore
        }
        let (hasBegun, mayEnd) = (Step("the read has begun"), Step("the read may end"))
        let reader = OwnThread {
            try log.pool.read { db in
                db.accessLabel = "nightly report"
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        // The keeper sees it.
        _ = log.keeper?.tick()
        let largeLogs: @Sendable () -> [(Int, [WALReader])] = {
            log.events.value.compactMap {
                if case .logIsLarge(let bytes, let readers) = $0 { (bytes, readers) } else { nil }
            }
        }
        for _ in 0..<10 { try log.write(kilobytes: 20) }
        while largeLogs().isEmpty {
            log.keeper?.readerDidEnd()
            _ = log.keeper?.tick()
            await Task.yield()
        }
        let (bytes, readers) = largeLogs()[0]
        #expect(bytes > 50_000 && readers.map(\.kind) == [.read] && readers[0].label == "nightly report")
        #expect(log.writer.walStatistics?.oldestReader?.label == "nightly report")
        #expect(log.staleReaders.isEmpty, "they are ignored")
        mayEnd.reach()
        _ = try await reader.value
    }

    /// SQLite's own settings stay the program's.
    @Test func pragmasOfTheProgramStay() async throws {
        let log = try LogOfTest {
            $0.wal.sizeLimit = 50_000
            $0.prepareDatabase { db in
                guard !db.configuration.readonly else { return }
                try db.execute(sql: "PRAGMA journal_size_limit = 1234; PRAGMA wal_autocheckpoint = 0")
            }
        }
        for _ in 0..<10 { try log.write(kilobytes: 20) }
        try await log.writer.writeWithoutTransaction { db throws in
            #expect(try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint") == 0)
        }
        _ = log.keeper?.tick()
        // Behind the checkpoint that isn't run.
        try await log.writer.barrierWriteWithoutTransaction { db throws in
            #expect(try Int.fetchOne(db, sql: "PRAGMA journal_size_limit") == 1234)
            let (pages, copied) = try db.checkpoint(.passive)
            #expect(pages > 50 && copied == pages)
        }
        #expect(log.checkpoints.isEmpty, "a program that turns them off runs its own")
        try await log.writer.writeWithoutTransaction { db throws in
            #expect(try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint = 77") == 77)
            #expect(try Int.fetchOne(db, sql: "pragma  main.WAL_autocheckpoint") == 77)
        }
    }

    /// A checkpoint doesn't wait for readers as long as the program's busy timeout says.
    @Test func busyTimeoutOfTheProgramStays() async throws {
        let log = try LogOfTest {
            $0.wal.sizeLimit = 50_000
            $0.wal.readerWait = 0
            $0.prepareDatabase { db in try db.execute(sql: "PRAGMA busy_timeout = 600000") }
        }
        let snapshot = try log.pool.makeSnapshot()
        for _ in 0..<10 { try log.write(kilobytes: 20) }
        try await until("a checkpoint") { !log.checkpoints.isEmpty }
        #expect(!log.checkpoints[0].isEmptied)
        try await log.writer.writeWithoutTransaction { db throws in
            #expect(try Int.fetchOne(db, sql: "PRAGMA busy_timeout") == 600_000)
        }
        withExtendedLifetime(snapshot) {}
    }

    @Test func unmanagedLogIsLeftToSQLite() throws {
        let log = try LogOfTest { $0.wal = .unmanaged }
        for _ in 0..<60 { try log.write(kilobytes: 100) }
        #expect(log.keeper == nil && log.writer.walStatistics == nil && log.events.value.isEmpty)
        #expect(log.fileSize < 5 << 20, "its automatic checkpoints go on")
    }

    @Test func databaseWithoutALogHasNoKeeper() throws {
        let folder = try TemporaryFolder()
        let memory = try DatabaseQueue()
        let file = try DatabaseQueue(path: folder.file("a"))
        for queue in [memory, file] {
            try queue.write { db in try db.execute(sql: "CREATE TABLE page (a)") }
            #expect(queue.core.logKeeper == nil && queue.walStatistics == nil)
            #expect(try queue.maintain() == nil)
        }
        // A queue on a file that has been in WAL mode keeps its log.
        try file.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = WAL") }
        try file.close()
        let again = try DatabaseQueue(path: folder.file("a"))
        try again.write { db in try db.execute(sql: "INSERT INTO page VALUES (1)") }
        #expect(again.walStatistics?.commitCount == 1)
    }

    /// A checkpoint that waits in line when the database is closed or released isn't run, and nothing is left.
    @Test(arguments: LogOfTest.kinds, [true, false]) func closing(kind: WriterKind, isClosed: Bool) async throws {
        let released = WeakKeeper()
        do {
            let log = try LogOfTest(kind)
            try log.write()
            let keeper = log.keeper
            released.keeper.update { $0.object = keeper }
            _ = keeper?.tick()
            if isClosed {
                try log.writer.close()
                #expect(keeper?.tick() == false)
                #expect(!log.events.value.contains { if case .failed = $0 { true } else { false } })
            }
        }
        try await until("the keeper is released") { released.keeper.value.object == nil }
    }

    private struct WeakKeeper: Sendable {
        struct Reference: Sendable {
            weak var object: LogKeeper?
        }

        let keeper = Recorded(Reference())
    }

    /// An observation that starts while a checkpoint runs isn't told of a commit: the checkpoint changes nothing.
    @Test func checkpointIsNoCommit() async throws {
        let log = try LogOfTest()
        let (hasBegun, mayGoOn) = (Step("the access has begun"), Step("the access may go on"))
        let pool = log.pool
        let access = OwnThread {
            try pool.writeWithoutTransaction { db in
                pool.core.log.noteCheckpoint(of: db)
                hasBegun.reach()
                try mayGoOn.wait()
            }
        }
        try await hasBegun.reached()
        _ = pool.lastCommitNumber
        mayGoOn.reach()
        try await access.value
        #expect(pool.lastCommitNumber.rawValue == 0)
        try log.write()
        #expect(pool.lastCommitNumber.rawValue == 1, "later commits are counted")
    }

    /// The looks for commits of other processes take none of these checkpoints for one.
    @Test(arguments: LogOfTest.kinds, [1 << 30, 60_000]) func checkpointsAreNoCommits(
        kind: WriterKind, sizeLimit: Int
    ) async throws {
        let log = try LogOfTest(kind) { $0.wal.sizeLimit = sizeLimit }
        #expect(log.writer.lastCommitNumber.rawValue == 0)
        for number in 1...20 {
            try log.write(kilobytes: 20)
            let count = log.checkpoints.count
            try await until("a checkpoint") {
                log.keeper?.readerDidEnd()
                _ = log.keeper?.tick()
                return log.checkpoints.count > count
            }
            if number % 5 == 0 { try await log.writer.maintain() }
            _ = try await log.writer.writeWithoutTransaction { db in db.noteOtherCommits() }
            #expect(log.writer.lastCommitNumber.rawValue == number)
        }
    }

    @Test func accessThatBeganBeforeMayHaveCommitted() async throws {
        let log = try LogOfTest()
        let (hasBegun, mayGoOn) = (Step("the access has begun"), Step("the access may go on"))
        let access = OwnThread {
            try log.pool.writeWithoutTransaction { _ in
                hasBegun.reach()
                try mayGoOn.wait()
            }
        }
        try await hasBegun.reached()
        _ = log.pool.lastCommitNumber
        mayGoOn.reach()
        try await access.value
        #expect(log.pool.lastCommitNumber.rawValue == 1)
    }

    /// The program may use the database where it is told of an event.
    @Test func handlerMayWrite() async throws {
        let database = Recorded<DatabasePool?>(nil)
        let hasWritten = Step("the handler has written")
        let log = try LogOfTest {
            $0.onWALEvent { _ in
                guard let pool = database.update({ $0.take() }) else { return }
                try? pool.write { db in try db.execute(sql: "INSERT INTO page VALUES ('handler')") }
                hasWritten.reach()
            }
        }
        database.update { $0 = log.pool }
        try await until("the handler has written") {
            _ = log.keeper?.tick()
            return hasWritten.isReached
        }
    }

    @Test func badSettingsAreRefused() {
        let changes: [(inout Configuration) -> Void] = [
            { $0.wal.sizeLimit = -1 }, { $0.wal.idleDelay = -1 }, { $0.wal.ageLimit = .nan },
            { $0.wal.readerWait = -0.5 }, { $0.wal.staleReaders = .end(after: -1) },
            { $0.maintenance.interval = -1 }, { $0.maintenance.timeBudget = .nan },
        ]
        for change in changes {
            let error = expectError(DatabaseError.self) {
                _ = try LogOfTest { change(&$0) }
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message?.hasPrefix("Configuration.") ?? false, "\(error as Any)")
        }
    }
}
