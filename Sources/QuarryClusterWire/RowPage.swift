/// A part of a query's rows: column names, rows, and a word that says whether more pages follow.
///
/// The bytes stay as they were sent; `RowReader` finds the values in them without an allocation for each.
///
/// ```swift
/// var reader = page.makeReader()
/// while try reader.next() {
///     let first = try page.value(of: reader.cells[0])
/// }
/// ```
public struct RowPage: Hashable, Sendable {
    /// The word behind the last row of the last page.
    static let endOfRows = UInt64.max

    /// The word behind the last row of a page that others follow.
    static let endOfPage: UInt64 = 0xEEEE_EEEE_EEEE_EEEE

    /// The message's body.
    public let body: [UInt8]

    /// The number of columns, 1 at least.
    public let columnCount: Int

    /// Whether the node sends another page.
    public let hasMore: Bool

    /// The offset of the first row.
    let firstRow: Int

    init(_ body: [UInt8]) throws(WireError) {
        var reader = BodyReader(body, of: "ROWS")
        let count = try reader.word("columns")
        // A name has a word at least.
        guard count > 0, count <= UInt64(reader.remaining / 8) else {
            throw WireError(.wrongCount, "ROWS: \(count) columns are announced, and \(reader.remaining) bytes follow.")
        }
        for _ in 0..<count { _ = try reader.textRange("column name") }
        guard reader.remaining >= 8 else {
            throw WireError(.truncated, "ROWS: the word behind the rows is missing.")
        }
        let end = body.word(at: body.count - 8)
        guard end == RowPage.endOfRows || end == RowPage.endOfPage else {
            throw WireError(.truncated, "ROWS: the last word is 0x\(String(end, radix: 16)), which ends no page.")
        }
        self.body = body
        columnCount = Int(count)
        hasMore = end == RowPage.endOfPage
        firstRow = reader.offset
    }

    /// The names of the columns.
    ///
    /// - throws: `WireError` if a name isn't UTF-8.
    public func columnNames() throws(WireError) -> [String] {
        var reader = BodyReader(body, of: "ROWS", from: 8)
        var names: [String] = []
        names.reserveCapacity(columnCount)
        for _ in 0..<columnCount { names.append(try reader.text("column name")) }
        return names
    }

    /// Whether the columns of two pages have the same names: compares bytes, and makes no strings.
    public func hasSameColumns(as other: RowPage) -> Bool {
        firstRow == other.firstRow && body[..<firstRow] == other.body[..<firstRow]
    }

    /// A reader of all rows.
    public func makeReader() -> RowReader { RowReader(self) }

    /// The value of a cell of this page.
    ///
    /// - throws: `WireError` if a text isn't UTF-8. `bytes(of:)` returns the bytes of such a text.
    public func value(of cell: RowCell) throws(WireError) -> WireValue {
        switch cell.type {
        case .integer: .integer(cell.integer)
        case .unixTime: .unixTime(cell.integer)
        case .boolean: .boolean(cell.integer)
        case .float: .float(cell.float)
        case .text: .text(try body.text(cell.range, "ROWS", "value"))
        case .iso8601: .iso8601(try body.text(cell.range, "ROWS", "value"))
        case .blob: .blob([UInt8](body[cell.range]))
        case .null: .null
        }
    }

    /// The bytes of a text or blob of this page; empty for other types.
    public func bytes(of cell: RowCell) -> ArraySlice<UInt8> { body[cell.range] }
}

/// A value in a page, not decoded.
public struct RowCell: Hashable, Sendable {
    /// The type.
    public let type: WireType

    /// The word of an integer, a float, a time or a boolean; 0 for other types.
    public let bits: UInt64

    /// The part of the page's body that has the bytes of a text, without its NUL, or of a blob. Empty for other types.
    public let range: Range<Int>

    /// The word as an integer.
    public var integer: Int64 { Int64(bitPattern: bits) }

    /// The word as a floating-point number.
    public var float: Double { Double(bitPattern: bits) }
}
