import QuarryCore
import Synchronization

/// Connections of one kind, and the queue of accesses that wait for one: the writer of a database, or its readers.
///
/// `LeaseStateMachine` decides. This type takes the lock, asks the machine, releases the lock, and acts.
package final class ConnectionGroup: Sendable {
    typealias Machine = LeaseStateMachine<any LeaseWaiter>

    struct State {
        var machine: Machine
        /// The connections by slot; nil in a slot whose connection isn't open.
        var connections: [Connection?]
        /// The connection that is being closed, which must not be interrupted.
        var closing: Connection?
        /// The holders of slots whose access has not begun: threads that open the connection, tasks that wait for
        /// another connection.
        var holders: [Int: UInt] = [:]
        var barrier = BarrierHolder.unknown
        /// The groups that close together with this one: an access of one may need a connection of another to end.
        var closingGroups: [ConnectionGroup] = []
        /// When the timer of the waiting tasks fires; `UInt64.max` if none is set.
        var timerEnd = UInt64.max
        var isWatching = false
        var isTicking = false
        var counts = GroupCounts()
        var dropped = DroppedConnections()
        /// Called when the group may have become unused; nil as long as its pool is alive.
        var whenUnused: (@Sendable () -> Void)?
    }

    /// A connection of a group, which one thread after another uses.
    package struct Connection: @unchecked Sendable {
        // Sendable: only the thread that has the slot's lease, or that has just opened the connection, uses it. Other
        // threads only compare its owner, and interrupt it, with the group's lock held.
        package let database: Database
        /// When the access got the connection, if it is timed; otherwise 0.
        var timedSince: UInt64 = 0

        package init(database: Database) { self.database = database }
    }

    /// The name of a connection in messages: `the writer of players.sqlite`.
    let name: String
    let limits: Limits
    /// The clock of waits.
    package var clock: MonotonicClock { limits.clock }
    let state: Lock<State>
    /// Opens a connection. Released after the connections: a `PoolOpener`, which it holds, ends when they are closed.
    private let open: @Sendable () throws -> Database
    /// Whether a connection seems to be idle. Lets spinning waiters poll without taking the lock, which the releasing
    /// thread needs.
    let hasIdle = Atomic<Bool>(false)
    /// Tells when to look for unused connections; nil to keep them.
    let idleClock: IdleClock?
    /// The group that a barrier of this group also waits for: a writer's readers. Meanwhile the writer is lent to their
    /// accesses.
    let barredGroup: ConnectionGroup?
    /// Ends the work that has the slot of a group without connections; nil for a group of connections.
    let endWork: (@Sendable (DatabaseError) -> Void)?
    /// The gate of a database in a directory; nil for any other.
    let gate: (any DatabaseGate)?

    /// - parameter connections: the connections that are already open.
    /// - parameter endWork: ends the work for which a group without connections is made.
    /// - parameter open: opens another connection.
    package init(
        _ name: String, capacity: Int, limits: Limits, connections: [Connection] = [], idleClock: IdleClock? = nil,
        barredGroup: ConnectionGroup? = nil, endWork: (@Sendable (DatabaseError) -> Void)? = nil,
        gate: (any DatabaseGate)? = nil, open: @escaping @Sendable () throws -> Database
    ) {
        self.name = name
        self.limits = limits
        self.open = open
        self.idleClock = idleClock
        self.barredGroup = barredGroup
        self.endWork = endWork
        self.gate = gate
        var slots: [Connection?] = connections
        slots += Array(repeating: nil, count: capacity - slots.count)
        state = Lock(
            State(
                machine: Machine(
                    capacity: capacity, maximumWaiters: limits.maximumWaiters, opened: connections.count,
                    lends: barredGroup != nil, isPoolBlocked: { CooperativePool.isBlocked }),
                connections: slots))
    }

    deinit { idleClock?.remove(ObjectIdentifier(state)) }

    // MARK: - State

    /// The connection that this thread has, if it has one.
    package var ownedConnection: Database? {
        state.withLock { state in
            state.connections.first { $0?.database.isOwned ?? false } ?? nil
        }?.database
    }

    var isClosed: Bool { state.withLock { $0.machine.isClosed } }

    /// Whether closing, or another request for all connections, waits for the running accesses.
    var isAwaitedByBarrier: Bool { state.withLock { $0.machine.isAwaitedByBarrier } }

    /// The number of open connections.
    var connectionCount: Int { state.withLock { state in state.connections.count { $0 != nil } } }

    /// The number of waiting accesses.
    package var waiterCount: Int { state.withLock { $0.machine.waiterCount } }

    // MARK: - Threads

    /// Waits for a connection on this thread.
    @inline(__always)
    func lease(
        _ origin: AccessRequest.Origin = .user, _ trace: AccessTrace? = nil, until deadline: AccessDeadline? = nil
    ) throws -> Lease {
        if origin != .continuation, let lease = try leaseNow() { return lease }
        return try leaseLater(origin, trace, deadline)
    }

    @inline(never)
    private func leaseLater(_ origin: AccessRequest.Origin, _ trace: AccessTrace?, _ deadline: AccessDeadline?) throws
        -> Lease
    {
        if origin == .continuation {
            // A continued write takes its turn, even if a connection was just released: others wait for it. A thread
            // that already has a connection would wait forever.
            if ownedConnection != nil { throw DatabaseError.reentrantAccess(name) }
        } else {
            // Most accesses take less time than falling asleep and waking up.
            for _ in 0..<Self.spinCount {
                SystemClock.pause()
                if hasIdle.load(ordering: .relaxed), let lease = try leaseNow() { return lease }
            }
        }
        let (grant, arrival) = try wait(
            for: .connection, origin, trace, deadline: deadline,
            as: origin == .continuation ? .offloadedTask : .thread)
        return try take(grant, arrival: arrival)
    }

    /// How often a thread looks for a connection before it falls asleep: about two microseconds.
    private static let spinCount = CooperativePool.width > 1 ? 20 : 0

    /// A connection, if this thread can have one immediately.
    private func leaseNow() throws -> Lease? {
        // Not `withLock`: each access takes this path, and a throwing closure isn't inlined.
        state.lock()
        defer { state.unlock() }
        if state.contents.pointee.machine.leasedCount > 0 || state.contents.pointee.machine.hasBarrier {
            // A connection that this thread has would never come back while the thread waits, and its own barrier would
            // never end.
            for connection in state.contents.pointee.connections {
                if let connection, connection.database.isOwned { throw DatabaseError.reentrantAccess(name) }
            }
            switch state.contents.pointee.barrier {
            case .unknown: break
            case .access(let holder, _): if holder.database.isOwned { throw DatabaseError.reentrantAccess(name) }
            case .window(let thread), .gate(let thread):
                if thread == Database.currentThread { throw DatabaseError.accessOfClosedDatabase(name) }
            }
        }
        return idleLease(.thread)
    }

    /// An idle connection, if the waiter may have it. The caller has the lock.
    private func idleLease(_ waiterKind: Machine.WaiterKind) -> Lease? {
        let slot = state.contents.pointee.machine.acquireIdle(
            waiterKind, now: { clock.now })
        hasIdle.store(state.contents.pointee.machine.idleCount > 0, ordering: .relaxed)
        guard let slot, let connection = state.contents.pointee.connections[slot] else { return nil }
        // Made first, so that the connection needn't be retained for the call.
        let lease = Lease(connection.database, slot: slot)
        if state.contents.pointee.counts.countAccess() { beginTiming(slot) }
        return lease
    }

    /// Waits on this thread for a connection or a barrier.
    ///
    /// - parameter requester: decides whether the request is refused while the group closes; nil for `newcomer`, or
    ///   `admitted` inside an access of this thread.
    /// - parameter deadline: when the thread gives up, if `acquireTimeout` doesn't come first.
    /// - returns: the grant, and when the thread began to wait, if it had to.
    @discardableResult
    func wait(
        for request: Machine.Request, _ origin: AccessRequest.Origin = .user, _ trace: AccessTrace? = nil,
        _ requester: ClosingPhase.Requester? = nil, isFirst: Bool = false, deadline: AccessDeadline? = nil,
        as waiterKind: Machine.WaiterKind = .thread
    ) throws -> (grant: Machine.Grant, arrival: UInt64?) {
        try CooperativePool.blocking {
            try sleep(until: request, origin, trace, requester, isFirst: isFirst, deadline: deadline, waiterKind)
        }
    }

    private func sleep(
        until request: Machine.Request, _ origin: AccessRequest.Origin, _ trace: AccessTrace?,
        _ requester: ClosingPhase.Requester?, isFirst: Bool, deadline accessDeadline: AccessDeadline?,
        _ waiterKind: Machine.WaiterKind
    ) throws -> (grant: Machine.Grant, arrival: UInt64?) {
        let waiter = ThreadWaiter(clock)
        let arrival = clock.now
        let borrows = request == .connection && barredGroup?.ownedConnection != nil
        let requester = requester ?? self.requester(origin)
        let answer = decide {
            $0.acquire(
                request, waiter, waiterKind, origin, requester, isFirst: isFirst, borrows: borrows, now: arrival)
        }
        let id: Int
        switch answer {
        case .granted(let grant):
            if case .all = grant { lend() }
            return (grant, nil)
        case .refused(let refusal): throw error(refusal)
        case .wait(let number): id = number
        }
        waiterDidEnter(Database.currentThread)
        trace?.waitDidBegin(self)
        defer { trace?.threadDidWait() }
        // This may be the last of Swift's threads.
        if CooperativePool.isBlocked { passOver() }
        defer { DeadlockDetector.end() }
        if let error = DeadlockDetector.begin(self, id) { try giveUp(id, error) }
        let deadline = min(waitingEnd(origin, requester, arrival), accessDeadline?.end ?? .max)
        var nextLook = arrival &+ Self.lookInterval
        while true {
            switch waiter.wait(until: min(deadline, nextLook)) {
            case .granted(let grant): return (grant, arrival)
            case .failed(let error): throw error
            case .retry:
                if let grant = retry(id) { return (grant, arrival) }
                // This thread is awake. Once it can't be overtaken any more, the next free connection is kept for it.
                if clock.now >= arrival &+ Machine.patience { waiter.spin() }
            case nil:
                let now = clock.now
                if now >= deadline {
                    try giveUp(id, timeoutError(request, accessDeadline, now: now))
                } else if now >= nextLook {
                    nextLook = now &+ Self.lookInterval
                    if let error = DeadlockDetector.lookAgain(self, id) { try giveUp(id, error) }
                }
            }
        }
    }

    /// Nanoseconds after which a sleeping thread looks for a deadlock again.
    private static let lookInterval: UInt64 = 1_000_000_000

    /// Leaves the queue and throws, unless the thread was served at the last moment: then its outcome follows.
    private func giveUp(_ id: Int, _ error: DatabaseError) throws {
        let actions = decide { $0.cancel(id: id, now: clock.now) }
        guard let actions else { return }
        perform(actions)
        gate?.accessGaveUp()
        throw error
    }

    /// Asks again; returns nil to continue waiting.
    private func retry(_ id: Int) -> Machine.Grant? {
        guard let answer = decide({ $0.retry(id: id, now: clock.now) }) else { return nil }
        perform(answer.actions)
        return answer.grant
    }

    /// Asks the machine where accesses wait or will wait.
    func decide<T>(_ body: (inout Machine) -> T) -> T {
        let (answer, isEnding) = state.withLock { state in
            let answer = body(&state.machine)
            hasIdle.store(state.machine.idleCount > 0, ordering: .relaxed)
            watch(&state)
            return (answer, state.whenUnused != nil)
        }
        if isEnding { Self.tellIfUnused(state) }
        return answer
    }

    // MARK: - Tasks

    /// Puts a task's waiter into the queue; `grant(_:)` then waits for its outcome.
    func request(
        _ waiter: TaskWaiter, _ token: AccessToken, _ request: Machine.Request = .connection,
        _ origin: AccessRequest.Origin = .user, _ trace: AccessTrace? = nil,
        _ requester: ClosingPhase.Requester = .newcomer, isFirst: Bool = false,
        deadline: AccessDeadline? = nil, task: UInt = 0, joins: Bool = false
    ) {
        let requester = origin != .user && requester == .newcomer ? .admitted : requester
        let answer: Machine.Answer? = state.withLock { state in
            // A cancelling thread sets the flag before it takes the lock. So either the flag is seen here, or that
            // thread finds the queue entry.
            guard !token.isCancelled else { return nil }
            let now = clock.now
            let end = min(waitingEnd(origin, requester, now), deadline?.end ?? .max)
            let answer = state.machine.acquire(
                request, waiter, waiter.waiterKind, origin, requester, isFirst: isFirst, deadline: end, joins: joins,
                now: now)
            if case .wait(let id) = answer {
                waiter.id = id
                waiter.deadline = deadline
                waiter.arrival = now
                if end < .max { setTimer(&state, end, now: now) }
                watch(&state)
            }
            return answer
        }
        switch answer {
        case .granted(let grant):
            if case .all = grant { lend() }
            waiter.resolve(.granted(grant))
        case .refused(let refusal): waiter.resolve(.failed(error(refusal)))
        case .wait(let id):
            waiterDidEnter(task)
            trace?.waitDidBegin(self)
            if request == .barrier, let error = DeadlockDetector.begin(self, id, task: task) { cancel(waiter, error) }
        case nil: waiter.resolve(.failed(CancellationError()))
        }
    }

    /// A connection for a task, if one is available immediately, or in less time than suspending the task takes.
    func leaseAtOnce() -> Lease? {
        if let lease = leaseIfIdle(.inlineTask) { return lease }
        for _ in 0..<Self.taskSpinCount {
            SystemClock.pause()
            if hasIdle.load(ordering: .relaxed), let lease = leaseIfIdle(.inlineTask) { return lease }
        }
        return nil
    }

    /// How often a task looks for a connection: about half a microsecond.
    private static let taskSpinCount = CooperativePool.width > 1 ? 5 : 0

    /// A connection that is idle now.
    func leaseIfIdle(_ waiterKind: Machine.WaiterKind) -> Lease? {
        state.lock()
        defer { state.unlock() }
        return idleLease(waiterKind)
    }

    /// Asks for a connection for a task, and enters the queue if none is free; `lease(_:)` then waits.
    ///
    /// - parameter workers: the threads that go on with the task, if it is offloaded.
    func request(
        _ token: AccessToken, _ workers: WorkerThreads, _ waiterKind: Machine.WaiterKind, _ access: AccessRequest
    ) -> LeaseOrWaiter {
        state.lock()
        let lease = token.isCancelled ? nil : idleLease(waiterKind)
        state.unlock()
        if let lease { return .lease(lease) }
        let waiter = TaskWaiter(workers, waiterKind, mayStay: access.mayStay)
        request(
            waiter, token, .connection, access.origin, access.trace, deadline: token.deadline,
            joins: access.sharesCommit)
        return .waiter(waiter)
    }

    /// Waits for a task's connection, and opens it if necessary.
    func lease(_ turn: LeaseOrWaiter) async throws -> Lease {
        switch turn {
        case .lease(let lease): lease
        case .waiter(let waiter): try take(await grant(waiter), arrival: waiter.arrival)
        }
    }

    /// Waits for a task's connection, but doesn't open one: that reads the disk, and may wait for a lock.
    func leaseOrSlot(_ turn: LeaseOrWaiter) async throws -> LeaseOrSlot {
        switch turn {
        case .lease(let lease): return .lease(lease)
        case .waiter(let waiter):
            let grant = try await grant(waiter)
            if case .open = grant { return .toOpen(grant, arrival: waiter.arrival) }
            return .lease(try take(grant, arrival: waiter.arrival))
        }
    }

    /// The connection, which is opened here if necessary.
    func lease(_ leaseOrSlot: LeaseOrSlot) throws -> Lease {
        switch leaseOrSlot {
        case .lease(let lease): lease
        case .toOpen(let grant, let arrival): try take(grant, arrival: arrival)
        }
    }

    /// Waits for a waiter's grant.
    func grant(_ waiter: TaskWaiter) async throws -> Machine.Grant {
        while true {
            switch await waiter.outcome() {
            case .granted(let grant): return grant
            case .failed(let error): throw error
            case .retry: if let grant = retry(waiter) { return grant }
            }
        }
    }

    /// Asks again for a woken task, for about as long as a task looks for a connection.
    private func retry(_ waiter: TaskWaiter) -> Machine.Grant? {
        guard let id = waiter.id else { return nil }
        for _ in 0..<Self.taskSpinCount {
            if hasIdle.load(ordering: .relaxed), let grant = retry(id) { return grant }
            SystemClock.pause()
        }
        return retry(id)
    }

    /// Removes a task's waiter from the queue.
    func cancel(_ waiter: TaskWaiter, _ error: any Error = CancellationError()) {
        let actions: [Machine.Action]? = decide { machine in
            guard let id = waiter.id else { return nil }
            return machine.cancel(id: id, now: clock.now)
        }
        guard let actions else { return }
        waiter.resolve(.failed(error))
        perform(actions)
        gate?.accessGaveUp()
    }

    // MARK: - Taking and releasing

    /// - parameter arrival: when the access began to wait; nil if it didn't.
    func take(_ grant: Machine.Grant, arrival: UInt64?) throws -> Lease {
        switch grant {
        case .connection(let slot):
            guard let connection = takeConnection(slot, arrival: arrival) else {
                // Given back, so that others don't wait forever.
                perform(decide { $0.openingFailed(slot, now: clock.now) })
                throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "a slot has lost its connection")
            }
            return Lease(connection.database, slot: slot)
        case .open(let slot):
            // Outside the lock: opening takes a while, and other accesses continue meanwhile.
            setHolder(Database.currentThread, of: slot)
            do {
                let connection = Connection(database: try open())
                state.withLock { state in
                    state.connections[slot] = connection
                    state.holders[slot] = nil
                }
                _ = takeConnection(slot, arrival: arrival)
                return Lease(connection.database, slot: slot)
            } catch {
                setHolder(nil, of: slot)
                perform(decide { $0.openingFailed(slot, now: clock.now) })
                gate?.mayBeIdle()
                throw error
            }
        case .all:
            throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "a barrier isn't a connection")
        }
    }
}
