/// The values of one row, copied: a word and a tag for each column, then the bytes of text and blobs.
///
/// A row of ten integers takes 96 bytes.
final class RowBlock {
    private let base: UnsafeMutableRawPointer
    let count: Int

    // Text and blobs: where their bytes start in the block, and how many there are.
    private struct Span {
        var start: UInt32
        var count: UInt32
    }

    /// Copies the current row of a statement.
    convenience init(_ statement: SQLiteStatement, count: Int) {
        var byteCount = 0
        for index in 0..<CInt(count) {
            switch StatementColumns.type(statement, index) {
            case .text, .blob: byteCount += StatementColumns.withBytes(statement, index) { $0.count }
            default: break
            }
        }
        self.init(count: count, byteCount: byteCount)
        var end = 9 * count
        for index in 0..<count {
            let column = CInt(index)
            let type = StatementColumns.type(statement, column)
            switch type {
            case .integer: store(StatementColumns.int64(statement, column), .integer, index)
            case .real: store(StatementColumns.double(statement, column), .real, index)
            case .null: store(0 as Int64, .null, index)
            case .text, .blob:
                StatementColumns.withBytes(statement, column) { append($0, type, index, &end) }
            }
        }
    }

    /// Copies values.
    convenience init(_ values: [DatabaseValue]) {
        let byteCount = values.reduce(0) { sum, value in
            switch value.storage {
            case .string(let text): sum + text.utf8.count
            case .blob(let bytes): sum + bytes.count
            default: sum
            }
        }
        self.init(count: values.count, byteCount: byteCount)
        var end = 9 * count
        for (index, value) in values.enumerated() {
            switch value.storage {
            case .null: store(0 as Int64, .null, index)
            case .int64(let value): store(value, .integer, index)
            case .double(let value): store(value, .real, index)
            case .string(var text): text.withUTF8 { append(UnsafeRawBufferPointer($0), .text, index, &end) }
            case .blob(let bytes): bytes.withUnsafeBytes { append($0, .blob, index, &end) }
            }
        }
    }

    private init(count: Int, byteCount: Int) {
        self.count = count
        base = .allocate(byteCount: 9 * count + byteCount, alignment: 8)
    }

    deinit { base.deallocate() }

    private func store<T: BitwiseCopyable>(_ word: T, _ type: StatementColumns.StorageType, _ index: Int) {
        base.storeBytes(of: word, toByteOffset: 8 * index, as: T.self)
        base.storeBytes(of: UInt8(type.rawValue), toByteOffset: 8 * count + index, as: UInt8.self)
    }

    private func append(
        _ bytes: UnsafeRawBufferPointer, _ type: StatementColumns.StorageType, _ index: Int, _ end: inout Int
    ) {
        // SQLite's values have at most 2^31 - 1 bytes, and rows too: https://www.sqlite.org/limits.html
        store(Span(start: UInt32(end), count: UInt32(bytes.count)), type, index)
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
        return try body(UnsafeRawBufferPointer(start: base + Int(span.start), count: Int(span.count)))
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
