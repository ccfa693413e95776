/// A message as it is sent: a header of one word, and a body of words. A word has 8 bytes, the lowest first.
///
/// <https://canonical.com/dqlite/docs/reference/wire-protocol>
public struct Frame: Hashable, Sendable {
    /// The code of the message: its meaning depends on the direction.
    public let type: UInt8

    /// The version of the body's layout.
    public let schema: UInt8

    /// A whole number of words.
    public let body: [UInt8]

    /// A frame of a header and the bytes behind it. The body has as many bytes as the header says.
    public init(header: FrameHeader, body: [UInt8]) throws(WireError) {
        guard body.count == header.bodySize else {
            throw WireError(
                .wrongCount, "The header of the frame announces \(header.bodySize) bytes, and \(body.count) follow.")
        }
        type = header.type
        schema = header.schema
        self.body = body
    }
}

/// The first word of a frame.
public struct FrameHeader: Hashable, Sendable {
    /// The bytes of a header.
    public static let size = 8

    /// The words of the body.
    public let wordCount: UInt32

    /// The code of the message.
    public let type: UInt8

    /// The version of the body's layout.
    public let schema: UInt8

    /// The bytes of the body.
    public var bodySize: Int { Int(wordCount) * 8 }

    /// Decodes a header.
    public init(word: UInt64) {
        wordCount = UInt32(truncatingIfNeeded: word)
        type = UInt8(truncatingIfNeeded: word >> 32)
        schema = UInt8(truncatingIfNeeded: word >> 40)
    }

    /// Decodes the first 8 bytes; `nil` if there are fewer.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= FrameHeader.size else { return nil }
        self.init(word: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    /// A header to be sent.
    public init(wordCount: UInt32, type: UInt8, schema: UInt8 = 0) {
        self.wordCount = wordCount
        self.type = type
        self.schema = schema
    }

    /// The header as a number.
    public var word: UInt64 { UInt64(wordCount) | UInt64(type) << 32 | UInt64(schema) << 40 }
}

/// The first word that a client sends on a new connection.
public enum Handshake {
    /// The version of the protocol.
    public static let version: UInt64 = 1

    /// Appends the version.
    public static func encode(into bytes: inout [UInt8]) { bytes.append(word: version) }
}
