import QuarryCore

// Barriers, and the state of a group that the search for deadlocks reads.

extension ConnectionGroup {
    /// Waits on this thread for all connections of `barredGroup` to be here, and keeps them until `endBarrier`.
    ///
    /// The connection of this group is set aside while it waits: the reads that it waits for may write.
    ///
    /// - parameter lease: this group's connection. If this throws, it is given back already.
    func beginBarrier(of barredGroup: ConnectionGroup, for lease: Lease) throws {
        setAside(lease)
        do {
            _ = try barredGroup.wait(for: .barrier)
        } catch {
            endBarrier()
            throw error
        }
        try takeBack(lease, barredGroup)
    }

    /// As the synchronous `beginBarrier`; waiting suspends the task.
    ///
    /// - parameter waiter: for all connections of `barredGroup`, not asked for yet.
    /// - parameter task: the number of a task that has other connections, or will wait for more; 0 for others.
    func beginBarrier(
        of barredGroup: ConnectionGroup, _ waiter: TaskWaiter, _ token: AccessToken, for lease: Lease, task: UInt = 0
    ) async throws {
        setAside(lease)
        do {
            barredGroup.request(waiter, token, .barrier, task: task)
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

    /// Lends what a barrier that came at once keeps: others may have waited already.
    func lend() {
        if barredGroup != nil { perform(decide { $0.lend() }) }
    }

    /// - parameter endsJob: as for `release`.
    func endBarrier(endsJob: Bool = false) {
        let actions = state.withLock { state in
            state.barrierHolder = nil
            state.barrierTask = 0
            let actions = state.machine.releaseBarrier(now: SystemClock.monotonicNanoseconds())
            watch(&state)
            return actions
        }
        perform(actions, endsJob: endsJob)
    }

    // MARK: - Deadlocks

    /// - parameter holder: the thread or task that has a slot where no access runs; nil where it has it no more.
    func setHolder(_ holder: UInt?, of slot: Int) { state.withLock { $0.holders[slot] = holder } }

    /// Enters a task's wait for a connection, where it has others already.
    func enter(_ turn: LeaseOrWaiter, task: UInt) {
        guard case .waiter(let waiter) = turn, let id = waiter.id,
            let error = DeadlockDetector.begin(self, id, task: task)
        else { return }
        cancel(waiter, error)
    }

    /// Whether the last one in the line may wait for ever: each connection is had by a thread that sleeps, or a barrier
    /// takes part.
    func mayNeverServe(isAsleep: (UInt) -> Bool) -> Bool {
        state.withLock { state in
            guard !state.machine.hasBarrier, state.machine.waitingBarrierCount == 0 else { return true }
            guard state.machine.availableCount == 0 else { return false }
            return Self.holders(state).count(where: isAsleep) >= state.machine.leasedCount
        }
    }

    /// The holders of the connections and the line, for a `WaitGraph`.
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

    /// The threads and tasks that have connections.
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
