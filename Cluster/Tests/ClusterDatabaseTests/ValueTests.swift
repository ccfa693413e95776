import Quarry
import QuarryCluster
import Testing

/// Values and rows that are hard for a node to carry.
@Suite("Values on nodes", .serialized, .threeNodes, .timeLimit(.minutes(10))) struct ValueTests {
    let nodes: NodeGroup

    init() throws { nodes = try #require(NodeGroup.current) }

    @Test func values() throws {
        let cluster = try nodes.open("values")
        try cluster.write { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a ANY) STRICT") }
        let values: [DatabaseValue] = [
            .null, Int64.min.databaseValue, Int64.max.databaseValue, 0.databaseValue, (-1).databaseValue,
            Double.pi.databaseValue, Double.infinity.databaseValue, (-Double.infinity).databaseValue,
            Double.leastNonzeroMagnitude.databaseValue, Double.greatestFiniteMagnitude.databaseValue,
            "".databaseValue, "é😀\n'\"".databaseValue, String(repeating: "x", count: 4_095).databaseValue,
            [UInt8]().databaseValue, [UInt8](repeating: 0, count: 4_096).databaseValue,
            (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0) }.databaseValue,
        ]
        for (index, value) in values.enumerated() {
            let id = index + 1
            try cluster.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [id, value])
            }
            let (read, type) = try cluster.read { db in
                let row = try #require(
                    try Row.fetchOne(db, sql: "SELECT a, typeof(a) FROM t WHERE id = ?", arguments: [id]))
                return (row[0] as DatabaseValue, row[1] as String)
            }
            #expect(read == value, "value \(id) of type \(type)")
        }
        let all = try cluster.read { db in try DatabaseValue.fetchAll(db, sql: "SELECT a FROM t ORDER BY id") }
        #expect(all == values)
        let error = #expect(throws: DatabaseError.self) {
            try cluster.write { db in try db.execute(sql: "INSERT INTO t (a) VALUES (?)", arguments: ["a\0b"]) }
        }
        #expect(error?.resultCode == .SQLITE_MISMATCH)
    }

    /// The types of a row with more than 16 columns can meet the end of a page of 4,096 bytes, where version 1.11.1
    /// wrote beyond its buffer.
    @Test(arguments: [17, 20, 33, 65, 400]) func wideRows(_ columnCount: Int) throws {
        let cluster = try nodes.open("wide")
        let columns = (0..<columnCount).map { "c\($0)" }
        let list = columns.joined(separator: ", ")
        try cluster.write { db in
            try db.execute(sql: "CREATE TABLE t\(columnCount) (id INTEGER PRIMARY KEY, filler BLOB, \(list))")
            let ones = Array(repeating: "1", count: columnCount).joined(separator: ", ")
            try db.execute(sql: "INSERT INTO t\(columnCount) VALUES (1, NULL, \(ones)), (2, NULL, \(ones))")
        }
        let expected = (0..<columnCount).map { DatabaseValue(value: $0 == 0 ? 0 : 1) }
        // The first row of a page ends at each multiple of 8 bytes near the end of the page.
        let rest = 4_096 - 8 - columnCount * 16 - (columnCount + 7) / 8 * 8
        for size in stride(from: max(0, rest - 200), to: max(0, rest) + 64, by: 8) {
            let rows = try cluster.read { db in
                try Row.fetchAll(
                    db,
                    sql: """
                        SELECT CASE id WHEN 1 THEN zeroblob(?) ELSE 0 END AS c0, \
                        \(columns.dropFirst().joined(separator: ", ")) FROM t\(columnCount) ORDER BY id
                        """, arguments: [size])
            }
            #expect(rows.count == 2)
            #expect(rows.first?[0] == [UInt8](repeating: 0, count: size).databaseValue)
            #expect(rows.last.map { Array($0.databaseValues) } == expected, "\(columnCount) columns, \(size) bytes")
        }
    }

    @Test func manyPages() throws {
        let cluster = try nodes.open("pages")
        try cluster.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT) STRICT")
            for id in 1...2_000 {
                try db.execute(
                    sql: "INSERT INTO t VALUES (?, ?)", arguments: [id, String(repeating: "a", count: id % 300)])
            }
        }
        try cluster.write { db in
            // Other statements while the pages of a query are on their way.
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t ORDER BY id")
            var id = 0
            while let row = try cursor.next() {
                id += 1
                #expect(row["id"] == id)
                #expect((row["a"] as String).utf8.count == id % 300)
                if id.isMultiple(of: 100) {
                    try db.execute(sql: "UPDATE t SET a = a || 'b' WHERE id = ?", arguments: [id])
                    #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 2_000)
                }
            }
            #expect(id == 2_000)
        }
        try cluster.read { db in
            // Unread rows.
            #expect(try Int.fetchOne(db, sql: "SELECT id FROM t ORDER BY id") == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT id FROM t ORDER BY id DESC") == 2_000)
            let first = try Row.fetchCursor(db, sql: "SELECT id FROM t ORDER BY id")
            let second = try Row.fetchCursor(db, sql: "SELECT id FROM t ORDER BY id DESC")
            for id in 1...2_000 {
                #expect(try first.next()?[0] == id)
                #expect(try second.next()?[0] == 2_001 - id)
            }
            #expect(try first.next() == nil)
        }
        #expect(
            try cluster.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM t WHERE a LIKE '%b'") } == 20)
    }
}
