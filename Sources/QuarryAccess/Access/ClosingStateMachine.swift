/// The steps of closing, as a value.
///
/// Closing takes a barrier of each group in order: before the accesses that wait already, or behind them. With a grace
/// period, it goes first when that has ended, refuses the waiting accesses, and interrupts the running ones.
struct ClosingStateMachine {
    /// The next action of the caller, which reports its outcome.
    enum Step: Equatable {
        /// Wait for the barrier of a group, until a time.
        case wait(group: Int, isFirst: Bool, until: UInt64)
        /// Refuse the waiting accesses of all groups, and interrupt the running ones.
        case interrupt
        /// All connections are back: close them.
        case close
        /// An access doesn't end.
        case giveUp
        /// Another call has closed the groups.
        case end
    }

    /// Nanoseconds between two interruptions: SQLite may miss an interruption while a statement begins, and an access
    /// may have got its connection just before the first.
    static var interruptionInterval: UInt64 { 20_000_000 }

    private let groupCount: Int
    private let goesFirst: Bool
    private let graceEnd: UInt64
    private let interruptionTimeout: UInt64

    /// The number of groups whose barriers are held.
    private(set) var heldCount = 0

    /// When closing gives up; nil before the first interruption.
    private var lastEnd: UInt64?

    /// Closing that waits as long as it has to.
    ///
    /// - parameter goesFirst: whether the barriers come before the accesses that wait already.
    init(groupCount: Int, goesFirst: Bool) {
        self.groupCount = groupCount
        self.goesFirst = goesFirst
        interruptionTimeout = 0
        graceEnd = .max
    }

    /// Closing with a grace period.
    init(groupCount: Int, gracePeriod: UInt64, interruptionTimeout: UInt64, now: UInt64) {
        self.groupCount = groupCount
        goesFirst = false
        self.interruptionTimeout = interruptionTimeout
        graceEnd = Self.sum(now, gracePeriod)
    }

    /// The first step.
    func begin() -> Step { next(now: 0) }

    /// The barrier was granted.
    mutating func didWait(now: UInt64) -> Step {
        heldCount += 1
        return next(now: now)
    }

    /// The barrier wasn't granted in time, or another call that closes has ended the grace period.
    mutating func didExpire(now: UInt64) -> Step {
        guard let lastEnd else {
            lastEnd = Self.sum(now, interruptionTimeout)
            return .interrupt
        }
        return now >= lastEnd ? .giveUp : .interrupt
    }

    /// Another call has closed the groups.
    func wasClosed() -> Step { .end }

    /// The accesses were interrupted.
    func didInterrupt(now: UInt64) -> Step { next(now: now) }

    private func next(now: UInt64) -> Step {
        if heldCount == groupCount { return .close }
        guard let lastEnd else { return .wait(group: heldCount, isFirst: goesFirst, until: graceEnd) }
        return .wait(
            group: heldCount, isFirst: true, until: min(lastEnd, Self.sum(now, Self.interruptionInterval)))
    }

    private static func sum(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (sum, isTooLarge) = a.addingReportingOverflow(b)
        return isTooLarge ? .max : sum
    }
}
