import Dispatch
import Quarry
import QuarryCore
import QuarryReplica
import QuarryTestSupport
import Testing

@testable import QuarryAccess

extension UnderLoad {
    /// Eight writers against eight stable readers and two sequences of commits: the changes, applied to copies of the
    /// database, give the database.
    @Suite struct ReplayTests {
        @Test func replay() async throws {
            let output = try ProcessOutput()
            let seed = StressLength.seed(of: "ReplayTests")
            await #expect(processExitsWith: .success) {
                [seed = seed as UInt64, path = output.path as String] in
                ProcessOutput.go(to: path)
                do {
                    try await ReplayRun(seed: seed).run()
                } catch {
                    Issue.record("seed \(seed): \(error)")
                }
            }
            try output.show()
        }
    }
}

/// The work of the writers and followers of a database.
private struct ReplayCounts {
    var commits = 0
    var advances = 0
    var copies = 0
    var streamed = 0
    var missed = 0
    var cancelled = 0
    var vacuums = 0
}

struct ReplayRun: Sendable {
    static let writerCount = 8
    static let readerCount = 8

    let seed: UInt64
    private let counts = Recorded(ReplayCounts())

    init(seed: UInt64) { self.seed = seed }

    func run() async throws {
        Watchdog.start("ReplayTests, seed \(seed)") { [counts] in "\(counts.value)" }
        let folder = try TemporaryFolder(isFast: true)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in
            try ObservedSchema.create(db)
            try db.execute(
                sql: """
                    CREATE TABLE country (code TEXT PRIMARY KEY, n);
                    CREATE TABLE pair (a, b, n, PRIMARY KEY (b, a)) WITHOUT ROWID;
                    CREATE TABLE loose (a);
                    """)
        }
        let end = StressLength.end(ofPart: 1)
        let streams = [try ReplayStream(pool, limit: 4, counts), try ReplayStream(pool, limit: 10_000, counts)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<Self.readerCount {
                group.addTask { try await advance(pool, index, until: end) }
            }
            for index in 0..<Self.writerCount {
                group.addTask { try await write(pool, index, until: end) }
            }
            try await group.waitForAll()
        }
        for stream in streams {
            try await until("the last commit") { stream.position.value >= pool.lastCommitNumber.rawValue }
            #expect(try stream.replica.difference(from: pool) == nil, "seed \(seed)")
            stream.following.cancel()
            try await stream.following.value
        }
        let counts = counts.value
        print("ReplayTests: \(counts)")
        #expect(counts.commits > 0 && counts.advances >= Self.readerCount && counts.streamed > 0)
        try await onOwnThread { try pool.close() }
    }

    /// Writes at random. Some writes are cancelled where they happen to be.
    private func write(_ pool: DatabasePool, _ index: Int, until end: UInt64) async throws {
        var generator = SeededGenerator(seed: seed, index: index)
        let work = Recorded(ObservedWriter(seed: seed, index: index, definitionShare: 40))
        while SystemClock.monotonicNanoseconds() < end {
            if generator.isOne(in: 300) {
                try await pool.vacuum()
                counts.update { $0.vacuums += 1 }
                continue
            }
            let isTask = generator.isOne(in: 4)
            let (kind, number) = (
                Int.random(in: 0..<8, using: &generator), Int.random(in: 0..<30, using: &generator)
            )
            let writing = Task {
                try await pool.writeWithoutTransaction { db in
                    var own = work.value
                    defer { work.update { [own] in $0 = own } }
                    try change(db, kind, number)
                    if kind == 0 { return try own.changesWithoutTransaction(db) }
                    try db.beginTransaction(kind < 4 ? .immediate : .deferred)
                    let isCommitted = try own.transaction(db)
                    if isCommitted { try db.commit() }
                    return isCommitted
                }
            }
            if isTask {
                for _ in 0..<number { await Task.yield() }
                writing.cancel()
            }
            do {
                if try await writing.value { counts.update { $0.commits += 1 } }
            } catch is CancellationError {
                counts.update { $0.cancelled += 1 }
            }
        }
    }

    /// Changes tables with keys of other kinds, and keeps all tables short.
    private func change(_ db: Database, _ kind: Int, _ number: Int) throws {
        switch kind {
        case 1: try db.execute(sql: "REPLACE INTO country VALUES ('c' || \(number), random())")
        case 2: try db.execute(sql: "UPDATE OR REPLACE country SET code = 'c' || \(number) WHERE rowid = \(number / 2)")
        case 3: try db.execute(sql: "REPLACE INTO pair VALUES (\(number), 'b' || \(number % 4), random())")
        case 4: try db.execute(sql: "DELETE FROM pair WHERE a > \(number); INSERT INTO loose VALUES (\(number))")
        case 5: try db.execute(sql: "DELETE FROM loose WHERE a % 7 = \(number % 7)")
        case 6:
            for table in ["log"] + ObservedSchema.itemTables.map({ "child_\($0)" }) {
                let key = table == "log" ? "n" : "id"
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE \(key) <= (SELECT MAX(\(key)) FROM \(table)) - 100")
            }
        default: break
        }
    }

    /// Advances at random: the commits between two states, applied to the first, give the second.
    private func advance(_ pool: DatabasePool, _ index: Int, until end: UInt64) async throws {
        var generator = SeededGenerator(seed: seed, index: 100 + index)
        let reader = try await pool.makeStableReader(keys: true, bufferingAtMost: 100_000)
        let replica = try DatabaseReplica(of: reader)
        var last = reader.commitNumber.rawValue
        repeat {
            let commits = try await reader.advance()
            let number = reader.commitNumber.rawValue
            #expect(commits.map(\.number.rawValue) == Array(last..<number).map { $0 + 1 }, "seed \(seed)")
            let extent = try replica.apply(commits.changes, from: reader)
            if let difference = try replica.difference(from: reader) {
                Issue.record("seed \(seed), \(last) to \(number), \(extent): \(difference)")
                try replica.copyAll(from: reader)
            }
            counts.update {
                $0.advances += 1
                if case .wholeDatabase = extent { $0.copies += 1 }
            }
            last = number
            for _ in 0..<Int.random(in: 0..<50, using: &generator) { await Task.yield() }
        } while SystemClock.monotonicNanoseconds() < end
        try await onOwnThread { try reader.close() }
    }
}

/// A sequence of commits, each of which is applied to a copy with the rows that the database has by then.
private struct ReplayStream: Sendable {
    let replica: DatabaseReplica
    /// The number of the last commit that was applied.
    let position: Recorded<Int>
    /// Ends when it is cancelled.
    let following: Task<Void, any Error>

    init(_ pool: DatabasePool, limit: Int, _ counts: Recorded<ReplayCounts>) throws {
        // First the sequence, then the copy: no commit is in neither.
        var commits = pool.commits(keys: true, bufferingAtMost: limit).makeAsyncIterator()
        let position = Recorded(pool.lastCommitNumber.rawValue)
        let replica = try DatabaseReplica(of: pool)
        following = Task {
            while let commit = await commits.next() {
                try replica.apply(commit.changes, from: pool)
                counts.update {
                    $0.streamed += 1
                    if commit.source == .missed { $0.missed += 1 }
                }
                position.update { $0 = commit.number.rawValue }
            }
        }
        self.position = position
        self.replica = replica
    }
}
