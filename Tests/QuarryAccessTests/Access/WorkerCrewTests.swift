import Dispatch
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Choosing the thread for a job: the decisions, with no thread at all.
@Suite struct WorkerCrewTests {
    /// Whether a thread is to be woken, and one to be started.
    private func need(_ crew: inout WorkerCrew, _ pendingCount: Int, isEndingJob: Bool) -> [Bool] {
        let need = crew.need(pendingCount: pendingCount, isEndingJob: isEndingJob)
        return [need.mustWake, need.mustStart]
    }

    private func mayStay(_ crew: inout WorkerCrew, _ pendingCount: Int) -> Bool {
        crew.mayStay(pendingCount: pendingCount)
    }

    @Test func aJobStartsAThread() {
        var crew = WorkerCrew(maximumThreadCount: 2)
        #expect(need(&crew, 1, isEndingJob: false) == [false, true])
        #expect(need(&crew, 2, isEndingJob: false) == [false, true])
        #expect(need(&crew, 3, isEndingJob: false) == [false, false], "there are as many as there may be")
    }

    @Test func aThreadThatEndsItsJobTakesTheNext() {
        var crew = WorkerCrew(maximumThreadCount: 3)
        crew.threadCount = 1
        #expect(need(&crew, 1, isEndingJob: true) == [false, false])
        #expect(need(&crew, 2, isEndingJob: true) == [false, true])
    }

    @Test func aThreadInTheMidstOfItsJobDoesNot() {
        var crew = WorkerCrew(maximumThreadCount: 3)
        crew.threadCount = 2
        crew.sleepingCount = 1
        #expect(need(&crew, 1, isEndingJob: false) == [true, false])
        #expect((crew.sleepingCount, crew.wokenCount) == (0, 1))
        // A woken thread takes one job.
        #expect(need(&crew, 1, isEndingJob: false) == [false, false])
        #expect(need(&crew, 2, isEndingJob: false) == [false, true])
    }

    @Test func oneThatLooksIsNotWoken() {
        var crew = WorkerCrew(maximumThreadCount: 3)
        (crew.threadCount, crew.spinningCount, crew.sleepingCount) = (2, 1, 1)
        #expect(need(&crew, 1, isEndingJob: false) == [false, false])
        #expect(need(&crew, 2, isEndingJob: false) == [true, false])
    }

    @Test func aThreadThatWaitsIsReplaced() {
        var crew = WorkerCrew(maximumThreadCount: 1)
        crew.threadCount = 1
        #expect(need(&crew, 1, isEndingJob: false) == [false, false])
        crew.blockedCount = 1
        #expect(need(&crew, 1, isEndingJob: false) == [false, true])
    }

    /// The program may take as long as it likes after its access.
    @Test func aThreadWhoseTaskMayStayIsReplaced() {
        var crew = WorkerCrew(maximumThreadCount: 1, maximumStayCount: 2)
        #expect(need(&crew, 1, isEndingJob: false) == [false, true])
        #expect(mayStay(&crew, 0))
        #expect(need(&crew, 1, isEndingJob: false) == [false, true])
        #expect(need(&crew, 2, isEndingJob: false) == [false, false], "the task that stays counts once")
    }

    @Test func fewTasksMayStay() {
        var crew = WorkerCrew(maximumThreadCount: 4, maximumStayCount: 2)
        #expect(!mayStay(&crew, 1), "the thread had better take the other job")
        #expect(mayStay(&crew, 0))
        #expect(mayStay(&crew, 0))
        #expect(!mayStay(&crew, 0))
        #expect(crew.stayCount == 2)
        crew.stayCount -= 1
        #expect(mayStay(&crew, 0))
    }
}

/// Jobs that come from the midst of an access on one of the library's threads.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct WorkerThreadsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The thread that has slept least is woken: its caches are warm, and it is on the processor where it has run.
    @Test func theLastSleeperIsWoken() async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        let pool = try DatabasePool(path: folder.file("lifo.sqlite"), configuration: configuration)
        let bothRun = Step("two reads run")
        let running = Recorded(0)
        let reads = (0..<2).map { _ in
            Task {
                try await pool.read { _ in
                    running.update { $0 += 1 }
                    try bothRun.wait()
                }
            }
        }
        try await until("two reads run") { running.value == 2 }
        bothRun.reach()
        for read in reads { try await read.value }
        var threads: Set<UInt> = []
        for _ in 0..<20 {
            try await until("all threads sleep") { pool.workers.sleepingThreadCount == pool.workers.currentThreadCount }
            threads.insert(try await pool.read { _ in Database.currentThread })
        }
        #expect(pool.workers.currentThreadCount > 1)
        #expect(threads.count == 1)
    }

    /// The access waits for what it has asked for, which another thread has to run.
    @Test(arguments: ["asyncConcurrentRead", "asyncRead", "asyncUnsafeRead"])
    func aReadRunsBesideTheWriteThatAsksForIt(_ kind: String) async throws {
        for index in 0..<10 {
            let pool = try folder.offloadedPool("\(kind)\(index).sqlite", readerCount: 2)
            let hasRead = Step("the read has run")
            try await pool.writeWithoutTransaction { _ in
                switch kind {
                case "asyncConcurrentRead": pool.asyncConcurrentRead { _ in hasRead.reach() }
                case "asyncRead": pool.asyncRead { _ in hasRead.reach() }
                default: pool.asyncUnsafeRead { _ in hasRead.reach() }
                }
                try hasRead.wait()
            }
        }
    }

    /// A write gives back a reader, which a task gets that has to run elsewhere; then the write waits for that task.
    @Test func aReaderThatAWriteGivesBackIsUsedBesideIt() async throws {
        let pool = try folder.offloadedPool("a.sqlite", readerCount: 1)
        let isNested = Step("the read in the write has begun")
        let hasRead = Step("the task has read")
        let task = Task {
            try await isNested.reached()
            try await pool.read { _ in hasRead.reach() }
        }
        try await pool.write { _ in
            try pool.read { _ in
                isNested.reach()
                try spin(until: "the task waits") { pool.readers.group.waiterCount == 1 }
            }
            try hasRead.wait()
            try pool.read { _ in }
        }
        try await task.value
    }

    /// The second read in the write waits for the reader that a task has been handed.
    @Test func aWriteReadsTwice() async throws {
        let pool = try folder.offloadedPool("a.sqlite", readerCount: 1)
        let isNested = Step("the read in the write has begun")
        let task = Task {
            try await isNested.reached()
            try await pool.read { _ in }
        }
        let write = Task {
            try await pool.write { _ in
                try pool.read { _ in
                    isNested.reach()
                    try spin(until: "the task waits") { pool.readers.group.waiterCount == 1 }
                }
                try pool.read { _ in }
            }
        }
        try await write.value
        try await task.value
    }

    /// Closures that are told of a refusal wait, on more threads than the closed pool has: others of its closures run
    /// all the same.
    @Test func threadsThatWaitAreReplaced() async throws {
        let pool = try folder.offloadedPool("a.sqlite", readerCount: 1)
        try pool.close()
        let other = try folder.offloadedPool("b.sqlite", readerCount: 1)
        let hasBegun = Step("the reader is out")
        let isLast = Step("the last closure has run")
        let reader = OwnThread {
            try other.read { _ in
                hasBegun.reach()
                try isLast.wait()
            }
        }
        try await hasBegun.reached()
        let count = 8
        let ended = Recorded(0)
        for _ in 0..<count {
            pool.asyncRead { _ in
                try? other.read { _ in ended.update { $0 += 1 } }
            }
        }
        pool.asyncRead { _ in isLast.reach() }
        try await reader.value
        try await until("all have read") { ended.value == count }
    }
}
