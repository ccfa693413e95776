import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryRecovery

@Suite struct BackupScheduleTests {
    private func schedule(jitter: Int = 0) -> BackupSchedule {
        var schedule = BackupSchedule(every: .seconds(100))
        schedule.jitter = .seconds(jitter)
        schedule.retryInterval = .seconds(10)
        return schedule
    }

    private func expectDue(
        _ machine: inout BackupScheduleStateMachine, _ now: Duration, _ isDue: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answer = machine.timeHasCome(now: now)
        #expect(answer == isDue, sourceLocation: sourceLocation)
    }

    @Test func firstBackupDependsOnTheNewest() {
        for (age, pause) in [(nil, 0), (0, 100), (30, 70), (100, 0), (5000, 0), (-5000, 100)] as [(Int?, Int)] {
            let machine = BackupScheduleStateMachine(
                schedule(), age: age.map { .seconds($0) }, now: .seconds(7), random: 0.5)
            #expect(machine.pause(now: .seconds(7)) == .seconds(pause))
        }
        let machine = BackupScheduleStateMachine(schedule(jitter: 20), age: nil, now: .zero, random: 0.25)
        #expect(machine.pause(now: .zero) == .seconds(5))
    }

    @Test func nextComesAnIntervalAfterTheBeginning() {
        var machine = BackupScheduleStateMachine(schedule(jitter: 20), age: nil, now: .zero, random: 0)
        expectDue(&machine, .zero)
        #expect(machine.pause(now: .zero) == nil)
        expectDue(&machine, .seconds(1000), false)
        machine.didSucceed(now: .seconds(30), random: 0.5)
        #expect(machine.pause(now: .seconds(30)) == .seconds(80))
        expectDue(&machine, .seconds(109), false)
        expectDue(&machine, .seconds(110))
        // It has taken longer than the interval.
        machine.didSucceed(now: .seconds(500), random: 0)
        #expect(machine.pause(now: .seconds(500)) == .zero)
    }

    @Test func failuresAreRetriedLessAndLessOften() {
        var machine = BackupScheduleStateMachine(schedule(), age: nil, now: .zero, random: 0)
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<30 {
            expectDue(&machine, now)
            machine.didFail(now: now)
            let pause = machine.pause(now: now) ?? .zero
            pauses.append(pause)
            now += pause
        }
        #expect(pauses.prefix(5) == [.seconds(10), .seconds(20), .seconds(40), .seconds(80), .seconds(100)])
        #expect(pauses.dropFirst(5).allSatisfy { $0 == .seconds(100) })
        expectDue(&machine, now)
        machine.didSucceed(now: now, random: 0)
        #expect(machine.failureCount == 0)
    }

    // MARK: - Running

    /// A clock whose sleeps end at once, and are noted: `onSleep` decides how it goes on.
    private final class StepClock: Clock, Sendable {
        struct Instant: InstantProtocol {
            var offset: Duration
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        }

        let time = Recorded(Duration.zero)
        let onSleep: @Sendable (Duration) throws -> Void
        var now: Instant { Instant(offset: time.value) }
        var minimumResolution: Duration { .nanoseconds(1) }

        init(_ onSleep: @escaping @Sendable (Duration) throws -> Void) { self.onSleep = onSleep }

        func `sleep`(until deadline: Instant, tolerance: Duration?) async throws {
            try Task.checkCancellation()
            try onSleep(deadline.offset - time.value)
            time.update { $0 = max($0, deadline.offset) }
        }
    }

    @Test func runsUntilCancelled() async throws {
        let files = try TemporaryFolder()
        let pool = try DatabasePool(path: files.file("db"))
        try pool.makePages(3)
        try FileManager.default.createDirectory(atPath: files.file("backups"), withIntermediateDirectories: false)
        var schedule = schedule()
        schedule.retention = BackupRetention(count: 2)
        let pauses = Recorded<[Duration]>([])
        let clock = StepClock { pause in
            pauses.update { $0.append(pause) }
            if pauses.value.count == 3 {
                try FileManager.default.moveItem(atPath: files.file("backups"), toPath: files.file("away"))
            }
            if pauses.value.count == 5 {
                try FileManager.default.moveItem(atPath: files.file("away"), toPath: files.file("backups"))
            }
            if pauses.value.count == 7 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        var folder = BackupFolder(path: files.file("backups"), name: "db")
        folder.now = { 1_000_000 + Int(clock.time.value.components.seconds * 1000) }
        let events = Recorded<[String]>([])
        let backups = ScheduledBackups(of: pool, in: folder, schedule: schedule) { event in
            switch event {
            case .made: events.update { $0.append("made") }
            case .pruned(let backups): events.update { $0.append("pruned \(backups.count)") }
            case .failed(let error, let pause):
                events.update {
                    $0.append("failed \((error as? DatabaseError)?.resultCode == .SQLITE_CANTOPEN) \(pause)")
                }
            }
        }
        let task = Task { try await backups.run(clock: clock) { 0 } }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(
            events.value == [
                "made", "made", "made", "pruned 1", "failed true 10.0 seconds", "failed true 20.0 seconds", "made",
                "pruned 1", "made", "pruned 1",
            ])
        #expect(pauses.value == [100, 100, 100, 10, 20, 100, 100].map { .seconds($0) })
        #expect(try folder.backups().count == 2)
    }

    @Test func closedDatabaseEndsIt() async throws {
        let files = try TemporaryFolder()
        let queue = try DatabaseQueue()
        try queue.close()
        let folder = BackupFolder(path: files.path, name: "db")
        let backups = ScheduledBackups(of: queue, in: folder, schedule: schedule())
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await backups.run() }
        let useless = ScheduledBackups(of: queue, in: folder, schedule: BackupSchedule(every: .zero))
        await expectError(
            .SQLITE_MISUSE, "BackupSchedule: interval and retryInterval must be above zero, jitter not below"
        ) { try await useless.run() }
    }
}
