import QuarryCore

/// The lease of an outbox, as its table has it. The times are seconds of the clock of transactions.
///
/// The methods are the decisions. `OutboxTables` reads and writes the lease in transactions.
struct OutboxLease: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// No consumer has it.
        case free
        /// A consumer has it for some messages.
        case held(Holding)
    }

    struct Holding: Equatable, Sendable {
        /// A text that no other holding has.
        let owner: String
        /// The messages.
        let messages: ClosedRange<Int64>
        let begin: Double
        let end: Double

        /// Whether the lease counts as held.
        ///
        /// A clock that was set back would keep a lease for long. So a lease counts for at most its length before its
        /// beginning, too.
        func isValid(at time: Double) -> Bool { time < end && time >= begin - (end - begin) }
    }

    /// The next action of a consumer.
    enum Decision: Equatable, Sendable {
        /// Take the lease.
        case take
        /// Count a failed attempt for messages of a consumer that hasn't come back, and then take the lease.
        case takeOver(ClosedRange<Int64>)
        /// Look again after some seconds.
        case wait(Double)
    }

    var state = State.free

    /// A time in which nothing is delivered, after a failure.
    struct Pause: Equatable, Sendable {
        let begin: Double
        let end: Double
    }

    var pause: Pause?

    func decide(at time: Double) -> Decision {
        switch state {
        case .held(let holding):
            return holding.isValid(at: time) ? .wait(holding.end - time) : .takeOver(holding.messages)
        case .free:
            // A clock that was set back ends the pause.
            guard let pause, time < pause.end, time >= pause.begin else { return .take }
            return .wait(pause.end - time)
        }
    }

    /// Whether an owner still has the lease, even one that has expired, so that no other consumer has its messages.
    func isHeld(by owner: String) -> Bool {
        if case .held(let holding) = state { holding.owner == owner } else { false }
    }
}

/// Messages that a consumer has leased.
struct LeasedBatch: Sendable {
    let owner: String
    let messages: [StoredMessage]

    /// The failed deliveries of the first message.
    var failedAttempts: Int { messages.first?.failedAttempts ?? 0 }
}

/// A message as its table has it.
struct StoredMessage: Sendable {
    let outbox: String
    let id: Int64
    let payload: DatabaseValue
    let failedAttempts: Int
    let error: String?
}
