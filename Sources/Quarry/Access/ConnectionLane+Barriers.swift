import QuarryCore

// Barriers, and what a lane tells those who look for deadlocks.

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
    func beginBarrier(
        of barredLane: ConnectionLane, _ ticket: Ticket, _ token: AccessToken, for lease: Lease
    ) async throws {
        setAside(lease)
        do {
            barredLane.request(ticket, token, .barrier)
            _ = try await barredLane.grant(ticket)
        } catch {
            endBarrier()
            throw error
        }
        try takeBack(lease, barredLane)
    }

    private func setAside(_ lease: Lease) { perform(decide { $0.setAside(lease.slot) }) }

    private func takeBack(_ lease: Lease, _ barredLane: ConnectionLane) throws {
        barredLane.state.withLock { $0.barrierHolder = Lent(database: lease.database) }
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
            let actions = state.machine.releaseBarrier(now: SystemClock.monotonicNanoseconds())
            watch(&state)
            return actions
        }
        perform(actions, endsJob: endsJob)
    }

    // MARK: - Deadlocks

    /// Whether the last one in the line may wait for ever: each connection is had by a thread that sleeps, or a barrier
    /// takes part.
    func mayNeverServe(isAsleep: (UInt) -> Bool) -> Bool {
        state.withLock { state in
            guard !state.machine.hasBarrier, state.machine.waitingBarrierCount == 0 else { return true }
            guard state.machine.availableCount == 0 else { return false }
            let sleeping = state.connections.count { connection in
                guard let thread = connection?.database.accessingThread, thread != 0 else { return false }
                return isAsleep(thread)
            }
            return sleeping >= state.machine.leasedCount
        }
    }

    /// Who has the connections, and who waits.
    var waitState: WaitGraph.Lane {
        state.withLock { state in
            var threads = state.connections.compactMap { $0?.database.accessingThread }.filter { $0 != 0 }
            let absentCount = max(0, state.machine.leasedCount - threads.count)
            threads += Array(repeating: 0, count: absentCount)
            return WaitGraph.Lane(
                name: name, threads: threads, availableCount: state.machine.availableCount,
                hasBarrier: state.machine.hasBarrier,
                barrierThread: state.barrierHolder?.database.accessingThread ?? 0,
                barredLane: barredLane.map { ObjectIdentifier($0) }, line: state.machine.line)
        }
    }
}
