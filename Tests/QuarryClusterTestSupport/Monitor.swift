#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A value behind a lock, and threads that wait for a change of it.
///
/// Made of pthreads: the thread sanitizer reports false races at `Synchronization.Mutex` on Linux.
final class Monitor<State>: @unchecked Sendable {
    // `@unchecked`: the value is reached with the lock held only, and the two pointers never change.
    private var state: State
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(change, nil)
    }

    deinit {
        pthread_cond_destroy(change)
        pthread_mutex_destroy(mutex)
        change.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the value, and wakes the waiting threads, which check their conditions again.
    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(change)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Blocks the thread until a condition holds.
    func wait(until condition: (State) -> Bool) {
        pthread_mutex_lock(mutex)
        while !condition(state) { pthread_cond_wait(change, mutex) }
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the thread until a condition holds, or for a number of seconds at most.
    ///
    /// - returns: whether the condition holds.
    func wait(atMost seconds: Int, until condition: (State) -> Bool) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += seconds
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !condition(state) {
            if pthread_cond_timedwait(change, mutex, &end) == ETIMEDOUT { return condition(state) }
        }
        return true
    }

    /// Suspends the task until a condition holds, or for a number of seconds at most. Another thread waits: Swift's
    /// threads are for tasks that run.
    ///
    /// - returns: whether the condition holds.
    func becomes(within seconds: Int, _ condition: @escaping @Sendable (State) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: self.wait(atMost: seconds, until: condition)) }
        }
    }
}
