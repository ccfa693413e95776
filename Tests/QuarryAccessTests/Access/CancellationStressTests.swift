import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// A cancellation ends one access alone: the next user of the connection never feels it.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct CancellationStressTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// SQLite reports the interruption of an `ALTER TABLE` that reads the schema as an error in the schema.
    @Test func alterations() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for number in 0..<60 {
                try db.execute(
                    sql: "CREATE TRIGGER t\(number) AFTER INSERT ON t BEGIN UPDATE t SET a = \(number); END")
            }
        }
        let generator = SeededGenerator()
        let seed = generator.seed
        let picker = Recorded(generator)
        for _ in 0..<60 {
            let moment = picker.update { generator in Int.random(in: 0..<2_000, using: &generator) }
            let victim = Task {
                try await queue.write { db in
                    for _ in 0..<4 { try db.execute(sql: "ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME TO t") }
                }
            }
            let canceller = Task.detached {
                for _ in 0..<moment { await Task.yield() }
                victim.cancel()
            }
            do {
                try await victim.value
            } catch is CancellationError {
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            await canceller.value
        }
        try await queue.write { db in try db.execute(sql: "DROP TABLE t") }
    }

    /// Writes and reads, half of which are cancelled at random moments; the table's counter tells what was committed.
    @Test(arguments: WriterKind.allCases, [AsyncExecution.automatic, .inline, .offloaded])
    func randomMoments(_ kind: WriterKind, _ execution: AsyncExecution) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        configuration.maximumReaderCount = 2
        let writer = try kind.make(folder, configuration)
        try await writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER);
                    CREATE TABLE counter (n INTEGER);
                    INSERT INTO counter VALUES (0);
                    """)
        }
        var generator = SeededGenerator()
        let seed = generator.seed
        var committed = 0
        for round in 0..<100 {
            let moment = Int.random(in: 0..<400, using: &generator)
            let victim = Task {
                try await writer.write { db in
                    for _ in 0..<5 { try db.insert(round) }
                    try db.execute(sql: "UPDATE counter SET n = n + 1")
                }
            }
            let reader = Task { try await writer.read { db in (try db.count(), try db.count()) } }
            let canceller = Task.detached {
                for _ in 0..<moment { await Task.yield() }
                victim.cancel()
                reader.cancel()
            }
            // Uncancelled reads succeed, whatever else happens.
            let bystander = Task { try await writer.read { db in (try db.count(), try db.count()) } }
            let writerAfter = Task { try await writer.write { db in try db.execute(sql: "UPDATE counter SET n = n") } }
            do {
                try await victim.value
                committed += 1
            } catch is CancellationError {
            }
            let counts = try await bystander.value
            #expect(counts.0 == counts.1, "seed \(seed), round \(round)")
            #expect(counts.0.isMultiple(of: 5), "seed \(seed), round \(round)")
            try await writerAfter.value
            do {
                let counts = try await reader.value
                #expect(counts.0 == counts.1)
            } catch is CancellationError {
            }
            await canceller.value
            let (rows, counter) = try await writer.read { db in
                (try db.count(), try Int.fetchOne(db, sql: "SELECT n FROM counter"))
            }
            #expect(rows == 5 * committed, "seed \(seed), round \(round)")
            #expect(counter == committed, "seed \(seed), round \(round)")
        }
    }

    /// Cancelled at once, a thousand times, in front of one that must not notice.
    @Test func theNextUser() async throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"))
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        for value in 0..<1_000 {
            let hasBegun = Step("the statement is about to run")
            let victim = Task {
                try await queue.writeWithoutTransaction { db in
                    hasBegun.reach()
                    try db.runForever()
                }
            }
            try await hasBegun.reached()
            let next = Task { try await queue.write { db in try db.insert(value) } }
            victim.cancel()
            try await next.value
            await #expect(throws: CancellationError.self) { try await victim.value }
        }
        #expect(try await queue.read { db in try db.count() } == 1_000)
    }

    /// `sqlite3_interrupt` leaves a flag that only the next statement clears: a checkpoint must not find it.
    @Test func anInterruptionThatMetNoStatement() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let hasBegun = Step("the access has begun")
        let isCancelled = Step("the task is cancelled")
        let victim = Task {
            try await pool.writeWithoutTransaction { _ in
                hasBegun.reach()
                try isCancelled.wait()
            }
        }
        try await hasBegun.reached()
        victim.cancel()
        isCancelled.reach()
        try await victim.value
        let checkpoint = try await pool.writeWithoutTransaction { db in
            ConnectionCalls.checkpoint(db.pointer, schema: nil, mode: 3)
        }
        #expect(checkpoint.code == 0)
        #expect(checkpoint.walFrames == 0)
        pool.interrupt()
        try await pool.writeWithoutTransaction { db in
            try db.insert(1)
            db.interrupt()
            #expect(ConnectionCalls.checkpoint(db.pointer, schema: nil, mode: 0).code == 0)
        }
        #expect(try await pool.read { db in try db.values() } == [1])
    }
}
