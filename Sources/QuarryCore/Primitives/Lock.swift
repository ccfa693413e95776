#if canImport(Darwin)
    public import Darwin
#elseif canImport(Musl)
    public import Musl
#else
    public import Glibc
#endif

/// A mutual exclusion lock over a value.
///
/// Built on `pthread_mutex_t`, because the thread sanitizer reports false races for the standard library's `Mutex` on
/// Linux.
///
/// Inlinable, and usable from inlinable code: each access takes locks, which must not cost a generic call, and the
/// compiler inlines no method of a type that is visible in the package alone.
@usableFromInline
package final class Lock<Value>: @unchecked Sendable {
    // Sendable: `contents` is reached with the mutex held, and only during the body.
    @usableFromInline package let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// The value, outside of any stored property: other modules check each access to a property for overlapping
    /// accesses.
    @usableFromInline package let contents: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: sending Value) {
        contents = .allocate(capacity: 1)
        contents.initialize(to: value)
        mutex = .allocate(capacity: 1)
        initializeMutex(mutex)
    }

    @inlinable
    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        contents.deinitialize(count: 1)
        contents.deallocate()
    }

    /// Takes the lock, for callers that use `contents` directly.
    @inlinable
    @inline(__always)
    package func lock() { pthread_mutex_lock(mutex) }

    /// Releases the lock.
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

/// Initializes a mutex that is held for less time than it takes to fall asleep.
///
/// A thread that finds it taken retries for a moment before it sleeps: with 100 readers of commits, a writer slept for
/// each twelfth write before its line's mutex did so.
@usableFromInline
package func initializeMutex(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
    #if canImport(Glibc)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    #else
        pthread_mutex_init(mutex, nil)
    #endif
}
