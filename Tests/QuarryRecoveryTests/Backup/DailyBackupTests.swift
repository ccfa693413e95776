import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryRecovery

/// Backups at a time of day: daylight saving, clocks that are set, restarts.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct DailyBackupTests {
    /// Milliseconds since 1970 of a time in UTC: `2026-03-29 01:30`.
    private static func instant(_ text: String) throws -> Int {
        let date = try #require(try? Date("\(text.replacing(" ", with: "T")):00Z", strategy: .iso8601))
        return Int(date.timeIntervalSince1970) * 1000
    }

    private static func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

    private static func text(_ instant: Int) -> String {
        String(Date(timeIntervalSince1970: Double(instant) / 1000).ISO8601Format().dropLast(4)).replacing(
            "T", with: " ")
    }

    // MARK: - Times

    /// The time of each day, in UTC.
    @Test(
        arguments: [
            ("GMT", 3, 30, "2026-02-27 12:00", ["2026-02-28 03:30", "2026-03-01 03:30", "2026-03-02 03:30"]),
            ("GMT", 0, 0, "2026-12-31 00:00", ["2027-01-01 00:00"]),
            // On 29 March, 02:30 doesn't exist: it is 03:30 in summer time. On 25 October the first of two counts.
            (
                "Europe/Berlin", 2, 30, "2026-03-27 12:00",
                ["2026-03-28 01:30", "2026-03-29 01:30", "2026-03-30 00:30", "2026-03-31 00:30"]
            ),
            (
                "Europe/Berlin", 2, 30, "2026-10-23 12:00",
                ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]
            ),
            ("America/New_York", 2, 0, "2026-03-07 08:00", ["2026-03-08 07:00", "2026-03-09 06:00"]),
            // Half an hour is skipped.
            ("Australia/Lord_Howe", 2, 15, "2026-10-02 20:00", ["2026-10-03 15:45", "2026-10-04 15:15"]),
            // The whole of 30 December 2011 was skipped.
            (
                "Pacific/Apia", 12, 0, "2011-12-29 00:00",
                ["2011-12-29 22:00", "2011-12-30 22:00", "2011-12-31 22:00"]
            ),
            ("Asia/Kathmandu", 3, 0, "2026-01-01 00:00", ["2026-01-01 21:15"]),
        ])
    func timesOfDays(zone: String, hour: Int, minute: Int, start: String, expected: [String]) throws {
        let time = TimeOfDay(hour: hour, minute: minute, timeZone: try Self.zone(zone))
        var instant = try Self.instant(start)
        var times: [String] = []
        for _ in expected {
            let next = time.next(after: instant)
            #expect(time.last(upTo: next) == next && time.last(upTo: next - 1) < next)
            #expect(time.next(after: next - 1) == next)
            instant = next
            times.append(Self.text(next))
        }
        #expect(times == expected)
    }

    /// Around any instant, there is a time on each side, and none in between.
    @Test func timesFollowOneAnother() throws {
        var random = SeededGenerator()
        let zones = try [
            "GMT", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo",
            "Africa/Cairo", "Asia/Tehran", "America/St_Johns",
        ].map(Self.zone)
        for _ in 0..<2_000 {
            let time = TimeOfDay(
                hour: .random(in: 0..<24, using: &random), minute: .random(in: 0..<60, using: &random),
                timeZone: zones.randomElement(using: &random)!)
            let instant = Int.random(in: 0..<2_500_000_000_000, using: &random)
            let (last, next) = (time.last(upTo: instant), time.next(after: instant))
            #expect(last <= instant && instant < next, "\(time) at \(instant), seed \(random.seed)")
            #expect(time.next(after: last) == next && time.last(upTo: next - 1) == last, "\(time) at \(instant)")
            #expect(next - last <= 49 * 3_600_000, "\(time) at \(instant)")
        }
    }

    // MARK: - Decisions

    private static let hour = Duration.seconds(3600)

    /// At 03:00 in UTC.
    private func schedule(jitter: Duration = .zero) throws -> BackupSchedule {
        var schedule = BackupSchedule.daily(at: 3, in: try Self.zone("GMT"))
        schedule.jitter = jitter
        return schedule
    }

    private func expectDue(
        _ machine: inout BackupScheduleStateMachine, _ now: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isDue = machine.timeHasCome(now: now)
        #expect(isDue, sourceLocation: sourceLocation)
    }

    /// The newest backup and the present time of a start, and the time until the first backup.
    @Test(
        arguments: [
            (nil, "2026-11-30 14:00", 0),
            ("2026-11-29 14:00", "2026-11-30 02:00", 1),
            // 03:00 was missed.
            ("2026-11-29 14:00", "2026-11-30 03:00", 0),
            ("2026-11-29 14:00", "2026-11-30 14:00", 0),
            ("2026-11-20 03:00", "2026-11-30 02:00", 0),
            ("2026-11-30 03:00", "2026-11-30 14:00", 13),
            // The clock was set back after the backup, by an hour or by days.
            ("2026-11-30 03:00", "2026-11-30 02:00", 1),
            ("2026-12-30 03:00", "2026-11-30 04:00", 23),
        ] as [(String?, String, Int)])
    func firstBackup(newest: String?, start: String, hours: Int) throws {
        let wall = try Self.instant(start)
        let age = try newest.map { Duration.milliseconds(wall - (try Self.instant($0))) }
        let machine = BackupScheduleStateMachine(
            try schedule(), age: age, now: .seconds(7), wall: wall, random: 0.5)
        #expect(machine.pause(now: .seconds(7)) == Self.hour * hours)
    }

    @Test func clockThatIsSet() throws {
        let wall = try Self.instant("2026-11-30 04:00")
        var machine = BackupScheduleStateMachine(try schedule(), age: Self.hour, now: .zero, wall: wall, random: 0)
        #expect(machine.pause(now: .zero) == Self.hour * 23 && machine.nap(now: .zero) == .seconds(60))
        // Forward, but not past the time; then back, and past it.
        machine.clockShows(try Self.instant("2026-12-01 02:59"), now: .seconds(60))
        #expect(machine.pause(now: .seconds(60)) == .seconds(60))
        machine.clockShows(try Self.instant("2026-11-30 05:00"), now: .seconds(61))
        #expect(machine.pause(now: .seconds(61)) == Self.hour * 22)
        machine.clockShows(try Self.instant("2026-12-01 09:00"), now: .seconds(120))
        #expect(machine.pause(now: .seconds(120)) == .zero)
        expectDue(&machine, .seconds(120))
        machine.didSucceed(now: .seconds(130), wall: try Self.instant("2026-12-01 09:00"), random: 0)
        machine.clockShows(try Self.instant("2026-12-01 09:01"), now: .seconds(180))
        #expect(machine.pause(now: .seconds(180)) == Self.hour * 18 - .seconds(60))
    }

    /// The delay is that of one backup, whenever the clock is looked at.
    @Test func jitter() throws {
        let wall = try Self.instant("2026-11-30 02:00")
        var machine = BackupScheduleStateMachine(
            try schedule(jitter: .seconds(600)), age: Self.hour * 2, now: .zero, wall: wall, random: 0.5)
        #expect(machine.pause(now: .zero) == .seconds(3900))
        machine.clockShows(wall + 3_700_000, now: .seconds(3700))
        #expect(machine.pause(now: .seconds(3700)) == .seconds(200))
        machine.clockShows(wall + 3_900_000, now: .seconds(3900))
        expectDue(&machine, .seconds(3900))
        machine.didSucceed(now: .seconds(3901), wall: wall + 3_900_000, random: 0)
        machine.clockShows(wall + 3_901_000, now: .seconds(3901))
        #expect(machine.pause(now: .seconds(3901)) == .seconds(3600 + 86_400 - 3901))
    }

    /// Tries after a failure come less and less often, but also at the time of day.
    @Test func failures() throws {
        let start = try Self.instant("2026-11-30 03:00")
        var machine = BackupScheduleStateMachine(try schedule(), age: nil, now: .zero, wall: start, random: 0)
        var now = Duration.zero
        var tries: [Int] = []
        for _ in 0..<13 {
            let wall = start + Int(now.components.seconds) * 1000
            machine.clockShows(wall, now: now)
            expectDue(&machine, now)
            machine.didFail(now: now, wall: wall)
            now += try #require(machine.pause(now: now))
            tries.append(Int(now.components.seconds) / 60)
        }
        // Minutes after 03:00. A day has 1,440.
        #expect(tries == [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1440, 2880, 4320])
        expectDue(&machine, now)
        machine.didSucceed(now: now, wall: start + Int(now.components.seconds) * 1000, random: 0)
        #expect(machine.failureCount == 0)
    }

    // MARK: - Running

    /// The program ends after two backups, and starts again when a third was missed.
    @Test func runsAgainAfterARestart() async throws {
        let files = try TemporaryFolder()
        let pool = try DatabasePool(path: files.file("db"))
        try pool.makePages(3)
        let start = try Self.instant("2026-11-30 22:00")
        let time = Recorded(0)
        var folder = BackupFolder(path: files.file("backups"), name: "db")
        folder.createsIntermediateDirectories = true
        folder.now = { start + time.value }
        func run(hours: Int) async throws {
            let end = time.value + hours * 3_600_000
            let clock = StepClock { pause in
                #expect(pause <= .seconds(60))
                time.update { $0 += max(1, Int(pause / .milliseconds(1))) }
                if time.value >= end { withUnsafeCurrentTask { $0?.cancel() } }
            }
            let backups = try ScheduledBackups(of: pool, in: folder, schedule: try schedule())
            let task = Task { try await backups.run(clock: clock) { 0 } }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try await run(hours: 30)
        time.update { $0 += 36 * 3_600_000 }
        try await run(hours: 16)
        let times = try folder.backups().reversed().map { Self.text($0.milliseconds) }
        // At the first start, on time, at once after the missed 03:00, on time.
        #expect(
            times == [
                "2026-11-30 22:00", "2026-12-01 03:00", "2026-12-02 03:00", "2026-12-03 16:00", "2026-12-04 03:00",
            ])
    }
}
