public import QuarryCore

/// A modifier of a date function: <https://www.sqlite.org/lang_datefunc.html#modifiers>.
///
/// ```swift
/// // The last day of the month.
/// Invoice.select(date(Column("sentAt"), .startOfMonth, .month(1), .day(-1)))
/// ```
/// ```sql
/// SELECT DATE("sentAt", 'start of month', '1 months', '-1 days') FROM "invoice"
/// ```
public enum SQLDateModifier: SQLSpecificExpressible, Sendable {
    /// Adds days: `'1 days'`
    case day(Int)
    /// Adds hours: `'1 hours'`
    case hour(Int)
    /// Adds minutes: `'1 minutes'`
    case minute(Int)
    /// Adds seconds: `'1.5 seconds'`
    case second(Double)
    /// Adds months: `'1 months'`
    case month(Int)
    /// Adds years: `'1 years'`
    case year(Int)
    /// The first instant of the day: `'start of day'`
    case startOfDay
    /// The first instant of the month: `'start of month'`
    case startOfMonth
    /// The first instant of the year: `'start of year'`
    case startOfYear
    /// The day itself, or the next day with the given weekday; 0 is Sunday: `'weekday 0'`
    case weekday(Int)
    /// The preceding number is in seconds since 1970: `'unixepoch'`
    case unixEpoch
    /// The preceding number is a Julian day: `'julianday'`
    case julianDay
    /// The preceding number is a Julian day or in seconds since 1970, according to its size: `'auto'`
    case auto
    /// Converts UTC to the local time of the process: `'localtime'`
    case localTime
    /// Converts local time to UTC: `'utc'`
    case utc
    /// Shows milliseconds: `'subsec'`, of SQLite 3.42
    case subsecond

    /// The modifier as an argument.
    public var sqlExpression: SQLExpression { text.sqlExpression }

    private var text: String {
        switch self {
        case .day(let value): "\(value) days"
        case .hour(let value): "\(value) hours"
        case .minute(let value): "\(value) minutes"
        case .second(let value): "\(value) seconds"
        case .month(let value): "\(value) months"
        case .year(let value): "\(value) years"
        case .startOfDay: "start of day"
        case .startOfMonth: "start of month"
        case .startOfYear: "start of year"
        case .weekday(let value): "weekday \(value)"
        case .unixEpoch: "unixepoch"
        case .julianDay: "julianday"
        case .auto: "auto"
        case .localTime: "localtime"
        case .utc: "utc"
        case .subsecond: "subsec"
        }
    }

    /// The required version: an older SQLite returns NULL for an unknown modifier, which would go unnoticed.
    fileprivate var requirement: SQLiteRequirement? { if case .subsecond = self { .version(3_042_000) } else { nil } }
}

// MARK: - Functions

/// A date as a Julian day, a real: `JULIANDAY(x, modifiers)`.
///
/// ```swift
/// Invoice.select(julianDay(Column("paidAt")) - julianDay(Column("sentAt")))
/// ```
/// ```sql
/// SELECT JULIANDAY("paidAt") - JULIANDAY("sentAt") FROM "invoice"
/// ```
///
/// See <https://www.sqlite.org/lang_datefunc.html>.
public func julianDay(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    dateFunction("JULIANDAY", [value.sqlExpression], modifiers)
}

/// A date with its time, as text `2023-01-15 20:30:00`: `DATETIME(x, modifiers)`.
///
/// ```swift
/// Invoice.select(dateTime(Column("sentAt"), .localTime))
/// ```
/// ```sql
/// SELECT DATETIME("sentAt", 'localtime') FROM "invoice"
/// ```
///
/// See <https://www.sqlite.org/lang_datefunc.html>.
public func dateTime(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    dateFunction("DATETIME", [value.sqlExpression], modifiers)
}

/// A date without its time, as text `2023-01-15`: `DATE(x, modifiers)`.
///
/// ```swift
/// Invoice.select(date(Column("sentAt")), count(.allColumns)).group(date(Column("sentAt")))
/// ```
/// ```sql
/// SELECT DATE("sentAt"), COUNT(*) FROM "invoice" GROUP BY DATE("sentAt")
/// ```
///
/// See <https://www.sqlite.org/lang_datefunc.html>.
public func date(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    dateFunction("DATE", [value.sqlExpression], modifiers)
}

/// The time of a date, as text `20:30:00`: `TIME(x, modifiers)`.
///
/// See <https://www.sqlite.org/lang_datefunc.html>.
public func time(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    dateFunction("TIME", [value.sqlExpression], modifiers)
}

/// A date as the number of seconds since 1970, an integer: `UNIXEPOCH(x, modifiers)`.
///
/// See <https://www.sqlite.org/lang_datefunc.html>.
public func unixEpoch(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    dateFunction("UNIXEPOCH", [value.sqlExpression], modifiers)
}

/// A date in a format: `STRFTIME(format, x, modifiers)`.
///
/// ```swift
/// Invoice.group(strftime("%Y-%m", Column("sentAt")))
/// ```
/// ```sql
/// SELECT * FROM "invoice" GROUP BY STRFTIME('%Y-%m', "sentAt")
/// ```
///
/// See <https://www.sqlite.org/lang_datefunc.html> for the format specifiers.
public func strftime(
    _ format: some SQLExpressible, _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression {
    dateFunction("STRFTIME", [format.sqlExpression, value.sqlExpression], modifiers)
}

/// The difference between two dates, as text `+0000-00-01 00:00:00.000`: `TIMEDIFF(x, y)`. Requires SQLite 3.43.
///
/// See <https://www.sqlite.org/lang_datefunc.html#tmdif>.
public func timeDiff(_ end: some SQLSpecificExpressible, _ start: some SQLExpressible) -> SQLExpression {
    .function("TIMEDIFF", [end.sqlExpression, start.sqlExpression], .version(3_043_000))
}

extension SQLExpression {
    /// The current time of the statement, for date functions: `'now'`.
    ///
    /// ```swift
    /// Invoice.filter(Column("dueOn") < date(SQLExpression.now))
    /// ```
    /// ```sql
    /// SELECT * FROM "invoice" WHERE "dueOn" < DATE('now')
    /// ```
    public static var now: SQLExpression { "now".sqlExpression }
}

private func dateFunction(_ name: String, _ arguments: [SQLExpression], _ modifiers: [SQLDateModifier])
    -> SQLExpression
{
    let requirement = modifiers.lazy.compactMap(\.requirement).first
    return .function(name, arguments + modifiers.map(\.sqlExpression), requirement)
}
