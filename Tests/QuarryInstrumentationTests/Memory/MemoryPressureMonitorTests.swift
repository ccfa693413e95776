#if Instrumentation || AllButTLS
import Foundation
import Quarry
import Testing

@testable import QuarryInstrumentation

@Suite(.timeLimit(.minutes(2))) struct MemoryPressureMonitorTests {
    private func refused(_ code: ResultCode, _ message: String? = nil, _ body: () throws -> Void) {
        let error = #expect(throws: DatabaseError.self) { try body() }
        #expect(error?.resultCode == code && (message == nil || error?.message == message), "\(error as Any)")
    }

    /// A file in the folder of a database, which goes with it.
    private func file(_ name: String, beside database: TestDatabase) -> String {
        URL(fileURLWithPath: database.path).deletingLastPathComponent().appendingPathComponent(name).path
    }

    @Test func events() {
        let text = "low 0\nhigh 3\nmax 4\noom 1\noom_kill 0\noom_group_kill 0\n"
        var events = MemoryEvents("high 3\nmax 4\noom 1")
        #expect(MemoryEvents(text) == events)
        #expect(MemoryEvents("") == nil && MemoryEvents("some avg10=0.00") == nil && MemoryEvents("high x") == nil)
        let first = events!
        #expect(!first.showPressure(since: nil) && !first.showPressure(since: first))
        for key in [\MemoryEvents.high, \.max, \.oom] {
            events = first
            events![keyPath: key] += 1
            #expect(events!.showPressure(since: first) && !first.showPressure(since: events))
        }
    }

    @Test func filesOfTheGroup() {
        let machine = "/proc/pressure/memory"
        #expect(
            MemoryPressureMonitor.paths(membership: "0::/\n")
                == ["/sys/fs/cgroup/memory.pressure", "/sys/fs/cgroup/memory.events", machine])
        let folder = "/sys/fs/cgroup/a.slice/b.service"
        #expect(
            MemoryPressureMonitor.paths(membership: "4:memory:/old\n0::/a.slice/b.service\n")
                == ["\(folder)/memory.pressure", "\(folder)/memory.events", machine])
        #expect(MemoryPressureMonitor.paths(membership: "4:memory:/old\n") == [machine])
        #expect(MemoryPressureMonitor.paths(membership: "") == [machine])
        #expect(MemoryPressureMonitor.paths(membership: nil) == [machine])
    }

    /// In a process of its own, whose databases all give back what they can: other tests count their readers.
    @Test func releasesUnderPressure() async {
        await #expect(processExitsWith: .success) { try await MemoryPressureMonitorTests().release() }
    }

    private func release() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let path = file("memory.events", beside: database)
        func write(high: Int) throws {
            // Replaced at once, as the kernel's file is.
            try Data("low 0\nhigh \(high)\nmax 0\noom 0\n".utf8).write(to: URL(filePath: path), options: .atomic)
        }
        try write(high: 5)
        let monitor = try MemoryPressureMonitor(path: path, interval: .milliseconds(1))
        #expect(monitor.path == path && monitor.signal == .events)
        #expect(try monitor.check() == nil)
        try await pool.read { _ in }
        try write(high: 6)
        #expect(try #require(try monitor.check()).closedConnections == 1)
        #expect(try monitor.check() == nil)

        try await pool.read { _ in }
        let released = Recorded<[DatabaseMemory.Released]>([])
        let run = Task { try await monitor.run { value in released.update { $0.append(value) } } }
        try write(high: 7)
        try await until("the release is reported") { !released.value.isEmpty }
        #expect(released.value.map(\.closedConnections) == [1])
        run.cancel()
        try await run.value

        try FileManager.default.removeItem(atPath: path)
        refused(.SQLITE_CANTOPEN, "the file has no counts of memory events, and no times of stalls: \(path)") {
            _ = try monitor.check()
        }
        await #expect(throws: DatabaseError.self) { try await monitor.run() }
    }

    /// The system has no thread left: the monitor looks at the file all the same, and its task can be cancelled.
    @Test func noThreadIsLeft() async {
        await #expect(processExitsWith: .success) { try await MemoryPressureMonitorTests().releaseWithoutThread() }
    }

    private func releaseWithoutThread() async throws {
        let database = try TestDatabase()
        let path = file("memory.events", beside: database)
        func write(high: Int) throws {
            try Data("high \(high)\nmax 0\noom 0\n".utf8).write(to: URL(filePath: path), options: .atomic)
        }
        try write(high: 0)
        let refusals = Recorded(0)
        let monitor = try MemoryPressureMonitor(
            path: path, interval: .milliseconds(1), stall: .milliseconds(200), releasing: .all,
            startThread: { _ in
                refusals.update { $0 += 1 }
                return false
            })
        try await database.pool.read { _ in }
        let released = Recorded<[DatabaseMemory.Released]>([])
        let run = Task { try await monitor.run { value in released.update { $0.append(value) } } }
        try write(high: 1)
        try await until("the release is reported") { !released.value.isEmpty }
        #expect(released.value.map(\.closedConnections) == [1] && refusals.value > 0)
        run.cancel()
        try await run.value
    }

    /// The kernel's own trigger without a thread: the monitor looks without waiting, and ends with its task.
    @Test(.enabled(if: PressureTrigger(path: "/proc/pressure/memory", stall: .seconds(2)) != nil))
    func noThreadForTheTrigger() async throws {
        let looks = Recorded(0)
        let monitor = try MemoryPressureMonitor(
            path: "/proc/pressure/memory", interval: .milliseconds(1), stall: .seconds(2), releasing: .pages,
            startThread: { _ in
                looks.update { $0 += 1 }
                return false
            })
        #expect(monitor.signal == .stallTrigger)
        let run = Task { try await monitor.run() }
        try await until("it has looked twice") { looks.value >= 2 }
        run.cancel()
        try await run.value
    }

    /// A link to the kernel's file is the kernel's file; a plain file that a link leads to is only read.
    @Test(.enabled(if: PressureTrigger(path: "/proc/pressure/memory", stall: .seconds(2)) != nil))
    func linksToFiles() throws {
        let database = try TestDatabase()
        let (link, plain, other) = (
            file("link", beside: database), file("memory.pressure", beside: database),
            file("other", beside: database)
        )
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc/pressure/memory")
        #expect(try MemoryPressureMonitor(path: link, stall: .seconds(2)).signal == .stallTrigger)
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
        try Data(text.utf8).write(to: URL(filePath: plain))
        try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: plain)
        #expect(try MemoryPressureMonitor(path: other).signal == .stallTimes)
        #expect(try String(contentsOfFile: plain, encoding: .utf8) == text)
    }

    @Test func refuses() throws {
        refused(.SQLITE_CANTOPEN) { _ = try MemoryPressureMonitor(path: "/nothing") }
        refused(.SQLITE_CANTOPEN) { _ = try MemoryPressureMonitor(path: "/proc/self/cgroup") }
        refused(.SQLITE_MISUSE) { _ = try MemoryPressureMonitor(path: "/proc/self/cgroup", interval: .zero) }
        for stall in [Duration.zero, .milliseconds(-1), .milliseconds(2_001)] {
            refused(.SQLITE_MISUSE) { _ = try MemoryPressureMonitor(path: "/proc/self/cgroup", stall: stall) }
        }
    }

    @Test func stallTimes() {
        func text(_ total: String) -> String {
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=\(total)\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
        }
        #expect(PressureStall.total(text("1500000")) == .milliseconds(1_500))
        #expect(PressureStall.total(text("")) == nil && PressureStall.total("full total=7") == nil)
        #expect(PressureStall.total("") == nil && PressureStall.total("high 3\nmax 4") == nil)
    }

    /// A file of stall information that can only be read: the monitor looks at it.
    @Test func stallsThatAreReadOnly() async {
        await #expect(processExitsWith: .success) { try await MemoryPressureMonitorTests().readStalls() }
    }

    private func readStalls() async throws {
        let database = try TestDatabase()
        let pool = database.pool
        let path = file("memory.pressure", beside: database)
        func write(total: Int) throws {
            try Data("some avg10=0.00 avg60=0.00 avg300=0.00 total=\(total)\n".utf8)
                .write(to: URL(filePath: path), options: .atomic)
        }
        try write(total: 1_000)
        // A tenth of the time between two looks.
        let monitor = try MemoryPressureMonitor(path: path, interval: .milliseconds(100), releasing: .pages)
        #expect(monitor.signal == .stallTimes)
        try await pool.read { _ in }
        try write(total: 10_999)
        #expect(try monitor.check() == nil)
        try write(total: 20_999)
        let released = try #require(try monitor.check())
        #expect(released.emptiedConnections == 2 && released.closedConnections == 0)
        #expect(try monitor.check() == nil)
        // The machine was started again.
        try write(total: 5)
        #expect(try monitor.check() == nil)
        // The file is as it was: it isn't the kernel's.
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix("total=5\n"))
    }

    /// The kernel's own trigger, with a pressure that a test can make: more threads than processors.
    @Test(.enabled(if: PressureTrigger(path: "/proc/pressure/cpu", stall: .milliseconds(1)) != nil))
    func aTriggerOfTheKernel() async {
        await #expect(processExitsWith: .success) { try await MemoryPressureMonitorTests().releaseAfterTrigger() }
    }

    private func releaseAfterTrigger() async throws {
        let database = try TestDatabase()
        try await database.pool.read { _ in }
        let monitor = try MemoryPressureMonitor(path: "/proc/pressure/cpu", stall: .milliseconds(1))
        #expect(monitor.signal == .stallTrigger)
        let released = Recorded<[DatabaseMemory.Released]>([])
        let isOver = Recorded(false)
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount + 2 {
            Thread.detachNewThread { while !isOver.value {} }
        }
        let run = Task { try await monitor.run { value in released.update { $0.append(value) } } }
        try await until("the kernel reports pressure") { !released.value.isEmpty }
        isOver.update { $0 = true }
        #expect(released.value.first?.closedConnections == 1)
        run.cancel()
        try await run.value
    }

    /// The wait for the kernel ends at once when the task is cancelled, before or during it.
    @Test(
        .enabled(if: PressureTrigger(path: "/proc/pressure/memory", stall: .seconds(2)) != nil),
        arguments: [false, true])
    func aCancelledWait(isCancelledBefore: Bool) async throws {
        let monitor = try MemoryPressureMonitor(path: "/proc/pressure/memory", stall: .seconds(2))
        #expect(monitor.signal == .stallTrigger)
        #expect(try monitor.check() == nil)
        let run = Task {
            if isCancelledBefore { withUnsafeCurrentTask { $0?.cancel() } }
            try await monitor.run()
        }
        if !isCancelledBefore { run.cancel() }
        try await run.value
    }
}
#endif
