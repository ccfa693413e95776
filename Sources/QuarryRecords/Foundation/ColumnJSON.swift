import Foundation
import QuarryCore

/// Decodes the JSON of a column with the record type's decoder, which is made on first use.
final class ColumnJSONDecoder {
    private let recordType: any RecordDecodingStrategies.Type

    private let column: String

    private lazy var decoder = recordType.databaseJSONDecoder(for: column)

    init(_ recordType: any RecordDecodingStrategies.Type, column: String) {
        self.recordType = recordType
        self.column = column
    }

    /// - returns: nil for a value that is neither text nor a blob.
    func decode<T: Decodable>(_ type: T.Type, from value: DatabaseValue) throws -> T? {
        guard let json = Data.fromDatabaseValue(value) else { return nil }
        return try decoder.decode(type, from: json)
    }

    /// - returns: nil for a value that isn't the JSON of an object or array, or isn't of the type.
    func decodeSeveralValues<T: Decodable>(_ type: T.Type, from value: DatabaseValue) -> T? {
        guard let json = Data.fromDatabaseValue(value), json.isJSONOfSeveralValues else { return nil }
        return try? decoder.decode(type, from: json)
    }

    /// A decoder of the JSON.
    ///
    /// - returns: nil for a value that is neither text nor a blob.
    func decoder(of value: DatabaseValue) throws -> (any Decoder)? {
        guard let json = Data.fromDatabaseValue(value) else { return nil }
        return try decoder.decode(DecoderOfJSON.self, from: json).decoder
    }
}

/// Provides the decoder of some JSON.
private struct DecoderOfJSON: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) { self.decoder = decoder }
}

/// Encodes the JSON of a column with the record type's encoder, which is made on first use.
final class ColumnJSONEncoder {
    private let recordType: any RecordEncodingStrategies.Type

    private let column: String

    private lazy var encoder = recordType.databaseJSONEncoder(for: column)

    init(_ recordType: any RecordEncodingStrategies.Type, column: String) {
        self.recordType = recordType
        self.column = column
    }

    func text(of value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
