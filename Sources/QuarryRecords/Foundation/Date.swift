public import Foundation
public import QuarryCore

/// A date is stored as text in UTC, `yyyy-MM-dd HH:mm:ss.SSS`, which sorts chronologically and is readable by SQLite's
/// date functions.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO player (name, createdAt) VALUES (?, ?)", arguments: ["Arthur", Date()])
/// // INSERT INTO player (name, createdAt) VALUES ('Arthur', '2024-02-29 12:30:00.123')
/// let date = try Date.fetchOne(db, sql: "SELECT createdAt FROM player")
/// ```
///
/// A date is rounded to the nearest millisecond, halves away from 2001-01-01. Reading returns that millisecond, which
/// is written as the same text again. A date of a year outside 0 to 9999 has no such text: binding it throws a
/// `DatabaseError` with the code `SQLITE_MISMATCH`. The calendar is SQLite's, Gregorian for all times:
/// <https://www.sqlite.org/lang_datefunc.html>.
///
/// A date is read from
///
/// | column | example |
/// |---|---|
/// | a day, at midnight UTC | `2024-02-29` |
/// | a day and a time, after a space or a `T` | `2024-02-29T12:30`, `2024-02-29 12:30:00.123` |
/// | the same with a zone; it is UTC without | `2024-02-29 12:30Z`, `2024-02-29 12:30:00+02:00` |
/// | a number: seconds since 1970 | `1709209800.123` |
///
/// Digits beyond milliseconds are ignored. A time alone isn't a date, nor is a day or time that doesn't exist, such as
/// 30 February.
extension Date: DatabaseValueConvertible, StatementColumnConvertible {
    /// `yyyy-MM-dd HH:mm:ss.SSS` in UTC.
    public var databaseValue: DatabaseValue {
        guard let text = databaseText else { return unrepresentable }
        return text.string.databaseValue
    }

    /// The date of a text or number.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Date? {
        switch dbValue.rawStorage {
        case .null: nil
        case .int64(let seconds): Date(timeIntervalSince1970: Double(seconds))
        case .double(let seconds): seconds.isFinite ? Date(timeIntervalSince1970: seconds) : nil
        case .string(var text): text.withUTF8Bytes { Date(databaseText: UnsafeRawBufferPointer($0)) }
        case .blob(let bytes): bytes.withUnsafeBytes { Date(databaseText: $0) }
        }
    }

    /// Reads the column; nil for NULL.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Date? {
        Date(sqliteStatement: sqliteStatement, index: index)
    }

    /// Reads a text or number.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let value = StatementColumns.borrow(sqliteStatement, index)
        let type = StatementColumns.type(ofBorrowed: value)
        switch type {
        case .text, .blob:
            guard let date = Date(databaseText: StatementColumns.bytes(ofBorrowed: value, type)) else { return nil }
            self = date
        case .integer, .real:
            let seconds = StatementColumns.double(ofBorrowed: value)
            guard seconds.isFinite else { return nil }
            self.init(timeIntervalSince1970: seconds)
        case .null:
            return nil
        }
    }

    /// Binds `yyyy-MM-dd HH:mm:ss.SSS` in UTC; returns `SQLITE_MISMATCH` for a year outside 0 to 9999.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        guard let text = databaseText else { return ResultCode.SQLITE_MISMATCH.rawValue }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.longest) { buffer in
            let count = text.write(to: buffer)
            let utf8 = UnsafeBufferPointer(rebasing: buffer[..<count])
            return StatementBindings.bind(utf8: utf8, to: sqliteStatement, at: index)
        }
    }

    @inline(__always)
    private init?(databaseText: UnsafeRawBufferPointer) {
        guard let milliseconds = DateText.millisecondsSince1970(of: databaseText) else { return nil }
        self.init(millisecondsSince1970: milliseconds)
    }

    /// The text of the date's nearest millisecond; nil if its year is outside 0 to 9999.
    @inline(__always)
    var databaseText: DateText? {
        // Both Foundation's epoch and 1970 begin a millisecond, and a date's own number has the finest steps around
        // the former: rounding there finds the millisecond that a date was read from.
        let milliseconds = (timeIntervalSinceReferenceDate * 1000).rounded()
        let epoch = Self.referenceMilliseconds
        guard
            milliseconds >= Double(DateText.millisecondsSince1970.lowerBound &- epoch),
            milliseconds <= Double(DateText.millisecondsSince1970.upperBound &- epoch)
        else { return nil }
        return DateText(millisecondsSince1970: Int(milliseconds) &+ epoch)
    }

    /// `yyyy-MM-ddTHH:mm:ssZ` in UTC, rounded down to the second.
    var iso8601Value: DatabaseValue {
        let second = Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate.rounded(.down))
        guard var text = second.databaseText else { return unrepresentable }
        text.precision = .second
        return (text.string.replacing(" ", with: "T", maxReplacements: 1) + "Z").databaseValue
    }

    @inline(never)
    private var unrepresentable: DatabaseValue {
        .unrepresentable(
            "the date \(timeIntervalSince1970) seconds from 1970", reason: "its year isn't from 0 to 9999")
    }
}

extension Date {
    /// Milliseconds from 1970 to the reference date of Foundation, 2001-01-01.
    private static var referenceMilliseconds: Int { 978_307_200_000 }

    @inline(__always)
    init(millisecondsSince1970 milliseconds: Int) {
        self.init(timeIntervalSinceReferenceDate: Double(milliseconds &- Self.referenceMilliseconds) / 1000)
    }

    /// The date of a julian day number, as `julianday()` of SQLite gives it, to the nearest millisecond.
    ///
    /// ```swift
    /// let day = try Double.fetchOne(db, sql: "SELECT julianday('2024-02-29 12:00')")!   // 2460370.0
    /// Date(julianDay: day)   // 2024-02-29 12:00:00 +0000
    /// ```
    ///
    /// - parameter julianDay: days since noon in Greenwich on 24 November 4714 BC.
    /// - returns: nil outside the range of SQLite, which ends with year 9999:
    ///   <https://www.sqlite.org/lang_datefunc.html>.
    public init?(julianDay: Double) {
        let milliseconds = (julianDay * 86_400_000).rounded()
        // 1970-01-01 00:00 is the julian day 2440587.5.
        let epoch = 210_866_760_000_000
        guard milliseconds >= 0, milliseconds <= Double(DateText.millisecondsSince1970.upperBound + epoch) else {
            return nil
        }
        self.init(millisecondsSince1970: Int(milliseconds) - epoch)
    }
}
