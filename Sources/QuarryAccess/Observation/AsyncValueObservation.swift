/// The values of an observation, as a sequence.
///
/// ```swift
/// for try await count in observation.values(in: dbPool) { print(count) }
/// ```
///
/// Each iteration starts the observation. Cancelling the task, leaving the loop or dropping the iterator ends it. In a
/// cancelled task, the sequence ends without an error.
public struct AsyncValueObservation<Element: Sendable>: AsyncSequence, Sendable {
    /// The values that wait for a slow loop, as for `AsyncThrowingStream`.
    public typealias BufferingPolicy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
    public typealias AsyncIterator = Iterator

    typealias Start =
        @Sendable (
            _ onError: @escaping @Sendable (any Error) -> Void, _ onChange: @escaping @Sendable (Element) -> Void
        ) -> AnyDatabaseCancellable

    private let bufferingPolicy: BufferingPolicy
    private let start: Start

    init(_ bufferingPolicy: BufferingPolicy, start: @escaping Start) {
        self.bufferingPolicy = bufferingPolicy
        self.start = start
    }

    /// Starts the observation.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(
            bufferingPolicy: bufferingPolicy)
        let cancellable = start({ continuation.finish(throwing: $0) }, { continuation.yield($0) })
        // Weak: the iterator alone keeps the observation running.
        continuation.onTermination = { [weak cancellable] _ in cancellable?.cancel() }
        return Iterator(iterator: stream.makeAsyncIterator(), cancellable: cancellable)
    }

    /// An iterator, which keeps its observation running.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var iterator: AsyncThrowingStream<Element, any Error>.AsyncIterator
        fileprivate let cancellable: AnyDatabaseCancellable

        /// The next value; nil in a cancelled task.
        ///
        /// - throws: the error that has ended the observation.
        public mutating func next() async throws -> Element? { try await iterator.next() }

        /// The next value; nil in a cancelled task.
        ///
        /// - throws: the error that has ended the observation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await iterator.next(isolation: actor)
        }
    }
}
