import QuarryCore
import QuarryTestSupport
import Testing

/// SQLite may roll back on its own:
/// <https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>. Statements meant
/// for the transaction must not run without it.
@Suite("Transactions that SQLite has rolled back")
struct AbortedTransactionTests {
    private let aborted = "Transaction was aborted"

    private func withTable(_ body: (Database) throws -> Void) throws {
        try withConnection { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (a UNIQUE);
                    INSERT INTO t VALUES (1);
                    CREATE TABLE guarded (a);
                    CREATE TRIGGER guard BEFORE INSERT ON guarded BEGIN SELECT RAISE(ROLLBACK, 'refused'); END;
                    """)
            try body(db)
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (100)")
                return .commit
            }
        }
    }

    /// Makes SQLite roll back in several ways.
    private enum Cause: CaseIterable {
        case conflict, trigger, interrupt

        func happen(_ db: Database) throws {
            switch self {
            case .conflict:
                try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)")
            case .trigger:
                try db.execute(sql: "INSERT INTO guarded VALUES (1)")
            case .interrupt:
                let client = db.hooks.onProgress { false }
                defer { db.hooks.remove(client) }
                try db.execute(
                    sql: """
                        WITH RECURSIVE c(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM c WHERE n < 100000)
                        INSERT INTO t SELECT n FROM c
                        """)
            }
        }

        var code: ResultCode {
            switch self {
            case .conflict: .SQLITE_CONSTRAINT_UNIQUE
            case .trigger: .SQLITE_CONSTRAINT_TRIGGER
            case .interrupt: .SQLITE_INTERRUPT
            }
        }
    }

    @Test(arguments: Cause.allCases) private func firstErrorReachesTheCaller(_ cause: Cause) throws {
        try withTable { db throws in
            expectError(cause.code) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    try cause.happen(db)
                    return .commit
                }
            }
        }
    }

    @Test(arguments: Cause.allCases) private func laterStatementsAreRefusedToTheEnd(_ cause: Cause) throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT, aborted, sql: nil) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    expectError(cause.code) { try cause.happen(db) }
                    #expect(!db.isInsideTransaction)
                    for _ in 0..<2 {
                        let insert = "INSERT INTO t VALUES (3)"
                        expectError(.SQLITE_ABORT, aborted, sql: insert) { try db.execute(sql: insert) }
                        expectError(.SQLITE_ABORT, aborted, sql: "SELECT 1") { try Int.fetchOne(db, sql: "SELECT 1") }
                        expectError(.SQLITE_ABORT, aborted, sql: "BEGIN IMMEDIATE TRANSACTION") {
                            try db.beginTransaction()
                        }
                        expectError(.SQLITE_ABORT, aborted, sql: "COMMIT TRANSACTION") { try db.commit() }
                    }
                    return .commit
                }
            }
        }
    }

    @Test(arguments: Cause.allCases) private func rollbackAfterwardsEndsNoRefusals(_ cause: Cause) throws {
        try withTable { db throws in
            try db.inTransaction {
                expectError(cause.code) { try cause.happen(db) }
                return .rollback
            }
            try db.inTransaction {
                expectError(cause.code) { try cause.happen(db) }
                try db.rollback()
                expectError(.SQLITE_ABORT, aborted, sql: "SELECT 1") { try Int.fetchOne(db, sql: "SELECT 1") }
                return .rollback
            }
        }
    }

    @Test(arguments: Cause.allCases) private func savepointsInsideGoWithTheirTransaction(_ cause: Cause) throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT, aborted, sql: nil) {
                try db.inTransaction {
                    expectError(cause.code) {
                        try db.inSavepoint {
                            try db.execute(sql: "INSERT INTO t VALUES (2)")
                            try cause.happen(db)
                            return .commit
                        }
                    }
                    expectError(.SQLITE_ABORT) { try db.inSavepoint { .commit } }
                    return .commit
                }
            }
            // A savepoint of its own is a transaction.
            expectError(cause.code) {
                try db.inSavepoint {
                    try cause.happen(db)
                    return .commit
                }
            }
        }
    }

    @Test(arguments: Cause.allCases) private func manualTransactionIsNotWatched(_ cause: Cause) throws {
        try withTable { db throws in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            expectError(cause.code) { try cause.happen(db) }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
            try db.rollback()
        }
    }
}
