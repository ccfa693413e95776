/// The busy handler's knowledge of the current wait.
struct BusyState {
    var start: UInt64 = 0
}

/// The time that a statement may run.
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

    /// The nanoseconds that the statement may still take.
    var remaining: UInt64 {
        let now = SystemClock.monotonicNanoseconds()
        return now < end ? end - now : 0
    }

    /// Notes that the statement is stopped because it has run for too long.
    mutating func exceed() { isExceeded = true }

    /// The limit, if exceeding it stopped the statement.
    mutating func exceeded() -> Double? {
        defer { isExceeded = false }
        return isExceeded ? limit : nil
    }
}

extension Database {
    /// Waits in short sleeps, rather than with `sqlite3_busy_timeout`, so that cancellation and the statement's timeout
    /// end the wait.
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
                lifetime.counters.busyRetries.increment()
                let length = UInt64(min(Double(milliseconds) * 1e-3, seconds - waited) * 1e9)
                SystemClock.sleep(nanoseconds: min(length, timeLeft))
                return mayWait
            }
        case .callback(let callback):
            _ = hooks.onBusy { [unowned self] tries in
                guard mayWait, callback(tries) else { return false }
                lifetime.counters.busyRetries.increment()
                return true
            }
        }
    }

    private var mayWait: Bool {
        !access.refusesToWait && (access.ignoresCancellation || !access.isCancelled && timeLeft > 0)
    }

    /// The nanoseconds that the running statement may still take. Notes if none are left.
    private var timeLeft: UInt64 {
        guard deadline.limit != nil, !access.ignoresCancellation else { return .max }
        let remaining = deadline.remaining
        guard remaining == 0 else { return remaining }
        // A checkpoint, a backup and the reading of the schema aren't statements: the deadline is that of a statement
        // that has ended.
        guard runDepth > 0 || activeStatements.newestFirst.contains(where: \.activity.isStepping) else { return .max }
        deadline.exceed()
        return 0
    }

    /// Makes running statements check for cancellation.
    ///
    /// `sqlite3_interrupt` alone isn't enough: it raises a flag, which SQLite clears when a statement starts while no
    /// other statement runs. A statement that is just about to start may miss it.
    func installCancellation() {
        _ = hooks.onProgress { [unowned self] in !access.isCancelled }
    }

    /// Interrupts the statements of `body` when a time has come, and ignores the error of that.
    ///
    /// - parameter end: of `SystemClock.monotonicNanoseconds()`.
    package func interrupting(at end: UInt64, _ body: () throws -> Void) throws {
        var isLate = false
        let client = hooks.onProgress {
            isLate = isLate || SystemClock.monotonicNanoseconds() >= end
            return !isLate
        }
        defer { hooks.remove(client) }
        do { try body() } catch DatabaseError.SQLITE_INTERRUPT where isLate {}
    }

    /// Limits the time of a statement, SQLite's own and its caller's, from the first step.
    func installStatementDeadline() {
        guard let seconds = options.statementTimeout else { return }
        deadline.limit = seconds
        _ = hooks.onProgress { [unowned self] in timeLeft > 0 }
    }
}
