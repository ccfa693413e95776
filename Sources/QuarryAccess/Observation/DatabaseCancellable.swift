import QuarryCore

/// A running observation, which can be cancelled.
///
/// ```swift
/// let cancellable: any DatabaseCancellable = observation.start(in: dbQueue, onError: { _ in }, onChange: { _ in })
/// cancellable.cancel()
/// ```
public protocol DatabaseCancellable: Sendable {
    /// Cancels the observation. After it has returned, no callback begins; a callback that runs may finish.
    func cancel()
}

/// A type-erased `DatabaseCancellable`. It cancels when it is released.
///
/// ```swift
/// final class PlayerList {
///     private var cancellable: AnyDatabaseCancellable?
/// }
/// ```
public final class AnyDatabaseCancellable: DatabaseCancellable {
    private let action: Lock<(@Sendable () -> Void)?>

    /// A cancellable that runs a closure, once.
    ///
    /// - parameter cancel: called when it is cancelled or released.
    public init(cancel: @escaping @Sendable () -> Void) { action = Lock(cancel) }

    /// Wraps a cancellable.
    public convenience init(_ base: some DatabaseCancellable) { self.init { base.cancel() } }

    deinit { cancel() }

    public func cancel() {
        // Called, and released, without the lock.
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}
