internal import CSQLite
internal import QuarryClusterWire

/// Writes the rows of a query as the bodies of ROWS messages.
struct PageWriter {
    /// A page ends behind the row with which it has this many bytes.
    static let size = 4096

    let statement: EmulatedStatement
    /// The number of columns and their names, with which each page begins.
    private let head: [UInt8]
    private let kinds: [ColumnKind]

    init(_ statement: EmulatedStatement) {
        self.statement = statement
        let count = statement.columnCount
        var head: [UInt8] = []
        head.append(number: UInt64(count))
        for column in 0..<Int32(count) {
            let name = sqlite3_column_name(statement.pointer, column).map { Array(String(cString: $0).utf8) }
            head.append(text: name ?? [])
        }
        self.head = head
        kinds = (0..<Int32(count)).map { ColumnKind(declaration: sqlite3_column_decltype(statement.pointer, $0)) }
    }

    /// Steps through the rows of a page.
    ///
    /// - throws: `StatementFailure`, or `NodeAbort` for a value at which dqlite aborts its process.
    func nextPage() throws -> (body: [UInt8], hasMore: Bool) {
        var body = head
        while body.count < PageWriter.size {
            guard try statement.step() else {
                body.append(number: .max)
                return (body, false)
            }
            try appendRow(to: &body)
        }
        body.append(number: 0xEEEE_EEEE_EEEE_EEEE)
        return (body, true)
    }

    /// The types of the values, 4 bits each, and the values.
    private func appendRow(to body: inout [UInt8]) throws(NodeAbort) {
        let types = body.count
        body.append(contentsOf: repeatElement(0, count: ((kinds.count + 1) / 2 + 7) / 8 * 8))
        for (column, kind) in kinds.enumerated() {
            let type = try append(column, kind, to: &body)
            body[types + column / 2] |= column % 2 == 0 ? type.rawValue : type.rawValue << 4
        }
    }

    private func append(_ column: Int, _ kind: ColumnKind, to body: inout [UInt8]) throws(NodeAbort) -> WireType {
        let pointer = statement.pointer
        let index = Int32(column)
        let storage = sqlite3_column_type(pointer, index)
        let type = try type(of: storage, kind, column)
        switch storage {
        case SQLITE_INTEGER: body.append(number: UInt64(bitPattern: sqlite3_column_int64(pointer, index)))
        case SQLITE_FLOAT: body.append(number: sqlite3_column_double(pointer, index).bitPattern)
        case SQLITE_TEXT: body.append(text: statement.cutText(at: index))
        case SQLITE_BLOB:
            let bytes = statement.blob(at: index)
            body.append(number: UInt64(bytes.count))
            body.append(contentsOf: bytes)
            body.append(contentsOf: repeatElement(0, count: (8 - bytes.count % 8) % 8))
        // The number 0, an empty text and NULL are all a word of zeros.
        default: body.append(number: 0)
        }
        return type
    }

    private func type(of storage: Int32, _ kind: ColumnKind, _ column: Int) throws(NodeAbort) -> WireType {
        switch (kind, storage) {
        case (.boolean, SQLITE_INTEGER), (.boolean, SQLITE_NULL): return .boolean
        case (.time, SQLITE_INTEGER): return .unixTime
        case (.time, SQLITE_TEXT), (.time, SQLITE_NULL): return .iso8601
        case (.other, SQLITE_INTEGER): return .integer
        case (.other, SQLITE_FLOAT): return .float
        case (.other, SQLITE_TEXT): return .text
        case (.other, SQLITE_BLOB): return .blob
        case (.other, _): return .null
        default:
            let names = [SQLITE_FLOAT: "REAL", SQLITE_TEXT: "TEXT", SQLITE_BLOB: "BLOB"]
            let declaration = sqlite3_column_decltype(statement.pointer, Int32(column)).map { String(cString: $0) }
            throw NodeAbort(
                reason: "column \(column + 1), declared \(declaration ?? ""), has a value of type \(names[storage]!): "
                    + statement.sql)
        }
    }
}

/// The kinds of result columns that the wire tells apart, by the declared type alone.
private enum ColumnKind {
    case boolean
    case time
    case other

    init(declaration: UnsafePointer<CChar>?) {
        func matches(_ name: String) -> Bool { sqlite3_stricmp(declaration, name) == 0 }
        guard declaration != nil else {
            self = .other
            return
        }
        if matches("BOOLEAN") {
            self = .boolean
        } else if matches("DATETIME") || matches("DATE") || matches("TIMESTAMP") {
            self = .time
        } else {
            self = .other
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    /// A text that contains no NUL, with one or more behind it.
    fileprivate mutating func append(text: [UInt8]) {
        append(contentsOf: text)
        append(contentsOf: repeatElement(0, count: 8 - text.count % 8))
    }
}
