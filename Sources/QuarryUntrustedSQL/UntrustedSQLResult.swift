import Quarry
public import QuarryCore

/// The rows of a query of a user, as `DatabaseReader.fetchUntrusted` returns them.
///
/// ```swift
/// let result = try await dbPool.fetchUntrusted("SELECT id, name FROM player", policy: policy)
/// let json = try JSONEncoder().encode(result)
/// // {"columns":["id","name"],"rows":[[1,"Arthur"],[2,"Barbara"]]}
/// ```
///
/// In JSON a blob is base 64, and so is a text that isn't UTF-8; an infinite number is `"inf"` or `"-inf"`.
public struct UntrustedSQLResult: Sendable, Equatable {
    /// The names of the columns. Several may be the same.
    public var columns: [String]

    /// The values of each row, in the order of the columns.
    public var rows: [[DatabaseValue]]
}

extension UntrustedSQLResult: Encodable {
    private enum CodingKeys: CodingKey {
        case columns
        case rows
    }

    private struct EncodedValue: Encodable {
        let value: DatabaseValue

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value.rawStorage {
            case .null: try container.encodeNil()
            case .int64(let integer): try container.encode(integer)
            case .double(let number) where number.isFinite: try container.encode(number)
            case .double(let number): try container.encode(number < 0 ? "-inf" : "inf")
            case .string(let text): try container.encode(text)
            case .blob(let bytes): try container.encode(Self.base64(bytes))
            }
        }

        /// <https://www.rfc-editor.org/rfc/rfc4648#section-4>
        private static func base64(_ bytes: some Collection<UInt8>) -> String {
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
            var result: [UInt8] = []
            result.reserveCapacity((bytes.count + 2) / 3 * 4)
            var rest = bytes[...]
            while !rest.isEmpty {
                let group = rest.prefix(3)
                rest = rest.dropFirst(3)
                let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
                for index in 0..<4 {
                    result.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }

    /// Encodes the columns, and an array for each row.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(columns, forKey: .columns)
        try container.encode(rows.map { row in row.map { EncodedValue(value: $0) } }, forKey: .rows)
    }
}
