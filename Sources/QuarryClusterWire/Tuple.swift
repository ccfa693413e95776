/// The arguments of a statement: their number in a byte, the type of each in a byte, zeros up to a whole word, then the
/// values. Without arguments there are no bytes at all.
enum Tuple {
    /// The largest number of arguments: schema 0 has one byte for it.
    static let maximumCount = 255

    /// The bytes of the number and the types, with the zeros.
    static func headerSize(_ count: Int) -> Int { (1 + count).roundedUpToWords }
}

extension BodyWriter {
    mutating func tuple(_ values: [WireValue]) throws(WireError) {
        if values.isEmpty { return }
        guard let count = UInt8(exactly: values.count) else {
            throw WireError(
                .wrongCount, "\(message): \(values.count) arguments; a statement has at most \(Tuple.maximumCount).")
        }
        let header = reserve(Tuple.headerSize(values.count))
        set(count, at: header)
        for (index, value) in values.enumerated() {
            set(value.type.rawValue, at: header + 1 + index)
            try self.value(value, "argument")
        }
    }
}

extension BodyReader {
    /// The arguments at the end of the body.
    mutating func tuple() throws(WireError) -> [WireValue] {
        if remaining == 0 { return [] }
        let header = offset
        let count = Int(bytes[header])
        let size = Tuple.headerSize(count)
        guard size <= remaining else {
            throw WireError(
                .truncated, "\(message): the types of \(count) arguments need \(size) bytes, and \(remaining) follow.")
        }
        skip(size)
        var values: [WireValue] = []
        values.reserveCapacity(count)
        for index in 0..<count {
            values.append(try value(of: type(code: bytes[header + 1 + index], index), "argument"))
        }
        return values
    }

    /// The type of the value with an index.
    func type(code: UInt8, _ index: Int) throws(WireError) -> WireType {
        guard let type = WireType(rawValue: code) else {
            throw WireError(.unknownCode, "\(message): value \(index + 1) has the unknown type \(code).")
        }
        return type
    }

    /// A value of a type.
    mutating func value(of type: WireType, _ field: StaticString) throws(WireError) -> WireValue {
        switch type {
        case .integer: .integer(Int64(bitPattern: try word(field)))
        case .unixTime: .unixTime(Int64(bitPattern: try word(field)))
        case .boolean: .boolean(Int64(bitPattern: try word(field)))
        case .float: .float(Double(bitPattern: try word(field)))
        case .text: .text(try text(field))
        case .iso8601: .iso8601(try text(field))
        case .blob: .blob([UInt8](bytes[try blobRange(field)]))
        case .null: try null(field)
        }
    }

    /// NULL, which has a word, too.
    private mutating func null(_ field: StaticString) throws(WireError) -> WireValue {
        _ = try word(field)
        return .null
    }
}
