import QuarryCore

/// Turns fetched values into the values of an observation, one after another. The library has all conforming types.
public protocol ValueReducer<Value>: Sendable {
    /// The fetched values.
    associatedtype Fetched: Sendable
    /// The values that are received.
    associatedtype Value: Sendable

    /// The value for the next fetched value; nil to drop it.
    ///
    /// - throws: the error of a closure, which ends the observation.
    mutating func reduce(_ fetched: Fetched) throws -> Value?
}

/// The reducers.
public enum ValueReducers {
    /// Fetched values as they are.
    public struct Fetch<Value: Sendable>: ValueReducer {
        public func reduce(_ fetched: Value) -> Value? { fetched }
    }

    /// The values of `map(_:)`.
    public struct Map<Base: ValueReducer, Value: Sendable>: ValueReducer {
        var base: Base
        let transform: @Sendable (Base.Value) throws -> Value

        public mutating func reduce(_ fetched: Base.Fetched) throws -> Value? {
            guard let value = try base.reduce(fetched) else { return nil }
            return try transform(value)
        }
    }

    /// The values of `removeDuplicates()`.
    public struct RemoveDuplicates<Base: ValueReducer>: ValueReducer {
        var base: Base
        var previous: Base.Value?
        let predicate: SerialPredicate<Base.Value>

        public mutating func reduce(_ fetched: Base.Fetched) throws -> Base.Value? {
            guard let value = try base.reduce(fetched) else { return nil }
            if let previous, predicate(previous, value) { return nil }
            previous = value
            return value
        }
    }

    /// The values of `handleEvents` and `print`.
    public struct Trace<Base: ValueReducer>: ValueReducer {
        var base: Base
        let didReceiveValue: (@Sendable (Base.Value) -> Void)?

        public mutating func reduce(_ fetched: Base.Fetched) throws -> Base.Value? {
            guard let value = try base.reduce(fetched) else { return nil }
            didReceiveValue?(value)
            return value
        }
    }
}

/// A predicate that may use variables which no other thread may touch.
///
/// An observation can be started several times, each with its own thread: the lock makes the calls follow one another.
/// It is held during the user's closure, which can't come here again: only reducers call it.
final class SerialPredicate<Value>: Sendable {
    private let predicate: Lock<(Value, Value) -> Bool>

    init(_ predicate: sending @escaping (Value, Value) -> Bool) { self.predicate = Lock(predicate) }

    func callAsFunction(_ first: Value, _ second: Value) -> Bool {
        predicate.withLock { $0(first, second) }
    }
}
