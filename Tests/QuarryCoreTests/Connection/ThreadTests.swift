import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Use on the wrong thread, and outside an access")
struct ThreadTests {
    private let wrongThread = "Database was not used on the correct thread."
    private let outsideAccess = "Database was used outside of its access."

    @Test func otherThreadGetsAnErrorAndTheAccessGoesOn() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT 1")
            try onOtherThread {
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.execute(sql: "SELECT 1") }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.makeStatement(sql: "SELECT 1") }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.cachedStatement(sql: "SELECT 1") }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try statement.execute() }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try Int.fetchAll(statement) }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try Int.fetchCursor(statement) }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try Int.fetchOne(db, sql: "SELECT 1") }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.beginTransaction() }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.commit() }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.rollback() }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.readOnly {} }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.setLimit(.column, to: 10) }
            }
            #expect(try Int.fetchOne(statement) == 1)
        }
    }

    /// The thread sanitizer looks at this one: nothing orders the two threads.
    @Test func otherThreadTouchesNothing() throws {
        let connection = try TestConnection()
        try connection.access { db throws in
            let other = OtherThread {
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.inTransaction { .commit } }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.inSavepoint { .commit } }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.beginTransaction(.deferred) }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.commit() }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.schemaVersion() }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.cachedStatement(sql: "SELECT 1") }
                expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try db.execute(sql: "SELECT 1") }
                db.releaseMemory()
                db.afterNextTransaction { _ in Issue.record("a closure of another thread") }
                #expect(!db.isInsideTransaction)
                #expect(db.lastInsertedRowID == 0)
                #expect(db.changesCount == 0)
                #expect(db.totalChangesCount == 0)
                #expect(db.lastErrorCode == .SQLITE_MISUSE)
                #expect(db.lastErrorMessage == nil)
                #expect(db.limit(.column) == 0)
            }
            try db.execute(sql: "CREATE TABLE t (a)")
            let isCommitted = Recorded(false)
            db.afterNextTransaction { _ in isCommitted.update { $0 = true } }
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                try db.inSavepoint {
                    _ = try db.cachedStatement(sql: "SELECT a FROM t")
                    return .rollback
                }
                return .commit
            }
            #expect(try db.schemaVersion() == 1)
            db.releaseMemory()
            try other.join()
            #expect(isCommitted.value)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
        }
        // That of a method that can't throw.
        expectError(.SQLITE_MISUSE, wrongThread, sql: nil) { try connection.access { _ in } }
        try connection.access { _ in }
    }

    @Test func useOutsideAnAccessThrowsAndTheNextAccessWorks() throws {
        let connection = try TestConnection()
        let db = connection.database
        var statement: Statement?
        try connection.access { statement = try $0.makeStatement(sql: "SELECT 1") }
        let left = try #require(statement)
        expectError(.SQLITE_MISUSE, outsideAccess, sql: nil) { try db.execute(sql: "SELECT 1") }
        expectError(.SQLITE_MISUSE, outsideAccess, sql: nil) { try left.execute() }
        expectError(.SQLITE_MISUSE, outsideAccess, sql: nil) { try db.close() }
        try connection.access { _ throws in
            #expect(try Int.fetchOne(left) == 1)
        }
    }

    @Test func accessesMayChangeThreads() throws {
        let connection = try TestConnection()
        try connection.access { try $0.execute(sql: "CREATE TABLE t (a)") }
        for n in 0..<10 {
            try onOtherThread {
                try connection.access { try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [n]) }
            }
        }
        try connection.access { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 10)
        }
    }

    @Test func ownerFinalizesStatementsReleasedOnOtherThreads() throws {
        let connection = try TestConnection()
        try connection.access { db throws in
            for _ in 0..<100 {
                var statement: Statement? = try db.makeStatement(sql: "SELECT 1")
                try onOtherThread { statement = nil }
                #expect(statement == nil)
            }
            // Closing finalizes them: none is left.
            try db.close()
        }
    }

    @Test func nextAccessFinalizesStatementsReleasedBetween() throws {
        let connection = try TestConnection()
        var statements: [Statement] = []
        try connection.access { db throws in
            for _ in 0..<10 { statements.append(try db.makeStatement(sql: "SELECT 1")) }
        }
        statements = []
        try connection.access { try $0.close() }
    }

    @Test func cursorReleasedElsewhereEndsWithItsAccess() throws {
        let connection = try TestConnection()
        try connection.access { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            var cursor: FetchCursor<Int>? = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            #expect(try cursor?.next() == 1)
            try onOtherThread { cursor = nil }
            #expect(cursor == nil)
        }
        try connection.access { db throws in
            // A statement that runs would lock the table.
            try db.execute(sql: "DROP TABLE t")
            try db.close()
        }
    }

    @Test func manyThreadsDropStatementsWhileTheOwnerWorks() throws {
        let connection = try TestConnection()
        try connection.access { db throws in
            for _ in 0..<20 {
                let statements = try (0..<50).map { try db.makeStatement(sql: "SELECT \($0)") }
                let halves = [Array(statements[..<25]), Array(statements[25...])]
                let threads = halves.map { half in
                    var half = half
                    return OtherThread { half.removeAll() }
                }
                for n in 0..<50 { #expect(try Int.fetchOne(db, sql: "SELECT \(n)") == n) }
                for thread in threads { try thread.join() }
            }
        }
        try connection.access { try $0.close() }
    }
}
