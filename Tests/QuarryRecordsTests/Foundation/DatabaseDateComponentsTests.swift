import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct DatabaseDateComponentsTests {
    typealias Format = DatabaseDateComponents.Format

    // MARK: - Out of the database

    @Test(arguments: [
        ("2024-02-29", Format.YMD, DateComponents(year: 2024, month: 2, day: 29)),
        ("2024-01-01 12:34", .YMD_HM, DateComponents(year: 2024, month: 1, day: 1, hour: 12, minute: 34)),
        (
            "2024-01-01 12:34:56", .YMD_HMS,
            DateComponents(year: 2024, month: 1, day: 1, hour: 12, minute: 34, second: 56)
        ),
        (
            "2024-01-01 12:34:56.789", .YMD_HMSS,
            DateComponents(
                year: 2024, month: 1, day: 1, hour: 12, minute: 34, second: 56, nanosecond: 789_000_000)
        ),
        ("12:34", .HM, DateComponents(hour: 12, minute: 34)),
        ("12:34:56", .HMS, DateComponents(hour: 12, minute: 34, second: 56)),
        ("12:34:56.789", .HMSS, DateComponents(hour: 12, minute: 34, second: 56, nanosecond: 789_000_000)),
        ("24:00", .HM, DateComponents(hour: 24, minute: 0)),
        ("0000-01-01", .YMD, DateComponents(year: 0, month: 1, day: 1)),
        (
            "2024-01-01 12:34+02:00", .YMD_HM,
            DateComponents(
                timeZone: TimeZone(secondsFromGMT: 7200), year: 2024, month: 1, day: 1, hour: 12, minute: 34)
        ),
        (
            "12:34:56-05:30", .HMS,
            DateComponents(timeZone: TimeZone(secondsFromGMT: -19_800), hour: 12, minute: 34, second: 56)
        ),
    ])
    func comesBackAsItWas(text: String, format: Format, components: DateComponents) throws {
        try withConnection { db throws in
            let value = DatabaseDateComponents(components, format: format)
            #expect(try read(DatabaseDateComponents.self, from: text.databaseValue, in: db) == value)
            #expect(try read(DatabaseDateComponents.self, from: Array(text.utf8).databaseValue, in: db) == value)
            #expect(try stored(value, in: db) == text.databaseValue)
        }
    }

    @Test func readsWhatItWritesInAnotherWay() throws {
        try withConnection { db throws in
            for (text, written) in [
                ("2024-01-01T12:34", "2024-01-01 12:34"),
                ("2024-01-01 12:34:56.7", "2024-01-01 12:34:56.700"),
                ("2024-01-01 12:34:56.789999", "2024-01-01 12:34:56.789"),
                ("12:34:56.7Z", "12:34:56.700"),
                ("2024-01-01 12:34Z", "2024-01-01 12:34"),
            ] {
                let value = try read(DatabaseDateComponents.self, from: text.databaseValue, in: db)
                #expect(value?.databaseValue == written.databaseValue)
                #expect(value?.dateComponents.timeZone == (text.hasSuffix("Z") ? TimeZone(secondsFromGMT: 0) : nil))
            }
        }
    }

    @Test(arguments: [
        "", "foo", "12", "12:3", "12:34:5", "12:34:56.", "25:00", "12:60", "12:34:60", "24:00:00.001", " 12:34",
        "12:34 ", "T12:34", "12:34Zx", "2024-02-30", "2024-01-01 ", "2024-01-01T", "2024-01-01Z", "2024-13-01 12:34",
    ])
    func readsNoOtherText(text: String) throws {
        try withConnection { db throws in
            #expect(try read(DatabaseDateComponents.self, from: text.databaseValue, in: db) == nil)
        }
    }

    @Test func readsNothingOfOtherValues() throws {
        try withConnection { db throws in
            let values: [DatabaseValue] = [.null, 1.databaseValue, 1.5.databaseValue, ([1] as [UInt8]).databaseValue]
            for value in values {
                #expect(try read(DatabaseDateComponents.self, from: value, in: db) == nil)
            }
        }
    }

    // MARK: - Into the database

    @Test func storesWhatIsMissingAsTheFirst() throws {
        try withConnection { db throws in
            for (format, text) in [
                (Format.YMD, "0000-01-01"), (.YMD_HM, "0000-01-01 00:00"), (.YMD_HMS, "0000-01-01 00:00:00"),
                (.YMD_HMSS, "0000-01-01 00:00:00.000"), (.HM, "00:00"), (.HMS, "00:00:00"), (.HMSS, "00:00:00.000"),
            ] {
                let value = DatabaseDateComponents(DateComponents(), format: format)
                #expect(try stored(value, in: db) == text.databaseValue)
            }
        }
    }

    @Test func storesTheComponentsOfTheFormatAlone() throws {
        let components = DateComponents(
            year: 2024, month: 1, day: 2, hour: 3, minute: 4, second: 5, nanosecond: 678_999_999)
        try withConnection { db throws in
            for (format, text) in [
                (Format.YMD, "2024-01-02"), (.YMD_HM, "2024-01-02 03:04"), (.YMD_HMS, "2024-01-02 03:04:05"),
                (.YMD_HMSS, "2024-01-02 03:04:05.679"), (.HM, "03:04"), (.HMS, "03:04:05"), (.HMSS, "03:04:05.679"),
            ] {
                #expect(try stored(DatabaseDateComponents(components, format: format), in: db) == text.databaseValue)
            }
            // There is no thousandth millisecond of a second.
            let last = DatabaseDateComponents(DateComponents(second: 59, nanosecond: 999_999_999), format: .HMSS)
            #expect(try stored(last, in: db) == "00:00:59.999".databaseValue)
        }
    }

    @Test(arguments: [
        (DateComponents(year: 12_345), Format.YMD), (DateComponents(year: -1), .YMD_HMSS),
        (DateComponents(month: 0), .YMD), (DateComponents(month: 13), .YMD), (DateComponents(day: 0), .YMD),
        (DateComponents(year: 2023, month: 2, day: 29), .YMD_HM), (DateComponents(hour: 25), .HM),
        (DateComponents(hour: -1), .HM), (DateComponents(hour: 24, minute: 1), .HM), (DateComponents(minute: 60), .HM),
        (DateComponents(second: 60), .HMS), (DateComponents(nanosecond: 1_000_000_000), .HMSS),
        (DateComponents(nanosecond: -1), .HMSS), (DateComponents(year: .max, month: .min, day: .max), .YMD),
        (DateComponents(timeZone: TimeZone(secondsFromGMT: 1), hour: 1), .HM),
    ])
    func throwsForWhatIsNoDateOrTime(components: DateComponents, format: Format) throws {
        try withConnection { db throws in
            let value = DatabaseDateComponents(components, format: format)
            let message = try #require(try bindingError(value, in: db))
            #expect(message.hasPrefix("could not bind the date components "))
            #expect(message.hasSuffix("they aren't a date or time in the format \(format.rawValue)"))
            #expect(throws: EncodingError.self) { try JSONEncoder().encode([value]) }
        }
    }

    @Test func storesTheOffsetOfATimeZone() throws {
        let paris = try #require(TimeZone(identifier: "Europe/Paris"))
        func text(_ month: Int, _ hour: Int, _ format: Format) -> DatabaseValue {
            let components = DateComponents(timeZone: paris, year: 2024, month: month, day: 31, hour: hour, minute: 30)
            return DatabaseDateComponents(components, format: format).databaseValue
        }
        #expect(text(1, 12, .YMD_HM) == "2024-01-31 12:30+01:00".databaseValue)
        #expect(text(7, 12, .YMD_HM) == "2024-07-31 12:30+02:00".databaseValue)
        // Clocks go forward on 31 March at 1:00 UTC, 2:00 there.
        #expect(text(3, 1, .YMD_HM) == "2024-03-31 01:30+01:00".databaseValue)
        #expect(text(3, 3, .YMD_HM) == "2024-03-31 03:30+02:00".databaseValue)
        #expect(text(7, 12, .HM) == "12:30+01:00".databaseValue)
        // A day alone has no zone, and UTC needs none.
        #expect(text(7, 12, .YMD) == "2024-07-31".databaseValue)
        let utc = DateComponents(timeZone: TimeZone(secondsFromGMT: 0), hour: 12)
        #expect(DatabaseDateComponents(utc, format: .HM).databaseValue == "12:00".databaseValue)
    }

    @Test func isAStringInOtherEncodings() throws {
        let value = DatabaseDateComponents(DateComponents(hour: 12, minute: 34), format: .HM)
        #expect(try String(decoding: JSONEncoder().encode([value]), as: UTF8.self) == #"["12:34"]"#)
        #expect(try JSONDecoder().decode([DatabaseDateComponents].self, from: Data(#"["12:34"]"#.utf8)) == [value])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([DatabaseDateComponents].self, from: Data(#"["noon"]"#.utf8))
        }
    }
}
