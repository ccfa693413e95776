import Foundation

/// A thread of our own that performs one and the same job for whoever waits: a mutex, a condition and a continuation,
/// with nothing allocated for a hop beyond the continuation.
final class HopWorker: Sendable {
    private let inbox = Inbox()

    init(_ job: @escaping @Sendable () throws -> Void) {
        let inbox = inbox
        let thread = Thread {
            var waiters: [Inbox.Waiter] = []
            while inbox.takeAll(into: &waiters) {
                for waiter in waiters {
                    waiter.resume(with: Result { try job() })
                }
            }
        }
        thread.start()
    }

    deinit {
        inbox.close()
    }

    /// Returns after the thread has performed the job for this caller.
    func perform() async throws {
        try await withUnsafeThrowingContinuation { inbox.put($0) }
    }
}

/// The waiters for the worker, in order of arrival.
///
/// Unchecked: `waiters` and `isClosed` are used under the mutex alone.
private final class Inbox: @unchecked Sendable {
    typealias Waiter = UnsafeContinuation<Void, any Error>

    private let mutex = PthreadMutex()
    private let filled = PthreadCondition()
    private var waiters: [Waiter] = []
    private var isClosed = false

    func put(_ waiter: Waiter) {
        mutex.withLock { waiters.append(waiter) }
        filled.signal()
    }

    func close() {
        mutex.withLock { isClosed = true }
        filled.signal()
    }

    /// Blocks until there is a waiter, and takes all waiters; returns `false` once closed. The two arrays swap places,
    /// so that neither is allocated again.
    func takeAll(into taken: inout [Waiter]) -> Bool {
        taken.removeAll(keepingCapacity: true)
        return mutex.withLock {
            while waiters.isEmpty {
                if isClosed { return false }
                mutex.wait(for: filled)
            }
            swap(&waiters, &taken)
            return true
        }
    }
}
