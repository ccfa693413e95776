import QuarryCore

/// Receives the fetched values of one observation.
protocol ObservationSink: Sendable {
    /// Reduces and delivers a value. Called for one value after another.
    func receive(_ fetched: any Sendable) -> ReductionOutcome

    /// Delivers the error that ends the observation.
    func fail(_ error: any Error)

    /// Ends the callbacks, and releases the closures.
    func end()
}

/// The result of a reduction.
enum ReductionOutcome {
    /// The value waits for the scheduler, which will report that it was taken.
    case delivering
    /// The reducer has dropped the value.
    case dropped
    /// A closure of the reducer has thrown.
    case failed(any Error)
}

/// The reducer and the delivery of an observation.
final class ReducedDelivery<Reducer: ValueReducer>: ObservationSink {
    private enum State {
        case idle(Reducer)
        /// The reducer is taken out, because the user's closures run without the lock.
        case reducing
        case ended
    }

    let delivery: ValueDelivery<Reducer.Value>
    private let state: Lock<State>

    init(_ reducer: Reducer, _ delivery: ValueDelivery<Reducer.Value>) {
        state = Lock(.idle(reducer))
        self.delivery = delivery
    }

    func receive(_ fetched: any Sendable) -> ReductionOutcome {
        let taken: Reducer? = state.withLock { state in
            guard case .idle(let reducer) = state else { return nil }
            state = .reducing
            return reducer
        }
        guard var reducer = taken, let fetched = fetched as? Reducer.Fetched else { return .dropped }
        let value: Reducer.Value?
        do { value = try reducer.reduce(fetched) } catch { return .failed(error) }
        let isEnded = state.withLock { [reducer] state in
            guard case .reducing = state else { return true }
            state = .idle(reducer)
            return false
        }
        guard !isEnded, let value else { return .dropped }
        delivery.receive(.value(value))
        return .delivering
    }

    func fail(_ error: any Error) {
        releaseReducer()
        delivery.receive(.failure(error))
    }

    func end() {
        // First the delivery: no callback begins from here on.
        delivery.end()
        releaseReducer()
    }

    private func releaseReducer() {
        let released = state.withLock { state in
            defer { state = .ended }
            return state
        }
        // Users' objects go with its closures, without the lock.
        _ = consume released
    }
}
