import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

// Statements that pass their time, savepoints of SQL, and databases whose writes don't share.

extension GroupCommitTests {
    /// A change of a later write that has passed its time goes on, because SQLite would roll back the other writes,
    /// too: its write is undone when it has ended, even if the error is caught.
    @Test(arguments: [false, true]) func statementTimeoutOfAChangeThatEnds(_ isCaught: Bool) async throws {
        let clock = ManualMonotonicClock()
        let writer = try make {
            $0.statementTimeout = 1_000
            $0.monotonicClock = clock.monotonicClock
        }
        let change = """
            INSERT INTO t SELECT pause() UNION ALL
            SELECT * FROM (WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n)
            """
        let long = Self.write { db in
            // Used on the thread of the write alone.
            nonisolated(unsafe) let connection = db
            let pause = DatabaseFunction("pause", argumentCount: 0) { _ in
                clock.advance(by: .milliseconds(2))
                // It may now go on for as long as it takes.
                connection.clocks.deadlines.statementLimit = 1_000
                return nil
            }
            db.add(function: pause)
            // The function retains its connection.
            defer { db.remove(function: pause) }
            db.clocks.deadlines.statementLimit = 0.001
            defer { db.clocks.deadlines.statementLimit = 1_000 }
            guard isCaught else { return try db.execute(sql: change) }
            let message = "statement timeout: it ran longer than 1000.0 seconds"
            expectError(.SQLITE_INTERRUPT, message, sql: change) { try db.execute(sql: change) }
            expectError(.SQLITE_INTERRUPT, message, sql: "SELECT 1") { try Int.fetchOne(db, sql: "SELECT 1") }
        }
        let errors = try await errors(of: [Self.inserting(1), long, Self.inserting(3)], in: writer)
        #expect(errors.map { ($0 as? DatabaseError)?.resultCode } == [nil, .SQLITE_INTERRUPT, nil])
        #expect((errors[1] as? DatabaseError)?.sql == (isCaught ? nil : change))
        #expect(transactions() == "( 1 [ < ] [ 3 ] )")
        #expect(try await values(writer) == [1, 3])
    }

    /// A change that has taken twice its time is stopped, and SQLite rolls the writes before it back.
    @Test func statementTimeoutOfAnEndlessChange() async throws {
        let writer = try make {
            $0.statementTimeout = 1_000
            $0.monotonicClock = ManualMonotonicClock(tick: .microseconds(100)).monotonicClock
        }
        let endless = Self.write { db in
            db.clocks.deadlines.statementLimit = 0.001
            defer { db.clocks.deadlines.statementLimit = 1_000 }
            try db.execute(
                sql: """
                    INSERT INTO t
                    WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0
                    """)
        }
        let errors = try await errors(of: [Self.inserting(1), endless, Self.inserting(3)], in: writer)
        #expect(errors.map { ($0 as? DatabaseError)?.resultCode } == [.SQLITE_ABORT, .SQLITE_INTERRUPT, nil])
        #expect(try await values(writer) == [3])
    }

    /// A read, and a change of the first write, harm no other write, and are stopped at once.
    @Test(arguments: [0, 1]) func statementTimeoutOfOtherStatements(_ position: Int) async throws {
        let writer = try make {
            $0.statementTimeout = 1_000
            $0.monotonicClock = ManualMonotonicClock(tick: .microseconds(100)).monotonicClock
        }
        var writes = (1...3).map(Self.inserting)
        writes[position] = Self.write { db in
            db.clocks.deadlines.statementLimit = 0.001
            defer { db.clocks.deadlines.statementLimit = 1_000 }
            try db.execute(
                sql: (position == 0 ? "INSERT INTO t " : "")
                    + "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0")
        }
        let errors = try await errors(of: writes, in: writer)
        #expect(
            errors.map { ($0 as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT } == (0..<3).map { $0 == position })
        #expect(try await values(writer) == [1, 2, 3].filter { $0 != position + 1 })
    }

    /// Where writes run on Swift's threads, no connection may wait for them in the middle of a transaction.
    @Test func inlineWritesDoNotShare() async throws {
        let writer = try make { $0.asyncExecution = .inline }
        #expect(writer.writer.groupCommit == nil)
        let errors = try await errors(of: (1...3).map(Self.inserting), in: writer)
        #expect(errors.allSatisfy { $0 == nil })
        #expect(transactions() == "( 1 ) ( 2 ) ( 3 )")
    }

    @Test func databasesWithoutACommitDoNotShare() async throws {
        var configuration = Configuration()
        configuration.groupCommit = true
        configuration.asyncExecution = .offloaded
        #expect(try DatabaseQueue(configuration: configuration).writer.groupCommit == nil)
        #expect(try DatabaseQueue(named: "alone", configuration: configuration).writer.groupCommit == nil)
        let path = folder.file("readonly.sqlite")
        try await DatabaseQueue(path: path).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(queue.writer.groupCommit == nil)
        #expect(try await queue.write { db in try db.values() } == [])
    }

    /// A transaction with 10,000 changed rows is joined by no other write.
    @Test func changedRows() async throws {
        let writer = try make()
        let write: @Sendable (Int, Int) -> Write = { value, changeCount in
            Self.write { db in
                try db.execute(
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(changeCount - 1))
                        INSERT INTO child SELECT NULL FROM n
                        """)
                try db.insert(row: value)
            }
        }
        let lines = [
            ([write(1, 9_999), Self.inserting(2), Self.inserting(3)], "( 1 [ 2 ] ) ( 3 )"),
            ([write(1, 10_000), Self.inserting(2), Self.inserting(3)], "( 1 ) ( 2 [ 3 ] )"),
            ([Self.inserting(1), write(2, 9_998), Self.inserting(3)], "( 1 [ 2 ] [ 3 ] )"),
            ([Self.inserting(1), write(2, 9_999), Self.inserting(3)], "( 1 [ 2 ] ) ( 3 )"),
            ([write(1, 5_000), write(2, 5_000), Self.inserting(3)], "( 1 [ 2 ] ) ( 3 )"),
        ]
        for (writes, expected) in lines {
            #expect(try await errors(of: writes, in: writer).allSatisfy { $0 == nil })
            #expect(transactions() == expected)
            try await writer.write { db in try db.execute(sql: "DELETE FROM t; DELETE FROM child") }
        }
    }

    /// The bounds of a group, on a connection.
    @Test func countAndTime() async throws {
        let writer = try make()
        let limits: [(GroupCommitStateMachine.Limits, String)] = [
            (.init(count: 2, time: .max), "( 1 [ 2 ] ) ( 3 [ 4 ] ) ( 5 )"),
            (.init(count: 1_000, time: 0), "( 1 ) ( 2 ) ( 3 ) ( 4 ) ( 5 )"),
            (.init(count: 1_000, time: .max), "( 1 [ 2 ] [ 3 ] [ 4 ] [ 5 ] )"),
        ]
        for (limits, expected) in limits {
            writer.writer.groupCommit?.withLock { $0.limits = limits }
            #expect(try await errors(of: (1...5).map(Self.inserting), in: writer).allSatisfy { $0 == nil })
            #expect(transactions() == expected)
            try await writer.write { db in try db.execute(sql: "DELETE FROM t") }
        }
    }

    /// Writes of random lines run in their order of arrival, whichever of them fail and wherever their groups end.
    @Test func orderOfArrival() async throws {
        let writer = try make()
        var generator = SeededGenerator()
        for _ in 0..<30 {
            let count = Int.random(in: 1...5, using: &generator)
            writer.writer.groupCommit?.withLock { $0.limits.count = count }
            let fails = (0..<Int.random(in: 2...12, using: &generator)).map { _ in
                Int.random(in: 0..<4, using: &generator) == 0
            }
            let ran = Recorded<[Int]>([])
            let writes = fails.enumerated().map { index, fails in
                Self.write { db in
                    ran.update { $0.append(index) }
                    try db.insert(row: index)
                    if fails { throw Failure() }
                }
            }
            let errors = try await errors(of: writes, in: writer)
            #expect(errors.map { $0 is Failure } == fails, "seed \(generator.seed)")
            #expect(ran.value == Array(fails.indices), "seed \(generator.seed)")
            let stored = try await writer.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY rowid") }
            #expect(stored == fails.indices.filter { !fails[$0] }, "seed \(generator.seed)")
            try await writer.write { db in try db.execute(sql: "DELETE FROM t") }
        }
    }

    /// A savepoint that the first write has left open could be rolled back by another.
    @Test func openSavepointOfTheFirstWrite() async throws {
        let writer = try make()
        let open = Self.write { db in
            try db.execute(sql: "SAVEPOINT mine")
            try db.insert(row: 1)
        }
        let rollingBack = Self.write { db in
            try db.insert(row: 2)
            expectError(.SQLITE_ERROR, "no such savepoint: mine") { try db.execute(sql: "ROLLBACK TO mine") }
        }
        let errors = try await errors(of: [open, rollingBack, Self.inserting(3)], in: writer)
        #expect(errors.allSatisfy { $0 == nil })
        #expect(transactions() == "( 1 ) ( 2 [ 3 ] )")
        #expect(try await values(writer) == [1, 2, 3])
    }

    /// SQL of a later write may use savepoints of the library's name: it doesn't reach the write's own.
    @Test func savepointsOfTheLibrarysName() async throws {
        let writer = try make()
        let leavingOpen: @Sendable (Int, Bool) -> Write = { row, fails in
            Self.write { db in
                try db.insert(row: row)
                for _ in 0..<2 { try db.execute(sql: "SAVEPOINT Quarry") }
                try db.insert(row: row + 1)
                if fails { throw Failure() }
            }
        }
        let errors = try await errors(
            of: [Self.inserting(1), leavingOpen(10, false), leavingOpen(20, true), Self.inserting(3)], in: writer)
        #expect(errors.map { $0 is Failure } == [false, false, true, false])
        #expect(try await values(writer) == [1, 3, 10, 11])
        let ending = ["RELEASE quarry", "ROLLBACK TO \"quarry\""].map { sql in
            Self.write { db in
                try db.insert(row: 30)
                try db.execute(sql: sql)
            }
        }
        let others = try await self.errors(of: [Self.inserting(4)] + ending + [Self.inserting(5)], in: writer)
        #expect(
            others.map { ($0 as? DatabaseError)?.message } == [nil]
                + Array(repeating: "no such savepoint: quarry", count: 2) + [nil])
        #expect(try await values(writer) == [1, 3, 4, 5, 10, 11])
    }
}
