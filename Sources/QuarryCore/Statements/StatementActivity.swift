/// The execution of a statement. A statement has at most one execution at a time, which has a number.
///
/// ```
///         begin             willStep
///  idle ─────────▶ running ──────────▶ stepping
///   ▲                │ ▲     didStep      │
///   └──────end───────┘ └──────────────────┘
/// ```
///
/// A statement that was prepared for untrusted SQL is retired, for good.
@usableFromInline
struct StatementActivity: Equatable {
    /// The length of an execution.
    @usableFromInline
    enum Extent {
        /// The call that begins it runs it to its end.
        case call
        /// A cursor steps it. The connection knows the execution, and the end of the access ends it.
        case cursor
    }

    @usableFromInline
    enum Phase: Equatable {
        case idle
        /// Between two steps, or before the first.
        case running(Extent)
        /// SQLite is executing a step: a Swift function that SQLite calls must not touch the statement.
        case stepping(Extent)
        /// The statement can't run any more: the policy under which it was prepared has ended.
        case retired
    }

    @usableFromInline
    private(set) var phase = Phase.idle

    /// The number of the current execution, or a later number: this tells the cursor of an earlier execution that it
    /// has ended.
    @usableFromInline
    private(set) var executionID = 0

    /// Whether an execution has begun and not ended.
    @inline(__always)
    var isExecuting: Bool {
        switch phase {
        case .idle, .retired: false
        case .running, .stepping: true
        }
    }

    @inline(__always)
    var isStepping: Bool {
        if case .stepping = phase { true } else { false }
    }

    /// Whether the execution with that number has begun and not ended.
    @inline(__always)
    func isExecuting(_ id: Int) -> Bool { isExecuting && id == executionID }

    /// Prevents further executions; none may be running.
    mutating func retire() {
        executionID &+= 1
        phase = .retired
    }

    /// Begins an execution; none may be running.
    @inline(__always)
    mutating func begin(_ extent: Extent) {
        executionID &+= 1
        phase = .running(extent)
    }

    /// Called before SQLite executes a step.
    ///
    /// - parameter extent: the execution's extent. The caller knows it, so that nothing is read.
    @inlinable
    @inline(__always)
    mutating func willStep(_ extent: Extent) { phase = .stepping(extent) }

    /// Called after the step.
    @inlinable
    @inline(__always)
    mutating func didStep(_ extent: Extent) { phase = .running(extent) }

    /// Ends the execution, outside a step.
    ///
    /// - returns: whether the execution was a cursor's.
    @inline(__always)
    mutating func end() -> Bool {
        let wasOfCursor = if case .running(.cursor) = phase { true } else { false }
        phase = .idle
        executionID &+= 1
        return wasOfCursor
    }
}
