import QuarryCore

// Barriers, and the state of a group that the deadlock detector reads.

extension ConnectionGroup {
    /// The holder of a group's barrier.
    enum BarrierHolder {
        /// There is no barrier, or a call closes the connections for good.
        case unknown
        /// The access that has a connection of another group.
        ///
        /// - parameter task: the number of the task that has both until the access begins; 0 for none.
        case access(Connection, task: UInt)
        /// A thread that has the connections closed; 0 once they belong to none.
        case window(thread: UInt)
        /// The gate of a database in a directory, and the thread that closes the connections behind it; 0 for none.
        case gate(thread: UInt)

        /// The thread that has the connections closed; 0 for none.
        var thread: UInt {
            switch self {
            case .unknown, .access: 0
            case .window(let thread), .gate(let thread): thread
            }
        }

        /// The connection with which an access has the barrier.
        var connection: Connection? { if case .access(let connection, _) = self { connection } else { nil } }

        var isGate: Bool { if case .gate = self { true } else { false } }

        func isHeld(by holder: UInt) -> Bool {
            guard case .access(let connection, let task) = self else { return thread == holder }
            return task == holder || connection.database.accessingThread == holder
        }

        /// The thread or task that has the barrier; 0 if it isn't known.
        var holder: UInt {
            guard case .access(let connection, let task) = self else { return thread }
            let thread = connection.database.accessingThread
            return thread == 0 ? task : thread
        }
    }

    /// Waits on this thread for all connections of `barredGroup`, and keeps them until `endBarrier`.
    ///
    /// Meanwhile this group's connection is set aside: the reads that the barrier waits for may write.
    ///
    /// - parameter lease: this group's connection. It has already been released if this throws.
    func beginBarrier(
        of barredGroup: ConnectionGroup, for lease: Lease, _ origin: AccessRequest.Origin, _ trace: AccessTrace?
    ) throws {
        setAside(lease)
        do {
            _ = try barredGroup.wait(for: .barrier, origin, trace, .admitted)
        } catch {
            endBarrier()
            throw error
        }
        try takeBack(lease, barredGroup)
    }

    /// As the synchronous `beginBarrier`, but waiting suspends the task.
    ///
    /// - parameter waiter: the waiter for all connections of `barredGroup`, which has not entered the queue.
    /// - parameter task: the number of a task that has other connections, or will wait for more; otherwise 0.
    func beginBarrier(
        of barredGroup: ConnectionGroup, _ waiter: TaskWaiter, _ token: AccessToken, for lease: Lease,
        _ origin: AccessRequest.Origin = .user, _ trace: AccessTrace? = nil, task: UInt = 0
    ) async throws {
        setAside(lease)
        do {
            barredGroup.request(waiter, token, .barrier, origin, trace, .admitted, task: task)
            _ = try await barredGroup.grant(waiter)
        } catch {
            endBarrier()
            throw error
        }
        try takeBack(lease, barredGroup, task)
    }

    private func setAside(_ lease: Lease) { perform(decide { $0.setAside(lease.slot) }) }

    private func takeBack(_ lease: Lease, _ barredGroup: ConnectionGroup, _ task: UInt = 0) throws {
        barredGroup.state.withLock { $0.barrier = .access(Connection(database: lease.database), task: task) }
        guard !decide({ $0.takeBack(lease.slot) }) else { return }
        Self.endBarriers([self, barredGroup])
        throw isStillLent
    }

    /// The barriers of all groups that close are granted: the connections of this one are lent no more.
    func endLending() throws { if !decide({ $0.endLending() }) { throw isStillLent } }

    private var isStillLent: DatabaseError {
        DatabaseError(resultCode: .SQLITE_INTERNAL, message: "\(name) is lent to an access that has ended")
    }

    /// Lends the connection of a barrier that was granted at once: accesses that borrow may wait already.
    func lend() {
        if barredGroup != nil { perform(decide { $0.lend() }) }
    }

    /// - parameter endsJob: as in `release`.
    func endBarrier(endsJob: Bool = false) {
        let end = state.withLock { endBarrier(&$0) }
        perform(end.actions, endsJob: endsJob)
        barrierDidEnd(end)
        gate?.mayBeIdle()
    }

    /// Ends the barriers of some groups in one step: no access sees one of them ended and another not. Connections that
    /// were closed under them are opened again when needed.
    ///
    /// - parameter groups: in the order in which they were waited for, which is the order of their locks.
    package static func endBarriers(_ groups: some Collection<ConnectionGroup>) {
        endBarriers(groups) { group, state in
            let forgotten = group.forgetClosed(&state)
            return group.endBarrier(&state, forgetting: forgotten)
        }
        for group in groups { group.gate?.mayBeIdle() }
    }

    /// - parameter end: ends the barrier of a group, whose lock is held; nil to leave it as it is.
    static func endBarriers(
        _ groups: some Collection<ConnectionGroup>, _ end: (ConnectionGroup, inout State) -> BarrierEnd?
    ) {
        for group in groups { group.state.lock() }
        let ends = groups.map { group in end(group, &group.state.contents.pointee) }
        for group in groups { group.state.unlock() }
        for (group, end) in zip(groups, ends) { group.perform(end?.actions ?? []) }
        for (group, end) in zip(groups, ends) { if let end { group.barrierDidEnd(end) } }
    }

    /// The work that the end of a barrier leaves to do without the lock.
    struct BarrierEnd {
        fileprivate let actions: [Machine.Action]
        fileprivate let dropped: [Connection]
        fileprivate let isEnding: Bool
    }

    /// Ends the barrier, with the lock held. Its actions and `barrierDidEnd` follow.
    ///
    /// - parameter forgotten: the connections that were closed under the barrier. They are released without the lock.
    func endBarrier(_ state: inout State, forgetting forgotten: [Connection] = []) -> BarrierEnd {
        state.barrier = .unknown
        let actions = state.machine.releaseBarrier(now: clock.now)
        watch(&state)
        return BarrierEnd(
            actions: actions, dropped: Self.takeDropped(&state, actions) + forgotten,
            isEnding: state.whenUnused != nil)
    }

    private func barrierDidEnd(_ end: BarrierEnd) {
        Self.close(end.dropped, state)
        if end.isEnding { Self.tellIfUnused(state) }
    }

    // MARK: - Deadlocks

    /// - parameter holder: the thread or task that has a slot without an access; nil to remove it.
    func setHolder(_ holder: UInt?, of slot: Int) { state.withLock { $0.holders[slot] = holder } }

    /// Tells the deadlock detector of a task's wait, because the task has other connections or will wait for more.
    func enter(_ turn: LeaseOrWaiter, task: UInt) {
        guard case .waiter(let waiter) = turn, let id = waiter.id else { return }
        waiterDidEnter(task)
        guard let error = DeadlockDetector.begin(self, id, task: task)
        else { return }
        cancel(waiter, error)
    }

    /// Whether the last waiter in the queue may wait forever: threads that sleep have all connections, or there is a
    /// barrier.
    func mayNeverServe(isAsleep: (UInt) -> Bool) -> Bool {
        state.withLock { state in
            guard !state.machine.hasBarrier, state.machine.waitingBarrierCount == 0 else { return true }
            guard state.machine.availableCount == 0 else { return false }
            return Self.holders(state).count(where: isAsleep) >= state.machine.leasedCount
        }
    }

    /// The holders of the connections and the queue, for a `WaitGraph`.
    var waitState: WaitGraph.Group {
        state.withLock { state in
            var threads = Self.holders(state)
            let absentCount = max(0, state.machine.leasedCount - threads.count)
            threads += Array(repeating: 0, count: absentCount)
            return WaitGraph.Group(
                name: name, threads: threads, availableCount: state.machine.availableCount,
                hasBarrier: state.machine.hasBarrier,
                barrierThread: state.barrier.holder,
                barredGroup: barredGroup.map { ObjectIdentifier($0) }, queue: state.machine.queue)
        }
    }

    /// The threads and tasks that have the connections.
    private static func holders(_ state: State) -> [UInt] {
        state.connections.indices.compactMap { slot in
            let thread = state.connections[slot]?.database.accessingThread ?? 0
            return thread == 0 ? state.holders[slot] : thread
        }
    }
}
