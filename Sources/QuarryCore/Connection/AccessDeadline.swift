/// The time at which an access, or a part of one, must have ended.
package struct AccessDeadline: Sendable, Equatable {
    /// The part of the work that must have ended, as named in errors.
    package enum Subject: String, Sendable {
        case access = "access timeout"
        case untrustedSQL = "timeout of untrusted SQL"
    }

    /// Nanoseconds of the monotonic clock; `UInt64.max` for never.
    package let end: UInt64

    let seconds: Double
    let subject: Subject

    /// A deadline that comes after a while.
    ///
    /// - parameter now: the time from which it counts, in nanoseconds of the monotonic clock.
    package init(_ subject: Subject = .access, after length: Duration, now: UInt64) {
        let (sum, isTooLarge) = now.addingReportingOverflow(length.nanoseconds)
        end = isTooLarge ? .max : sum
        seconds = Double(length.components.seconds) + Double(length.components.attoseconds) / 1e18
        self.subject = subject
    }

    /// The time at which a wait ends.
    ///
    /// - parameter end: nanoseconds of the monotonic clock.
    package init(end: UInt64) {
        self.end = end
        seconds = 0
        subject = .access
    }

    /// Whether the length is more than zero.
    package var hasTime: Bool { seconds > 0 }

    /// The error of an access that has no time left at its beginning.
    package var hasNoTime: DatabaseError {
        DatabaseError(resultCode: .SQLITE_BUSY, message: "\(subject.rawValue): it can't begin within \(text)")
    }

    /// The error of a statement that was interrupted, or that can't begin any more.
    var hasPassed: DatabaseError {
        DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "\(subject.rawValue): it ran longer than \(text)")
    }

    /// The error of a wait for a lock.
    var waitHasPassed: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_BUSY, message: "\(subject.rawValue): it waited for a lock for longer than \(text)")
    }

    /// The length, in words: `0.5 seconds`.
    package var text: String { "\(seconds) seconds" }
}

extension Duration {
    /// The length in nanoseconds: 0 if it is negative, `UInt64.max` if it is too large.
    package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, isTooLarge) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLong) = whole.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000)
        return isTooLarge || isTooLong ? .max : sum
    }
}

/// The times at which the running statement and its access must end.
struct Deadlines {
    /// The deadline that stopped a statement.
    private enum Passed {
        case statement
        case access(AccessDeadline)
    }

    /// Seconds that each statement may run; nil for no limit.
    var statementLimit: Double? {
        didSet { isSet = statementLimit != nil || access != nil }
    }

    /// The deadline of the access; nil if it has none.
    private(set) var access: AccessDeadline? {
        didSet { isSet = statementLimit != nil || access != nil }
    }

    /// Whether there is any deadline.
    private(set) var isSet = false

    private var statementEnd = UInt64.max
    private var passed: Passed?

    /// Whether the statement is a COMMIT, which isn't interrupted once it has begun: SQLite may report the interruption
    /// of a transaction that it has committed.
    private(set) var isCommitting = false

    /// Begins or ends a deadline of the access, or of a part of it: a later one doesn't replace an earlier one.
    ///
    /// - returns: the deadline until now, with which `restore` ends this one.
    mutating func narrow(to deadline: AccessDeadline) -> AccessDeadline? {
        let outer = access
        if deadline.end < outer?.end ?? .max { access = deadline }
        return outer
    }

    /// Replaces the deadline of the access.
    mutating func restore(_ deadline: AccessDeadline?) { access = deadline }

    /// A statement begins.
    ///
    /// - returns: the deadline of the access, if it has passed.
    mutating func statementWillStart(isCommit: Bool, now: UInt64) -> AccessDeadline? {
        passed = nil
        isCommitting = isCommit
        statementEnd = statementLimit.map { now &+ Self.nanoseconds($0) } ?? .max
        guard let access, access.end <= now else { return nil }
        return access
    }

    /// The time at which the running statement must have ended; `UInt64.max` for never.
    var end: UInt64 { min(access?.end ?? .max, statementEnd) }

    /// The nanoseconds that are left. Notes the deadline that has passed.
    ///
    /// - parameter isStepping: whether a statement runs: a checkpoint, a backup and the reading of the schema aren't
    ///   statements, and the statement's deadline is then that of a statement that has ended.
    mutating func timeLeft(now: UInt64, isStepping: () -> Bool) -> UInt64 {
        if let access, access.end <= now {
            passed = .access(access)
            return 0
        }
        let accessLeft = (access?.end ?? .max) - now
        guard statementLimit != nil else { return accessLeft }
        if statementEnd > now { return min(accessLeft, statementEnd - now) }
        guard isStepping() else { return accessLeft }
        passed = .statement
        return 0
    }

    /// Whether a statement that has passed its time goes on, because its interruption would harm others: for as long
    /// again.
    func mayOverrun(now: UInt64) -> Bool {
        guard case .statement = passed, let statementLimit else { return false }
        return now < statementEnd &+ Self.nanoseconds(statementLimit)
    }

    private static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(max(0, min(seconds, 1e9)) * 1e9) }

    /// The error of the deadline that stopped the statement; nil if none did.
    ///
    /// - parameter isInterruption: whether the statement was interrupted; otherwise it waited for a lock.
    mutating func takeError(isInterruption: Bool) -> DatabaseError? {
        defer { passed = nil }
        switch passed {
        case nil: return nil
        case .access(let deadline): return isInterruption ? deadline.hasPassed : deadline.waitHasPassed
        case .statement:
            let reason = isInterruption ? "it ran" : "it waited for a lock for"
            return DatabaseError(
                resultCode: .SQLITE_INTERRUPT,
                message: "statement timeout: \(reason) longer than \(statementLimit ?? 0) seconds")
        }
    }
}
