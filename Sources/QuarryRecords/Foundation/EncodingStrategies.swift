public import Foundation
public import QuarryCore

/// The way in which `Encodable` records write their columns.
///
/// A record type overrides a requirement to change the default:
///
/// ```swift
/// struct Player: Encodable, PersistableRecord {
///     static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
///     static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
///         .timeIntervalSince1970
///     }
///     var teamId: Int64? // the column team_id
///     var createdAt: Date // the column created_at, a number of seconds
/// }
/// ```
///
/// The strategies of dates, data and UUIDs also apply to keys: `fetchOne(db, id: uuid)` searches for the stored form.
public protocol RecordEncodingStrategies: SendableMetatype {
    /// The `userInfo` of the encoder.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// The mapping from coding keys to the columns they write.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }

    /// The way in which a `Data` property is stored in a column.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy

    /// The way in which a `Date` property is stored in a column.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy

    /// The way in which a `UUID` property is stored in a column.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy

    /// The encoder of a property that is stored as JSON.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder
}

extension RecordEncodingStrategies {
    /// Empty.
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// The column with the key's name.
    public static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }

    /// The conversion of `Data`: a blob.
    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .deferredToData
    }

    /// The conversion of `Date`: text.
    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .deferredToDate
    }

    /// The conversion of `UUID`: a blob.
    public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .deferredToUUID
    }

    /// Keys are sorted, dates are milliseconds since 1970, data is base 64.
    public static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.dataEncodingStrategy = .base64
        encoder.nonConformingFloatEncodingStrategy = .throw
        encoder.userInfo = databaseEncodingUserInfo.asSendable
        return encoder
    }
}

/// The way in which a `Data` property of an `Encodable` record is stored.
public enum DatabaseDataEncodingStrategy: Sendable {
    /// A blob.
    case deferredToData

    /// The bytes as UTF-8 text. Data that isn't UTF-8 can't be stored.
    case text

    /// The result of a closure, which receives the data; nil is NULL.
    case custom(@Sendable (Data) -> (any DatabaseValueConvertible)?)

    func databaseValue(_ data: Data) -> DatabaseValue {
        switch self {
        case .deferredToData:
            return data.databaseValue
        case .text:
            guard let text = String(validating: data, as: UTF8.self) else {
                return .unrepresentable("data of \(data.count) bytes", reason: "it isn't UTF-8")
            }
            return text.databaseValue
        case .custom(let encode):
            return encode(data)?.databaseValue ?? .null
        }
    }
}

/// The way in which a `Date` property of an `Encodable` record is stored.
public enum DatabaseDateEncodingStrategy: Sendable {
    /// The conversion of `Date`: text such as `2024-02-29 12:30:00.123`, in UTC.
    case deferredToDate

    /// Seconds since 2001-01-01 00:00:00 UTC, a real.
    case timeIntervalSinceReferenceDate

    /// Seconds since 1970-01-01 00:00:00 UTC, a real.
    case timeIntervalSince1970

    /// Whole seconds since 1970-01-01 00:00:00 UTC, an integer, rounded down.
    case secondsSince1970

    /// Whole milliseconds since 1970-01-01 00:00:00 UTC, an integer, rounded to the nearest.
    case millisecondsSince1970

    /// Text such as `2024-02-29T12:30:00Z`, in UTC, without fractions of a second.
    case iso8601

    /// Text in the formatter's format.
    case formatted(DateFormatter)

    /// The result of a closure, which receives the date; nil is NULL.
    case custom(@Sendable (Date) -> (any DatabaseValueConvertible)?)

    func databaseValue(_ date: Date) -> DatabaseValue {
        switch self {
        case .deferredToDate:
            return date.databaseValue
        case .timeIntervalSinceReferenceDate:
            return .number(date.timeIntervalSinceReferenceDate)
        case .timeIntervalSince1970:
            return .number(date.timeIntervalSince1970)
        case .secondsSince1970:
            return Self.integer(date.timeIntervalSince1970.rounded(.down), date)
        case .millisecondsSince1970:
            // 1970 begins a millisecond of the reference date, around which a date's own number has the finest steps.
            let milliseconds = (date.timeIntervalSinceReferenceDate * 1000).rounded()
            return Self.integer(milliseconds + 978_307_200_000, date)
        case .iso8601:
            return date.iso8601Value
        case .formatted(let formatter):
            return formatter.string(from: date).databaseValue
        case .custom(let encode):
            return encode(date)?.databaseValue ?? .null
        }
    }

    private static func integer(_ number: Double, _ date: Date) -> DatabaseValue {
        guard let integer = Int64(exactly: number) else {
            return .unrepresentable(
                "the date \(date.timeIntervalSince1970) seconds from 1970", reason: "it isn't an integer of 64 bits")
        }
        return integer.databaseValue
    }
}

/// The way in which a `UUID` property of an `Encodable` record is stored.
public enum DatabaseUUIDEncodingStrategy: Sendable {
    /// The conversion of `UUID`: a blob of 16 bytes.
    case deferredToUUID

    /// Text such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
    case uppercaseString

    /// Text such as `e621e1f8-c36c-495a-93fc-0c247a3e6e5f`.
    case lowercaseString

    func databaseValue(_ uuid: UUID) -> DatabaseValue {
        switch self {
        case .deferredToUUID: uuid.databaseValue
        case .uppercaseString: uuid.uuidString.databaseValue
        case .lowercaseString: uuid.uuidString.lowercased().databaseValue
        }
    }
}

/// The mapping from coding keys of an `Encodable` record to the columns they write.
public enum DatabaseColumnEncodingStrategy: Sendable {
    /// The column with the same name.
    case useDefaultKeys

    /// The column whose name is the key in snake case: `team_id` for `teamId`.
    case convertToSnakeCase

    /// The column that a closure names.
    case custom(@Sendable (any CodingKey) -> String)

    package func column(_ key: any CodingKey) -> String {
        switch self {
        case .useDefaultKeys: key.stringValue
        case .convertToSnakeCase: key.stringValue.convertedToSnakeCase
        case .custom(let column): column(key)
        }
    }

    var keepsKeys: Bool { if case .useDefaultKeys = self { true } else { false } }
}

extension String {
    /// `teamId` as `team_id`, `myURLProperty` as `my_url_property`, as `JSONEncoder.KeyEncodingStrategy` converts them.
    ///
    /// A capital after the first character begins a new word; the last of several capitals begins the next word.
    var convertedToSnakeCase: String {
        let characters = Array(self)
        guard !characters.isEmpty else { return self }
        var words: [ArraySlice<Character>] = []
        var start = 0
        var position = 1
        while let capital = characters[position...].firstIndex(where: \.isUppercase) {
            words.append(characters[start..<capital])
            guard let small = characters[capital...].firstIndex(where: \.isLowercase) else {
                start = capital
                position = characters.count
                break
            }
            if small == capital + 1 {
                start = capital
            } else {
                words.append(characters[capital..<small - 1])
                start = small - 1
            }
            position = small
        }
        words.append(characters[start...])
        return words.map { String($0).lowercased() }.joined(separator: "_")
    }
}

// MARK: - Keys

extension TableRecord {
    /// The stored form of a value for a column of a key.
    package static func databaseValue<Key: DatabaseValueConvertible>(ofKey key: Key, column: String) -> DatabaseValue {
        if Key.self == Int64.self || Key.self == Int.self || Key.self == String.self { return key.databaseValue }
        return databaseValue(ofAnyKey: key, column: column)
    }

    private static func databaseValue(ofAnyKey key: any DatabaseValueConvertible, column: String) -> DatabaseValue {
        guard let strategies = Self.self as? any RecordEncodingStrategies.Type else { return key.databaseValue }
        // The cast unwraps optionals.
        switch key as Any {
        case let uuid as UUID: return strategies.databaseUUIDEncodingStrategy(for: column).databaseValue(uuid)
        case let date as Date: return strategies.databaseDateEncodingStrategy(for: column).databaseValue(date)
        case let data as Data: return strategies.databaseDataEncodingStrategy(for: column).databaseValue(data)
        default: return key.databaseValue
        }
    }
}
