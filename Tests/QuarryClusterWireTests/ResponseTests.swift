import QuarryClusterWire
import Testing

/// Responses as a node of dqlite 1.11.1 sent them.
@Suite struct ResponseTests {
    struct Recording: CustomTestStringConvertible, Sendable {
        let response: Response
        let digits: String

        var testDescription: String { "\(response)" }
    }

    static let recordings: [Recording] = [
        Recording(
            response: .server(id: 1, address: "127.0.0.1:9401"),
            digits: "03000000 01000000 0100000000000000 3132372e302e302e 313a393430310000"),
        Recording(
            response: .server(id: 0, address: ""), digits: "02000000 01000000 0000000000000000 0000000000000000"),
        Recording(response: .welcome(heartbeatTimeout: 15_000), digits: "01000000 02000000 983a000000000000"),
        Recording(response: .database(id: 0), digits: "01000000 04000000 0000000000000000"),
        Recording(
            response: .failure(code: 5, message: "a database for this connection is already open"),
            digits: """
                07000000 00000000 0500000000000000 6120646174616261 736520666f722074 68697320636f6e6e 656374696f6e2069
                7320616c72656164 79206f70656e0000
                """),
        Recording(
            response: .failure(code: 10_250, message: "not leader"),
            digits: "03000000 00000000 0a28000000000000 6e6f74206c656164 6572000000000000"),
        Recording(
            response: .failure(code: 0, message: "empty statement"),
            digits: "03000000 00000000 0000000000000000 656d707479207374 6174656d656e7400"),
        Recording(
            response: .result(lastInsertedRowID: -2, changesCount: 1),
            digits: "02000000 06000000 feffffffffffffff 0100000000000000"),
        Recording(
            response: .statement(database: 0, id: 1, parameterCount: 1),
            digits: "02000000 05000000 00000000 01000000 0100000000000000"),
        Recording(response: .empty, digits: "01000000 08000000 0000000000000000"),
        Recording(
            response: .servers([
                ClusterMember(id: 1, address: "127.0.0.1:9401", role: .voter),
                ClusterMember(id: 2, address: "127.0.0.1:9402", role: .spare),
            ]),
            digits: """
                09000000 03000000 0200000000000000 0100000000000000 3132372e302e302e 313a393430310000 0000000000000000
                0200000000000000 3132372e302e302e 313a393430320000 0200000000000000
                """),
        Recording(response: .servers([]), digits: "01000000 03000000 0000000000000000"),
        Recording(
            response: .files([
                DumpedFile(name: "nope", contents: []), DumpedFile(name: "nope-wal", contents: []),
            ]),
            digits: """
                06000000 09000000 0200000000000000 6e6f706500000000 0000000000000000 6e6f70652d77616c 0000000000000000
                0000000000000000
                """),
        Recording(
            response: .metadata(failureDomain: 0, weight: 42),
            digits: "02000000 0a000000 0000000000000000 2a00000000000000"),
    ]

    @Test(arguments: recordings) func decodedAsRecorded(_ recording: Recording) throws {
        #expect(try Response(decoding: frame(bytes(recording.digits))) == recording.response)
    }

    @Test(arguments: recordings) func encodedAsRecorded(_ recording: Recording) throws {
        #expect(try recording.response.encoded() == bytes(recording.digits))
    }

    @Test func filesHaveTheirBytes() throws {
        let contents = (0..<24).map { UInt8($0) }
        let files: Response = .files([
            DumpedFile(name: "app", contents: contents[...]), DumpedFile(name: "app-wal", contents: contents[..<8]),
        ])
        #expect(try Response(decoding: frame(files.encoded())) == files)
    }

    /// SQLite's message may quote bytes of a value.
    @Test func aMessageThatIsNotUTF8IsRepaired() throws {
        let frame = try frame(0, words(1, 0x0000_6261_FF63))
        #expect(try Response(decoding: frame) == .failure(code: 1, message: "c\u{FFFD}ab"))
    }

    struct Malformed: CustomTestStringConvertible, Sendable {
        let type: UInt8
        let body: [UInt8]
        let reason: WireError.Reason
        let description: String

        var testDescription: String { description }
    }

    static let malformed: [Malformed] = [
        Malformed(
            type: 11, body: words(0), reason: .unknownCode, description: "11 is the type of no response."),
        Malformed(
            type: 6, body: words(1), reason: .truncated,
            description: "RESULT: the body ends within \"changes\": 8 bytes are needed at byte 8 of 8."),
        Malformed(
            type: 8, body: words(0, 0), reason: .trailingBytes, description: "EMPTY: 8 bytes follow the last field."),
        Malformed(
            type: 1, body: words(1), reason: .truncated,
            description: "SERVER: the body ends within \"address\": 8 bytes are needed at byte 8 of 8."),
        Malformed(
            type: 1, body: words(1, 0x6162_6364_6566_6768), reason: .unterminatedText,
            description: "SERVER: the text \"address\" at byte 8 has no NUL at its end."),
        Malformed(
            type: 1, body: words(1, 0xFF), reason: .invalidUTF8,
            description: "SERVER: \"address\" is not UTF-8: 1 bytes at byte 8."),
        Malformed(
            type: 3, body: words(.max), reason: .wrongCount,
            description: "SERVERS: 18446744073709551615 members are announced, and only 0 bytes follow."),
        Malformed(
            type: 3, body: words(2, 1, 0, 0), reason: .wrongCount,
            description: "SERVERS: 2 members are announced, and only 24 bytes follow."),
        Malformed(
            type: 3, body: words(1, 1, 0, 3), reason: .unknownCode,
            description: "SERVERS: 3 is the number of no role."),
        Malformed(
            type: 9, body: words(1, 0x61, .max), reason: .truncated,
            description: "FILES: the blob \"contents\" announces 18446744073709551615 bytes, and the body has 0 more."),
        Malformed(
            type: 9, body: words(1, 0x61, UInt64(Int64.max), 0), reason: .truncated,
            description: "FILES: the blob \"contents\" announces 9223372036854775807 bytes, and the body has 8 more."),
        Malformed(
            type: 7, body: words(0, .max), reason: .wrongCount,
            description: "ROWS: 0 columns are announced, and 8 bytes follow."),
        Malformed(
            type: 7, body: words(UInt64(Int64.max), .max), reason: .wrongCount,
            description: "ROWS: 9223372036854775807 columns are announced, and 8 bytes follow."),
        Malformed(
            type: 7, body: words(1, 0x61), reason: .truncated,
            description: "ROWS: the word behind the rows is missing."),
        Malformed(
            type: 7, body: words(1, 0x61, 1, 5), reason: .truncated,
            description: "ROWS: the last word is 0x5, which ends no page."),
    ]

    @Test(arguments: malformed) func malformedBytesAreNamed(_ malformed: Malformed) throws {
        let error = #expect(throws: WireError.self) {
            try Response(decoding: frame(malformed.type, malformed.body))
        }
        #expect(error?.reason == malformed.reason)
        #expect(error?.description == malformed.description)
    }

    @Test func anotherSchemaIsRefused() throws {
        let error = #expect(throws: WireError.self) { try Response(decoding: frame(5, words(0, 0), schema: 1)) }
        #expect(error?.description == "STMT: schema 1 is unknown; 0 is the only one.")
    }
}
