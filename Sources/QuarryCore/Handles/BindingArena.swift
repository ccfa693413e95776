import CSQLite

/// Holds the text and blobs of arguments for the length of an execution, so that SQLite need not copy them.
///
/// Swift lends a pointer to a string's bytes only for the length of a closure. A copy on the stack costs a few
/// nanoseconds; a copy by SQLite costs an allocation for each value. SQLite copies the values that don't fit.
struct BindingArena: ~Copyable {
    private let buffer: UnsafeMutableRawBufferPointer
    private var used = 0

    /// Whether SQLite has borrowed bytes from the arena.
    private(set) var lends = false

    private init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
    }

    /// Runs `body` with an arena as large as the values need, up to 4 KB.
    @inline(__always)
    static func withArena<T>(for values: [DatabaseValue], _ body: (inout BindingArena) throws -> T) rethrows -> T {
        var size = 0
        for value in values {
            switch value.content {
            case .string(let text): size += text.utf8.count
            case .blob(let bytes): size += bytes.count
            default: break
            }
        }
        guard size > 0 else {
            var arena = BindingArena(UnsafeMutableRawBufferPointer(start: nil, count: 0))
            return try body(&arena)
        }
        return try withUnsafeTemporaryAllocation(byteCount: min(size, 4096), alignment: 1) { buffer in
            var arena = BindingArena(buffer)
            return try body(&arena)
        }
    }

    mutating func bind(_ value: DatabaseValue, to statement: SQLiteStatement, at index: CInt) -> CInt {
        switch value.content {
        case .string(var text):
            return text.withUTF8Bytes { bytes in
                guard let kept = keep(UnsafeRawBufferPointer(bytes)) else {
                    return StatementBindings.bind(
                        text: bytes, to: statement, at: index, destructor: StatementBindings.transient)
                }
                return StatementBindings.bind(
                    text: kept.assumingMemoryBound(to: UInt8.self), to: statement, at: index, destructor: nil)
            }
        case .blob(let blob):
            return blob.withUnsafeBytes { bytes in
                guard let kept = keep(bytes) else {
                    return StatementBindings.bind(bytes: bytes, to: statement, at: index)
                }
                return StatementBindings.bind(bytes: kept, to: statement, at: index, destructor: nil)
            }
        default:
            return StatementBindings.bind(value, to: statement, at: index)
        }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard !bytes.isEmpty, bytes.count <= buffer.count - used else { return nil }
        let place = UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + bytes.count])
        place.copyMemory(from: bytes)
        used += bytes.count
        lends = true
        return UnsafeRawBufferPointer(place)
    }
}
