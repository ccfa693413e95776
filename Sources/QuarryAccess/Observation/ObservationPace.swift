/// How often an observation fetches.
struct ObservationPace: Sendable {
    enum Kind: Equatable, Sendable {
        /// A change is fetched once no other has come for the duration.
        case debounce
        /// The duration passes between two fetches.
        ///
        /// - parameter latest: whether changes meanwhile are fetched at its end. Otherwise they are forgotten.
        case throttle(latest: Bool)
    }

    let kind: Kind
    /// Makes the timer of one started observation.
    let makeTimer: @Sendable () -> any PaceTimer

    init<C: Clock>(_ kind: Kind, _ duration: C.Duration, _ clock: C) where C.Duration == Duration {
        self.kind = kind
        makeTimer = { ClockTimer(clock, duration) }
    }
}

/// Waits for the end of a duration that can begin again meanwhile.
protocol PaceTimer: Sendable {
    /// The duration begins now. Called without a lock, because the clock is the user's.
    func begin()

    /// Waits for the end of the duration that began last.
    ///
    /// - throws: `CancellationError`.
    func wait() async throws
}
