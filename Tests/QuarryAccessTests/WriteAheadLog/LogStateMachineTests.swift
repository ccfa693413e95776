import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// When a log needs a checkpoint, as a value.
@Suite struct LogStateMachineTests {
    private static let second = LogStateMachine.second

    private func machine(
        maintenanceInterval: Double? = nil, _ change: (inout Configuration.WriteAheadLog) -> Void = { _ in }
    ) -> LogStateMachine {
        var settings = Configuration.WriteAheadLog()
        settings.sizeLimit = 100 * 4096
        change(&settings)
        return LogStateMachine(settings, maintenanceInterval: maintenanceInterval, pageSize: 4096, now: 0)
    }

    @Test func firstCommitStartsTheClock() {
        var machine = machine()
        #expect(machine.tellingPages == 0 && !machine.wantsTicks)
        #expect(machine.commitDidHappen(pages: 3, commits: 1, now: 5) == [.startTicking])
        #expect(machine.phase == .dirty && machine.tellingPages == 100 && machine.wantsTicks)
    }

    @Test func logIsCopiedWhenCommitsStop() {
        var machine = machine { $0.idleDelay = 2 }
        _ = machine.commitDidHappen(pages: 3, commits: 1, now: 0)
        #expect(machine.tick(pages: 3, commits: 1, now: Self.second) == [])
        #expect(machine.tick(pages: 9, commits: 4, now: 2 * Self.second) == [], "there were commits")
        #expect(machine.tick(pages: 9, commits: 4, now: 3 * Self.second) == [])
        #expect(machine.tick(pages: 9, commits: 4, now: 4 * Self.second) == [.work(.checkpoint(.idle))])
        #expect(machine.tick(pages: 9, commits: 4, now: 9 * Self.second) == [], "it runs")
        #expect(machine.wantsTicks)
        let actions = machine.checkpointDidEnd(
            .complete(isEmptied: false), pageSize: 4096, pages: 9, commits: 4, now: 9 * Self.second)
        #expect(actions == [])
        #expect(machine.phase == .clean && machine.tellingPages == 0 && !machine.wantsTicks)
    }

    /// A write that takes long hasn't committed yet, but the database isn't idle.
    @Test func busyWriterIsNotIdle() {
        var machine = machine { $0.idleDelay = 2 }
        _ = machine.commitDidHappen(pages: 3, commits: 1, now: 0)
        #expect(machine.tick(pages: 3, commits: 1, isBusy: true, now: 5 * Self.second) == [])
        #expect(machine.tick(pages: 3, commits: 1, now: 6 * Self.second) == [])
        #expect(machine.tick(pages: 3, commits: 1, now: 7 * Self.second) == [.work(.checkpoint(.idle))])
    }

    @Test func commitIsNotInTheLogAloneForLong() {
        var machine = machine { $0.ageLimit = 3 }
        _ = machine.commitDidHappen(pages: 3, commits: 1, now: 0)
        for second in 1..<3 {
            #expect(machine.tick(pages: 3, commits: second + 1, now: UInt64(second) * Self.second) == [])
        }
        #expect(machine.tick(pages: 3, commits: 9, now: 3 * Self.second) == [.work(.checkpoint(.age))])
        _ = machine.checkpointDidEnd(
            .complete(isEmptied: false), pageSize: nil, pages: 9, commits: 10, now: 4 * Self.second)
        #expect(machine.phase == .dirty, "there was another commit meanwhile")
        #expect(machine.tick(pages: 3, commits: 11, now: 6 * Self.second) == [], "its age counts from the checkpoint")
        #expect(machine.tick(pages: 3, commits: 12, now: 7 * Self.second) == [.work(.checkpoint(.age))])
    }

    @Test func largeLogIsEmptiedAtOnce() {
        var machine = machine()
        _ = machine.commitDidHappen(pages: 3, commits: 1, now: 0)
        #expect(machine.commitDidHappen(pages: 100, commits: 2, now: 1) == [.work(.checkpoint(.size))])
        #expect(machine.commitDidHappen(pages: 101, commits: 3, now: 2) == [], "the checkpoint waits for the writer")
        #expect(machine.tellingPages == .max)
        _ = machine.checkpointDidEnd(.complete(isEmptied: true), pageSize: 4096, pages: 0, commits: 3, now: 3)
        #expect(machine.tellingPages == 100)
    }

    @Test func firstCommitMayBeTooLarge() {
        var machine = machine()
        #expect(
            machine.commitDidHappen(pages: 500, commits: 1, now: 0) == [.startTicking, .work(.checkpoint(.size))])
    }

    @Test func pageSizeIsLearnt() {
        var machine = machine()
        _ = machine.commitDidHappen(pages: 100, commits: 1, now: 0)
        _ = machine.checkpointDidEnd(.complete(isEmptied: true), pageSize: 65_536, pages: 0, commits: 2, now: 0)
        #expect(machine.pageLimit == 6 && machine.tellingPages == 6)
    }

    @Test func triesThatAreHeldBackBecomeRare() {
        var machine = machine { $0.idleDelay = 0 }
        _ = machine.commitDidHappen(pages: 3, commits: 1, now: 0)
        var now: UInt64 = 0
        var pauses: [UInt64] = []
        for _ in 0..<8 {
            let start = now
            while machine.tick(pages: 3, commits: 1, now: now) == [] { now += Self.second }
            pauses.append((now - start) / Self.second)
            _ = machine.checkpointDidEnd(.heldBack, pageSize: nil, pages: 3, commits: 1, now: now)
            #expect(machine.isHeldBack && machine.tellingPages == .max)
        }
        #expect(pauses == [0, 1, 2, 4, 8, 16, 32, 60])
        machine.readerDidEnd()
        #expect(machine.tick(pages: 3, commits: 1, now: now) == [.work(.checkpoint(.idle))])
        _ = machine.checkpointDidEnd(.complete(isEmptied: false), pageSize: nil, pages: 3, commits: 1, now: now)
        #expect(!machine.isHeldBack)
    }

    /// A log that stays too large, because readers don't let it begin anew, isn't checkpointed by each commit.
    @Test func largeLogThatIsHeldBack() {
        var machine = machine()
        _ = machine.commitDidHappen(pages: 100, commits: 1, now: 0)
        _ = machine.checkpointDidEnd(.complete(isEmptied: false), pageSize: nil, pages: 101, commits: 2, now: 0)
        #expect(machine.isHeldBack && machine.tellingPages == .max)
        #expect(machine.tick(pages: 150, commits: 9, now: Self.second) == [.work(.checkpoint(.size))])
    }

    @Test func maintenanceFollowsAnIdleCheckpoint() {
        var machine = machine(maintenanceInterval: 10) { $0.idleDelay = 1 }
        func becomeIdle(commits: Int, at second: UInt64) -> [LogStateMachine.Action] {
            _ = machine.commitDidHappen(pages: 3, commits: commits, now: (second - 2) * Self.second)
            _ = machine.tick(pages: 3, commits: commits, now: second * Self.second)
            return machine.checkpointDidEnd(
                .complete(isEmptied: false), pageSize: nil, pages: 3, commits: commits, now: second * Self.second)
        }
        #expect(becomeIdle(commits: 1, at: 5) == [], "it isn't due")
        #expect(becomeIdle(commits: 2, at: 12) == [.work(.maintenance)])
        #expect(machine.phase == .working)
        machine.maintenanceDidEnd(commits: 4, now: 12 * Self.second)
        #expect(machine.phase == .dirty, "it has written")
        #expect(machine.tick(pages: 3, commits: 4, now: 13 * Self.second) == [.work(.checkpoint(.idle))])
        _ = machine.checkpointDidEnd(
            .complete(isEmptied: false), pageSize: nil, pages: 3, commits: 4, now: 13 * Self.second)
        #expect(machine.phase == .clean)
        #expect(becomeIdle(commits: 5, at: 20) == [])
        #expect(becomeIdle(commits: 6, at: 23) == [.work(.maintenance)])
        machine.maintenanceDidEnd(commits: 6, now: 23 * Self.second)
        #expect(machine.phase == .clean)
    }

    @Test func nothingFollowsClosing() {
        var machine = machine { $0.idleDelay = 0 }
        _ = machine.commitDidHappen(pages: 3, commits: 1, now: 0)
        machine.databaseDidClose()
        #expect(machine.tick(pages: 3, commits: 1, now: 9) == [])
        #expect(machine.commitDidHappen(pages: 900, commits: 2, now: 9) == [])
        #expect(machine.checkpointDidEnd(.heldBack, pageSize: nil, pages: 3, commits: 1, now: 9) == [])
        #expect(!machine.wantsTicks)
    }

    /// Whatever happens: a log with commits that aren't copied has a clock, and one without asks for the next commit.
    @Test func anyOrderOfEvents() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var machine = machine(maintenanceInterval: 3) { $0.ageLimit = 5 }
            var (now, commits, pages) = (UInt64(0), 0, 0)
            var work: LogStateMachine.Work?
            for _ in 0..<200 {
                now += UInt64.random(in: 0..<(2 * Self.second), using: &generator)
                var actions: [LogStateMachine.Action] = []
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    commits += 1
                    pages += Int.random(in: 1...60, using: &generator)
                    if pages >= machine.tellingPages {
                        actions = machine.commitDidHappen(pages: pages, commits: commits, now: now)
                    }
                case 1 where work == .maintenance:
                    work = nil
                    machine.maintenanceDidEnd(commits: commits, now: now)
                case 1 where work != nil:
                    work = nil
                    let outcome = [
                        LogStateMachine.Outcome.complete(isEmptied: true), .complete(isEmptied: false), .heldBack,
                        .failed,
                    ].randomElement(using: &generator)!
                    if outcome == .complete(isEmptied: true) { pages = 0 }
                    actions = machine.checkpointDidEnd(
                        outcome, pageSize: nil, pages: pages, commits: commits, now: now)
                default:
                    if machine.wantsTicks { actions = machine.tick(pages: pages, commits: commits, now: now) }
                }
                for case .work(let next) in actions {
                    #expect(work == nil, "seed \(seed): only one at a time")
                    work = next
                }
                #expect((machine.phase == .working) == (work != nil), "seed \(seed)")
                #expect((machine.phase == .clean) == (machine.tellingPages == 0), "seed \(seed)")
                #expect(machine.wantsTicks == (machine.phase != .clean), "seed \(seed)")
            }
        }
    }
}
