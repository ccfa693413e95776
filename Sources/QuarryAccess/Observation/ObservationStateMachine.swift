import QuarryCore

/// The state of one observation. A value: its owner performs the returned actions.
///
/// ```
///  due ──▶ fetching ──▶ delivering ──▶ current ──(a change)──▶ due
///   ▲         │              │
///   │      (a transient      └─(a change)─▶ outdated ──(the value is taken)──▶ due
///   └──pausing◀─error)
/// ```
///
/// A fetch begins only after the scheduler has taken the last value. So at most one value waits for a slow receiver.
struct ObservationStateMachine: Sendable {
    enum State: Equatable, Sendable {
        /// In line for a fetch.
        case due
        /// Waits before it enters the line.
        case pausing(Pause)
        /// In a batch.
        case fetching
        /// Its value waits for the scheduler. No change has come since.
        case delivering
        /// Its value waits for the scheduler, and a change has come.
        case outdated
        /// Its value is taken. No change has come since.
        case current
        /// Ended.
        case ended
    }

    enum Pause: Equatable, Sendable {
        /// Until no change has come for some time.
        case quiet
        /// Until the time between two fetches has passed.
        case rest
        /// After a transient error.
        case retry
    }

    enum Action: Equatable, Sendable {
        case none
        /// Enter the line for a fetch.
        case enqueue
        /// Start the timer of the pace; `pauseDidEnd` follows.
        case startPause
        /// A change has come during the pause: start its time again.
        case extendPause
        /// Call `pauseDidEnd` after some time.
        case retry(milliseconds: Int)
        /// Reduce the fetched value, and deliver it.
        case deliver
        /// End with the error.
        case fail
    }

    private(set) var state = State.due
    let pace: ObservationPace.Kind?
    /// The number of transient errors since the last success.
    private var failureCount = 0
    /// Whether the time between two fetches has not passed.
    private(set) var isResting = false

    /// The number of fetches whose outcome has not reached the receiver's line.
    private var underwayCount = 0
    /// Whether the database has closed since one of these fetches began.
    private var isClosing = false

    /// How many transient errors in a row are retried.
    static let maximumRetryCount = 5

    init(pace: ObservationPace.Kind? = nil) { self.pace = pace }

    var isEnded: Bool { state == .ended }

    /// Whether a commit may change the state.
    var isWatching: Bool {
        switch state {
        case .delivering, .current, .pausing(.quiet): true
        case .due, .pausing, .fetching, .outdated, .ended: false
        }
    }

    /// A commit has changed the region.
    mutating func regionDidChange() -> Action {
        switch state {
        case .current where mayIgnoreChange: return .none
        case .current: return becomeDue()
        case .delivering:
            if !mayIgnoreChange { state = .outdated }
            return .none
        case .pausing(.quiet): return .extendPause
        case .due, .pausing, .fetching, .outdated, .ended: return .none
        }
    }

    /// A batch takes the observation from the line.
    ///
    /// - returns: whether it is to be fetched.
    mutating func fetchWillBegin() -> Bool {
        guard state == .due else { return false }
        state = .fetching
        underwayCount += 1
        return true
    }

    /// The value was fetched.
    ///
    /// - parameter isOutdated: whether a commit after the snapshot has changed the region.
    mutating func fetchDidSucceed(isOutdated: Bool) -> Action {
        guard state == .fetching else { return .none }
        failureCount = 0
        if case .throttle = pace { isResting = true }
        state = isOutdated && !mayIgnoreChange ? .outdated : .delivering
        return .deliver
    }

    /// The fetch has thrown.
    mutating func fetchDidFail(isTransient: Bool) -> Action {
        guard state == .fetching else { return .none }
        underwayCount -= 1
        guard isTransient, failureCount < Self.maximumRetryCount, !isClosing else {
            state = .ended
            return .fail
        }
        state = .pausing(.retry)
        defer { failureCount += 1 }
        return .retry(milliseconds: 1 << (2 * failureCount))
    }

    /// The batch couldn't fetch it, for no fault of its own.
    mutating func fetchDidNotHappen() -> Action {
        guard state == .fetching else { return .none }
        underwayCount -= 1
        state = .due
        return .enqueue
    }

    /// A fetched value has reached the receiver's line, or was dropped.
    ///
    /// - returns: whether the observation ends now, because its database has closed.
    mutating func valueWasHandedOver() -> Bool {
        guard state != .ended else { return false }
        underwayCount -= 1
        return isClosing && underwayCount == 0 && end()
    }

    /// The database has closed. The end doesn't overtake a value that was fetched before.
    ///
    /// - returns: whether the observation ends now. Otherwise it ends with the fetch that is underway.
    mutating func databaseDidClose() -> Bool {
        isClosing = true
        return underwayCount == 0 && end()
    }

    /// The scheduler has taken the value, or the reducer has dropped it.
    mutating func valueWasTaken() -> Action {
        switch state {
        case .delivering:
            state = .current
            return .none
        case .outdated: return becomeDue()
        case .due, .pausing, .fetching, .current, .ended: return .none
        }
    }

    /// The time of a pause has passed, or the time between two fetches.
    mutating func pauseDidEnd() -> Action {
        isResting = false
        guard case .pausing = state else { return .none }
        state = .due
        return .enqueue
    }

    /// The pause after a transient error has passed.
    mutating func retryPauseDidEnd() -> Action {
        guard state == .pausing(.retry) else { return .none }
        state = .due
        return .enqueue
    }

    /// - returns: whether the observation had not ended.
    mutating func end() -> Bool {
        defer { state = .ended }
        return state != .ended
    }

    /// Whether a change may be forgotten: a throttle without the latest value drops the changes of its interval.
    private var mayIgnoreChange: Bool { pace == .throttle(latest: false) && isResting }

    private mutating func becomeDue() -> Action {
        switch pace {
        case .debounce:
            state = .pausing(.quiet)
            return .startPause
        case .throttle where isResting:
            state = .pausing(.rest)
            return .none
        case .throttle, nil:
            state = .due
            return .enqueue
        }
    }
}
