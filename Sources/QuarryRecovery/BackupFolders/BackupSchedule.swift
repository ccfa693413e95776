/// When backups are made.
///
/// ```swift
/// var schedule = BackupSchedule(every: .seconds(6 * 3600))
/// schedule.retention = BackupRetention(count: 28)
/// ```
public struct BackupSchedule: Hashable, Sendable {
    /// The time from one backup to the next.
    public var interval: Duration

    /// The time by which a backup is delayed at most, at random: so the processes of many machines don't make theirs at
    /// the same moment.
    public var jitter: Duration = .zero

    /// The time from a failure to the next try. It doubles with each failure in a row, up to `interval`.
    public var retryInterval: Duration = .seconds(60)

    /// The backups that are kept; nil to keep all.
    public var retention: BackupRetention?

    /// A schedule without jitter that keeps all backups.
    ///
    /// - parameter interval: the time from one backup to the next.
    public init(every interval: Duration) { self.interval = interval }
}

/// Says when the next backup is due. A value, without a clock: times are durations since some moment.
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

    /// - parameter age: the age of the newest backup; nil if there is none. It was made before the program started.
    /// - parameter random: from 0 to 1.
    init(_ schedule: BackupSchedule, age: Duration?, now: Duration, random: Double) {
        self.schedule = schedule
        // A clock that was set back must not delay the next backup.
        let rest = age.map { max(.zero, min(schedule.interval, schedule.interval - $0)) } ?? .zero
        state = .waiting(until: now + rest + schedule.jitter * random)
    }

    /// The time until the next backup; nil while one is made.
    func pause(now: Duration) -> Duration? {
        guard case .waiting(let time) = state else { return nil }
        return max(.zero, time - now)
    }

    /// Begins a backup, if it is due.
    ///
    /// - returns: whether it is.
    mutating func timeHasCome(now: Duration) -> Bool {
        guard case .waiting(let time) = state, time <= now else { return false }
        state = .running(since: now)
        return true
    }

    /// The backup is complete. The next is due an interval after its beginning.
    mutating func didSucceed(now: Duration, random: Double) {
        guard case .running(let start) = state else { return }
        failureCount = 0
        state = .waiting(until: max(now, start + schedule.interval) + schedule.jitter * random)
    }

    /// The backup has failed.
    mutating func didFail(now: Duration) {
        guard case .running = state else { return }
        // 2 to the power of 20 is enough for any interval, and doesn't overflow.
        let factor = 1 << min(failureCount, 20)
        failureCount += 1
        state = .waiting(until: now + min(schedule.interval, schedule.retryInterval * factor))
    }
}
