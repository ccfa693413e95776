package import Foundation
public import QuarryCore

/// An `Encodable` type without its own `databaseValue` is stored as
///
/// * its raw value, if that is convertible;
/// * the value that it encodes, if it is a single value: a `struct Name` around a string is stored as that string;
/// * otherwise JSON: text with sorted keys, dates as milliseconds since 1970, data as base 64. A type customizes it
///   with `databaseJSONEncoder()` and `databaseJSONDecoder()`.
///
/// ```swift
/// struct Address: Codable, DatabaseValueConvertible {
///     var street: String
///     var city: String
/// }
/// let address = Address(street: "Baker Street", city: "London")
/// try db.execute(sql: "INSERT INTO player (address) VALUES (?)", arguments: [address])
/// // INSERT INTO player (address) VALUES ('{"city":"London","street":"Baker Street"}')
/// ```
extension DatabaseValueConvertible where Self: Encodable {
    /// A single value, or JSON.
    ///
    /// If encoding throws, binding throws a `DatabaseError` with the code `SQLITE_MISMATCH`, which contains the reason.
    public var databaseValue: DatabaseValue {
        let encoder = SingleValueEncoder()
        do {
            do {
                try encode(to: encoder)
            } catch {
                guard encoder.needsJSON else { throw error }
            }
            if !encoder.needsJSON, let value = encoder.value { return value }
            return String(decoding: try Self.jsonEncoder().encode(self), as: UTF8.self).databaseValue
        } catch {
            return .unrepresentable("a value of type \(Self.self)", reason: "encoding it failed: \(error)")
        }
    }

    private static func jsonEncoder() throws -> JSONEncoder {
        let encoder = databaseJSONEncoder()
        if encoder is StandardJSONCoder { return StandardJSON.encoder }
        guard let encoder = encoder as? JSONEncoder else { throw JSONCoderMismatch(coder: "databaseJSONEncoder()") }
        return encoder
    }
}

extension DatabaseValueConvertible where Self: Decodable {
    /// Decodes a single value, or JSON.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        let decoder = SingleValueDecoder(value: dbValue)
        let single = try? Self(from: decoder)
        guard decoder.needsJSON, let json = Data.fromDatabaseValue(dbValue) else { return single }
        // A type may try several values, and then a single one. A value that was encoded as JSON is read as JSON; a
        // text that was encoded as a single value stays that text, even if it looks like a number.
        if single != nil, !json.isJSONOfSeveralValues { return single }
        return (try? jsonDecoder().decode(Self.self, from: json)) ?? single
    }

    private static func jsonDecoder() throws -> JSONDecoder {
        let decoder = databaseJSONDecoder()
        if decoder is StandardJSONCoder { return StandardJSON.decoder }
        guard let decoder = decoder as? JSONDecoder else { throw JSONCoderMismatch(coder: "databaseJSONDecoder()") }
        return decoder
    }
}

extension DatabaseValueConvertible where Self: Encodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The database value of the raw value.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible where Self: Decodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The value with that raw value, or nil if there is none.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }
}

/// The coders for types that don't choose their own. They are shared, and never modified.
package enum StandardJSON {
    package static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.dataEncodingStrategy = .base64
        return encoder
    }()

    package static let decoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.dataDecodingStrategy = .base64
        return decoder
    }()
}

private struct JSONCoderMismatch: Error, CustomStringConvertible {
    let coder: String

    var description: String { "\(coder) must return Foundation's type of that name" }
}
