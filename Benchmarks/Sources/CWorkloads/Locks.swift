import Foundation

/// A `pthread_mutex_t` at a fixed address.
///
/// Unchecked: the pointer never changes, and the mutex itself is made for several threads.
final class PthreadMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always)
    func withLock<T>(_ body: () throws -> T) rethrows -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Waits, inside of `withLock`, until the condition is signalled.
    func wait(for condition: PthreadCondition) {
        pthread_cond_wait(condition.condition, mutex)
    }
}

/// A `pthread_cond_t` at a fixed address.
///
/// Unchecked: the pointer never changes, and the condition itself is made for several threads.
final class PthreadCondition: @unchecked Sendable {
    fileprivate let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    func signal() {
        pthread_cond_signal(condition)
    }
}
