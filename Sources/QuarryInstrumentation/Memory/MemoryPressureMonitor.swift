#if Instrumentation || AllButTLS
public import Quarry

/// Gives idle connections and pages back when the memory of the container or the machine runs short, on Linux.
///
/// ```swift
/// let monitor = try MemoryPressureMonitor()
/// try await withThrowingTaskGroup(of: Void.self) { group in
///     group.addTask { try await monitor.run() }
///     …
/// }
/// ```
///
/// The monitor calls `DatabaseMemory.releaseIdle(_:)` when the kernel's pressure stall information says that tasks have
/// waited for memory for longer than a threshold: <https://docs.kernel.org/accounting/psi.html>. It takes the first of
/// these files that it can read:
///
/// 1. `memory.pressure` of the process's control group (version 2).
/// 2. `memory.events` of that group, in which the kernel counts how often it had to reclaim memory:
///    <https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files>. A group that is full of cached files
///    reclaims memory without pressure, so stall information is better.
/// 3. `/proc/pressure/memory`, of the whole machine.
///
/// If the process may write a file of stall information, the kernel wakes the monitor. Otherwise the monitor looks at
/// the file from time to time. Nothing watches without a monitor; one is enough for the process.
public final class MemoryPressureMonitor: Sendable {
    /// The way in which a monitor learns of pressure.
    public enum Signal: Sendable, Hashable {
        /// The kernel wakes the monitor when tasks have waited for too long.
        case stallTrigger
        /// The monitor looks for how long tasks have waited.
        case stallTimes
        /// The monitor looks at the counts of memory events of the control group.
        case events
    }

    /// The file that is watched.
    public let path: String

    /// The way in which it is watched.
    public let signal: Signal

    private let parts: DatabaseMemory.Parts
    private let interval: Duration
    private let stall: Duration
    private let trigger: PressureTrigger?
    private let last: Lock<Reading?>
    private let startThread: @Sendable (_ job: @escaping @Sendable () -> Void) -> Bool

    /// The content of the file.
    private enum Reading {
        case events(MemoryEvents)
        case stallTime(Duration)

        init?(_ text: String) {
            if let events = MemoryEvents(text) {
                self = .events(events)
            } else if let total = PressureStall.total(text) {
                self = .stallTime(total)
            } else {
                return nil
            }
        }
    }

    /// A monitor of a file, which it reads once.
    ///
    /// ```swift
    /// let monitor = try MemoryPressureMonitor(path: "/proc/pressure/memory", releasing: [.pages, .statements])
    /// ```
    ///
    /// - parameter path: a file with stall information or counts of memory events; nil for the first that is found.
    /// - parameter interval: the time between two looks, at least a millisecond; with `Signal.stallTrigger`, the pause
    ///   after an event.
    /// - parameter stall: the time that tasks wait for memory within two seconds, above which it is short: up to two
    ///   seconds. The default is that of systemd: <https://systemd.io/MEMORY_PRESSURE/>.
    /// - parameter parts: the things to give back.
    /// - throws: `SQLITE_CANTOPEN` if there is no such file, or none with such information; `SQLITE_MISUSE` for a
    ///   shorter interval or another stall.
    public convenience init(
        path: String? = nil, interval: Duration = .seconds(1), stall: Duration = .milliseconds(200),
        releasing parts: DatabaseMemory.Parts = .all
    ) throws {
        try self.init(path: path, interval: interval, stall: stall, releasing: parts, startThread: OwnThread.start)
    }

    /// - parameter startThread: runs a job on another thread; false if the system has none.
    init(
        path: String?, interval: Duration, stall: Duration, releasing parts: DatabaseMemory.Parts,
        startThread: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Bool
    ) throws {
        guard interval >= .milliseconds(1) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the interval of a MemoryPressureMonitor must be at least a millisecond, not \(interval)")
        }
        guard stall >= .microseconds(1), stall <= PressureTrigger.window else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the stall of a MemoryPressureMonitor must be from a microsecond to two seconds, not \(stall)")
        }
        let paths = path.map { [$0] } ?? Self.paths(membership: PressureStall.text(ofFile: "/proc/self/cgroup"))
        guard let found = Self.firstReading(of: paths) else {
            throw path.map(Self.unreadable)
                ?? DatabaseError(
                    resultCode: .SQLITE_CANTOPEN,
                    message: "no file tells about the pressure on memory: \(paths.joined(separator: ", "))")
        }
        self.path = found.path
        self.interval = interval
        self.stall = stall
        self.parts = parts
        self.startThread = startThread
        last = Lock(found.reading)
        switch found.reading {
        case .events:
            trigger = nil
            signal = .events
        case .stallTime:
            trigger = PressureTrigger(path: found.path, stall: stall)
            signal = trigger == nil ? .stallTimes : .stallTrigger
        }
    }

    /// Watches the file until the task is cancelled, and then returns.
    ///
    /// ```swift
    /// try await monitor.run { released in logger.info("memory is short: \(released)") }
    /// ```
    ///
    /// The file is watched on a thread of its own, not on Swift's. Run a monitor once at a time.
    ///
    /// - parameter onRelease: receives what was given back.
    /// - throws: the errors of `check`.
    public func run(
        onRelease: @escaping @Sendable (DatabaseMemory.Released) -> Void = { _ in }
    ) async throws {
        let wakeUp = try trigger.map { _ in try PressureTrigger.WakeUp() }
        try await withTaskCancellationHandler {
            try await watch(wakeUp, onRelease)
        } onCancel: {
            wakeUp?.send()
        }
    }

    private func watch(
        _ wakeUp: PressureTrigger.WakeUp?, _ onRelease: @escaping @Sendable (DatabaseMemory.Released) -> Void
    ) async throws {
        while !Task.isCancelled {
            do {
                let released = try await onOwnThread {
                    guard let trigger = self.trigger, let wakeUp else { return try self.check() }
                    return try self.released(after: trigger.wait(or: wakeUp))
                }
                if let released { onRelease(released) }
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
        if let trigger {
            guard let wasExceeded = trigger.wasExceeded() else { throw Self.unreadable(path) }
            return wasExceeded ? DatabaseMemory.releaseIdle(parts) : nil
        }
        guard let reading = PressureStall.text(ofFile: path).flatMap({ Reading($0) }) else {
            throw Self.unreadable(path)
        }
        let isPressed = last.withLock { last in
            defer { last = reading }
            return isPressure(reading, since: last)
        }
        return isPressed ? DatabaseMemory.releaseIdle(parts) : nil
    }

    private func released(after event: PressureTrigger.Event) throws -> DatabaseMemory.Released? {
        switch event {
        case .pressure: DatabaseMemory.releaseIdle(parts)
        case .wokenUp: nil
        case .gone: throw Self.unreadable(path)
        }
    }

    private func isPressure(_ reading: Reading, since earlier: Reading?) -> Bool {
        switch (reading, earlier) {
        case (.events(let events), .events(let earlier)): events.showPressure(since: earlier)
        // Of the two seconds, the time since the last look.
        case (.stallTime(let total), .stallTime(let earlier)):
            total - earlier >= stall * (min(interval, PressureTrigger.window) / PressureTrigger.window)
        default: false
        }
    }

    /// Waiting blocks a thread, so Swift's have to stay free. If the system has no other thread, the monitor looks
    /// without waiting.
    private func onOwnThread(
        _ body: @escaping @Sendable () throws -> DatabaseMemory.Released?
    ) async throws -> DatabaseMemory.Released? {
        try await withCheckedThrowingContinuation { continuation in
            if !startThread({ continuation.resume(with: Result { try body() }) }) {
                continuation.resume(with: Result { try check() })
            }
        }
    }

    // MARK: - Files

    /// The files that tell about the process, the best first.
    ///
    /// - parameter membership: the text of `/proc/self/cgroup`.
    static func paths(membership: String?) -> [String] {
        let group = membership.flatMap { MemoryEvents.folder(membership: $0) }
        return (group.map { ["\($0)/memory.pressure", "\($0)/memory.events"] } ?? []) + ["/proc/pressure/memory"]
    }

    private static func firstReading(of paths: [String]) -> (path: String, reading: Reading)? {
        for path in paths {
            if let reading = PressureStall.text(ofFile: path).flatMap({ Reading($0) }) { return (path, reading) }
        }
        return nil
    }

    private static func unreadable(_ path: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CANTOPEN,
            message: "the file has no counts of memory events, and no times of stalls: \(path)")
    }
}
#endif
