public import Dispatch

/// Says where the values of an observation are received.
///
/// ```swift
/// struct LoopScheduler: ValueObservationScheduler {
///     func immediateInitialValue() -> Bool { false }
///     func schedule(_ action: @escaping @Sendable () -> Void) { EventLoop.main.execute(action) }
/// }
/// ```
///
/// An observation has at most one scheduled action at a time, so values stay in order wherever the actions run.
public protocol ValueObservationScheduler: Sendable {
    /// Whether `start` fetches the first value itself, and receives it before it returns.
    func immediateInitialValue() -> Bool

    /// Runs an action later. It may run on any thread.
    func schedule(_ action: @escaping @Sendable () -> Void)
}

/// A scheduler whose actions run on the main actor.
public protocol ValueObservationMainActorScheduler: ValueObservationScheduler {
    /// Runs an action on the main actor, later.
    func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void)
}

extension ValueObservationMainActorScheduler {
    /// Runs an action on the main actor, later.
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        scheduleOnMainActor { action() }
    }
}

// MARK: - Queues

/// Receives values on a dispatch queue; see `ValueObservationScheduler.async(onQueue:)`.
public struct AsyncValueObservationScheduler: ValueObservationScheduler {
    private let queue: DispatchQueue

    /// - parameter queue: a serial or concurrent queue.
    public init(queue: DispatchQueue) { self.queue = queue }

    /// False.
    public func immediateInitialValue() -> Bool { false }

    /// Runs the action on the queue.
    public func schedule(_ action: @escaping @Sendable () -> Void) { queue.async(execute: action) }
}

extension ValueObservationScheduler where Self == AsyncValueObservationScheduler {
    /// Receives values on a dispatch queue.
    ///
    /// ```swift
    /// let cancellable = observation.start(
    ///     in: dbQueue, scheduling: .async(onQueue: queue), onError: { print($0) }, onChange: { print($0) })
    /// ```
    public static func async(onQueue queue: DispatchQueue) -> AsyncValueObservationScheduler {
        AsyncValueObservationScheduler(queue: queue)
    }
}

// MARK: - The calling thread

/// Receives the first value before `start` returns; see `ValueObservationScheduler.immediate`.
public struct ImmediateValueObservationScheduler: ValueObservationMainActorScheduler {
    /// The scheduler; `.immediate` is shorter.
    public init() {}

    /// True.
    public func immediateInitialValue() -> Bool { true }

    /// Runs the action on the main queue.
    public func schedule(_ action: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: action) }

    /// Runs the action on the main actor.
    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        Task.detached { await action() }
    }
}

extension ValueObservationScheduler where Self == ImmediateValueObservationScheduler {
    /// Receives the first value on the calling thread, before `start` returns, and later values on the main queue.
    ///
    /// Inside an access of a queue, or a read of a pool, the first value can't be fetched: `onError` receives
    /// `SQLITE_MISUSE`. If the first fetch has a transient error, such as `SQLITE_BUSY`, it is repeated, and its value
    /// comes later.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

extension ValueObservationMainActorScheduler where Self == ImmediateValueObservationScheduler {
    /// Receives the first value before `start` returns, and later values on the main actor.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

// MARK: - The main actor

/// Receives values on the main actor; see `ValueObservationScheduler.mainActor`.
public final class DelayedMainActorValueObservationScheduler: ValueObservationMainActorScheduler {
    fileprivate static let shared = DelayedMainActorValueObservationScheduler()

    private init() {}

    /// False.
    public func immediateInitialValue() -> Bool { false }

    /// Runs the action on the main queue.
    public func schedule(_ action: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: action) }

    /// Runs the action on the main actor.
    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        Task.detached { await action() }
    }
}

extension ValueObservationScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// Receives all values on the main actor.
    public static var mainActor: DelayedMainActorValueObservationScheduler { .shared }
}

// MARK: - Tasks

/// Receives each value in a task; see `ValueObservationScheduler.task`.
public final class TaskValueObservationScheduler: ValueObservationScheduler {
    fileprivate static let shared = TaskValueObservationScheduler(priority: nil)

    private let priority: TaskPriority?

    fileprivate init(priority: TaskPriority?) { self.priority = priority }

    /// False.
    public func immediateInitialValue() -> Bool { false }

    /// Runs the action in a task.
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        // Detached: a value belongs to no task of the library.
        Task.detached(priority: priority) { action() }
    }
}

extension ValueObservationScheduler where Self == TaskValueObservationScheduler {
    /// Receives values in tasks, one after another.
    public static var task: TaskValueObservationScheduler { .shared }

    /// Receives values in tasks of a priority, one after another.
    public static func task(priority: TaskPriority) -> TaskValueObservationScheduler {
        TaskValueObservationScheduler(priority: priority)
    }
}
