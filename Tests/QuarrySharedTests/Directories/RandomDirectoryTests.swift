import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite("Random uses of a directory")
struct RandomDirectoryTests {
    /// 64 tasks and 4 threads use 40 databases, of which 6 can be open: they write, read, nest accesses, observe,
    /// close, and are cancelled. Each acknowledged write is in its database, no more are open
    /// than may be, and in the end no file is.
    @Test(arguments: [UInt64.random(in: .min ... .max), 5])
    func everything(seed: UInt64) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let written = Recorded([Int: Set<String>]())
        let attempted = Recorded([Int: Set<String>]())
        let use = Use(folder, written, attempted)
        do {
            let directory = try DatabaseDirectory(
                path: folder.path, maximumOpenCount: 6, migrator: DatabaseDirectoryTests.migrator,
                maximumThreadCount: 4)
            let threads = (0..<4).map { thread in
                OwnThread { try use.runThread(directory, SeededGenerator(seed: seed &- UInt64(thread) &- 1)) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<64 {
                    group.addTask {
                        try await use.runTask(directory, task, SeededGenerator(seed: seed &+ UInt64(task)))
                    }
                }
                try await group.waitForAll()
            }
            for thread in threads { try await thread.value }
            // Six, and one for each nested access of the four threads.
            #expect(use.maximumOpenCount.value <= 10, "seed \(seed)")
            try await until("no database is beyond the limit (seed \(seed))") {
                let statistics = directory.statistics
                return statistics.openCount <= 6 && statistics.closingCount == 0 && statistics.waitingCount == 0
            }
            // Four that run, and one for each place whose file is still open in its previous object.
            #expect(directory.threadCount <= 10)
            let statistics = directory.statistics
            #expect(statistics.evictedCount > 0)
            #expect(statistics.total.transactions.committed >= written.value.values.map(\.count).reduce(0, +))
            try await directory.closeAsync()
            #expect(try folder.openFiles == [], "seed \(seed)")
        }
        let directory = try DatabaseDirectory(path: folder.path, maximumOpenCount: 1)
        for number in 0..<40 {
            let rows = try await directory.database(named: "\(number)").read { db in
                try db.tableExists("u") ? Set(String.fetchAll(db, sql: "SELECT b FROM u")) : []
            }
            #expect(rows.isSuperset(of: written.value[number] ?? []), "seed \(seed)")
            #expect(rows.isSubset(of: attempted.value[number] ?? []), "seed \(seed)")
        }
    }

    /// The work of the tasks and threads.
    private struct Use: Sendable {
        let folder: TemporaryFolder
        let written: Recorded<[Int: Set<String>]>
        let attempted: Recorded<[Int: Set<String>]>
        /// The most databases of which a file was open.
        let maximumOpenCount = Recorded(0)

        init(
            _ folder: TemporaryFolder, _ written: Recorded<[Int: Set<String>]>,
            _ attempted: Recorded<[Int: Set<String>]>
        ) {
            self.folder = folder
            self.written = written
            self.attempted = attempted
        }

        private static func insert(_ db: Database, _ row: String) throws {
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS u (b UNIQUE)")
            try db.execute(sql: "INSERT INTO u VALUES (?)", arguments: [row])
        }

        private func countOpenDatabases() throws {
            let count = Set(try folder.filesOpenAtOnce.filter { $0.hasSuffix(".sqlite") }).count
            maximumOpenCount.update { $0 = max($0, count) }
        }

        func runTask(_ directory: DatabaseDirectory, _ task: Int, _ seeded: SeededGenerator) async throws {
            var generator = seeded
            for step in 0..<20 {
                let number = Int.random(in: 0..<40, using: &generator)
                let database = try directory.database(named: "\(number)")
                let row = "\(task)-\(step)"
                if step % 4 == 0 { try countOpenDatabases() }
                switch Int.random(in: 0..<10, using: &generator) {
                case 0: try await database.closeAsync()
                case 1:
                    // Cancelled at some moment: the write is in the database, or it isn't.
                    attempted.update { _ = $0[number, default: []].insert(row) }
                    let write = Task { try await database.write { db in try Self.insert(db, row) } }
                    for _ in 0..<Int.random(in: 0..<4, using: &generator) { await Task.yield() }
                    write.cancel()
                    do {
                        try await write.value
                        written.update { _ = $0[number, default: []].insert(row) }
                    } catch is CancellationError {}
                case 2:
                    for try await _ in ValueObservation.tracking({ db in try db.tableExists("u") }).values(in: database)
                    {
                        break
                    }
                case 3, 4: _ = try await database.read { db in try db.tableExists("u") }
                case 5: directory.releaseIdle()
                case 6: try await database.withClosedDatabase { files in _ = try files.sizes() }
                default:
                    attempted.update { _ = $0[number, default: []].insert(row) }
                    try await database.write { db in try Self.insert(db, row) }
                    written.update { _ = $0[number, default: []].insert(row) }
                }
            }
        }

        func runThread(_ directory: DatabaseDirectory, _ seeded: SeededGenerator) throws {
            var generator = seeded
            for _ in 0..<20 {
                // A nested access doesn't wait for the end of a closing: the database that this thread has left would
                // be one more that is open.
                try spin(until: "no database is beyond the limit") {
                    let statistics = directory.statistics
                    return statistics.openCount + statistics.closingCount <= 6
                }
                let outer = try directory.database(named: "\(Int.random(in: 0..<20, using: &generator))")
                let inner = try directory.database(named: "\(Int.random(in: 20..<40, using: &generator))")
                try outer.read { _ in try inner.read { db in _ = try db.tableExists("t") } }
            }
        }
    }
}
