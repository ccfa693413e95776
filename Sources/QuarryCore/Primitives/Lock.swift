#if canImport(Darwin)
    public import Darwin
#elseif canImport(Musl)
    public import Musl
#else
    public import Glibc
#endif

/// A mutual exclusion lock over a value.
///
/// It stands on `pthread_mutex_t`: the thread sanitizer reports falsely on the standard library's `Mutex` on Linux.
///
/// Inlinable, and usable from inlinable code: a lock on the way of each access must not cost a generic call, and the
/// compiler inlines no method of a type that it knows in the package alone.
@usableFromInline
package final class Lock<Value>: @unchecked Sendable {
    // Sendable: `contents` is reached with the mutex held, and only for the length of the body.
    @usableFromInline package let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// The value, which is in no field: other modules' accesses to a field look for overlapping ones, each time.
    @usableFromInline package let contents: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: sending Value) {
        contents = .allocate(capacity: 1)
        contents.initialize(to: value)
        mutex = .allocate(capacity: 1)
        #if canImport(Glibc)
            // A lock is held for less time than falling asleep takes: who finds it taken looks again for a moment.
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
            pthread_mutex_init(mutex, &attributes)
            pthread_mutexattr_destroy(&attributes)
        #else
            pthread_mutex_init(mutex, nil)
        #endif
    }

    @inlinable
    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        contents.deinitialize(count: 1)
        contents.deallocate()
    }

    /// Takes the lock, for those who then use `contents` in place.
    @inlinable
    @inline(__always)
    package func lock() { pthread_mutex_lock(mutex) }

    /// Gives the lock back.
    @inlinable
    @inline(__always)
    package func unlock() { pthread_mutex_unlock(mutex) }

    /// Runs `body` with the lock held.
    @inlinable
    @inline(__always)
    package func withLock<T>(_ body: (inout Value) throws -> T) rethrows -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&contents.pointee)
    }
}
