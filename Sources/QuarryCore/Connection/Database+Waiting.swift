/// What the busy handler knows of the wait it is in.
struct BusyState {
    var start: UInt64 = 0
}

/// The time a statement may run.
struct StatementDeadline {
    /// Seconds.
    var limit: Double?
    private var end = UInt64.max
    private var isExceeded = false

    mutating func start() {
        guard let limit else { return }
        isExceeded = false
        end = SystemClock.monotonicNanoseconds() &+ UInt64(max(0, min(limit, 1e9)) * 1e9)
    }

    /// Nanoseconds that the statement may still take.
    var remaining: UInt64 {
        let now = SystemClock.monotonicNanoseconds()
        return now < end ? end - now : 0
    }

    /// The statement is stopped, since it has run for too long.
    mutating func exceed() { isExceeded = true }

    /// The limit, if it is why the statement was stopped.
    mutating func exceeded() -> Double? {
        defer { isExceeded = false }
        return isExceeded ? limit : nil
    }
}

extension Database {
    /// Waits in short sleeps of our own, not with `sqlite3_busy_timeout`: cancelling ends the wait, and so does the
    /// statement's timeout.
    func installBusyHandler() {
        switch options.busyMode {
        case .immediateError:
            break
        case .timeout(let seconds):
            _ = hooks.onBusy { [unowned self] tries in
                let now = SystemClock.monotonicNanoseconds()
                if tries == 0 { busyState.start = now }
                let waited = Double(now - busyState.start) * 1e-9
                guard waited < seconds, mayWait else { return false }
                // 1, 2, 4, 8, 10, 10… milliseconds
                let milliseconds = min(10, 1 << min(tries, 4))
                let length = UInt64(min(Double(milliseconds) * 1e-3, seconds - waited) * 1e9)
                SystemClock.sleep(nanoseconds: min(length, timeLeft))
                return mayWait
            }
        case .callback(let callback):
            _ = hooks.onBusy { [unowned self] tries in mayWait && callback(tries) }
        }
    }

    private var mayWait: Bool {
        !access.refusesToWait && (access.ignoresCancellation || !access.isCancelled && timeLeft > 0)
    }

    /// Nanoseconds that the statement which runs may still take; notes when there are none.
    private var timeLeft: UInt64 {
        guard deadline.limit != nil, !access.ignoresCancellation else { return .max }
        let remaining = deadline.remaining
        guard remaining == 0 else { return remaining }
        // A checkpoint, a backup and the reading of the schema are no statements: the time is that of one that has
        // ended.
        guard runDepth > 0 || activeStatements.newestFirst.contains(where: \.activity.isStepping) else { return .max }
        deadline.exceed()
        return 0
    }

    /// Makes statements that run look for cancellation.
    ///
    /// `sqlite3_interrupt` alone isn't enough: the flag it raises is cleared when a statement starts while no other
    /// runs, so that a statement may miss it that is just about to start.
    func installCancellation() {
        _ = hooks.onProgress { [unowned self] in !access.isCancelled }
    }

    /// Counts SQLite's own time and its caller's, from the first step of a statement.
    func installStatementDeadline() {
        guard let seconds = options.statementTimeout else { return }
        deadline.limit = seconds
        _ = hooks.onProgress { [unowned self] in timeLeft > 0 }
    }
}
