public import QuarryCore

/// Gives idle connections and pages back when the memory of the container runs short, on Linux.
///
/// ```swift
/// let monitor = try MemoryPressureMonitor()
/// try await withThrowingTaskGroup(of: Void.self) { group in
///     group.addTask { try await monitor.run() }
///     …
/// }
/// ```
///
/// The monitor looks at the file `memory.events` of the control group (version 2), in which the kernel counts how often
/// it had to reclaim memory: <https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files>. When a count
/// has grown, it calls `DatabaseMemory.releaseIdle()`. Nothing watches without a monitor; one is enough for the
/// process.
public final class MemoryPressureMonitor: Sendable {
    /// The file that is read.
    public let path: String

    private let interval: Duration
    private let last: Lock<MemoryEvents?>
    private let workers = WorkerThreads(connectionCount: 1)

    /// A monitor of a file, which it reads once.
    ///
    /// ```swift
    /// let monitor = try MemoryPressureMonitor(path: "/sys/fs/cgroup/memory.events", interval: .seconds(5))
    /// ```
    ///
    /// - parameter path: the file; nil for that of the process's control group.
    /// - parameter interval: the time between two looks, at least a millisecond.
    /// - throws: `SQLITE_CANTOPEN` if there is no such file, or none with counts of events; `SQLITE_MISUSE` for a
    ///   shorter interval.
    public init(path: String? = nil, interval: Duration = .seconds(1)) throws {
        guard interval >= .milliseconds(1) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the interval of a MemoryPressureMonitor must be at least a millisecond, not \(interval)")
        }
        guard let path = path ?? FileSystem.text(ofFile: "/proc/self/cgroup").flatMap(MemoryEvents.path(membership:))
        else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "the process is in no control group of version 2, whose memory events could be read")
        }
        self.path = path
        self.interval = interval
        last = Lock(try Self.events(path))
    }

    deinit { workers.shutDown() }

    /// Looks at the file until the task is cancelled, and then returns.
    ///
    /// The file is read on a thread of the library, not on Swift's.
    ///
    /// - throws: the errors of `check`.
    public func run() async throws {
        while !Task.isCancelled {
            do {
                try await withTaskExecutorPreference(workers, isolation: nil) { _ = try self.check() }
                try await Task.sleep(for: interval)
            } catch is CancellationError {
                return
            }
        }
    }

    /// Looks at the file once, on this thread.
    ///
    /// ```swift
    /// if let released = try monitor.check() { print("under pressure: \(released)") }
    /// ```
    ///
    /// - returns: what was given back; nil without pressure since the last look.
    /// - throws: `SQLITE_CANTOPEN` if the file is gone.
    @discardableResult
    public func check() throws -> DatabaseMemory.Released? {
        let events = try Self.events(path)
        let isPressed = last.withLock { last in
            defer { last = events }
            return events.showPressure(since: last)
        }
        return isPressed ? DatabaseMemory.releaseIdle() : nil
    }

    private static func events(_ path: String) throws -> MemoryEvents {
        guard let events = FileSystem.text(ofFile: path).flatMap({ MemoryEvents($0) }) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the file has no counts of memory events: \(path)")
        }
        return events
    }
}
