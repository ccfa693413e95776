import QuarryClusterWire
import Testing

/// Requests as bytes that a node of dqlite 1.11.1 answered as expected.
@Suite struct RequestTests {
    struct Recording: CustomTestStringConvertible, Sendable {
        let request: Request
        let digits: String

        var testDescription: String { "\(request)" }
    }

    static let recordings: [Recording] = [
        Recording(request: .leader, digits: "01000000 00000000 0000000000000000"),
        Recording(request: .client(id: 7), digits: "01000000 01000000 0700000000000000"),
        Recording(
            request: .open(name: "app"),
            digits: "03000000 03000000 6170700000000000 0600000000000000 0000000000000000"),
        Recording(
            request: .prepare(database: 0, sql: "SELECT * FROM t WHERE a > ?"),
            digits: """
                05000000 04000000 0000000000000000 53454c454354202a 2046524f4d207420 5748455245206120 3e203f0000000000
                """),
        Recording(
            request: .execute(
                database: 0, statement: 0,
                arguments: [
                    .integer(1), .float(1.5), .text("héllo"), .blob([0, 1, 2]), .boolean(1), .text("2024-01-02"), .null,
                ]),
            digits: """
                0b000000 05000000 00000000 00000000 07010203040b0305 0100000000000000 000000000000f83f 68c3a96c6c6f0000
                0300000000000000 0001020000000000 0100000000000000 323032342d30312d 3032000000000000 0000000000000000
                """),
        // Eight types and their count need two words.
        Recording(
            request: .execute(
                database: 0, statement: 0,
                arguments: [
                    .integer(-2), .float(-0.0), .text(""), .blob([]), .boolean(0), .null,
                    .blob([UInt8]("12345678".utf8)),
                ]),
            digits: """
                0a000000 05000000 00000000 00000000 07010203040b0504 feffffffffffffff 0000000000000080 0000000000000000
                0000000000000000 0000000000000000 0000000000000000 0800000000000000 3132333435363738
                """),
        Recording(
            request: .query(database: 0, statement: 1, arguments: [.integer(-10)]),
            digits: "03000000 06000000 00000000 01000000 0101000000000000 f6ffffffffffffff"),
        Recording(request: .finalize(database: 0, statement: 1), digits: "01000000 07000000 00000000 01000000"),
        Recording(
            request: .executeSQL(database: 0, sql: "DELETE FROM t", arguments: []),
            digits: "03000000 08000000 0000000000000000 44454c4554452046 524f4d2074000000"),
        Recording(
            request: .querySQL(database: 0, sql: "SELECT 1 AS \"one\", NULL", arguments: []),
            digits: "04000000 09000000 0000000000000000 53454c4543542031 20415320226f6e65 222c204e554c4c00"),
        Recording(request: .interrupt(database: 0), digits: "01000000 0a000000 0000000000000000"),
        Recording(
            request: .add(id: 2, address: "127.0.0.1:9402"),
            digits: "03000000 0c000000 0200000000000000 3132372e302e302e 313a393430320000"),
        Recording(
            request: .assign(id: 2, role: .standby), digits: "02000000 0d000000 0200000000000000 0100000000000000"),
        Recording(request: .assign(id: 2, role: .voter), digits: "02000000 0d000000 0200000000000000 0000000000000000"),
        Recording(request: .remove(id: 2), digits: "01000000 0e000000 0200000000000000"),
        Recording(request: .dump(name: "app"), digits: "01000000 0f000000 6170700000000000"),
        Recording(request: .cluster, digits: "01000000 10000000 0100000000000000"),
        Recording(request: .transfer(id: 2), digits: "01000000 11000000 0200000000000000"),
        Recording(request: .describe, digits: "01000000 12000000 0000000000000000"),
        Recording(request: .weight(42), digits: "01000000 13000000 2a00000000000000"),
    ]

    @Test(arguments: recordings) func encodedAsRecorded(_ recording: Recording) throws {
        #expect(try recording.request.encoded() == bytes(recording.digits))
    }

    @Test(arguments: recordings) func decodedAsRecorded(_ recording: Recording) throws {
        #expect(try Request(decoding: frame(bytes(recording.digits))) == recording.request)
    }

    @Test func theHandshakeIsTheVersion() {
        var bytes: [UInt8] = []
        Handshake.encode(into: &bytes)
        #expect(bytes == [1, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Requests are sent back to back in one write.
    @Test func requestsAreAppended() throws {
        var bytes: [UInt8] = []
        try Request.leader.encode(into: &bytes)
        try Request.remove(id: 3).encode(into: &bytes)
        #expect(try bytes == Request.leader.encoded() + Request.remove(id: 3).encoded())
    }

    @Test func aTextWithNULIsRefusedAndLeavesTheBytes() throws {
        var bytes = try Request.leader.encoded()
        let error = #expect(throws: WireError.self) {
            try Request.querySQL(database: 0, sql: "SELECT ?", arguments: [.integer(1), .text("a\0b")])
                .encode(into: &bytes)
        }
        #expect(error?.reason == .textWithNUL)
        #expect(error?.description == "QUERY_SQL: \"argument\" contains a NUL, which would cut it.")
        #expect(try bytes == Request.leader.encoded())
        #expect(throws: WireError.self) { try Request.open(name: "\0").encode(into: &bytes) }
        #expect(throws: WireError.self) { try Request.prepare(database: 0, sql: "SELECT '\0'").encode(into: &bytes) }
    }

    @Test func upTo255ArgumentsAreSent() throws {
        let most = Request.execute(database: 0, statement: 0, arguments: (1...255).map { .integer($0) })
        #expect(try Request(decoding: frame(most.encoded())) == most)
        let error = #expect(throws: WireError.self) {
            try Request.execute(database: 0, statement: 0, arguments: Array(repeating: .null, count: 256)).encoded()
        }
        #expect(error?.description == "EXEC: 256 arguments; a statement has at most 255.")
    }

    @Test func unknownRequestsAreRefused() throws {
        let error = #expect(throws: WireError.self) { try Request(decoding: frame(2, words(0))) }
        #expect(error?.description == "2 is the type of no request.")
        #expect(throws: WireError.self) { try Request(decoding: frame(0, words(0), schema: 1)) }
        let role = #expect(throws: WireError.self) { try Request(decoding: frame(13, words(1, 7))) }
        #expect(role?.description == "ASSIGN: 7 is the number of no role.")
        let database = #expect(throws: WireError.self) { try Request(decoding: frame(10, words(1 << 40))) }
        #expect(database?.reason == .wrongCount)
    }
}
