import BenchSupport
import Dispatch
import Foundation
import Quarry
import Synchronization

/// Rows 10.7 to 10.13: commits as a sequence, and states that stay.
enum CommitWorkloads {
    static func workload(for task: BenchTask, _ fixtures: Fixtures) throws -> Workload? {
        switch task {
        case .writeForReaderOfTables: try write(fixtures, readerCount: 1, keys: false)
        case .writeForTenReadersOfTables: try write(fixtures, readerCount: 10, keys: false)
        case .writeForHundredReadersOfTables: try write(fixtures, readerCount: 100, keys: false)
        case .writeForReaderOfKeys: try write(fixtures, readerCount: 1, keys: true)
        case .writeForTenReadersOfKeys: try write(fixtures, readerCount: 10, keys: true)
        case .writeForHundredReadersOfKeys: try write(fixtures, readerCount: 100, keys: true)
        case .advanceOverCommits: try advance(fixtures)
        default: nil
        }
    }

    /// Writes while tasks read the commits. The writes are measured; after the pass, each task has read them all.
    private static func write(_ fixtures: Fixtures, readerCount: Int, keys: Bool) throws -> Workload {
        let pool = try makePool(fixtures)
        let reachedEnd = DispatchSemaphore(value: 0)
        let readers = (0..<readerCount).map { _ in
            Reader(of: pool.commits(keys: keys, bufferingAtMost: 100_000)) { reachedEnd.signal() }
        }
        let written = Count()
        return Workload(
            .sync { range in
                for _ in range {
                    try pool.write { db in try db.cachedStatement(sql: BenchSQL.raiseObserved).execute() }
                }
                written.add(range.count)
                return range.count
            },
            finish: {
                let score = try finish(pool)
                written.add(1)
                for _ in 0..<readerCount { reachedEnd.wait() }
                return score
            },
            settle: {
                for reader in readers { reader.waitUntilRead(written.value) }
            })
    }

    private static func advance(_ fixtures: Fixtures) throws -> Workload {
        // SQLite's own checkpoints, as in C. The library's run on another thread, and so does the watch of other
        // processes: their allocations would be counted by chance.
        var configuration = Configuration()
        configuration.wal = .unmanaged
        configuration.otherProcesses = .ignored
        let pool = try makePool(fixtures, configuration)
        let reader = try pool.makeStableReader(keys: true)
        return Workload(
            .sync { range in
                var count = 0
                for _ in range {
                    for _ in 0..<BenchSQL.commitCount {
                        try pool.write { db in try db.cachedStatement(sql: BenchSQL.raiseObserved).execute() }
                    }
                    count += try reader.advance().count
                }
                return count
            },
            finish: {
                let score = try finish(pool)
                try reader.advance()
                return score
            })
    }

    private static func makePool(
        _ fixtures: Fixtures, _ configuration: Configuration = Configuration()
    ) throws -> DatabasePool {
        let pool = try DatabasePool(path: fixtures.newPath(), configuration: configuration)
        try pool.write { db in
            try db.execute(sql: BenchSQL.createObserved)
            try db.execute(sql: BenchSQL.insertObserved)
        }
        return pool
    }

    private static func finish(_ pool: DatabasePool) throws -> Int {
        try pool.write { db in
            db.commitOrigin = "end"
            let score = try Int.fetchOne(db, sql: BenchSQL.selectObserved) ?? 0
            try db.execute(sql: BenchSQL.resetObserved)
            return score
        }
    }
}

/// A task that reads commits, and ends with the workload.
private final class Reader: Sendable {
    private let task: Task<Void, Never>
    private let count: Count

    init(of commits: DatabaseCommits, atEnd reachEnd: @escaping @Sendable () -> Void) {
        let count = Count()
        let iterator = commits.makeAsyncIterator()
        self.count = count
        task = Task {
            var commits = iterator
            // As `for await` does.
            while let commit = await commits.next(isolation: #isolation) {
                count.add(1)
                if commit.origin == "end" { reachEnd() }
            }
        }
    }

    deinit { task.cancel() }

    func waitUntilRead(_ written: Int) {
        while count.value < written { sched_yield() }
    }
}

/// A number of commits.
private final class Count: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .acquiring) }

    func add(_ commits: Int) { number.add(commits, ordering: .releasing) }
}
