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
        let backups = try ScheduledBackups(of: pool, in: folder, schedule: schedule) { event in
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
        let backups = try ScheduledBackups(of: queue, in: folder, schedule: schedule())
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await backups.run() }
    }

    // MARK: - Opening

    @Test func uselessSchedulesAndOptionsAreRefused() throws {
        let files = try TemporaryFolder()
        let queue = try DatabaseQueue()
        let folder = BackupFolder(path: files.path, name: "db")
        func expectMisuse(
            _ schedule: BackupSchedule, _ message: String, _ options: BackupOptions = BackupOptions(),
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            expectError(.SQLITE_MISUSE, message, sourceLocation: sourceLocation) {
                try ScheduledBackups(of: queue, in: folder, schedule: schedule, options: options)
            }
        }
        expectMisuse(
            BackupSchedule(every: .zero),
            "BackupSchedule: interval and retryInterval must be above zero, jitter not below")
        for (hour, minute) in [(24, 0), (-1, 0), (3, 60), (3, -1)] {
            expectMisuse(
                .daily(at: hour, minute: minute),
                "BackupSchedule: \(hour):\(minute) is no time of day: hours are 0 to 23, minutes 0 to 59")
        }
        var schedule = BackupSchedule.daily(at: 3)
        schedule.jitter = .seconds(86_400)
        expectMisuse(schedule, "BackupSchedule: the jitter of a daily schedule must be less than a day")
        var options = BackupOptions()
        options.pagesPerStep = 0
        expectError(.SQLITE_MISUSE) {
            try ScheduledBackups(of: queue, in: folder, schedule: self.schedule(), options: options)
        }
    }

    @Test func folderIsRefusedOrMadeAtOnce() throws {
        let files = try TemporaryFolder()
        let queue = try DatabaseQueue()
        let path = files.file("backups/players")
        var folder = BackupFolder(path: path, name: "db")
        func open() throws { _ = try ScheduledBackups(of: queue, in: folder, schedule: schedule()) }
        expectError(
            .SQLITE_CANTOPEN,
            """
            backups in \(path): the folder does not exist: create it, or set \
            BackupFolder.createsIntermediateDirectories
            """
        ) { try open() }
        #expect(try files.names == [])
        folder.createsIntermediateDirectories = true
        try open()
        try open()
        #expect(try folder.backups() == [])
        // A folder that is gone is made again.
        try FileManager.default.removeItem(atPath: files.file("backups"))
        #expect(try folder.makeBackup(of: queue).byteCount > 0)

        folder.files.fault = { kind, _ in kind == .create ? EACCES : 0 }
        folder.createsIntermediateDirectories = false
        expectError(
            .SQLITE_CANTOPEN, "backups in \(path): no file can be made in the folder: Permission denied"
        ) { try open() }
        folder = BackupFolder(path: try folder.backups()[0].path, name: "db")
        expectError(.SQLITE_CANTOPEN, "backups in \(folder.path): it is a file, not a folder") { try open() }
        folder.createsIntermediateDirectories = true
        expectError(.SQLITE_CANTOPEN) { try open() }
        folder = BackupFolder(path: files.file("nul") + "\u{0}/a", name: "db")
        folder.createsIntermediateDirectories = true
        expectError(.SQLITE_CANTOPEN, "backups in \(folder.path): the path has a NUL character") { try open() }
        #expect(!FileManager.default.fileExists(atPath: files.file("nul")))
        folder = BackupFolder(path: files.path, name: "a/b")
        expectError(.SQLITE_MISUSE, "the name of backups can't be \"a/b\"") { try open() }
    }
}
