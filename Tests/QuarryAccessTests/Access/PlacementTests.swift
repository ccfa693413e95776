import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryShared

/// Where asynchronous accesses run, and that none of them blocks Swift's threads.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct PlacementTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Whether the task that runs does so on threads of the library's.
    private static var isOffloaded: Bool {
        withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
    }

    @Test(arguments: WriterKind.allCases) func offloadedAccesses(_ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        let writer = try kind.make(folder, configuration)
        for _ in 0..<20 {
            #expect(try await writer.read { _ in Self.isOffloaded })
            #expect(try await writer.unsafeRead { _ in Self.isOffloaded })
            #expect(try await writer.write { _ in Self.isOffloaded })
            #expect(try await writer.barrierWriteWithoutTransaction { _ in Self.isOffloaded })
            #expect(!Self.isOffloaded, "the caller prefers no thread of the library")
        }
    }

    @Test(arguments: WriterKind.allCases) func inlineAccesses(_ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .inline
        let writer = try kind.make(folder, configuration)
        for _ in 0..<20 {
            #expect(try await !writer.read { _ in Self.isOffloaded })
            #expect(try await !writer.unsafeRead { _ in Self.isOffloaded })
            #expect(try await !writer.write { _ in Self.isOffloaded })
            // It has the writer while it waits for the readers.
            #expect(try await writer.barrierWriteWithoutTransaction { _ in Self.isOffloaded } == kind.isPool)
        }
    }

    /// In memory inline; on files writes and unsafe reads elsewhere, since they may wait for the disk or a lock.
    @Test(arguments: WriterKind.allCases) func automaticAccesses(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        let isOnFile = kind != .memoryQueue
        for _ in 0..<20 {
            #expect(try await writer.write { _ in Self.isOffloaded } == isOnFile)
            #expect(try await writer.unsafeRead { _ in Self.isOffloaded } == isOnFile)
            #expect(try await writer.barrierWriteWithoutTransaction { _ in Self.isOffloaded } == isOnFile)
        }
        #expect(try await !writer.read { _ in Self.isOffloaded }, "the first read, of which nothing is known")
    }

    /// The first read is expected to be short, but closures that prepare its connection may take long.
    @Test(arguments: [WriterKind.fileQueue, .pool]) func measuredReadsThatPrepare(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        // Opens the reader.
        _ = try await onOwnThread { try writer.read { _ in } }
        let places = Recorded<[Bool]>([])
        writer.prepareConnections { _ in places.update { $0.append(Self.isOffloaded) } }
        #expect(try await writer.read { _ in Self.isOffloaded })
        #expect(places.value == [true])
        #expect(try await !writer.read { _ in Self.isOffloaded })
    }

    /// Reads run inline while they are short, and elsewhere after some long ones.
    @Test(arguments: [WriterKind.fileQueue, .pool]) func measuredReads(_ kind: WriterKind) async throws {
        let clock = ManualMonotonicClock()
        var configuration = Configuration()
        configuration.monotonicClock = clock.monotonicClock
        let writer = try kind.make(folder, configuration)
        let runner = (writer as? DatabasePool)?.readers ?? (writer as? DatabaseQueue)?.runner
        let readers = try #require(runner)
        for _ in 0..<200 { try await writer.read { _ in } }
        var longReads = 0
        while readers.readAdmission.average <= ReadAdmission.longestInline {
            try await writer.read { _ in clock.advance(by: .milliseconds(2)) }
            longReads += 1
        }
        #expect(longReads > 0)
        #expect(try await writer.read { _ in Self.isOffloaded })
        while readers.readAdmission.average > ReadAdmission.longestInline { try await writer.read { _ in } }
        #expect(try await !writer.read { _ in Self.isOffloaded }, "long reads are forgotten")
        #expect(readers.readAdmission.inlineCount == 0)
    }

    /// Opens all connections of a pool's readers, by as many reads at once.
    private func openReaders(of pool: DatabasePool, _ count: Int) async throws {
        let areOpen = Step("all read")
        let threads = try await threadsThatRead(pool, count, until: areOpen)
        areOpen.reach()
        for thread in threads { try await thread.value }
    }

    /// Threads that read until a step is reached.
    private func threadsThatRead(
        _ pool: DatabasePool, _ count: Int, until step: Step
    ) async throws -> [OwnThread<Void>] {
        let reading = Recorded(0)
        let threads = (0..<count).map { _ in
            OwnThread {
                try pool.read { _ in
                    reading.update { $0 += 1 }
                    try step.wait()
                }
            }
        }
        try await until("all read") { reading.value == count }
        return threads
    }

    /// The pools whose reads share the library's threads, with open readers. The last one's reads aren't long.
    private func poolsOfOneCrew(inDirectory: Bool, longReads count: Int) async throws -> [DatabasePool] {
        guard !inDirectory else {
            let directory = try DatabaseDirectory(path: folder.path, maximumOpenCount: count + 1)
            let pools = try (0...count).map { try directory.database(named: "\($0)").pool }
            for pool in pools { try await openReaders(of: pool, 1) }
            return pools
        }
        var configuration = Configuration()
        configuration.maximumReaderCount = CooperativePool.width + 1
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try await openReaders(of: pool, configuration.maximumReaderCount)
        return Array(repeating: pool, count: count + 1)
    }

    /// Reads that turn out to be long hold half of Swift's threads, also if each has a database of a directory, and the
    /// next one runs elsewhere.
    @Test(.blocksSwiftThreads, arguments: [false, true]) func readsBesideLongOnes(inDirectory: Bool) async throws {
        let count = max(1, CooperativePool.width / 2)
        let pools = try await poolsOfOneCrew(inDirectory: inDirectory, longReads: count)
        let mayEnd = Step("another read has run")
        let held = Recorded(0)
        let longReads = pools.dropLast().map { pool in
            Task {
                try await pool.read { _ in
                    held.update { $0 += 1 }
                    try mayEnd.wait()
                    return Self.isOffloaded
                }
            }
        }
        try await until("the long reads run") { held.value == count }
        #expect(pools[count].readers.readAdmission.inlineCount == count)
        if CooperativePool.width > 1 {
            for _ in 0..<10 { #expect(try await pools[count].read { _ in Self.isOffloaded }) }
        }
        mayEnd.reach()
        for read in longReads { #expect(try await !read.value) }
        #expect(try await !pools[count].read { _ in Self.isOffloaded })
    }

    /// Reads that take a while run on the library's threads as soon as there are as many others as may run inline, also
    /// while there is a place, and inline again when they are alone.
    @Test func readsOfAWhileBesideOthers() async throws {
        var configuration = Configuration()
        let count = max(1, CooperativePool.width / 2)
        configuration.maximumReaderCount = count + 1
        let clock = ManualMonotonicClock()
        configuration.monotonicClock = clock.monotonicClock
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try await openReaders(of: pool, count + 1)
        while pool.readers.readAdmission.average <= 2 * ReadAdmission.longestInCrowd {
            try await pool.read { _ in clock.advance(by: .microseconds(400)) }
        }
        let mayEnd = Step("the others may end")
        let others = try await threadsThatRead(pool, count, until: mayEnd)
        #expect(pool.readers.readAdmission.inlineCount == 0)
        #expect(try await pool.read { _ in Self.isOffloaded })
        mayEnd.reach()
        for other in others { try await other.value }
        try await until("reads run inline") { pool.readers.group.accessCount == 0 }
        while try await pool.read({ _ in Self.isOffloaded }) {}
        #expect(pool.readers.readAdmission.traffic == .light)
    }

    /// One decision for the databases of a directory: long reads of one send the others' reads elsewhere, until reads
    /// of any of them are short again. A read that throws counts like another.
    @Test func longReadsOfOneDatabaseOfADirectory() async throws {
        struct OwnError: Error {}
        let clock = ManualMonotonicClock()
        var configuration = Configuration()
        configuration.monotonicClock = clock.monotonicClock
        let directory = try DatabaseDirectory(path: folder.path, maximumOpenCount: 2, configuration: configuration)
        let (a, b) = (try directory.database(named: "a").pool, try directory.database(named: "b").pool)
        for pool in [a, b] { try await openReaders(of: pool, 1) }
        #expect(try await !b.read { _ in Self.isOffloaded })
        while a.readers.readAdmission.average <= ReadAdmission.longestInline {
            await #expect(throws: OwnError.self) {
                try await a.read { _ in
                    clock.advance(by: .milliseconds(2))
                    throw OwnError()
                }
            }
        }
        #expect(try await b.read { _ in Self.isOffloaded })
        while a.readers.readAdmission.average > ReadAdmission.longestInline { try await a.read { _ in } }
        // A read that found the one before it at its end believes in a crowd, for sixteen reads.
        while try await b.read({ _ in Self.isOffloaded }) {}
        #expect(b.readers.readAdmission.traffic == .light && b.readers.readAdmission.inlineCount == 0)
        // A database that is closed and opened again has the same decision.
        try await onOwnThread { try directory.close() }
        for pool in [a, b] { try await openReaders(of: pool, 1) }
        #expect(try await !b.read { _ in Self.isOffloaded })
    }

    /// A read that finds the database locked goes elsewhere to wait, and succeeds there.
    @Test func aReadThatWouldWait() async throws {
        let path = folder.file("a.sqlite")
        var configuration = Configuration()
        let tries = Step("SQLite has asked whether to wait")
        let whereItWaited = Recorded<[Bool]>([])
        configuration.busyMode = .callback { _ in
            whereItWaited.update { $0.append(Self.isOffloaded) }
            tries.reach()
            sched_yield()
            return true
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let other = try DatabaseQueue(path: path)
        let hasLock = Step("the file is locked")
        let mayRelease = Step("the lock may be released")
        let holder = OwnThread {
            try other.inTransaction(.exclusive) { _ in
                hasLock.reach()
                try mayRelease.wait()
                return .commit
            }
        }
        try await hasLock.reached()
        let read = Task { try await queue.read { db in (try db.values(), Self.isOffloaded) } }
        try await tries.reached()
        mayRelease.reach()
        let (values, isOffloaded) = try await read.value
        #expect(values == [])
        #expect(isOffloaded)
        #expect(whereItWaited.value.allSatisfy { $0 }, "nothing has waited on Swift's threads")
        try await holder.value
    }

    /// Writes that wait for a lock hold none of Swift's threads: a task goes on meanwhile.
    @Test func theHeartGoesOnBeating() async throws {
        let path = folder.file("a.sqlite")
        var configuration = Configuration()
        configuration.busyMode = .timeout(1_000_000)
        let writers = try (0..<4).map { _ in try DatabasePool(path: path, configuration: configuration) }
        try await writers[0].write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let blocker = try DatabaseQueue(path: path)
        let hasLock = Step("the lock is taken")
        let mayRelease = Step("the heart has beaten")
        let holder = OwnThread {
            try blocker.write { _ in
                hasLock.reach()
                try mayRelease.wait()
            }
        }
        try await hasLock.reached()
        // More tasks than Swift has threads, each of which waits for the lock.
        let tasks = (0..<16).map { index in
            Task { try await writers[index % 4].write { db in try db.insert(index) } }
        }
        try await until("all wait: one of each pool for the lock, the others for its writer") {
            writers.allSatisfy { $0.writer.group.waiterCount == 3 }
        }
        var beats = 0
        for _ in 0..<100 {
            beats += await Task.detached { 1 }.value
        }
        #expect(beats == 100)
        mayRelease.reach()
        for task in tasks { try await task.value }
        try await holder.value
        #expect(try await writers[0].read { db in try db.count() } == 16)
    }

    /// A hundred reads at a time run on as many connections as there may be, and no more threads.
    @Test(arguments: [AsyncExecution.automatic, .inline, .offloaded])
    func threadsDoNotExplode(_ execution: AsyncExecution) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        configuration.maximumReaderCount = 3
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let running = Recorded((now: 0, most: 0))
        let mostThreads = Recorded(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await pool.read { db in
                        running.update { running in
                            running.now += 1
                            running.most = max(running.most, running.now)
                        }
                        let count = pool.workers.currentThreadCount
                        mostThreads.update { $0 = max($0, count) }
                        _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master")
                        sched_yield()
                        running.update { $0.now -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(running.value.most <= 3)
        #expect(
            mostThreads.value <= 5 + CooperativePool.width,
            "three readers, the writer, one, and those whose tasks may stay")
        #expect(execution != .offloaded || mostThreads.value > 0)
        #expect(pool.readers.group.connectionCount <= 3)
    }

    /// Two accesses that block run at a time, even when both come while one thread of the library sleeps.
    @Test func workersAreEnough() async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.maximumReaderCount = 3
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        for _ in 0..<100 {
            try await pool.read { _ in }
            // Each waits for all the others, on a thread of its own.
            let arrived = Recorded(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<4 {
                    group.addTask {
                        let meet: @Sendable (Database) throws -> Void = { _ in
                            arrived.update { $0 += 1 }
                            try spin(until: "all have arrived") { arrived.value == 4 }
                        }
                        if index == 0 { try await pool.write(meet) } else { try await pool.read(meet) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Tasks that wait give up at once, even while asynchronous accesses have all connections: their end needs no
    /// thread of those.
    @Test(arguments: [WriterKind.pool, .walQueue], [nil, 0.01])
    func givingUpWhileTasksHaveAllConnections(_ kind: WriterKind, _ timeout: Double?) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.maximumReaderCount = 2
        configuration.acquireTimeout = timeout
        let clock = ManualMonotonicClock()
        configuration.monotonicClock = clock.monotonicClock
        let writer = try kind.make(folder, configuration)
        let mayEnd = Step("the accesses may end")
        var holders: [Task<Void, any Error>] = []
        for index in 0..<(kind.isPool ? 3 : 1) {
            let hasBegun = Step("access \(index) has begun")
            let body: @Sendable (Database) throws -> Void = { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
            holders.append(
                Task { if index == 0 { try await writer.write(body) } else { try await writer.read(body) } })
            try await hasBegun.reached(by: holders[index])
        }
        let groups = try #require(writer.groupReader).groups
        for index in 0..<20 {
            let waiter = Task {
                if index.isMultiple(of: 2) { try await writer.write { _ in } } else { try await writer.read { _ in } }
            }
            if let timeout {
                try await until("it waits", by: waiter) { groups.contains { $0.waiterCount == 1 } }
                clock.advance(by: .seconds(timeout))
            } else {
                waiter.cancel()
            }
            let result = await waiter.result
            guard case .failure(let error) = result else {
                Issue.record("\(index) was served")
                continue
            }
            if timeout == nil {
                #expect(error is CancellationError)
            } else {
                #expect((error as? DatabaseError)?.resultCode == .SQLITE_BUSY)
            }
        }
        mayEnd.reach()
        // A holder that has waited for `mayEnd` in vain throws here.
        for holder in holders { try await holder.value }
    }

    @Test func givingUpWhileTasksHaveAllConnectionsOfASnapshot() async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.maximumReaderCount = 2
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let snapshot = try await onOwnThread { try pool.makeSnapshotPool() }
        let mayEnd = Step("the accesses may end")
        var holders: [Task<Void, any Error>] = []
        for index in 0..<2 {
            let hasBegun = Step("access \(index) has begun")
            holders.append(
                Task {
                    try await snapshot.read { _ in
                        hasBegun.reach()
                        try mayEnd.wait()
                    }
                })
            try await hasBegun.reached()
        }
        let waiter = Task { try await snapshot.read { _ in } }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        mayEnd.reach()
        for holder in holders { try await holder.value }
    }

    @TaskLocal static var request = "none"

    @Test(arguments: WriterKind.allCases, [AsyncExecution.automatic, .inline, .offloaded])
    func taskLocals(_ kind: WriterKind, _ execution: AsyncExecution) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        let writer = try kind.make(folder, configuration)
        try await Self.$request.withValue("seven") {
            let isolated = try await writer.read { _ in Self.request }
            #expect(isolated == "seven")
            #expect(try await writer.unsafeRead { _ in Self.request } == "seven")
            #expect(try await writer.write { _ in Self.request } == "seven")
            #expect(try await writer.barrierWriteWithoutTransaction { _ in Self.request } == "seven")
            let read: String = await completion { done in writer.asyncRead { _ in done(Self.request) } }
            #expect(read == "seven")
            let write: String = await completion { done in
                writer.asyncWrite { _ in
                    Self.request
                } completion: { _, result in
                    done(((try? result.get()) ?? "") + Self.request)
                }
            }
            #expect(write == "sevenseven")
            let unsafe: String = await completion { done in
                writer.asyncWriteWithoutTransaction { _ in done(Self.request) }
            }
            #expect(unsafe == "seven")
        }
        #expect(try await writer.read { _ in Self.request } == "none")
    }
}
