import DequeModule

/// Who has which connection, and who waits: the decisions of a lane of connections, as a value.
///
/// A lane has `capacity` slots, each with a connection or with none yet. Requests are served in the order they came.
/// Two things bend that order:
///
/// - A waiting **thread** that came less than `patience` ago may be overtaken by another thread, as long as nobody but
///   threads waits. Handing a connection to a thread that sleeps costs a wake-up, during which the connection does
///   nothing; so the thread at the head is woken, and the connection goes to whoever asks first. After `patience` it is
///   handed over.
/// - Closing goes first.
///
/// A **barrier** is a request for all connections at once. It waits until the connections that are out are back;
/// requests that come later wait behind it.
struct LeaseStateMachine<Waiter> {
    /// What a request asks for.
    enum Request: Equatable {
        case connection
        case barrier
    }

    /// What a request gets.
    enum Grant: Equatable {
        /// The connection in a slot.
        case connection(Int)
        /// A slot without a connection: who gets it opens one.
        case open(Int)
        /// All connections.
        case all
    }

    enum Refusal: Equatable {
        case closed
        case tooManyWaiters(Int)
    }

    enum Answer: Equatable {
        case granted(Grant)
        case wait(id: Int)
        case refused(Refusal)
    }

    /// What is to do once the lock is released.
    enum Action {
        case grant(Waiter, Grant)
        /// A thread may ask again with `retry`.
        case wake(Waiter)
        case refuse(Waiter, Refusal)
        /// Drop the connection of a slot.
        case drop(Int)
    }

    private struct Entry {
        let id: Int
        let waiter: Waiter
        let request: Request
        let isThread: Bool
        let isFirst: Bool
        let arrival: UInt64
        var isWoken = false
    }

    /// Nanoseconds for which a waiting thread may be overtaken.
    static var patience: UInt64 { 1_000_000 }

    let capacity: Int
    let maximumWaiters: Int?

    /// Slots whose connections are here; the last one back is the first to go. With the tick in which it came.
    private var idle: [(slot: Int, tick: Int)] = []
    private var unopened: [Int]
    private var retiring: Set<Int> = []
    private(set) var leasedCount = 0
    private(set) var hasBarrier = false
    private(set) var isClosed = false
    private var waiters: Deque<Entry> = []
    private var suspendedCount = 0
    private var lastID = 0
    private var tick = 0

    /// - parameter opened: slots that have a connection from the start.
    init(capacity: Int, maximumWaiters: Int? = nil, opened: Int = 0) {
        self.capacity = capacity
        self.maximumWaiters = maximumWaiters
        idle = (0..<opened).map { ($0, 0) }
        unopened = Array((opened..<capacity).reversed())
    }

    var waiterCount: Int { waiters.count }
    var idleCount: Int { idle.count }
    private var hasFreeSlot: Bool { !idle.isEmpty || !unopened.isEmpty }

    // MARK: - Asking

    /// Whether a request that comes now may be served now.
    private func maySkipQueue(isThread: Bool, now: () -> UInt64) -> Bool {
        guard let head = waiters.first else { return true }
        // Only threads wait, the first of them not long, and a thread asks.
        return isThread && suspendedCount == 0 && head.request == .connection && isPatient(head, now: now())
    }

    /// Whether a waiting thread may still be overtaken.
    ///
    /// Clocks are read before the lock is taken: the one who comes first here may have come a moment later.
    private func isPatient(_ entry: Entry, now: UInt64) -> Bool {
        entry.isThread && now < entry.arrival &+ Self.patience
    }

    /// Asks for a connection that is open: nil where it would have to wait, or to open one.
    mutating func acquireIdle(isThread: Bool, now: () -> UInt64) -> Int? {
        guard !isClosed, !hasBarrier, !idle.isEmpty, maySkipQueue(isThread: isThread, now: now) else { return nil }
        leasedCount += 1
        return idle.removeLast().slot
    }

    /// Asks without waiting: nil where it would have to wait.
    mutating func acquireNow(isThread: Bool, now: () -> UInt64) -> Answer? {
        guard !isClosed else { return .refused(.closed) }
        guard !hasBarrier, hasFreeSlot, maySkipQueue(isThread: isThread, now: now) else { return nil }
        return .granted(takeSlot())
    }

    /// Asks, and waits if need be.
    ///
    /// - parameter isThread: whether a thread waits, not a task.
    /// - parameter isFirst: whether it goes before all who wait.
    mutating func acquire(
        _ request: Request, _ waiter: @autoclosure () -> Waiter, isThread: Bool, isFirst: Bool = false, now: UInt64
    ) -> Answer {
        guard !isClosed else { return .refused(.closed) }
        switch request {
        case .connection:
            if let answer = acquireNow(isThread: isThread, now: { now }) { return answer }
        case .barrier:
            if !hasBarrier, leasedCount == 0, waiters.isEmpty || isFirst {
                hasBarrier = true
                return .granted(.all)
            }
        }
        if let maximumWaiters, waiters.count >= maximumWaiters, !isFirst {
            return .refused(.tooManyWaiters(maximumWaiters))
        }
        lastID += 1
        let entry = Entry(
            id: lastID, waiter: waiter(), request: request, isThread: isThread, isFirst: isFirst, arrival: now)
        if isFirst { waiters.prepend(entry) } else { waiters.append(entry) }
        if !isThread { suspendedCount += 1 }
        return .wait(id: lastID)
    }

    /// A thread that was woken asks again: a grant, or nil to wait on.
    ///
    /// Only one thread is woken at a time: the next one, if there is a connection for it too, is in the actions.
    mutating func retry(id: Int, now: UInt64) -> (grant: Grant, actions: [Action])? {
        guard let index = index(of: id) else { return nil }
        guard !hasBarrier, hasFreeSlot, waiters[index].request == .connection else {
            waiters[index].isWoken = false
            return nil
        }
        remove(at: index)
        return (takeSlot(), pump(now: now))
    }

    /// Gives up waiting.
    ///
    /// - returns: nil if the waiter has been served or refused meanwhile.
    mutating func cancel(id: Int, now: UInt64) -> [Action]? {
        guard let index = index(of: id) else { return nil }
        remove(at: index)
        return pump(now: now)
    }

    /// The waiters that came before a time, which now give up.
    mutating func expire(arrivedBefore limit: UInt64, now: UInt64) -> (expired: [(Waiter, Request)], actions: [Action])
    {
        var expired: [(Waiter, Request)] = []
        // A waiter that goes first may be younger than those behind.
        while let index = waiters.firstIndex(where: { !$0.isThread && $0.arrival <= limit }) {
            expired.append((waiters[index].waiter, waiters[index].request))
            remove(at: index)
        }
        return (expired, expired.isEmpty ? [] : pump(now: now))
    }

    /// The arrival of the first task that waits.
    var firstSuspendedArrival: UInt64? { waiters.lazy.filter { !$0.isThread }.map(\.arrival).min() }

    // MARK: - Giving back

    /// A connection comes back.
    mutating func release(_ slot: Int, now: () -> UInt64) -> [Action] {
        leasedCount -= 1
        if !retiring.isEmpty, retiring.remove(slot) != nil {
            unopened.append(slot)
            return [.drop(slot)] + pump(now: now())
        }
        idle.append((slot, tick))
        return waiters.isEmpty ? [] : pump(now: now())
    }

    /// A slot comes back without a connection: it couldn't be opened.
    mutating func openingFailed(_ slot: Int, now: UInt64) -> [Action] {
        leasedCount -= 1
        retiring.remove(slot)
        unopened.append(slot)
        return pump(now: now)
    }

    /// The barrier ends.
    mutating func releaseBarrier(now: UInt64) -> [Action] {
        hasBarrier = false
        return pump(now: now)
    }

    // MARK: - Connections that go

    /// All connections are to go: those that are here at once, those that are out when they come back.
    mutating func retireAll() -> [Action] {
        let slots = idle.map(\.slot)
        idle.removeAll()
        unopened.append(contentsOf: slots)
        let absent = Set(0..<capacity).subtracting(unopened)
        retiring.formUnion(absent)
        return slots.map { .drop($0) }
    }

    /// Time passes: connections that nobody has had since the tick before go.
    mutating func advanceTick() -> [Action] {
        let stale = idle.filter { $0.tick < tick }.map(\.slot)
        idle.removeAll { $0.tick < tick }
        unopened.append(contentsOf: stale)
        tick += 1
        return stale.map { .drop($0) }
    }

    /// The connection of a slot is gone, under a barrier.
    mutating func forget(_ slot: Int) {
        idle.removeAll { $0.slot == slot }
        unopened.append(slot)
    }

    /// The connections are closed, under a barrier: everybody who waits is refused, and everybody who comes.
    mutating func close() -> [Action] {
        isClosed = true
        hasBarrier = false
        defer {
            waiters.removeAll()
            suspendedCount = 0
        }
        return waiters.map { .refuse($0.waiter, .closed) }
    }

    // MARK: - Inside

    private mutating func takeSlot() -> Grant {
        leasedCount += 1
        if let (slot, _) = idle.popLast() { return .connection(slot) }
        return .open(unopened.removeLast())
    }

    /// Serves who can be served.
    private mutating func pump(now: UInt64) -> [Action] {
        var actions: [Action] = []
        while let head = waiters.first, !hasBarrier {
            switch head.request {
            case .barrier:
                guard leasedCount == 0 else { return actions }
                remove(at: 0)
                hasBarrier = true
                actions.append(.grant(head.waiter, .all))
            case .connection:
                guard hasFreeSlot else { return actions }
                if suspendedCount == 0, isPatient(head, now: now) {
                    if !head.isWoken {
                        waiters[0].isWoken = true
                        actions.append(.wake(head.waiter))
                    }
                    return actions
                }
                remove(at: 0)
                actions.append(.grant(head.waiter, takeSlot()))
            }
        }
        return actions
    }

    private func index(of id: Int) -> Int? {
        // Those that go first are few, at the front. Behind them, numbers go up: of many who wait, any may give up.
        var low = 0
        while low < waiters.count, waiters[low].isFirst {
            if waiters[low].id == id { return low }
            low += 1
        }
        var high = waiters.count
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < waiters.count && waiters[low].id == id ? low : nil
    }

    private mutating func remove(at index: Int) {
        if !waiters[index].isThread { suspendedCount -= 1 }
        waiters.remove(at: index)
    }
}
