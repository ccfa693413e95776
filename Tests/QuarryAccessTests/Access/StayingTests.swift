import Foundation
import Quarry
import QuarryCore
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Tasks that stay on a thread of the library after their access: the program's code runs there, which may be long, may
/// block, and may use the database.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct StayingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// An access in its different forms, each of which takes its own way to the threads.
    enum Access: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case read, unsafeRead, write, writeWithoutTransaction, barrier, readUntil, writeUntil

        var testDescription: String { rawValue }

        /// - returns: the thread of the access.
        func run(_ writer: any DatabaseWriter) async throws -> UInt {
            switch self {
            case .read: try await writer.read { _ in Database.currentThread }
            case .unsafeRead: try await writer.unsafeRead { _ in Database.currentThread }
            case .write: try await writer.write { _ in Database.currentThread }
            case .writeWithoutTransaction: try await writer.writeWithoutTransaction { _ in Database.currentThread }
            case .barrier: try await writer.barrierWriteWithoutTransaction { _ in Database.currentThread }
            case .readUntil: try await writer.read(timeout: .seconds(60)) { _ in Database.currentThread }
            case .writeUntil: try await writer.write(timeout: .seconds(60)) { _ in Database.currentThread }
            }
        }
    }

    @Test(arguments: Access.allCases) func aTaskStaysUntilItSuspends(_ access: Access) async throws {
        let pool = try folder.offloadedPool()
        for _ in 0..<10 {
            let thread = try await access.run(pool)
            #expect(Database.currentThread == thread)
            #expect(WorkerThreads.isCurrentThread)
            // It prefers no executor any more: what it starts runs on Swift's threads.
            #expect(withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil })
            async let child = WorkerThreads.isCurrentThread
            #expect(await !child)
            // A single yield need not suspend.
            try await until("the task is back on Swift's threads") { !WorkerThreads.isCurrentThread }
        }
    }

    @Test func anAccessThatThrows() async throws {
        struct OwnError: Error {}
        let pool = try folder.offloadedPool()
        for _ in 0..<10 {
            await #expect(throws: OwnError.self) { try await pool.write { _ in throw OwnError() } }
            await #expect(throws: DatabaseError.self) { try await pool.read { db in try db.execute(sql: "nonsense") } }
        }
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
    }

    /// A task that makes one access after another keeps its thread.
    @Test func accessesInALoop() async throws {
        let pool = try folder.offloadedPool()
        var threads: Set<UInt> = []
        _ = try await pool.write { _ in }
        for index in 0..<100 {
            threads.insert(try await Access.allCases[index % Access.allCases.count].run(pool))
        }
        #expect(threads.count == 1)
    }

    /// The program waits, after its access, for the writes that waited behind it. The first would have had its thread.
    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool])
    func theNextAccessDoesNotWaitForTheProgram(_ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        let writer = try kind.make(folder, configuration)
        for round in 0..<20 {
            let isFirst = Step("the first write runs, round \(round)")
            let mayEnd = Step("the others wait, round \(round)")
            let isWritten = Step("the others have written, round \(round)")
            let written = Recorded(0)
            let first = Task {
                // It shares no commit, and so hands the connection over when it ends.
                try await writer.writeWithoutTransaction { _ in
                    isFirst.reach()
                    try mayEnd.wait()
                }
                // The program blocks its thread.
                try await block(until: isWritten)
            }
            try await isFirst.reached()
            let others = (0..<3).map { _ in
                Task {
                    try await writer.write { _ in }
                    if written.update({
                        $0 += 1
                        return $0
                    }) == 3 {
                        isWritten.reach()
                    }
                }
            }
            let group = (writer as? DatabasePool)?.writer.group ?? (writer as? DatabaseQueue)?.runner.group
            try await until("the others wait") { group?.waiterCount == 3 }
            mayEnd.reach()
            for other in others { try await other.value }
            try await first.value
        }
    }

    /// The last write of a shared transaction stays beside one other. Beside more, it goes back with these, and they
    /// share the next transaction.
    @Test(arguments: [1, 2, 3]) func theLastOfASharedTransaction(others: Int) async throws {
        for round in 0..<5 {
            // Threads of a round may take a moment until they count as free.
            let pool = try folder.offloadedPool("\(round).sqlite")
            let isStaying = try await shareTransaction(of: pool, others: others - 1) {
                try await pool.write { _ in }
                return WorkerThreads.isCurrentThread
            }
            #expect(isStaying == (others < 2))
        }
    }

    /// Makes writes share a transaction: a first, others, and the last.
    ///
    /// - returns: what the last returns.
    private func shareTransaction<T: Sendable>(
        of pool: DatabasePool, others: Int, executor: (any TaskExecutor)? = nil,
        last: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        pool.writer.groupCommit?.withLock { $0.limits.time = .max }
        let isFirst = Step("the first write runs")
        let mayEnd = Step("the others wait")
        let first = Task {
            try await pool.write { _ in
                isFirst.reach()
                try mayEnd.wait()
            }
        }
        try await isFirst.reached()
        var later: [Task<Void, any Error>] = []
        for index in 0..<others {
            later.append(Task { try await pool.write { _ in } })
            try await until("write \(index) waits") { pool.writer.group.waiterCount == index + 1 }
        }
        let lastTask = Task(executorPreference: executor) { try await last() }
        try await until("the last write waits") { pool.writer.group.waiterCount == others + 1 }
        mayEnd.reach()
        try await first.value
        for task in later { try await task.value }
        return try await lastTask.value
    }

    /// The last write of a transaction goes back also if it fails, or has an executor of its own.
    @Test func theLastOfASharedTransactionIsAnother() async throws {
        struct OwnError: Error {}
        let pool = try folder.offloadedPool()
        let counter = Counter()
        for _ in 0..<5 {
            let hasFailed = try await shareTransaction(of: pool, others: 2) {
                await #expect(throws: OwnError.self) { try await pool.write { _ in throw OwnError() } }
                return !WorkerThreads.isCurrentThread
            }
            #expect(hasFailed)
            let isCancelled = try await shareTransaction(of: pool, others: 2) {
                await #expect(throws: CancellationError.self) {
                    try await pool.write { _ in withUnsafeCurrentTask { $0?.cancel() } }
                }
                return !WorkerThreads.isCurrentThread
            }
            #expect(isCancelled)
            try await shareTransaction(of: pool, others: 2) { try await counter.add(pool) }
            try await shareTransaction(of: pool, others: 2) { try await onMainActor(pool) }
        }
        #expect(await counter.count == 5)
    }

    /// As many programs as may stay block their threads: the database goes on, and Swift's threads are free.
    @Test(arguments: [1, 3]) func programsThatBlock(readerCount: Int) async throws {
        let pool = try folder.offloadedPool(readerCount: readerCount)
        let mayGoOn = Step("the programs may go on")
        let blocked = Recorded(0)
        // One after the other, so that each finds no other job.
        var programs: [Task<Bool, any Error>] = []
        for index in 0..<CooperativePool.width {
            programs.append(
                Task {
                    try await pool.write { _ in }
                    let isStaying = WorkerThreads.isCurrentThread
                    blocked.update { $0 += 1 }
                    try await block(until: mayGoOn)
                    return isStaying
                })
            try await until("program \(index) blocks") { blocked.value == index + 1 }
        }
        let all = Recorded(0)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for index in 0..<50 {
                tasks.addTask {
                    if index.isMultiple(of: 2) { try await pool.read { _ in } } else { try await pool.write { _ in } }
                    all.update { $0 += 1 }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(all.value == 50)
        #expect(pool.workers.currentThreadCount <= readerCount + 2 + CooperativePool.width)
        mayGoOn.reach()
        for program in programs { #expect(try await program.value) }
        // The places are free again.
        _ = try await pool.write { _ in }
        #expect(WorkerThreads.isCurrentThread)
    }

    /// More tasks than may stay go back to Swift's threads, as many as there are places stay.
    @Test func fewStay() async throws {
        let pool = try folder.offloadedPool(readerCount: 8)
        let count = CooperativePool.width + 2
        let allRead = Step("all read")
        let reading = Recorded(0)
        let staying = Recorded(0)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<count {
                tasks.addTask {
                    try await pool.read { _ in
                        if reading.update({
                            $0 += 1
                            return $0
                        }) == count {
                            allRead.reach()
                        }
                        try allRead.wait()
                    }
                    if WorkerThreads.isCurrentThread { staying.update { $0 += 1 } }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(staying.value <= CooperativePool.width)
    }

    @Test func synchronousAccessesOfATaskThatStays() async throws {
        let pool = try folder.offloadedPool(readerCount: 1)
        func synchronously<T>(_ body: () throws -> T) rethrows -> T { try body() }
        for _ in 0..<10 {
            try await pool.write { db in try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a INTEGER)") }
            #expect(WorkerThreads.isCurrentThread)
            try synchronously {
                try pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
                try pool.read { _ in try pool.write { db in try db.execute(sql: "DELETE FROM t") } }
                try pool.barrierWriteWithoutTransaction { db in try db.execute(sql: "VACUUM") }
            }
        }
    }

    /// It blocks a thread as the same call on Swift's threads does, and the tracer is told.
    @Test func aSynchronousAccessThatWaitsIsTraced() async throws {
        let tracer = RecordingTracer(.blockedThreads)
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.tracers = [tracer]
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        func synchronously<T>(_ body: () throws -> T) rethrows -> T { try body() }
        let isHeld = Step("the writer is out")
        let holder = OwnThread {
            try pool.write { _ in
                isHeld.reach()
                try spin(until: "the task waits") { pool.writer.group.waiterCount == 1 }
            }
        }
        try await isHeld.reached()
        try await pool.read { _ in }
        #expect(WorkerThreads.isCurrentThread)
        try synchronously { try pool.write { _ in } }
        #expect(tracer.blockedThreads.count == 1)
        try await holder.value
    }

    /// The last reference to the database is given up where its connections were used, and the threads end.
    @Test func theLastReference() async throws {
        for index in 0..<20 {
            let workers: WorkerThreads
            weak var released: DatabasePool?
            do {
                let pool = try folder.offloadedPool("\(index).sqlite")
                released = pool
                workers = pool.workers
                try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
                #expect(WorkerThreads.isCurrentThread)
            }
            #expect(released == nil)
            // A test beside this one may empty the idle connections of all databases (`DatabaseMemory.releaseIdle`),
            // and close the last of this pool's a moment later.
            try await until("the last connection has taken the log with it") {
                !FileManager.default.fileExists(atPath: folder.file("\(index).sqlite-wal"))
            }
            try await until("the threads have ended") { workers.currentThreadCount == 0 }
        }
    }

    @Test func closing() async throws {
        for index in 0..<20 {
            let pool = try folder.offloadedPool("\(index).sqlite")
            try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
            #expect(WorkerThreads.isCurrentThread)
            if index.isMultiple(of: 2) {
                func synchronously() throws { try pool.close() }
                try synchronously()
            } else {
                try await pool.closeAsync()
            }
            await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
            await #expect(throws: DatabaseError.self) { try await pool.write { _ in } }
        }
    }

    @Test func cancelledTasks() async throws {
        let pool = try folder.offloadedPool()
        for _ in 0..<20 {
            let task = Task {
                try await pool.write { _ in }
                withUnsafeCurrentTask { $0?.cancel() }
                await #expect(throws: CancellationError.self) { try await pool.read { _ in } }
                await #expect(throws: CancellationError.self) { try await pool.write { _ in } }
                return Task.isCancelled
            }
            #expect(try await task.value)
            try await pool.write { _ in }
        }
    }

    /// Reads that find Swift's threads taken ask again, after others have run. A task that stays needs none of those
    /// threads, and isn't sent to them.
    @Test(.blocksSwiftThreads) func measuredReadsOfATaskThatStays() async throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = CooperativePool.width + 1
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let count = max(1, CooperativePool.width / 2)
        let mayEnd = Step("the task that stays has read")
        let held = Recorded(0)
        // Opens the readers, so that reads may run inline.
        let openers = (0...count).map { _ in
            OwnThread {
                try pool.read { _ in
                    held.update { $0 += 1 }
                    try spin(until: "all read") { held.value == count + 1 }
                }
            }
        }
        for opener in openers { try await opener.value }
        held.update { $0 = 0 }
        let longReads = (0..<count).map { _ in
            Task {
                try await pool.read { _ in
                    held.update { $0 += 1 }
                    try mayEnd.wait()
                }
            }
        }
        try await until("the places are taken") { held.value == count }
        #expect(pool.readers.readAdmission.inlineCount == count)
        let thread = try await pool.write { _ in Database.currentThread }
        for _ in 0..<100 {
            #expect(try await pool.read { _ in Database.currentThread } == thread)
            #expect(Database.currentThread == thread)
        }
        mayEnd.reach()
        for read in longReads { try await read.value }
        // Also with places free, and without yielding.
        let other = try await pool.write { _ in Database.currentThread }
        for _ in 0..<100 { #expect(try await pool.read { _ in Database.currentThread } == other) }
        #expect(Database.currentThread == other)
    }

    // MARK: - Tasks with an executor of their own

    private actor Counter {
        var count = 0

        func add(_ pool: DatabasePool) async throws {
            let before = count
            count = try await pool.write { _ in before + 1 }
            assertIsolated()
            #expect(!WorkerThreads.isCurrentThread, "the actor has threads of Swift's")
        }
    }

    @Test func actorsHaveTheirExecutors() async throws {
        let pool = try folder.offloadedPool()
        let counter = Counter()
        for _ in 0..<10 { try await counter.add(pool) }
        #expect(await counter.count == 10)
        for _ in 0..<10 { try await onMainActor(pool) }
    }

    @MainActor private func onMainActor(_ pool: DatabasePool) async throws {
        try await pool.write { _ in }
        MainActor.assertIsolated()
        #expect(!WorkerThreads.isCurrentThread)
        _ = try await pool.read { _ in 1 }
        MainActor.assertIsolated()
    }

    /// An executor that runs one job at a time on a thread of its own.
    private final class OwnExecutor: TaskExecutor {
        private let jobs = Recorded<[UnownedJob]>([])
        private let isEnded = Recorded(false)
        let thread = Recorded<UInt>(0)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.update { $0.append(job) }
        }

        func run() throws {
            thread.update { $0 = Database.currentThread }
            try spin(until: "the executor has ended") {
                let job: UnownedJob? = jobs.update { $0.isEmpty ? nil : $0.removeFirst() }
                job?.runSynchronously(on: asUnownedTaskExecutor())
                return isEnded.value
            }
        }

        func end() { isEnded.update { $0 = true } }
    }

    @Test func theProgramsExecutorGoesOn() async throws {
        let pool = try folder.offloadedPool()
        let executor = OwnExecutor()
        let thread = OwnThread { try executor.run() }
        let task = Task(executorPreference: executor) {
            for access in Access.allCases {
                let used = try await access.run(pool)
                #expect(Database.currentThread == executor.thread.value)
                #expect(used != executor.thread.value)
            }
        }
        try await task.value
        try await shareTransaction(of: pool, others: 2, executor: executor) {
            try await pool.write { _ in }
            #expect(Database.currentThread == executor.thread.value)
        }
        executor.end()
        try await thread.value
    }

    // MARK: - Under load

    /// Writers that share commits and readers, each of whose programs uses the database while it stays.
    @Test(arguments: [AsyncExecution.automatic, .offloaded])
    func nothingIsLostUnderLoad(_ execution: AsyncExecution) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        configuration.maximumReaderCount = 3
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (task INTEGER, number INTEGER)") }
        let (taskCount, rowCount) = (16, 40)
        @Sendable func count(_ task: Int) throws -> Int? {
            try pool.read { db in
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE task = ?", arguments: [task])
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for task in 0..<taskCount {
                tasks.addTask {
                    for number in 0..<rowCount {
                        try await pool.write { db in
                            try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [task, number])
                        }
                        let seen = try await pool.read { db in
                            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE task = ?", arguments: [task])
                        }
                        #expect(seen == number + 1)
                        if number % 8 == task % 8 { #expect(try count(task) == number + 1) }
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(
            try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == taskCount * rowCount)
        #expect(pool.workers.currentThreadCount <= 5 + CooperativePool.width)
    }
}
