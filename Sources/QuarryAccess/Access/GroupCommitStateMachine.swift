import QuarryCore

/// The decisions of a transaction that writes share, as a value: who goes on with it, who commits, and who is told.
///
/// ```
/// part    end      next waits    step
/// 1       kept     yes           pass
/// 2       undone   yes           pass
/// 3       kept     no            commit    1 and 3 are told
/// ```
struct GroupCommitStateMachine: Equatable {
    /// The bounds of a transaction that writes share.
    struct Limits: Equatable {
        /// The number of writes.
        var count = 1_000
        /// Nanoseconds from the beginning of the first write to the beginning of the last.
        var time: UInt64 = 20_000_000
    }

    /// The step after a part of the transaction.
    enum Step: Equatable {
        /// The next write goes on with the transaction. This one waits for its end if its changes are kept.
        case pass
        /// This write commits.
        case commit
        /// The transaction has ended: SQLite or this write has rolled it back, or a statement has committed it.
        case end
    }

    private let limits: Limits
    private let start: UInt64

    /// The number of writes that have run.
    private(set) var count = 0

    /// The number of writes that wait for the end of the transaction.
    private(set) var waitingCount = 0

    /// A first write begins.
    ///
    /// - parameter now: nanoseconds of the monotonic clock.
    init(_ limits: Limits = Limits(), now: UInt64) {
        self.limits = limits
        start = now
    }

    /// Whether the running write is the first.
    var isFirst: Bool { count == 0 }

    /// Whether another write may follow the running one.
    func mayGoOn(now: UInt64) -> Bool { count + 1 < limits.count && now &- start < limits.time }

    /// Whether the task that has ended the transaction goes back to Swift's threads, where those of the other writes
    /// come from. If it stayed, it would write alone before these are back: eight tasks made 25,000 durable writes a
    /// second, was 35,000.
    var sendsBack: Bool { waitingCount >= 2 }

    /// A write has run.
    ///
    /// - parameter hasNext: whether another goes on with the transaction.
    mutating func partDidEnd(_ end: PartEnd, hasNext: Bool) -> Step {
        count += 1
        switch (end, hasNext) {
        case (.lost, _), (.committed, _): return .end
        case (.kept, true):
            waitingCount += 1
            return .pass
        case (.undone, true): return .pass
        case (.kept, false), (.undone, false): return .commit
        }
    }
}
