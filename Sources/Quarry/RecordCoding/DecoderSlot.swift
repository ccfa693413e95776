import QuarryCore
import Synchronization

/// A place that tells whether a record is still being decoded.
///
/// A record's `init(from:)` takes a decoder, and drops it, for each row. To count these references would take as long
/// as decoding a column, so it is given the place, and its number. The number rises when the record is over: who has
/// kept a decoder is told so. Places last as long as the process, for decoders may be kept that long; the place of a
/// decoder that is gone is the next one's, so there are never more of them than there were decoders at once.
struct DecoderSlot {
    private struct Content: ~Copyable {
        let number = Atomic<UInt>(0)
        var decoder: Unmanaged<RowDecoder>?
        var nextFree: UnsafeMutablePointer<Content>?
    }

    private let content: UnsafeMutablePointer<Content>

    /// Unchecked: the lock is held.
    private struct FreeSlots: @unchecked Sendable {
        var first: UnsafeMutablePointer<Content>?
    }

    private static let free = Lock(FreeSlots())

    /// A place for a new decoder.
    init() {
        content =
            Self.free.withLock { free in
                guard let first = free.first else { return nil }
                free.first = first.pointee.nextFree
                return first
            } ?? Self.new()
    }

    /// Tells whose place it is.
    func serve(_ decoder: RowDecoder) { content.pointee.decoder = .passUnretained(decoder) }

    @inline(never)
    private static func new() -> UnsafeMutablePointer<Content> {
        let content = UnsafeMutablePointer<Content>.allocate(capacity: 1)
        content.initialize(to: Content())
        return content
    }

    /// The number of the record that is decoded.
    @inline(__always)
    var number: UInt { content.pointee.number.load(ordering: .relaxed) }

    /// A record is over, or the decoder gone.
    @inline(__always)
    func recordIsOver() { content.pointee.number.store(number &+ 1, ordering: .relaxed) }

    /// The decoder, if the record of that number isn't over.
    @inline(__always)
    func decoder(_ number: UInt) -> Unmanaged<RowDecoder>? {
        self.number == number ? content.pointee.decoder : nil
    }

    /// The decoder is gone: the place is for another.
    func giveBack() {
        recordIsOver()
        content.pointee.decoder = nil
        Self.free.withLock { free in
            content.pointee.nextFree = free.first
            free.first = content
        }
    }
}
