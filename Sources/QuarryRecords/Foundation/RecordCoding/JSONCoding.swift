public import Foundation
internal import QuarryCore

/// How values become JSON and the other way round: the objects and metadata of a collection of documents.
///
/// ```swift
/// let encoder = JSONEncoder()
/// encoder.dateEncodingStrategy = .iso8601
/// let decoder = JSONDecoder()
/// decoder.dateDecodingStrategy = .iso8601
/// let events = store.collection(
///     "events", of: Event.self, coding: JSONCoding(encoder: encoder, decoder: decoder))
/// ```
///
/// Don't change the encoder and the decoder afterwards: several threads use them.
public struct JSONCoding: Sendable {
    /// The encoder.
    public let encoder: JSONEncoder

    /// The decoder.
    public let decoder: JSONDecoder

    /// A coding.
    public init(encoder: JSONEncoder, decoder: JSONDecoder) {
        self.encoder = encoder
        self.decoder = decoder
    }

    /// Sorted keys, dates as milliseconds since 1970, data as base 64: the JSON of record properties.
    public static let standard = JSONCoding(encoder: StandardJSON.encoder, decoder: StandardJSON.decoder)

    package func json(of value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// - returns: nil for NULL.
    package func decode<Value: Decodable>(_ type: Value.Type, from row: Row, atIndex index: Int) throws -> Value? {
        guard let json = try row.decode(Data?.self, atIndex: index) else { return nil }
        return try decoder.decode(type, from: json)
    }

    /// The value with which SQLite's `->>` compares, of a value in JSON: <https://www.sqlite.org/json1.html#jptr>.
    package func scalar(of value: some Encodable) throws -> DatabaseValue {
        let json = try encoder.encode(value)
        let scalar = try JSONDecoder().decode(JSONScalar.self, from: json).value
        // For SQLite, a number with a point or an exponent is a real, also if it is whole.
        guard case .int64 = scalar.storage, let first = json.first, "-0123456789".utf8.contains(first),
            json.contains(where: { ".eE".utf8.contains($0) })
        else { return scalar }
        return try JSONDecoder().decode(Double.self, from: json).databaseValue
    }

    /// Whether the encoder writes `/` as `\/`.
    package var escapesSlashes: Bool { !encoder.outputFormatting.contains(.withoutEscapingSlashes) }
}

/// A JSON value that is neither an array nor an object.
private struct JSONScalar: Decodable {
    let value: DatabaseValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let bool = try? container.decode(Bool.self) {
            value = bool.databaseValue
        } else if let integer = try? container.decode(Int64.self) {
            value = integer.databaseValue
        } else if let real = try? container.decode(Double.self) {
            value = real.databaseValue
        } else if let text = try? container.decode(String.self) {
            value = text.databaseValue
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "an array or object")
        }
    }
}
