public import QuarryCore

/// How long an incremental write keeps the connection.
///
/// ```swift
/// var pace = IncrementalWritePace()
/// pace.minimumHold = .milliseconds(5)
/// try await dbPool.writeIncrementally(pace) { step in … }
/// ```
public struct IncrementalWritePace: Sendable, Hashable {
    /// The time for which a transaction goes on although others wait.
    ///
    /// Each commit costs a wait for the disk, if it is synchronized. A write whose steps are short gets further with 5
    /// ms than with zero, and makes the others wait that much longer.
    public var minimumHold: Duration

    /// The time after which a transaction is committed even if no access waits: those of other processes can't be seen.
    public var maximumHold: Duration

    /// A pace.
    ///
    /// - parameter minimumHold: the time for which a transaction goes on although others wait.
    /// - parameter maximumHold: the time after which it is committed even if no access waits.
    public init(minimumHold: Duration = .zero, maximumHold: Duration = .milliseconds(100)) {
        self.minimumHold = minimumHold
        self.maximumHold = maximumHold
    }
}

/// A step of an incremental write.
public struct IncrementalWriteStep {
    /// Whether another step follows.
    public enum Completion: Sendable {
        /// Another step.
        case next
        /// The commit, and the end.
        case done
    }

    /// The connection, inside a transaction. Only for the step.
    public let db: Database

    /// The number of steps before this one.
    public let index: Int

    /// Whether the step is the first of its transaction: what earlier steps have read may have changed.
    public let isNewTransaction: Bool
}

/// The size of an incremental write that has ended.
public struct IncrementalWriteResult: Sendable, Hashable {
    /// The number of steps.
    public internal(set) var stepCount = 0

    /// The number of transactions that were committed.
    public internal(set) var transactionCount = 0
}

/// The decisions of an incremental write, as a value: when its transaction is committed.
struct IncrementalWriteProgress: Sendable {
    private let minimumHold: UInt64
    private let maximumHold: UInt64
    /// The steps of the transactions that were committed, and of the open one.
    private(set) var result = IncrementalWriteResult()
    /// When the transaction has begun; nil outside a transaction.
    private var beginning: UInt64?
    private(set) var isNewTransaction = true
    private(set) var isDone = false

    init(_ pace: IncrementalWritePace) {
        minimumHold = pace.minimumHold.nanoseconds
        maximumHold = pace.maximumHold.nanoseconds
    }

    mutating func transactionDidBegin(now: UInt64) {
        beginning = now
        isNewTransaction = true
    }

    /// A step has ended.
    ///
    /// - parameter isAwaited: whether other accesses of the program wait for the connection. The library's own wait for
    ///   `maximumHold` at most: a look for commits of other processes would end a transaction every few milliseconds.
    /// - returns: whether the transaction is to be committed.
    mutating func stepDidEnd(
        _ completion: IncrementalWriteStep.Completion, isAwaited: Bool, now: UInt64
    ) -> Bool {
        result.stepCount += 1
        isNewTransaction = false
        if case .done = completion { isDone = true }
        let held = now - (beginning ?? now)
        return isDone || held >= maximumHold || isAwaited && held >= minimumHold
    }

    mutating func transactionDidCommit() {
        result.transactionCount += 1
        beginning = nil
    }

    /// More steps follow those that were the last ones.
    mutating func goOn() { isDone = false }
}
