import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
    private struct Failure: Error {}

    private func withTable(_ options: ConnectionOptions = ConnectionOptions(), _ body: (Database) throws -> Void) throws
    {
        try TestConnection(options: options).access { db throws in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE ON CONFLICT ABORT)")
            try body(db)
        }
    }

    private func values(_ db: Database) throws -> [Int] { try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") }

    @Test func completionsCommitOrRollBack() throws {
        try withTable { db throws in
            let committed = try emitted(db) {
                try db.inTransaction {
                    #expect(db.isInsideTransaction)
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    return .commit
                }
            }
            #expect(committed == ["BEGIN IMMEDIATE TRANSACTION", "INSERT INTO t VALUES (1)", "COMMIT TRANSACTION"])
            let rolledBack = try emitted(db) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    return .rollback
                }
            }
            #expect(rolledBack == ["BEGIN IMMEDIATE TRANSACTION", "INSERT INTO t VALUES (2)", "ROLLBACK TRANSACTION"])
            let failed = try emitted(db) {
                #expect(throws: Failure.self) {
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO t VALUES (3)")
                        throw Failure()
                    }
                }
            }
            #expect(failed == ["BEGIN IMMEDIATE TRANSACTION", "INSERT INTO t VALUES (3)", "ROLLBACK TRANSACTION"])
            #expect(!db.isInsideTransaction)
            #expect(try values(db) == [1])
        }
    }

    @Test func transactionIsImmediateUnlessReadOnlyOrAsked() throws {
        try withTable { db throws in
            #expect(try emitted(db) { try db.inTransaction { .commit } }.first == "BEGIN IMMEDIATE TRANSACTION")
            for kind in [.deferred, .immediate, .exclusive] as [Database.TransactionKind] {
                let sql = ["BEGIN \(kind.rawValue) TRANSACTION", "COMMIT TRANSACTION"]
                #expect(try emitted(db) { try db.inTransaction(kind) { .commit } } == sql)
                #expect(
                    try emitted(db) {
                        try db.beginTransaction(kind)
                        try db.commit()
                    } == sql)
            }
            try db.readOnly { () throws in
                #expect(try emitted(db) { try db.inTransaction { .commit } }.first == "BEGIN DEFERRED TRANSACTION")
                expectError(
                    .SQLITE_READONLY, "attempt to write a readonly database", sql: "BEGIN IMMEDIATE TRANSACTION"
                ) { try db.inTransaction(.immediate) { .commit } }
            }
        }
        try withTemporaryFolder { folder throws in
            try withConnection(path: folder + "/db") { try $0.execute(sql: "CREATE TABLE t (a)") }
            var options = ConnectionOptions()
            options.readonly = true
            try TestConnection(path: folder + "/db", options: options).access { db throws in
                #expect(try emitted(db) { try db.inTransaction { .rollback } }.first == "BEGIN DEFERRED TRANSACTION")
            }
        }
    }

    @Test func transactionsDoNotNest() throws {
        try withTable { db throws in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                let message = "cannot start a transaction within a transaction"
                expectError(.SQLITE_ERROR, message, sql: "BEGIN IMMEDIATE TRANSACTION") {
                    try db.inTransaction { .commit }
                }
                expectError(.SQLITE_ERROR, message, sql: "BEGIN DEFERRED TRANSACTION") {
                    try db.beginTransaction(.deferred)
                }
                return .commit
            }
            #expect(try values(db) == [1])
        }
    }

    @Test func manualTransactionsBeginAndEnd() throws {
        try withTable { db throws in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.rollback()
            try db.rollback()
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            try db.commit()
            expectError(.SQLITE_ERROR, "cannot commit - no transaction is active", sql: "COMMIT TRANSACTION") {
                try db.commit()
            }
            try db.execute(sql: "BEGIN; INSERT INTO t VALUES (3); END")
            #expect(try values(db) == [2, 3])
        }
    }

    @Test func statementsAfterACommitInsideAreRefused() throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT, "Transaction was aborted", sql: "INSERT INTO t VALUES (2)") {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    try db.commit()
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    return .commit
                }
            }
            // With a rollback there is nothing left to do.
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (3)")
                try db.execute(sql: "COMMIT")
                return .rollback
            }
            expectError(.SQLITE_ABORT, "Transaction was aborted", sql: "INSERT INTO t VALUES (4)") {
                try db.inTransaction {
                    try db.rollback()
                    try db.execute(sql: "INSERT INTO t VALUES (4)")
                    return .rollback
                }
            }
            #expect(try values(db) == [1, 3])
        }
    }

    @Test func failingCommitIsRolledBack() throws {
        try withConnection { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE p (id INTEGER PRIMARY KEY);
                    CREATE TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
                    """)
            let message = "FOREIGN KEY constraint failed"
            expectError(.SQLITE_CONSTRAINT_FOREIGNKEY, message, sql: "COMMIT TRANSACTION") {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO c VALUES (1)")
                    return .commit
                }
            }
            #expect(!db.isInsideTransaction)
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO c VALUES (1)")
            expectError(.SQLITE_CONSTRAINT_FOREIGNKEY, message, sql: "COMMIT TRANSACTION") { try db.commit() }
            #expect(db.isInsideTransaction)
            try db.execute(sql: "INSERT INTO p VALUES (1)")
            try db.commit()
            #expect(try Int.fetchAll(db, sql: "SELECT p FROM c") == [1])
        }
    }

    @Test func busyCommitStaysOpenAndIsTriedAgain() throws {
        try withTemporaryFolder { folder throws in
            var options = ConnectionOptions()
            options.busyMode = .immediateError
            let writer = try TestConnection(path: folder + "/db", options: options)
            let reader = try TestConnection(path: folder + "/db", options: options)
            try writer.access { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try writer.access { db throws in
                try db.beginTransaction()
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                try reader.access { other throws in
                    let cursor = try Int.fetchCursor(other, sql: "SELECT a FROM t")
                    #expect(try cursor.next() == 1)
                    expectError(.SQLITE_BUSY, "database is locked", sql: "COMMIT TRANSACTION") { try db.commit() }
                    #expect(db.isInsideTransaction)
                }
                try db.commit()
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2])
            }
        }
    }

    @Test func leftTransactionIsRolledBackAndReported() throws {
        let connection = try TestConnection()
        try connection.access { try $0.execute(sql: "CREATE TABLE t (a)") }
        expectError(.SQLITE_MISUSE, "A transaction has been left open at the end of a database access.", sql: nil) {
            try connection.access { db in
                try db.beginTransaction()
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }
        }
        #expect(throws: Failure.self) {
            try connection.access { db in
                try db.execute(sql: "SAVEPOINT a; INSERT INTO t VALUES (1)")
                throw Failure()
            }
        }
        try connection.access { db throws in
            #expect(!db.isInsideTransaction)
            #expect(try values(db) == [])
        }
    }

    @Test func unsafeTransactionSpansAccesses() throws {
        var options = ConnectionOptions()
        options.allowsUnsafeTransactions = true
        let connection = try TestConnection(options: options)
        try connection.access { try $0.execute(sql: "CREATE TABLE t (a)") }
        try connection.access { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }
        try connection.access { db throws in
            #expect(db.isInsideTransaction)
            try db.commit()
            #expect(try values(db) == [1])
        }
    }

    @Test func readOnlyRefusesWritesAndNests() throws {
        try withTable { db throws in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            func refused(_ sql: String, sourceLocation: SourceLocation = #_sourceLocation) {
                expectError(
                    .SQLITE_READONLY, "attempt to write a readonly database", sql: sql, sourceLocation: sourceLocation
                ) { try db.execute(sql: sql) }
            }
            try db.readOnly { () throws in
                #expect(db.isReadOnly)
                refused("INSERT INTO t VALUES (2)")
                refused("DELETE FROM t")
                refused("CREATE TABLE u (a)")
                refused("DROP TABLE t")
                refused("PRAGMA user_version = 3")
                refused("PRAGMA journal_mode = MEMORY")
                refused("VACUUM")
                refused("REINDEX")
                #expect(throws: Failure.self) { try db.readOnly { throw Failure() } }
                refused("UPDATE t SET a = 3")
                refused("INSERT INTO t VALUES (2) RETURNING a")
                #expect(try values(db) == [1])
                #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 0)
            }
            #expect(!db.isReadOnly)
            #expect(throws: Failure.self) { try db.readOnly { throw Failure() } }
            try db.execute(sql: "PRAGMA user_version = 3; UPDATE t SET a = 2")
            #expect(try values(db) == [2])
        }
    }
}
