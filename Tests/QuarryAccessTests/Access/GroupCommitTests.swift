import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Asynchronous writes that wait in line share a transaction.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct GroupCommitTests {
    struct Failure: Error {}

    let folder = try! TemporaryFolder()
    let trace = SQLTrace()

    /// The writers that have a line.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case pool, walQueue, fileQueue
        var testDescription: String { rawValue }
    }

    func make(
        _ kind: Kind = .pool, _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> any GroupWriter {
        var configuration = Configuration()
        configuration.groupCommit = true
        // No access of the library's own comes between.
        configuration.otherProcesses = .ignored
        (configuration.wal.idleDelay, configuration.wal.ageLimit) = (nil, nil)
        trace.install(in: &configuration)
        change(&configuration)
        let path = folder.file("\(kind).sqlite")
        var writer: any GroupWriter
        switch kind {
        case .pool: writer = try DatabasePool(path: path, configuration: configuration)
        case .walQueue:
            configuration.journalMode = .wal
            writer = try DatabaseQueue(path: path, configuration: configuration)
        case .fileQueue: writer = try DatabaseQueue(path: path, configuration: configuration)
        }
        // A busy machine takes its time between two steps of a test.
        writer.writer.groupCommit?.withLock { $0.limits.time = .max }
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER UNIQUE);
                    CREATE TABLE child (t REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED);
                    """)
        }
        return writer
    }

    typealias Write = WritesInLine.Write

    static func write(_ body: @escaping @Sendable (Database) throws -> Void) -> Write {
        WritesInLine.write(body)
    }

    /// A write of one row.
    static func inserting(_ value: Int) -> Write { write { db in try db.insert(row: value) } }

    func errors(
        of writes: [Write], in writer: any GroupWriter,
        whenInLine: ([Task<(any Error)?, Never>]) async throws -> Void = { _ in }
    ) async throws -> [(any Error)?] {
        try await WritesInLine.errors(of: writes, in: writer) { tasks in
            try await whenInLine(tasks)
            _ = trace.take()
        }
    }

    func values(_ writer: any GroupWriter) async throws -> [Int] {
        try await writer.read { db in try db.values() }
    }

    /// The statements that the writer has run: those of transactions as brackets, and the inserted rows.
    func transactions() -> String {
        trace.take().compactMap { sql in
            if sql.hasPrefix("INSERT INTO t VALUES (") { return String(sql.dropFirst(22).dropLast()) }
            return switch sql {
            case "BEGIN IMMEDIATE TRANSACTION": "("
            case "COMMIT TRANSACTION": ")"
            case "ROLLBACK TRANSACTION": "x"
            case "SAVEPOINT quarry": "["
            case "RELEASE SAVEPOINT quarry": "]"
            case "ROLLBACK TRANSACTION TO SAVEPOINT quarry": "<"
            default: nil
            }
        }.joined(separator: " ")
    }

    @Test(arguments: Kind.allCases) func writesInLineShareATransaction(_ kind: Kind) async throws {
        let writer = try make(kind)
        let errors = try await errors(of: (1...3).map(Self.inserting), in: writer)
        #expect(errors.allSatisfy { $0 == nil })
        #expect(transactions() == "( 1 [ 2 ] [ 3 ] )")
        #expect(try await values(writer) == [1, 2, 3])
    }

    /// A write with no other behind it in line has its own transaction, and no savepoint.
    @Test(arguments: Kind.allCases) func aloneWrite(_ kind: Kind) async throws {
        let writer = try make(kind)
        _ = trace.take()
        try await writer.write { db in try db.insert(row: 1) }
        await #expect(throws: Failure.self) {
            try await writer.write { db in
                try db.insert(row: 2)
                throw Failure()
            }
        }
        #expect(transactions() == "( 1 ) ( 2 x")
        #expect(try await values(writer) == [1])
    }

    @Test(arguments: 0..<3) func failingWriteIsUndoneAlone(_ position: Int) async throws {
        let writer = try make()
        var writes = (1...3).map(Self.inserting)
        writes[position] = Self.write { db in
            try db.insert(row: 10)
            throw Failure()
        }
        let errors = try await errors(of: writes, in: writer)
        #expect(errors.map { $0 is Failure } == (0..<3).map { $0 == position })
        #expect(
            transactions()
                == ["( 10 x ( 2 [ 3 ] )", "( 1 [ 10 < ] [ 3 ] )", "( 1 [ 2 ] [ 10 < ] )"][position])
        #expect(try await values(writer) == [1, 2, 3].filter { $0 != position + 1 })
    }

    @Test(arguments: 0..<3) func violatedConstraints(_ position: Int) async throws {
        let writer = try make()
        for isDeferred in [false, true] {
            try await writer.write { db in try db.execute(sql: "DELETE FROM t; INSERT INTO t VALUES (0)") }
            var writes = (1...3).map(Self.inserting)
            writes[position] = Self.write { db in
                try db.insert(row: 10)
                try db.execute(sql: isDeferred ? "INSERT INTO child VALUES (99)" : "INSERT INTO t VALUES (0)")
            }
            let errors = try await errors(of: writes, in: writer)
            #expect(errors.map { $0 != nil } == (0..<3).map { $0 == position })
            let error = try #require(errors[position] as? DatabaseError)
            #expect(
                error.extendedResultCode
                    == (isDeferred ? .SQLITE_CONSTRAINT_FOREIGNKEY : .SQLITE_CONSTRAINT_UNIQUE))
            #expect(try await values(writer) == [0, 1, 2, 3].filter { $0 != position + 1 })
            #expect(try await writer.read { db in try Int.fetchAll(db, sql: "SELECT t FROM child") } == [])
        }
    }

    /// A later write can't end the transaction of the earlier ones by hand.
    @Test(arguments: ["COMMIT", "END", "ROLLBACK", "commit()", "rollback()", "\u{FEFF}COMMIT", "\u{FEFF} ROLLBACK"])
    func transactionsEndedByHand(_ sql: String) async throws {
        let writer = try make()
        let end: @Sendable (Database) throws -> Void = { db in
            switch sql {
            case "commit()": try db.commit()
            case "rollback()": try db.rollback()
            default: try db.execute(sql: sql)
            }
        }
        let writes = [
            Self.inserting(1),
            Self.write { db in
                try db.insert(row: 2)
                try end(db)
            },
            Self.write { db in
                try db.insert(row: 3)
                try? end(db)
                try db.insert(row: 4)
            },
        ]
        let errors = try await errors(of: writes, in: writer)
        #expect(errors[0] == nil && errors[2] == nil)
        let error = try #require(errors[1] as? DatabaseError)
        #expect(error.resultCode == .SQLITE_MISUSE)
        #expect(error.message == "a write can't end a transaction that other writes share")
        #expect(try await values(writer) == [1, 3, 4])
    }

    /// SQLite accepts these texts, too. A later write can't end the savepoint with which it began.
    @Test(arguments: ["\u{FEFF}RELEASE quarry", "ROLLBACK TRANSACTION x TO quarry", "\u{FEFF}ROLLBACK TO quarry"])
    func savepointEndedByHand(_ sql: String) async throws {
        let writer = try make()
        let write = Self.write { db in
            try db.insert(row: 2)
            try db.execute(sql: sql)
        }
        let errors = try await errors(of: [Self.inserting(1), write, Self.inserting(3)], in: writer)
        #expect(errors[0] == nil && errors[2] == nil)
        #expect((errors[1] as? DatabaseError)?.message == "no such savepoint: quarry")
        #expect(try await values(writer) == [1, 3])
    }

    /// A function of the program's may commit through SQLite's C functions: the earlier writes are told so.
    @Test(arguments: ["SELECT run('COMMIT')", "SELECT run('COMMIT'), fail()"], [true, false])
    func statementThatIsNotKnownToCommit(_ sql: String, isObserved: Bool) async throws {
        let writer = try make()
        let listener = RecordingListener()
        if isObserved { try await writer.writeWithoutTransaction { db in try db.listenToCommits(listener) } }
        let ends = Recorded<[String]>([])
        let writes = [
            Self.inserting(1), Self.inserting(2),
            Self.write { db in
                RawSQL.addFunctions(db)
                db.afterNextTransaction { _ in
                    ends.update { $0.append("commit") }
                } onRollback: { _ in
                    ends.update { $0.append("rollback") }
                }
                try db.insert(row: 3)
                _ = try? Row.fetchOne(db, sql: sql)
                try db.insert(row: 4)
            },
            Self.inserting(5),
        ]
        let errors = try await errors(of: writes, in: writer)
        #expect(errors[0] == nil && errors[1] == nil && errors[3] == nil)
        #expect((errors[2] as? DatabaseError)?.resultCode == .SQLITE_ABORT)
        #expect(ends.value == ["commit"])
        if isObserved { #expect(listener.takeChanges().map(\.description) == ["t(*)", "t(*)"]) }
        #expect(try await values(writer) == [1, 2, 3, 5])
    }

    /// As above, for a rollback.
    @Test(arguments: ["SELECT run('ROLLBACK')", "SELECT run('ROLLBACK'), fail()"])
    func statementThatIsNotKnownToRollBack(_ sql: String) async throws {
        let writer = try make()
        let writes = [
            Self.inserting(1),
            Self.write { db in
                RawSQL.addFunctions(db)
                try db.insert(row: 2)
                _ = try? Row.fetchOne(db, sql: sql)
                try db.insert(row: 3)
            },
            Self.inserting(4),
        ]
        let errors = try await errors(of: writes, in: writer)
        let codes = errors.map { ($0 as? DatabaseError)?.resultCode }
        #expect(codes == [.SQLITE_ABORT, .SQLITE_ABORT, nil])
        #expect(try await values(writer) == [4])
    }

    /// The first write has the transaction for itself as long as it runs.
    @Test func firstWriteEndsItsTransactionByHand() async throws {
        let writer = try make()
        let writes = [
            Self.write { db in
                try db.insert(row: 1)
                try db.rollback()
            }, Self.inserting(2), Self.inserting(3),
        ]
        let errors = try await errors(of: writes, in: writer)
        #expect((errors[0] as? DatabaseError)?.resultCode == .SQLITE_ABORT)
        #expect(errors[1] == nil && errors[2] == nil)
        #expect(try await values(writer) == [2, 3])
    }

    /// SQLite rolls everything back: the earlier writes are told so, and the later ones are unharmed.
    @Test func conflictThatRollsBack() async throws {
        let writer = try make()
        let writes = [
            Self.inserting(1), Self.inserting(2),
            Self.write { db in try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)") },
            Self.inserting(4), Self.inserting(5),
        ]
        let errors = try await errors(of: writes, in: writer)
        let codes = errors.map { ($0 as? DatabaseError)?.resultCode }
        #expect(codes == [.SQLITE_ABORT, .SQLITE_ABORT, .SQLITE_CONSTRAINT, nil, nil])
        #expect("\(try #require(errors[0]))".contains("UNIQUE constraint failed: t.a"))
        #expect(transactions() == "( 1 [ 2 ] [ ( 4 [ 5 ] )")
        #expect(try await values(writer) == [4, 5])
    }

    /// Accesses that can't share a transaction come between those that do.
    @Test func accessesThatDoNotShare() async throws {
        let writer = try make()
        let others: [Write] = [
            { writer in try await writer.write(timeout: .seconds(100)) { db in try db.insert(row: 10) } },
            { writer in try await writer.writeWithoutTransaction { db in try db.insert(row: 10) } },
            { writer in try await writer.barrierWriteWithoutTransaction { db in try db.insert(row: 10) } },
            { writer in
                try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                    writer.asyncWrite { db in
                        try db.insert(row: 10)
                    } completion: { _, result in
                        done.resume(with: result)
                    }
                }
            },
            { writer in try await onOwnThread { try writer.write { db in try db.insert(row: 10) } } },
        ]
        for (index, other) in others.enumerated() {
            let writes = [Self.inserting(1), Self.inserting(2), other, Self.inserting(3), Self.inserting(4)]
            let errors = try await errors(of: writes, in: writer)
            #expect(errors.allSatisfy { $0 == nil }, "\(index)")
            let middle = index == 1 || index == 2 ? "10" : "( 10 )"
            #expect(transactions() == "( 1 [ 2 ] ) \(middle) ( 3 [ 4 ] )", "\(index)")
            try await writer.write { db in try db.execute(sql: "DELETE FROM t") }
        }
    }

    /// Writes that leave something to the connection or to the commit are the last of their transaction.
    @Test func lastWrites() async throws {
        let writer = try make()
        let lasts: [@Sendable (Database) throws -> Void] = [
            { db in try db.execute(sql: "PRAGMA defer_foreign_keys = ON") },
            { db in try db.execute(sql: "CREATE TABLE IF NOT EXISTS u (a)") },
            { db in try db.execute(sql: "ATTACH ':memory:' AS m; DETACH m") },
            { db in db.afterNextTransaction { _ in } },
            { db in db.commitOrigin = "import" },
            { db in db.add(transactionObserver: NoObserver(), extent: .nextTransaction) },
        ]
        for (index, last) in lasts.enumerated() {
            let write = Self.write { db in
                try last(db)
                try db.insert(row: 10)
            }
            let errors = try await errors(
                of: [Self.inserting(1), Self.inserting(2), write, Self.inserting(3), Self.inserting(4)], in: writer)
            #expect(errors.allSatisfy { $0 == nil }, "\(index)")
            #expect(transactions() == "( 1 [ 2 ] [ 10 ] ) ( 3 [ 4 ] )", "\(index)")
            try await writer.write { db in try db.execute(sql: "DELETE FROM t") }
        }
    }

    /// An observer of the connection may refuse commits, so each write has its own.
    @Test func observedWritesDoNotShare() async throws {
        let writer = try make()
        let observer = NoObserver()
        writer.add(transactionObserver: observer, extent: .databaseLifetime)
        let errors = try await errors(of: (1...3).map(Self.inserting), in: writer)
        #expect(errors.allSatisfy { $0 == nil })
        #expect(transactions() == "( 1 ) ( 2 ) ( 3 )")
    }

    private final class NoObserver: TransactionObserver {
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    /// A cancelled write leaves the line, or is undone alone.
    @Test(arguments: 0..<3) func cancellationInLine(_ position: Int) async throws {
        let writer = try make()
        let errors = try await errors(of: (1...3).map(Self.inserting), in: writer) { $0[position].cancel() }
        #expect(errors.map { $0 is CancellationError } == (0..<3).map { $0 == position })
        #expect(try await values(writer) == [1, 2, 3].filter { $0 != position + 1 })
    }

    /// A running read of a write is interrupted; a running change of a later write goes on to its end.
    @Test(arguments: 0..<3) func cancellationOfARunningWrite(_ position: Int) async throws {
        let writer = try make()
        let isRunning = Step("the write runs")
        var writes = (1...3).map(Self.inserting)
        writes[position] = Self.write { db in
            try db.insert(row: 10)
            isRunning.reach()
            try db.runForever()
        }
        let canceller = Recorded<Task<(any Error)?, Never>?>(nil)
        async let cancelled: Void = {
            try await isRunning.reached()
            canceller.value?.cancel()
        }()
        let errors = try await errors(of: writes, in: writer) { tasks in canceller.update { $0 = tasks[position] } }
        try await cancelled
        #expect(errors.map { $0 is CancellationError } == (0..<3).map { $0 == position })
        #expect(try await values(writer) == [1, 2, 3].filter { $0 != position + 1 })
    }

    /// A change that is cancelled while other writes share its transaction isn't interrupted, because SQLite would roll
    /// them back, too. The write is undone when the change has ended.
    @Test func cancellationOfARunningChange() async throws {
        let writer = try make()
        let isRunning = Step("the change runs")
        let canceller = Recorded<Task<(any Error)?, Never>?>(nil)
        let writes = [
            Self.inserting(1),
            Self.write { db in
                db.add(
                    function: DatabaseFunction("pause", argumentCount: 0) { _ in
                        isRunning.reach()
                        try until(cancelled: canceller)
                        return nil
                    })
                try db.execute(
                    sql: """
                        INSERT INTO t SELECT pause() UNION ALL
                        SELECT * FROM (
                            WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n)
                        """)
            },
            Self.inserting(3),
        ]
        async let cancelled: Void = {
            try await isRunning.reached()
            canceller.value?.cancel()
        }()
        let errors = try await errors(of: writes, in: writer) { tasks in canceller.update { $0 = tasks[1] } }
        try await cancelled
        #expect(errors[0] == nil && errors[1] is CancellationError && errors[2] == nil)
        #expect(try await values(writer) == [1, 3])
    }

    /// Each write has the date of its own beginning, and what it asks of the transaction's end.
    @Test func partsAreTheirOwn() async throws {
        let clock = Recorded(0)
        let writer = try make { configuration in
            configuration.transactionClock = .custom { _ in
                Date(
                    timeIntervalSinceReferenceDate: Double(
                        clock.update {
                            $0 += 1
                            return $0
                        }))
            }
        }
        clock.update { $0 = 0 }
        let dates = Recorded<[Double]>([])
        let ends = Recorded<[String]>([])
        let write: @Sendable (String, Bool) -> Write = { name, fails in
            Self.write { db in
                for _ in 0..<2 {
                    let date = try db.transactionDate.timeIntervalSinceReferenceDate
                    dates.update { $0.append(date) }
                }
                guard fails else { return }
                db.afterNextTransaction { _ in
                    ends.update { $0.append(name + " committed") }
                } onRollback: { _ in
                    ends.update { $0.append(name + " rolled back") }
                }
                throw Failure()
            }
        }
        _ = try await errors(of: [write("1", false), write("2", false), write("3", true)], in: writer)
        #expect(dates.value == dates.value.sorted() && Set(dates.value).count == 3)
        #expect(ends.value == ["3 rolled back"])
    }

    /// One commit has the changes of all writes. Its origin is known for each of them.
    @Test func commits() async throws {
        // No access of the library's own waits.
        let writer = try make()
        var commits = writer.commits(keys: true).makeAsyncIterator()
        let last = Self.write { db in
            db.commitOrigin = "import"
            try db.insert(row: 3)
        }
        let undone = Self.write { db in
            try db.execute(sql: "DELETE FROM child")
            try db.insert(row: 9)
            throw Failure()
        }
        _ = try await errors(of: [Self.inserting(1), undone, Self.inserting(2), last, Self.inserting(4)], in: writer)
        #expect(transactions() == "( 1 [ 9 < ] [ 2 ] [ 3 ] ) ( 4 )")
        let first = try #require(await commits.next())
        #expect(first.changes.changedKeys(in: "t")?.count == 3 && !first.changes.containsChange(in: "child"))
        #expect(first.origin == nil && first.writes.map(\.origin) == [nil, nil, "import"])
        let second = try #require(await commits.next())
        #expect(second.changes.changedKeys(in: "t")?.count == 1 && second.writes.map(\.origin) == [nil])
    }
}

/// Waits on this thread until a task is cancelled.
private func until(cancelled task: Recorded<Task<(any Error)?, Never>?>) throws {
    try spin(until: "the task is cancelled") { task.value?.isCancelled ?? false }
}

extension Database {
    /// Inserts a row with SQL that shows it.
    func insert(row value: Int) throws { try execute(sql: "INSERT INTO t VALUES (\(value))") }
}
