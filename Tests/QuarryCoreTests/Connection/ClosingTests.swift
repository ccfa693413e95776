import QuarryCore
import QuarryTestSupport
import Synchronization
import Testing

@Suite("Closing a connection, and what outlives it")
struct ClosingTests {
    private let closed = "Connection is closed"
    private let busy = "unable to close due to unfinalized statements or unfinished backups"

    @Test func closedConnectionThrowsOnAllUse() throws {
        let connection = try TestConnection()
        let db = connection.database
        try db.beginAccess(nil)
        _ = try Int.fetchOne(db, sql: "SELECT 1")
        try db.close()
        try db.close()
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.execute(sql: "SELECT 1") }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.makeStatement(sql: "SELECT 1") }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.cachedStatement(sql: "SELECT 1") }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try Int.fetchOne(db, sql: "SELECT 1") }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.inTransaction { .commit } }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.commit() }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.rollback() }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.inSavepoint { .commit } }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.readOnly {} }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.allStatements(sql: "SELECT 1") }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.setLimit(.column, to: 1) }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try db.schemaVersion() }
        #expect(db.sqliteConnection == nil)
        #expect(!db.isInsideTransaction)
        #expect(db.lastInsertedRowID == 0 && db.changesCount == 0 && db.totalChangesCount == 0)
        #expect(db.lastErrorCode == .SQLITE_MISUSE && db.lastErrorMessage == nil)
        db.releaseMemory()
        db.interrupt()
        #expect(db.endAccess() == nil)
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try connection.access { _ in } }
    }

    @Test func closingWithStatementsLeftIsBusyAndSucceedsLater() throws {
        let db = try TestConnection().database
        try db.beginAccess(nil)
        try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        do {
            let statement = try db.makeStatement(sql: "SELECT a FROM t")
            expectError(.SQLITE_BUSY, busy, sql: nil) { try db.close() }
            #expect(try Int.fetchAll(statement) == [1])
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                return .commit
            }
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            #expect(try cursor.next() == 1)
            expectError(.SQLITE_BUSY, busy, sql: nil) { try db.close() }
            #expect(try cursor.next() == 2)
        }
        try db.close()
        #expect(db.isClosed)
        #expect(db.endAccess() == nil)
    }

    @Test func heldCachedStatementKeepsTheConnectionOpen() throws {
        let db = try TestConnection().database
        try db.beginAccess(nil)
        do {
            let statement = try db.cachedStatement(sql: "SELECT 1")
            expectError(.SQLITE_BUSY, busy, sql: nil) { try db.close() }
            #expect(try Int.fetchOne(statement) == 1)
        }
        try db.close()
        _ = db.endAccess()
    }

    @Test func closingRollsAnOpenTransactionBack() throws {
        try withTemporaryFolder { folder throws in
            let db = try TestConnection(path: folder + "/db").database
            try db.beginAccess(nil)
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.close()
            _ = db.endAccess()
            try withConnection(path: folder + "/db") { db throws in
                #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 0)
            }
        }
    }

    @Test func statementThatOutlivesItsDatabaseThrows() throws {
        var connection: TestConnection? = try TestConnection()
        weak let database = connection?.database
        var statement: Statement?
        var cursor: FetchCursor<Int>?
        try connection?.access { db throws in
            statement = try db.makeStatement(sql: "SELECT 1 AS a")
            cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
            #expect(try cursor?.next() == 1)
        }
        connection = nil
        #expect(database == nil)
        let left = try #require(statement)
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try left.execute() }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try Int.fetchOne(left) }
        expectError(.SQLITE_MISUSE, closed, sql: nil) { try cursor?.next() }
        #expect(left.sql == "SELECT 1 AS a")
        #expect(left.columnNames == ["a"])
    }

    @Test func hooksEndWithTheirOwner() throws {
        var options = ConnectionOptions()
        options.allowsUnsafeTransactions = true
        let rollbacks = Atomic(0)
        var statement: Statement?
        do {
            let connection = try TestConnection(options: options)
            _ = connection.database.hooks.onRollback { rollbacks.add(1, ordering: .relaxed) }
            try connection.access { db throws in
                statement = try db.makeStatement(sql: "SELECT 1")
                try db.execute(sql: "CREATE TABLE t (a)")
                try db.beginTransaction()
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }
        }
        // The connection closes with its last statement, and rolls back.
        _ = statement.take()
        #expect(rollbacks.load(ordering: .relaxed) == 0)
    }
}
