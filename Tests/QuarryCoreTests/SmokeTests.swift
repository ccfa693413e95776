import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct SmokeTests {
    @Test func queries() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (?, ?)", arguments: [1, "x"])
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM t") == 1)
            #expect(try Int?.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 2") == [nil, 2])
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM t") == [["a": 1, "b": "x"]])
            #expect(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: "SELECT 'foo' AS id") }
            try db.inTransaction {
                try db.execute(literal: "INSERT INTO t VALUES (\(2), \("y"))")
                return .commit
            }
            let cursor = try Row.fetchCursor(db, sql: "SELECT a, b FROM t ORDER BY a")
            var seen: [String] = []
            while let row = try cursor.next() { seen.append("\(row["a"] as Int)\(row["B"] as String)") }
            #expect(seen == ["1x", "2y"])
        }
    }
}
