/// Cuts a stream of bytes into frames, however the bytes arrive.
///
/// ```swift
/// decoder.append(bytes)
/// while let frame = try decoder.next() { … }
/// ```
public struct FrameDecoder: Sendable {
    /// The largest accepted body in bytes. It bounds the memory that a peer can make this process allocate.
    public let maximumBodySize: Int

    private var buffer: [UInt8] = []
    /// The index of the first byte that belongs to no returned frame.
    private var start = 0

    /// A decoder without bytes.
    ///
    /// - parameter maximumBodySize: The largest accepted body in bytes. A backup is one frame, hence 1 GiB.
    public init(maximumBodySize: Int = 1 << 30) { self.maximumBodySize = maximumBodySize }

    /// Adds received bytes.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// Adds received bytes.
    public mutating func append(_ bytes: [UInt8]) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// The next frame, or `nil` as long as its bytes are incomplete.
    public mutating func next() throws(WireError) -> Frame? {
        guard let header = try header(), buffer.count - start - FrameHeader.size >= header.bodySize else { return nil }
        let body = start + FrameHeader.size
        start = body + header.bodySize
        return try Frame(header: header, body: [UInt8](buffer[body..<start]))
    }

    /// The number of bytes that are missing until the next frame is complete, as far as is known: without its header,
    /// the rest of the header. 0 if `next()` returns a frame.
    public func missingByteCount() throws(WireError) -> Int {
        guard let header = try header() else { return FrameHeader.size - (buffer.count - start) }
        return max(0, FrameHeader.size + header.bodySize - (buffer.count - start))
    }

    /// The number of bytes that belong to no returned frame.
    public var pendingByteCount: Int { buffer.count - start }

    private func header() throws(WireError) -> FrameHeader? {
        guard buffer.count - start >= FrameHeader.size else { return nil }
        let header = FrameHeader(word: buffer.word(at: start))
        guard header.bodySize <= maximumBodySize else {
            throw WireError(
                .oversized,
                "A frame of type \(header.type) announces \(header.bodySize) bytes; at most \(maximumBodySize) are accepted."
            )
        }
        return header
    }

    /// Drops the bytes of returned frames, once they are the larger part.
    private mutating func compact() {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        } else if start > buffer.count / 2 {
            buffer.removeSubrange(..<start)
            start = 0
        }
    }
}
