/// A control file's text, block by block.
public protocol ControlFileSource: Sendable {
    /// The name under which the catalogue keeps the packages of the source.
    var name: String { get }

    /// The length in bytes, as `ControlFileBlock.bytesRead` counts them; nil if it isn't known, as that of a pipe.
    var byteCount: Int? { get }

    /// Calls `consume` with each block, in order, and returns after the last one.
    ///
    /// The next block is read when `consume` has returned, so a source never runs ahead of its consumer.
    ///
    /// - throws: the error of the source; `consume`'s error; `CancellationError`, also while it waits for a block.
    func read(_ consume: (ControlFileBlock) async throws -> Void) async throws
}

/// A part of a control file's text.
public struct ControlFileBlock: Sendable {
    /// The text, which may end anywhere, even inside a character.
    public var text: [UInt8]

    /// The bytes of the source read so far, this block's included: compressed ones, if the source is compressed.
    public var bytesRead: Int

    public init(text: [UInt8], bytesRead: Int) {
        self.text = text
        self.bytesRead = bytesRead
    }
}
