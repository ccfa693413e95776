/// The decisions of a connection group, as a value: which access has which connection, and which waiter is served.
///
/// A group has `capacity` slots, each with or without an open connection. Requests are served in order of arrival. Five
/// rules change that order:
///
/// - A waiter that arrived less than `patience` ago may be **overtaken**, unless another waiter in the queue may not
///   be. Handing a connection to a sleeping thread or a suspended task costs a wake-up, during which the connection
///   does nothing. So the waiter is woken, and the connection goes to the first that asks.
/// - After `patience` a thread is handed a connection. A **task** that will run on Swift's threads never is: accesses
///   that wait for this very connection may block all of those threads. The task is woken, and the connection stays
///   free until it asks.
/// - A woken task that can't come, or hasn't come for a while, is **passed over** by waiters that need none of Swift's
///   threads.
/// - Closing goes first.
/// - While a barrier has the connections and waits itself, they are **lent** to the accesses that it waits for.
///
/// At most `maximumWaiters` requests of the program may wait, each for a limited time. Requests of the library itself
/// have no limits.
///
/// A **barrier** is a request for all connections at once. It waits until the leased connections are back, and later
/// requests wait behind it. A barrier of a pool needs two groups: it has the writer, and waits for the readers. A read
/// that writes would wait for that writer, and the barrier for the read. So the writer is lent meanwhile: a request
/// that `borrows` gets it before the barrier does. When the barrier has the readers too, the lending ends: no
/// connection is leased as long as the barrier may close them.
struct LeaseStateMachine<Waiter> {
    /// A waiter's position in the queue. It holds no reference, because each step copies several entries.
    private struct QueueEntry {
        let id: Int
        let request: Request
        let waiterKind: WaiterKind
        let origin: AccessRequest.Origin
        let isFirst: Bool
        /// Whether a barrier of this group may wait for the access, which then borrows the connection.
        let borrows: Bool
        /// Whether the access may go on with the transaction of the access before it.
        let joins: Bool
        let arrival: UInt64
        /// When the waiter gives up, if it is a task; `UInt64.max` for never. Threads look at the time themselves.
        let deadline: UInt64
        /// When the waiter was woken; nil once it has asked again.
        var woken: UInt64?
        /// Whether the waiter asked again after `patience`: it is awake, and can't be overtaken any more.
        var isNext = false
    }

    /// The numbers of entries of the queue, by what they are.
    private struct QueueCounts {
        var offloadedTasks = 0
        var inlineTasks = 0
        /// Requests of the program.
        var ofUsers = 0
        /// Requests of the library for a connection.
        var ofLibrary = 0
        /// Requests that may borrow.
        var borrowers = 0
        var barriers = 0
    }

    /// Nanoseconds for which a waiter may be overtaken.
    static var patience: UInt64 { 1_000_000 }

    /// The longest time for which a connection is reserved for a woken task, in nanoseconds.
    static var longestReservation: UInt64 { 50_000_000 }

    let capacity: Int
    let maximumWaiters: Int?
    private let lends: Bool
    private let isPoolBlocked: @Sendable () -> Bool

    private var slots: LeaseSlots
    private var barrier = Barrier.none
    var phase = ClosingPhase.open
    /// The queue, and the waiter of each entry.
    private var entries: Deque<QueueEntry> = []
    private var waiters: Deque<Waiter> = []
    private var counts = QueueCounts()
    /// The number of the last request that had to wait.
    private(set) var lastID = 0
    private var tick = 0

    /// - parameter opened: the number of slots that have a connection from the start.
    /// - parameter lends: whether the barriers of the group wait for another group, and so lend.
    /// - parameter isPoolBlocked: whether all of Swift's threads are blocked, so that no resumed task continues.
    init(
        capacity: Int, maximumWaiters: Int? = nil, opened: Int = 0, lends: Bool = false,
        isPoolBlocked: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isPoolBlocked = isPoolBlocked
        self.capacity = capacity
        self.maximumWaiters = maximumWaiters
        self.lends = lends
        slots = LeaseSlots(capacity: capacity, opened: opened)
    }

    var leasedCount: Int { slots.leasedCount }
    var hasBarrier: Bool { barrier != .none }
    var isClosed: Bool { phase == .closed }
    var waiterCount: Int { entries.count }
    /// The number of waiters, but for the library's own that wait for a connection.
    var programWaiterCount: Int { entries.count - counts.ofLibrary }
    var idleCount: Int { slots.idleCount }
    var waitingBarrierCount: Int { counts.barriers }

    /// Whether the connection of a slot is free, and neither a barrier nor closing has it.
    func isIdle(_ slot: Int) -> Bool { !hasBarrier && !isClosed && slots.state(of: slot) == .idle }

    private var freeCount: Int { slots.freeCount }

    /// Whether woken tasks that haven't come keep other waiters waiting. If so, `passOver` has to be called in a while.
    var isToPassOver: Bool {
        counts.inlineTasks > 0 && entries.count > counts.inlineTasks && !hasBarrier && freeCount > 0
            && entries[0].woken != nil
    }

    // MARK: - Asking

    /// Whether a request that arrives now may be served now.
    private func maySkipQueue(_ waiterKind: WaiterKind, now: () -> UInt64) -> Bool {
        guard let head = entries.first else { return true }
        // A connection is free for each waiter, and one more.
        if entries.count < freeCount, entries.allSatisfy({ $0.woken != nil }) { return true }
        return waiterKind != .offloadedTask && counts.offloadedTasks == 0 && head.request == .connection
            && mayBeOvertaken(head, now: now())
    }

    /// Whether a waiter may still be overtaken.
    ///
    /// Clocks are read before the lock is taken, so requests may come here in another order than their times.
    private func mayBeOvertaken(_ entry: QueueEntry, now: UInt64) -> Bool {
        switch entry.waiterKind {
        case .offloadedTask: false
        case .inlineTask: isPatient(entry, now: now)
        // Until the thread is awake, the connection would do nothing. If that takes long, the connection is handed
        // over.
        case .thread: isPatient(entry, now: now) || !entry.isNext && now < (entry.woken ?? now) &+ Self.patience
        }
    }

    private func isPatient(_ entry: QueueEntry, now: UInt64) -> Bool { now < entry.arrival &+ Self.patience }

    /// Asks for an idle connection; nil if the access would have to wait, or to open one.
    mutating func acquireIdle(_ waiterKind: WaiterKind, now: () -> UInt64) -> Int? {
        guard phase.isOpen, !hasBarrier, slots.idleCount > 0, maySkipQueue(waiterKind, now: now) else { return nil }
        return slots.takeIdle()
    }

    /// Asks without waiting; nil if the access would have to wait.
    mutating func acquireNow(_ waiterKind: WaiterKind, now: () -> UInt64) -> Answer? {
        guard !isClosed else { return .refused(.closed) }
        guard !hasBarrier, freeCount > 0, maySkipQueue(waiterKind, now: now) else { return nil }
        return .granted(takeSlot())
    }

    /// Asks, and enters the queue if nothing is free.
    ///
    /// - parameter requester: decides whether the request is refused while the group closes.
    /// - parameter isFirst: whether the request goes before all waiters.
    /// - parameter borrows: whether barriers of this group wait for the access, and so lend it their connection.
    /// - parameter deadline: when a waiting task gives up.
    /// - parameter joins: whether the access may go on with the transaction of the access before it.
    mutating func acquire(
        _ request: Request, _ waiter: @autoclosure () -> Waiter, _ waiterKind: WaiterKind,
        _ origin: AccessRequest.Origin = .user, _ requester: ClosingPhase.Requester = .newcomer, isFirst: Bool = false,
        borrows: Bool = false, deadline: UInt64 = .max, joins: Bool = false, now: UInt64
    ) -> Answer {
        if !phase.isOpen, let refusal: Refusal = phase.refusal(of: requester) { return .refused(refusal) }
        switch request {
        case .connection:
            if barrier == .lending, borrows, freeCount > 0 { return .granted(takeSlot()) }
            if let answer = acquireNow(waiterKind, now: { now }) { return answer }
        case .barrier:
            if !hasBarrier, leasedCount == 0, entries.isEmpty || isFirst { return .granted(takeAll()) }
        }
        if let maximumWaiters, origin == .user, counts.ofUsers >= maximumWaiters, !isFirst {
            return .refused(.tooManyWaiters(maximumWaiters))
        }
        lastID += 1
        let entry = QueueEntry(
            id: lastID, request: request, waiterKind: waiterKind, origin: origin, isFirst: isFirst, borrows: borrows,
            joins: joins, arrival: now, deadline: waiterKind == .thread ? .max : deadline)
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

    /// A woken waiter asks again. Returns a grant, or nil to continue waiting.
    mutating func retry(id: Int, now: UInt64) -> (grant: Grant, actions: [Action])? {
        guard let index = index(of: id) else { return nil }
        if barrier == .lending, entries[index].borrows, freeCount > 0 {
            remove(at: index)
            return (takeSlot(), [])
        }
        // The waiters before it have been woken too, and a connection is kept for each, unless closing has come first.
        guard !hasBarrier, index < freeCount, entries.prefix(index + 1).allSatisfy({ $0.request == .connection }) else {
            entries[index].woken = nil
            entries[index].isNext = !isPatient(entries[index], now: now)
            return nil
        }
        remove(at: index)
        return (takeSlot(), pump(now: now))
    }

    /// A waiter gives up.
    ///
    /// - returns: nil if the waiter has been served or refused meanwhile.
    mutating func cancel(id: Int, now: UInt64) -> [Action]? {
        guard let index = index(of: id) else { return nil }
        remove(at: index)
        return pump(now: now)
    }

    /// The tasks whose deadlines have passed give up.
    mutating func expire(now: UInt64) -> (expired: [(Waiter, Request)], actions: [Action]) {
        var expired: [(Waiter, Request)] = []
        while let index = entries.firstIndex(where: { $0.deadline <= now }) {
            expired.append((waiters[index], entries[index].request))
            remove(at: index)
        }
        return (expired, expired.isEmpty ? [] : pump(now: now))
    }

    /// The earliest time at which a waiting task gives up; `UInt64.max` for never.
    var firstDeadline: UInt64 { entries.lazy.map(\.deadline).min() ?? .max }

    // MARK: - Releasing

    /// A connection comes back.
    mutating func release(_ slot: Int, now: () -> UInt64) -> [Action] {
        if slots.retires(slot) { return slots.giveBackUnopened(slot) ? [.drop(slot)] + pump(now: now()) : [] }
        guard slots.giveBack(slot, tick: tick) else { return [] }
        return entries.isEmpty ? [] : pump(now: now())
    }

    /// A connection doesn't come back, but goes on to the waiter at the front, with its open transaction.
    ///
    /// - returns: nil if that waiter doesn't join.
    mutating func pass(_ slot: Int) -> Action? {
        guard phase.isOpen, !hasBarrier, entries.first?.joins ?? false, !slots.retires(slot) else { return nil }
        let waiter = waiters[0]
        remove(at: 0)
        return .grant(waiter, .connection(slot))
    }

    /// A slot comes back without a connection, which couldn't be opened.
    mutating func openingFailed(_ slot: Int, now: UInt64) -> [Action] {
        guard slots.giveBackUnopened(slot) else { return [] }
        return pump(now: now)
    }

    /// A barrier begins without a request, on a group that is unused. It lends nothing.
    mutating func beginBarrier() { barrier = .keeping }

    /// The barrier ends.
    mutating func releaseBarrier(now: UInt64) -> [Action] {
        barrier = .none
        return dropIdle { _, retires in retires } + pump(now: now)
    }

    // MARK: - Lending

    /// The access that has the group's only connection waits for a barrier of another group. The connection is kept for
    /// it as for a barrier, and lent meanwhile.
    mutating func setAside(_ slot: Int) -> [Action] {
        guard slots.giveBack(slot, tick: tick) else { return [] }
        barrier = .lending
        return lend()
    }

    /// The barrier of the other group is granted: the access has its connection again.
    ///
    /// - returns: false if the connection is still lent. That can't happen: the connection is lent only to accesses
    ///   that the barrier has waited for.
    mutating func takeBack(_ slot: Int) -> Bool {
        guard barrier == .lending, slots.take(slot) else { return false }
        barrier = .none
        return true
    }

    /// The barriers of all groups are granted, and their connections are about to be closed: nothing is lent any more.
    ///
    /// - returns: false if a connection is still lent, which can't happen, as with `takeBack`.
    mutating func endLending() -> Bool {
        guard hasBarrier, leasedCount == 0 else { return false }
        barrier = .keeping
        return true
    }

    /// Lends connections that a barrier has.
    mutating func lend() -> [Action] {
        var actions: [Action] = []
        while barrier == .lending, counts.borrowers > 0, freeCount > 0, let index = entries.firstIndex(where: \.borrows)
        {
            actions.append(grant(at: index))
        }
        return actions
    }

    // MARK: - Dropping

    /// All connections are to be dropped: idle ones at once, leased ones when they come back, and those that another
    /// caller's barrier has, which may be closing them, at its end.
    ///
    /// - parameter hasOwnBarrier: whether a barrier is the caller's.
    mutating func retireAll(hasOwnBarrier: Bool = false) -> [Action] {
        let actions = hasBarrier && !hasOwnBarrier ? [] : dropIdle { _, _ in true }
        slots.retireAll()
        return actions
    }

    /// Idle connections are dropped, but for those that a barrier or closing has.
    mutating func dropIdle() -> [Action] { phase.isOpen && !hasBarrier ? dropIdle { _, _ in true } : [] }

    private mutating func dropIdle(where isDropped: (_ tick: Int, _ retires: Bool) -> Bool) -> [Action] {
        slots.dropIdle(where: isDropped).map { .drop($0) }
    }

    /// Whether a request of the program still waits that came no later than a given one.
    func isWaiting(upTo id: Int) -> Bool { entries.contains { $0.id <= id && $0.origin != .library } }

    /// A tick of the clock: connections that were idle since the tick before are dropped.
    mutating func advanceTick() -> [Action] {
        defer { tick += 1 }
        let now = tick
        return hasBarrier ? [] : dropIdle { tick, _ in tick < now }
    }

    /// The connection of a slot was closed under a barrier.
    ///
    /// - returns: false if the barrier lends, or if an access has the slot: then the slot stays as it is.
    mutating func forget(_ slot: Int) -> Bool { barrier == .keeping && slots.forget(slot) }

    /// A connection was opened for a slot outside of any access. A barrier keeps it as it keeps the others: closing,
    /// which waits for the access that has opened it, closes it after that access's own connection.
    ///
    /// - returns: false if the slot is in use, or has a connection.
    mutating func adopt(_ slot: Int) -> Bool {
        !isClosed && slots.adopt(slot, tick: tick)
    }

    /// All connections were closed under a barrier: each waiter and each later request is refused.
    mutating func close() -> [Action] {
        phase = .closed
        barrier = .none
        defer {
            entries.removeAll()
            waiters.removeAll()
            counts = QueueCounts()
        }
        return waiters.map { .refuse($0, .closed) }
    }

    /// The grace period of closing has ended: each waiter is refused, but for barriers that close.
    mutating func endGracePeriod(now: UInt64) -> [Action] {
        phase.endGracePeriod()
        var actions: [Action] = []
        while let index = entries.firstIndex(where: { !$0.isFirst }) {
            actions.append(.refuse(waiters[index], .gracePeriodEnded))
            remove(at: index)
        }
        return actions + pump(now: now)
    }

    // MARK: - Inside

    /// A free slot, of which there is one.
    private mutating func takeSlot() -> Grant {
        let state: LeaseSlots.State = barrier == .lending ? .lent : .leased
        if let slot = slots.takeIdle(as: state) { return .connection(slot) }
        return .open(slots.takeUnopened(as: state))
    }

    private mutating func takeAll() -> Grant {
        barrier = lends ? .lending : .keeping
        return .all
    }

    /// The queue, for a `WaitGraph`.
    var queue: [WaitGraph.QueueEntry] {
        entries.map { WaitGraph.QueueEntry(id: $0.id, isBarrier: $0.request == .barrier, borrows: $0.borrows) }
    }

    /// Whether closing, or another request for all connections, waits for the running accesses.
    var isAwaitedByBarrier: Bool { !phase.isOpen || entries.contains { $0.request == .barrier } }

    /// The number of free slots.
    var availableCount: Int { freeCount }

    /// Serves or wakes waiters from the front, as many as there are free slots.
    private mutating func pump(now: UInt64) -> [Action] {
        var actions: [Action] = []
        /// The number of woken waiters that stay in the queue.
        var index = 0
        while index < entries.count, index < freeCount, !hasBarrier {
            let entry = entries[index]
            if entry.request == .barrier {
                guard index == 0, leasedCount == 0 else { break }
                actions.append(grant(at: 0))
            } else if entry.waiterKind == .inlineTask || counts.offloadedTasks == 0 && mayBeOvertaken(entry, now: now) {
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

    /// Serves waiters that need none of Swift's threads, in place of woken tasks that haven't come.
    mutating func passOver(now: UInt64) -> [Action] {
        var actions: [Action] = []
        // Thousands of tasks may be in front of the waiter to be served: the first is checked before the search.
        while isToPassOver, entries[0].waiterKind != .inlineTask || isAbsent(entries[0], now: now),
            let index = entries.firstIndex(where: { $0.waiterKind != .inlineTask })
        {
            guard entries.prefix(min(index, freeCount)).allSatisfy({ isAbsent($0, now: now) }) else { break }
            if entries[index].request == .barrier, leasedCount > 0 { break }
            actions.append(grant(at: index))
        }
        return hasBarrier ? actions + lend() : actions
    }

    /// Whether a woken waiter can't come, or hasn't come for a while. The while is longer after a long wait.
    private func isAbsent(_ entry: QueueEntry, now: UInt64) -> Bool {
        guard let woken = entry.woken, !isPoolBlocked() else { return entry.woken != nil }
        let waited = woken > entry.arrival ? woken - entry.arrival : 0
        return now >= woken &+ min(max(waited / 2, Self.patience), Self.longestReservation)
    }

    private mutating func grant(at index: Int) -> Action {
        let waiter = waiters[index]
        guard entries[index].request == .connection else {
            remove(at: index)
            return .grant(waiter, takeAll())
        }
        remove(at: index)
        return .grant(waiter, takeSlot())
    }

    private func index(of id: Int) -> Int? {
        // Few entries go first, at the front. Behind them the numbers ascend, and a binary search is needed: of many
        // waiters, any may give up.
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
        switch entry.origin {
        case .user: counts.ofUsers += difference
        case .library: if entry.request == .connection { counts.ofLibrary += difference }
        case .continuation: break
        }
        if entry.borrows { counts.borrowers += difference }
        if entry.request == .barrier { counts.barriers += difference }
        switch entry.waiterKind {
        case .thread: break
        case .inlineTask: counts.inlineTasks += difference
        case .offloadedTask: counts.offloadedTasks += difference
        }
    }
}
