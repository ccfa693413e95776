/// Who has which connection, and who waits: the decisions of a group of connections, as a value.
///
/// A group has `capacity` slots, each with a connection or with none yet. Requests are served in the order they came.
/// Four things bend that order:
///
/// - One that came less than `patience` ago may be **overtaken**, as long as nobody waits who may not be. Handing a
///   connection to a thread that sleeps, or to a task that is suspended, costs a wake-up, during which the connection
///   does nothing; so it is woken, and the connection goes to whoever asks first.
/// - After `patience` a thread is handed a connection. A **task** that will run on Swift's threads never is: all of
///   them may be blocked by accesses that wait for this very connection. It is woken, and the connection stays free
///   until it asks.
/// - A task that was woken, and can't come, or has not come for a while, is **passed over** by those who need no
///   thread of Swift's.
/// - Closing goes first.
/// - While a barrier keeps the connections, and waits itself, they are **lent** to the accesses that it waits for.
///
/// A **barrier** is a request for all connections at once. It waits until the connections that are out are back;
/// requests that come later wait behind it. A barrier of a pool needs two groups: it has the writer, and waits for the
/// readers. A read that writes would wait for that writer, and the barrier for the read; so the writer is set aside,
/// and a request that `borrows` gets it before the barrier does.
struct LeaseStateMachine<Waiter> {
    /// What a request asks for.
    enum Request: Equatable {
        case connection
        case barrier
    }

    /// How one waits.
    enum WaiterKind: Equatable {
        /// A thread sleeps. It may overtake, and be overtaken.
        case thread
        /// A task is suspended, and will use the connection on Swift's threads. It may overtake, and be overtaken.
        case inlineTask
        /// A task is suspended, and will use the connection on the library's threads. It keeps its entry.
        case offloadedTask
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
        /// It may ask again with `retry`.
        case wake(Waiter)
        case refuse(Waiter, Refusal)
        /// Drop the connection of a slot.
        case drop(Int)
    }

    /// A entry in the line. Plain values: several are looked at in each step, and copying one takes no reference.
    private struct QueueEntry {
        let id: Int
        let request: Request
        let waiterKind: WaiterKind
        let isFirst: Bool
        /// Whether a barrier waits for the access that asks.
        let borrows: Bool
        let arrival: UInt64
        /// When it was woken, and has not asked since.
        var woken: UInt64?
        /// Whether it has asked, after its patience: it is awake.
        var isNext = false
    }

    /// Nanoseconds for which one that waits may be overtaken.
    static var patience: UInt64 { 1_000_000 }

    /// Nanoseconds for which a connection is kept for a task that was woken, at most.
    static var longestReservation: UInt64 { 50_000_000 }

    let capacity: Int
    let maximumWaiters: Int?
    private let isPoolBlocked: @Sendable () -> Bool

    /// Slots whose connections are here; the last one back is the first to go. With the tick in which it came.
    private var idle: [(slot: Int, tick: Int)] = []
    private var unopened: [Int]
    private var retiring: Set<Int> = []
    private(set) var leasedCount = 0
    private(set) var hasBarrier = false
    private(set) var isClosed = false
    /// The line, and who stands in each of its entries.
    private var entries: Deque<QueueEntry> = []
    private var waiters: Deque<Waiter> = []
    /// How many wait in order, and how many as tasks.
    private var offloadedTaskCount = 0
    private var inlineTaskCount = 0
    /// How many may borrow, and how many wait for all connections.
    private var borrowerCount = 0
    private(set) var waitingBarrierCount = 0
    private var lastID = 0
    private var tick = 0

    /// - parameter opened: slots that have a connection from the start.
    /// - parameter isPoolBlocked: whether no task goes on that is resumed.
    init(
        capacity: Int, maximumWaiters: Int? = nil, opened: Int = 0,
        isPoolBlocked: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isPoolBlocked = isPoolBlocked
        self.capacity = capacity
        self.maximumWaiters = maximumWaiters
        idle = (0..<opened).map { ($0, 0) }
        unopened = Array((opened..<capacity).reversed())
    }

    var waiterCount: Int { entries.count }
    var idleCount: Int { idle.count }
    private var freeCount: Int { idle.count + unopened.count }

    /// Whether tasks that were woken, and have not come, keep others waiting: `passOver` is called in a while then.
    var isToPassOver: Bool {
        inlineTaskCount > 0 && entries.count > inlineTaskCount && !hasBarrier && freeCount > 0
            && entries[0].woken != nil
    }

    // MARK: - Asking

    /// Whether a request that comes now may be served now.
    private func maySkipQueue(_ waiterKind: WaiterKind, now: () -> UInt64) -> Bool {
        guard let head = entries.first else { return true }
        // There is a connection for each that waits, and one more.
        if entries.count < freeCount, entries.allSatisfy({ $0.woken != nil }) { return true }
        return waiterKind != .offloadedTask && offloadedTaskCount == 0 && head.request == .connection
            && mayBeOvertaken(head, now: now())
    }

    /// Whether one that waits may still be overtaken.
    ///
    /// Clocks are read before the lock is taken: the one who comes first here may have come a moment later.
    private func mayBeOvertaken(_ entry: QueueEntry, now: UInt64) -> Bool {
        switch entry.waiterKind {
        case .offloadedTask: false
        case .inlineTask: isPatient(entry, now: now)
        // Until it is awake, the connection would do nothing. If that takes long, it is handed over.
        case .thread: isPatient(entry, now: now) || !entry.isNext && now < (entry.woken ?? now) &+ Self.patience
        }
    }

    private func isPatient(_ entry: QueueEntry, now: UInt64) -> Bool { now < entry.arrival &+ Self.patience }

    /// Asks for a connection that is open: nil where it would have to wait, or to open one.
    mutating func acquireIdle(_ waiterKind: WaiterKind, now: () -> UInt64) -> Int? {
        guard !isClosed, !hasBarrier, !idle.isEmpty, maySkipQueue(waiterKind, now: now) else { return nil }
        leasedCount += 1
        return idle.removeLast().slot
    }

    /// Asks without waiting: nil where it would have to wait.
    mutating func acquireNow(_ waiterKind: WaiterKind, now: () -> UInt64) -> Answer? {
        guard !isClosed else { return .refused(.closed) }
        guard !hasBarrier, freeCount > 0, maySkipQueue(waiterKind, now: now) else { return nil }
        return .granted(takeSlot())
    }

    /// Asks, and waits if need be.
    ///
    /// - parameter isFirst: whether it goes before all who wait.
    /// - parameter borrows: whether barriers of this group wait for the access that asks: they lend it a connection.
    mutating func acquire(
        _ request: Request, _ waiter: @autoclosure () -> Waiter, _ waiterKind: WaiterKind, isFirst: Bool = false,
        borrows: Bool = false, now: UInt64
    ) -> Answer {
        guard !isClosed else { return .refused(.closed) }
        switch request {
        case .connection:
            if hasBarrier, borrows, freeCount > 0 { return .granted(takeSlot()) }
            if let answer = acquireNow(waiterKind, now: { now }) { return answer }
        case .barrier:
            if !hasBarrier, leasedCount == 0, entries.isEmpty || isFirst {
                hasBarrier = true
                return .granted(.all)
            }
        }
        if let maximumWaiters, entries.count >= maximumWaiters, !isFirst {
            return .refused(.tooManyWaiters(maximumWaiters))
        }
        lastID += 1
        let entry = QueueEntry(
            id: lastID, request: request, waiterKind: waiterKind, isFirst: isFirst, borrows: borrows, arrival: now)
        if isFirst {
            entries.prepend(entry)
            waiters.prepend(waiter())
        } else {
            entries.append(entry)
            waiters.append(waiter())
        }
        count(entry, 1)
        return .wait(id: lastID)
    }

    /// One that was woken asks again: a grant, or nil to wait on.
    mutating func retry(id: Int, now: UInt64) -> (grant: Grant, actions: [Action])? {
        guard let index = index(of: id) else { return nil }
        if hasBarrier, entries[index].borrows, freeCount > 0 {
            remove(at: index)
            return (takeSlot(), [])
        }
        // Those before it have been woken too, and a connection is kept for each; if not for closing, which has come.
        guard !hasBarrier, index < freeCount, entries.prefix(index + 1).allSatisfy({ $0.request == .connection }) else {
            entries[index].woken = nil
            entries[index].isNext = !isPatient(entries[index], now: now)
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

    /// The tasks that came before a time, which now give up.
    mutating func expire(arrivedBefore limit: UInt64, now: UInt64) -> (expired: [(Waiter, Request)], actions: [Action])
    {
        var expired: [(Waiter, Request)] = []
        // A waiter that goes first may be younger than those behind.
        while let index = entries.firstIndex(where: { $0.waiterKind != .thread && $0.arrival <= limit }) {
            expired.append((waiters[index], entries[index].request))
            remove(at: index)
        }
        return (expired, expired.isEmpty ? [] : pump(now: now))
    }

    /// The arrival of the first task that waits.
    var firstSuspendedArrival: UInt64? { entries.lazy.filter { $0.waiterKind != .thread }.map(\.arrival).min() }

    // MARK: - Giving back

    /// A connection comes back.
    mutating func release(_ slot: Int, now: () -> UInt64) -> [Action] {
        leasedCount -= 1
        if !retiring.isEmpty, retiring.remove(slot) != nil {
            unopened.append(slot)
            return [.drop(slot)] + pump(now: now())
        }
        idle.append((slot, tick))
        return entries.isEmpty ? [] : pump(now: now())
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

    // MARK: - Setting aside

    /// The access that has the group's only connection waits for a barrier of another group. The connection is kept for
    /// it as by a barrier, and lent meanwhile.
    mutating func setAside(_ slot: Int) -> [Action] {
        leasedCount -= 1
        idle.append((slot, tick))
        hasBarrier = true
        return lend()
    }

    /// The barrier has come: the access has its connection again.
    ///
    /// - returns: false if the connection is still lent. That can't happen: it is lent only within accesses that the
    ///   barrier has waited for.
    mutating func takeBack(_ slot: Int) -> Bool {
        guard let index = idle.lastIndex(where: { $0.slot == slot }) else { return false }
        idle.remove(at: index)
        leasedCount += 1
        hasBarrier = false
        return true
    }

    /// Lends connections that a barrier keeps.
    mutating func lend() -> [Action] {
        var actions: [Action] = []
        while hasBarrier, borrowerCount > 0, freeCount > 0, let index = entries.firstIndex(where: \.borrows) {
            actions.append(grant(at: index))
        }
        return actions
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
            entries.removeAll()
            waiters.removeAll()
            offloadedTaskCount = 0
            inlineTaskCount = 0
            borrowerCount = 0
            waitingBarrierCount = 0
        }
        return waiters.map { .refuse($0, .closed) }
    }

    // MARK: - Inside

    private mutating func takeSlot() -> Grant {
        leasedCount += 1
        if let (slot, _) = idle.popLast() { return .connection(slot) }
        return .open(unopened.removeLast())
    }

    /// The line, for a `WaitGraph`.
    var queue: [WaitGraph.QueueEntry] {
        entries.map { WaitGraph.QueueEntry(id: $0.id, isBarrier: $0.request == .barrier, borrows: $0.borrows) }
    }

    /// How many connections may be had.
    var availableCount: Int { freeCount }

    /// Serves or wakes who can be served: as many as there are connections.
    private mutating func pump(now: UInt64) -> [Action] {
        var actions: [Action] = []
        /// How many were woken, and stay in the line.
        var index = 0
        while index < entries.count, index < freeCount, !hasBarrier {
            let entry = entries[index]
            if entry.request == .barrier {
                guard index == 0, leasedCount == 0 else { break }
                actions.append(grant(at: 0))
            } else if entry.waiterKind == .inlineTask || offloadedTaskCount == 0 && mayBeOvertaken(entry, now: now) {
                if entry.woken == nil {
                    entries[index].woken = now
                    actions.append(.wake(waiters[index]))
                }
                index += 1
            } else {
                actions.append(grant(at: index))
            }
        }
        if hasBarrier { return actions + lend() }
        return isToPassOver ? actions + passOver(now: now) : actions
    }

    /// Serves those who need no thread of Swift's, where tasks that were woken haven't come.
    mutating func passOver(now: UInt64) -> [Action] {
        var actions: [Action] = []
        // Thousands of tasks may stand before the one who is to be served: the first is asked before they are gone
        // through.
        while isToPassOver, entries[0].waiterKind != .inlineTask || isAbsent(entries[0], now: now),
            let index = entries.firstIndex(where: { $0.waiterKind != .inlineTask })
        {
            guard entries.prefix(min(index, freeCount)).allSatisfy({ isAbsent($0, now: now) }) else { break }
            if entries[index].request == .barrier, leasedCount > 0 { break }
            actions.append(grant(at: index))
        }
        return hasBarrier ? actions + lend() : actions
    }

    /// Whether one was woken, and can't come, or hasn't come for a while: a longer one where it had waited for long.
    private func isAbsent(_ entry: QueueEntry, now: UInt64) -> Bool {
        guard let woken = entry.woken, !isPoolBlocked() else { return entry.woken != nil }
        let waited = woken > entry.arrival ? woken - entry.arrival : 0
        return now >= woken &+ min(max(waited / 2, Self.patience), Self.longestReservation)
    }

    private mutating func grant(at index: Int) -> Action {
        let waiter = waiters[index]
        guard entries[index].request == .connection else {
            remove(at: index)
            hasBarrier = true
            return .grant(waiter, .all)
        }
        remove(at: index)
        return .grant(waiter, takeSlot())
    }

    private func index(of id: Int) -> Int? {
        // Those that go first are few, at the front. Behind them, numbers go up: of many who wait, any may give up.
        var low = 0
        while low < entries.count, entries[low].isFirst {
            if entries[low].id == id { return low }
            low += 1
        }
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }

    private mutating func remove(at index: Int) {
        count(entries[index], -1)
        entries.remove(at: index)
        waiters.remove(at: index)
    }

    private mutating func count(_ entry: QueueEntry, _ difference: Int) {
        if entry.borrows { borrowerCount += difference }
        if entry.request == .barrier { waitingBarrierCount += difference }
        switch entry.waiterKind {
        case .thread: break
        case .inlineTask: inlineTaskCount += difference
        case .offloadedTask: offloadedTaskCount += difference
        }
    }
}
