import QuarryClusterWire
import QuarryTestSupport
import Testing

/// Random messages are decoded as they were encoded, however their bytes arrive.
@Suite struct RoundTripTests {
    struct Messages {
        var generator: SeededGenerator

        mutating func text() -> String {
            let letters = Array("abcdefgh ✓é😀\u{1}'\"")
            return String(
                (0..<Int.random(in: 0...20, using: &generator)).map { _ in letters.randomElement(using: &generator)! })
        }

        mutating func number() -> UInt64 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: 0
            case 1: .random(in: 0...300, using: &generator)
            default: .random(in: 0 ... .max, using: &generator)
            }
        }

        mutating func half() -> UInt32 { UInt32(truncatingIfNeeded: number()) }

        mutating func value() -> WireValue {
            switch WireType.allCases.randomElement(using: &generator)! {
            case .integer: .integer(Int64(bitPattern: number()))
            case .float: .float(Double(Int64(bitPattern: number())) / 7)
            case .text: .text(text())
            case .blob:
                .blob(
                    (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    })
            case .null: .null
            case .unixTime: .unixTime(Int64(bitPattern: number()))
            case .iso8601: .iso8601(text())
            case .boolean: .boolean(Int64(bitPattern: number()))
            }
        }

        mutating func values() -> [WireValue] {
            let most = Int.random(in: 0..<10, using: &generator) == 0 ? 255 : 9
            return (0..<Int.random(in: 0...most, using: &generator)).map { _ in value() }
        }

        mutating func request() -> Request {
            switch Int.random(in: 0..<18, using: &generator) {
            case 0: .leader
            case 1: .client(id: number())
            case 2: .open(name: text())
            case 3: .prepare(database: half(), sql: text())
            case 4: .execute(database: half(), statement: half(), arguments: values())
            case 5: .query(database: half(), statement: half(), arguments: values())
            case 6: .finalize(database: half(), statement: half())
            case 7: .executeSQL(database: half(), sql: text(), arguments: values())
            case 8: .querySQL(database: half(), sql: text(), arguments: values())
            case 9: .interrupt(database: half())
            case 10: .add(id: number(), address: text())
            case 11: .assign(id: number(), role: NodeRole.allCases.randomElement(using: &generator)!)
            case 12: .remove(id: number())
            case 13: .dump(name: text())
            case 14: .cluster
            case 15: .transfer(id: number())
            case 16: .describe
            default: .weight(number())
            }
        }

        mutating func response() -> Response {
            let count = Int.random(in: 0...6, using: &generator)
            return switch Int.random(in: 0..<10, using: &generator) {
            case 0: .failure(code: number(), message: text())
            case 1: .server(id: number(), address: text())
            case 2: .welcome(heartbeatTimeout: number())
            case 3:
                .servers(
                    (0..<count).map { _ in
                        ClusterMember(
                            id: number(), address: text(), role: NodeRole.allCases.randomElement(using: &generator)!)
                    })
            case 4: .database(id: half())
            case 5: .statement(database: half(), id: half(), parameterCount: number())
            case 6: .result(lastInsertedRowID: Int64(bitPattern: number()), changesCount: number())
            case 7: .empty
            case 8:
                .files(
                    (0..<count).map { index in
                        DumpedFile(name: text(), contents: [UInt8](repeating: UInt8(index), count: index * 3)[...])
                    })
            default: .metadata(failureDomain: number(), weight: number())
            }
        }
    }

    @Test func requests() throws {
        let generator = SeededGenerator()
        var messages = Messages(generator: generator)
        let sent = (0..<2_000).map { _ in messages.request() }
        var bytes: [UInt8] = []
        for request in sent { try request.encode(into: &bytes) }
        let received = try cut(bytes, &messages).map { try Request(decoding: $0) }
        #expect(received == sent, "seed \(generator.seed)")
    }

    @Test func responses() throws {
        let generator = SeededGenerator()
        var messages = Messages(generator: generator)
        let sent = (0..<2_000).map { _ in messages.response() }
        var bytes: [UInt8] = []
        for response in sent { try response.encode(into: &bytes) }
        let received = try cut(bytes, &messages).map { try Response(decoding: $0) }
        #expect(received == sent, "seed \(generator.seed)")
    }

    /// The frames of bytes that arrive in pieces of any size.
    private func cut(_ bytes: [UInt8], _ messages: inout Messages) throws -> [Frame] {
        var decoder = FrameDecoder()
        var frames: [Frame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...200, using: &messages.generator))
            rest = rest.dropFirst(piece.count)
            decoder.append([UInt8](piece))
            while let frame = try decoder.next() { frames.append(frame) }
        }
        #expect(decoder.pendingByteCount == 0)
        return frames
    }
}
