import QuarryCore

// Barriers, and the state of a lane that the search for deadlocks reads.

extension ConnectionLane {
    /// Waits on this thread for all connections of `barredLane` to be here, and keeps them until `endBarrier`.
    ///
    /// The connection of this lane is set aside while it waits: the reads that it waits for may write.
    ///
    /// - parameter lease: this lane's connection. If this throws, it is given back already.
    func beginBarrier(of barredLane: ConnectionLane, for lease: Lease) throws {
        setAside(lease)
        do {
            _ = try barredLane.wait(for: .barrier)
        } catch {
            endBarrier()
            throw error
        }
        try takeBack(lease, barredLane)
    }

    /// As the synchronous `beginBarrier`; waiting suspends the task.
    ///
    /// - parameter ticket: for all connections of `barredLane`, not asked for yet.
    /// - parameter task: the number of a task that has other connections, or will wait for more; 0 for others.
    func beginBarrier(
        of barredLane: ConnectionLane, _ ticket: Ticket, _ token: AccessToken, for lease: Lease, task: UInt = 0
    ) async throws {
        setAside(lease)
        do {
            barredLane.request(ticket, token, .barrier, task: task)
            _ = try await barredLane.grant(ticket)
        } catch {
            endBarrier()
            throw error
        }
        try takeBack(lease, barredLane, task)
    }

    private func setAside(_ lease: Lease) { perform(decide { $0.setAside(lease.slot) }) }

    private func takeBack(_ lease: Lease, _ barredLane: ConnectionLane, _ task: UInt = 0) throws {
        barredLane.state.withLock { state in
            state.barrierHolder = Lent(database: lease.database)
            state.barrierTask = task
        }
        guard !decide({ $0.takeBack(lease.slot) }) else { return }
        barredLane.endBarrier()
        endBarrier()
        throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "\(name) is lent to an access that has ended")
    }

    /// Lends what a barrier that came at once keeps: others may have waited already.
    func lend() {
        if barredLane != nil { perform(decide { $0.lend() }) }
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
    func enter(_ turn: Turn, task: UInt) {
        guard case .ticket(let ticket) = turn, let id = ticket.id,
            let error = WaitingThreads.begin(self, id, task: task)
        else { return }
        cancel(ticket, error)
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
    var waitState: WaitGraph.Lane {
        state.withLock { state in
            var threads = Self.holders(state)
            let absentCount = max(0, state.machine.leasedCount - threads.count)
            threads += Array(repeating: 0, count: absentCount)
            return WaitGraph.Lane(
                name: name, threads: threads, availableCount: state.machine.availableCount,
                hasBarrier: state.machine.hasBarrier,
                barrierThread: Self.barrierHolder(state),
                barredLane: barredLane.map { ObjectIdentifier($0) }, line: state.machine.line)
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
