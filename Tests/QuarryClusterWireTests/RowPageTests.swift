import QuarryClusterWire
import Testing

@Suite struct RowPageTests {
    /// `SELECT * FROM t` of a table with columns declared INTEGER, REAL, TEXT, BLOB, BOOLEAN, DATETIME and nothing, as
    /// a node of dqlite 1.11.1 sent it. The first row has NULL in the DATETIME column.
    static let recording = """
        1c000000 07000000 0700000000000000 6100000000000000 6200000000000000 6300000000000000 6400000000000000
        6500000000000000 6600000000000000 6700000000000000 2143ab0400000000 feffffffffffffff 0000000000000000
        0000000000000000 0000000000000000 0000000000000000 0000000000000000 0800000000000000 3132333435363738
        2143ab0500000000 0100000000000000 000000000000f83f 68c3a96c6c6f0000 0300000000000000 0001020000000000
        0100000000000000 323032342d30312d 3032000000000000 0000000000000000 ffffffffffffffff
        """

    func page(_ body: [UInt8]) throws -> RowPage {
        guard case .rows(let page) = try Response(decoding: frame(7, body)) else {
            throw UnexpectedResponse()
        }
        return page
    }

    struct UnexpectedResponse: Error {}

    @Test func rowsAsRecorded() throws {
        let frame = try frame(bytes(RowPageTests.recording))
        guard case .rows(let page) = try Response(decoding: frame) else { throw UnexpectedResponse() }
        #expect(try page.columnNames() == ["a", "b", "c", "d", "e", "f", "g"])
        #expect(!page.hasMore)
        #expect(
            try page.rows() == [
                [
                    .integer(-2), .float(0), .text(""), .blob([]), .boolean(0), .iso8601(""),
                    .blob([UInt8]("12345678".utf8)),
                ],
                [
                    .integer(1), .float(1.5), .text("héllo"), .blob([0, 1, 2]), .boolean(1), .iso8601("2024-01-02"),
                    .null,
                ],
            ])
        #expect(try Response.rows(page).encoded() == bytes(RowPageTests.recording))
    }

    @Test func aQueryWithoutRows() throws {
        let page = try page(words(1, 0x61, .max))
        #expect(try page.columnNames() == ["a"])
        #expect(try page.rows() == [])
        #expect(!page.hasMore)
    }

    @Test func aPageThatOthersFollow() throws {
        let page = try page(words(1, 0x61, 1, 42, 0xEEEE_EEEE_EEEE_EEEE))
        #expect(page.hasMore)
        #expect(try page.rows() == [[.integer(42)]])
    }

    /// 16 types fill a word, 17 need two.
    @Test(arguments: [15, 16, 17, 33]) func typesFillWords(_ count: Int) throws {
        var body = words(UInt64(count))
        for _ in 0..<count { body += words(0x61) }
        for index in 0..<((count + 15) / 16) {
            let types = min(16, count - index * 16)
            body += words((0..<types).reduce(0) { $0 | 1 << (4 * $1) })
        }
        for index in 0..<count { body += words(UInt64(index)) }
        body += words(.max)
        #expect(try page(body).rows() == [(0..<count).map { .integer(Int64($0)) }])
    }

    @Test func textsThatFillTheirWordsExactly() throws {
        // 7 characters and the NUL in one word; 8 characters need two.
        let page = try page(words(1, 0x61, 3, 0x0067_6665_6463_6261, 3, 0x6867_6665_6463_6261, 0, .max))
        #expect(try page.rows() == [[.text("abcdefg")], [.text("abcdefgh")]])
    }

    @Test func pagesOfOneQueryHaveTheSameColumns() throws {
        let first = try page(words(1, 0x61, 1, 42, 0xEEEE_EEEE_EEEE_EEEE))
        #expect(try first.hasSameColumns(as: page(words(1, 0x61, .max))))
        #expect(try !first.hasSameColumns(as: page(words(1, 0x62, .max))))
        #expect(try !first.hasSameColumns(as: page(words(2, 0x61, 0x61, .max))))
    }

    struct Malformed: CustomTestStringConvertible, Sendable {
        let rows: [UInt8]
        let reason: WireError.Reason
        let description: String

        var testDescription: String { description }
    }

    static let malformed: [Malformed] = [
        Malformed(rows: words(6, 0), reason: .unknownCode, description: "ROWS: value 1 has the unknown type 6."),
        Malformed(
            rows: words(.max, 1, 42), reason: .unknownCode, description: "ROWS: value 1 has the unknown type 15."),
        Malformed(
            rows: words(3, 0x6162_6364_6566_6768), reason: .unterminatedText,
            description: "ROWS: the text \"value\" at byte 24 has no NUL at its end."),
        Malformed(
            rows: words(4, .max), reason: .truncated,
            description: "ROWS: the blob \"value\" announces 18446744073709551615 bytes, and the body has 8 more."),
        Malformed(
            rows: words(4, 8), reason: .truncated,
            description: "ROWS: a row at byte 16 extends into the word behind the rows."),
        Malformed(
            rows: words(3, 0xFF), reason: .invalidUTF8, description: "ROWS: \"value\" is not UTF-8: 1 bytes at byte 24."
        ),
        Malformed(
            rows: words(1), reason: .truncated,
            description: "ROWS: a row at byte 16 extends into the word behind the rows."),
    ]

    @Test(arguments: malformed) func malformedRowsAreNamed(_ malformed: Malformed) throws {
        let page = try page(words(1, 0x61) + malformed.rows + words(0xEEEE_EEEE_EEEE_EEEE))
        let error = #expect(throws: WireError.self) { try page.rows() }
        #expect(error?.reason == malformed.reason)
        #expect(error?.description == malformed.description)
    }

    @Test func aReaderThatThrewHasNoFurtherRows() throws {
        let page = try page(words(1, 0x61, 6, 0, 1, 42, .max))
        var reader = page.makeReader()
        #expect(throws: WireError.self) { try reader.next() }
        #expect(try !reader.next())
        #expect(reader.cells.isEmpty)
    }

    /// SQLite accepts any bytes as text; their reader may accept them, too.
    @Test func aTextThatIsNotUTF8HasItsBytes() throws {
        let page = try page(words(1, 0x61, 3, 0xFF, .max))
        var reader = page.makeReader()
        #expect(try reader.next())
        #expect(page.bytes(of: reader.cells[0]) == [0xFF])
    }
}
