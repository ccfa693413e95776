/// Reads the rows of a page in order.
///
/// A row begins with the types of its values, 4 bits each, the first value in the low half of the first byte, and zeros
/// up to a whole word. The values follow. Each row has types of its own.
public struct RowReader: Sendable {
    /// The values of the current row.
    public private(set) var cells: [RowCell]

    private var reader: BodyReader
    private let columnCount: Int

    init(_ page: RowPage) {
        reader = BodyReader(page.body, of: "ROWS", from: page.firstRow)
        columnCount = page.columnCount
        cells = []
        cells.reserveCapacity(columnCount)
    }

    /// Goes to the next row; `false` behind the last one.
    ///
    /// - throws: `WireError` if the bytes are no row. The reader has no further rows then.
    public mutating func next() throws(WireError) -> Bool {
        cells.removeAll(keepingCapacity: true)
        // The page's last word ends it. Another row can't begin with one of the two: they would be unknown types.
        guard reader.remaining > 8 else { return false }
        do {
            try readRow()
            return true
        } catch {
            cells.removeAll(keepingCapacity: true)
            reader.skip(reader.remaining)
            throw error
        }
    }

    private mutating func readRow() throws(WireError) {
        let types = reader.offset
        let size = ((columnCount + 1) / 2).roundedUpToWords
        guard size < reader.remaining else {
            throw WireError(
                .truncated, "ROWS: the types of \(columnCount) values need \(size) bytes at byte \(types).")
        }
        reader.skip(size)
        for index in 0..<columnCount {
            let pair = reader.bytes[types + index / 2]
            let type = try reader.type(code: index % 2 == 0 ? pair & 0xF : pair >> 4, index)
            cells.append(try reader.cell(type))
        }
        guard reader.remaining >= 8 else {
            throw WireError(.truncated, "ROWS: a row at byte \(types) extends into the word behind the rows.")
        }
    }
}

extension BodyReader {
    fileprivate mutating func cell(_ type: WireType) throws(WireError) -> RowCell {
        switch type {
        case .integer, .float, .unixTime, .boolean:
            return RowCell(type: type, bits: try word("value"), range: offset..<offset)
        case .null:
            _ = try word("value")
            return RowCell(type: type, bits: 0, range: offset..<offset)
        case .text, .iso8601: return RowCell(type: type, bits: 0, range: try textRange("value"))
        case .blob: return RowCell(type: type, bits: 0, range: try blobRange("value"))
        }
    }
}
