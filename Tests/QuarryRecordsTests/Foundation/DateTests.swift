import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct DateTests {
    // MARK: - Out of the database

    @Test(arguments: [
        ("2024-02-29", 1_709_164_800),
        ("2024-01-01 12:34", 1_704_112_440),
        ("2024-01-01T12:34", 1_704_112_440),
        ("2024-01-01 12:34Z", 1_704_112_440),
        ("2024-01-01 12:34+02:00", 1_704_105_240),
        ("2024-01-01 12:34:56", 1_704_112_496),
        ("2024-01-01T12:34:56", 1_704_112_496),
        ("2024-01-01 12:34:56Z", 1_704_112_496),
        ("2024-01-01 12:34:56+02:00", 1_704_105_296),
        ("2024-01-01 12:34:56-02:00", 1_704_119_696),
        ("2024-01-01 12:34:56-00:00", 1_704_112_496),
        ("2024-01-01 12:34:56.7", 1_704_112_496.7),
        ("2024-01-01 12:34:56.78", 1_704_112_496.78),
        ("2024-01-01 12:34:56.789", 1_704_112_496.789),
        ("2024-01-01T12:34:56.789", 1_704_112_496.789),
        ("2024-01-01 12:34:56.789Z", 1_704_112_496.789),
        ("2024-01-01T12:34:56.7+02:00", 1_704_105_296.7),
        ("2024-01-01 12:34:56.789+05:30", 1_704_092_696.789),
        ("2024-01-01 12:34:56.789-18:00", 1_704_177_296.789),
        // Digits beyond milliseconds don't count.
        ("2024-01-01 12:34:56.7899999", 1_704_112_496.789),
        ("2024-01-01 12:34:56.789012345678901234567890Z", 1_704_112_496.789),
        // 24:00 is the end of the day.
        ("2023-12-31 24:00", 1_704_067_200),
        ("2023-12-31 24:00:00.000", 1_704_067_200),
        ("1970-01-01 00:00:00.000", 0),
        ("1969-12-31 23:59:59.999", -0.001),
        // The calendar is Gregorian before 1582 too, as SQLite's.
        ("1582-10-15", -12_219_292_800),
        ("1582-10-14", -12_219_379_200),
        ("1500-01-01", -14_831_769_600),
        ("0001-01-01", -62_135_596_800),
        ("0000-01-01", -62_167_219_200),
        ("0000-02-29", -62_162_121_600),
        ("9999-12-31 23:59:59.999", 253_402_300_799.999),
        // A zone may lead beyond the years that are stored.
        ("0000-01-01 00:00+01:00", -62_167_222_800),
    ])
    func readsText(text: String, seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        try withConnection { db throws in
            #expect(try read(Date.self, from: text.databaseValue, in: db) == date)
            #expect(try read(Date.self, from: Array(text.utf8).databaseValue, in: db) == date)
        }
    }

    @Test(arguments: [
        "", " ", "foo", "now", "2024", "2024-01", "2024-1-1", "20240101", "24-01-01", "10000-01-01", "-001-01-01",
        "+2024-01-01", " 2024-01-01", "2024-01-01 ", "2024-01-01\n", "2024-01-01\0", "2024/01/01", "2024-01_01",
        "2024-0a-01", "２０２４-01-01",
        // A time alone.
        "12:34", "12:34:56", "12:34:56.789", "12:34:56.789Z",
        // Half a time.
        "2024-01-01 1", "2024-01-01 12", "2024-01-01 12:", "2024-01-01 12:3", "2024-01-01 1:34", "2024-01-01 12:34:",
        "2024-01-01 12:34:5", "2024-01-01 12:34:56.", "2024-01-01 12:34:56,789", "2024-01-01 12.34",
        "2024-01-01  12:34", "2024-01-01t12:34", "2024-01-01_12:34:56.789", "2024-01-01 12:34:56.78x",
        "2024-01-01 12:34:56.789x", "2024-01-01 12:34:56.x89", "2024-01-01 12:34:56:789", "2024-01-01 1 :34:56.789",
        "2024-01-01 12:34:56.789 foo", "2024-01-01 12-34-56.789", "2024-01-01 12:34:56.789\0",
        // No zone that is one.
        "2024-01-01Z", "2024-01-01+02:00", "2024-01-01 12:34z", "2024-01-01 12:34:56 Z", "2024-01-01 12:34:56 +02:00",
        "2024-01-01 12:34:56+0200", "2024-01-01 12:34:56+02", "2024-01-01 12:34:56+2:00", "2024-01-01 12:34:56+02:60",
        "2024-01-01 12:34:56+18:01", "2024-01-01 12:34:56+24:00", "2024-01-01 12:34:56ZZ", "2024-01-01 12:34:56+02:00Z",
        "2024-01-01 12:34:56--2:00", "2024-01-01 12:34:56+",
        // No day that is one.
        "2024-00-01", "2024-13-01", "2024-01-00", "2024-01-32", "2024-04-31", "2024-06-31", "2024-09-31", "2024-11-31",
        "2024-02-30", "2023-02-29", "1900-02-29", "2100-02-29", "2024-02-30 12:34:56.789",
        // No time that is one.
        "2024-01-01 24:01", "2024-01-01 24:61", "2024-01-01 25:00", "2024-01-01 23:60", "2024-01-01 23:59:60",
        "2024-01-01 24:00:00.001", "2024-01-01 12:60:00.000", "2024-01-01 99:99:99.999",
        // Numbers as text.
        "0", "1704112496", "2460370.5",
    ])
    func readsNoOtherText(text: String) throws {
        try withConnection { db throws in
            #expect(try read(Date.self, from: text.databaseValue, in: db) == nil)
        }
    }

    @Test func readsNumbersAsSecondsSince1970() throws {
        try withConnection { db throws in
            for seconds in [0, 1, -1, 1_704_112_496, 253_402_300_800] {
                let date = Date(timeIntervalSince1970: Double(seconds))
                #expect(try read(Date.self, from: seconds.databaseValue, in: db) == date)
            }
            for seconds in [0.5, -0.25, 1_704_112_496.789] {
                let date = Date(timeIntervalSince1970: seconds)
                #expect(try read(Date.self, from: seconds.databaseValue, in: db) == date)
            }
            #expect(try read(Date.self, from: Double.infinity.databaseValue, in: db) == nil)
            #expect(try read(Date.self, from: (-Double.infinity).databaseValue, in: db) == nil)
        }
    }

    @Test func readsNoDateOfOtherValues() throws {
        try withConnection { db throws in
            #expect(try read(Date.self, from: .null, in: db) == nil)
            #expect(try read(Date.self, from: ([] as [UInt8]).databaseValue, in: db) == nil)
            #expect(try read(Date.self, from: ([0xFF, 0xFE] as [UInt8]).databaseValue, in: db) == nil)
            // Text that isn't UTF-8.
            #expect(throws: RowDecodingError.self) {
                try Date.fetchOne(db, sql: "SELECT CAST(x'323032342D30312D3031FF' AS TEXT)")
            }
        }
    }

    @Test func readsTextOfADatabaseInUTF16() throws {
        try withConnection { db throws in
            try db.execute(
                sql: """
                    PRAGMA encoding = 'UTF-16';
                    CREATE TABLE t (date TEXT, id TEXT, number TEXT, data TEXT);
                    INSERT INTO t VALUES
                        ('2024-01-01 12:34:56.789', 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F', '1.5', 'é')
                    """)
            #expect(try String.fetchOne(db, sql: "PRAGMA encoding") == "UTF-16le")
            let cursor = try Row.fetchCursor(db, sql: "SELECT date, id, number, data, data FROM t")
            let row = try #require(try cursor.next())
            #expect(try row.decode(Date.self, atIndex: 0) == Date(timeIntervalSince1970: 1_704_112_496.789))
            #expect(try row.decode(UUID.self, atIndex: 1).uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            #expect(try row.decode(Decimal.self, atIndex: 2) == 1.5)
            #expect(try row.decode(Data.self, atIndex: 3) == Data([0xC3, 0xA9]))
            #expect(try row.decode([UInt8].self, atIndex: 4) == [0xC3, 0xA9])
            #expect(
                row.copy() == [
                    "date": "2024-01-01 12:34:56.789", "id": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
                    "number": "1.5", "data": "é", "data": "é",
                ])
        }
    }

    // MARK: - Into the database

    @Test(arguments: [
        (0, "1970-01-01 00:00:00.000"),
        (1_704_112_496.789, "2024-01-01 12:34:56.789"),
        (1_709_164_800, "2024-02-29 00:00:00.000"),
        (-0.5, "1969-12-31 23:59:59.500"),
        // The nearest millisecond.
        (1.0004, "1970-01-01 00:00:01.000"),
        (1.0006, "1970-01-01 00:00:01.001"),
        (1.9996, "1970-01-01 00:00:02.000"),
        (-0.0004, "1970-01-01 00:00:00.000"),
        (-0.0006, "1969-12-31 23:59:59.999"),
        // Gregorian for all of time.
        (-12_219_292_800, "1582-10-15 00:00:00.000"),
        (-12_219_292_801, "1582-10-14 23:59:59.000"),
        (-62_135_596_800, "0001-01-01 00:00:00.000"),
        (-62_167_219_200, "0000-01-01 00:00:00.000"),
        (253_402_300_799.999, "9999-12-31 23:59:59.999"),
        (253_402_300_799.9994, "9999-12-31 23:59:59.999"),
    ])
    func storesText(seconds: Double, text: String) throws {
        try withConnection { db throws in
            #expect(try stored(Date(timeIntervalSince1970: seconds), in: db) == text.databaseValue)
            #expect(try stored(Date(timeIntervalSince1970: seconds) as Date?, in: db) == text.databaseValue)
        }
    }

    @Test func halvesAreRoundedAwayFromTheReferenceDate() {
        let half = 0.0005
        #expect(Date(timeIntervalSinceReferenceDate: half).databaseValue == "2001-01-01 00:00:00.001".databaseValue)
        #expect(Date(timeIntervalSinceReferenceDate: -half).databaseValue == "2000-12-31 23:59:59.999".databaseValue)
    }

    @Test(arguments: [
        253_402_300_799.9996, 253_402_300_800, -62_167_219_200.001, -62_167_219_201, 1e300, -1e300, .infinity,
        -.infinity, .nan,
    ])
    func throwsOutsideOfTheYearsThatHaveText(seconds: Double) throws {
        try withConnection { db throws in
            let date = Date(timeIntervalSince1970: seconds)
            let message = try #require(try bindingError(date, in: db))
            #expect(message.hasPrefix("could not bind the date "))
            #expect(message.hasSuffix(" seconds from 1970 to parameter 1: its year isn't from 0 to 9999"))
            #expect(Date.fromDatabaseValue(date.databaseValue) == nil)
        }
    }

    // MARK: - Julian days

    @Test func julianDays() throws {
        try withConnection { db throws in
            for text in [
                "2024-02-29 12:00:00.000", "1970-01-01 00:00:00.000", "2024-01-01 12:34:56.789",
                "0000-01-01 00:00:00.000", "9999-12-31 23:59:59.999",
            ] {
                let day = try #require(try Double.fetchOne(db, sql: "SELECT julianday(?)", arguments: [text]))
                #expect(Date(julianDay: day)?.databaseValue == text.databaseValue)
            }
        }
        #expect(Date(julianDay: 2_440_587.5) == Date(timeIntervalSince1970: 0))
        #expect(Date(julianDay: 0) == Date(timeIntervalSince1970: -210_866_760_000))
        for day in [-1, -0.1, 5_373_484.5, 1e10, 1e300, .nan, .infinity, -.infinity] {
            #expect(Date(julianDay: day) == nil)
        }
    }
}
