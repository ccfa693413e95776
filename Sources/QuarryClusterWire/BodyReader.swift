/// Reads the fields of a body, one after the other.
struct BodyReader {
    /// The name of the message, for errors.
    let message: StaticString
    let bytes: [UInt8]
    private(set) var offset: Int

    init(_ bytes: [UInt8], of message: StaticString, from offset: Int = 0) {
        self.message = message
        self.bytes = bytes
        self.offset = offset
    }

    /// The bytes of the fields that were not read yet.
    var remaining: Int { bytes.count - offset }

    mutating func word(_ field: StaticString) throws(WireError) -> UInt64 {
        guard remaining >= 8 else { throw truncated(field, 8) }
        defer { offset += 8 }
        return bytes.word(at: offset)
    }

    /// The two halves of a word.
    mutating func halves(_ first: StaticString) throws(WireError) -> (UInt32, UInt32) {
        let word = try word(first)
        return (UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word >> 32))
    }

    /// The bytes of a text, without the NUL.
    mutating func textRange(_ field: StaticString) throws(WireError) -> Range<Int> {
        guard remaining > 0 else { throw truncated(field, 8) }
        let start = offset
        while remaining >= 8 {
            let zero = bytes.word(at: offset).indexOfZeroByte
            offset += 8
            if let zero { return start..<(offset - 8 + zero) }
        }
        throw WireError(
            .unterminatedText, "\(message): the text \"\(field)\" at byte \(start) has no NUL at its end.")
    }

    mutating func text(_ field: StaticString) throws(WireError) -> String {
        let range = try textRange(field)
        return try bytes.text(range, message, field)
    }

    /// The bytes of a blob: a word with their number precedes them, zeros fill the last word.
    mutating func blobRange(_ field: StaticString) throws(WireError) -> Range<Int> {
        let count = try word(field)
        // Compared as unsigned numbers: the count may be any.
        guard count <= UInt64(remaining) else {
            throw WireError(
                .truncated,
                "\(message): the blob \"\(field)\" announces \(count) bytes, and the body has \(remaining) more.")
        }
        let range = offset..<(offset + Int(count))
        // The body is a whole number of words, so the padding exists, too.
        offset = min(bytes.count, offset + Int(count).roundedUpToWords)
        return range
    }

    /// Throws if the body goes on.
    func end() throws(WireError) {
        guard remaining == 0 else {
            throw WireError(.trailingBytes, "\(message): \(remaining) bytes follow the last field.")
        }
    }

    /// Skips bytes that exist.
    mutating func skip(_ count: Int) { offset += count }

    private func truncated(_ field: StaticString, _ count: Int) -> WireError {
        WireError(
            .truncated,
            "\(message): the body ends within \"\(field)\": \(count) bytes are needed at byte \(offset) of \(bytes.count)."
        )
    }
}

extension [UInt8] {
    /// A text, if its bytes are UTF-8.
    func text(_ range: Range<Int>, _ message: StaticString, _ field: StaticString) throws(WireError) -> String {
        guard let text = String(validating: self[range], as: UTF8.self) else {
            throw WireError(
                .invalidUTF8, "\(message): \"\(field)\" is not UTF-8: \(range.count) bytes at byte \(range.lowerBound)."
            )
        }
        return text
    }
}
