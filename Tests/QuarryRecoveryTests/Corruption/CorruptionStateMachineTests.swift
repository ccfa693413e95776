import Quarry
import QuarryCore
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// The decisions about a file that may be damaged, without threads or files.
@Suite("Corruption state machine") struct CorruptionStateMachineTests {
    private let file = FileIdentity(device: 1, inode: 1)
    private let other = FileIdentity(device: 1, inode: 2)
    private let second: UInt64 = 1_000_000_000

    /// A machine that expectations may change.
    private final class Machine {
        private var machine = CorruptionStateMachine()

        var knownDamage: CorruptionReport? { machine.knownDamage }

        func errorDidHappen(_ file: FileIdentity, now: UInt64) -> Bool {
            machine.errorDidHappen(file, now: now)
        }

        func checkDidEnd(_ outcome: CorruptionStateMachine.Outcome, now: UInt64) -> CorruptionReport? {
            machine.checkDidEnd(outcome, now: now)
        }

        func damageWasFound(_ report: CorruptionReport) -> Bool { machine.damageWasFound(report) }

        func fileWasRestored() { machine.fileWasRestored() }
    }

    private func report(_ file: FileIdentity) -> CorruptionReport {
        let error = DatabaseError(resultCode: .SQLITE_CORRUPT)
        return CorruptionReport(
            path: "p", label: nil, error: error, integrity: IntegrityReport(level: .full, unreadable: error), file: file
        )
    }

    @Test func errorsOfOneFileAreCheckedOnce() {
        let machine = Machine()
        #expect(machine.errorDidHappen(file, now: 0))
        #expect(!machine.errorDidHappen(file, now: 1))
        #expect(machine.knownDamage == nil)
        #expect(machine.checkDidEnd(.damaged(report(file)), now: 2)?.file == file)
        #expect(machine.knownDamage?.file == file)
        #expect(!machine.errorDidHappen(file, now: 3))
    }

    @Test func replacedFilesAreCheckedAnew() {
        let machine = Machine()
        #expect(machine.damageWasFound(report(file)))
        #expect(!machine.damageWasFound(report(file)))
        #expect(machine.errorDidHappen(other, now: 0))
        #expect(machine.checkDidEnd(.intact, now: 1) == nil)
        #expect(machine.knownDamage == nil)
    }

    @Test func falseAlarmsAreCheckedLessAndLessOften() {
        let machine = Machine()
        var now: UInt64 = 0
        for pause: UInt64 in [60, 120, 240, 480, 960, 1920, 3600, 3600] {
            #expect(machine.errorDidHappen(file, now: now))
            #expect(machine.checkDidEnd(.intact, now: now) == nil)
            #expect(!machine.errorDidHappen(file, now: now + pause * second - 1))
            now += pause * second
        }
        // Another file has had no alarm.
        #expect(machine.errorDidHappen(other, now: now - 1))
        #expect(machine.checkDidEnd(.failed, now: now) == nil)
        #expect(machine.errorDidHappen(other, now: now + 60 * second))
    }

    @Test func restoredFilesAreClean() {
        let machine = Machine()
        #expect(machine.damageWasFound(report(file)))
        machine.fileWasRestored()
        #expect(machine.knownDamage == nil)
        #expect(machine.errorDidHappen(file, now: 0))
        machine.fileWasRestored()
        // The check of the old content tells nothing.
        #expect(machine.checkDidEnd(.damaged(report(file)), now: 1) == nil)
    }
}
