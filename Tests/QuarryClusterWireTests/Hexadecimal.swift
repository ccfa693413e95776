@testable import QuarryClusterWire

/// The bytes of hexadecimal digits.
func bytes(_ digits: String) -> [UInt8] {
    let digits = digits.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Words, the lowest byte first.
func words(_ words: UInt64...) -> [UInt8] {
    words.reduce(into: []) { $0.append(word: $1) }
}

/// The only frame of some bytes.
func frame(_ bytes: [UInt8]) throws(WireError) -> Frame {
    var decoder = FrameDecoder()
    decoder.append(bytes)
    guard let frame = try decoder.next(), decoder.pendingByteCount == 0 else {
        throw WireError(.wrongCount, "\(bytes.count) bytes are not one frame.")
    }
    return frame
}

/// A frame of a type and a body.
func frame(_ type: UInt8, _ body: [UInt8], schema: UInt8 = 0) throws(WireError) -> Frame {
    try Frame(header: FrameHeader(wordCount: UInt32(body.count / 8), type: type, schema: schema), body: body)
}

extension Request {
    func encoded() throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        try encode(into: &bytes)
        return bytes
    }
}

extension Response {
    func encoded() throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        try encode(into: &bytes)
        return bytes
    }
}

extension RowPage {
    func rows() throws(WireError) -> [[WireValue]] {
        var rows: [[WireValue]] = []
        var reader = makeReader()
        while try reader.next() {
            var row: [WireValue] = []
            for cell in reader.cells { row.append(try value(of: cell)) }
            rows.append(row)
        }
        return rows
    }
}
