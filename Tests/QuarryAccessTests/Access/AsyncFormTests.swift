import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Opening, closing, copying and their kin, by tasks: they wait by suspension, and can be cancelled while they do.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct AsyncFormTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func pool(_ name: String = "a.sqlite", _ values: Int...) throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file(name))
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER)")
            for value in values { try db.insert(value) }
        }
        return pool
    }

    /// Runs an access until a step is reached.
    private func hold(_ isWrite: Bool, _ writer: any DatabaseWriter, until mayEnd: Step) async throws -> OwnThread<Void>
    {
        let hasBegun = Step("an access goes on")
        let holder = OwnThread {
            let body: (Database) throws -> Void = { _ throws in
                hasBegun.reach()
                try mayEnd.wait()
            }
            isWrite ? try writer.writeWithoutTransaction(body) : try writer.unsafeRead(body)
        }
        try await hasBegun.reached()
        return holder
    }

    // MARK: - Closing

    @Test(arguments: WriterKind.allCases) func closing(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        var readers: [any DatabaseReader] = [writer]
        if let pool = writer as? DatabasePool { readers += [try pool.makeSnapshot(), try pool.makeSnapshotPool()] }
        for reader in readers {
            try await reader.closeAsync()
            try await reader.closeAsync()
            try reader.close()
            await expectError(.SQLITE_MISUSE, "Connection is closed") { try await reader.read { _ in } }
        }
    }

    @Test(arguments: WriterKind.allCases) func closingWithStatementsLeft(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        do {
            let statement = try onThisThread { try writer.write { db in try db.makeStatement(sql: "SELECT 1") } }
            await expectError(.SQLITE_BUSY) { try await writer.closeAsync() }
            try await writer.write { db in try db.insert(2) }
            #expect(try await writer.read { db in try db.values() } == [1, 2])
            _ = consume statement
        }
        try await writer.closeAsync()
    }

    private func onThisThread<T>(_ body: () throws -> T) rethrows -> T { try body() }

    /// Closing waits for the writer, then for the readers, and can be cancelled at both; the pool goes on.
    @Test(arguments: [true, false]) func closingIsCancelled(besideAWrite: Bool) async throws {
        let pool = try pool("a.sqlite", 1)
        let mayEnd = Step("closing is cancelled")
        let holder = try await hold(besideAWrite, pool, until: mayEnd)
        let closing = Task { try await pool.closeAsync() }
        let group = besideAWrite ? pool.writer.group : pool.readers.group
        try await expectCancellation(closing, "closing") { group.waiterCount == 1 }
        if !besideAWrite { try await pool.write { db in try db.insert(2) } }
        mayEnd.reach()
        try await holder.value
        try await pool.write { db in try db.insert(3) }
        #expect(try await pool.read { db in try db.values() }.count == (besideAWrite ? 2 : 3))
        try await pool.closeAsync()
    }

    @Test func closingIsCancelledBeforeItBegins() async throws {
        let pool = try pool("a.sqlite", 1)
        let mayBegin = Step("the task is cancelled")
        let closing = Task {
            try? await mayBegin.reached()
            try await pool.closeAsync()
        }
        closing.cancel()
        mayBegin.reach()
        await #expect(throws: CancellationError.self) { try await closing.value }
        #expect(try await pool.read { db in try db.values() } == [1])
    }

    /// Tasks and threads that close at one time all end, and those that wait behind them are told.
    @Test func manyClose() async throws {
        let pool = try pool("a.sqlite", 1)
        let mayEnd = Step("all wait")
        let holder = try await hold(true, pool, until: mayEnd)
        let waiting = Task { await expectError(DatabaseError.self) { try await pool.write { _ in } } }
        try await until("a write waits") { pool.writer.group.waiterCount == 1 }
        let tasks = (0..<8).map { _ in Task { try await pool.closeAsync() } }
        let threads = (0..<2).map { _ in OwnThread { try pool.close() } }
        try await until("all wait") { pool.writer.group.waiterCount == 11 }
        mayEnd.reach()
        try await holder.value
        for task in tasks { try await task.value }
        for thread in threads { try await thread.value }
        #expect(await waiting.value?.message == "Connection is closed")
    }

    // MARK: - Memory

    @Test func releasingMemory() async throws {
        let pool = try pool("a.sqlite", 1)
        _ = try await pool.read { db in try db.values() }
        #expect(pool.readers.group.connectionCount == 1)
        await pool.releaseMemoryAsync()
        #expect(pool.readers.group.connectionCount == 0)
        let queue = try DatabaseQueue()
        await queue.releaseMemoryAsync()
        for isWrite in [true, false] {
            _ = try await pool.read { db in try db.values() }
            let mayEnd = Step("it has given up")
            let holder = try await hold(isWrite, pool, until: mayEnd)
            let releasing = Task { await pool.releaseMemoryAsync() }
            let group = isWrite ? pool.writer.group : pool.readers.group
            try await until("it waits") { group.waiterCount == 1 }
            releasing.cancel()
            await releasing.value
            #expect(pool.readers.group.connectionCount == 1, "nothing is freed")
            mayEnd.reach()
            try await holder.value
        }
    }

    // MARK: - Opening

    /// The ways to open a file in a task.
    enum Opening: CaseIterable {
        case pool
        case queue
        case walQueue

        func open(_ path: String, _ configuration: Configuration) async throws -> any DatabaseWriter {
            switch self {
            case .pool: return try await DatabasePool.open(path: path, configuration: configuration)
            case .queue: return try await DatabaseQueue.open(path: path, configuration: configuration)
            case .walQueue:
                var configuration = configuration
                configuration.journalMode = .wal
                return try await DatabaseQueue.open(path: path, configuration: configuration)
            }
        }
    }

    @Test(arguments: Opening.allCases) func opening(_ opening: Opening) async throws {
        let writer = try await opening.open(folder.file("a.sqlite"), Configuration())
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        #expect(try await writer.read { db in try db.values() } == [])
        try await writer.closeAsync()
        let text = folder.file("a.txt")
        try String(repeating: "no database ", count: 100).write(toFile: text, atomically: true, encoding: .utf8)
        await expectError(.SQLITE_NOTADB) { _ = try await opening.open(text, Configuration()) }
        var wrong = Configuration()
        wrong.acquireTimeout = -1
        let path = folder.file("a.sqlite")
        await expectError(.SQLITE_MISUSE) { _ = try await opening.open(path, wrong) }
        wrong = Configuration()
        wrong.maximumReaderCount = .max
        if opening == .pool {
            await expectError(.SQLITE_MISUSE) { _ = try await opening.open(path, wrong) }
        }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await opening.open(path, Configuration())
        }
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    }

    /// A lock is waited for: that of the whole file, or the one that the switch to WAL needs.
    @Test(arguments: Opening.allCases, [Database.TransactionKind.exclusive, .deferred])
    func openingIsCancelled(_ opening: Opening, _ kind: Database.TransactionKind) async throws {
        if opening == .queue, kind == .deferred { return }
        let path = folder.file("a.sqlite")
        let holder = try DatabaseQueue(path: path)
        try await holder.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let hasLock = Step("the file is locked")
        let mayEnd = Step("opening is cancelled")
        let thread = OwnThread {
            try holder.inTransaction(kind) { db in
                _ = try db.values()
                hasLock.reach()
                try mayEnd.wait()
                return .commit
            }
        }
        try await hasLock.reached()
        let tries = Recorded(0)
        var configuration = Configuration()
        configuration.busyMode = .callback { _ in
            tries.update { $0 += 1 }
            return true
        }
        configuration.prepareDatabase { db in
            _ = db.hooks.onTrace(.statements) { event in
                guard case .statement(_, let text) = event else { return }
                if String(cString: text) == "PRAGMA main.journal_mode = WAL" { tries.update { $0 += 1 } }
            }
        }
        let waiting = configuration
        let task = Task { _ = try await opening.open(path, waiting) }
        try await expectCancellation(task, "opening") { tries.value > 1 }
        mayEnd.reach()
        try await thread.value
        #expect(try await opening.open(path, waiting).read { db in try db.values() } == [])
    }

    /// Where others commit without end, a snapshot of several connections waits for the writer.
    @Test func makingASnapshotIsCancelled() async throws {
        let committer = try pool("a.sqlite", 1)
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        configuration.whenLaterSnapshotConnectionsRead { try? committer.write { db in try db.insert(2) } }
        let pool = try DatabasePool(path: committer.path, configuration: configuration)
        let mayEnd = Step("making the snapshot is cancelled")
        let holder = try await hold(true, pool, until: mayEnd)
        let making = Task { try await pool.makeSnapshotPoolAsync() }
        try await expectCancellation(making, "making a snapshot") { pool.writer.group.waiterCount == 1 }
        mayEnd.reach()
        try await holder.value
        #expect(try await pool.makeSnapshotPoolAsync().read { db in try db.values().count } > 1)
    }

    // MARK: - Backups

    @Test(arguments: WriterKind.allCases, WriterKind.allCases)
    func backups(_ source: WriterKind, _ destination: WriterKind) async throws {
        let other = try TemporaryFolder()
        let from = try source.make(folder)
        let to = try destination.make(other)
        try from.makeTable(1, 2)
        let steps = Recorded(0)
        try await from.backupAsync(to: to, pagesPerStep: 1) { _ in steps.update { $0 += 1 } }
        #expect(steps.value > 1)
        #expect(try await to.read { db in try db.values() } == [1, 2])
        for reader in [from, AnyDatabaseReader(from)] as [any DatabaseReader] {
            await expectError(.SQLITE_MISUSE, "a database can't be backed up to itself") {
                try await reader.backupAsync(to: from)
            }
        }
        struct Enough: Error {}
        try await to.write { db in try db.insert(3) }
        await #expect(throws: Enough.self) {
            try await from.backupAsync(to: to, pagesPerStep: 1) { _ in throw Enough() }
        }
        #expect(try await to.read { db in try db.values() } == [1, 2, 3])
        #expect(try await from.read { db in try db.values() } == [1, 2])
    }

    @Test func backupsOfSnapshots() async throws {
        let pool = try pool("a.sqlite", 1)
        let snapshots: [any DatabaseReader] = [try pool.makeSnapshot(), try pool.makeSnapshotPool()]
        try await pool.write { db in try db.insert(2) }
        for snapshot in snapshots {
            let copy = try DatabaseQueue()
            try await snapshot.backupAsync(to: copy)
            #expect(try await copy.read { db in try db.values() } == [1])
            #expect(try await snapshot.read { db in try db.values() } == [1])
        }
        try await snapshots[0].read { db in try db.commit() }
        await expectError(.SQLITE_ABORT, "Snapshot is lost.") {
            try await snapshots[0].backupAsync(to: try DatabaseQueue())
        }
    }

    /// It waits for a reader of the source, the destination's writer, and the destination's readers.
    @Test(arguments: ["source", "writer", "readers"]) func backupsAreCancelled(_ what: String) async throws {
        let source = try DatabaseQueue()
        try source.makeTable(1)
        let destination = try pool("a.sqlite", 2)
        let mayEnd = Step("the backup is cancelled")
        let holder = try await hold(what != "readers", what == "source" ? source : destination, until: mayEnd)
        let group =
            switch what {
            case "source": source.runner.group
            case "writer": destination.writer.group
            default: destination.readers.group
            }
        let backup = Task { try await source.backupAsync(to: destination) }
        try await expectCancellation(backup, "the backup") { group.waiterCount == 1 }
        mayEnd.reach()
        try await holder.value
        #expect(try await destination.read { db in try db.values() } == [2])
        try await destination.write { db in try db.insert(3) }
        try await source.backupAsync(to: destination)
        #expect(try await destination.read { db in try db.values() } == [1])
    }

    /// Backups that go opposite ways don't wait for each other.
    @Test(arguments: [true, false]) func oppositeBackups(arePools: Bool) async throws {
        let kind = arePools ? WriterKind.pool : .fileQueue
        let other = try TemporaryFolder()
        let pair = [try kind.make(folder), try kind.make(other)]
        for writer in pair { try writer.makeTable(1) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask { try await pair[index % 2].backupAsync(to: pair[1 - index % 2]) }
            }
            try await group.waitForAll()
        }
        for writer in pair { #expect(try await writer.read { db in try db.values() } == [1]) }
    }

    /// Nor do synchronous ones on threads: one of two is refused where neither could go on.
    @Test(arguments: [WriterKind.fileQueue, .memoryQueue, .pool])
    func oppositeSynchronousBackups(_ kind: WriterKind) async throws {
        let other = try TemporaryFolder()
        let pair = [try kind.make(folder), try kind.make(other)]
        for writer in pair { try writer.makeTable(1) }
        let threads = (0..<4).map { index in
            OwnThread {
                var messages: [String?] = []
                for _ in 0..<40 {
                    do {
                        try pair[index % 2].backup(to: pair[1 - index % 2])
                    } catch DatabaseError.SQLITE_BUSY {
                        messages.append("busy")
                    }
                }
                return messages.count
            }
        }
        var refused = 0
        for thread in threads { refused += try await thread.value }
        #expect(refused < 160)
        for writer in pair {
            #expect(try await writer.read { db in try db.values() } == [1])
            try await writer.write { db in try db.insert(2) }
        }
    }

    // MARK: - Copies of files

    enum Copy: CaseIterable {
        case inMemory, temporary

        func make(_ path: String, _ configuration: Configuration = Configuration()) async throws -> DatabaseQueue {
            switch self {
            case .inMemory: try await .inMemoryCopyAsync(fromPath: path, configuration: configuration)
            case .temporary: try await .temporaryCopyAsync(fromPath: path, configuration: configuration)
            }
        }
    }

    @Test(arguments: Copy.allCases) func copyingAFile(_ copy: Copy) async throws {
        let pool = try pool("a.sqlite", 1, 2)
        let queue = try await copy.make(pool.path)
        #expect(try await queue.read { db in try db.values() } == [1, 2])
        try await queue.write { db in try db.insert(3) }
        #expect(try await pool.read { db in try db.values() } == [1, 2])
        var configuration = Configuration()
        configuration.readonly = true
        let readOnly = try await copy.make(pool.path, configuration)
        #expect(try await readOnly.read { db in try db.values() } == [1, 2])
        await expectError(.SQLITE_READONLY) { try await readOnly.writeWithoutTransaction { db in try db.insert(3) } }
        await expectError(.SQLITE_CANTOPEN) { _ = try await copy.make(folder.file("missing.sqlite")) }
        let path = pool.path
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await copy.make(path)
        }
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    }

    /// The copy waits for a lock on the file until the task is cancelled.
    @Test(arguments: Copy.allCases) func copyingIsCancelled(_ copy: Copy) async throws {
        let path = folder.file("a.sqlite")
        let holder = try DatabaseQueue(path: path)
        try await holder.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let hasLock = Step("the file is locked")
        let mayEnd = Step("copying is cancelled")
        let thread = OwnThread {
            try holder.inTransaction(.exclusive) { db in
                _ = try db.values()
                hasLock.reach()
                try mayEnd.wait()
                return .commit
            }
        }
        try await hasLock.reached()
        let hasBegun = Recorded(false)
        var configuration = Configuration()
        configuration.prepareDatabase { _ in hasBegun.update { $0 = true } }
        let prepared = configuration
        let task = Task { _ = try await copy.make(path, prepared) }
        try await expectCancellation(task, "the copy") { hasBegun.value }
        mayEnd.reach()
        try await thread.value
        #expect(try await copy.make(path).read { db in try db.values() } == [])
    }

    // MARK: - Sources for GRDB

    /// Calls of GRDB's synchronous methods in a task mean the same, and need no `await`.
    @Test func synchronousCallsInTasks() async throws {
        let pool = try pool("a.sqlite", 1)
        let snapshot = try pool.makeSnapshot()
        let snapshots = try pool.makeSnapshotPool()
        let copy = try DatabaseQueue(path: folder.file("b.sqlite"))
        try pool.backup(to: copy)
        pool.releaseMemory()
        copy.releaseMemory()
        try snapshot.close()
        try snapshots.close()
        try copy.close()
        try pool.close()
    }
}

/// Expects that a task which waits is cancelled, while what it waits for goes on.
func expectCancellation<T: Sendable>(
    _ task: Task<T, any Error>, _ name: String, once waits: () -> Bool
) async throws {
    try await until("\(name) waits", waits)
    task.cancel()
    await #expect(throws: CancellationError.self, "\(name)") { _ = try await task.value }
}
