import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Reads of the last commit, begun in a write that goes on.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ConcurrentReadTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func values(_ result: Result<Database, any Error>) -> Result<[Int], any Error> {
        result.flatMap { db in Result { try db.values() } }
    }

    @Test(arguments: WriterKind.allCases) func whatIsReadIsTheLastCommit(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let results = Recorded<[Result<[Int], any Error>]>([])
        let isRead = (0..<2).map { Step("read \($0)") }
        try await writer.writeWithoutTransaction { db in
            for index in 0..<2 {
                try db.inTransaction {
                    try db.insert(index)
                    return .commit
                }
                writer.spawnConcurrentRead { result in
                    let values = self.values(result)
                    results.update { $0.append(values) }
                    isRead[index].reach()
                }
            }
            try db.insert(100)
        }
        for step in isRead { try await step.reached() }
        #expect(results.value.compactMap { try? $0.get() }.sorted { $0.count < $1.count } == [[0], [0, 1]])
    }

    @Test func thePoolGoesOnWriting() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)") }
        let hasWritten = Step("later writes are over")
        let result: Recorded<Result<[Int], any Error>?> = Recorded(nil)
        let isRead = Step("the read is over")
        try await pool.writeWithoutTransaction { db in
            pool.asyncConcurrentRead { db in
                try? hasWritten.wait()
                let values = self.values(db)
                result.update { $0 = values }
                isRead.reach()
            }
            try db.insert(2)
        }
        try await pool.write { db in try db.insert(3) }
        hasWritten.reach()
        try await isRead.reached()
        #expect(try result.value?.get() == [1])
        #expect(try await pool.read { db in try db.values() } == [1, 2, 3])
    }

    @Test(arguments: WriterKind.allCases) func insideATransaction(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        let error = try await writer.write { _ in
            let error = Recorded<DatabaseError?>(nil)
            writer.spawnConcurrentRead { result in
                let found = expectError(DatabaseError.self) { _ = try result.get() }
                error.update { $0 = found }
            }
            return error.value
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "a concurrent read sees the last commit: it can't begin inside a transaction")
    }

    @Test func outsideAWrite() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let error: DatabaseError? = await completion { done in
            pool.asyncConcurrentRead { result in done(expectError(DatabaseError.self) { _ = try result.get() }) }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "a concurrent read must begin inside a write of its pool")
    }

    @Test func nothingIsWrittenInIt() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let error = Recorded<DatabaseError?>(nil)
        let isRead = Step("the read is over")
        try await pool.writeWithoutTransaction { _ in
            pool.asyncConcurrentRead { result in
                let found = expectError(DatabaseError.self) { try result.get().insert(1) }
                error.update { $0 = found }
                isRead.reach()
            }
        }
        try await isRead.reached()
        #expect(error.value?.resultCode == .SQLITE_READONLY)
    }

    /// Under a barrier all readers are at rest, and stay so: the read is refused instead of waited for.
    @Test func insideABarrier() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let error = Recorded<DatabaseError?>(nil)
        try pool.barrierWriteWithoutTransaction { _ in
            pool.asyncConcurrentRead { result in
                let found = expectError(DatabaseError.self) { _ = try result.get() }
                error.update { $0 = found }
            }
        }
        #expect(error.value?.message == "Database methods are not reentrant.")
    }

    @Test func noReaderIsFree() async throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        configuration.acquireTimeout = 0.01
        let clock = ManualMonotonicClock()
        configuration.monotonicClock = clock.monotonicClock
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let hasBegun = Step("the reader is out")
        let mayEnd = Step("it may come back")
        let reader = OwnThread {
            try pool.read { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached(by: reader)
        let error = Recorded<DatabaseError?>(nil)
        try await clock.advance(by: .milliseconds(10), when: "it waits", pool.statistics.readers.waiters == 1) {
            try await pool.writeWithoutTransaction { _ in
                pool.asyncConcurrentRead { result in
                    let found = expectError(DatabaseError.self) { _ = try result.get() }
                    error.update { $0 = found }
                }
            }
        }
        #expect(error.value?.resultCode == .SQLITE_BUSY)
        mayEnd.reach()
        try await reader.value
    }

    /// Readers come back after concurrent reads: none is lost.
    @Test func manyConcurrentReads() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let seen = Recorded<[Int]>([])
        try await pool.writeWithoutTransaction { db in
            for index in 0..<100 {
                try db.insert(index)
                pool.asyncConcurrentRead { result in
                    let count = (try? result.get().count()) ?? -1
                    seen.update { $0.append(count) }
                }
            }
        }
        try await until("all have been read") { seen.value.count == 100 }
        #expect(seen.value.sorted() == Array(1...100))
        try await pool.barrierWriteWithoutTransaction { _ in }
    }
}
