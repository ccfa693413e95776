import Foundation

/// A thread that runs one body, for tests of what happens on two threads at once.
///
/// ```swift
/// let writer = OtherThread { try connection.access { db in try db.execute(sql: "DELETE FROM t") } }
/// … // meanwhile
/// try writer.join()
/// ```
public final class OtherThread<T>: @unchecked Sendable {
    // Sendable: `result` is written before the semaphore is raised, and read after it was waited for.
    private var result: Result<T, any Error>?
    private let done = DispatchSemaphore(value: 0)

    /// Starts the thread. The test orders the accesses to all that the body shares with it.
    public init(_ body: @escaping () throws -> T) {
        nonisolated(unsafe) let body = body
        let thread = Thread { [self] in
            result = Result { try body() }
            done.signal()
        }
        thread.start()
    }

    /// Waits for the end of the body, and gives or throws its result.
    @discardableResult
    public func join() throws -> T {
        done.wait()
        defer { done.signal() }
        return try result!.get()
    }
}

/// Runs `body` on a thread of its own, and waits for it.
@discardableResult
public func onOtherThread<T>(_ body: @escaping () throws -> T) throws -> T {
    try OtherThread(body).join()
}
