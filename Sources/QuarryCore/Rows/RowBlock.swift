/// The header of a `RowBlock`.
@usableFromInline
struct RowBlockHeader {
    /// The number of columns.
    let count: Int32

    /// The unit of the starts of text and blobs: a number of bytes, as a power of two.
    let shift: Int32
}

/// The values of one row, copied: a word and a tag for each column, then the bytes of text and blobs.
///
/// The object itself holds everything: a row of ten integers takes 114 bytes.
@usableFromInline
final class RowBlock: ManagedBuffer<RowBlockHeader, UInt64> {
    /// The place of text or a blob: the start of its bytes in the block, and their number.
    ///
    /// A value has fewer than 2^31 bytes (https://www.sqlite.org/limits.html), and a row of a result may have many
    /// values. The start has 33 bits: in blocks of more than 8 GiB it counts units of several bytes.
    private struct Span {
        let bits: UInt64

        init(start: Int, count: Int, shift: Int32) {
            bits = UInt64(truncatingIfNeeded: start &>> Int(shift)) &<< 31 | UInt64(truncatingIfNeeded: count)
        }

        var count: Int { Int(truncatingIfNeeded: bits & 0x7FFF_FFFF) }

        func start(_ shift: Int32) -> Int { Int(truncatingIfNeeded: bits &>> 31) &<< Int(shift) }
    }

    /// The number of columns.
    @inline(__always)
    var count: Int { Int(head.count) }

    // `header` checks for overlapping accesses.
    @inline(__always)
    private var head: RowBlockHeader { withUnsafeMutablePointerToHeader { $0.pointee } }

    @inline(__always)
    private var base: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }

    /// - parameter byteCount: the number of bytes of text and blobs.
    private static func make(count: Int, byteCount: Int, shift: Int32) -> RowBlock {
        let padding = shift == 0 ? 0 : count << Int(shift)
        let block = create(minimumCapacity: (9 * count + byteCount + padding + 7) / 8) { _ in
            RowBlockHeader(count: Int32(truncatingIfNeeded: count), shift: shift)
        }
        return unsafeDowncast(block, to: RowBlock.self)
    }

    /// The unit of the starts of spans: a number of bytes, as a power of two.
    private static func shift(count: Int, byteCount: Int) -> Int32 {
        var shift = 0
        while (9 * count + byteCount + count << shift) >> shift >= 1 << 33 { shift += 1 }
        return Int32(truncatingIfNeeded: shift)
    }

    /// Copies the current row of a statement.
    ///
    /// - parameter shift: set by tests; by default the smallest that fits the row.
    static func copy(_ statement: SQLiteStatement, count: Int, shift: Int32? = nil) -> RowBlock {
        // Each column is read once: its word and tag stay on the stack until the length of the text is known.
        withUnsafeTemporaryAllocation(byteCount: 16 * count, alignment: 8) { buffer in
            let words = buffer.baseAddress.unsafelyUnwrapped
            let tags = words + 8 * count
            var byteCount = 0
            for index in 0..<count {
                let value = StatementColumns.borrow(statement, CInt(index))
                let type = StatementColumns.type(ofBorrowed: value)
                tags.storeBytes(of: UInt8(type.rawValue), toByteOffset: index, as: UInt8.self)
                switch type {
                case .integer:
                    words.storeBytes(
                        of: StatementColumns.int64(ofBorrowed: value), toByteOffset: 8 * index, as: Int64.self)
                case .real:
                    words.storeBytes(
                        of: StatementColumns.double(ofBorrowed: value), toByteOffset: 8 * index, as: Double.self)
                case .null:
                    words.storeBytes(of: 0, toByteOffset: 8 * index, as: Int64.self)
                case .text, .blob:
                    let count = StatementColumns.bytes(ofBorrowed: value, type).count
                    words.storeBytes(
                        of: Span(start: byteCount, count: count, shift: 0), toByteOffset: 8 * index, as: Span.self)
                    byteCount += count
                }
            }
            let shift = shift ?? (byteCount >> 32 == 0 ? 0 : Self.shift(count: count, byteCount: byteCount))
            let block = make(count: count, byteCount: byteCount, shift: shift)
            let base = block.base
            base.copyMemory(from: words, byteCount: 9 * count)
            var end = 9 * count
            for index in 0..<count {
                let type = block.type(index)
                guard type == .text || type == .blob else { continue }
                let value = StatementColumns.borrow(statement, CInt(index))
                // If memory runs out, SQLite may read a UTF-16 text as empty the first time, and convert it the second
                // time.
                let bytes = StatementColumns.bytes(ofBorrowed: value, type)
                let found = words.load(fromByteOffset: 8 * index, as: Span.self).count
                block.append(
                    bytes.count == found ? bytes : UnsafeRawBufferPointer(start: nil, count: 0), type, index, &end)
            }
            return block
        }
    }

    /// Copies values.
    ///
    /// - parameter shift: set by tests; by default the smallest that fits the row.
    static func copy(_ values: [DatabaseValue], shift: Int32? = nil) -> RowBlock {
        let byteCount = values.reduce(0) { sum, value in
            switch value.rawStorage {
            case .string(let text): sum + text.utf8.count
            case .blob(let bytes): sum + bytes.count
            default: sum
            }
        }
        let block = make(
            count: values.count, byteCount: byteCount,
            shift: shift ?? Self.shift(count: values.count, byteCount: byteCount))
        var end = 9 * values.count
        for (index, value) in values.enumerated() {
            switch value.rawStorage {
            case .null: block.store(0 as Int64, .null, index)
            case .int64(let value): block.store(value, .integer, index)
            case .double(let value): block.store(value, .real, index)
            case .string(var text): text.withUTF8Bytes { block.append(UnsafeRawBufferPointer($0), .text, index, &end) }
            case .blob(let bytes): bytes.withUnsafeBytes { block.append($0, .blob, index, &end) }
            }
        }
        return block
    }

    private func store<T: BitwiseCopyable>(_ word: T, _ type: StatementColumns.StorageType, _ index: Int) {
        base.storeBytes(of: word, toByteOffset: 8 * index, as: T.self)
        base.storeBytes(of: UInt8(type.rawValue), toByteOffset: 8 * count + index, as: UInt8.self)
    }

    private func append(
        _ bytes: UnsafeRawBufferPointer, _ type: StatementColumns.StorageType, _ index: Int, _ end: inout Int
    ) {
        let shift = head.shift
        let unit = 1 &<< Int(shift)
        end = (end &+ unit &- 1) & ~(unit &- 1)
        store(Span(start: end, count: bytes.count, shift: shift), type, index)
        if let source = bytes.baseAddress { (base + end).copyMemory(from: source, byteCount: bytes.count) }
        end += bytes.count
    }

    func type(_ index: Int) -> StatementColumns.StorageType {
        let tag = base.load(fromByteOffset: 8 * count + index, as: UInt8.self)
        return StatementColumns.StorageType(rawValue: CInt(tag)) ?? .null
    }

    /// The bytes of text or a blob.
    func withBytes<T>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        let span = base.load(fromByteOffset: 8 * index, as: Span.self)
        return try body(UnsafeRawBufferPointer(start: base + span.start(head.shift), count: span.count))
    }

    /// An integer; nil for any other storage class.
    @inline(__always)
    func integer(_ index: Int) -> Int64? {
        let tag = base.load(fromByteOffset: 8 * count + index, as: UInt8.self)
        guard tag == UInt8(StatementColumns.StorageType.integer.rawValue) else { return nil }
        return base.load(fromByteOffset: 8 * index, as: Int64.self)
    }

    func value(_ index: Int) -> DatabaseValue {
        switch type(index) {
        case .null: .null
        case .integer: DatabaseValue(content: .int64(base.load(fromByteOffset: 8 * index, as: Int64.self)))
        case .real: DatabaseValue(content: .double(base.load(fromByteOffset: 8 * index, as: Double.self)))
        case .blob: DatabaseValue(content: .blob(withBytes(index) { Array($0) }))
        case .text:
            withBytes(index) { bytes in
                if let text = String(validating: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self) {
                    DatabaseValue(content: .string(text))
                } else {
                    DatabaseValue(content: .blob(Array(bytes)))
                }
            }
        }
    }
}
