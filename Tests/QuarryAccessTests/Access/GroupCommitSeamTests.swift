import Quarry
import QuarryCore
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Writes that share a transaction, beside the other parts of the library.
@Suite("Seams of group commit", .timeLimit(.minutes(2 * TestTime.factor))) struct GroupCommitSeamTests {
    private struct Failure: Error {}

    @TaskLocal static var request: Int?

    let folder = try! TemporaryFolder()

    private func makePool(_ change: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.groupCommit = true
        // No access of the library's own waits.
        configuration.otherProcesses = .ignored
        (configuration.wal.idleDelay, configuration.wal.ageLimit) = (nil, nil)
        change(&configuration)
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        pool.writer.groupCommit?.withLock { $0.limits.time = .max }
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER UNIQUE, b BLOB)") }
        return pool
    }

    private static func inserting(_ value: Int) -> WritesInLine.Write {
        WritesInLine.write { db in try db.execute(sql: "INSERT INTO t (a) VALUES (?)", arguments: [value]) }
    }

    private func values(_ pool: DatabasePool) async throws -> [Int] { try await pool.read { db in try db.values() } }

    /// Each write is an access of its own to tracers and in statistics.
    @Test func tracersAndStatistics() async throws {
        let tracer = RecordingTracer([.accesses, .statements])
        let pool = try makePool { $0.tracers = [tracer] }
        tracer.forget()
        let before = pool.statistics
        let labelled = WritesInLine.write { db in
            db.accessLabel = "second"
            try db.execute(sql: "INSERT INTO t (a) VALUES (2)")
        }
        let failing = WritesInLine.write { db in
            try db.execute(sql: "INSERT INTO t (a) VALUES (3)")
            throw Failure()
        }
        let errors = try await WritesInLine.errors(
            of: [Self.inserting(1), labelled, failing, Self.inserting(4)], in: pool)
        #expect(errors.map { $0 is Failure } == [false, false, true, false])
        let accesses = tracer.accesses.filter { $0.beginning.kind == .write }.sorted {
            $0.beginning.id < $1.beginning.id
        }
        #expect(accesses.map(\.label) == [nil, "second", nil, nil])
        #expect(accesses.allSatisfy { $0.connection?.role == .writer && $0.hold > .zero })
        let failures = accesses.map { if case .error = $0.outcome { true } else { false } }
        #expect(failures == [false, false, true, false])
        #expect(tracer.statements.count { $0.sql == "COMMIT TRANSACTION" } == 1)
        let after = pool.statistics
        #expect(after.transactions.committed - before.transactions.committed == 1)
        // With the access before them.
        #expect(after.writer.accessCount - before.writer.accessCount == 5)
    }

    @Test func storedCommitNumbers() async throws {
        let pool = try makePool { $0.commitNumbers = .stored }
        let number = pool.lastCommitNumber.rawValue
        _ = try await WritesInLine.errors(of: (1...4).map(Self.inserting), in: pool)
        #expect(pool.lastCommitNumber.rawValue == number + 1)
        #expect(try await values(pool) == [1, 2, 3, 4])
    }

    /// `interrupt()` stops a change at once. SQLite rolls all writes of the transaction back, and they are told.
    @Test func interruption() async throws {
        let pool = try makePool()
        let interrupting = WritesInLine.write { db in
            db.add(
                function: DatabaseFunction("interrupt", argumentCount: 0) { _ in
                    pool.interrupt()
                    return nil
                })
            try db.execute(
                sql: """
                    INSERT INTO t (a) SELECT interrupt() UNION ALL
                    SELECT * FROM (WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)
                    """)
        }
        let errors = try await WritesInLine.errors(
            of: [Self.inserting(1), Self.inserting(2), interrupting, Self.inserting(4)], in: pool)
        #expect(
            errors.map { ($0 as? DatabaseError)?.resultCode } == [.SQLITE_ABORT, .SQLITE_ABORT, .SQLITE_INTERRUPT, nil])
        #expect(try await values(pool) == [4])
    }

    /// Closing in the middle of a transaction: a write that has returned is in the file, and no other.
    @Test(arguments: 0..<3) func closing(_ position: Int) async throws {
        let pool = try makePool()
        let closing = Step("closing has begun")
        var writes = (1...3).map(Self.inserting)
        writes[position] = WritesInLine.write { db in
            try db.execute(sql: "INSERT INTO t (a) VALUES (10)")
            closing.reach()
            try spin(until: "closing waits") { pool.writer.group.isAwaitedByBarrier }
        }
        async let closer: Void = {
            try await closing.reached()
            try await onOwnThread { try pool.close() }
        }()
        let errors = try await WritesInLine.errors(of: writes, in: pool)
        try await closer
        let kept = zip([1, 2, 3], errors).filter { $0.1 == nil }.map { $0.0 == position + 1 ? 10 : $0.0 }
        #expect(kept.contains(10))
        let path = folder.file("a.sqlite")
        #expect(try await onOwnThread { try DatabaseQueue(path: path).read { try $0.values() } } == kept.sorted())
    }

    /// Each write runs in its own task, and leaves no cursor, blob or function of its own to the next.
    @Test func partsOfTheirOwn() async throws {
        let pool = try makePool()
        let requests = Recorded<[Int?]>([])
        let cursors = Recorded<[Unchecked<RowCursor>]>([])
        let writes: [WritesInLine.Write] = (1...3).map { number in
            { writer in
                try await Self.$request.withValue(number) {
                    try await writer.write { db in
                        requests.update { $0.append(Self.request) }
                        expectError(.SQLITE_MISUSE) { try writer.write { _ in } }
                        if let cursor = cursors.value.last {
                            expectError(DatabaseError.self) { _ = try cursor.value.next() }
                        }
                        try db.execute(sql: "INSERT INTO t VALUES (?, zeroblob(10))", arguments: [number])
                        let cursor = try Row.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
                        _ = try cursor.next()
                        cursors.update { [cursor = Unchecked(cursor)] in $0.append(cursor) }
                    }
                }
            }
        }
        let errors = try await WritesInLine.errors(of: writes, in: pool)
        #expect(errors.allSatisfy { $0 == nil })
        #expect(requests.value == [1, 2, 3])
        #expect(try await values(pool) == [1, 2, 3])
    }

    /// A write whose body takes its time holds none of Swift's threads, nor do those that wait for its commit.
    @Test func swiftsThreadsGoOn() async throws {
        let pool = try makePool { $0.synchronous = .full }
        let (isRunning, mayEnd) = (Step("the write runs"), Step("the write may end"))
        let slow = WritesInLine.write { _ in
            isRunning.reach()
            try mayEnd.wait()
        }
        let beats = Task {
            try await isRunning.reached()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<(4 * CooperativePool.width) {
                    group.addTask { for _ in 0..<100 { await Task.yield() } }
                }
            }
            mayEnd.reach()
        }
        let writes = (0..<500).map(Self.inserting) + [slow] + (500..<1_000).map(Self.inserting)
        let errors = try await WritesInLine.errors(of: writes, in: pool)
        try await beats.value
        #expect(errors.allSatisfy { $0 == nil })
        #expect(try await values(pool).count == 1_000)
    }
}

/// Lends a value to another access, which finds that it can't use it.
private struct Unchecked<T>: @unchecked Sendable {
    let value: T
    init(_ value: T) { self.value = value }
}
