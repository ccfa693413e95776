import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Dates in all their formats, components of dates, and SQLite's functions for dates.
enum DatesProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "event") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("startsAt", .datetime).notNull()
                t.column("day", .date)
                t.column("createdAt", .datetime).notNull().defaults(sql: "CURRENT_TIMESTAMP")
            }
            let base = Date(timeIntervalSince1970: 1_600_000_000)
            for (name, offset) in [("now", 0), ("later", 3600.123), ("tomorrow", 86400)] {
                try db.execute(
                    sql: "INSERT INTO event (name, startsAt, day) VALUES (?, ?, ?)",
                    arguments: [
                        name, base.addingTimeInterval(offset),
                        DatabaseDateComponents(
                            DateComponents(year: 2020, month: 9, day: 13 + Int(offset / 86400)), format: .YMD),
                    ])
            }
            print(try String.fetchAll(db, sql: "SELECT startsAt || '|' || day FROM event"))
            print(try Date.fetchAll(db, sql: "SELECT startsAt FROM event").map(\.timeIntervalSince1970))
            print(try Event.filter(Column("startsAt") > base).order(Column("startsAt").desc).fetchAll(db).map(\.name))
            print(try Event.filter((base...base.addingTimeInterval(4000)).contains(Column("startsAt"))).fetchCount(db))
            print(try Event.select(max(Column("startsAt")), as: Date.self).fetchOne(db)?.timeIntervalSince1970 ?? -1)
            print(try Event.fetchOne(db, key: 1)?.day.map { "\($0.format) \($0.dateComponents.day ?? 0)" } ?? "none")
            let created = try Date.fetchOne(db, sql: "SELECT createdAt FROM event")!
            print(abs(created.timeIntervalSinceNow) < 3600)
        }

        try dbQueue.read { db in
            for text in [
                "2015-07-22", "2015-07-22 01:02", "2015-07-22T01:02", "2015-07-22 01:02:03", "2015-07-22T01:02:03",
                "2015-07-22 01:02:03.004",
                "2015-07-22T01:02:03.004", "2015-07-22T01:02:03Z", "2015-07-22 01:02:03+02:00",
                "2015-07-22 01:02:03.5-01:30", "2015-07-22 01:02:03.123456",
                "2015-07-22 01:02Z",
            ] {
                let date = try Date.fetchOne(db, sql: "SELECT ?", arguments: [text])!
                print(text, Int((date.timeIntervalSince1970 * 1000).rounded()))
            }
            for text in ["yesterday", "01:02", "2015-07", ""] {
                print(text, Date.fromDatabaseValue(text.databaseValue) == nil)
            }
            print(
                try Date.fetchOne(db, sql: "SELECT 1234.5")?.timeIntervalSince1970 ?? -1,
                try Date.fetchOne(db, sql: "SELECT -1")?.timeIntervalSince1970 ?? 0)
            print(Date(julianDay: 2_440_587.5)?.timeIntervalSince1970 ?? -1)
        }

        try dbQueue.read { db in
            var components = DateComponents()
            (components.year, components.month, components.day) = (1973, 9, 18)
            (components.hour, components.minute, components.second, components.nanosecond) = (10, 5, 7, 89_000_000)
            let formats: [DatabaseDateComponents.Format] = [.YMD, .YMD_HM, .YMD_HMS, .YMD_HMSS, .HM, .HMS, .HMSS]
            for format in formats {
                let text = DatabaseDateComponents(components, format: format).databaseValue
                let read = DatabaseDateComponents.fromDatabaseValue(text)
                print(
                    text, read?.format ?? format, read?.dateComponents.year ?? -1, read?.dateComponents.minute ?? -1,
                    read?.dateComponents.nanosecond ?? -1)
            }
            let time = try DatabaseDateComponents.fetchOne(db, sql: "SELECT '12:34:56'")!
            print(
                time.format, time.dateComponents.hour ?? -1, time.dateComponents.second ?? -1,
                time.dateComponents.day ?? -1)
            print(
                try DatabaseDateComponents.fetchOne(db, sql: "SELECT '2020-02-29T01:02:03Z'")?.dateComponents.timeZone?
                    .secondsFromGMT() ?? -1)
            print(DatabaseDateComponents.fromDatabaseValue("noon".databaseValue) == nil)
            let encoded = try JSONEncoder().encode([DatabaseDateComponents(components, format: .YMD)])
            print(String(decoding: encoded, as: UTF8.self))
        }

        try dbQueue.read { db in
            let day = Column("startsAt")
            print(try Event.select(dateTime(day), as: String.self).fetchAll(db))
            print(try Event.select(dateTime(day, .day(1), .startOfMonth), as: String.self).fetchOne(db) ?? "none")
            print(
                try Event.select(dateTime(day, .hour(-2), .minute(30), .second(1.5)), as: String.self).fetchOne(db)
                    ?? "none")
            print(
                try Event.select(dateTime(day, .month(1), .year(-1), .startOfDay), as: String.self).fetchOne(db)
                    ?? "none")
            print(try Event.select(dateTime(day, .startOfYear, .weekday(0)), as: String.self).fetchOne(db) ?? "none")
            print(try Event.select(julianDay(day), as: Double.self).fetchOne(db).map { ($0 * 1000).rounded() } ?? -1)
            print(try Double.fetchOne(db, Event.select(julianDay(day, .unixEpoch))) ?? -1)
            print(try Event.filter(dateTime(day, .startOfDay) == "2020-09-13 00:00:00").fetchCount(db))
            print(try Event.select(cast(julianDay(day), as: .integer), as: Int.self).fetchSet(db).sorted())
            print(
                try Row.fetchAll(
                    db,
                    Event.select(dateTime(day, .startOfDay).forKey("d"), count(Column("id")).forKey("n")).group(
                        dateTime(day, .startOfDay)
                    ).order(Column("d").detached)))
        }
    }
}

private struct Event: Decodable, FetchableRecord, TableRecord {
    var id: Int64
    var name: String
    var startsAt: Date
    var day: DatabaseDateComponents?
}
