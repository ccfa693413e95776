import QuarryClusterWire
import Testing

@Suite struct FrameDecoderTests {
    @Test func framesFromSingleBytes() throws {
        let requests: [Request] = [.leader, .open(name: "app"), .dump(name: "a longer name of a database")]
        var bytes: [UInt8] = []
        for request in requests { try request.encode(into: &bytes) }
        var decoder = FrameDecoder()
        var decoded: [Request] = []
        for byte in bytes {
            decoder.append([byte])
            while let frame = try decoder.next() { decoded.append(try Request(decoding: frame)) }
        }
        #expect(decoded == requests)
        #expect(decoder.pendingByteCount == 0)
    }

    @Test func manyFramesInOnePiece() throws {
        var bytes: [UInt8] = []
        for id in 0..<100 { try Request.remove(id: UInt64(id)).encode(into: &bytes) }
        var decoder = FrameDecoder()
        bytes.withUnsafeBytes { decoder.append($0) }
        for id in 0..<100 {
            let frame = try #require(try decoder.next())
            #expect(try Request(decoding: frame) == .remove(id: UInt64(id)))
        }
        #expect(try decoder.next() == nil)
    }

    @Test func missingBytesAreCounted() throws {
        let bytes = try Request.open(name: "app").encoded()
        var decoder = FrameDecoder()
        #expect(try decoder.missingByteCount() == 8)
        decoder.append([UInt8](bytes[..<3]))
        #expect(try decoder.missingByteCount() == 5)
        decoder.append([UInt8](bytes[3..<8]))
        #expect(try decoder.missingByteCount() == 24)
        decoder.append([UInt8](bytes[8..<31]))
        #expect(try decoder.missingByteCount() == 1)
        decoder.append([bytes[31]])
        #expect(try decoder.missingByteCount() == 0)
    }

    @Test func aFrameThatIsTooLargeIsRefusedByItsHeader() throws {
        var decoder = FrameDecoder(maximumBodySize: 64)
        decoder.append(words(FrameHeader(wordCount: 9, type: 7).word))
        let error = #expect(throws: WireError.self) { try decoder.next() }
        #expect(error?.reason == .oversized)
        #expect(error?.description == "A frame of type 7 announces 72 bytes; at most 64 are accepted.")
        #expect(throws: WireError.self) { try decoder.missingByteCount() }
    }

    @Test func theLargestHeader() throws {
        var decoder = FrameDecoder()
        decoder.append([UInt8](repeating: 0xFF, count: 8))
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test func headersOfBytes() throws {
        let bytes: [UInt8] = [2, 1, 0, 0, 7, 1, 0, 0]
        let header = try #require(bytes.withUnsafeBytes { FrameHeader($0) })
        #expect(header == FrameHeader(wordCount: 258, type: 7, schema: 1))
        #expect(header.bodySize == 258 * 8)
        #expect(bytes[..<7].withUnsafeBytes { FrameHeader($0) } == nil)
        #expect(throws: WireError.self) { try Frame(header: header, body: [1]) }
    }
}
