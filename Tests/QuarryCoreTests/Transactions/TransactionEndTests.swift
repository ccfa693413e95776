import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("The date of a transaction, and what runs after it")
struct TransactionEndTests {
    /// The handlers that ran, in order.
    private final class Log: Sendable {
        private let lines = Lock<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    private func withLog(_ body: (Database, Log) throws -> Void) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
            try body(db, Log())
        }
    }

    private func register(_ db: Database, _ log: Log, _ name: String = "") {
        db.afterNextTransaction { _ in
            log.add("commit" + name)
        } onRollback: { _ in
            log.add("rollback" + name)
        }
    }

    // MARK: - afterNextTransaction

    @Test func handlerRunsOnceAfterATransaction() throws {
        try withLog { db, log throws in
            register(db, log)
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                #expect(log.take() == [])
                return .commit
            }
            #expect(log.take() == ["commit"])
            try db.inTransaction {
                register(db, log, "1")
                register(db, log, "2")
                return .rollback
            }
            #expect(log.take() == ["rollback1", "rollback2"])
            try db.inTransaction { .commit }
            #expect(log.take() == [])
        }
    }

    @Test func handlerRunsAfterAChangeInAutocommitMode() throws {
        try withLog { db, log throws in
            register(db, log)
            _ = try Row.fetchAll(db, sql: "SELECT * FROM t")
            #expect(log.take() == [])
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            #expect(log.take() == ["commit"])
            register(db, log)
            expectError(.SQLITE_CONSTRAINT) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
            #expect(log.take() == ["rollback"])
            register(db, log)
            try db.execute(sql: "CREATE TABLE u (a)")
            #expect(log.take() == ["commit"])
        }
    }

    @Test func handlerRunsAfterOtherTransactions() throws {
        try withLog { db, log throws in
            register(db, log)
            try db.inTransaction(.deferred) { .commit }
            #expect(log.take() == ["commit"])
            register(db, log)
            try db.inSavepoint { .commit }
            #expect(log.take() == ["commit"])
            register(db, log)
            try db.execute(sql: "SAVEPOINT a; RELEASE a")
            #expect(log.take() == ["commit"])
            try db.inTransaction {
                register(db, log)
                try db.inSavepoint { .rollback }
                try db.inSavepoint { .commit }
                #expect(log.take() == [])
                return .commit
            }
            #expect(log.take() == ["commit"])
            try db.beginRead(pinned: true)
            try db.finishRead { register(db, log) }
            #expect(log.take() == ["commit"])
        }
    }

    @Test func failingCommitIsReportedAsARollback() throws {
        try withLog { db, log throws in
            try db.execute(
                sql: """
                    CREATE TABLE p (id INTEGER PRIMARY KEY);
                    CREATE TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
                    """)
            register(db, log)
            expectError(.SQLITE_CONSTRAINT_FOREIGNKEY) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO c VALUES (1)")
                    return .commit
                }
            }
            #expect(log.take() == ["rollback"])
            let client = db.hooks.onCommit { false }
            register(db, log)
            expectError(.SQLITE_CONSTRAINT_COMMITHOOK) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    return .commit
                }
            }
            #expect(log.take() == ["rollback"])
            db.hooks.remove(client)
        }
    }

    @Test func automaticRollbackRunsTheHandlerAtOnce() throws {
        try withLog { db, log throws in
            expectError(.SQLITE_ABORT, "Transaction was aborted", sql: nil) {
                try db.inTransaction {
                    db.afterNextTransaction { _ in
                    } onRollback: { db in
                        do {
                            try db.inTransaction {
                                try db.execute(sql: "INSERT INTO t VALUES (7)")
                                return .commit
                            }
                            log.add("wrote")
                        } catch {
                            log.add("\(error)")
                        }
                    }
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    expectError(.SQLITE_CONSTRAINT) { try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)") }
                    #expect(log.take() == ["wrote"])
                    expectError(.SQLITE_ABORT) { try db.execute(sql: "INSERT INTO t VALUES (3)") }
                    return .commit
                }
            }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == [1, 7])
        }
    }

    @Test func handlerMayUseTheConnection() throws {
        try withLog { db, log throws in
            db.afterNextTransaction { db in
                log.add("inside: \(db.isInsideTransaction)")
                db.afterNextTransaction { _ in log.add("next") }
                try? db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (3)")
                    return .commit
                }
                log.add("count: \((try? Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")) ?? -1)")
            }
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                return .commit
            }
            #expect(log.take() == ["inside: false", "next", "count: 3"])
            #expect(!db.isInsideTransaction)
        }
    }

    @Test func leftTransactionIsReportedAsARollback() throws {
        let connection = try TestConnection()
        let log = Log()
        expectError(.SQLITE_MISUSE) {
            try connection.access { db in
                try db.beginTransaction()
                register(db, log)
            }
        }
        #expect(log.take() == ["rollback"])
    }

    // MARK: - The date

    /// A connection whose clock counts its calls.
    private func withClock(
        _ clock: @escaping @Sendable (Database, Int) throws -> Double, access body: (Database) throws -> Void
    ) throws {
        let calls = Lock(0)
        var options = ConnectionOptions()
        options.transactionClock = { db in
            try clock(
                db,
                calls.withLock {
                    $0 += 1
                    return $0
                })
        }
        try TestConnection(options: options).access(body)
    }

    @Test func dateOfATransactionIsThatOfItsBeginning() throws {
        try withClock { _, call in
            Double(call)
        } access: { db throws in
            #expect(try db.secondsOfTransaction == 1)
            #expect(try db.secondsOfTransaction == 2)
            try db.inTransaction {
                for _ in 0..<3 { #expect(try db.secondsOfTransaction == 3) }
                try db.inSavepoint {
                    let seconds = try db.secondsOfTransaction
                    #expect(seconds == 3)
                    return .rollback
                }
                #expect(try db.secondsOfTransaction == 3)
                return .commit
            }
            #expect(try db.secondsOfTransaction == 4)
            try db.execute(sql: "SAVEPOINT a")
            #expect(try db.secondsOfTransaction == 5)
            #expect(try db.secondsOfTransaction == 5)
            try db.execute(sql: "ROLLBACK")
            #expect(try db.secondsOfTransaction == 6)
        }
    }

    @Test func systemClockIsTheDefault() throws {
        try withConnection { db throws in
            let before = SystemClock.secondsSinceReferenceDate()
            let seconds = try db.secondsOfTransaction
            #expect(before <= seconds && seconds <= SystemClock.secondsSinceReferenceDate())
            let julian = try #require(try Double.fetchOne(db, sql: "SELECT julianday('now')"))
            #expect(abs((julian - 2_451_910.5) * 86_400 - seconds) < 60)
        }
    }

    @Test func failingClockDoesNotFailTheTransaction() throws {
        struct Failure: Error {}
        try withClock { _, call in
            if call == 1 { throw Failure() } else { Double(call) }
        } access: { db throws in
            try db.inTransaction {
                for _ in 0..<2 { #expect(throws: Failure.self) { try db.secondsOfTransaction } }
                try db.execute(sql: "CREATE TABLE t (a)")
                return .commit
            }
            #expect(try db.secondsOfTransaction == 2)
        }
    }

    @Test func clockMayQueryItsConnection() throws {
        try withClock { db, _ in
            try Double.fetchOne(db, sql: "SELECT 42.5") ?? 0
        } access: { db throws in
            #expect(try db.secondsOfTransaction == 42.5)
            try db.inTransaction {
                let seconds = try db.secondsOfTransaction
                #expect(seconds == 42.5)
                return .commit
            }
        }
    }
}
