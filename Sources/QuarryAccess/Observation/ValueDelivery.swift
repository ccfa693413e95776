import QuarryCore

/// Delivers the values of one observation, or of one subscriber, to its callbacks.
///
/// `DeliveryStateMachine` decides. No callback runs with the lock held.
final class ValueDelivery<Value: Sendable>: Sendable {
    enum Event: Sendable {
        case value(Value)
        case failure(any Error)
    }

    /// The callbacks, and where they run.
    enum Receiver: Sendable {
        case scheduled(
            any ValueObservationScheduler, onError: @Sendable (any Error) -> Void, onChange: @Sendable (Value) -> Void)
        case mainActor(
            any ValueObservationMainActorScheduler, onError: @MainActor @Sendable (any Error) -> Void,
            onChange: @MainActor @Sendable (Value) -> Void)
        /// On the thread that has the value, for callbacks that only pass it on.
        case direct(onError: @Sendable (any Error) -> Void, onChange: @Sendable (Value) -> Void)

        var receivesFirstValueImmediately: Bool {
            switch self {
            case .scheduled(let scheduler, _, _): scheduler.immediateInitialValue()
            case .mainActor(let scheduler, _, _): scheduler.immediateInitialValue()
            case .direct: false
            }
        }
    }

    private struct State {
        var machine: DeliveryStateMachine<Event>
        /// Nil when the delivery has ended.
        var receiver: Receiver?
        /// Called when a value is taken, before its callback.
        var didTake: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    /// - parameter isImmediate: whether the owner calls `deliver` for the first event, instead of the scheduler.
    init(_ receiver: Receiver, isImmediate: Bool = false) {
        state = Lock(State(machine: DeliveryStateMachine(isScheduled: isImmediate), receiver: receiver))
    }

    /// Sets the closure that is called when a value is taken.
    func onTake(_ didTake: @escaping @Sendable () -> Void) {
        state.withLock { state in
            if state.receiver != nil { state.didTake = didTake }
        }
    }

    /// An event arrives.
    func receive(_ event: Event) {
        let (mustSchedule, released) = put(event)
        _ = consume released
        if mustSchedule { schedule() }
    }

    /// Adds an event, without scheduling an action. The caller may have a lock.
    ///
    /// - parameter replacesLast: whether it replaces an event that still waits.
    /// - returns: whether `schedule` must be called, and an event to be released; both without a lock.
    func put(_ event: Event, replacesLast: Bool = false) -> (mustSchedule: Bool, released: Event?) {
        state.withLock { $0.machine.receive(event, replacesLast: replacesLast) }
    }

    /// Ends the delivery: no callback begins any more.
    func end() {
        let released = state.withLock { state in
            let released = (state.machine.end(), state.receiver, state.didTake)
            state.receiver = nil
            state.didTake = nil
            return released
        }
        // Released without the lock: users' objects go with the closures.
        withExtendedLifetime(released) {}
    }

    // MARK: - Actions

    /// Schedules an action.
    func schedule() {
        switch state.withLock({ $0.receiver }) {
        case .scheduled(let scheduler, _, _): scheduler.schedule { self.deliver() }
        case .mainActor(let scheduler, _, _): scheduler.scheduleOnMainActor { self.deliverOnMainActor() }
        case .direct: deliver()
        case nil: break
        }
    }

    /// Runs the callback of the next event, if one waits, and schedules another action for those that have come since.
    func deliver() {
        while let (event, receiver, didTake) = begin() {
            if case .value = event { didTake?() }
            switch (event, receiver) {
            case (.value(let value), .scheduled(_, _, let onChange)), (.value(let value), .direct(_, let onChange)):
                onChange(value)
            case (.failure(let error), .scheduled(_, let onError, _)), (.failure(let error), .direct(let onError, _)):
                onError(error)
            case (_, .mainActor):
                // `schedule` and `start` call `deliverOnMainActor` for it.
                break
            }
            finish(event)
            guard mustGoOn() else { return }
            // A direct callback has no scheduler: a loop keeps the stack flat.
            guard case .direct = receiver else { return schedule() }
        }
    }

    /// As `deliver`, for callbacks of the main actor.
    @MainActor func deliverOnMainActor() {
        guard let (event, receiver, didTake) = begin() else { return }
        guard case .mainActor(_, let onError, let onChange) = receiver else { return }
        switch event {
        case .value(let value):
            didTake?()
            onChange(value)
        case .failure(let error): onError(error)
        }
        finish(event)
        if mustGoOn() { schedule() }
    }

    private func begin() -> (Event, Receiver, (@Sendable () -> Void)?)? {
        state.withLock { state in
            guard let receiver = state.receiver, let event = state.machine.begin() else { return nil }
            return (event, receiver, state.didTake)
        }
    }

    private func finish(_ event: Event) {
        // Nothing follows an error.
        if case .failure = event { end() }
    }

    private func mustGoOn() -> Bool { state.withLock { $0.machine.finish() } }
}
