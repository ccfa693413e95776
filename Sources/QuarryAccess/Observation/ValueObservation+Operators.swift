// The operators of observations. Closures run on a thread of the library, after the connection was given back.

extension ValueObservation {
    /// Transforms the values.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchAll(db) }
    ///     .map { players in Page(players) }
    /// ```
    ///
    /// - parameter transform: called for one value after another, without a connection. Its error ends the observation.
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Reducer.Value) throws -> T
    ) -> ValueObservation<ValueReducers.Map<Reducer, T>> {
        reducing { ValueReducers.Map(base: $0, transform: transform) }
    }

    /// Drops values that a predicate finds equal to the value before.
    ///
    /// - parameter predicate: receives the value before, and the new value.
    public func removeDuplicates(
        by predicate: sending @escaping (Reducer.Value, Reducer.Value) -> Bool
    ) -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>> {
        let predicate = SerialPredicate(predicate)
        return reducing { ValueReducers.RemoveDuplicates(base: $0, previous: nil, predicate: predicate) }
    }

    /// Waits after a change until none has followed for a while, and then fetches. The first value isn't delayed.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchAll(db) }
    ///     .debounce(for: .milliseconds(100))
    /// ```
    ///
    /// Changes that never pause are never fetched: `throttle` bounds the delay. An observation has one pace, that of
    /// the last `debounce` or `throttle`.
    ///
    /// - parameter duration: the time without a change.
    /// - parameter clock: measures it; tests pass a clock that they control.
    public func debounce<C: Clock>(
        for duration: C.Duration, clock: C = ContinuousClock()
    ) -> Self where C.Duration == Duration {
        var result = self
        result.pace = ObservationPace(.debounce, duration, clock)
        return result
    }

    /// Lets some time pass between two fetches. The first change after that time is fetched immediately.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }
    ///     .throttle(for: .seconds(1))
    /// ```
    ///
    /// - parameter duration: the time from the end of one fetch to the beginning of the next.
    /// - parameter clock: measures it; tests pass a clock that they control.
    /// - parameter latest: whether changes meanwhile are fetched when the time has passed. Otherwise they are
    ///   forgotten, until a later change.
    public func throttle<C: Clock>(
        for duration: C.Duration, clock: C = ContinuousClock(), latest: Bool = true
    ) -> Self where C.Duration == Duration {
        var result = self
        result.pace = ObservationPace(.throttle(latest: latest), duration, clock)
        return result
    }
}

extension ValueObservation where Reducer.Value: Equatable {
    /// Drops values that equal the value before.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchOne(db, key: 1) }.removeDuplicates()
    /// ```
    public func removeDuplicates() -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>> {
        removeDuplicates(by: ==)
    }
}
