import QuarryCore

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
    /// Keeps the log of a queue or pool small from now on.
    ///
    /// - parameter database: the connection that writes.
    package func keepLog(of database: Database) {
        let configuration = database.configuration
        guard configuration.wal.isManaged, !configuration.readonly else { return }
        database.hooks.listenToLog(self)
    }

    /// The keeper of the log; nil before the first commit, and if the log isn't kept.
    var logKeeper: LogKeeper? { part(LogKeeper.self) }

    package func logDidGrow(toPages pages: Int, of hooks: HookSlots) {
        guard let commitCount = log.didGrow(toPages: pages) else { return }
        keeper(hooks)?.commitDidHappen(pages: pages, commitCount: commitCount)
    }

    @inline(never)
    private func keeper(_ hooks: HookSlots) -> LogKeeper? {
        if let logKeeper { return logKeeper }
        guard let runners else { return nil }
        return part(LogKeeper.self) {
            LogKeeper(
                self, writer: runners.writer, readers: runners.readers, LogSettings(runners.configuration),
                path: hooks.mainPath)
        }
    }
}
