import QuarryCore

/// The events of a traced access that wait for their delivery.
struct TracedEvents {
    enum Event {
        case statement(TracedStatements.Ended)
        case slowStatement(TracedStatements.Ended, QueryPlan?)
        case failure(DatabaseError, DatabaseTraceEvent.Severity)
    }

    /// The events that wait at most, before they are delivered in the middle of the access.
    static let capacity = 256

    private var events: [Event] = []

    var isEmpty: Bool { events.isEmpty }

    /// Whether the events have to be delivered.
    var isFull: Bool { events.count >= Self.capacity }

    mutating func append(_ event: Event) { events.append(event) }

    /// The error of a statement that has ended is known.
    mutating func note(_ code: ResultCode, of pointer: SQLiteStatement) {
        // Its end is one of the last events.
        let index = events.lastIndex { event in
            if case .statement(let ended) = event { ended.pointer == pointer } else { false }
        }
        guard let index, case .statement(var ended) = events[index], ended.errorCode == nil else { return }
        ended.errorCode = code
        events[index] = .statement(ended)
    }

    /// Takes the events out.
    mutating func take() -> [Event] {
        defer { events = [] }
        return events
    }
}
