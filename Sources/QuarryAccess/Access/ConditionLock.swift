import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A mutex over a value, and a condition: the holder of the mutex can sleep until another thread signals.
package struct ConditionLock<Value>: ~Copyable, @unchecked Sendable {
    // Sendable: the value is reached only with the mutex held.

    /// The value. Use it only between `lock` and `unlock`; `wait` lets other threads change it.
    ///
    /// Change the value through a copy of the pointer: the thread sanitizer takes a change through this field for a
    /// change of the field.
    package let contents: UnsafeMutablePointer<Value>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init(_ value: consuming Value) {
        contents = .allocate(capacity: 1)
        contents.initialize(to: value)
        // One allocation holds both.
        let offset = MemoryLayout<pthread_mutex_t>.stride
        let storage = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<pthread_cond_t>.stride, alignment: 16)
        mutex = storage.initializeMemory(as: pthread_mutex_t.self, to: pthread_mutex_t())
        condition = (storage + offset).initializeMemory(as: pthread_cond_t.self, to: pthread_cond_t())
        initializeMutex(mutex)
        initializeCondition(condition)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        UnsafeMutableRawPointer(mutex).deallocate()
        contents.deinitialize(count: 1)
        contents.deallocate()
    }

    package func lock() { pthread_mutex_lock(mutex) }

    package func unlock() { pthread_mutex_unlock(mutex) }

    /// Runs `body` with the mutex held.
    package func withLock<T>(_ body: (inout Value) throws -> T) rethrows -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&contents.pointee)
    }

    /// Wakes one of the threads that sleep in `wait`.
    func signal() { pthread_cond_signal(condition) }

    /// Wakes all threads that sleep in `wait`.
    package func broadcast() { pthread_cond_broadcast(condition) }

    /// Releases the mutex, sleeps until another thread signals, and takes the mutex again. It may also wake without a
    /// signal.
    ///
    /// - parameter deadline: nanoseconds of the monotonic clock; nil for no deadline.
    /// - returns: false at the deadline.
    package func wait(until deadline: UInt64? = nil) -> Bool { wait(for: condition, until: deadline) }

    /// Does the same with a condition that is the caller's own, so that another thread can wake this one and no other.
    func wait(for condition: UnsafeMutablePointer<pthread_cond_t>, until deadline: UInt64?) -> Bool {
        guard let deadline else {
            pthread_cond_wait(condition, mutex)
            return true
        }
        #if canImport(Darwin)
        let now = SystemClock.monotonicNanoseconds()
        guard now < deadline else { return false }
        var time = Self.time(deadline - now)
        return pthread_cond_timedwait_relative_np(condition, mutex, &time) != ETIMEDOUT
        #else
        var time = Self.time(deadline)
        return pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
        #endif
    }

    private static func time(_ nanoseconds: UInt64) -> timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

/// Initializes a condition whose deadlines are times of the monotonic clock.
func initializeCondition(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
    #if canImport(Darwin)
    pthread_cond_init(condition, nil)
    #else
    // A clock that can't be set: https://man7.org/linux/man-pages/man3/pthread_condattr_setclock.3p.html
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    #endif
}
