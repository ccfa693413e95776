public import Quarry
import QuarryCore

/// Makes backups of a database again and again, until it is cancelled.
///
/// ```swift
/// var schedule = BackupSchedule(every: .seconds(6 * 3600))
/// schedule.retention = BackupRetention(count: 28)
/// let backups = try ScheduledBackups(
///     of: dbPool, in: BackupFolder(path: "/var/backups", name: "players"), schedule: schedule
/// ) { event in
///     if case .failed(let error, let pause) = event { logger.error("backup: \(error), again in \(pause)") }
/// }
/// let task = Task { try await backups.run() }
/// ```
///
/// As a job of QuarryInstrumentation's `DatabaseService`, `.init("backups", backups)`, it needs no closure: the service
/// logs the failures.
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
    private var onEvent: @Sendable (Event) -> Void

    /// Looks at the folder, and makes it if `BackupFolder.createsIntermediateDirectories` is true.
    ///
    /// - parameter database: the database. It is kept.
    /// - parameter options: how each backup is made.
    /// - parameter onEvent: receives the events, on the thread of the task that runs the backups.
    /// - throws: `SQLITE_CANTOPEN` if no backup can be made in the folder; `SQLITE_MISUSE` for a useless schedule,
    ///   useless options, or a name that is none of a file.
    public init(
        of database: some DatabaseReader, in folder: BackupFolder, schedule: BackupSchedule,
        options: BackupOptions = BackupOptions(), onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws {
        try schedule.check()
        try options.check("backups in \(folder.path)")
        try folder.prepare()
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
    /// - throws: `CancellationError`; `SQLITE_MISUSE` once the database is closed.
    public func run() async throws { try await run(clock: ContinuousClock()) { Double.random(in: 0..<1) } }

    /// - parameter random: returns a number from 0 to 1.
    func run<C: Clock>(clock: C, random: @Sendable () -> Double) async throws where C.Duration == Duration {
        let start = clock.now
        let wall = folder.now()
        var machine = BackupScheduleStateMachine(
            schedule, age: await ageOfNewest(at: wall), now: start.duration(to: clock.now), wall: wall, random: random()
        )
        while true {
            try Task.checkCancellation()
            let now = start.duration(to: clock.now)
            machine.clockShows(folder.now(), now: now)
            guard machine.timeHasCome(now: now) else {
                try await clock.sleep(for: machine.nap(now: now) ?? .zero, tolerance: nil)
                continue
            }
            let begun = folder.now()
            do {
                try await makeBackup()
                machine.didSucceed(now: start.duration(to: clock.now), wall: begun, random: random())
            } catch {
                try Task.checkCancellation()
                if let error = error as? DatabaseError, error.resultCode == .SQLITE_MISUSE { throw error }
                let now = start.duration(to: clock.now)
                machine.didFail(now: now, wall: folder.now())
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
    private func ageOfNewest(at wall: Int) async -> Duration? {
        let folder = folder
        guard let newest = try? await folder.offloaded({ try folder.backups().first }) else { return nil }
        return .milliseconds(wall - newest.milliseconds)
    }
}

extension ScheduledBackups: ContinuousWork {
    /// Makes backups until the task is cancelled.
    ///
    /// ```swift
    /// try await backups.run { error, pause in logger.error("\(error), again in \(pause)") }
    /// ```
    ///
    /// - parameter onFailure: receives the failures, after the `onEvent` of `init`.
    /// - throws: as `run()`.
    public func run(onFailure: @escaping @Sendable (_ error: any Error, _ pause: Duration) -> Void) async throws {
        var backups = self
        backups.onEvent = { [onEvent] event in
            onEvent(event)
            if case .failed(let error, let pause) = event { onFailure(error, pause) }
        }
        try await backups.run()
    }
}
