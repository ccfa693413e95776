/// The values of one row, copied: a word and a tag for each column, then the bytes of text and blobs.
///
/// All of it lies in the object itself: a row of ten integers takes 114 bytes.
@usableFromInline
final class RowBlock: ManagedBuffer<Int, UInt64> {
    // Text and blobs: where their bytes start in the block, and how many there are.
    private struct Span {
        var start: UInt32
        var count: UInt32
    }

    /// The number of columns.
    @inline(__always)
    var count: Int { withUnsafeMutablePointerToHeader { $0.pointee } }  // `header` looks for overlapping accesses.

    @inline(__always)
    private var base: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }

    private static func make(count: Int, byteCount: Int) -> RowBlock {
        let block = create(minimumCapacity: (9 * count + byteCount + 7) / 8) { _ in count }
        return unsafeDowncast(block, to: RowBlock.self)
    }

    /// Copies the current row of a statement.
    static func copy(_ statement: SQLiteStatement, count: Int) -> RowBlock {
        // Each column is looked up once: its word and tag are kept on the stack until it is known how long the text is.
        withUnsafeTemporaryAllocation(byteCount: 16 * count, alignment: 8) { buffer in
            let words = buffer.baseAddress.unsafelyUnwrapped
            let tags = words + 8 * count
            var end = 9 * count
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
                    // SQLite's values have at most 2^31 - 1 bytes, and rows too: https://www.sqlite.org/limits.html
                    let byteCount = StatementColumns.bytes(ofBorrowed: value, type).count
                    words.storeBytes(
                        of: Span(start: UInt32(end), count: UInt32(byteCount)), toByteOffset: 8 * index, as: Span.self)
                    end += byteCount
                }
            }
            let block = make(count: count, byteCount: end - 9 * count)
            let base = block.base
            base.copyMemory(from: words, byteCount: 9 * count)
            guard end > 9 * count else { return block }
            for index in 0..<count {
                let type = block.type(index)
                guard type == .text || type == .blob else { continue }
                let value = StatementColumns.borrow(statement, CInt(index))
                block.copy(StatementColumns.bytes(ofBorrowed: value, type), index)
            }
            return block
        }
    }

    /// Copies values.
    static func copy(_ values: [DatabaseValue]) -> RowBlock {
        let byteCount = values.reduce(0) { sum, value in
            switch value.storage {
            case .string(let text): sum + text.utf8.count
            case .blob(let bytes): sum + bytes.count
            default: sum
            }
        }
        let block = make(count: values.count, byteCount: byteCount)
        var end = 9 * values.count
        for (index, value) in values.enumerated() {
            switch value.storage {
            case .null: block.store(0 as Int64, .null, index)
            case .int64(let value): block.store(value, .integer, index)
            case .double(let value): block.store(value, .real, index)
            case .string(var text): text.withUTF8 { block.append(UnsafeRawBufferPointer($0), .text, index, &end) }
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
        store(Span(start: UInt32(end), count: UInt32(bytes.count)), type, index)
        copy(bytes, index)
        end += bytes.count
    }

    /// Copies the bytes of a column to where its span says.
    private func copy(_ bytes: UnsafeRawBufferPointer, _ index: Int) {
        let span = base.load(fromByteOffset: 8 * index, as: Span.self)
        guard let source = bytes.baseAddress, bytes.count == Int(span.count) else { return }
        (base + Int(span.start)).copyMemory(from: source, byteCount: bytes.count)
    }

    func type(_ index: Int) -> StatementColumns.StorageType {
        let tag = base.load(fromByteOffset: 8 * count + index, as: UInt8.self)
        return StatementColumns.StorageType(rawValue: CInt(tag)) ?? .null
    }

    /// The bytes of text or a blob.
    func withBytes<T>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        let span = base.load(fromByteOffset: 8 * index, as: Span.self)
        return try body(UnsafeRawBufferPointer(start: base + Int(span.start), count: Int(span.count)))
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
