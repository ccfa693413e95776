public import Dispatch
import QuarryCore

/// How long a shared observation runs.
public enum SharedValueObservationExtent: Sendable {
    /// From the first subscriber, until the `SharedValueObservation` is released. Later subscribers receive the error
    /// that has ended it.
    case observationLifetime

    /// While it has subscribers. After an error, the next subscriber starts it again.
    case whileObserved
}

/// One running observation for several subscribers.
///
/// ```swift
/// let shared = ValueObservation.tracking { db in try Player.fetchCount(db) }.shared(in: dbPool)
/// let first = shared.start(onError: { _ in }, onChange: { print($0) })
/// let second = shared.start(onError: { _ in }, onChange: { print($0) }) // fetches nothing
/// ```
///
/// A subscriber that comes later receives the last value first. A slow subscriber skips values, and delays no other.
/// The callbacks of one value are scheduled in the order in which the subscribers have started.
public final class SharedValueObservation<Element: Sendable>: Sendable {
    private typealias Delivery = ValueDelivery<Element>

    private struct State {
        var machine: SharedObservationStateMachine<Element, ValueDelivery<Element>>
        var cancellable: AnyDatabaseCancellable?
    }

    typealias Start =
        @Sendable (
            _ onError: @escaping @Sendable (any Error) -> Void, _ onChange: @escaping @Sendable (Element) -> Void
        ) -> AnyDatabaseCancellable

    private let state: Lock<State>
    private let scheduler: any ValueObservationScheduler
    private let startUpstream: Start

    init(
        _ scheduler: any ValueObservationScheduler, _ extent: SharedValueObservationExtent,
        startUpstream: @escaping Start
    ) {
        self.scheduler = scheduler
        self.startUpstream = startUpstream
        state = Lock(State(machine: SharedObservationStateMachine(extent)))
    }

    deinit { state.withLock { $0.cancellable }?.cancel() }

    /// Subscribes. The callbacks run where the scheduler of `shared(in:scheduling:extent:)` says.
    ///
    /// - parameter onError: receives the error that ends the observation.
    /// - parameter onChange: receives the last value, and then each new one.
    /// - returns: ends the subscription when it is cancelled or released. It keeps the shared observation alive.
    @preconcurrency
    public func start(
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Element) -> Void
    ) -> AnyDatabaseCancellable {
        subscribe(.scheduled(scheduler, onError: onError, onChange: onChange))
    }

    /// The values as a sequence. Each iteration is a subscriber.
    ///
    /// - parameter bufferingPolicy: the values kept for the loop; by default the newest.
    public func values(
        bufferingPolicy: AsyncValueObservation<Element>.BufferingPolicy = .bufferingNewest(1)
    ) -> AsyncValueObservation<Element> {
        AsyncValueObservation(bufferingPolicy) { onError, onChange in
            self.subscribe(.direct(onError: onError, onChange: onChange))
        }
    }

    private func subscribe(_ receiver: ValueDelivery<Element>.Receiver) -> AnyDatabaseCancellable {
        let isImmediate = receiver.receivesFirstValueImmediately
        let delivery = Delivery(receiver, isImmediate: isImmediate)
        let (id, subscription) = state.withLock { $0.machine.subscribe(delivery) }
        switch subscription {
        case .failed(let error): delivery.receive(.failure(error))
        case .running: join(id, delivery)
        case .start(let number):
            start(number)
            join(id, delivery)
        }
        if isImmediate { delivery.deliver() }
        return AnyDatabaseCancellable {
            delivery.end()
            self.unsubscribe(id)
        }
    }

    private func join(_ id: Int, _ delivery: Delivery) {
        // The value is added with the lock held, so that no newer value comes before it.
        let mustSchedule = state.withLock { state in
            state.machine.join(id).map { delivery.put(.value($0)).mustSchedule } ?? false
        }
        if mustSchedule { delivery.schedule() }
    }

    private func start(_ number: Int) {
        let cancellable = startUpstream(
            { [weak self] error in self?.fail(error, number) }, { [weak self] value in self?.receive(value, number) })
        let isCurrent = state.withLock { state in
            guard state.machine.isCurrent(number) else { return false }
            state.cancellable = cancellable
            return true
        }
        if !isCurrent { cancellable.cancel() }
    }

    private func receive(_ value: Element, _ number: Int) {
        let (scheduled, released) = state.withLock { state in
            let (subscribers, previous) = state.machine.receive(value, from: number)
            var released: [Delivery.Event] = previous.map { [.value($0)] } ?? []
            let scheduled = subscribers.filter { subscriber in
                let (mustSchedule, replaced) = subscriber.put(.value(value), replacesLast: true)
                if let replaced { released.append(replaced) }
                return mustSchedule
            }
            return (scheduled, released)
        }
        _ = consume released
        for subscriber in scheduled { subscriber.schedule() }
    }

    private func fail(_ error: any Error, _ number: Int) {
        let (subscribers, cancellable, released) = state.withLock { state in
            let (subscribers, released) = state.machine.fail(error, from: number)
            defer { if !state.machine.isCurrent(number) { state.cancellable = nil } }
            return (subscribers, state.cancellable, released)
        }
        _ = consume released
        _ = consume cancellable
        for subscriber in subscribers { subscriber.receive(.failure(error)) }
    }

    private func unsubscribe(_ id: Int) {
        let (cancellable, released) = state.withLock { state in
            let (endsUpstream, released) = state.machine.unsubscribe(id)
            guard endsUpstream else { return (nil as AnyDatabaseCancellable?, released) }
            defer { state.cancellable = nil }
            return (state.cancellable, released)
        }
        cancellable?.cancel()
        withExtendedLifetime(released) {}
    }
}

extension ValueObservation {
    /// One running observation for several subscribers.
    ///
    /// ```swift
    /// let shared = observation.shared(in: dbPool, scheduling: .task, extent: .observationLifetime)
    /// ```
    ///
    /// - parameter reader: a queue, a pool or a snapshot.
    /// - parameter scheduler: where the callbacks of the subscribers run. With `.immediate`, a subscriber receives the
    ///   last value before `start` returns, and the first subscriber fetches it.
    /// - parameter extent: how long the observation runs.
    public func shared(
        in reader: any DatabaseReader, scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main),
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<Reducer.Value> {
        SharedValueObservation(scheduler, extent) { onError, onChange in
            start(
                in: reader, ValueDelivery(.direct(onError: onError, onChange: onChange)),
                fetchesHere: scheduler.immediateInitialValue())
        }
    }
}
