import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Read transactions")
struct ReadTransactionTests {
    private struct Failure: Error {}

    /// Runs `body` in a read transaction of one connection, with another one to the same file in WAL mode.
    private func withReader(pinned: Bool, _ body: (_ reader: Database, _ writer: Database) throws -> Void) throws {
        try withTemporaryFolder { folder throws in
            let writer = try TestConnection(path: folder + "/db")
            let reader = try TestConnection(path: folder + "/db")
            try writer.access { writer in
                try writer.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                try reader.access { reader throws in
                    try reader.beginRead(pinned: pinned)
                    try reader.finishRead { try body(reader, writer) }
                    #expect(!reader.isInsideTransaction && !reader.isReadOnly)
                }
            }
        }
    }

    @Test(arguments: [true, false]) func pinnedReadSeesTheStateOfItsBeginning(_ pinned: Bool) throws {
        try withReader(pinned: pinned) { reader, writer throws in
            try writer.execute(sql: "INSERT INTO t VALUES (2)")
            let seen = pinned ? [1] : [1, 2]
            #expect(try Int.fetchAll(reader, sql: "SELECT a FROM t") == seen)
            try writer.execute(sql: "INSERT INTO t VALUES (3)")
            #expect(try Int.fetchAll(reader, sql: "SELECT a FROM t") == seen)
        }
    }

    @Test func readBeginsAndEndsATransaction() throws {
        try withConnection { db throws in
            for pinned in [true, false] {
                let sql = try emitted(db, includingSchemaReads: true) {
                    try db.beginRead(pinned: pinned)
                    try db.finishRead { try db.execute(sql: "SELECT 1") }
                }
                #expect(
                    sql == ["BEGIN DEFERRED TRANSACTION"] + (pinned ? ["PRAGMA schema_version"] : [])
                        + ["SELECT 1", "COMMIT TRANSACTION"])
            }
        }
    }

    @Test func readRefusesWritesAndKeepsTheFirstError() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.beginRead(pinned: true)
            expectError(.SQLITE_READONLY, "attempt to write a readonly database", sql: "INSERT INTO t VALUES (1)") {
                try db.finishRead { try db.execute(sql: "INSERT INTO t VALUES (1)") }
            }
            try db.beginRead(pinned: false)
            #expect(throws: Failure.self) { try db.finishRead { throw Failure() } }
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [2])
        }
    }

    @Test func readEndsWithAnOpenCursor() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            try db.beginRead(pinned: true)
            let cursor = try db.finishRead {
                let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                _ = try cursor.next()
                return cursor
            }
            #expect(!db.isInsideTransaction)
            #expect(try cursor.next() == 2)
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (3)")
                return .commit
            }
        }
    }
}
