import QuarryCore
import Synchronization

/// The length of a database's write-ahead log, as its commits tell it. A commit stores two numbers, and compares one.
struct LogGauge: ~Copyable, Sendable {
    /// The number of pages in the log after the last commit.
    fileprivate let pages = Atomic<Int>(0)

    /// The number of commits.
    fileprivate let commitCount = Atomic<Int>(0)

    /// The number of pages of which a commit tells the keeper.
    fileprivate let tellingPages = Atomic<Int>(0)

    /// The access of the writer's connection that has run a checkpoint alone.
    fileprivate let checkpointAccess = Atomic<Int>(0)

    /// Made by the first commit: opening a database allocates nothing for it.
    fileprivate let madeKeeper = AtomicLazyReference<LogKeeper>()

    /// The number of pages and of commits now.
    var extent: (pages: Int, commits: Int) {
        (pages.load(ordering: .relaxed), commitCount.load(ordering: .relaxed))
    }

    /// The log was emptied.
    func logWasEmptied() { pages.store(0, ordering: .relaxed) }

    /// The access that runs changes nothing: it runs a checkpoint.
    func noteCheckpoint(of db: Database) { checkpointAccess.store(db.accessNumber, ordering: .relaxed) }

    /// Whether the access that has the writer's connection changes nothing.
    func isCheckpoint(of db: Database) -> Bool { checkpointAccess.load(ordering: .relaxed) == db.accessNumber }

    func setTellingPages(_ pages: Int) { tellingPages.store(pages, ordering: .relaxed) }

    /// The keeper of the log; nil before the first commit, and if the log isn't kept.
    var keeper: LogKeeper? { madeKeeper.load() }
}

/// The runners of a queue or pool, for the keeper of its log. It holds no references, because a core keeps no
/// connections: the queue or pool takes it back before it is released.
struct LogRunners {
    fileprivate let writer: Unmanaged<AccessRunner>
    fileprivate let readers: Unmanaged<AccessRunner>
    fileprivate let settings: LogSettings

    /// One lock for all databases: it is taken when a database is opened or released, and at its first commit.
    fileprivate static let lock = Lock(())
}

/// The runners of a queue or pool, for the keeper that handles damage. It holds no references, for the same reason.
struct RepairRunners {
    fileprivate let writer: Unmanaged<AccessRunner>
    fileprivate let readers: Unmanaged<AccessRunner>

    init(writer: Unmanaged<AccessRunner>, readers: Unmanaged<AccessRunner>) {
        self.writer = writer
        self.readers = readers
    }
}

/// The part of a configuration that concerns the log.
struct LogSettings: Sendable {
    let wal: Configuration.WriteAheadLog
    let maintenance: Configuration.Maintenance
    let handler: (@Sendable (WALEvent) -> Void)?
    /// The name of the database in messages; nil for its path.
    let label: String?
    /// Tells when to look at the log.
    let clock: IdleClock
    /// The clock of durations.
    let time: MonotonicClock

    init(_ configuration: Configuration) {
        wal = configuration.wal
        maintenance = configuration.maintenance
        handler = configuration.walEventHandler
        label = configuration.label
        clock = configuration.logClock
        time = configuration.monotonicClock
    }
}

extension DatabaseCore: LogListener {
    /// Keeps the log of a queue or pool small from now on, until `leaveLog`.
    ///
    /// - parameter readers: the runner of the connections that read; that of the writer, for a queue.
    func keepLog(_ writer: AccessRunner, readers: AccessRunner, _ db: Database) {
        let configuration = db.configuration
        LogRunners.lock.withLock { _ in
            repairRunners = RepairRunners(writer: .passUnretained(writer), readers: .passUnretained(readers))
        }
        guard configuration.wal.isManaged, !configuration.readonly else { return }
        LogRunners.lock.withLock { _ in
            logRunners = LogRunners(
                writer: .passUnretained(writer), readers: .passUnretained(readers), settings: LogSettings(configuration)
            )
        }
        db.hooks.listenToLog(self)
    }

    /// The queue or pool is about to be released.
    func leaveLog() {
        LogRunners.lock.withLock { _ in
            logRunners = nil
            repairRunners = nil
        }
    }

    /// The runners of the queue or pool; nil once it is being released.
    var runners: (writer: AccessRunner, readers: AccessRunner)? {
        LogRunners.lock.withLock { _ in
            repairRunners.map { ($0.writer.takeUnretainedValue(), $0.readers.takeUnretainedValue()) }
        }
    }

    package func logDidGrow(toPages pages: Int, of hooks: HookSlots) {
        log.pages.store(pages, ordering: .relaxed)
        // One connection at a time commits.
        let commitCount = log.commitCount.load(ordering: .relaxed) + 1
        log.commitCount.store(commitCount, ordering: .relaxed)
        guard pages >= log.tellingPages.load(ordering: .relaxed) else { return }
        keeper(hooks)?.commitDidHappen(pages: pages, commitCount: commitCount)
    }

    @inline(never)
    private func keeper(_ hooks: HookSlots) -> LogKeeper? {
        if let keeper = log.madeKeeper.load() { return keeper }
        let keeper = LogRunners.lock.withLock { _ in
            // The owner of the runners holds them as long as `logRunners` is set.
            logRunners.map { runners in
                LogKeeper(
                    self, writer: runners.writer.takeUnretainedValue(), readers: runners.readers.takeUnretainedValue(),
                    runners.settings, path: hooks.mainPath)
            }
        }
        return keeper.map { log.madeKeeper.storeIfNil($0) }
    }
}
