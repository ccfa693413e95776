import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct CollationTests {
    private let byLength = DatabaseCollation("byLength") { (lhs: String, rhs: String) in lhs.count - rhs.count }

    @Test func orders() throws {
        try withConnection { (db) throws in
            db.add(collation: byLength)
            let sql = "SELECT column1 FROM (VALUES ('ccc'), ('a'), (''), ('bb')) ORDER BY column1 COLLATE"
            #expect(try String.fetchAll(db, sql: "\(sql) byLength") == ["", "a", "bb", "ccc"])
            #expect(try String.fetchAll(db, sql: "\(sql) BYLENGTH DESC") == ["ccc", "bb", "a", ""])
            #expect(try Bool.fetchOne(db, sql: "SELECT 'ab' = 'xy' COLLATE byLength") == true)
        }
    }

    @Test func seesTextsWhole() throws {
        try withConnection { (db) throws in
            db.add(
                collation: DatabaseCollation("scalars") { (lhs: String, rhs: String) in
                    lhs.unicodeScalars.elementsEqual(rhs.unicodeScalars)
                        ? 0 : lhs.unicodeScalars.lexicographicallyPrecedes(rhs.unicodeScalars) ? -1 : 1
                })
            let texts = ["a\u{0}c", "a\u{0}b", "a", "é", "🙂", ""]
            try db.execute(sql: "CREATE TABLE t (a TEXT COLLATE scalars)")
            for text in texts { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [text]) }
            #expect(
                try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a")
                    == ["", "a", "a\u{0}b", "a\u{0}c", "é", "🙂"])
        }
    }

    /// SQLite's result is a C int: an order that is told with larger numbers must not wrap.
    @Test func largeResults() throws {
        try withConnection { (db) throws in
            db.add(
                collation: DatabaseCollation("large", utf8: { lhs, rhs in lhs.count < rhs.count ? .min : Int(1) << 32 })
            )
            #expect(try Bool.fetchOne(db, sql: "SELECT 'a' < 'bb' COLLATE large") == true)
            #expect(try Bool.fetchOne(db, sql: "SELECT 'aaa' > 'bb' COLLATE large") == true)
        }
    }

    @Test func removedAndReplaced() throws {
        try withConnection { (db) throws in
            db.add(collation: byLength)
            #expect(try Bool.fetchOne(db, sql: "SELECT 'ab' = 'xy' COLLATE byLength") == true)
            db.add(collation: DatabaseCollation("BYLENGTH", utf8: { _, _ in 1 }))
            #expect(try Bool.fetchOne(db, sql: "SELECT 'ab' = 'xy' COLLATE byLength") == false)
            db.remove(collation: byLength)
            expectError(.SQLITE_ERROR_MISSING_COLLSEQ, "no such collation sequence: byLength") {
                try db.execute(sql: "SELECT 'ab' = 'xy' COLLATE byLength")
            }
        }
    }

    @Test func removingInUseIsBusy() throws {
        let error = try #require(
            expectError(.SQLITE_BUSY) {
                try withConnection { (db) throws in
                    db.add(collation: byLength)
                    let cursor = try Int.fetchCursor(db, sql: "SELECT 'a' = 'b' COLLATE byLength")
                    #expect(try cursor.next() == 1)
                    db.remove(collation: byLength)
                }
            })
        #expect(error.message?.hasPrefix("could not remove collation byLength: ") == true)
    }

    @Test func badNameFailsTheAccess() throws {
        let failure = expectError(DatabaseError.self) {
            try withConnection { (db) throws in db.add(collation: DatabaseCollation("", utf8: { _, _ in 0 })) }
        }
        let error = try #require(failure)
        #expect(error.resultCode == .SQLITE_MISUSE)
    }

    @Test func reindex() throws {
        try withConnection { (db) throws in
            db.add(collation: byLength)
            try db.execute(
                sql: """
                    CREATE TABLE t (a TEXT COLLATE byLength);
                    CREATE INDEX i ON t (a);
                    INSERT INTO t VALUES ('a'), ('bb'), ('ccc');
                    """)
            db.add(collation: DatabaseCollation("byLength") { (lhs: String, rhs: String) in rhs.count - lhs.count })
            #expect(try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == ["a", "bb", "ccc"])
            try db.reindex(collation: byLength)
            #expect(try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == ["ccc", "bb", "a"])
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
    }

    @Test func closureIsFreedWithTheCollation() throws {
        final class Witness: Sendable {}
        weak var removed: Witness?
        weak var closed: Witness?
        try withConnection { (db) throws in
            do {
                let witnesses = (Witness(), Witness())
                (removed, closed) = witnesses
                db.add(collation: DatabaseCollation("removed", utf8: { _, _ in "\(witnesses.0)".count }))
                db.add(
                    collation: DatabaseCollation("closed", utf8: { [closed = witnesses.1] _, _ in "\(closed)".count }))
                db.remove(collation: DatabaseCollation("removed", utf8: { _, _ in 0 }))
            }
            #expect(removed == nil)
            #expect(closed != nil)
        }
        #expect(closed == nil)
    }

    @Test func identity() {
        #expect(byLength.id == DatabaseCollation("BYLENGTH", utf8: { _, _ in 0 }).id)
        #expect(byLength.id != DatabaseCollation("other", utf8: { _, _ in 0 }).id)
    }

    /// SQLite is at work on an index while it compares: a write would move what it reads.
    @Test func nothingIsWrittenInItsMidst() throws {
        let errors = Recorded<[String]>([])
        let connection = try TestConnection()
        // The collation runs on the thread that has the connection.
        nonisolated(unsafe) weak let database = connection.database
        try connection.access { (db) throws in
            db.add(
                collation: DatabaseCollation("writes") { lhs, rhs in
                    for sql in ["DELETE FROM t", "BEGIN", "SELECT 1"] {
                        do {
                            try database?.execute(sql: sql)
                        } catch {
                            errors.update { $0.append("\(error)") }
                        }
                    }
                    return lhs == rhs ? 0 : lhs < rhs ? -1 : 1
                })
            try db.execute(sql: "CREATE TABLE t (a TEXT COLLATE writes UNIQUE); INSERT INTO t VALUES ('b'), ('a')")
            #expect(try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY rowid") == ["b", "a"])
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
        #expect(
            Set(errors.value) == [
                "SQLite error 8: attempt to write a readonly database - while executing `DELETE FROM t`",
                "SQLite error 21: a collation or tokenizer can't begin or end a transaction - while executing `BEGIN`",
            ])
    }
}
