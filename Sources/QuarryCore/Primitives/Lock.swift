#if canImport(Darwin)
public import Darwin
#elseif canImport(Musl)
public import Musl
#else
public import Glibc
#endif

/// A mutual exclusion lock over a value, shared by reference.
///
/// Inlinable, and usable from inlinable code: each access takes locks, which must not cost a generic call, and the
/// compiler inlines no method of a type that is visible in the package alone.
@usableFromInline
package final class Lock<Value>: Sendable {
    @usableFromInline package let owned: OwnedLock<Value>

    @inlinable
    package init(_ value: sending Value) { owned = OwnedLock(value) }

    /// The value, for callers that hold the lock.
    @inlinable package var contents: UnsafeMutablePointer<Value> {
        @inline(__always) get { owned.contents }
    }

    /// Takes the lock, for callers that use `contents` directly.
    @inlinable
    @inline(__always)
    package func lock() { owned.lock() }

    /// Releases the lock.
    @inlinable
    @inline(__always)
    package func unlock() { owned.unlock() }

    /// Runs `body` with the lock held.
    @inlinable
    @inline(__always)
    package func withLock<T>(_ body: (inout Value) throws -> T) rethrows -> T { try owned.withLock(body) }
}

/// A mutual exclusion lock over a value, with a single owner.
///
/// It allocates one block of memory, `Lock` two: each task that waits for a connection has one.
///
/// Built on `pthread_mutex_t`, because the thread sanitizer reports false races for the standard library's `Mutex` on
/// Linux.
@usableFromInline
package struct OwnedLock<Value>: ~Copyable, @unchecked Sendable {
    // Sendable: `contents` is reached with the mutex held, and only during the body.

    /// The beginning of the block, which also holds the value.
    @usableFromInline package let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// The value, outside of any stored property: other modules check each access to a property for overlapping
    /// accesses.
    @usableFromInline package let contents: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: sending Value) {
        let mask = MemoryLayout<Value>.alignment - 1
        let offset = (MemoryLayout<pthread_mutex_t>.size + mask) & ~mask
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<Value>.size,
            alignment: max(MemoryLayout<pthread_mutex_t>.alignment, MemoryLayout<Value>.alignment))
        mutex = block.initializeMemory(as: pthread_mutex_t.self, to: pthread_mutex_t())
        contents = (block + offset).initializeMemory(as: Value.self, to: value)
        initializeMutex(mutex)
    }

    @inlinable
    deinit {
        pthread_mutex_destroy(mutex)
        contents.deinitialize(count: 1)
        UnsafeMutableRawPointer(mutex).deallocate()
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
