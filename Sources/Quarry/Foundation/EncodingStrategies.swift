public import Foundation
public import QuarryCore

/// How `Encodable` records write their columns.
///
/// A record type that wants something else than the default writes the requirement:
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
/// The strategies of dates, data and UUIDs hold for keys too: `fetchOne(db, id: uuid)` looks for what was stored.
public protocol RecordEncodingStrategies: SendableMetatype {
    /// The `userInfo` of the encoder.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// Which column a coding key writes.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }

    /// How a `Data` property is stored in a column.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy

    /// How a `Date` property is stored in a column.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy

    /// How a `UUID` property is stored in a column.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy

    /// Encodes a property that is stored as JSON.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder
}

extension RecordEncodingStrategies {
    /// Empty.
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// The column of the key's name.
    public static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }

    /// As `Data` converts: a blob.
    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .deferredToData
    }

    /// As `Date` converts: text.
    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .deferredToDate
    }

    /// As `UUID` converts: a blob.
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

/// How a `Data` property of an `Encodable` record is stored.
public enum DatabaseDataEncodingStrategy: Sendable {
    /// A blob.
    case deferredToData

    /// The bytes as UTF-8 text. Data that isn't UTF-8 can't be stored.
    case text

    /// What a closure makes of it; nil is NULL.
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

/// How a `Date` property of an `Encodable` record is stored.
public enum DatabaseDateEncodingStrategy: Sendable {
    /// As `Date` converts: text such as `2024-02-29 12:30:00.123`, in UTC.
    case deferredToDate

    /// Seconds since 2001-01-01 00:00:00 UTC, a real.
    case timeIntervalSinceReferenceDate

    /// Seconds since 1970-01-01 00:00:00 UTC, a real.
    case timeIntervalSince1970

    /// Whole seconds since 1970-01-01 00:00:00 UTC, an integer: the last that has begun.
    case secondsSince1970

    /// Whole milliseconds since 1970-01-01 00:00:00 UTC, an integer: the nearest.
    case millisecondsSince1970

    /// Text such as `2024-02-29T12:30:00Z`, in UTC, without fractions of the second.
    case iso8601

    /// Text in the formatter's format.
    case formatted(DateFormatter)

    /// What a closure makes of it; nil is NULL.
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
            // 1970 begins a millisecond of the reference date, around which a date's own number is finest.
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
                "the date \(date.timeIntervalSince1970) seconds from 1970", reason: "it is no integer of 64 bits")
        }
        return integer.databaseValue
    }
}

/// How a `UUID` property of an `Encodable` record is stored.
public enum DatabaseUUIDEncodingStrategy: Sendable {
    /// As `UUID` converts: a blob of 16 bytes.
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

/// Which column a coding key of an `Encodable` record writes.
public enum DatabaseColumnEncodingStrategy: Sendable {
    /// That of the same name.
    case useDefaultKeys

    /// That whose name is the key in snake case: `team_id` for `teamId`.
    case convertToSnakeCase

    /// That which a closure names.
    case custom(@Sendable (any CodingKey) -> String)

    func column(_ key: any CodingKey) -> String {
        switch self {
        case .useDefaultKeys: key.stringValue
        case .convertToSnakeCase: key.stringValue.convertedToSnakeCase
        case .custom(let column): column(key)
        }
    }

    var keepsKeys: Bool { if case .useDefaultKeys = self { true } else { false } }
}

extension String {
    /// `teamId` as `team_id`, `myURLProperty` as `my_url_property`: what `JSONEncoder.KeyEncodingStrategy` says.
    ///
    /// A word begins with a capital after the first character; of several capitals, the last begins the next word.
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
    /// What is stored for a value of a column of a key.
    static func databaseValue<Key: DatabaseValueConvertible>(ofKey key: Key, column: String) -> DatabaseValue {
        if Key.self == Int64.self || Key.self == Int.self || Key.self == String.self { return key.databaseValue }
        return databaseValue(ofAnyKey: key, column: column)
    }

    private static func databaseValue(ofAnyKey key: any DatabaseValueConvertible, column: String) -> DatabaseValue {
        guard let strategies = Self.self as? any RecordEncodingStrategies.Type else { return key.databaseValue }
        // The cast looks into optionals.
        switch key as Any {
        case let uuid as UUID: return strategies.databaseUUIDEncodingStrategy(for: column).databaseValue(uuid)
        case let date as Date: return strategies.databaseDateEncodingStrategy(for: column).databaseValue(date)
        case let data as Data: return strategies.databaseDataEncodingStrategy(for: column).databaseValue(data)
        default: return key.databaseValue
        }
    }
}
