public import Foundation
public import QuarryCore

/// The way in which `Decodable` records read their columns.
///
/// A record type overrides a requirement to change the default:
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

    /// The mapping from coding keys to the columns they read.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }

    /// The way in which a `Data` property is read from a column.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy

    /// The way in which a `Date` property is read from a column.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy

    /// The decoder of a property that is stored as JSON.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder
}

extension RecordDecodingStrategies {
    /// Empty.
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// The column with the key's name.
    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }

    /// The conversion of `Data`.
    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    /// The conversion of `Date`.
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

/// The way in which a `Data` property of a `Decodable` record is read.
public enum DatabaseDataDecodingStrategy: Sendable {
    /// The bytes of a blob or text.
    case deferredToData

    /// The result of a closure, which receives the value. nil makes decoding throw.
    case custom(@Sendable (DatabaseValue) -> Data?)

    /// The data of a value; nil if the value can't be converted.
    func data(_ value: DatabaseValue) -> Data? {
        switch self {
        case .deferredToData: Data.fromDatabaseValue(value)
        case .custom(let decode): decode(value)
        }
    }
}

/// The way in which a `Date` property of a `Decodable` record is read.
public enum DatabaseDateDecodingStrategy: Sendable {
    /// The conversion of `Date`: text such as `2024-02-29 12:30:00.123`, or seconds since 1970.
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

    /// The result of a closure, which receives the value. nil makes decoding throw.
    case custom(@Sendable (DatabaseValue) -> Date?)

    /// The date of a value that isn't NULL; nil if the value can't be converted.
    func date(_ value: DatabaseValue) -> Date? {
        switch self {
        case .deferredToDate:
            return Date.fromDatabaseValue(value)
        case .timeIntervalSinceReferenceDate:
            return Double.fromDatabaseValue(value).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .timeIntervalSince1970:
            return Double.fromDatabaseValue(value).map { Date(timeIntervalSince1970: $0) }
        case .millisecondsSince1970:
            // A `Date` counts from the reference date, which also begins a millisecond, so no millisecond is lost.
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

/// The mapping from coding keys of a `Decodable` record to the columns they read.
public enum DatabaseColumnDecodingStrategy: Sendable {
    /// The column with the same name.
    case useDefaultKeys

    /// The column whose name in camel case is the key: `team_id` for `teamId`.
    case convertFromSnakeCase

    /// The column for which a closure returns the key. The closure receives the column's name.
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
    /// `team_id` as `teamId`: each word after the first is capitalized. Leading and trailing underscores are unchanged,
    /// and so is a single word.
    var convertedFromSnakeCase: String {
        let stem = drop { $0 == "_" }
        let leading = prefix(count - stem.count)
        let trailing = stem.reversed().prefix { $0 == "_" }
        let words = stem.dropLast(trailing.count).split(separator: "_")
        guard words.count > 1 else { return self }
        return leading + words[0].lowercased() + words.dropFirst().map(\.capitalized).joined() + String(trailing)
    }
}
