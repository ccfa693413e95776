import Foundation
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import Quarry

@Suite(.timeLimit(.minutes(2))) struct MemoryPressureMonitorTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

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

    @Test func fileOfTheGroup() {
        #expect(MemoryEvents.path(membership: "0::/\n") == "/sys/fs/cgroup/memory.events")
        #expect(
            MemoryEvents.path(membership: "4:memory:/old\n0::/a.slice/b.service\n")
                == "/sys/fs/cgroup/a.slice/b.service/memory.events")
        #expect(MemoryEvents.path(membership: "4:memory:/old\n") == nil)
        #expect(MemoryEvents.path(membership: "") == nil)
    }

    /// In a process of its own, whose databases all give back what they can: other tests count their readers.
    @Test func releasesUnderPressure() async {
        await #expect(processExitsWith: .success) { try await MemoryPressureMonitorTests().release() }
    }

    private func release() async throws {
        let path = folder.file("memory.events")
        func write(high: Int) throws {
            // Replaced at once, as the kernel's file is.
            try Data("low 0\nhigh \(high)\nmax 0\noom 0\n".utf8).write(to: URL(filePath: path), options: .atomic)
        }
        try write(high: 5)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let monitor = try MemoryPressureMonitor(path: path, interval: .milliseconds(1))
        #expect(try monitor.check() == nil)
        try await pool.read { _ in }
        try write(high: 6)
        #expect(try #require(try monitor.check()).emptiedConnections >= 0)
        #expect(pool.readers.group.connectionCount == 0)
        #expect(try monitor.check() == nil)

        try await pool.read { _ in }
        let run = Task { try await monitor.run() }
        try write(high: 7)
        try await until("the monitor has seen it") { pool.readers.group.connectionCount == 0 }
        run.cancel()
        try await run.value

        try FileManager.default.removeItem(atPath: path)
        expectError(.SQLITE_CANTOPEN, "the file has no counts of memory events: \(path)") { try monitor.check() }
        await #expect(throws: DatabaseError.self) { try await monitor.run() }
    }

    @Test func refuses() throws {
        expectError(.SQLITE_CANTOPEN) { try MemoryPressureMonitor(path: folder.file("nothing")) }
        expectError(.SQLITE_MISUSE) { try MemoryPressureMonitor(path: "/proc/self/cgroup", interval: .zero) }
    }
}
