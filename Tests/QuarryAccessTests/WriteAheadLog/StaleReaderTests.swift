import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Readers that keep a log from being emptied are found, named, and ended.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct StaleReaderTests {
    private func ending(_ change: (inout Configuration) -> Void = { _ in }) throws -> LogOfTest {
        try LogOfTest {
            $0.wal.staleReaders = .end(after: 0)
            $0.label = "players"
            change(&$0)
        }
    }

    /// Lets a checkpoint find that it is held back, and the keeper look at the readers afterwards.
    private func look(_ log: LogOfTest, count: Int = 1) async throws {
        let checkpoint = try await log.checkpoint(count: count)
        #expect(checkpoint.copiedBytes < checkpoint.bytes)
        // A tick after the end of the checkpoint, maybe before this call, has ended the reader, and begun a
        // checkpoint of all.
        try await until("it is held back") { log.keeper?.isHeldBack ?? false || !log.endedReaders.isEmpty }
        _ = log.keeper?.tick()
    }

    @Test func forgottenSnapshotIsNamed() async throws {
        let log = try LogOfTest()
        try log.write()
        let line: UInt = #line + 1
        let (snapshot, labelled) = (try log.pool.makeSnapshot(), try log.pool.makeSnapshotPool(label: "report"))
        try log.write()
        try await look(log)
        #expect(log.staleReaders.map(\.kind) == [.snapshot, .snapshot])
        let place = try #require(log.staleReaders[0].label)
        #expect(place.hasSuffix("StaleReaderTests.swift:\(line)"), "\(place)")
        #expect(log.staleReaders[1].label == "report")
        #expect("\(log.staleReaders[1])".hasPrefix("the snapshot \"report\", which is "))
        _ = log.keeper?.tick()
        #expect(log.staleReaders.count == 2, "each is reported once")
        #expect(log.writer.walStatistics?.oldestReader?.label == place)
        #expect(
            try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") } == 1,
            "only reported")
        try snapshot.close()
        try labelled.close()
        #expect(log.writer.walStatistics?.oldestReader == nil, "closed readers hold nothing back")
        let count = log.checkpoints.count
        try await until("the next tick tries again") {
            _ = log.keeper?.tick()
            return log.checkpoints.count > count
        }
        #expect(log.checkpoints[count].copiedBytes == log.checkpoints[count].bytes)
        withExtendedLifetime((snapshot, labelled)) {}
    }

    /// A snapshot of the newest state holds nothing back.
    @Test func snapshotOfTheNewestStateIsNotStale() async throws {
        let log = try LogOfTest()
        try log.write()
        let snapshot = try log.pool.makeSnapshot()
        let checkpoint = try await log.checkpoint(count: 1)
        #expect(checkpoint.copiedBytes == checkpoint.bytes)
        _ = log.keeper?.tick()
        #expect(log.staleReaders.isEmpty)
        withExtendedLifetime(snapshot) {}
    }

    @Test(arguments: [true, false]) func staleSnapshotIsEnded(isPool: Bool) async throws {
        let log = try ending()
        try log.write()
        let snapshot: any DatabaseSnapshotReader =
            isPool ? try log.pool.makeSnapshotPool(label: "report") : try log.pool.makeSnapshot(label: "report")
        try log.write()
        try await look(log)
        #expect(log.endedReaders.map(\.label) == ["report"])
        #expect(log.writer.walStatistics?.endedReaderCount == 1 && log.writer.walStatistics?.oldestReader == nil)
        let checkpoint = try await log.checkpoint(count: 2)
        #expect(checkpoint.copiedBytes == checkpoint.bytes, "the log isn't held back any more")
        for error in [
            await expectError(DatabaseError.self) { try await snapshot.read { _ in } },
            try await onOwnThread { expectError(DatabaseError.self) { try snapshot.read { _ in } } },
        ] {
            #expect(error?.resultCode == .SQLITE_ABORT)
            let message = error?.message ?? ""
            #expect(message.hasPrefix("the snapshot \"report\", which is "), "\(message)")
            #expect(message.contains("kept the write-ahead log of players from being emptied"), "\(message)")
        }
        try snapshot.close()
        #expect(try await log.pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") } == 2)
    }

    @Test func staleStableReaderIsEnded() async throws {
        let log = try ending()
        let reader = try await log.pool.makeStableReader(label: "feed")
        try log.write()
        try await look(log)
        #expect(log.endedReaders.map(\.kind) == [.stableReader])
        for error in [
            await expectError(DatabaseError.self) { try await reader.read { _ in } },
            await expectError(DatabaseError.self) { try await reader.advance() },
        ] { #expect(error?.resultCode == .SQLITE_ABORT && error?.message?.contains("\"feed\"") ?? false) }
        try reader.close()
        let next = try await log.pool.makeStableReader()
        #expect(try await next.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") } == 1)
    }

    /// `advance` makes a stable reader young again.
    @Test func advancingReaderIsNotStale() async throws {
        let log = try LogOfTest { $0.wal.staleReaders = .report(after: 3600) }
        let reader = try await log.pool.makeStableReader()
        try log.write()
        let first = try #require(log.writer.walStatistics?.oldestReader)
        try await reader.advance()
        let second = try #require(log.writer.walStatistics?.oldestReader)
        #expect(first.kind == .stableReader && second.kind == .stableReader)
        let third = try #require(log.writer.walStatistics?.oldestReader)
        #expect(third.age >= second.age)
        try log.write()
        try await look(log)
        #expect(log.staleReaders.isEmpty)
    }

    /// A cursor that is forgotten in the middle of its rows, in a read that doesn't end.
    @Test(arguments: [true, false]) func staleReadIsEnded(isAsync: Bool) async throws {
        let log = try ending { $0.maximumReaderCount = 1 }
        for _ in 0..<10 { try log.write() }
        let (hasBegun, mayGoOn) = (Step("the read has begun"), Step("the read may go on"))
        let body: @Sendable (Database) throws -> [DatabaseError?] = { db in
            db.accessLabel = "forgotten cursor"
            let cursor = try Int.fetchCursor(db, sql: "SELECT rowid FROM page")
            _ = try cursor.next()
            hasBegun.reach()
            try mayGoOn.wait()
            return [
                expectError(DatabaseError.self) { while try cursor.next() != nil {} },
                expectError(DatabaseError.self) { _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") },
            ]
        }
        let read = Task {
            isAsync ? try await log.pool.read(body) : try await onOwnThread { try log.pool.read(body) }
        }
        try await hasBegun.reached()
        try log.write()
        _ = log.keeper?.tick()
        try await look(log)
        #expect(log.endedReaders.map(\.kind) == [.read] && log.endedReaders.map(\.label) == ["forgotten cursor"])
        mayGoOn.reach()
        for error in try await read.value {
            #expect(error?.resultCode == .SQLITE_ABORT)
            #expect(error?.message?.hasPrefix("the read \"forgotten cursor\", which is ") ?? false, "\(error as Any)")
            #expect(error?.sql != nil)
        }
        // The connection is as good as before.
        for _ in 0..<3 {
            #expect(try await log.pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") } == 11)
        }
    }

    /// A statement that runs for long, in SQLite.
    @Test func runningStatementIsEnded() async throws {
        let log = try ending()
        let hasBegun = Step("the statement runs")
        let read = OwnThread {
            expectError(DatabaseError.self) {
                try log.pool.read { db in
                    db.add(
                        function: DatabaseFunction("reach", argumentCount: 0) { _ in
                            hasBegun.reach()
                            return 1
                        })
                    try db.execute(
                        sql: """
                            WITH RECURSIVE n(i) AS (SELECT reach() UNION ALL SELECT i + 1 FROM n)
                            SELECT MAX(i), (SELECT COUNT(*) FROM page) FROM n
                            """)
                }
            }
        }
        try await hasBegun.reached()
        try log.write()
        _ = log.keeper?.tick()
        try await look(log)
        let error = try await read.value
        #expect(error?.resultCode == .SQLITE_ABORT && error?.message?.contains("was ended") ?? false, "\(error as Any)")
    }

    /// A reader of a backup.
    enum BackedUp: String, CaseIterable, Codable {
        case pool, snapshot, snapshotPool, stableReader, read

        var label: String? { self == .pool ? nil : self == .read ? "copy" : "report" }

        func reader(of pool: DatabasePool) throws -> any DatabaseReader {
            switch self {
            case .pool, .read: pool
            case .snapshot: try pool.makeSnapshot(label: label)
            case .snapshotPool: try pool.makeSnapshotPool(label: label)
            case .stableReader: try pool.makeStableReader(label: label)
            }
        }
    }

    /// A backup is no forgotten reader: it is named, and goes on.
    @Test(arguments: BackedUp.allCases, [true, false]) func backupsAreNotEnded(
        _ kind: BackedUp, isAsync: Bool
    ) async throws {
        let log = try ending()
        for _ in 0..<20 { try log.write(kilobytes: 8) }
        let target = log.folder.file("copy")
        let reader = try kind.reader(of: log.pool)
        let (hasBegun, mayGoOn) = (Step("some pages are copied"), Step("the keeper has looked"))
        let progress: @Sendable (DatabaseBackupProgress) throws -> Void = { _ in
            hasBegun.reach()
            try mayGoOn.wait()
        }
        let backup = Task {
            let pool = log.pool
            var options = BackupOptions()
            options.pagesPerStep = 4
            switch (kind, isAsync) {
            case (.read, true):
                try await pool.backupAsync(to: DatabaseQueue(path: target), pagesPerStep: 4, progress: progress)
            case (.read, false):
                try await onOwnThread {
                    let copy = try DatabaseQueue(path: target)
                    try copy.barrierWriteWithoutTransaction { destination in
                        try pool.read { db in
                            db.accessLabel = kind.label
                            try db.backup(to: destination, pagesPerStep: 4, progress: progress)
                        }
                    }
                }
            case (_, true): _ = try await reader.backup(toFile: target, options: options, progress: progress)
            case (_, false):
                _ = try await onOwnThread { [options] in
                    try reader.backup(toFile: target, options: options, progress: progress)
                }
            }
        }
        try await hasBegun.reached()
        try log.write()
        _ = log.keeper?.tick()
        try await look(log)
        let named = try #require(log.staleReaders.first)
        #expect(log.staleReaders.count == 1 && named.kind == .backup, "\(log.staleReaders)")
        let label = kind == .pool ? target : kind == .read && isAsync ? nil : kind.label
        #expect(named.label == label)
        #expect("\(named)".hasPrefix(label.map { "the backup \"\($0)\", which is " } ?? "the backup, which is "))
        #expect(log.writer.walStatistics?.oldestReader?.kind == .backup)
        #expect(log.endedReaders.isEmpty && log.writer.walStatistics?.endedReaderCount == 0)
        mayGoOn.reach()
        try await backup.value
        let count = try await DatabaseQueue(path: target).read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page")
        }
        #expect(count == 20)
        // A reader that the program has forgotten afterwards is ended as ever.
        guard kind != .pool, kind != .read else { return }
        try await until("the forgotten reader is ended") {
            _ = log.keeper?.tick()
            return !log.endedReaders.isEmpty
        }
        #expect(log.endedReaders.map(\.label) == ["report"] && log.staleReaders.count == 2)
        await expectError(.SQLITE_ABORT) { try await reader.read { _ in } }
    }

    /// A read that ends by itself a moment before it would be ended takes nothing from the next one.
    @Test func readsThatEndMeanwhile() async throws {
        let log = try ending { $0.maximumReaderCount = 1 }
        let isOver = Recorded(false)
        let group = log.pool.readers.group
        let error = DatabaseError(resultCode: .SQLITE_ABORT, message: "ended")
        let reader = OwnThread {
            var (count, endedCount) = (0, 0)
            while !isOver.value {
                do {
                    try log.pool.read { db in
                        // Never the error of another read.
                        for _ in 0..<3 { _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") }
                    }
                    count += 1
                } catch let error as DatabaseError where error.message == "ended" {
                    endedCount += 1
                }
            }
            return (count, endedCount)
        }
        var ended = 0
        for _ in 0..<20_000 {
            for access in group.runningAccesses where group.end(access, error) { ended += 1 }
        }
        isOver.update { $0 = true }
        let (_, seen) = try await reader.value
        #expect(seen <= ended, "\(seen) of \(ended)")
        #expect(try await log.pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") } == 0)
    }

    @Test func labelBelongsToItsAccess() async throws {
        let log = try LogOfTest { $0.maximumReaderCount = 1 }
        try await log.pool.read { db in
            #expect(db.accessLabel == nil)
            db.accessLabel = "a"
            #expect(db.accessLabel == "a")
        }
        try await log.pool.read { db in #expect(db.accessLabel == nil) }
        let outside = try await log.pool.read { db in
            // Used outside its access on purpose, which is refused.
            nonisolated(unsafe) let db = db
            return { @Sendable in
                db.accessLabel = "b"
                return db.accessLabel
            }
        }
        #expect(outside() == nil)
    }
}
