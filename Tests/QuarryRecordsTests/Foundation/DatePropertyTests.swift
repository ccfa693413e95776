import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryRecords

@Suite struct DatePropertyTests {
    /// Milliseconds of all years that have text, and those of our days more often.
    private func randomMilliseconds(_ generator: inout SeededGenerator) -> Int {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: Int.random(in: 1_500_000_000_000...1_900_000_000_000, using: &generator)
        case 1: Int.random(in: -100_000_000_000...100_000_000_000, using: &generator)
        case 2: 86_400_000 * Int.random(in: CivilDate.daysSince1970, using: &generator)
        default: Int.random(in: DateText.millisecondsSince1970, using: &generator)
        }
    }

    @Test func agreesWithCalendar() throws {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        let parts: Set<Calendar.Component> = [.year, .month, .day, .hour, .minute, .second]
        // Calendars change to the Julian one before that day.
        let firstGregorian = -12_219_292_800_000

        for _ in 0..<100_000 {
            let milliseconds = max(randomMilliseconds(&generator), firstGregorian)
            let text = DateText(millisecondsSince1970: milliseconds)
            let second = Date(timeIntervalSince1970: (Double(milliseconds) / 1000).rounded(.down))
            let components = calendar.dateComponents(parts, from: second)
            guard
                text.date?.year == components.year, text.date?.month == components.month,
                text.date?.day == components.day, text.hour == components.hour, text.minute == components.minute,
                text.second == components.second, (milliseconds - text.millisecond) % 1000 == 0
            else {
                Issue.record("\(milliseconds) ms is \(components), not \(text.string); seed \(generator.seed)")
                return
            }
        }
    }

    @Test func agreesWithSQLite() throws {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        try withConnection { db throws in
            let statement = try db.makeStatement(
                sql: "SELECT strftime('%Y-%m-%d %H:%M:', ?1, 'unixepoch') || printf('%06.3f', ?2)")
            for _ in 0..<20_000 {
                let milliseconds = randomMilliseconds(&generator)
                let date = Date(millisecondsSince1970: milliseconds)
                let ofMinute = ((milliseconds % 60_000) + 60_000) % 60_000
                let expected = try #require(
                    try String.fetchOne(
                        statement, arguments: [(milliseconds - ofMinute) / 1000, Double(ofMinute) / 1000]))
                // For 1 March of the year 300, and that day alone, SQLite 3.40 prints one that never was.
                if expected.hasPrefix("0300-02-29") { continue }
                guard
                    date.databaseValue == expected.databaseValue, Date.fromDatabaseValue(expected.databaseValue) == date
                else {
                    Issue.record("\(milliseconds) ms is \(expected), not \(date.databaseValue); seed \(generator.seed)")
                    return
                }
            }
        }
    }

    @Test func textComesBackUnchanged() {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        for _ in 0..<100_000 {
            let text = DateText(millisecondsSince1970: randomMilliseconds(&generator)).string.databaseValue
            guard let date = Date.fromDatabaseValue(text), date.databaseValue == text else {
                Issue.record("\(text) doesn't come back; seed \(generator.seed)")
                return
            }
        }
    }

    @Test func datesComeBackWithinHalfAMillisecond() throws {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        let seconds = -62_167_219_199.0...253_402_300_798.0
        for _ in 0..<100_000 {
            let date = Date(timeIntervalSince1970: .random(in: seconds, using: &generator))
            let stored = date.databaseValue
            guard let read = Date.fromDatabaseValue(stored) else {
                Issue.record("\(stored) has no date; seed \(generator.seed)")
                return
            }
            // A date of year 9999 has steps of 30 microseconds.
            guard abs(read.timeIntervalSince(date)) <= 0.000_53, read.databaseValue == stored else {
                Issue.record("\(date.timeIntervalSince1970) becomes \(stored); seed \(generator.seed)")
                return
            }
        }
    }

    @Test func orderIsKept() {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        for _ in 0..<20_000 {
            let date = Date(millisecondsSince1970: randomMilliseconds(&generator))
            let later = date.addingTimeInterval(.random(in: 0...0.002, using: &generator))
            let texts = [date, later].compactMap { String.fromDatabaseValue($0.databaseValue) }
            #expect(texts == texts.sorted(), "seed \(generator.seed)")
        }
    }

    /// Any bytes: there is a date or there is none.
    @Test func randomBytesAreNoTrap() {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        let alphabet = Array("0123456789-:. TZ+\0x".utf8) + [0xFF]
        let models = ["2024-02-29 23:59:59.999", "2024-02-29T23:59:59+02:00", "23:59", "2024-02-29"]
        for _ in 0..<50_000 {
            var text = Array((models.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[index] = alphabet.randomElement(using: &generator) ?? 0
                case 1: text.insert(alphabet.randomElement(using: &generator) ?? 0, at: index)
                default: if text.count > 1 { text.remove(at: index) }
                }
            }
            guard let date = Date.fromDatabaseValue(text.databaseValue) else { continue }
            // The text is valid by the slow path as well: as components.
            let components = DatabaseDateComponents.fromDatabaseValue(text.databaseValue)
            #expect(components != nil, "\(String(decoding: text, as: UTF8.self)), seed \(generator.seed)")
            #expect(!date.databaseValue.isNull)
        }
    }
}

@Suite struct CivilDateTests {
    @Test func everyDayFollowsTheDayBefore() {
        var date = CivilDate(year: 0, month: 1, day: 1)
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        for day in CivilDate.daysSince1970 {
            let converted = CivilDate(daysSince1970: day)
            guard converted == date, date.daysSince1970 == day, date.exists else {
                Issue.record("day \(day) is \(date), not \(converted)")
                return
            }
            let isLeap = date.year % 4 == 0 && date.year % 100 != 0 || date.year % 400 == 0
            if date.day < lengths[date.month - 1] + (date.month == 2 && isLeap ? 1 : 0) {
                date.day += 1
            } else {
                #expect(!CivilDate(year: date.year, month: date.month, day: date.day + 1).exists)
                date.day = 1
                date.month += 1
                if date.month == 13 {
                    date.month = 1
                    date.year += 1
                }
            }
        }
        #expect(date == CivilDate(year: 10_000, month: 1, day: 1))
        #expect(!date.exists)
    }
}
