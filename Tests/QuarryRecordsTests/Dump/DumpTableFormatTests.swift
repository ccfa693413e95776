import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// CSV and Markdown.
@Suite struct DumpTableFormatTests {
    private func dump(_ sql: SQL, _ format: some DumpFormat) throws -> String {
        try DatabaseQueue().read { db in try DumpedText.of { try db.dumpSQL(sql, format: format, to: $0) } }
    }

    // MARK: - CSV

    @Test func csv() throws {
        let text = try dump(
            """
            SELECT 1 AS id, 'O''Hara, Arthur' AS name, NULL AS "a ""note"" b" UNION ALL
            SELECT 2, 'says "hi"', '' UNION ALL
            SELECT 3.5, 'two' || char(13, 10) || 'lines', ' spaces ' UNION ALL
            SELECT 4, x'6869', x'FF'
            """, .csv())
        #expect(
            text.replacing("\r\n", with: "\n") == """
                id,name,"a ""note"" b"
                1,"O'Hara, Arthur",
                2,"says ""hi""\",""
                3.5,"two
                lines", spaces\u{20}
                4,hi,X'FF'

                """)
        #expect(text.utf8.count { $0 == 0x0D } == 6)
        #expect(text.hasSuffix("X'FF'\r\n"))
    }

    @Test func csvWithOptions() throws {
        #expect(
            try dump(
                "SELECT 'a;b' AS a, 'a,b' AS b, NULL AS c, '-' AS d",
                .csv(header: false, separator: ";", nullValue: "-"))
                == "\"a;b\";a,b;-;\"-\"\r\n")
        #expect(try dump("SELECT 'x' AS a, 'y' AS b", .csv(separator: "\t")) == "a\tb\r\nx\ty\r\n")
        #expect(try dump("SELECT x'0AFF' AS a", .csv(blobs: .hexadecimal)) == "a\r\n0AFF\r\n")
        for (blob, text) in [
            ("", "\"\""), ("00", "AA=="), ("0001", "AAE="), ("FFFEFD", "//79"), ("00000000", "AAAAAA=="),
        ] {
            #expect(
                try dump(SQL(sql: "SELECT x'\(blob)'"), .csv(header: false, blobs: .base64)) == text + "\r\n")
        }
        #expect(try dump("SELECT 1 AS a, 2 AS b WHERE 0", .csv()) == "a,b\r\n")
        #expect(try dump("SELECT 1 AS a, 2 AS b WHERE 0", .csv(header: false)) == "")
        #expect(try dump("SELECT 1 AS a; SELECT 2 AS b", .csv()) == "a\r\n1\r\nb\r\n2\r\n")
    }

    @Test(arguments: [
        (",", "x,y", "not a text for NULL in CSV: \"x,y\""), ("", "", "not a separator of CSV: \"\""),
        ("\"", "", #"not a separator of CSV: "\"""#), ("\n", "", #"not a separator of CSV: "\n""#),
    ])
    func csvThatNobodyCouldRead(separator: String, nullValue: String, message: String) {
        #expect {
            _ = try dump("SELECT 1 AS a", .csv(separator: separator, nullValue: nullValue))
        } throws: {
            ($0 as? DatabaseError)?.message == message && ($0 as? DatabaseError)?.resultCode == .SQLITE_MISUSE
        }
    }

    /// The text is read again by the rules of RFC 4180.
    @Test func csvComesBack() throws {
        var random = SeededGenerator()
        let pieces = [",", "\"", "\r", "\n", "a", "é", "-", " ", "\u{0}", "'", ";"]
        for _ in 0..<200 {
            let rows = (0..<3).map { _ in
                (0..<3).map { _ -> String? in
                    if Int.random(in: 0..<5, using: &random) == 0 { return nil }
                    return (0..<Int.random(in: 0..<5, using: &random))
                        .map { _ in pieces.randomElement(using: &random)! }.joined()
                }
            }
            let text = try DatabaseQueue().write { (db) throws in
                try db.execute(sql: "CREATE TABLE t (a, b, c)")
                for row in rows {
                    try db.execute(sql: "INSERT INTO t VALUES (?, ?, ?)", arguments: StatementArguments(row))
                }
                return try DumpedText.of { try db.dumpTables(["t"], format: .csv(header: false), to: $0) }
            }
            #expect(Self.parse(text) == rows)
        }
    }

    /// The fields of CSV; nil where there is nothing, not even quotes.
    private static func parse(_ text: String) -> [[String?]] {
        var rows: [[String?]] = []
        var row: [String?] = []
        var field: [UInt8]?
        var isQuoted = false
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            switch (byte, isQuoted) {
            case (0x22, true) where bytes.first == 0x22: field?.append(bytes.removeFirst())
            case (0x22, _):
                isQuoted.toggle()
                field = field ?? []
            case (0x2C, false):
                row.append(field.map { String(decoding: $0, as: UTF8.self) })
                field = nil
            case (0x0D, false):
                row.append(field.map { String(decoding: $0, as: UTF8.self) })
                field = nil
                rows.append(row)
                row = []
                bytes.removeFirst()
            default: field = (field ?? []) + [byte]
            }
        }
        return rows
    }

    // MARK: - Markdown

    @Test func markdown() throws {
        #expect(
            try dump(
                """
                SELECT 'Arthur' AS name, 500 AS score, NULL AS note UNION ALL
                SELECT 'Barbara', NULL, 'a|b' || char(10) || 'c\\d *e* <f> &' UNION ALL
                SELECT 'Éve', 1.5, ''
                """, .markdown()) == """
                    | name    | score | note                            |
                    | ------- | ----: | ------------------------------- |
                    | Arthur  |   500 |                                 |
                    | Barbara |       | a\\|b<br>c\\\\d \\*e\\* &lt;f> &amp; |
                    | Éve     |   1.5 |                                 |

                    """)
    }

    @Test func markdownWithOptions() throws {
        #expect(
            try dump("SELECT 1 AS a, 'longer' AS b", .markdown(alignedRows: 0)) == """
                | a | b |
                | --- | --- |
                | 1 | longer |

                """)
        // The widths are those of the first rows.
        #expect(
            try dump("SELECT 'a' AS name UNION ALL SELECT 'b' UNION ALL SELECT 'longer'", .markdown(alignedRows: 2))
                == """
                | name |
                | ---- |
                | a    |
                | b    |
                | longer |

                """)
        #expect(
            try dump("SELECT NULL AS a, x'FF' AS b", .markdown(nullValue: "NULL", blobs: .base64)) == """
                | a    | b    |
                | ---- | ---- |
                | NULL | /w== |

                """)
        #expect(
            try dump("SELECT 1 AS a, 2 AS b WHERE 0; SELECT 3 AS c", .markdown()) == """
                | a   | b   |
                | --- | --- |
                |   c |
                | --: |
                |   3 |

                """)
    }
}
