import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The threads of Swift's cooperative pool.
package enum CooperativePool {
    /// The number of threads: one for each core.
    static let width = max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))

    private static let blockedCount = Atomic<Int>(0)

    /// Whether waiting accesses of tasks block all threads. Then no resumed task continues before one of these accesses
    /// has its connection.
    static var isBlocked: Bool { blockedCount.load(ordering: .relaxed) >= width }

    /// Whether the current thread runs a task, and isn't inside an access on a thread of the library. A task that stays
    /// there after its access no longer prefers those threads.
    static var isTaskThread: Bool {
        withUnsafeCurrentTask { task in
            guard let task else { return false }
            return task.unownedTaskExecutor == nil || !WorkerThreads.isCurrentThread
        }
    }

    /// Runs a body that blocks the thread.
    package static func blocking<T>(_ body: () throws -> T) rethrows -> T {
        try WorkerThreads.blocking { try blockingPool(body) }
    }

    private static func blockingPool<T>(_ body: () throws -> T) rethrows -> T {
        // Tasks on other executors count, too. That only makes waiters a little less patient.
        guard withUnsafeCurrentTask(body: { $0 != nil }) else { return try body() }
        blockedCount.add(1, ordering: .relaxed)
        defer { blockedCount.subtract(1, ordering: .relaxed) }
        return try body()
    }
}
