/// Decides when a write-ahead log needs a checkpoint. A value: it has no clock, and runs nothing.
///
/// ```
///              commit               tick, or a commit past the limit
///  clean ───────────────▶ dirty ──────────────────────────────────────▶ checkpointing
///    ▲                      ▲                                                │
///    └──── all copied ──────┴──────────── not all copied: tried again later ─┘
/// ```
struct LogStateMachine {
    enum Phase: Equatable {
        /// Everything is in the database file, as far as is known. No clock ticks.
        case clean
        /// The log has commits that aren't in the database file.
        case dirty
        /// A checkpoint or a maintenance is waiting for the writer's connection, or running.
        case working
        /// The database is closed.
        case ended
    }

    /// Work for the writer's connection.
    enum Work: Equatable {
        case checkpoint(WALCheckpoint.Reason)
        case maintenance
    }

    /// An action for the caller, once the lock is released.
    enum Action: Equatable {
        case startTicking
        case work(Work)
    }

    /// The outcome of a checkpoint.
    enum Outcome: Equatable {
        /// All pages are in the database file; the log is begun anew by the next commit, if `isEmptied`.
        case complete(isEmptied: Bool)
        /// Readers, or another process, have kept it from copying all pages, or from emptying the log.
        case heldBack
        /// It has failed.
        case failed
    }

    private let settings: Configuration.WriteAheadLog
    private let maintenanceInterval: Double?

    private(set) var phase = Phase.clean

    /// The number of pages that the limit allows.
    private(set) var pageLimit: Int

    /// The number of pages of which a commit has to tell; 0 for the next commit.
    private(set) var tellingPages = 0

    /// When the first commit came that isn't in the database file.
    private var dirtySince: UInt64 = 0

    /// The number of commits at the last tick, and when it was first seen.
    private var seenCommits = 0
    private var seenSince: UInt64 = 0

    /// The number of commits when the running checkpoint began.
    private var workCommits = 0

    /// How long to wait before trying again, in nanoseconds, and until when. Doubled by each try that is held back.
    private var pause: UInt64 = 0
    private var pausedUntil: UInt64 = 0

    private var lastMaintenance: UInt64

    static let second: UInt64 = 1_000_000_000

    /// The longest pause between two tries, in nanoseconds.
    static let longestPause: UInt64 = 60 * second

    init(
        _ settings: Configuration.WriteAheadLog, maintenanceInterval: Double?, pageSize: Int, now: UInt64
    ) {
        self.settings = settings
        self.maintenanceInterval = maintenanceInterval
        pageLimit = Self.pages(settings.sizeLimit, pageSize)
        lastMaintenance = now
    }

    private static func pages(_ bytes: Int, _ pageSize: Int) -> Int { max(1, bytes / max(1, pageSize)) }

    // MARK: - Commits

    /// A commit has made the log as long as `tellingPages`, or longer.
    ///
    /// - parameter commits: the number of commits, this one included.
    mutating func commitDidHappen(pages: Int, commits: Int, now: UInt64) -> [Action] {
        switch phase {
        case .ended: return []
        case .working:
            // Its end looks at the log again.
            tellingPages = .max
            return []
        case .clean:
            phase = .dirty
            dirtySince = now
            (seenCommits, seenSince) = (commits, now)
            (pause, pausedUntil) = (0, 0)
            tellingPages = pageLimit
            guard pages >= pageLimit else { return [.startTicking] }
            return [.startTicking] + checkpointForSize(pages: pages, commits: commits, now: now)
        case .dirty:
            return checkpointForSize(pages: pages, commits: commits, now: now)
        }
    }

    private mutating func checkpointForSize(pages: Int, commits: Int, now: UInt64) -> [Action] {
        guard pages >= pageLimit else {
            tellingPages = pageLimit
            return []
        }
        guard now >= pausedUntil else {
            // The next tick looks at it.
            tellingPages = .max
            return []
        }
        return begin(.checkpoint(.size), commits: commits)
    }

    private mutating func begin(_ work: Work, commits: Int) -> [Action] {
        phase = .working
        workCommits = commits
        tellingPages = .max
        return [.work(work)]
    }

    // MARK: - Time

    /// The clock ticks, about once a second.
    ///
    /// - parameter pages: the number of pages in the log.
    /// - parameter commits: the number of commits so far.
    /// - parameter isBusy: whether an access has the writer's connection: a write that takes long hasn't committed yet.
    mutating func tick(pages: Int, commits: Int, isBusy: Bool = false, now: UInt64) -> [Action] {
        if isBusy || commits != seenCommits { (seenCommits, seenSince) = (commits, now) }
        guard phase == .dirty, now >= pausedUntil else { return [] }
        if pages >= pageLimit { return begin(.checkpoint(.size), commits: commits) }
        if !isBusy, let delay = settings.idleDelay, isPast(seenSince, by: delay, now) {
            return begin(.checkpoint(.idle), commits: commits)
        }
        if let limit = settings.ageLimit, isPast(dirtySince, by: limit, now) {
            return begin(.checkpoint(.age), commits: commits)
        }
        return []
    }

    /// Whether the clock has to tick on.
    var wantsTicks: Bool { phase == .dirty || phase == .working }

    private func isPast(_ start: UInt64, by seconds: Double, _ now: UInt64) -> Bool {
        now >= start && Double(now - start) >= seconds * 1e9
    }

    // MARK: - The end of work

    /// A checkpoint has ended.
    ///
    /// - parameter pageSize: the size of a page in bytes, if it is known by now.
    /// - parameter pages: the number of pages in the log.
    /// - parameter commits: the number of commits so far.
    mutating func checkpointDidEnd(
        _ outcome: Outcome, pageSize: Int?, pages: Int, commits: Int, now: UInt64
    ) -> [Action] {
        guard phase == .working else { return [] }
        if let pageSize { pageLimit = Self.pages(settings.sizeLimit, pageSize) }
        phase = .dirty
        tellingPages = pageLimit
        switch outcome {
        case .complete(let isEmptied):
            (pause, pausedUntil) = (0, 0)
            if !isEmptied, pages >= pageLimit { return holdBack(now) }
            guard commits == workCommits else {
                dirtySince = now
                return []
            }
            if isMaintenanceDue(now), isPast(seenSince, by: settings.idleDelay ?? .infinity, now) {
                return begin(.maintenance, commits: commits)
            }
            becomeClean()
        case .heldBack, .failed: return holdBack(now)
        }
        return []
    }

    private mutating func holdBack(_ now: UInt64) -> [Action] {
        pause = min(max(pause * 2, Self.second), Self.longestPause)
        pausedUntil = now + pause
        tellingPages = .max
        return []
    }

    private mutating func becomeClean() {
        phase = .clean
        tellingPages = 0
    }

    private func isMaintenanceDue(_ now: UInt64) -> Bool {
        maintenanceInterval.map { isPast(lastMaintenance, by: $0, now) } ?? false
    }

    /// A maintenance has ended. Its changes are commits.
    mutating func maintenanceDidEnd(commits: Int, now: UInt64) {
        lastMaintenance = now
        guard phase == .working else { return }
        guard commits != workCommits else { return becomeClean() }
        phase = .dirty
        dirtySince = now
        (seenCommits, seenSince) = (commits, now)
        tellingPages = pageLimit
    }

    /// Whether the last try was held back or has failed.
    var isHeldBack: Bool { pause > 0 }

    /// A reader that may have held a checkpoint back has ended.
    mutating func readerDidEnd() { pausedUntil = 0 }

    mutating func databaseDidClose() { phase = .ended }
}
