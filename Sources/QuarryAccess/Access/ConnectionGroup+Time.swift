import QuarryCore

// The timers of a group.

extension ConnectionGroup {
    /// When a request that waits since a time gives up, because of `acquireTimeout`; `UInt64.max` for never.
    func waitingEnd(_ origin: AccessRequest.Origin, _ requester: ClosingPhase.Requester, _ arrival: UInt64) -> UInt64 {
        guard origin == .user, requester != .closer, let timeout = limits.acquireTimeout else { return .max }
        return arrival &+ nanoseconds(timeout)
    }

    /// Sets the timer that makes tasks give up at their deadlines, unless it fires before this one.
    func setTimer(_ state: inout State, _ end: UInt64, now: UInt64) {
        guard end < state.timerEnd else { return }
        state.timerEnd = end
        let delay = end > now ? end - now : 0
        // A millisecond more, so that the system's timer doesn't fire before the time.
        clock.after(clock.time == nil ? delay &+ 1_000_000 : delay) { [weak self] in self?.timerFired(end) }
    }

    private func timerFired(_ end: UInt64) {
        let now = clock.now
        let (expired, actions): ([(waiter: any LeaseWaiter, error: DatabaseError)], [Machine.Action]) =
            state.withLock { state in
                if state.timerEnd == end { state.timerEnd = .max }
                let (expired, actions) = state.machine.expire(now: now)
                let first = state.machine.firstDeadline
                if first < .max { setTimer(&state, first, now: now) }
                watch(&state)
                let failures = expired.map { waiter, request in
                    (waiter, timeoutError(request, (waiter as? TaskWaiter)?.deadline, now: now))
                }
                return (failures, actions)
            }
        for (waiter, error) in expired { waiter.resolve(.failed(error)) }
        perform(actions)
        Self.tellIfUnused(state)
        gate?.accessGaveUp()
    }

    /// Sets the timer that passes over woken tasks which haven't come.
    func watch(_ state: inout State) {
        guard state.machine.isToPassOver, !state.isWatching else { return }
        state.isWatching = true
        clock.after(Machine.patience) { [weak self] in
            self?.state.withLock { $0.isWatching = false }
            self?.passOver()
        }
    }

    func passOver() { perform(decide { $0.passOver(now: clock.now) }) }

    /// Drops unused connections at each tick of the clock, as long as there are idle ones.
    func startTicking(_ state: inout State) {
        guard let idleClock else { return }
        state.isTicking = true
        idleClock.add(ObjectIdentifier(self.state)) { [state = self.state] in
            let (goesOn, dropped) = state.withLock { state in
                let dropped = Self.takeDropped(&state, state.machine.advanceTick())
                state.isTicking = state.machine.idleCount > 0 && !state.machine.isClosed
                return (state.isTicking, dropped)
            }
            guard !dropped.isEmpty else { return goesOn }
            Self.close(dropped, state)
            Self.tellIfUnused(state)
            return goesOn
        }
    }

    func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(max(0, min(seconds, 1e9)) * 1e9) }
}
