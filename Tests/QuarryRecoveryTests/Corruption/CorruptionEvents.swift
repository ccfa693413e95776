import Quarry
import QuarryRecovery

/// The events of a database, in order.
struct CorruptionEvents {
    let events: AsyncStream<CorruptionEvent>
    private let continuation: AsyncStream<CorruptionEvent>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream() }

    func listen(in configuration: inout Configuration) { configuration.onCorruption { yield($0) } }

    func yield(_ event: CorruptionEvent) { continuation.yield(event) }

    /// The next event.
    func next() async -> CorruptionEvent? {
        for await event in events { return event }
        return nil
    }
}
