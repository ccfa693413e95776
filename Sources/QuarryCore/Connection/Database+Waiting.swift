/// The busy handler's knowledge of the current wait.
struct BusyState {
    var start: UInt64 = 0

    /// The number of statements that had begun when a wait last reached its limit.
    var endedInVain = -1
}

extension Database {
    /// The clock of timeouts and durations.
    package var clock: MonotonicClock { options.monotonicClock }

    /// Waits in short sleeps, rather than with `sqlite3_busy_timeout`, so that cancellation and the statement's timeout
    /// end the wait.
    func installBusyHandler() {
        switch options.busyMode {
        case .immediateError:
            break
        case .timeout(let seconds):
            _ = hooks.onBusy { [unowned self] tries in
                let now = clock.now
                if tries == 0 { clocks.busy.start = now }
                let waited = Double(now - clocks.busy.start) * 1e-9
                guard waited < seconds else {
                    clocks.busy.endedInVain = lifetime.counters.runStatements.value
                    return false
                }
                guard mayWait else { return false }
                // 1, 2, 4, 8, 10, 10… milliseconds
                let milliseconds = min(10, 1 << min(tries, 4))
                lifetime.counters.busyRetries.increment()
                let length = UInt64(min(Double(milliseconds) * 1e-3, seconds - waited) * 1e9)
                clock.sleep(nanoseconds: min(length, timeLeft))
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
        !access.refusesToWait && (access.ignoresCancellation || !access.isCancelled && endError == nil && timeLeft > 0)
    }

    /// The nanoseconds that the running statement and its access may still take. Notes if none are left.
    private var timeLeft: UInt64 {
        guard clocks.deadlines.isSet, !access.ignoresCancellation else { return .max }
        return clocks.deadlines.timeLeft(now: clock.now) {
            running.depth > 0 || running.statements.newestFirst.contains(where: \.activity.isStepping)
        }
    }

    /// Notes the deadline that has passed while a statement ran elsewhere, so that its error names it.
    package func noteDeadline() { _ = timeLeft }

    /// Makes running statements check for cancellation.
    ///
    /// `sqlite3_interrupt` alone isn't enough: it raises a flag, which SQLite clears when a statement starts while no
    /// other statement runs. A statement that is just about to start may miss it.
    func installCancellation() {
        _ = hooks.onProgress { [unowned self] in
            // Interrupting a change would roll back the changes of the other writes, too.
            !access.isCancelled || openTransaction.state.isShared && ConnectionCalls.isChanging(pointer)
        }
    }

    /// Interrupts the statements of `body` when a time has come, and ignores the error of that.
    ///
    /// - parameter end: nanoseconds of `clock`.
    package func interrupting(at end: UInt64, _ body: () throws -> Void) throws {
        var isLate = false
        let client = hooks.onProgress {
            isLate = isLate || self.clock.now >= end
            return !isLate
        }
        defer { hooks.remove(client) }
        do { try body() } catch DatabaseError.SQLITE_INTERRUPT where isLate {}
    }

    /// Limits the time of each statement, SQLite's own and its caller's, from the first step.
    func installStatementDeadline() {
        guard let seconds = options.statementTimeout else { return }
        clocks.deadlines.statementLimit = seconds
        watchDeadlines()
    }

    /// Runs `body`, whose statements must have ended at a deadline, unless that of the access comes earlier.
    package func ending<T>(by deadline: AccessDeadline, _ body: () throws -> T) rethrows -> T {
        let outer = clocks.deadlines.narrow(to: deadline)
        defer { clocks.deadlines.restore(outer) }
        watchDeadlines()
        return try body()
    }

    /// Begins the deadline of an access.
    @inline(never)
    func beginDeadline(_ deadline: AccessDeadline) {
        clocks.deadlines.restore(deadline)
        watchDeadlines()
    }

    /// Makes running statements look at the deadlines, from the first deadline of the connection on.
    private func watchDeadlines() {
        guard !clocks.watchesDeadlines else { return }
        clocks.watchesDeadlines = true
        _ = hooks.onProgress { [unowned self] in clocks.deadlines.isCommitting || timeLeft > 0 || mayOverrun }
    }

    /// Whether the running statement goes on although its time has passed: interrupting a change would roll back the
    /// changes of the writes that share the transaction. Then its own write fails when the statement has ended.
    private var mayOverrun: Bool {
        guard openTransaction.state.isShared, ConnectionCalls.isChanging(pointer),
            clocks.deadlines.mayOverrun(now: clock.now)
        else { return false }
        if openTransaction.parts.overrun == nil { setOverrun(clocks.deadlines.takeError(isInterruption: true)) }
        return true
    }

    /// Notes that a change has passed its time, or forgets that.
    func setOverrun(_ error: DatabaseError?) {
        openTransaction.parts.overrun = error
        watchersDidChange()
    }

    /// Begins the deadline of a statement, or of an operation that takes its time. Throws if the deadline of the access
    /// has passed.
    ///
    /// - parameter mayEndTransaction: whether it ends the transaction of an access whose deadline has passed.
    func deadlinesWillSee(isCommit: Bool, mayEndTransaction: Bool, sql: String?) throws {
        if let overrun = openTransaction.parts.overrun, !mayEndTransaction, !access.ignoresCancellation {
            throw overrun.with(sql: sql)
        }
        let passed = clocks.deadlines.statementWillStart(isCommit: isCommit, now: clock.now)
        guard let passed, !mayEndTransaction, !access.ignoresCancellation, route?.hasRunStatement != true
        else { return }
        throw passed.hasPassed.with(sql: sql)
    }
}

extension Database {
    /// Decides whether to try again. Receives the number of tries so far.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// The reaction to a lock that another connection holds.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.busyMode = .timeout(5) // seconds
    /// ```
    ///
    /// See <https://www.sqlite.org/c3ref/busy_handler.html>.
    public enum BusyMode: Sendable {
        /// Throws `SQLITE_BUSY` immediately.
        case immediateError

        /// Waits for a number of seconds, then throws `SQLITE_BUSY`. Cancelling the task ends the wait.
        case timeout(_ seconds: Double)

        /// Tries again as long as the callback returns true.
        case callback(BusyCallback)
    }
}
