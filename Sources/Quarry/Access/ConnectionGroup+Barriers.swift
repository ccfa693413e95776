import QuarryCore

// Barriers, and the state of a group that the deadlock detector reads.

extension ConnectionGroup {
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
        barredGroup.state.withLock { state in
            state.barrierHolder = Connection(database: lease.database)
            state.barrierTask = task
        }
        guard !decide({ $0.takeBack(lease.slot) }) else { return }
        barredGroup.endBarrier()
        endBarrier()
        throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "\(name) is lent to an access that has ended")
    }

    /// Lends the connection of a barrier that was granted at once: accesses that borrow may wait already.
    func lend() {
        if barredGroup != nil { perform(decide { $0.lend() }) }
    }

    /// - parameter endsJob: as in `release`.
    func endBarrier(endsJob: Bool = false) {
        let (actions, dropped, isEnding) = state.withLock { state in
            state.barrierHolder = nil
            state.barrierTask = 0
            let actions = state.machine.releaseBarrier(now: SystemClock.monotonicNanoseconds())
            watch(&state)
            return (actions, Self.takeDropped(&state, actions), state.whenUnused != nil)
        }
        perform(actions, endsJob: endsJob)
        Self.close(dropped, state)
        if isEnding { Self.tellIfUnused(state) }
        gate?.mayBeIdle()
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
                barrierThread: Self.barrierHolder(state),
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

    private static func barrierHolder(_ state: State) -> UInt {
        let thread = state.barrierHolder?.database.accessingThread ?? 0
        return thread == 0 ? state.barrierTask : thread
    }
}
