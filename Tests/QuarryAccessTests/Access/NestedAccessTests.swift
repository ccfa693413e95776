import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// An access of a pool's other kind inside an access, while others wait for both kinds: each ends.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct NestedAccessTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makePool(
        _ readerCount: Int = 5, _ execution: AsyncExecution = .automatic, name: String = "a"
    ) async throws -> DatabasePool {
        var configuration = Configuration()
        configuration.maximumReaderCount = readerCount
        configuration.asyncExecution = execution
        let pool = try DatabasePool(path: folder.file("\(name).sqlite"), configuration: configuration)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a INTEGER)") }
        return pool
    }

    /// The accesses that wait for all readers.
    enum Barrier: String, CaseIterable, Sendable {
        case write, asyncWrite, callback, close, asyncClose, releaseMemory, erase, asyncErase, migration, backup
        case asyncBackup

        func run(_ pool: DatabasePool) async throws {
            switch self {
            case .write: try await onOwnThread { try pool.barrierWriteWithoutTransaction { _ in } }
            case .asyncWrite: try await pool.barrierWriteWithoutTransaction { _ in }
            case .callback:
                try await withCheckedThrowingContinuation { continuation in
                    pool.asyncBarrierWriteWithoutTransaction { result in continuation.resume(with: result.map { _ in })
                    }
                }
            case .close: try await onOwnThread { try pool.close() }
            case .asyncClose: try await pool.closeAsync()
            case .releaseMemory: try await onOwnThread { pool.releaseMemory() }
            case .erase: try await onOwnThread { try pool.erase() }
            case .asyncErase: try await pool.erase()
            case .migration:
                var migrator = DatabaseMigrator()
                migrator.registerMigration("1") { db in try db.execute(sql: "CREATE TABLE u (a)") }
                try await onOwnThread { [migrator] in try migrator.migrate(pool) }
            case .backup: try await onOwnThread { try DatabaseQueue().backup(to: pool) }
            case .asyncBackup: try await DatabaseQueue().backupAsync(to: pool)
            }
        }
    }

    /// How a read that writes is begun.
    enum Nest: CaseIterable, Sendable {
        case thread, task, callback

        func run(_ pool: DatabasePool, _ body: @escaping @Sendable () throws -> Void) async throws {
            switch self {
            case .thread: try await onOwnThread { try pool.read { _ in try body() } }
            // Not in this task, which may run on Swift's threads: `body` blocks.
            case .task: try await pool.read { _ in try body() }
            case .callback:
                try await withCheckedThrowingContinuation { continuation in
                    pool.asyncRead { result in
                        continuation.resume(with: result.flatMap { _ in Result { try body() } })
                    }
                }
            }
        }
    }

    /// The barrier has the writer, and waits for the read. The read writes: the writer is lent to it.
    @Test(arguments: Barrier.allCases, Nest.allCases)
    func aReadThatABarrierWaitsForWrites(_ barrier: Barrier, _ nest: Nest) async throws {
        for readerCount in [1, 3] {
            let pool = try await makePool(readerCount, .offloaded, name: "\(readerCount)")
            let hasBegun = Step("the read has begun")
            async let read: Void = nest.run(pool) {
                hasBegun.reach()
                try spin(until: "the barrier waits for readers") { pool.readers.group.waiterCount == 1 }
                try pool.write { db in try db.insert(1) }
                try pool.unsafeReentrantWrite { db in try db.insert(2) }
            }
            try await hasBegun.reached()
            async let end: Void = barrier.run(pool)
            try await read
            try await end
            let other = try await makePool(name: "\(readerCount)")
            let isEmptied = [.erase, .asyncErase, .backup, .asyncBackup].contains(barrier)
            #expect(
                try await other.read { db in try db.tableExists("t") ? db.values() : [] } == (isEmptied ? [] : [1, 2]))
        }
    }

    /// The read waits for the writer before the barrier has it.
    @Test(arguments: Barrier.allCases) func aBarrierComesBeforeAReadThatWaits(_ barrier: Barrier) async throws {
        let pool = try await makePool()
        let hasBegun = Step("the write has begun")
        let mayEnd = Step("the write may end")
        let write = OwnThread {
            try pool.write { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        async let end: Void = barrier.run(pool)
        try await until("the barrier waits for the writer") { pool.writer.group.waiterCount == 1 }
        let read = OwnThread { try pool.read { _ in try pool.write { db in try db.insert(1) } } }
        try await until("the read waits for the writer") { pool.writer.group.waiterCount == 2 }
        mayEnd.reach()
        try await write.value
        try await read.value
        try await end
    }

    /// All readers are out, and want to write, one after the other.
    @Test(arguments: [Barrier.write, .asyncWrite, .close]) func severalReadsWrite(_ barrier: Barrier) async throws {
        let pool = try await makePool(3)
        let began = Recorded(0)
        let readers = (0..<3).map { index in
            OwnThread {
                try pool.read { _ in
                    began.update { $0 += 1 }
                    try spin(until: "the barrier waits for readers") { pool.readers.group.waiterCount == 1 }
                    for _ in 0..<20 { try pool.write { db in try db.insert(index) } }
                }
            }
        }
        try await until("all read") { began.value == 3 }
        async let end: Void = barrier.run(pool)
        for reader in readers { try await reader.value }
        try await end
        #expect(try await makePool().read { db in try db.count() } == 60)
    }

    /// A write that came before the barrier has its place behind it: only reads borrow.
    @Test func otherWritesWaitForTheBarrier() async throws {
        let pool = try await makePool()
        let log = Recorded<[String]>([])
        let hasBegun = Step("the read has begun")
        let mayEnd = Step("the read may end")
        let read = OwnThread {
            try pool.read { _ in
                hasBegun.reach()
                try mayEnd.wait()
                try pool.write { _ in log.update { $0.append("the read's write") } }
            }
        }
        try await hasBegun.reached()
        async let barrier: Void = pool.barrierWriteWithoutTransaction { _ in log.update { $0.append("barrier") } }
        try await until("the barrier waits for readers") { pool.readers.group.waiterCount == 1 }
        async let write: Void = pool.write { _ in log.update { $0.append("write") } }
        try await until("the write waits") { pool.writer.group.waiterCount == 1 }
        mayEnd.reach()
        try await read.value
        try await barrier
        try await write
        #expect(log.value == ["the read's write", "barrier", "write"])
    }

    /// The barrier gives up while the read writes.
    @Test(arguments: [true, false]) func aBarrierGivesUpWhileItsWriterIsLent(isCancelled: Bool) async throws {
        var configuration = Configuration()
        let clock = ManualMonotonicClock()
        if !isCancelled {
            configuration.acquireTimeout = 0.05
            configuration.monotonicClock = clock.monotonicClock
        }
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let hasBegun = Step("the read has begun")
        let mayEnd = Step("its write may end")
        let read = OwnThread {
            try pool.read { _ in
                hasBegun.reach()
                try spin(until: "the barrier waits for readers") { pool.readers.group.waiterCount == 1 }
                try pool.write { _ in try mayEnd.wait() }
            }
        }
        try await hasBegun.reached(by: read)
        let barrier = Task { try await pool.barrierWriteWithoutTransaction { _ in } }
        try await until("the writer is lent", by: barrier) { pool.writer.group.ownedByOthers }
        if isCancelled { barrier.cancel() } else { clock.advance(by: .milliseconds(50)) }
        let error = await #expect(throws: (any Error).self) { try await barrier.value }
        #expect(error is CancellationError == isCancelled)
        mayEnd.reach()
        try await read.value
        try await pool.write { _ in }
        try await pool.barrierWriteWithoutTransaction { _ in }
    }

    // MARK: - Deadlocks

    /// One of two that wait for each other is refused, and the other goes on.
    @Test(arguments: [1, 3]) func readsThatWriteBesideAWriteThatReads(readerCount: Int) async throws {
        let pool = try await makePool(readerCount)
        let began = Recorded(0)
        let count = readerCount + 1
        let accesses = (0..<count).map { index in
            OwnThread {
                Result {
                    if index == 0 {
                        try pool.write { _ in
                            began.update { $0 += 1 }
                            try spin(until: "all have begun") { began.value == count }
                            try pool.read { _ in }
                        }
                    } else {
                        try pool.read { _ in
                            began.update { $0 += 1 }
                            try spin(until: "all have begun") { began.value == count }
                            try pool.write { _ in }
                        }
                    }
                }
            }
        }
        var errors: [DatabaseError] = []
        for access in accesses {
            if case .failure(let error) = try await access.value {
                errors.append(try #require(error as? DatabaseError))
            }
        }
        let path = folder.file("a.sqlite")
        let names = ["a reader of \(path)", "the writer of \(path)"]
        let messages = [names, names.reversed()].map { names in
            "deadlock: \(names[0]) is in use by an access that waits for \(names[1]), which is in use by an access that "
                + "waits for this one"
        }
        // The last to sleep is told: the write, or a read. Then a reader or the writer comes back.
        #expect(errors.count == 1)
        #expect(errors.allSatisfy { $0.resultCode == .SQLITE_BUSY && messages.contains($0.message ?? "") })
        try await pool.barrierWriteWithoutTransaction { _ in }
    }

    /// Two copies in opposite directions: each has all of one database, and wants to read the other.
    @Test func barriersOfTwoDatabases() async throws {
        let pools = [try await makePool(name: "a"), try await makePool(name: "b")]
        let began = Recorded(0)
        let accesses = (0..<2).map { index in
            OwnThread {
                Result {
                    try pools[index].barrierWriteWithoutTransaction { _ in
                        began.update { $0 += 1 }
                        try spin(until: "both have begun") { began.value == 2 }
                        try pools[1 - index].read { _ in }
                    }
                }
            }
        }
        var errors: [DatabaseError] = []
        for access in accesses {
            if case .failure(let error) = try await access.value {
                errors.append(try #require(error as? DatabaseError))
            }
        }
        #expect(errors.count == 1)
        #expect(errors.first?.message?.hasPrefix("deadlock: a reader of ") ?? false)
    }

    /// An asynchronous barrier, which is no thread, takes part: a read of its pool waits for another pool's writer,
    /// whose access waits for the barrier.
    @Test func anAsynchronousBarrierInACircle() async throws {
        let (a, b) = (try await makePool(name: "a"), try await makePool(name: "b"))
        let hasWriter = Step("b's writer is out")
        let isRead = Step("a is read")
        let write = OwnThread {
            expectError(DatabaseError.self) {
                try b.write { _ in
                    hasWriter.reach()
                    try spin(until: "the barrier waits for a's readers") { a.readers.group.waiterCount == 1 }
                    try a.write { db in try db.insert(1) }
                }
            }
        }
        try await hasWriter.reached()
        let read = OwnThread {
            try a.read { _ in
                isRead.reach()
                try b.write { db in try db.insert(2) }
            }
        }
        try await isRead.reached()
        try await until("the read waits for b") { DeadlockDetector.count(on: b.writer.group) == 1 }
        try await a.barrierWriteWithoutTransaction { _ in }
        let error = try await write.value
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.hasPrefix("deadlock: the writer of ") ?? false)
        try await read.value
    }

    // The one that waits last is refused. So each waits until the other is in the table of those who wait, which comes
    // after its place in the line.

    /// The access of a thread that is in the way of an asynchronous backup.
    enum Obstacle: CaseIterable, Sendable { case writeThatReadsTheSource, readThatReadsTheCopy, readThatWritesTheCopy }

    /// An asynchronous backup has connections of one database while its task waits for those of the other.
    @Test func anAsynchronousBackupInACircle() async throws {
        for obstacle in Obstacle.allCases {
            let (a, b) = (try await makePool(1, name: "\(obstacle)a"), try await makePool(1, name: "\(obstacle)b"))
            let (first, second) = ObjectIdentifier(a) < ObjectIdentifier(b) ? (a, b) : (b, a)
            let (source, copy) = obstacle == .writeThatReadsTheSource ? (first, second) : (second, first)
            let hasBegun = Step("the access has begun")
            let thread = OwnThread {
                expectError(DatabaseError.self) {
                    switch obstacle {
                    case .writeThatReadsTheSource:
                        try copy.write { _ in
                            hasBegun.reach()
                            try spin(until: "the backup waits for the copy") {
                                DeadlockDetector.count(on: copy.writer.group) == 1
                            }
                            try source.read { _ in }
                        }
                    case .readThatReadsTheCopy, .readThatWritesTheCopy:
                        try source.read { _ in
                            hasBegun.reach()
                            try spin(until: "the backup waits for the source") {
                                DeadlockDetector.count(on: source.readers.group) == 1
                            }
                            if obstacle == .readThatReadsTheCopy {
                                try copy.read { _ in }
                            } else {
                                try copy.write { _ in }
                            }
                        }
                    }
                }
            }
            try await hasBegun.reached()
            try await source.backupAsync(to: copy)
            let error = try await thread.value
            #expect(error?.resultCode == .SQLITE_BUSY, "\(obstacle)")
            #expect(error?.message?.hasPrefix("deadlock: ") ?? false, "\(obstacle)")
        }
    }
}

extension ConnectionGroup {
    /// Whether an access has one of the connections.
    fileprivate var ownedByOthers: Bool { waitState.threads.contains { $0 != 0 } }
}
