/// Decides which node to ask for the leader next, as a value.
///
/// A round asks each candidate once, and follows the hints of the answers. After a round without a leader, the search
/// waits, for a time that doubles. A follower goes on naming a dead leader for a while: a node is the leader only if it
/// names itself.
///
/// The caller performs an action, reports its result, and receives the next action:
///
/// | action | result |
/// |---|---|
/// | `ask`, `verify` | `answered`, `failed` |
/// | `open` | `connected`, `failed` |
/// | `wait` | `beginRound` |
/// | `giveUp` | |
///
/// Each action ends at or before the deadline.
struct LeaderSearch {
    enum Action: Hashable {
        /// Connect to a candidate, and ask it for the leader.
        case ask(NodeAddress, until: UInt64)

        /// Connect to a node that another one named, and ask it for the leader.
        case verify(NodeAddress, until: UInt64)

        /// Open the database by the connection of the last answer: that node names itself.
        case open(NodeAddress, until: UInt64)

        /// Wait, then begin another round.
        case wait(nanoseconds: UInt64)

        /// No leader was found in time.
        case giveUp
    }

    private enum State {
        case betweenRounds
        case asking(NodeAddress)
        case opening(NodeAddress)
        case ended
    }

    /// When the search ends at the latest, in monotonic nanoseconds.
    let deadline: UInt64

    private var state = State.betweenRounds
    private var roundCount: UInt64 = 0

    /// The candidates of the round that weren't asked yet.
    private var remaining: ArraySlice<NodeAddress> = []

    /// The nodes that were asked in this round, by a hint or not. None is asked twice, so a cycle of hints ends.
    private var asked: Set<NodeAddress> = []

    /// The hints that were followed in this round. Their number is bounded: a faulty node can invent any.
    private var hintCount = 0

    private static let maximumHintCount = 8
    private static let millisecond: UInt64 = 1_000_000

    /// The first wait, and the longest, in nanoseconds.
    private static let waits = (first: 10 * millisecond, longest: 500 * millisecond)

    /// The longest time for the answer of one node, in the first round and in later ones. It doubles with each round,
    /// for networks that are slower than a second.
    private static let limits = (first: 1_000 * millisecond, longest: 8_000 * millisecond)

    init(deadline: UInt64) { self.deadline = deadline }

    /// The search begins, or a wait has ended.
    ///
    /// - parameter candidates: the nodes to ask, in this order. Without any, the search gives up.
    mutating func beginRound(
        _ candidates: [NodeAddress], at now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> Action {
        guard case .betweenRounds = state, !candidates.isEmpty else { return giveUp() }
        roundCount += 1
        remaining = candidates[...]
        asked.removeAll(keepingCapacity: true)
        hintCount = 0
        return askNext(at: now, using: &generator)
    }

    /// The node of the last action answered.
    ///
    /// - parameter leader: the leader that it names; nil if it knows none.
    mutating func answered(
        leader: NodeAddress?, at now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> Action {
        // Only `ask` and `verify` are answered.
        guard case .asking(let node) = state else { return failed(at: now, using: &generator) }
        guard let leader else { return askNext(at: now, using: &generator) }
        guard let limit = limit(at: now) else { return giveUp() }
        if leader == node {
            state = .opening(node)
            return .open(node, until: limit)
        }
        guard hintCount < LeaderSearch.maximumHintCount, asked.insert(leader).inserted else {
            return askNext(at: now, using: &generator)
        }
        hintCount += 1
        state = .asking(leader)
        return .verify(leader, until: limit)
    }

    /// The last action failed.
    mutating func failed(at now: UInt64, using generator: inout some RandomNumberGenerator) -> Action {
        switch state {
        case .asking, .opening: askNext(at: now, using: &generator)
        // A wait can't fail, and an ended search has no actions.
        case .betweenRounds, .ended: giveUp()
        }
    }

    /// The database is open.
    mutating func connected() { state = .ended }

    /// Asks the next candidate; without one, ends the round.
    private mutating func askNext(at now: UInt64, using generator: inout some RandomNumberGenerator) -> Action {
        guard let limit = limit(at: now) else { return giveUp() }
        while let candidate = remaining.popFirst() {
            guard asked.insert(candidate).inserted else { continue }
            state = .asking(candidate)
            return .ask(candidate, until: limit)
        }
        state = .betweenRounds
        let longest = doubled(LeaderSearch.waits, roundCount)
        // Sessions that lost the same leader don't ask at the same time. The half of the remaining time leaves time for
        // a last round.
        let nanoseconds = min(.random(in: longest / 2...longest, using: &generator), (deadline - now) / 2)
        return .wait(nanoseconds: nanoseconds)
    }

    private mutating func giveUp() -> Action {
        state = .ended
        return .giveUp
    }

    /// The end of an action that begins now: it leaves time for another one. nil if no time is left for any.
    private func limit(at now: UInt64) -> UInt64? {
        // Waits for sockets count milliseconds.
        guard deadline > now, deadline - now >= LeaderSearch.millisecond else { return nil }
        return now + min(doubled(LeaderSearch.limits, roundCount), (deadline - now) / 2)
    }

    /// The duration of a round: the first, doubled by each round after it, up to the longest.
    private func doubled(_ durations: (first: UInt64, longest: UInt64), _ round: UInt64) -> UInt64 {
        min(durations.longest, durations.first << min(round - 1, 16))
    }
}
