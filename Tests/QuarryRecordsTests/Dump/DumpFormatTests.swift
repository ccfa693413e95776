import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct DumpFormatTests {
    /// A value of each kind, and those whose text is not obvious.
    private func withValues(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE v (id INTEGER PRIMARY KEY, v)")
            let values: [(any DatabaseValueConvertible)?] = [
                nil, 0, Int64.min, 1.0, 0.1, 1e300, 1e15, -Double.infinity, 1.0 / 3.0, "", "l1\nl2", "it's",
                "a|b,c\"d", "é😀", "tab\t\u{1}", "back\\slash", "/<&>", Data("a'b".utf8), Data([0xFF, 0x0A]), Data(),
            ]
            for value in values { try db.execute(sql: "INSERT INTO v (v) VALUES (?)", arguments: [value]) }
            try body(db)
        }
    }

    private func dump(_ db: Database, _ sql: SQL, _ format: some DumpFormat) throws -> String {
        try DumpedText.of { try db.dumpSQL(sql, format: format, to: $0) }
    }

    // The texts of `debug`, `list`, `line`, `quote` and `json` are those of GRDB 7.10, but where it loses something.

    @Test func debug() throws {
        try withValues { (db) throws in
            #expect(
                try dump(db, "SELECT * FROM v", .debug(header: true)) == """
                    id|v
                    1|
                    2|0
                    3|-9223372036854775808
                    4|1.0
                    5|0.1
                    6|1e+300
                    7|1000000000000000.0
                    8|-inf
                    9|0.3333333333333333
                    10|
                    11|l1
                    l2
                    12|it's
                    13|a|b,c"d
                    14|é😀
                    15|tab\t\u{1}
                    16|back\\slash
                    17|/<&>
                    18|a'b
                    19|X'FF0A'
                    20|

                    """)
            #expect(
                try dump(db, "SELECT NULL AS a, x'00' AS b, x'80' AS c", .debug(separator: "; ", nullValue: "NUL"))
                    == "NUL; \0; X'80'\n")
        }
    }

    @Test func debugShowsUUIDs() throws {
        try withValues { (db) throws in
            let sql = """
                SELECT x'E621E1F8C36C495A93FC0C247A3E6E5F', x'E621E1F8C36C495A93FC0C247A3E6E', 'ÿ', \
                CAST('abcdefghijklmnop' AS BLOB)
                """
            #expect(
                try dump(db, "\(sql: sql)", .debug())
                    == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F|X'E621E1F8C36C495A93FC0C247A3E6E'|ÿ|abcdefghijklmnop\n")
        }
    }

    @Test func list() throws {
        try withValues { (db) throws in
            #expect(
                try dump(db, "SELECT * FROM v WHERE id < 3 OR id > 17", .list(header: true)) == """
                    id|v
                    1|
                    2|0
                    18|a'b
                    19|\u{FFFD}

                    20|

                    """)
            #expect(
                try dump(db, "SELECT NULL AS a, 1.5 AS b, 'x' AS c", .list(separator: "; ", nullValue: "NUL"))
                    == "NUL; 1.5; x\n")
        }
    }

    @Test func line() throws {
        try withValues { (db) throws in
            #expect(
                try dump(db, "SELECT id, v AS longer FROM v WHERE id IN (1, 11)", .line()) == """
                        id = 1
                    longer =\u{20}

                        id = 11
                    longer = l1
                    l2

                    """)
            #expect(
                try dump(db, "SELECT 1 AS \"éé\", NULL AS abc; SELECT 2 AS b", .line(nullValue: "NUL")) == """
                     éé = 1
                    abc = NUL

                    b = 2

                    """)
        }
    }

    @Test func quote() throws {
        try withValues { (db) throws in
            #expect(
                try dump(db, "SELECT * FROM v", .quote(header: true)) == """
                    'id','v'
                    1,NULL
                    2,0
                    3,-9223372036854775808
                    4,1.0
                    5,0.1
                    6,1.0e+300
                    7,\(try String.fetchOne(db, sql: "SELECT quote(1.0e15)")!)
                    8,-9.0e+999
                    9,\(try String.fetchOne(db, sql: "SELECT quote(1.0 / 3.0)")!)
                    10,''
                    11,'l1
                    l2'
                    12,'it''s'
                    13,'a|b,c"d'
                    14,'é😀'
                    15,'tab\t\u{1}'
                    16,'back\\slash'
                    17,'/<&>'
                    18,X'612762'
                    19,X'FF0A'
                    20,X''

                    """)
            #expect(
                try dump(db, "SELECT 1 AS \"a'b\", 2 AS c", .quote(header: true, separator: " ; ")) == """
                    'a''b' ; 'c'
                    1 ; 2

                    """)
        }
    }

    @Test func whatIsQuotedReadsAsTheSameValues() throws {
        try withValues { (db) throws in
            try db.execute(sql: "INSERT INTO v (v) VALUES ('a' || char(0) || 'b'), (CAST(x'ff61' AS TEXT))")
            let text = try dump(db, "SELECT id, v FROM v ORDER BY id", .quote())
            #expect(text.contains("21,CAST(X'610062' AS TEXT)\n22,CAST(X'FF61' AS TEXT)\n"))
            // Only literals may have line ends, those that are followed by another row begin with its number.
            let rows = text.dropLast().replacing(#/\n(\d+),/#) { "), (\($0.output.1)," }
            try db.execute(sql: "CREATE TABLE copy (id, v); INSERT INTO copy VALUES (\(rows))")
            let difference = try Row.fetchAll(
                db, sql: "SELECT id, v, typeof(v) FROM v EXCEPT SELECT id, v, typeof(v) FROM copy")
            #expect(difference.isEmpty)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM copy") == 22)
        }
    }

    @Test func json() throws {
        try withValues { (db) throws in
            #expect(
                try dump(db, "SELECT * FROM v", .json()) == """
                    [{"id":1,"v":null},
                    {"id":2,"v":0},
                    {"id":3,"v":-9223372036854775808},
                    {"id":4,"v":1},
                    {"id":5,"v":0.1},
                    {"id":6,"v":1e+300},
                    {"id":7,"v":1000000000000000},
                    {"id":8,"v":"-inf"},
                    {"id":9,"v":0.3333333333333333},
                    {"id":10,"v":""},
                    {"id":11,"v":"l1\\nl2"},
                    {"id":12,"v":"it's"},
                    {"id":13,"v":"a|b,c\\"d"},
                    {"id":14,"v":"é😀"},
                    {"id":15,"v":"tab\\t\\u0001"},
                    {"id":16,"v":"back\\\\slash"},
                    {"id":17,"v":"/<&>"},
                    {"id":18,"v":"YSdi"},
                    {"id":19,"v":"/wo="},
                    {"id":20,"v":""}]

                    """)
            #expect(
                try dump(
                    db, "SELECT 1 AS a, 2 AS a; SELECT 1 WHERE 0; SELECT 'a' || char(0) || 'b' AS \"x\"\"y\"", .json())
                        == """
                        [{"a":1,"a":2}]
                        []
                        [{"x\\"y":"a\\u0000b"}]

                        """)
            let text = try dump(db, "SELECT * FROM v", .json())
            let objects = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
            #expect(objects.count == 20)
        }
    }

    @Test func jsonOfAnEncoder() throws {
        try withValues { (db) throws in
            let encoder = JSONDumpFormat.defaultEncoder
            encoder.outputFormatting = .prettyPrinted
            encoder.dataEncodingStrategy = .custom { data, encoder in
                var container = encoder.singleValueContainer()
                try container.encode("\(data.count) bytes")
            }
            #expect(
                try dump(db, "SELECT id, v FROM v WHERE id > 17; SELECT 1 WHERE 0", .json(encoder: encoder)) == """
                    [
                      {
                        "id":18,
                        "v":"3 bytes"
                      },
                      {
                        "id":19,
                        "v":"2 bytes"
                      },
                      {
                        "id":20,
                        "v":"0 bytes"
                      }
                    ]
                    []

                    """)
            let stream = DumpedText()
            #expect(throws: EncodingError.self) {
                try db.dumpSQL(
                    "SELECT id, v FROM v WHERE id IN (7, 8)", format: .json(encoder: JSONEncoder()), to: stream)
            }
            #expect(
                stream.text == """
                    [{"id":7,"v":1000000000000000},
                    {"id":8,"v":
                    """)
        }
    }

    /// The README of a format tells how to write one.
    @Test func aFormatOfOnesOwn() throws {
        struct Marked: DumpFormat {
            var count = 0
            mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
                count += 1
                stream.margin()
                stream.write("\(count):")
                stream.write("")
                for (name, value) in zip(stream.columnNames(of: statement), stream.values(of: statement)) {
                    stream.write(" \(name)=\(value)")
                }
                stream.write("\n")
                stream.margin()
            }
            mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
                stream.write("end \(count)\n")
                count = 0
            }
        }
        try withValues { (db) throws in
            #expect(
                try dump(db, "SELECT id, v FROM v WHERE id < 3; SELECT 1 WHERE 0", Marked()) == """
                    1: id=1 v=NULL

                    2: id=2 v=0

                    end 2
                    end 0

                    """)
        }
    }
}
