/// Appends a frame to bytes, field by field.
struct BodyWriter {
    /// The name of the message, for errors.
    let message: StaticString
    private var bytes: [UInt8] = []
    private var start = 0

    /// Appends a frame. If `body` throws, the bytes are as before.
    static func append(
        _ message: StaticString, type: UInt8, to bytes: inout [UInt8],
        _ body: (inout BodyWriter) throws(WireError) -> Void
    ) throws(WireError) {
        var writer = BodyWriter(message: message)
        swap(&writer.bytes, &bytes)
        defer { swap(&writer.bytes, &bytes) }
        writer.start = writer.bytes.count
        writer.word(0)
        do {
            try body(&writer)
            try writer.writeHeader(type)
        } catch {
            writer.bytes.removeSubrange(writer.start...)
            throw error
        }
    }

    private init(message: StaticString) { self.message = message }

    mutating func word(_ value: UInt64) { bytes.append(word: value) }

    mutating func halves(_ first: UInt32, _ second: UInt32) { word(UInt64(first) | UInt64(second) << 32) }

    mutating func text(_ value: String, _ field: StaticString) throws(WireError) {
        guard !value.utf8.contains(0) else {
            throw WireError(.textWithNUL, "\(message): \"\(field)\" contains a NUL, which would cut it.")
        }
        let first = bytes.count
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
        bytes.pad(from: first)
    }

    /// The number of bytes, and the bytes.
    mutating func blob(_ value: some Collection<UInt8>) {
        word(UInt64(value.count))
        let first = bytes.count
        bytes.append(contentsOf: value)
        bytes.pad(from: first)
    }

    /// Bytes that are a whole number of words.
    mutating func words(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }

    /// Appends zeros that are set later, and returns the index of the first.
    mutating func reserve(_ count: Int) -> Int {
        defer { bytes.append(contentsOf: repeatElement(0, count: count)) }
        return bytes.count
    }

    mutating func set(_ byte: UInt8, at index: Int) { bytes[index] = byte }

    private mutating func writeHeader(_ type: UInt8) throws(WireError) {
        let words = (bytes.count - start) / 8 - 1
        guard let wordCount = UInt32(exactly: words) else {
            throw WireError(.oversized, "\(message): \(words) words; a frame has at most \(UInt32.max).")
        }
        bytes.set(word: FrameHeader(wordCount: wordCount, type: type).word, at: start)
    }
}
