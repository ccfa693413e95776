public import Foundation

extension BackupSchedule {
    /// A schedule of one backup a day, at a time of day.
    ///
    /// ```swift
    /// var schedule = BackupSchedule.daily(at: 3, minute: 30, in: TimeZone(identifier: "Europe/Berlin")!)
    /// schedule.retention = BackupRetention(count: 14)
    /// ```
    ///
    /// A program that wasn't running at the time makes the backup when it starts, as it does if there is none yet. On a
    /// day on which the clocks skip from 02:00 to 03:00, a backup at 02:30 is made at 03:30; on a day that has 02:30
    /// twice, at the first. If the clock is set, the schedule follows it within a minute.
    ///
    /// - parameter hour: the hour, from 0 to 23.
    /// - parameter minute: the minute, from 0 to 59.
    /// - parameter timeZone: the time zone; by default the system's, which is often UTC on a server.
    public static func daily(at hour: Int, minute: Int = 0, in timeZone: TimeZone = .current) -> BackupSchedule {
        var schedule = BackupSchedule(every: .seconds(86_400))
        schedule.time = TimeOfDay(hour: hour, minute: minute, timeZone: timeZone)
        return schedule
    }
}

/// A time of day in a time zone. Instants are milliseconds since 1970-01-01 00:00:00 UTC.
struct TimeOfDay: Hashable, Sendable {
    let hour: Int
    let minute: Int
    let timeZone: TimeZone

    /// The first time after an instant.
    func next(after instant: Int) -> Int {
        let day = day(of: instant)
        // Tomorrow's, if today's is past. The day after it counts on a day that the time zone skips.
        return (day - 1...day + 3).lazy.map(self.instant(ofDay:)).first { $0 > instant } ?? instant + 86_400_000
    }

    /// The last time up to an instant, which may be that time.
    func last(upTo instant: Int) -> Int {
        let day = day(of: instant)
        return (day - 3...day + 1).reversed().lazy.map(self.instant(ofDay:)).first { $0 <= instant } ?? instant
            - 86_400_000
    }

    /// The local day of an instant, as the number of days since 1970-01-01.
    private func day(of instant: Int) -> Int {
        let seconds = Int((Double(instant) / 1000).rounded(.down))
        return Int((Double(seconds + offset(at: seconds)) / 86_400).rounded(.down))
    }

    /// The instant of the time on a local day.
    private func instant(ofDay day: Int) -> Int {
        let local = day * 86_400 + hour * 3600 + minute * 60
        // The offsets before and after a change of the clocks that is near.
        let offsets = [offset(at: local - 86_400), offset(at: local + 86_400)]
        let candidates = offsets.map { local - $0 }.filter { offset(at: $0) == local - $0 }
        // A time that the clocks skip is counted from before the change.
        return (candidates.min() ?? local - offsets[0]) * 1000
    }

    /// The seconds by which local time is ahead of UTC.
    private func offset(at seconds: Int) -> Int {
        timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }
}
