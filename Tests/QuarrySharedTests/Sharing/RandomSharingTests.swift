import Foundation
import Quarry
import QuarryRecovery
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// 64 tasks use 8 databases through 3 names each, and one through a hard link, too: they open, close, move, copy,
/// replace, remove, restore and purge them, write and read. Other processes open two of the databases by themselves.
@Suite("Random uses of shared databases", .timeLimit(.minutes(10 * TestTime.factor)))
struct RandomSharingTests {
    /// Each row that was written is in its file, or in one that it was moved to, once. Nothing stays open.
    @Test(arguments: [UInt64.random(in: .min ... .max), 22])
    func everything(seed: UInt64) async throws { try await Self.check(seed: seed) }

    /// All databases release their memory at times. In a process of its own, because other tests count the connections
    /// and accesses of their databases.
    @Test
    func everythingWhileAllReleaseMemory() async throws {
        await #expect(processExitsWith: .success) {
            let seed = UInt64.random(in: .min ... .max)
            // An error that ends the process would not be told.
            do {
                try await Self.check(seed: seed, releasesAll: true)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    private static func check(seed: UInt64, releasesAll: Bool = false) async throws {
        let run = try RandomSharing(seed: seed, releasesAll: releasesAll)
        try await run.runTasks()
        try await until("all files are closed (seed \(seed))") { try run.folder.openFiles.isEmpty }
        let problems = try run.history.withLock { $0.problems(found: try run.findRows()) }
        #expect(problems.isEmpty, "seed \(seed): \(problems.prefix(10).joined(separator: "\n"))")
        let counts = run.history.withLock { $0.counts }
        #expect(counts.restorations > 0 && counts.processes > 0 && counts.windows > 0, "seed \(seed): \(counts)")
        #expect(counts.removals > 0 && counts.linkedUses > 0, "seed \(seed): \(counts)")
        #expect(FileManager.default.fileExists(atPath: run.folder.file("3.hard-wal")) == false, "seed \(seed)")
        for number in 0..<RandomSharing.databaseCount {
            try await until("no pool is registered (seed \(seed))") {
                !SharedFiles.all.isShared(run.folder.file("\(number).sqlite"))
            }
        }
    }
}

/// One run of the tasks.
private final class RandomSharing: Sendable {
    static let databaseCount = 8
    /// The databases that are restored, in addition. A restoration takes back the commits since its backup.
    static let restored = [6, 7]
    /// The database that is removed, in addition, with all of its rows.
    static let removed = 4
    /// The database that has a hard link, and so stays the same file.
    static let linked = 3
    /// The databases that other processes use, in addition.
    static let usedByProcesses = [5, 7]

    let folder: TemporaryFolder
    let history = Lock(RowHistory())
    private let seed: UInt64
    /// Whether `DatabaseMemory.releaseIdle` is called, which concerns all databases of the process.
    private let releasesAll: Bool
    private let configuration: Configuration
    /// A window of a database and a process that uses it exclude each other: a process that opens a file which is being
    /// moved writes into the moved file, with a log at the old path.
    private let turns = (0..<databaseCount).map { _ in Turn() }

    init(seed: UInt64, releasesAll: Bool) throws {
        self.seed = seed
        self.releasesAll = releasesAll
        folder = try TemporaryFolder(isFast: true)
        try FileManager.default.createDirectory(atPath: folder.file("moved"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a UNIQUE)") }
        }
        self.configuration = configuration
        let path = folder.file("\(Self.linked).sqlite")
        try SharedDatabase(path: path, configuration: configuration).close()
        try DatabasePool(path: path, configuration: configuration).close()
        try FileManager.default.linkItem(atPath: path, toPath: folder.file("\(Self.linked).hard"))
    }

    func runTasks() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    var generator = SeededGenerator(seed: self.seed &+ UInt64(task))
                    for step in 0..<12 { try await self.runStep("\(task)-\(step)", &generator) }
                }
            }
            // Each run has these at least.
            group.addTask {
                let (restored, process) = (Self.restored[0], Self.usedByProcesses[0])
                let steps = [
                    (1, 0, ""), (7, Self.removed, ""), (7, restored, ""), (8, process, ""), (4, Self.linked, "hard"),
                ]
                for (use, number, ending) in steps {
                    let path = self.folder.file("\(number).\(ending.isEmpty ? "sqlite" : ending)")
                    try await self.runStep(use, number, path, "certain-\(use)-\(number)")
                }
            }
            try await group.waitForAll()
        }
    }

    private func runStep(_ row: String, _ generator: inout SeededGenerator) async throws {
        let number = Int.random(in: 0..<Self.databaseCount, using: &generator)
        let alias = ["", "link/", "moved/../"][Int.random(in: 0..<3, using: &generator)]
        let isLinked = number == Self.linked && Bool.random(using: &generator)
        let path = folder.file("\(alias)\(number).\(isLinked ? "hard" : "sqlite")")
        try await runStep(Int.random(in: 0..<16, using: &generator), number, path, row)
    }

    private func runStep(_ use: Int, _ number: Int, _ path: String, _ row: String) async throws {
        let database = SharedDatabase(path: path, configuration: configuration)
        if path.hasSuffix("hard") { history.withLock { $0.counts.linkedUses += 1 } }
        do {
            try await self.use(database, use, number, path, row)
        } catch let error as DatabaseError {
            throw Failure(description: "use \(use) of \(path): \(error.extendedResultCode.rawValue), \(error)")
        }
    }

    private func use(
        _ database: SharedDatabase, _ use: Int, _ number: Int, _ path: String, _ row: String
    ) async throws {
        switch use {
        case 0: try await database.closeAsync()
        case 1 where number == Self.linked, 3 where number == Self.linked:
            try await window(number, database) { files in _ = try files.sizes() }
        case 1:
            let target = folder.file("moved/\(number)-\(row).sqlite")
            try await window(number, database) { files in
                if try files.sizes().database > 0 { try files.move(to: target) }
            }
        case 2: await database.releaseMemoryAsync()
        case 3:
            // A copy takes the place of the database it was made of.
            let copy = folder.file("copy-\(row)")
            try await window(number, database) { files in
                guard try files.sizes().database > 0 else { return }
                try files.copy(to: copy)
                try files.replace(with: copy)
            }
        case 4: try await database.open()
        case 5, 6:
            _ = try await database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        case 7 where number == Self.removed: try await remove(number, database)
        case 7 where Self.restored.contains(number): try await restore(number, database, row)
        case 8 where Self.usedByProcesses.contains(number): try await runProcess(number, path, row)
        case 9 where releasesAll: DatabaseMemory.releaseIdle()
        case 9, 10: database.releaseIdle()
        default: try await write(number, [row]) { try await database.write { db in try self.insert(row, db) } }
        }
    }

    private func insert(_ row: String, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row])
    }

    private func write(_ number: Int, _ rows: [String], _ body: () async throws -> Void) async throws {
        let start = history.withLock { $0.tick() }
        try await body()
        history.withLock { history in
            let end = history.tick()
            for row in rows { history.writes[row] = RowHistory.Write(number: number, start: start, end: end) }
        }
    }

    /// - parameter body: runs with the database closed. A database that is being backed up isn't closed.
    private func window(
        _ number: Int, _ database: SharedDatabase, _ body: @escaping @Sendable (ClosedDatabaseFiles) throws -> Void
    ) async throws {
        try await turns[number].take {
            do {
                try await database.withClosedDatabase(body)
                history.withLock { $0.counts.windows += 1 }
            } catch let error as DatabaseError where Self.restored.contains(number) {
                guard error.resultCode == .SQLITE_BUSY, error.message?.contains("backup") ?? false else { throw error }
            }
        }
    }

    private func remove(_ number: Int, _ database: SharedDatabase) async throws {
        let start = history.withLock { $0.tick() }
        try await window(number, database) { files in try files.remove() }
        history.withLock { history in
            let end = history.tick()
            history.counts.removals += 1
            history.removals.append(.init(number: number, start: start, end: end))
        }
    }

    private func restore(_ number: Int, _ database: SharedDatabase, _ row: String) async throws {
        let backup = folder.file("backup-\(row)")
        let start = history.withLock { $0.tick() }
        try await database.backup(toFile: backup)
        let backupEnd = history.withLock { $0.tick() }
        // Other tasks write, close and move the database meanwhile.
        try await database.restore(from: backup)
        history.withLock { history in
            let end = history.tick()
            history.counts.restorations += 1
            history.restorations.append(.init(number: number, start: start, backupEnd: backupEnd, end: end))
        }
    }

    private func runProcess(_ number: Int, _ path: String, _ row: String) async throws {
        let rows = (0..<3).map { "\(row)-\($0)" }
        try await turns[number].take {
            try await write(number, rows) {
                try await onOwnThread {
                    let isRestored = Self.restored.contains(number)
                    let child = try ChildProcess(["insert", path, "pool", isRestored ? "write" : "find"] + rows)
                    let exit = try child.wait()
                    guard exit.status == .code(0) else { throw Failure(description: "\(exit)") }
                }
            }
            history.withLock { $0.counts.processes += 1 }
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The rows of all files that are left.
    func findRows() throws -> [String] {
        var found: [String] = []
        for directory in [folder.path, folder.file("moved")] {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) where name.hasSuffix(".sqlite") {
                found += try DatabaseQueue(path: directory + "/" + name).read { db in
                    try String.fetchAll(db, sql: "SELECT a FROM t")
                }
            }
        }
        return found
    }
}

/// The rows that were written, and the restorations, which take back some and bring others again. The times are those
/// of a counter.
private struct RowHistory {
    struct Write {
        let number: Int
        let start: Int
        let end: Int
    }

    struct Restoration {
        let number: Int
        let start: Int
        let backupEnd: Int
        let end: Int
    }

    struct Removal {
        let number: Int
        let start: Int
        let end: Int
    }

    struct Counts {
        var windows = 0
        var removals = 0
        var linkedUses = 0
        var restorations = 0
        var processes = 0
    }

    var writes: [String: Write] = [:]
    var restorations: [Restoration] = []
    var removals: [Removal] = []
    var counts = Counts()
    private var time = 0

    mutating func tick() -> Int {
        time += 1
        return time
    }

    /// A row is in the files once. It may be missing if it was written before the end of a removal, or between a backup
    /// and the end of its restoration, and it may be there again for each restoration whose backup may have it.
    func problems(found: [String]) -> [String] {
        let counts = Dictionary(grouping: found) { $0 }.mapValues(\.count)
        var problems = counts.keys.filter { writes[$0] == nil }.map { "\($0) was never written" }
        for (row, write) in writes {
            let ofDatabase = restorations.filter { $0.number == write.number }
            let mayBeLost = ofDatabase.contains { $0.start < write.end && write.start < $0.end }
            let copyCount = ofDatabase.count { write.start < $0.backupEnd }
            let count = counts[row, default: 0]
            let mayBeRemoved = removals.contains { $0.number == write.number && write.start < $0.end }
            if count == 0, !mayBeLost, !mayBeRemoved { problems.append("\(row) of \(write.number) is lost") }
            if count > 1 + copyCount { problems.append("\(row) of \(write.number) is there \(count) times") }
        }
        return problems
    }
}

/// Lets one task after another run something.
private final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func take(_ body: () async throws -> Void) async throws {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiters.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
        defer { next() }
        try await body()
    }

    private func next() {
        let waiter = state.withLock { state in
            if state.waiters.isEmpty { state.isTaken = false }
            return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
        }
        waiter?.resume()
    }
}
