import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Barrier writes wait for reads, and hold back those that come later.
@Suite struct BarrierTests {
    let folder: TemporaryFolder
    let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
    }

    enum Style: CaseIterable { case sync, async, callback }

    /// Begins a barrier write in some style; it runs `body`, and the step is reached at its end.
    private func barrier(_ style: Style, _ end: Step, _ body: @escaping @Sendable (Database) throws -> Void) {
        let pool = pool
        switch style {
        case .sync:
            _ = OwnThread("barrier") {
                try pool.barrierWriteWithoutTransaction(body)
                end.reach()
            }
        case .async:
            Task {
                try await pool.barrierWriteWithoutTransaction(body)
                end.reach()
            }
        case .callback:
            pool.asyncBarrierWriteWithoutTransaction { result in
                if let db = try? result.get(), (try? body(db)) != nil { end.reach() }
            }
        }
    }

    @Test(arguments: Style.allCases) func aBarrierWaitsForReads(_ style: Style) async throws {
        let pool = pool
        let hasRead = Step("the reader has read")
        let mayEnd = Step("the reader may end")
        let hasWritten = Step("the barrier write is over")
        let log = Recorded<[String]>([])
        let reader = OwnThread("reader") {
            try pool.read { db in
                hasRead.reach()
                try mayEnd.wait()
                log.update { $0.append("read \((try? db.count()) ?? 0)") }
            }
        }
        try await hasRead.reached()
        barrier(style, hasWritten) { db in
            log.update { $0.append("barrier") }
            try db.insert(2)
        }
        try await until("the barrier waits") { pool.readers.group.waiterCount == 1 }
        // A later read waits behind the barrier, although readers are free.
        let later = Task {
            try await pool.read { db in
                let count = try db.count()
                log.update { $0.append("later read \(count)") }
            }
        }
        try await until("the later read waits") { pool.readers.group.waiterCount == 2 }
        let laterOnThread = OwnThread("later reader") {
            try pool.read { db in
                let count = try db.count()
                log.update { $0.append("later read \(count)") }
            }
        }
        try await until("the later thread waits") { pool.readers.group.waiterCount == 3 }
        #expect(log.value == [])
        mayEnd.reach()
        try await reader.value
        try await hasWritten.reached()
        try await later.value
        try await laterOnThread.value
        #expect(log.value == ["read 1", "barrier", "later read 2", "later read 2"])
    }

    @Test func readsWaitWhileABarrierRuns() async throws {
        let pool = pool
        let hasBegun = Step("the barrier has begun")
        let mayEnd = Step("the barrier may end")
        let isOver = Step("the barrier is over")
        barrier(.sync, isOver) { db in
            try db.insert(2)
            hasBegun.reach()
            try mayEnd.wait()
            try db.insert(3)
        }
        try await hasBegun.reached()
        let read = Task { try await pool.read { db in try db.values() } }
        let thread = OwnThread { try pool.read { db in try db.values() } }
        try await until("both wait") { pool.readers.group.waiterCount == 2 }
        mayEnd.reach()
        #expect(try await read.value == [1, 2, 3])
        #expect(try await thread.value == [1, 2, 3])
        try await isOver.reached()
    }

    @Test func aBarrierOfAQueueIsAWrite() throws {
        let queue = try DatabaseQueue()
        try queue.makeTable()
        try queue.barrierWriteWithoutTransaction { db in try db.insert(1) }
        #expect(try queue.read { db in try db.values() } == [1])
    }

    @Test func snapshotsAreNotWaitedFor() async throws {
        let pool = pool
        let snapshot = try pool.makeSnapshot()
        let hasRead = Step("the snapshot is read")
        let mayEnd = Step("the barrier is over")
        let reader = OwnThread("reader") {
            try snapshot.read { db in
                hasRead.reach()
                try mayEnd.wait()
                return try db.values()
            }
        }
        try await hasRead.reached()
        try await pool.barrierWriteWithoutTransaction { db in try db.insert(2) }
        mayEnd.reach()
        #expect(try await reader.value == [1])
    }

    /// Many reads, writes and barriers at a time: a barrier is alone.
    @Test func barriersAreAlone() async throws {
        let pool = pool
        let readers = Recorded(0)
        let wasAlone = Recorded(true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<120 {
                group.addTask {
                    switch index % 6 {
                    case 0:
                        try await pool.barrierWriteWithoutTransaction { db in
                            if readers.value != 0 { wasAlone.update { $0 = false } }
                            try db.insert(index)
                            if readers.value != 0 { wasAlone.update { $0 = false } }
                        }
                    case 1:
                        try await pool.write { db in try db.insert(index) }
                    default:
                        try await pool.read { db in
                            readers.update { $0 += 1 }
                            _ = try db.values()
                            readers.update { $0 -= 1 }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(wasAlone.value)
        #expect(try await pool.read { db in try db.count() } == 41)
    }
}
