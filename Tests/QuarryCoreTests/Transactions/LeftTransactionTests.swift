import QuarryCore
import QuarryTestSupport
import Testing

/// SQL may end the transaction that `inTransaction` and others count on. Statements meant for it must not
/// run without it.
@Suite("Transactions that SQL has ended")
struct LeftTransactionTests {
    private let aborted = "Transaction was aborted"
    private let insert = "INSERT INTO t VALUES (2)"

    private func withTable(_ body: (Database) throws -> Void) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            try body(db)
            #expect(!db.isInsideTransaction)
            // The connection is as good as before.
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (100)")
                return .commit
            }
            #expect(try Int.fetchOne(db, sql: "SELECT MAX(a) FROM t") == 100)
        }
    }

    private func rows(_ db: Database) throws -> [Int] { try Int.fetchAll(db, sql: "SELECT a FROM t") }

    /// Ways to run SQL.
    private enum Road: CaseIterable {
        case execute, several, literal, made, kept, cursor, all

        func run(_ sql: String, _ db: Database) throws {
            switch self {
            case .execute: try db.execute(sql: sql)
            case .several: try db.execute(sql: "SELECT 1; \(sql); SELECT 1")
            case .literal: try db.execute(literal: "\(sql: sql)")
            case .made: try db.makeStatement(sql: sql).execute()
            case .kept: try db.cachedStatement(sql: sql).execute()
            case .cursor: while try Row.fetchCursor(db, sql: sql).next() != nil {}
            case .all: while let statement = try db.allStatements(sql: sql).next() { try statement.execute() }
            }
        }
    }

    @Test(arguments: ["ROLLBACK", "COMMIT", "END", "ROLLBACK TRANSACTION"])
    func statementsAfterTheEndThrowHoweverItEnded(end: String) throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT, aborted, sql: nil) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    try db.execute(sql: end)
                    for _ in 0..<2 {
                        expectError(.SQLITE_ABORT, aborted, sql: insert) { try db.execute(sql: insert) }
                        // Another transaction is not the one that the rest was meant for.
                        expectError(.SQLITE_ABORT, aborted, sql: "BEGIN") { try db.execute(sql: "BEGIN") }
                        expectError(.SQLITE_ABORT, aborted, sql: "SAVEPOINT a") { try db.execute(sql: "SAVEPOINT a") }
                        expectError(.SQLITE_ABORT) { try db.inSavepoint { .commit } }
                        expectError(.SQLITE_ABORT) {
                            try db.openBlob(table: "t", column: "a", rowID: 1, readOnly: false)
                        }
                    }
                    return .commit
                }
            }
            // SQL has committed what was before it: nothing that is refused afterwards.
            #expect(try rows(db) == (end.hasPrefix("ROLLBACK") ? [] : [1]))
        }
    }

    /// Expects a transaction whose SQL has rolled it back to throw, and to leave no row.
    private func expectAborted(_ operations: (Database) throws -> Void) throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT) {
                try db.inTransaction {
                    try operations(db)
                    return .commit
                }
            }
            #expect(try rows(db).isEmpty)
        }
    }

    @Test(arguments: Road.allCases) private func statementsAfterTheEndThrowOnEachWay(_ road: Road) throws {
        guard road != .several else { return }
        try expectAborted { db in
            try db.execute(sql: "ROLLBACK")
            try road.run(insert, db)
        }
    }

    @Test(arguments: Road.allCases) private func transactionEndedOnEachWayThrows(_ road: Road) throws {
        guard road != .all else { return }
        try expectAborted { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try road.run("ROLLBACK", db)
            try db.execute(sql: insert)
        }
    }

    @Test func cursorDoesNotBeginWithoutItsTransaction() throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT, aborted, sql: nil) {
                try db.inTransaction {
                    let cursor = try Int.fetchCursor(db, sql: "INSERT INTO t VALUES (2) RETURNING a")
                    try db.execute(sql: "ROLLBACK")
                    expectError(.SQLITE_ABORT, aborted, sql: cursor.sql) { try cursor.next() }
                    return .commit
                }
            }
            #expect(try rows(db).isEmpty)
        }
    }

    @Test func manualTransactionFollowsItsSQL() throws {
        try withTable { db throws in
            try db.execute(sql: "BEGIN; INSERT INTO t VALUES (1); COMMIT; BEGIN; INSERT INTO t VALUES (2); ROLLBACK")
            try db.execute(sql: "SAVEPOINT a; INSERT INTO t VALUES (3); RELEASE a; INSERT INTO t VALUES (4)")
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (5)")
            try db.execute(sql: "ROLLBACK")
            try db.execute(sql: "INSERT INTO t VALUES (6)")
            #expect(try rows(db) == [1, 3, 4, 6])
        }
    }

    @Test func savepointsOfSQLLeaveTheTransactionOpen() throws {
        try withTable { db throws in
            try db.inTransaction {
                try db.execute(sql: "SAVEPOINT a; INSERT INTO t VALUES (1); ROLLBACK TO a; INSERT INTO t VALUES (2)")
                try db.execute(sql: "RELEASE a; SAVEPOINT b; INSERT INTO t VALUES (3)")
                expectError(.SQLITE_ERROR) { try db.execute(sql: "BEGIN") }
                return .commit
            }
            #expect(try rows(db) == [2, 3])
        }
    }

    @Test(arguments: ["ROLLBACK", "COMMIT"]) func savepointInAManualTransactionCountsOnIt(end: String) throws {
        try withTable { db throws in
            try db.beginTransaction()
            expectError(.SQLITE_ABORT, aborted, sql: insert) {
                try db.inSavepoint {
                    try db.execute(sql: end)
                    try db.execute(sql: insert)
                    return .commit
                }
            }
            #expect(try rows(db).isEmpty)
            // The transaction by hand is gone, and nothing counts on it.
            try db.execute(sql: "INSERT INTO t VALUES (3)")
            #expect(try rows(db) == [3])
        }
    }

    private struct Failure: Error {}

    @Test(arguments: [true, false]) func lostSavepointTakesTheTransactionWithIt(throwing: Bool) throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT, aborted, sql: "INSERT INTO t VALUES (3)") {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1); SAVEPOINT a")
                    #expect(throws: (any Error).self) {
                        try db.inSavepoint {
                            try db.execute(sql: insert)
                            // The savepoint of `inSavepoint` goes with it.
                            try db.execute(sql: "RELEASE a")
                            if throwing { throw Failure() }
                            return .commit
                        }
                    }
                    try db.execute(sql: "INSERT INTO t VALUES (3)")
                    return .commit
                }
            }
            #expect(try rows(db).isEmpty)
        }
    }

    @Test(arguments: ["ROLLBACK", "COMMIT"]) func endedReadReadsNoOtherState(end: String) throws {
        try withTable { db throws in
            try db.beginRead(pinned: true)
            expectError(.SQLITE_ABORT, aborted, sql: "SELECT 1") {
                try db.finishRead {
                    try db.execute(sql: end)
                    _ = try Int.fetchOne(db, sql: "SELECT 1")
                }
            }
            // Nothing followed: nothing is lost.
            try db.beginRead(pinned: false)
            try db.finishRead { try db.execute(sql: end) }
        }
    }

    @Test func handlersRunAfterATransactionThatSQLEnded() throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT) {
                try db.inTransaction {
                    db.afterNextTransaction { db in try? db.execute(sql: "INSERT INTO t VALUES (7)") }
                    try db.execute(sql: "COMMIT")
                    try db.execute(sql: insert)
                    return .commit
                }
            }
            #expect(try rows(db) == [7])
        }
    }
}
