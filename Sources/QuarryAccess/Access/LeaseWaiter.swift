import QuarryCore
import Synchronization

/// The answer to a waiter.
enum LeaseOutcome {
    case granted(LeaseStateMachine<any LeaseWaiter>.Grant)
    /// The waiter has to ask again.
    case retry
    case failed(any Error)

    /// Whether another outcome follows.
    fileprivate var isRetry: Bool { if case .retry = self { true } else { false } }
}

/// A thread or task that waits for a connection.
protocol LeaseWaiter: AnyObject, Sendable {
    func resolve(_ outcome: LeaseOutcome)
}

/// A thread that waits.
final class ThreadWaiter: LeaseWaiter {
    private let outcome = ConditionLock<LeaseOutcome?>(nil)
    private let hasOutcome = Atomic<Bool>(false)
    private let clock: MonotonicClock

    init(_ clock: MonotonicClock) { self.clock = clock }

    func resolve(_ outcome: LeaseOutcome) {
        self.outcome.withLock { current in
            // Outcomes are delivered without the group's lock: a wake-up may come after the grant that was decided
            // later.
            if case .retry = outcome, current != nil { return }
            current = outcome
            hasOutcome.store(true, ordering: .relaxed)
        }
        self.outcome.signal()
    }

    /// Looks for an outcome for some microseconds: falling asleep and waking up takes longer.
    func spin() {
        let end = SystemClock.monotonicNanoseconds() + Self.spinNanoseconds
        SystemClock.spin(until: end) { !hasOutcome.load(ordering: .relaxed) }
    }

    private static let spinNanoseconds: UInt64 = CooperativePool.width > 1 ? 20_000 : 0

    /// Sleeps until there is an outcome, or until a deadline.
    ///
    /// - parameter deadline: nanoseconds of the clock.
    /// - returns: nil at the deadline.
    func wait(until deadline: UInt64?) -> LeaseOutcome? {
        let contents = outcome.contents
        outcome.lock()
        defer { outcome.unlock() }
        while contents.pointee == nil, outcome.wait(until: deadline, clock) {}
        hasOutcome.store(false, ordering: .relaxed)
        return contents.pointee.take()
    }
}

/// A task that waits. It takes its queue entry where the access is requested, and suspends where the access will run.
///
/// A task waiter is also an executor. Until there is an outcome, it holds the task's job; then it passes the job to the
/// library's threads. So no thread is woken for a task that could only begin to wait, and the thread that releases a
/// connection continues with the task that receives it.
final class TaskWaiter: LeaseWaiter, TaskExecutor {
    private enum State {
        case pending
        /// The task's job has come, and is held.
        case held(UnownedJob)
        /// The task runs, and will ask for the outcome.
        case running
        case waiting(UnsafeContinuation<LeaseOutcome, Never>)
        case resolved(LeaseOutcome)
        case done
    }

    // Both are set and read with the group's lock held.

    /// The number of its queue entry, if the task had to wait.
    nonisolated(unsafe) var id: Int?
    /// When it entered the queue, if the task had to wait.
    nonisolated(unsafe) var arrival: UInt64?

    /// The deadline of its access, which its error names.
    nonisolated(unsafe) var deadline: AccessDeadline?

    let waiterKind: LeaseStateMachine<any LeaseWaiter>.WaiterKind

    private let state = OwnedLock(State.pending)
    private let workers: WorkerThreads
    private let mayStay: Bool

    /// - parameter mayStay: whether the task may stay on the library's thread after its access.
    init(
        _ workers: WorkerThreads, _ waiterKind: LeaseStateMachine<any LeaseWaiter>.WaiterKind, mayStay: Bool = false
    ) {
        self.workers = workers
        self.waiterKind = waiterKind
        self.mayStay = mayStay
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            guard case .pending = state else { return false }
            state = .held(job)
            return true
        }
        if !isHeld { workers.enqueue(job, on: asUnownedTaskExecutor(), mayStay: mayStay) }
    }

    func resolve(_ outcome: LeaseOutcome) {
        let previous = state.withLock { state in
            let previous = state
            switch state {
            case .pending, .held, .running: state = .resolved(outcome)
            case .waiting: state = outcome.isRetry ? .running : .done
            // Outcomes are delivered without the group's lock: an outcome may come after one that was decided later.
            case .resolved(.retry): state = .resolved(outcome)
            case .resolved, .done: break
            }
            return previous
        }
        switch previous {
        case .held(let job): workers.enqueue(job, on: asUnownedTaskExecutor(), mayStay: mayStay)
        case .waiting(let continuation): continuation.resume(returning: outcome)
        case .pending, .running, .resolved, .done: break
        }
    }

    /// Suspends until there is an outcome. Called again after `retry` only.
    func outcome() async -> LeaseOutcome {
        // The usual case: the connection was free.
        if let outcome = state.withLock({ state in Self.takeOutcome(&state) }) { return outcome }
        return await withUnsafeContinuation { continuation in
            let outcome: LeaseOutcome? = state.withLock { state in
                if let outcome = Self.takeOutcome(&state) { return outcome }
                state = .waiting(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    private static func takeOutcome(_ state: inout State) -> LeaseOutcome? {
        guard case .resolved(let outcome) = state else { return nil }
        state = outcome.isRetry ? .running : .done
        return outcome
    }
}

extension ConnectionGroup {
    /// A connection for a task, or the waiter for one.
    enum LeaseOrWaiter: Sendable {
        case lease(Lease)
        /// The task has to wait, or to open a connection.
        case waiter(TaskWaiter)
    }

    /// A connection, or the slot to open one in.
    enum LeaseOrSlot {
        case lease(Lease)
        case toOpen(Machine.Grant, arrival: UInt64?)
    }
}
