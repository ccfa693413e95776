import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryOutbox

/// The loop of an outbox goes on after errors that pass: it ends by its cancellation, by closing, or by its own errors.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct OutboxFailureTests {
    private struct Failed: Error {}

    /// The writes of a delivery.
    enum Write: String, CaseIterable, CustomTestStringConvertible {
        case lease, end, giveBack
        var testDescription: String { rawValue }
    }

    let folder: TemporaryFolder
    private let outbox = Outbox<String>("email")
    private let time = Recorded(0.0)
    private let clock = ManualClock()
    private let delivered = Recorded<[String]>([])
    private let errors = Recorded<[String]>([])

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// A pool with an outbox, a table `t` that has a row, and a trigger that rolls back.
    private func open(
        _ messages: String..., change: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabasePool {
        var configuration = Configuration()
        let time = time
        configuration.transactionClock = .custom { _ in .init(timeIntervalSinceReferenceDate: time.value) }
        // No access of the library's own comes between.
        configuration.otherProcesses = .ignored
        change(&configuration)
        let pool = try DatabasePool(path: folder.file("outbox.sqlite"), configuration: configuration)
        // A busy machine takes its time between two steps of a test.
        pool.writer.groupCommit?.withLock { $0.limits.time = .max }
        try pool.write { db in
            try outbox.createTables(db)
            for message in messages { try outbox.append(message, db) }
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER UNIQUE);
                    INSERT INTO t VALUES (1);
                    CREATE TRIGGER refused BEFORE INSERT ON t WHEN new.a = 2 BEGIN SELECT RAISE(ROLLBACK, 'two'); END;
                    """)
        }
        return pool
    }

    /// The loop. The test says when a delivery ends.
    private func deliver(
        from writer: any DatabaseWriter, _ body: @escaping @Sendable ([String]) async throws -> Void = { _ in }
    ) -> Task<Void, any Error> {
        Task {
            try await outbox.deliver(
                from: writer, clock: clock, onError: { error in errors.update { $0.append("\(error)") } }
            ) { messages in
                let payloads = messages.map(\.payload)
                delivered.update { $0 += payloads }
                try await body(payloads)
            }
        }
    }

    /// Lets time pass for the loop until something has happened.
    private func advance(until name: String, _ condition: () throws -> Bool) async throws {
        try await until(name) {
            if try condition() { return true }
            clock.advance(by: .seconds(1))
            return false
        }
    }

    private func pending(_ writer: any DatabaseWriter) throws -> [String] {
        try writer.read { db in try String.fetchAll(db, sql: "SELECT payload FROM email ORDER BY id") }
    }

    private func end(_ loop: Task<Void, any Error>) async {
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
    }

    // MARK: - Transactions that other writes lose

    /// Another write rolls back the transaction that it shares with a write of the outbox.
    @Test(arguments: Write.allCases, ["INSERT OR ROLLBACK INTO t VALUES (1)", "INSERT INTO t VALUES (2)"])
    func rollbackByAnotherWrite(_ write: Write, _ sql: String) async throws {
        let pool = try open("a")
        let (isDelivering, mayEnd) = (Step("it delivers"), Step("the delivery may end"))
        let loop = deliver(from: pool) { _ in
            isDelivering.reach()
            try await mayEnd.reached()
            if write != .end, delivered.value.count == 1 { throw Failed() }
        }
        try await isDelivering.reached()
        if write == .lease {
            // After a failure and its pause, the message is leased again.
            mayEnd.reach()
            try await until("the pause") { errors.value == ["Failed()"] }
        }
        let bystander = WritesInLine.write { db in try db.execute(sql: sql) }
        let results = try await WritesInLine.errors(
            of: [
                { _ in
                    mayEnd.reach()
                    guard write == .lease else { return }
                    time.update { $0 += 1 }
                    try await advance(until: "the lease is in line") {
                        pool.writer.group.waiterCount > 0 || delivered.value.count > 1
                    }
                }, bystander,
            ], in: pool)
        #expect((results[1] as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT)
        if write == .giveBack {
            try await until("the pause") { errors.value == ["Failed()"] }
            time.update { $0 += 1 }
            try await advance(until: "the message is delivered") { try pending(pool) == [] }
        }
        try await until("the message is delivered") { try pending(pool) == [] }
        #expect(delivered.value == (write == .end ? ["a"] : ["a", "a"]))
        #expect(errors.value == (write == .end ? [] : ["Failed()"]))
        // The loop goes on. No time passes.
        try await pool.write { db in _ = try outbox.append("b", db) }
        try await until("the next message is delivered") { try pending(pool) == [] && delivered.value.last == "b" }
        await end(loop)
    }

    @Test func aSingleDeliveryIsNotedAlthoughAnotherWriteRollsBack() async throws {
        let pool = try open("a", "b")
        let (isDelivering, mayEnd) = (Step("it delivers"), Step("the delivery may end"))
        let delivery = Task {
            try await outbox.deliverNext(from: pool, options: OutboxOptions(batch: 1), clock: clock) { _ in
                isDelivering.reach()
                try await mayEnd.reached()
            }
        }
        try await isDelivering.reached()
        let results = try await WritesInLine.errors(
            of: [
                { _ in mayEnd.reach() },
                WritesInLine.write { db in try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)") },
            ], in: pool)
        #expect(results[1] != nil)
        #expect(try await delivery.value == 1)
        #expect(try pending(pool) == ["b"])
    }

    // MARK: - Errors that pass

    /// The disk fails once the message is sent: its delivery is noted when the disk works again, and it isn't repeated.
    @Test(arguments: [ResultCode.SQLITE_FULL, .SQLITE_IOERR]) func aFailingDisk(_ code: ResultCode) async throws {
        let faults = try FaultVFS()
        let pool = try open("a") { $0.vfs = faults.name }
        let loop = deliver(from: pool) { messages in
            if messages == ["a"] { faults.arm(.write, nth: 1, code: code, andAllAfter: true) }
        }
        for count in 1...3 {
            try await until("error \(count)") { errors.value.count == count && clock.sleeperCount == 1 }
            if count == 3 { faults.disarm() }
            clock.advance(by: .seconds(1))
        }
        try await until("the delivery is noted") { try pending(pool) == [] }
        #expect(delivered.value == ["a"])
        #expect(errors.value.allSatisfy { $0.hasPrefix("SQLite error \(code.rawValue):") })
        try await pool.write { db in _ = try outbox.append("b", db) }
        try await until("the next message is delivered") { try pending(pool) == [] && delivered.value == ["a", "b"] }
        await end(loop)
    }

    /// A pool whose writes to the outbox throw an error as long as the test says so.
    private func openRefusing(_ code: ResultCode, _ refuses: Recorded<Bool>) throws -> DatabasePool {
        let pool = try open("a") { configuration in
            configuration.prepareDatabase { db in
                db.add(
                    function: DatabaseFunction("refuse", argumentCount: 0) { _ in
                        if refuses.value { throw DatabaseError(resultCode: code, message: "refused") }
                        return nil
                    })
            }
        }
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER refusal AFTER DELETE ON email BEGIN SELECT refuse(); END;
                    CREATE TRIGGER refusedLease AFTER INSERT ON email_lease BEGIN SELECT refuse(); END;
                    """)
        }
        return pool
    }

    @Test(arguments: [
        ResultCode.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT, .SQLITE_NOMEM, .SQLITE_CANTOPEN, .SQLITE_PROTOCOL,
    ]) func errorsThatPass(_ code: ResultCode) async throws {
        let refuses = Recorded(true)
        let pool = try openRefusing(code, refuses)
        let loop = deliver(from: pool) { _ in refuses.update { $0 = true } }
        // The lease is refused, and then the end of the delivery.
        for count in 1...2 {
            try await until("error \(count)") { errors.value.count == count && clock.sleeperCount == 1 }
            #expect(delivered.value.count == count - 1)
            refuses.update { $0 = false }
            clock.advance(by: .seconds(1))
        }
        try await until("the delivery is noted") { try pending(pool) == [] }
        #expect(delivered.value == ["a"])
        await end(loop)
    }

    @Test(arguments: [ResultCode.SQLITE_READONLY, .SQLITE_CONSTRAINT, .SQLITE_TOOBIG])
    func errorsThatDoNotPass(_ code: ResultCode) async throws {
        let pool = try openRefusing(code, Recorded(true))
        await expectError(code, "refused") { try await deliver(from: pool).value }
        #expect(delivered.value == [])
        #expect(errors.value == [])
    }

    /// The consumer is cancelled while its delivery can't be noted: the lease ends by itself.
    @Test func cancellationWhileTheDiskIsFull() async throws {
        let refuses = Recorded(false)
        let pool = try openRefusing(.SQLITE_FULL, refuses)
        let loop = deliver(from: pool) { _ in refuses.update { $0 = true } }
        try await until("the error") { errors.value.count == 1 && clock.sleeperCount == 1 }
        await end(loop)
        refuses.update { $0 = false }
        #expect(try await outbox.deliverNext(from: pool) { _ in } == 0)
        time.update { $0 += 30 }
        #expect(try await outbox.deliverNext(from: pool) { _ in } == 1)
    }

    /// The pauses between tries grow up to the poll interval.
    @Test func pausesBetweenTriesGrow() async throws {
        let pool = try openRefusing(.SQLITE_FULL, Recorded(true))
        let loop = Task {
            try await outbox.deliver(
                from: pool, options: OutboxOptions(pollInterval: .seconds(3)), clock: clock,
                onError: { error in errors.update { $0.append("\(error)") } }
            ) { _ in }
        }
        for (count, pause) in zip(1..., [1, 2, 3, 3]) {
            try await until("error \(count)") { errors.value.count == count && clock.sleeperCount == 1 }
            clock.advance(by: .seconds(pause) - .milliseconds(1))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .milliseconds(1))
        }
        try await until("the last error") { errors.value.count == 5 }
        await end(loop)
    }

    /// A database that is too busy refuses to tell of commits when the loop begins: the loop asks again.
    @Test func commitsWakeALoopThatBeganBesideABusyWriter() async throws {
        let pool = try open { $0.maximumWaiters = 0 }
        let (hasBegun, mayEnd) = (Step("a write has begun"), Step("it may end"))
        let write = OwnThread {
            try pool.writeWithoutTransaction { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let loop = deliver(from: pool)
        try await until("the loop waits") { clock.sleeperCount == 1 }
        #expect(errors.value.count == 1)
        #expect(errors.value.first?.contains("too many accesses wait") == true)
        mayEnd.reach()
        try await write.value
        clock.advance(by: .seconds(1))
        try await until("the loop waits again") { clock.sleeperCount == 1 }
        // No time passes any more.
        try await pool.write { db in _ = try outbox.append("a", db) }
        try await until("the message is delivered") { delivered.value == ["a"] }
        await end(loop)
    }

    /// The loop begins with a write. Its cancellation, or closing the database, ends the wait for it.
    @Test(arguments: [false, true]) func anEndBesideABusyWriter(closes: Bool) async throws {
        let pool = try open("a")
        let (hasBegun, mayEnd) = (Step("a write has begun"), Step("it may end"))
        let write = OwnThread {
            try pool.writeWithoutTransaction { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let loop = deliver(from: pool)
        try await until("the loop waits for the writer") { pool.writer.group.waiterCount == 1 }
        if closes {
            let closing = Task { try await pool.close(gracePeriod: .zero) }
            await expectError(.SQLITE_MISUSE) { try await loop.value }
            mayEnd.reach()
            try await closing.value
        } else {
            await end(loop)
        }
        mayEnd.reach()
        try await write.value
        #expect(delivered.value == [] && errors.value == [])
    }
}
