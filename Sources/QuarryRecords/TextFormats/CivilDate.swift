/// A day of the Gregorian calendar, which SQLite uses for all times: <https://www.sqlite.org/lang_datefunc.html>.
///
/// Years run from 0 to 9999, the only years that "yyyy-MM-dd" can print.
package struct CivilDate: Hashable {
    package var year: Int
    package var month: Int
    package var day: Int

    /// The days, counted from 1970-01-01, whose year is from 0 to 9999.
    package static let daysSince1970 = -719_528...2_932_896

    // Years are counted from March, so that a leap day ends a year: the day of the year depends on the month alone, and
    // a leap day on the year alone. 400 years are 146,097 days; one such era before year 0 keeps all numbers positive.
    private static let daysFromFirstMarchTo1970 = 719_468 + 146_097

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date of a day, which must be one of `daysSince1970`.
    package init(daysSince1970 days: Int) {
        let day = UInt32(truncatingIfNeeded: days &+ Self.daysFromFirstMarchTo1970)
        let century = (4 &* day &+ 3) / 146_097
        let dayOfCentury = day &- (146_097 &* century) / 4
        let yearOfCentury = (4 &* dayOfCentury &+ 3) / 1_461
        let dayOfYear = dayOfCentury &- (1_461 &* yearOfCentury) / 4
        // Five months from March, and from August, have 153 days.
        let monthFromMarch = (5 &* dayOfYear &+ 2) / 153
        let isNextYear = monthFromMarch >= 10
        self.year = Int(100 &* century &+ yearOfCentury) &- 400 &+ (isNextYear ? 1 : 0)
        self.month = Int(monthFromMarch) &+ (isNextYear ? -9 : 3)
        self.day = Int(dayOfYear &- (153 &* monthFromMarch &+ 2) / 5) &+ 1
    }

    /// The number of days since 1970-01-01 of an existing date.
    @inline(__always)
    package var daysSince1970: Int {
        let month = UInt32(truncatingIfNeeded: month)
        let isNextYear = month <= 2
        let year = UInt32(truncatingIfNeeded: year) &+ (isNextYear ? 399 : 400)
        // From 3 for March to 14.
        let monthOfYear = isNextYear ? month &+ 12 : month
        // Five months have 153 days: 979/32 is as close, and takes no division.
        let dayOfYear = (979 &* monthOfYear &- 2_919) / 32 &+ UInt32(truncatingIfNeeded: day) &- 1
        let century = year / 100
        let days = 1_461 &* year / 4 &- century &+ century / 4 &+ dayOfYear
        return Int(days) &- Self.daysFromFirstMarchTo1970
    }

    /// Whether the day exists, unlike 30 February.
    @inline(__always)
    package var exists: Bool {
        guard 0...9999 ~= year, 1...12 ~= month, day >= 1 else { return false }
        return day <= 28 || day <= daysInMonth
    }

    @inline(__always)
    private var daysInMonth: Int {
        if month == 2 { return isLeapYear ? 29 : 28 }
        // Months of 31 and 30 days alternate, and start again with August.
        return 30 | (month ^ month >> 3)
    }

    @inline(__always)
    private var isLeapYear: Bool { year & 3 == 0 && (year & 15 == 0 || year % 100 != 0) }
}
