import Foundation
import Quarry
import QuarryIncrementalWrites
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Everything that the library can do with a database, at once, in a directory with few places.
@Suite("Hostile uses of a directory")
struct DirectoryHostilityTests {
    /// Each access ends, no acknowledged row is lost, and in the end no file is open.
    ///
    /// 24 tasks and 4 threads use 8 databases. An access that is never woken fails with a timeout.
    @Test(arguments: [(1, UInt64.random(in: .min ... .max)), (2, .random(in: .min ... .max)), (1, 7)])
    func everythingAtOnce(maximumOpenCount: Int, seed: UInt64) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let use = Use(folder: folder, seed: seed)
        do {
            var configuration = Configuration()
            configuration.acquireTimeout = 110 * Double(TestTime.factor)
            let directory = try DatabaseDirectory(
                path: folder.path, maximumOpenCount: maximumOpenCount, configuration: configuration,
                migrator: DatabaseDirectoryTests.migrator, maximumThreadCount: 2)
            let threads = (0..<4).map { number in
                OwnThread {
                    var generator = SeededGenerator(seed: seed &- UInt64(number) &- 1)
                    for _ in 0..<20 { use.tolerating { try use.runThread(directory, &generator) } }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        var generator = SeededGenerator(seed: seed &+ UInt64(number))
                        for step in 0..<15 {
                            let kind = Int.random(in: 0..<12, using: &generator)
                            let name = "\(Int.random(in: 0..<8, using: &generator))"
                            let yieldCount = Int.random(in: 0..<6, using: &generator)
                            let task = Task {
                                try await use.runTask(directory, name, kind, row: 1_000 * (number + 1) + step)
                            }
                            // Some are cancelled at some moment.
                            if yieldCount < 4 {
                                for _ in 0..<yieldCount { await Task.yield() }
                                task.cancel()
                            }
                            do { try await task.value } catch { use.check(error) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for thread in threads { try await thread.value }
            try await until("no database is beyond the limit (seed \(seed))") {
                let statistics = directory.statistics
                return statistics.openCount <= maximumOpenCount && statistics.closingCount == 0
                    && statistics.waitingCount == 0
            }
            try await directory.closeAsync()
            for (name, rows) in use.rows.value {
                let database = try directory.database(named: name)
                let stored = try await database.read { db in try Set(Int.fetchAll(db, sql: "SELECT a FROM t")) }
                #expect(stored.isSuperset(of: rows), "seed \(seed)")
            }
        }
        try await until("all files are closed (seed \(seed))") { try folder.openFiles == [] }
    }

    private struct Use: Sendable {
        let folder: TemporaryFolder
        let seed: UInt64
        let rows = Recorded<[String: Set<Int>]>([:])

        func check(_ error: any Error) {
            if error is CancellationError { return }
            if let error = error as? DatabaseError {
                if error.message?.hasPrefix("timeout") == true { Issue.record(error, "seed \(seed)") }
                switch error.resultCode.primaryResultCode {
                // A database that closes, is interrupted, or has a snapshot.
                case .SQLITE_MISUSE, .SQLITE_INTERRUPT, .SQLITE_BUSY, .SQLITE_ABORT: return
                default: break
                }
            }
            Issue.record(error, "seed \(seed)")
        }

        func tolerating(_ body: () throws -> Void) {
            do { try body() } catch { check(error) }
        }

        static func insert(_ db: Database, _ row: Int) throws {
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row])
        }

        func runTask(_ directory: DatabaseDirectory, _ name: String, _ kind: Int, row: Int) async throws {
            let database = try directory.database(named: name)
            switch kind {
            case 0...2:
                try await database.write { db in try Self.insert(db, row) }
                rows.update { _ = $0[name, default: []].insert(row) }
            case 3:
                let result = try await database.writeWithCommitNumber { db in try Self.insert(db, row) }
                rows.update { _ = $0[name, default: []].insert(row) }
                try await database.waitForCommit(result.commitNumber)
            case 4:
                try await database.barrierWriteWithoutTransaction { db in
                    _ = try Int.fetchAll(db, sql: "SELECT a FROM t")
                }
            case 5:
                _ = try await database.writeIncrementally { step in
                    _ = try Int.fetchOne(step.db, sql: "SELECT COUNT(*) FROM t")
                    return .done
                }
            case 6:
                let values = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                for try await _ in values.values(in: database) { break }
            case 7: try await database.backupAsync(to: directory.database(named: "copy-\(name)"))
            case 8:
                let snapshot = try await database.makeSnapshotAsync()
                _ = try await snapshot.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") }
            case 9:
                try await database.withClosedDatabase { files in
                    _ = try files.sizes()
                    try directory.database(named: "inner-\(name)").read { _ in }
                }
            case 10: try await database.close(gracePeriod: .milliseconds(5))
            default:
                database.asyncRead { _ in }
                try await database.closeAsync()
            }
        }

        func runThread(_ directory: DatabaseDirectory, _ generator: inout SeededGenerator) throws {
            let number = Int.random(in: 0..<8, using: &generator)
            let (database, inner) = (try directory.database(named: "\(number)"), "inner-\(number)")
            switch Int.random(in: 0..<9, using: &generator) {
            case 0: try database.unsafeReentrantWrite { _ in try directory.database(named: inner).write { _ in } }
            case 1: try database.write(timeout: .seconds(60)) { _ in }
            case 2:
                let blockade = try database.blockade()
                try directory.database(named: inner).write { _ in }
                blockade.end()
            case 3:
                try database.writeWithoutTransaction { db in
                    database.pool.asyncConcurrentRead { _ in }
                    _ = try Int.fetchAll(db, sql: "SELECT a FROM t")
                }
            case 4: database.interrupt()
            case 5:
                database.releaseMemory()
                directory.releaseIdle()
            case 6:
                let reader = try database.pool.makeStableReader()
                try reader.read { _ in try directory.database(named: inner).read { _ in } }
            case 7: try directory.close()
            default:
                // Several threads make a database at once, and each releases its object before the access ends.
                try directory.database(named: "new-\(number)").read { _ in }
                try directory.remove("new-\(number)")
            }
        }
    }
}
