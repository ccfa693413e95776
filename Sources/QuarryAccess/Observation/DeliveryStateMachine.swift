/// The events that wait for the receiver of an observation, and whether an action is scheduled. A value.
///
/// At most one action is scheduled or running, so events are received one after another, in order, even on a concurrent
/// queue.
struct DeliveryStateMachine<Event> {
    enum Phase: Equatable, Sendable {
        case idle
        /// An action is scheduled.
        case scheduled
        /// An action runs the callback.
        case running
        /// No callback begins any more.
        case ended
    }

    private(set) var phase: Phase
    private var waiting: [Event] = []

    /// The number of waiting events.
    var waitingCount: Int { waiting.count }

    /// - parameter isScheduled: whether the owner runs an action in any case, as `start` does for a first value that it
    ///   receives itself.
    init(isScheduled: Bool = false) { phase = isScheduled ? .scheduled : .idle }

    /// An event arrives.
    ///
    /// - parameter replacesLast: whether it replaces an event that still waits.
    /// - returns: whether an action must be scheduled, and the replaced event, to be released without a lock.
    mutating func receive(_ event: Event, replacesLast: Bool = false) -> (mustSchedule: Bool, released: Event?) {
        guard phase != .ended else { return (false, event) }
        let released = replacesLast ? waiting.popLast() : nil
        waiting.append(event)
        guard phase == .idle else { return (false, released) }
        phase = .scheduled
        return (true, released)
    }

    /// The scheduled action runs.
    ///
    /// - returns: the event to receive; nil if there is none, or if the observation has ended.
    mutating func begin() -> Event? {
        guard phase == .scheduled else { return nil }
        guard !waiting.isEmpty else {
            phase = .idle
            return nil
        }
        phase = .running
        return waiting.removeFirst()
    }

    /// The callback has returned.
    ///
    /// - returns: whether an action must be scheduled.
    mutating func finish() -> Bool {
        guard phase == .running else { return false }
        phase = waiting.isEmpty ? .idle : .scheduled
        return phase == .scheduled
    }

    /// No callback begins any more.
    ///
    /// - returns: the waiting events, to be released without a lock.
    mutating func end() -> [Event] {
        phase = .ended
        defer { waiting = [] }
        return waiting
    }
}
