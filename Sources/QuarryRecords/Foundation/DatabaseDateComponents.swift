public import Foundation
public import QuarryCore

/// Date components with the format that they have in the database.
///
/// ```swift
/// let birthday = DatabaseDateComponents(DateComponents(year: 1956, month: 5, day: 14), format: .YMD)
/// try db.execute(sql: "INSERT INTO player (birthDay) VALUES (?)", arguments: [birthday])
/// // INSERT INTO player (birthDay) VALUES ('1956-05-14')
///
/// let read = try DatabaseDateComponents.fetchOne(db, sql: "SELECT birthDay FROM player")!
/// read.format           // .YMD
/// read.dateComponents   // year: 1956, month: 5, day: 14
/// ```
///
/// Components that were read are written in the same format. A component that is nil is written as 0, a month or day as
/// 1. Components that aren't a day or time of the calendar (30 February, hour 25, year 10000) have no text: binding
/// them throws a `DatabaseError` with the code `SQLITE_MISMATCH`. See <https://www.sqlite.org/lang_datefunc.html>.
public struct DatabaseDateComponents: Hashable, Sendable {
    /// The formats, which SQLite's date functions read.
    public enum Format: String, Sendable, CaseIterable {
        /// `yyyy-MM-dd`
        case YMD = "yyyy-MM-dd"
        /// `yyyy-MM-dd HH:mm`
        case YMD_HM = "yyyy-MM-dd HH:mm"
        /// `yyyy-MM-dd HH:mm:ss`
        case YMD_HMS = "yyyy-MM-dd HH:mm:ss"
        /// `yyyy-MM-dd HH:mm:ss.SSS`
        case YMD_HMSS = "yyyy-MM-dd HH:mm:ss.SSS"
        /// `HH:mm`
        case HM = "HH:mm"
        /// `HH:mm:ss`
        case HMS = "HH:mm:ss"
        /// `HH:mm:ss.SSS`
        case HMSS = "HH:mm:ss.SSS"
    }

    /// The components of the format, and the time zone if the text has one.
    public let dateComponents: DateComponents

    /// The format in the database.
    public let format: Format

    /// Components to be stored in a format.
    ///
    /// - parameter dateComponents: components that the format lacks aren't stored. A time zone other than UTC is stored
    ///   after the time: `2024-02-29 12:30+02:00`. Nanoseconds are rounded to milliseconds, at most 999.
    /// - parameter format: the format in the database.
    public init(_ dateComponents: DateComponents, format: Format) {
        self.dateComponents = dateComponents
        self.format = format
    }
}

// MARK: - Database values

extension DatabaseDateComponents: DatabaseValueConvertible, StatementColumnConvertible {
    /// The text of the format.
    public var databaseValue: DatabaseValue {
        guard let text = databaseText else {
            return .unrepresentable("the date components \(dateComponents)", reason: notInFormat)
        }
        return text.string.databaseValue
    }

    /// The components of a text in one of the formats, with a space or a `T` between day and time, and after a time
    /// perhaps `Z` or `±HH:MM`. Nil for any other text, and for numbers.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseDateComponents? {
        switch dbValue.rawStorage {
        case .string(var text):
            text.withUTF8Bytes { DateText(UnsafeRawBufferPointer($0)) }.map { DatabaseDateComponents($0) }
        case .blob(let bytes):
            bytes.withUnsafeBytes { DateText($0) }.map { DatabaseDateComponents($0) }
        default: nil
        }
    }

    /// Reads the column; nil for NULL.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt)
        -> DatabaseDateComponents?
    {
        DatabaseDateComponents(sqliteStatement: sqliteStatement, index: index)
    }

    /// Reads text in one of the formats.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        switch StatementColumns.type(sqliteStatement, index) {
        case .text, .blob:
            let text = StatementColumns.withBytes(sqliteStatement, index) { DateText($0) }
            guard let text else { return nil }
            self.init(text)
        default: return nil
        }
    }

    private var notInFormat: String { "they aren't a date or time in the format \(format.rawValue)" }

    private init(_ text: DateText) {
        var components = DateComponents()
        if let date = text.date {
            components.year = date.year
            components.month = date.month
            components.day = date.day
        }
        if text.precision != .day {
            components.hour = text.hour
            components.minute = text.minute
        }
        if text.precision == .second || text.precision == .millisecond { components.second = text.second }
        if text.precision == .millisecond { components.nanosecond = text.millisecond * 1_000_000 }
        if let zone = text.zone { components.timeZone = TimeZone(secondsFromGMT: zone * 60) }
        self.init(components, format: Format(precision: text.precision, hasDate: text.date != nil))
    }

    /// The text; nil if the day or time doesn't exist.
    private var databaseText: DateText? {
        let date = CivilDate(
            year: dateComponents.year ?? 0, month: dateComponents.month ?? 1, day: dateComponents.day ?? 1)
        var text = DateText(date: format.hasDate ? date : nil, precision: format.precision)
        if text.precision != .day {
            text.hour = dateComponents.hour ?? 0
            text.minute = dateComponents.minute ?? 0
        }
        if text.precision == .second || text.precision == .millisecond { text.second = dateComponents.second ?? 0 }
        if text.precision == .millisecond {
            let nanosecond = dateComponents.nanosecond ?? 0
            guard 0..<1_000_000_000 ~= nanosecond else { return nil }
            // Calendars return 788999915 for 0.789 seconds.
            text.millisecond = min((nanosecond + 500_000) / 1_000_000, 999)
        }
        guard text.exists else { return nil }
        if text.precision != .day, let timeZone = dateComponents.timeZone {
            let seconds = offset(of: timeZone, at: text)
            guard seconds % 60 == 0, abs(seconds) <= DateText.largestZone * 60 else { return nil }
            if seconds != 0 { text.zone = seconds / 60 }
        }
        return text
    }

    /// The offset of a time zone from UTC in seconds, when its clocks show a time. A time alone is taken on the
    /// reference date, because the zone may have had other offsets.
    private func offset(of timeZone: TimeZone, at text: DateText) -> Int {
        guard let local = text.millisecondsSince1970 else {
            return timeZone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: 0))
        }
        let guess = timeZone.secondsFromGMT(for: Date(millisecondsSince1970: local))
        return timeZone.secondsFromGMT(for: Date(millisecondsSince1970: local - guess * 1000))
    }
}

extension DatabaseDateComponents.Format {
    fileprivate init(precision: DateText.Precision, hasDate: Bool) {
        switch precision {
        case .day: self = .YMD
        case .minute: self = hasDate ? .YMD_HM : .HM
        case .second: self = hasDate ? .YMD_HMS : .HMS
        case .millisecond: self = hasDate ? .YMD_HMSS : .HMSS
        }
    }

    fileprivate var hasDate: Bool {
        switch self {
        case .YMD, .YMD_HM, .YMD_HMS, .YMD_HMSS: true
        case .HM, .HMS, .HMSS: false
        }
    }

    fileprivate var precision: DateText.Precision {
        switch self {
        case .YMD: .day
        case .YMD_HM, .HM: .minute
        case .YMD_HMS, .HMS: .second
        case .YMD_HMSS, .HMSS: .millisecond
        }
    }
}

// MARK: - Codable

extension DatabaseDateComponents: Codable {
    /// Decodes the text of one of the formats.
    ///
    /// - throws: `DecodingError` for any other text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let components = Self.fromDatabaseValue(text.databaseValue) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\(String(reflecting: text)) isn't a date or time")
        }
        self = components
    }

    /// Encodes the text of the format.
    ///
    /// - throws: `EncodingError` for components that have no text.
    public func encode(to encoder: any Encoder) throws {
        guard let text = databaseText else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: "\(dateComponents): \(notInFormat)"))
        }
        var container = encoder.singleValueContainer()
        try container.encode(text.string)
    }
}
