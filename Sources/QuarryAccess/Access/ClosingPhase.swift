/// Whether a group of connections serves accesses, as a value.
///
/// Several calls may close a group at the same time: it is open again when all of them have given up.
enum ClosingPhase: Equatable {
    case open
    /// Accesses that were requested earlier go on, and others are refused.
    case draining(closers: Int)
    /// The grace period has ended: closing waits for the running accesses, and all others are refused.
    case ending(closers: Int)
    case closed

    /// The requester of a connection while the group closes.
    enum Requester: Equatable {
        case newcomer
        /// An access inside an access of the same database, or the library's own.
        case admitted
        /// Closing itself.
        case closer
    }

    /// Whether accesses are served.
    @inline(__always)
    var isOpen: Bool { if case .open = self { true } else { false } }

    /// The refusal of a request; nil if it may be served.
    func refusal<Waiter>(of requester: Requester) -> LeaseStateMachine<Waiter>.Refusal? {
        switch (self, requester) {
        case (.closed, _): .closed
        case (.open, _), (_, .closer), (.draining, .admitted): nil
        case (_, .newcomer): .closing
        case (.ending, .admitted): .gracePeriodEnded
        }
    }

    mutating func beginClosing() {
        switch self {
        case .open: self = .draining(closers: 1)
        case .draining(let count): self = .draining(closers: count + 1)
        case .ending(let count): self = .ending(closers: count + 1)
        case .closed: break
        }
    }

    /// A call that closes has given up.
    mutating func abandonClosing() {
        switch self {
        case .draining(let count): self = count > 1 ? .draining(closers: count - 1) : .open
        case .ending(let count): self = count > 1 ? .ending(closers: count - 1) : .open
        case .open, .closed: break
        }
    }

    mutating func endGracePeriod() {
        if case .draining(let count) = self { self = .ending(closers: count) }
    }
}
