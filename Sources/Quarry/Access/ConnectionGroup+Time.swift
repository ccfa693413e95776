import Dispatch
import QuarryCore

// The timers of a group.

extension ConnectionGroup {
    /// Sets the timer that makes tasks give up after `acquireTimeout`. Tasks of the library don't.
    func setTimer(_ state: inout State, now: UInt64) {
        guard let timeout = limits.acquireTimeout, !state.isTimerSet else { return }
        state.isTimerSet = true
        let arrival = state.machine.firstExpiringArrival ?? now
        let end = arrival &+ nanoseconds(timeout)
        let delay = end > now ? end - now : 0
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay) &+ 1_000_000)) {
            [weak self] in self?.timerFired(timeout)
        }
    }

    private func timerFired(_ timeout: Double) {
        let now = SystemClock.monotonicNanoseconds()
        let (expired, actions): ([(any LeaseWaiter, Machine.Request)], [Machine.Action]) = state.withLock { state in
            state.isTimerSet = false
            let length = nanoseconds(timeout)
            let result = state.machine.expire(arrivedBefore: now > length ? now - length : 0, now: now)
            if state.machine.firstExpiringArrival != nil { setTimer(&state, now: now) }
            watch(&state)
            return result
        }
        for (waiter, request) in expired { waiter.resolve(.failed(timeoutError(request))) }
        perform(actions)
    }

    /// Sets the timer that passes over woken tasks which haven't come.
    func watch(_ state: inout State) {
        guard state.machine.isToPassOver, !state.isWatching else { return }
        state.isWatching = true
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(Machine.patience))) { [weak self] in
            self?.state.withLock { $0.isWatching = false }
            self?.passOver()
        }
    }

    func passOver() { perform(decide { $0.passOver(now: SystemClock.monotonicNanoseconds()) }) }

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
            // Closed here, outside the lock.
            _ = consume dropped
            return goesOn
        }
    }

    func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(max(0, min(seconds, 1e9)) * 1e9) }
}
