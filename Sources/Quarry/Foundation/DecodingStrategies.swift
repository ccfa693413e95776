public import Foundation
public import QuarryCore

/// How `Decodable` records read their columns.
///
/// A record type that wants something else than the default writes the requirement:
///
/// ```swift
/// struct Player: Decodable, FetchableRecord {
///     static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
///     static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
///         .timeIntervalSince1970
///     }
///     var teamId: Int64? // the column team_id
///     var createdAt: Date // the column created_at, a number of seconds
/// }
/// ```
public protocol RecordDecodingStrategies: SendableMetatype {
    /// The `userInfo` of the decoder.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// Which column a coding key reads.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }

    /// How a `Data` property is read from a column.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy

    /// How a `Date` property is read from a column.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy

    /// Decodes a property that is stored as JSON.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder
}

extension RecordDecodingStrategies {
    /// Empty.
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// The column of the key's name.
    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }

    /// As `Data` converts.
    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    /// As `Date` converts.
    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .deferredToDate
    }

    /// Dates are milliseconds since 1970, data is base 64.
    public static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.dataDecodingStrategy = .base64
        decoder.nonConformingFloatDecodingStrategy = .throw
        decoder.userInfo = databaseDecodingUserInfo.asSendable
        return decoder
    }
}

/// How a `Data` property of a `Decodable` record is read.
public enum DatabaseDataDecodingStrategy: Sendable {
    /// The bytes of a blob or text.
    case deferredToData

    /// What a closure makes of the value; nil if it is none, which is an error.
    case custom(@Sendable (DatabaseValue) -> Data?)

    /// The data of a value, or nil if it is none.
    func data(_ value: DatabaseValue) -> Data? {
        switch self {
        case .deferredToData: Data.fromDatabaseValue(value)
        case .custom(let decode): decode(value)
        }
    }
}

/// How a `Date` property of a `Decodable` record is read.
public enum DatabaseDateDecodingStrategy: Sendable {
    /// As `Date` converts: text such as `2024-02-29 12:30:00.123`, or seconds since 1970.
    case deferredToDate

    /// Seconds since 2001-01-01 00:00:00 UTC.
    case timeIntervalSinceReferenceDate

    /// Seconds since 1970-01-01 00:00:00 UTC.
    case timeIntervalSince1970

    /// Milliseconds since 1970-01-01 00:00:00 UTC.
    case millisecondsSince1970

    /// Text such as `2024-02-29T12:30:00Z`.
    case iso8601

    /// Text in the formatter's format.
    case formatted(DateFormatter)

    /// What a closure makes of the value; nil if it is none, which is an error.
    case custom(@Sendable (DatabaseValue) -> Date?)

    /// The date of a value that isn't NULL, or nil if it is none.
    func date(_ value: DatabaseValue) -> Date? {
        switch self {
        case .deferredToDate:
            return Date.fromDatabaseValue(value)
        case .timeIntervalSinceReferenceDate:
            return Double.fromDatabaseValue(value).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .timeIntervalSince1970:
            return Double.fromDatabaseValue(value).map { Date(timeIntervalSince1970: $0) }
        case .millisecondsSince1970:
            // The number of a date counts from the reference date, which begins a millisecond too: so none is lost.
            return Double.fromDatabaseValue(value).map {
                Date(timeIntervalSinceReferenceDate: ($0 - 978_307_200_000) / 1000)
            }
        case .iso8601:
            guard case .string(let text) = value.rawStorage, text.utf8.count > 10 else { return nil }
            return Date.fromDatabaseValue(value)
        case .formatted(let formatter):
            return String.fromDatabaseValue(value).flatMap { formatter.date(from: $0) }
        case .custom(let decode):
            return decode(value)
        }
    }
}

/// Which column a coding key of a `Decodable` record reads.
public enum DatabaseColumnDecodingStrategy: Sendable {
    /// That of the same name.
    case useDefaultKeys

    /// That whose name in camel case is the key: `team_id` for `teamId`.
    case convertFromSnakeCase

    /// That for whose name a closure gives the key.
    case custom(@Sendable (String) -> any CodingKey)

    /// The name of the key that reads a column.
    func key(forColumn column: String) -> String {
        switch self {
        case .useDefaultKeys: column
        case .convertFromSnakeCase: column.convertedFromSnakeCase
        case .custom(let key): key(column).stringValue
        }
    }
}

extension String {
    /// `team_id` as `teamId`: words after the first begin with a capital. Underscores at both ends stay, and so does a
    /// single word.
    var convertedFromSnakeCase: String {
        let stem = drop { $0 == "_" }
        let leading = prefix(count - stem.count)
        let trailing = stem.reversed().prefix { $0 == "_" }
        let words = stem.dropLast(trailing.count).split(separator: "_")
        guard words.count > 1 else { return self }
        return leading + words[0].lowercased() + words.dropFirst().map(\.capitalized).joined() + String(trailing)
    }
}
