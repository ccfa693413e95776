/// The subscribers of a shared observation, and the observation that serves them. A value.
struct SharedObservationStateMachine<Value, Subscriber> {
    enum Upstream {
        case idle
        case running
        /// Ended with an error, which later subscribers receive.
        case failed(any Error)
    }

    /// The result of a subscription.
    enum Subscription {
        /// Start the observation with this number, then call `join`.
        case start(Int)
        /// The observation runs: call `join`.
        case running
        /// The subscriber receives the error, and nothing else.
        case failed(any Error)
    }

    private let extent: SharedValueObservationExtent
    private(set) var upstream = Upstream.idle
    /// The number of the last started observation: late values of earlier ones are ignored.
    private var number = 0
    private(set) var lastValue: Value?
    /// In the order of their subscription, which is that of their numbers.
    private var subscribers: [(id: Int, subscriber: Subscriber, hasJoined: Bool)] = []
    private var lastID = 0

    init(_ extent: SharedValueObservationExtent) { self.extent = extent }

    var subscriberCount: Int { subscribers.count }

    mutating func subscribe(_ subscriber: Subscriber) -> (id: Int, Subscription) {
        lastID += 1
        switch upstream {
        case .failed(let error): return (lastID, .failed(error))
        case .running:
            subscribers.append((lastID, subscriber, false))
            return (lastID, .running)
        case .idle:
            subscribers.append((lastID, subscriber, false))
            upstream = .running
            number += 1
            return (lastID, .start(number))
        }
    }

    /// From now on, the subscriber receives each value.
    ///
    /// - returns: the last value, which it has missed.
    mutating func join(_ id: Int) -> Value? {
        guard let index = index(of: id), !subscribers[index].hasJoined else { return nil }
        subscribers[index].hasJoined = true
        return lastValue
    }

    /// Whether the observation with this number is the current one.
    func isCurrent(_ number: Int) -> Bool {
        guard case .running = upstream else { return false }
        return number == self.number
    }

    /// - returns: the subscribers to receive the value, in the order of their subscription, and the value before, to be
    ///   released without a lock.
    mutating func receive(_ value: Value, from number: Int) -> (subscribers: [Subscriber], released: Value?) {
        guard isCurrent(number) else { return ([], value) }
        defer { lastValue = value }
        return (subscribers.filter(\.hasJoined).map(\.subscriber), lastValue)
    }

    /// - returns: the subscribers to receive the error. The next subscriber starts the observation again, or receives
    ///   the error, depending on the extent.
    mutating func fail(_ error: any Error, from number: Int) -> (subscribers: [Subscriber], released: Value?) {
        guard isCurrent(number) else { return ([], nil) }
        switch extent {
        case .whileObserved: upstream = .idle
        case .observationLifetime: upstream = .failed(error)
        }
        defer {
            subscribers = []
            lastValue = nil
        }
        return (subscribers.map(\.subscriber), lastValue)
    }

    /// - returns: whether the observation ends, and objects to be released without a lock.
    mutating func unsubscribe(_ id: Int) -> (endsUpstream: Bool, released: (Subscriber?, Value?)) {
        guard let index = index(of: id) else { return (false, (nil, nil)) }
        let removed = subscribers.remove(at: index)
        guard subscribers.isEmpty, case .whileObserved = extent, case .running = upstream else {
            return (false, (removed.subscriber, nil))
        }
        upstream = .idle
        defer { lastValue = nil }
        return (true, (removed.subscriber, lastValue))
    }

    private func index(of id: Int) -> Int? {
        var range = subscribers.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if subscribers[middle].id == id { return middle }
            range = subscribers[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}
