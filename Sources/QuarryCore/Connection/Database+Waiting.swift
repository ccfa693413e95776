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

    /// Whether the statement may go on.
    mutating func check() -> Bool {
        if SystemClock.monotonicNanoseconds() > end { isExceeded = true }
        return !isExceeded
    }

    /// The limit, if it is why the statement was stopped.
    mutating func exceeded() -> Double? {
        defer { isExceeded = false }
        return isExceeded ? limit : nil
    }
}

extension Database {
    /// Waits in short sleeps of our own, not with `sqlite3_busy_timeout`: cancelling ends the wait.
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
                SystemClock.sleep(nanoseconds: UInt64(min(Double(milliseconds) * 1e-3, seconds - waited) * 1e9))
                return mayWait
            }
        case .callback(let callback):
            _ = hooks.onBusy { [unowned self] tries in mayWait && callback(tries) }
        }
    }

    private var mayWait: Bool {
        if refusesToWait { return false }
        if uncancellableDepth == 0, isAccessCancelled { return false }
        return true
    }

    /// Makes statements that run look for cancellation, from the first access on that can be cancelled.
    ///
    /// `sqlite3_interrupt` alone isn't enough: the flag it raises is cleared when a statement starts while no other
    /// runs, so that a statement may miss it that is just about to start.
    func installCancellation() {
        guard !looksForCancellation else { return }
        looksForCancellation = true
        _ = hooks.onProgress { [unowned self] in uncancellableDepth > 0 || !isAccessCancelled }
    }

    /// Counts SQLite's own time and its caller's, from the first step of a statement.
    func installStatementDeadline() {
        guard let seconds = options.statementTimeout else { return }
        deadline.limit = seconds
        _ = hooks.onProgress { [unowned self] in uncancellableDepth > 0 || deadline.check() }
    }
}
