import Foundation
import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess

extension UnderLoad {
    /// The write-ahead log stays within its limit, under readers that overlap without end; and behind a forgotten
    /// snapshot, which an event names.
    @Suite struct LogSizeTests {
        private static let readerCount = 64
        private static let limit = 4 << 20

        @Test func readersThatOverlap() async throws {
            let run = try LogSizeRun(seed: StressLength.seed(of: "LogSizeTests"), limit: Self.limit)
            let end = StressLength.end(ofPart: 2)
            let readers = run.startReaders(Self.readerCount, until: end)
            try await run.write(until: end)
            for reader in readers { try await reader.value }
            let counts = run.counts.value
            print("LogSizeTests.readersThatOverlap: \(counts), \(String(describing: run.pool.walStatistics))")
            // A transaction may pass the limit. Another one may have begun before the checkpoint was in line.
            #expect(counts.largestLog < Self.limit + 2 * counts.largestTransaction + 65_536)
            #expect(counts.reads > 0 && counts.commits > 0)
            #expect(try await run.integrity() == ["ok"])
            try await onOwnThread { try run.pool.close() }
        }

        /// The log of a long import is as long as its largest transaction, and that of a snapshot grows until the
        /// snapshot is released. Then it is small again.
        @Test func forgottenSnapshotAndImport() async throws {
            let run = try LogSizeRun(seed: StressLength.seed(of: "LogSizeTests"), limit: Self.limit)
            let end = StressLength.end(ofPart: 2)
            try await run.write(until: SystemClock.monotonicNanoseconds())
            let snapshot = try await run.pool.makeSnapshotAsync(label: "forgotten")
            let before = try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM item")! }
            var count = 0
            repeat {
                // The log only grows: after a million rows it grows slowly.
                if count < 1_000_000 {
                    try await run.importRows(10_000)
                    count += 10_000
                } else {
                    try await run.importRows(10)
                    count += 10
                    _ = try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT SUM(LENGTH(b)) FROM item") }
                    _ = try await run.pool.read { db in try Int.fetchOne(db, sql: "SELECT SUM(LENGTH(b)) FROM item") }
                }
            } while SystemClock.monotonicNanoseconds() < end
            try await until("an event names the snapshot") {
                run.events.value.contains { event in
                    if case .staleReader(let reader) = event { reader.label == "forgotten" } else { false }
                }
            }
            let grown = run.logSize
            #expect(try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM item")! } == before)
            try await snapshot.closeAsync()
            run.counts.update { $0.largestLog = 0 }
            try await until("the log is small") { run.logSize <= Self.limit }
            print(
                """
                LogSizeTests.forgottenSnapshotAndImport: \(count) rows, \(grown) bytes behind the snapshot, \
                then \(run.logSize)
                """)
            for _ in 0..<10 { try await run.importRows(1_000) }
            let counts = run.counts.value
            #expect(counts.largestLog < Self.limit + 2 * counts.largestTransaction + 65_536)
            #expect(try await run.integrity() == ["ok"])
            try await onOwnThread { try run.pool.close() }
        }
    }
}

/// A database whose log is written and read at random.
private struct LogSizeRun: Sendable {
    struct Counts {
        var reads = 0
        var commits = 0
        /// Bytes.
        var largestLog = 0
        var largestTransaction = 0
    }

    let seed: UInt64
    let folder: TemporaryFolder
    let pool: DatabasePool
    let counts = Recorded(Counts())
    let events = Recorded<[WALEvent]>([])

    init(seed: UInt64, limit: Int) throws {
        self.seed = seed
        folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        configuration.maximumReaderCount = 64
        configuration.wal.sizeLimit = limit
        // Reads are short, but 64 threads share few processors.
        configuration.wal.readerWait = 30
        configuration.wal.staleReaders = .report(after: 0.5)
        configuration.onWALEvent { [events] event in events.update { $0.append(event) } }
        pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b BLOB);
                    CREATE INDEX i ON item (a);
                    """)
        }
    }

    var logSize: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.file("a.sqlite-wal"))
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    /// Starts threads that read again and again.
    func startReaders(_ count: Int, until end: UInt64) -> [OwnThread<Void>] {
        (0..<count).map { index in
            OwnThread {
                var generator = SeededGenerator(seed: seed, index: index)
                while SystemClock.monotonicNanoseconds() < end {
                    let rowCount = Int.random(in: 1...200, using: &generator)
                    try pool.read { db in
                        _ = try Row.fetchAll(
                            db, sql: "SELECT * FROM item ORDER BY a DESC LIMIT ?", arguments: [rowCount])
                    }
                    counts.update { $0.reads += 1 }
                }
            }
        }
    }

    /// Writes transactions of random size.
    func write(until end: UInt64) async throws {
        let generator = Recorded(SeededGenerator(seed: seed, index: 1_000))
        repeat {
            let count = generator.update { Int.random(in: 1...40, using: &$0) }
            try await insert(rows: count, bytes: 4_000)
        } while SystemClock.monotonicNanoseconds() < end
    }

    func importRows(_ count: Int) async throws { try await insert(rows: count, bytes: 30) }

    private func insert(rows: Int, bytes: Int) async throws {
        try await pool.writeWithoutTransaction { db in
            let before = pool.core.log.extent.pages
            try db.inTransaction {
                for _ in 0..<rows {
                    try db.execute(
                        sql: "INSERT INTO item (a, b) VALUES (random(), zeroblob(?))", arguments: [bytes])
                }
                // The file doesn't grow for ever.
                let last = db.lastInsertedRowID
                if bytes > 1_000 { try db.execute(sql: "DELETE FROM item WHERE id <= ?", arguments: [last - 50_000]) }
                return .commit
            }
            let (after, size) = (pool.core.log.extent.pages, logSize)
            counts.update { counts in
                counts.commits += 1
                counts.largestLog = max(counts.largestLog, size)
                // Where the log has begun anew, the pages of the transaction aren't known. Each has a header of 24
                // bytes.
                if before > 0, after > before {
                    counts.largestTransaction = max(counts.largestTransaction, (after - before) * (4096 + 24))
                }
            }
        }
    }

    func integrity() async throws -> [String] {
        try await pool.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") }
    }
}
