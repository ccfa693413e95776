/// Decides when a database is looked at for commits of other connections. A value.
///
/// A look is a short access of the connection that writes. A change of a file is followed by several looks, because a
/// commit is visible some time after its last write to a file: it may wait for the disk. Each look waits twice as long
/// as the one before, so a commit is noticed after at most twice the time that it took.
///
/// The connection's own writes change the files too. Each of them compares the state itself, and no other connection
/// can write at the same time. So a change after which the connection has compared is looked at later.
struct CommitWatchStateMachine {
    /// The times between looks, in nanoseconds.
    struct Times {
        /// From a change of a file to the first look. Most commits are several writes.
        var first: UInt64 = 1_000_000
        /// From a change of a file, if this connection has written, to the first look.
        var own: UInt64 = 5_000_000
        /// The longest time between two looks after a change.
        var longest: UInt64 = 1_000_000_000_000
        /// Between two looks if files aren't watched.
        var polling: UInt64
    }

    enum Action: Equatable {
        case none
        /// Look at the database, and call `lookDidEnd`.
        case look
        /// Watch the files, and call `watchDidBegin`.
        case watchFiles
        /// Call `timeDidCome` at this time.
        case wait(until: UInt64)
        /// Watch nothing any more.
        case stop
    }

    private enum Phase {
        case idle
        /// Until the first look has ended, after which the files are known.
        case beginning
        case watching
        case polling
        case ended
    }

    private let times: Times
    private let watchesFiles: Bool
    private var phase = Phase.idle
    private var isLooking = false
    /// Whether there is a reason for another look after the one that runs.
    private var mustLookAgain = false
    private var delay: UInt64 = 0
    /// The time of the next look.
    private var due: UInt64?
    /// Whether this connection's own writes explain the last change.
    private var isExplained = false
    /// How often the connection had compared the state when this was last considered.
    private var checkCount = 0

    init(_ times: Times, watchesFiles: Bool) {
        self.times = times
        self.watchesFiles = watchesFiles
    }

    /// Whether the files are watched.
    var isWatching: Bool { phase == .watching }

    /// Whether the database is looked at again and again.
    var isPolling: Bool { phase == .polling }

    /// The commits of others are needed from now on, or are not needed any more.
    mutating func need(_ isNeeded: Bool) -> Action {
        switch (phase, isNeeded) {
        case (.idle, true):
            phase = .beginning
            return look()
        case (.beginning, false), (.watching, false), (.polling, false):
            phase = .idle
            due = nil
            mustLookAgain = false
            return .stop
        default: return .none
        }
    }

    /// The database is closed, or is no file.
    mutating func end() -> Action {
        defer { phase = .ended }
        switch phase {
        case .idle, .ended: return .none
        case .beginning, .watching, .polling: return .stop
        }
    }

    /// A look has ended.
    ///
    /// - parameter checkCount: how often the connection has compared the state.
    mutating func lookDidEnd(checkCount: Int, now: UInt64) -> Action {
        isLooking = false
        switch phase {
        case .idle, .ended: return .none
        case .beginning:
            self.checkCount = checkCount
            if mustLookAgain {
                mustLookAgain = false
                return look()
            }
            if watchesFiles { return .watchFiles }
            phase = .polling
            return wait(times.polling, now)
        // The system may be able to watch the files by now.
        case .polling: return watchesFiles ? .watchFiles : wait(times.polling, now)
        case .watching:
            if mustLookAgain {
                mustLookAgain = false
                delay = times.first
            }
            defer { delay = delay &* 2 }
            return delay > times.longest ? .none : wait(delay, now)
        }
    }

    /// The files are watched from now on, or can't be.
    mutating func watchDidBegin(_ succeeded: Bool, now: UInt64) -> Action {
        guard phase == .beginning || phase == .polling else { return .none }
        guard succeeded else {
            phase = .polling
            return wait(times.polling, now)
        }
        // A commit between the first look and the beginning of the watch has told of no change.
        phase = .watching
        delay = times.first
        return look()
    }

    /// The files aren't watched any more.
    mutating func watchDidFail(now: UInt64) -> Action {
        guard phase == .watching else { return .none }
        phase = .polling
        return isLooking ? .none : wait(times.polling, now)
    }

    /// A watched file has changed.
    mutating func filesDidChange(now: UInt64) -> Action {
        guard phase == .watching else { return .none }
        guard !isLooking else {
            mustLookAgain = true
            return .none
        }
        delay = isExplained ? times.own : times.first
        if let due, due <= now &+ delay { return .none }
        delay = times.first
        return wait(times.first, now)
    }

    /// The time that was asked for has come.
    mutating func timeDidCome(checkCount: Int, now: UInt64) -> Action {
        guard let due, !isLooking else { return .none }
        guard due <= now else { return .wait(until: due) }
        isExplained = checkCount != self.checkCount
        self.checkCount = checkCount
        guard isExplained else { return look() }
        delay = times.own
        return wait(phase == .polling ? times.polling : times.own, now)
    }

    private mutating func look() -> Action {
        due = nil
        if isLooking {
            mustLookAgain = true
            return .none
        }
        isLooking = true
        return .look
    }

    private mutating func wait(_ time: UInt64, _ now: UInt64) -> Action {
        due = now &+ time
        return .wait(until: now &+ time)
    }
}
