internal import NIOCore
internal import Synchronization

/// The clients of `GET /events`, each with a bounded buffer.
///
/// A broadcast waits for no client. A client whose buffer is full is disconnected: it connects again, and is told the
/// present state first.
final class EventSubscribers: Sendable {
    private struct Client {
        let events: AsyncStream<ByteBuffer>.Continuation
        let disconnect: @Sendable () -> Void
    }

    private struct State {
        var clients: [Int: Client] = [:]
        var nextID = 0
        var disconnectedCount = 0
        /// The events that tell the present state to a new client, by kind.
        var present: [String: ByteBuffer] = [:]
    }

    private let state = Mutex(State())
    private let limit: Int
    private let buffer: Int

    init(limit: Int, buffer: Int) {
        self.limit = limit
        self.buffer = max(buffer, 1)
    }

    var count: Int { state.withLock(\.clients.count) }

    /// How many clients were disconnected because they were too slow.
    var disconnectedCount: Int { state.withLock(\.disconnectedCount) }

    /// The events from now on, the present state first; nil if there are too many clients.
    ///
    /// The client leaves when its loop over the events ends.
    ///
    /// - parameter disconnect: called if the client is too slow.
    func subscribe(disconnect: @escaping @Sendable () -> Void) -> AsyncStream<ByteBuffer>? {
        let (stream, events) = AsyncStream.makeStream(
            of: ByteBuffer.self, bufferingPolicy: .bufferingOldest(buffer))
        let id: Int? = state.withLock { state in
            guard state.clients.count < limit else { return nil }
            let id = state.nextID
            state.nextID += 1
            // Yielded under the lock, so that no broadcast comes before the present state.
            // The statistics come first, then the running imports.
            for (_, event) in state.present.sorted(by: { $0.key > $1.key }) { events.yield(event) }
            state.clients[id] = Client(events: events, disconnect: disconnect)
            return id
        }
        guard let id else { return nil }
        events.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    /// Sends an event to all clients.
    ///
    /// - parameter kind: the kind whose present state it is; nil for an event that new clients aren't told.
    func send(_ event: ByteBuffer, presentOf kind: String? = nil) {
        let slow = state.withLock { state in
            if let kind { state.present[kind] = event }
            var slow: [Client] = []
            for (id, client) in state.clients {
                if case .dropped = client.events.yield(event) {
                    slow.append(client)
                    state.clients[id] = nil
                    state.disconnectedCount += 1
                }
            }
            return slow
        }
        for client in slow {
            client.events.finish()
            client.disconnect()
        }
    }

    /// New clients aren't told of the kind any more.
    func forget(_ kind: String) { state.withLock { $0.present[kind] = nil } }

    private func remove(_ id: Int) { _ = state.withLock { $0.clients.removeValue(forKey: id) } }
}
