public import Quarry
import QuarryCore

/// Makes backups of a database again and again, until it is cancelled.
///
/// ```swift
/// var schedule = BackupSchedule(every: .seconds(6 * 3600))
/// schedule.retention = BackupRetention(count: 28)
/// let backups = ScheduledBackups(
///     of: dbPool, in: BackupFolder(path: "/var/backups", name: "players"), schedule: schedule
/// ) { event in
///     if case .failed(let error, let pause) = event { logger.error("backup: \(error), again in \(pause)") }
/// }
/// let task = Task { try await backups.run() }
/// ```
///
/// The age of the newest backup in the folder decides when the first one is due, so that a program that is often
/// restarted makes neither too many nor none.
public struct ScheduledBackups: Sendable {
    /// An event of `run`.
    public enum Event: Sendable {
        /// A backup is complete.
        case made(StoredBackup)
        /// Backups were removed, as `BackupSchedule.retention` asks for.
        case pruned([StoredBackup])
        /// A backup or the removal of old ones has failed. The next try comes after a time.
        case failed(any Error, nextAfter: Duration)
    }

    private let database: any DatabaseReader
    private let folder: BackupFolder
    private let schedule: BackupSchedule
    private let options: BackupOptions
    private let onEvent: @Sendable (Event) -> Void

    /// - parameter database: the database. It is kept.
    /// - parameter options: how each backup is made.
    /// - parameter onEvent: receives the events, on the thread of the task that runs the backups.
    public init(
        of database: some DatabaseReader, in folder: BackupFolder, schedule: BackupSchedule,
        options: BackupOptions = BackupOptions(), onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.database = database
        self.folder = folder
        self.schedule = schedule
        self.options = options
        self.onEvent = onEvent
    }

    /// Makes backups until the task is cancelled.
    ///
    /// ```swift
    /// try await backups.run()
    /// ```
    ///
    /// A failure is told, and tried again after `BackupSchedule.retryInterval`.
    ///
    /// - throws: `CancellationError`; `SQLITE_MISUSE` once the database is closed, or for useless options.
    public func run() async throws { try await run(clock: ContinuousClock()) { Double.random(in: 0..<1) } }

    /// - parameter random: returns a number from 0 to 1.
    func run<C: Clock>(clock: C, random: @Sendable () -> Double) async throws where C.Duration == Duration {
        guard schedule.interval > .zero, schedule.jitter >= .zero, schedule.retryInterval > .zero else {
            throw DatabaseError.misuse(
                "BackupSchedule: interval and retryInterval must be above zero, jitter not below")
        }
        let start = clock.now
        var machine = BackupScheduleStateMachine(
            schedule, age: await ageOfNewest(), now: .zero, random: random())
        while true {
            try Task.checkCancellation()
            let now = start.duration(to: clock.now)
            guard machine.timeHasCome(now: now) else {
                try await clock.sleep(for: machine.pause(now: now) ?? .zero, tolerance: nil)
                continue
            }
            do {
                try await makeBackup()
                machine.didSucceed(now: start.duration(to: clock.now), random: random())
            } catch {
                try Task.checkCancellation()
                if let error = error as? DatabaseError, error.resultCode == .SQLITE_MISUSE { throw error }
                let now = start.duration(to: clock.now)
                machine.didFail(now: now)
                onEvent(.failed(error, nextAfter: machine.pause(now: now) ?? .zero))
            }
        }
    }

    private func makeBackup() async throws {
        let backup: StoredBackup = try await folder.makeBackup(of: database, options: options)
        onEvent(.made(backup))
        guard let retention = schedule.retention else { return }
        let pruned = try await folder.prune(keeping: retention, configuration: database.configuration)
        if !pruned.isEmpty { onEvent(.pruned(pruned)) }
    }

    /// The age of the newest backup; nil if there is none, or if the folder can't be read: then a backup fails, too.
    private func ageOfNewest() async -> Duration? {
        let folder = folder
        guard let newest = try? await folder.offloaded({ try folder.backups().first }) else { return nil }
        return .milliseconds(folder.now() - newest.milliseconds)
    }
}
