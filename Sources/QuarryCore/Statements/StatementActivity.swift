/// The execution of a statement: at most one at a time, which has a number.
///
/// ```
///         begin             willStep
///  idle ─────────▶ running ──────────▶ stepping
///   ▲                │ ▲     didStep      │
///   └──────end───────┘ └──────────────────┘
/// ```
@usableFromInline
struct StatementActivity: Equatable {
    /// How long an execution may last.
    @usableFromInline
    enum Extent {
        /// The call that begins it runs it to its end.
        case call
        /// A cursor takes its steps. The connection knows it: the end of the access ends it.
        case cursor
    }

    @usableFromInline
    enum Phase: Equatable {
        case idle
        /// Between two steps, or before the first.
        case running(Extent)
        /// SQLite is in a step: a function in Swift that it calls must not touch the statement.
        case stepping(Extent)
    }

    @usableFromInline
    private(set) var phase = Phase.idle

    /// The number of the execution that runs, or another one: a cursor of an earlier execution finds that it has ended.
    @usableFromInline
    private(set) var executionID = 0

    /// Whether an execution has begun that hasn't ended.
    @inline(__always)
    var isExecuting: Bool {
        if case .idle = phase { false } else { true }
    }

    @inline(__always)
    var isStepping: Bool {
        if case .stepping = phase { true } else { false }
    }

    /// Whether the execution of that number has begun, and hasn't ended.
    @inline(__always)
    func isExecuting(_ id: Int) -> Bool { isExecuting && id == executionID }

    /// Begins an execution, where none runs.
    @inline(__always)
    mutating func begin(_ extent: Extent) {
        executionID &+= 1
        phase = .running(extent)
    }

    /// SQLite is about to take a step of the execution.
    ///
    /// - parameter extent: that of the execution, which the caller knows: nothing is read.
    @inlinable
    @inline(__always)
    mutating func willStep(_ extent: Extent) { phase = .stepping(extent) }

    /// Ends what `willStep` began.
    @inlinable
    @inline(__always)
    mutating func didStep(_ extent: Extent) { phase = .running(extent) }

    /// Ends the execution, which is in no step.
    ///
    /// - returns: whether it was a cursor's.
    @inline(__always)
    mutating func end() -> Bool {
        let wasOfCursor = if case .running(.cursor) = phase { true } else { false }
        phase = .idle
        executionID &+= 1
        return wasOfCursor
    }
}
