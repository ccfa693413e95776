import QuarryCore
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What becomes of one that waits for a connection.
enum LeaseOutcome {
    case granted(LeaseStateMachine<any LeaseWaiter>.Grant)
    /// Ask again.
    case retry
    case failed(any Error)

    /// Whether more is to come.
    fileprivate var isRetry: Bool { if case .retry = self { true } else { false } }
}

/// One that waits for a connection.
protocol LeaseWaiter: AnyObject, Sendable {
    func resolve(_ outcome: LeaseOutcome)
}

/// A thread that waits.
final class ThreadWaiter: LeaseWaiter, @unchecked Sendable {
    // Sendable: `outcome` is touched with the mutex held only; `hasOutcome` is atomic.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var outcome: LeaseOutcome?
    private let hasOutcome = Atomic<Bool>(false)

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            // A clock that isn't set: https://man7.org/linux/man-pages/man3/pthread_condattr_setclock.3p.html
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func resolve(_ outcome: LeaseOutcome) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // Outcomes are delivered without the group's lock: a wake-up may come after the grant that was decided later.
        if case .retry = outcome, self.outcome != nil { return }
        self.outcome = outcome
        hasOutcome.store(true, ordering: .relaxed)
        pthread_cond_signal(condition)
    }

    /// Looks for an outcome for some microseconds: falling asleep and waking up takes longer.
    func spin() {
        let end = SystemClock.monotonicNanoseconds() + Self.spinNanoseconds
        while !hasOutcome.load(ordering: .relaxed), SystemClock.monotonicNanoseconds() < end { SystemClock.pause() }
    }

    private static let spinNanoseconds: UInt64 = CooperativePool.width > 1 ? 20_000 : 0

    /// Sleeps until there is an outcome, or a time has come.
    ///
    /// - parameter deadline: nanoseconds of the monotonic clock.
    /// - returns: nil at the deadline.
    func wait(until deadline: UInt64?) -> LeaseOutcome? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while outcome == nil {
            guard let deadline else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            #if canImport(Darwin)
                let now = SystemClock.monotonicNanoseconds()
                guard now < deadline else { return nil }
                var rest = timespec(
                    tv_sec: Int((deadline - now) / 1_000_000_000), tv_nsec: Int((deadline - now) % 1_000_000_000))
                if pthread_cond_timedwait_relative_np(condition, mutex, &rest) == ETIMEDOUT { break }
            #else
                var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
                if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { break }
            #endif
        }
        hasOutcome.store(false, ordering: .relaxed)
        return outcome.take()
    }
}

/// A task's place in the queue. It is taken where the access is asked for; the task waits for its turn where the access
/// will run.
///
/// As an executor it is the library's threads, once there is an outcome; before, it holds the task that comes. So no
/// thread is woken for a task that could only begin to wait, and the thread that gives a connection back goes on with
/// the task that gets it.
final class TaskWaiter: LeaseWaiter, TaskExecutor {
    private enum State {
        case pending
        /// The task has come, and has nothing to do yet.
        case held(UnownedJob)
        /// It runs, and will wait.
        case running
        case waiting(UnsafeContinuation<LeaseOutcome, Never>)
        case resolved(LeaseOutcome)
        case done
    }

    /// The number of its place, if it had to wait. The task sets it, with the group's lock held; others who have the
    /// lock read it.
    nonisolated(unsafe) var id: Int?

    let waiterKind: LeaseStateMachine<any LeaseWaiter>.WaiterKind

    private let state = Lock(State.pending)
    private let workers: WorkerThreads

    init(_ workers: WorkerThreads, _ waiterKind: LeaseStateMachine<any LeaseWaiter>.WaiterKind) {
        self.workers = workers
        self.waiterKind = waiterKind
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            guard case .pending = state else { return false }
            state = .held(job)
            return true
        }
        if !isHeld { workers.enqueue(job, on: asUnownedTaskExecutor()) }
    }

    func resolve(_ outcome: LeaseOutcome) {
        let previous = state.withLock { state in
            let previous = state
            switch state {
            case .pending, .held, .running: state = .resolved(outcome)
            case .waiting: state = outcome.isRetry ? .running : .done
            // Outcomes are delivered without the group's lock: one may come after the one that was decided later.
            case .resolved(.retry): state = .resolved(outcome)
            case .resolved, .done: break
            }
            return previous
        }
        switch previous {
        case .held(let job): workers.enqueue(job, on: asUnownedTaskExecutor())
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
