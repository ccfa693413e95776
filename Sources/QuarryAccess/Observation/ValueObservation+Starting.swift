import QuarryCore

extension ValueObservation {
    /// Starts the observation.
    ///
    /// ```swift
    /// let cancellable = observation.start(in: dbPool, scheduling: .async(onQueue: queue)) { error in
    ///     print(error)
    /// } onChange: { players in
    ///     print(players)
    /// }
    /// ```
    ///
    /// Values are received one after another. The observation runs until the returned object is cancelled or released.
    /// It may be started anywhere, inside an access too: its first fetch waits for its turn.
    ///
    /// - parameter reader: a queue, a pool or a snapshot.
    /// - parameter scheduler: where the callbacks run.
    /// - parameter onError: receives the error that ends the observation.
    /// - parameter onChange: receives the values.
    /// - returns: cancels the observation when it is released.
    @preconcurrency
    public func start(
        in reader: any DatabaseReader, scheduling scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        let isImmediate = scheduler.immediateInitialValue()
        let delivery = ValueDelivery<Reducer.Value>(
            .scheduled(scheduler, onError: onError, onChange: onChange), isImmediate: isImmediate)
        let cancellable = start(in: reader, delivery, fetchesHere: isImmediate)
        if isImmediate { delivery.deliver() }
        return cancellable
    }

    /// Starts the observation, and receives its values on the main actor.
    ///
    /// ```swift
    /// let cancellable = observation.start(in: dbPool) { error in
    ///     show(error)
    /// } onChange: { players in
    ///     show(players)
    /// }
    /// ```
    ///
    /// - parameter reader: a queue, a pool or a snapshot.
    /// - parameter scheduler: `.mainActor`, or `.immediate` to receive the first value before this method returns.
    /// - parameter onError: receives the error that ends the observation.
    /// - parameter onChange: receives the values.
    /// - returns: cancels the observation when it is released.
    @preconcurrency @MainActor
    public func start(
        in reader: any DatabaseReader, scheduling scheduler: some ValueObservationMainActorScheduler = .mainActor,
        onError: @escaping @MainActor @Sendable (any Error) -> Void,
        onChange: @escaping @MainActor @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        let isImmediate = scheduler.immediateInitialValue()
        let delivery = ValueDelivery<Reducer.Value>(
            .mainActor(scheduler, onError: onError, onChange: onChange), isImmediate: isImmediate)
        let cancellable = start(in: reader, delivery, fetchesHere: isImmediate)
        if isImmediate { delivery.deliverOnMainActor() }
        return cancellable
    }

    /// The values as a sequence. Each iteration starts the observation, and ends it when it ends itself.
    ///
    /// ```swift
    /// for try await players in observation.values(in: dbPool) {
    ///     await send(players)
    /// }
    /// ```
    ///
    /// By default the sequence keeps the newest value only: a slow loop skips states, and uses no memory for them.
    ///
    /// - parameter reader: a queue, a pool or a snapshot.
    /// - parameter scheduler: where the values are passed to the sequence.
    /// - parameter bufferingPolicy: the values kept for the loop.
    public func values(
        in reader: any DatabaseReader, scheduling scheduler: some ValueObservationScheduler = .task,
        bufferingPolicy: AsyncValueObservation<Reducer.Value>.BufferingPolicy = .bufferingNewest(1)
    ) -> AsyncValueObservation<Reducer.Value> {
        AsyncValueObservation(bufferingPolicy) { onError, onChange in
            // Passing a value to the sequence takes no time: a task for it would delay the loop.
            guard scheduler is TaskValueObservationScheduler else {
                return start(in: reader, scheduling: scheduler, onError: onError, onChange: onChange)
            }
            let delivery = ValueDelivery<Reducer.Value>(.direct(onError: onError, onChange: onChange))
            return start(in: reader, delivery, fetchesHere: false)
        }
    }

    /// Starts the observation.
    ///
    /// - parameter fetchesHere: whether the first value is fetched on this thread.
    func start(
        in reader: any DatabaseReader, _ delivery: ValueDelivery<Reducer.Value>, fetchesHere: Bool
    ) -> AnyDatabaseCancellable {
        for events in events { events.willStart?() }
        let sink = ReducedDelivery(reducer, delivery)
        guard let reader = reader.groupReader else {
            sink.fail(
                DatabaseError.misuse("a type outside the library can't be observed: \(type(of: reader))"))
            return AnyDatabaseCancellable { sink.end() }
        }
        let broker = reader.core.observations
        let observation = RunningObservation(
            RunningObservation.Resources(
                reader: reader, road: reader.fetchRoad(writes: requiresWriteAccess), fetch: fetch, events: events,
                timer: pace?.makeTimer()),
            pace: pace?.kind, sink: sink)
        delivery.onTake { broker.valueWasTaken(observation) }
        if fetchesHere {
            broker.startImmediately(observation)
        } else {
            broker.start(observation)
        }
        return AnyDatabaseCancellable {
            // First the callbacks: none begins from here on.
            sink.end()
            broker.end(observation)
        }
    }
}
