/// A day of the Gregorian calendar, which SQLite uses for all of time: <https://www.sqlite.org/lang_datefunc.html>.
///
/// Years run from 0 to 9999, the only ones that "yyyy-MM-dd" can print.
struct CivilDate: Hashable {
    var year: Int
    var month: Int
    var day: Int

    /// The days before 1970-01-01 and after it that have a year from 0 to 9999.
    static let daysSince1970 = -719_528...2_932_896

    // Years are counted from March, so that a leap day ends a year: the day of the year depends on the month alone, and
    // a leap day on the year alone. 400 years are 146,097 days; one such era before year 0 keeps all numbers positive.
    private static let daysFromFirstMarchTo1970 = 719_468 + 146_097

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date of a day, which must be one of `daysSince1970`.
    init(daysSince1970 days: Int) {
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

    /// The days since 1970-01-01 of a date that exists.
    @inline(__always)
    var daysSince1970: Int {
        let isNextYear = month <= 2
        let yearFromMarch = year &+ (isNextYear ? 399 : 400)
        let monthFromMarch = month &+ (isNextYear ? 9 : -3)
        let dayOfYear = (153 &* monthFromMarch &+ 2) / 5 &+ day &- 1
        let leapDays = yearFromMarch / 4 &- yearFromMarch / 100 &+ yearFromMarch / 400
        return 365 &* yearFromMarch &+ leapDays &+ dayOfYear &- Self.daysFromFirstMarchTo1970
    }

    /// Whether there is such a day: no 30 February.
    @inline(__always)
    var exists: Bool {
        guard 0...9999 ~= year, 1...12 ~= month, day >= 1 else { return false }
        return day <= 28 || day <= daysInMonth
    }

    @inline(never)
    private var daysInMonth: Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
