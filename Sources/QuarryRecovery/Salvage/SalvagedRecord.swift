import Quarry
import QuarryCore

/// A record: the values of a row or of an index entry: <https://www.sqlite.org/fileformat2.html#record_format>.
struct SalvagedRecord: Equatable {
    /// A value as the file has it: text as bytes in the file's encoding.
    enum Value: Equatable {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])
    }

    var values: [Value]
    /// Whether no value is missing, and no bytes are left.
    var isComplete: Bool
    /// The reason why the bytes may be those of another record; nil if the file proves them.
    var doubt: Doubt?

    /// A contradiction between a record and other records. Its text is the reason in the table of lost rows.
    enum Doubt: String {
        case cells = "its place on the page contradicts that of other rows"
        case overflow = "its overflow pages are those of another row, or unused"
        case page = "its page belongs to several trees, or is unused"
    }

    /// The most values that SQLite can be built for: <https://www.sqlite.org/limits.html#max_column>.
    private static let maximumCount = 32_767

    /// - parameter payload: the bytes of the record, or the first ones.
    /// - returns: nil if they aren't the beginning of a record.
    init?(_ payload: [UInt8]) {
        guard let (headerSize, length) = payload.varint(at: 0, end: payload.count), let end = Int(exactly: headerSize),
            end >= length
        else { return nil }
        var position = length
        var types: [Int] = []
        while position < min(end, payload.count) {
            guard let (type, length) = payload.varint(at: position, end: end), let type = Int(exactly: type),
                type != 10, type != 11, types.count < Self.maximumCount
            else { return nil }
            types.append(type)
            position += length
        }
        guard position <= end else { return nil }
        values = []
        values.reserveCapacity(types.count)
        isComplete = position == end
        guard isComplete else { return }
        for type in types {
            let size = Self.size(of: type)
            guard size <= payload.count - position else {
                isComplete = false
                return
            }
            values.append(Self.value(payload, at: position, type, size))
            position += size
        }
        isComplete = position == payload.count
    }

    /// The bytes of a value: <https://www.sqlite.org/fileformat2.html#serialtype>.
    private static func size(of type: Int) -> Int {
        switch type {
        case 0, 8, 9: 0
        case 1...4: type
        case 5: 6
        case 6, 7: 8
        default: (type - 12) / 2
        }
    }

    private static func value(_ payload: [UInt8], at position: Int, _ type: Int, _ size: Int) -> Value {
        switch type {
        case 0: return .null
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 7:
            let bits = UInt64(bitPattern: payload.signed(at: position, size: 8) ?? 0)
            let number = Double(bitPattern: bits)
            // SQLite reads NaN as NULL: <https://www.sqlite.org/floatingpoint.html>.
            return number.isNaN ? .null : .real(number)
        case 1...6: return .integer(payload.signed(at: position, size: size) ?? 0)
        default:
            let bytes = Array(payload[position..<position + size])
            return type % 2 == 0 ? .blob(bytes) : .text(bytes)
        }
    }
}

extension SalvagedRecord.Value {
    /// The value as a library's value; nil for text that isn't text in its encoding, whose bytes must be kept.
    func databaseValue(_ encoding: FileHeader.Encoding) -> DatabaseValue? {
        switch self {
        case .null: .null
        case .integer(let value): DatabaseValue(rawStorage: .int64(value))
        case .real(let value): DatabaseValue(rawStorage: .double(value))
        case .blob(let bytes): DatabaseValue(rawStorage: .blob(bytes))
        case .text(let bytes): Self.string(bytes, encoding).map { DatabaseValue(rawStorage: .string($0)) }
        }
    }

    /// The text; nil if this is no text.
    func string(_ encoding: FileHeader.Encoding) -> String? {
        if case .text(let bytes) = self { Self.string(bytes, encoding) } else { nil }
    }

    private static func string(_ bytes: [UInt8], _ encoding: FileHeader.Encoding) -> String? {
        switch encoding {
        case .utf8: return String(validating: bytes, as: UTF8.self)
        case .utf16LittleEndian, .utf16BigEndian:
            guard bytes.count % 2 == 0 else { return nil }
            let high = encoding == .utf16BigEndian ? 0 : 1
            let units = stride(from: 0, to: bytes.count, by: 2).map { index in
                UInt16(bytes[index + high]) << 8 | UInt16(bytes[index + 1 - high])
            }
            return String(validating: units, as: UTF16.self)
        }
    }
}
