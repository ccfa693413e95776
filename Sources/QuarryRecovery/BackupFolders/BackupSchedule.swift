import QuarryCore

/// When backups are made.
///
/// ```swift
/// var schedule = BackupSchedule(every: .seconds(6 * 3600))
/// schedule.retention = BackupRetention(count: 28)
/// ```
///
/// `BackupSchedule.daily(at:minute:in:)` is a schedule at a time of day.
public struct BackupSchedule: Hashable, Sendable {
    /// The time from one backup to the next. For a daily schedule, a day.
    public internal(set) var interval: Duration

    /// The time of a daily schedule; nil for one of intervals.
    var time: TimeOfDay?

    /// The time by which a backup is delayed at most, at random: so the processes of many machines don't make theirs at
    /// the same moment. Less than a day for a daily schedule.
    public var jitter: Duration = .zero

    /// The time from a failure to the next try. It doubles with each failure in a row, up to `interval`. A daily
    /// schedule also tries at its next time.
    public var retryInterval: Duration = .seconds(60)

    /// The backups that are kept; nil to keep all.
    public var retention: BackupRetention?

    /// A schedule without jitter that keeps all backups.
    ///
    /// - parameter interval: the time from one backup to the next.
    public init(every interval: Duration) { self.interval = interval }

    /// - throws: `SQLITE_MISUSE` for times that make no schedule.
    func check() throws {
        guard interval > .zero, jitter >= .zero, retryInterval > .zero else {
            throw DatabaseError.misuse(
                "BackupSchedule: interval and retryInterval must be above zero, jitter not below")
        }
        guard let time else { return }
        guard 0..<24 ~= time.hour, 0..<60 ~= time.minute else {
            throw DatabaseError.misuse(
                "BackupSchedule: \(time.hour):\(time.minute) is no time of day: hours are 0 to 23, minutes 0 to 59")
        }
        guard jitter < interval else {
            throw DatabaseError.misuse("BackupSchedule: the jitter of a daily schedule must be less than a day")
        }
    }
}

/// Says when the next backup is due. A value, without a clock: times are durations since some moment, and milliseconds
/// since 1970 of the clock on the wall, which may jump.
///
/// ```
/// waiting(until) --timeHasCome--> running --didSucceed--> waiting
///                                 running --didFail-----> waiting, for a shorter time
/// ```
struct BackupScheduleStateMachine: Equatable {
    enum State: Equatable {
        case waiting(until: Duration)
        case running(since: Duration)
    }

    private let schedule: BackupSchedule
    private(set) var state: State

    /// The number of failures in a row.
    private(set) var failureCount = 0

    /// The time of the newest backup, by the clock on the wall; nil if there is none.
    private var newest: Int?

    /// The delay of the next backup of a daily schedule.
    private var delay: Duration

    /// A failure that no success has followed.
    private struct Failure: Equatable {
        /// The time of the failure, by the clock on the wall.
        let wall: Int
        let retry: Duration
    }

    private var failure: Failure?

    /// - parameter age: the age of the newest backup; nil if there is none. It was made before the program started.
    /// - parameter wall: the time of the clock on the wall. Only daily schedules need it.
    /// - parameter random: from 0 to 1.
    init(_ schedule: BackupSchedule, age: Duration?, now: Duration, wall: Int = 0, random: Double) {
        self.schedule = schedule
        delay = schedule.jitter * random
        newest = age.map { wall - $0.milliseconds }
        // A clock that was set back must not delay the next backup.
        let rest = age.map { max(.zero, min(schedule.interval, schedule.interval - $0)) } ?? .zero
        state = .waiting(until: now + rest + delay)
        clockShows(wall, now: now)
    }

    /// The clock on the wall shows a time: a daily schedule waits for the rest of it, whatever the clock showed before.
    mutating func clockShows(_ wall: Int, now: Duration) {
        guard let time = schedule.time, case .waiting = state else { return }
        // A backup that seems to be made in the future is of a clock that was set back.
        let latest = failure.map { $0.wall } ?? newest.map { min($0, wall) }
        let last = time.last(upTo: wall)
        let isMissed = latest.map { $0 < last } ?? true
        let next = now + .milliseconds((isMissed ? last : time.next(after: wall)) - wall) + delay
        let due = failure.map { min($0.retry, next) } ?? next
        state = .waiting(until: due)
    }

    /// The time until the next backup; nil while one is made.
    func pause(now: Duration) -> Duration? {
        guard case .waiting(let time) = state else { return nil }
        return max(.zero, time - now)
    }

    /// The time until the next look at the clock on the wall, or the next backup; nil while one is made.
    ///
    /// If the clock jumps past the time of a daily backup, the jump is noticed within a minute.
    func nap(now: Duration) -> Duration? {
        pause(now: now).map { schedule.time == nil ? $0 : min($0, .seconds(60)) }
    }

    /// Begins a backup, if it is due.
    ///
    /// - returns: whether it is.
    mutating func timeHasCome(now: Duration) -> Bool {
        guard case .waiting(let time) = state, time <= now else { return false }
        state = .running(since: now)
        return true
    }

    /// The backup is complete. The next is due an interval after its beginning, or at the next time of day.
    ///
    /// - parameter wall: the time of the backup, by the clock on the wall.
    mutating func didSucceed(now: Duration, wall: Int = 0, random: Double) {
        guard case .running(let start) = state else { return }
        (failureCount, failure, newest) = (0, nil, wall)
        delay = schedule.jitter * random
        state = .waiting(until: max(now, start + schedule.interval) + delay)
        clockShows(wall, now: now)
    }

    /// The backup has failed.
    ///
    /// - parameter wall: the time of the clock on the wall.
    mutating func didFail(now: Duration, wall: Int = 0) {
        guard case .running = state else { return }
        // 2 to the power of 20 is enough for any interval, and doesn't overflow.
        let factor = 1 << min(failureCount, 20)
        failureCount += 1
        let end = now + min(schedule.interval, schedule.retryInterval * factor)
        (state, failure) = (.waiting(until: end), Failure(wall: wall, retry: end))
        clockShows(wall, now: now)
    }
}

extension Duration {
    /// Whole milliseconds; a time that doesn't fit is cut to the longest that does.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        let limit: Int64 = 1 << 50
        return Int(min(limit, max(-limit, seconds))) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
