import Quarry
import Testing

@testable import QuarryAccess

/// When a database is looked at for commits of others, without a database.
@Suite struct CommitWatchStateMachineTests {
    private typealias Machine = CommitWatchStateMachine

    private static func make(watchesFiles: Bool = true) -> Machine {
        Machine(Machine.Times(first: 1, own: 5, longest: 16, polling: 100), watchesFiles: watchesFiles)
    }

    /// A machine that watches, after the looks that follow the beginning.
    private static func watching(now: UInt64 = 0) -> Machine {
        var machine = make()
        #expect(machine.need(true) == .look)
        #expect(machine.lookDidEnd(checkCount: 0, now: now) == .watchFiles)
        #expect(machine.watchDidBegin(true, now: now) == .look)
        var (now, action) = (now, machine.lookDidEnd(checkCount: 0, now: now))
        while case .wait(let time) = action {
            now = time
            #expect(machine.timeDidCome(checkCount: 0, now: now) == .look)
            action = machine.lookDidEnd(checkCount: 0, now: now)
        }
        #expect(action == .none && machine.isWatching)
        return machine
    }

    @Test func aWatchBeginsBetweenTwoLooks() {
        _ = Self.watching()
    }

    @Test func looksFollowEachOtherAtGrowingIntervals() {
        var machine = Self.watching()
        #expect(machine.filesDidChange(now: 1_000) == .wait(until: 1_001))
        // More changes don't delay the look.
        #expect(machine.filesDidChange(now: 1_000) == .none)
        #expect(machine.timeDidCome(checkCount: 0, now: 1_000) == .wait(until: 1_001))
        var times: [UInt64] = []
        var action = machine.timeDidCome(checkCount: 0, now: 1_001)
        var now: UInt64 = 1_001
        while action == .look {
            times.append(now - 1_000)
            guard case .wait(let time) = machine.lookDidEnd(checkCount: 0, now: now) else { break }
            now = time
            action = machine.timeDidCome(checkCount: 0, now: now)
        }
        #expect(times == [1, 2, 4, 8, 16, 32])
    }

    @Test func aChangeDuringALookCausesAnother() {
        var machine = Self.watching()
        _ = machine.filesDidChange(now: 10)
        #expect(machine.timeDidCome(checkCount: 0, now: 11) == .look)
        #expect(machine.filesDidChange(now: 12) == .none)
        #expect(machine.lookDidEnd(checkCount: 0, now: 13) == .wait(until: 14))
        #expect(machine.timeDidCome(checkCount: 0, now: 14) == .look)
    }

    /// A write of this connection has compared, and no other connection can write meanwhile.
    @Test func ownWritesAreLookedAtLater() {
        var machine = Self.watching()
        #expect(machine.filesDidChange(now: 10) == .wait(until: 11))
        #expect(machine.timeDidCome(checkCount: 1, now: 11) == .wait(until: 16))
        // As long as it writes, nothing is looked at.
        #expect(machine.filesDidChange(now: 12) == .none)
        #expect(machine.timeDidCome(checkCount: 2, now: 16) == .wait(until: 21))
        #expect(machine.timeDidCome(checkCount: 2, now: 21) == .look)
        #expect(machine.lookDidEnd(checkCount: 2, now: 22) == .wait(until: 27))
        // A change without a write of its own is looked at soon.
        #expect(machine.filesDidChange(now: 23) == .wait(until: 24))
        #expect(machine.timeDidCome(checkCount: 2, now: 24) == .look)
    }

    @Test func pollingWithoutAWatch() {
        var machine = Self.make()
        _ = machine.need(true)
        #expect(machine.lookDidEnd(checkCount: 0, now: 10) == .watchFiles)
        #expect(machine.watchDidBegin(false, now: 10) == .wait(until: 110))
        #expect(machine.filesDidChange(now: 20) == .none)
        #expect(machine.timeDidCome(checkCount: 0, now: 110) == .look)
        // A watch is possible by now.
        #expect(machine.lookDidEnd(checkCount: 0, now: 110) == .watchFiles)
        #expect(machine.watchDidBegin(true, now: 110) == .look)
        #expect(machine.watchDidFail(now: 111) == .none)
        #expect(machine.lookDidEnd(checkCount: 0, now: 112) == .watchFiles)
        #expect(machine.watchDidBegin(false, now: 112) == .wait(until: 212))
        // Its own write has compared.
        #expect(machine.timeDidCome(checkCount: 1, now: 212) == .wait(until: 312))
    }

    @Test func pollingIsAsked() {
        var machine = Self.make(watchesFiles: false)
        _ = machine.need(true)
        #expect(machine.lookDidEnd(checkCount: 0, now: 10) == .wait(until: 110))
        #expect(machine.timeDidCome(checkCount: 0, now: 110) == .look)
        #expect(machine.lookDidEnd(checkCount: 0, now: 111) == .wait(until: 211))
    }

    @Test func needsComeAndGo() {
        var machine = Self.make()
        #expect(machine.need(false) == .none)
        #expect(machine.need(true) == .look)
        #expect(machine.need(true) == .none)
        #expect(machine.need(false) == .stop)
        // The look of before still runs: it may have begun before the need.
        #expect(machine.need(true) == .none)
        #expect(machine.lookDidEnd(checkCount: 0, now: 1) == .look)
        #expect(machine.lookDidEnd(checkCount: 0, now: 2) == .watchFiles)
        #expect(machine.need(false) == .stop)
        #expect(machine.watchDidBegin(true, now: 2) == .none)
        #expect(machine.timeDidCome(checkCount: 0, now: 3) == .none)
        #expect(machine.end() == .none)
        #expect(machine.need(true) == .none)
    }

    @Test func theEndIsFinal() {
        var machine = Self.watching()
        _ = machine.filesDidChange(now: 1)
        #expect(machine.end() == .stop)
        #expect(machine.end() == .none)
        #expect(machine.filesDidChange(now: 2) == .none)
        #expect(machine.lookDidEnd(checkCount: 0, now: 3) == .none)
        #expect(machine.need(true) == .none)
    }

    /// After any events, a change of a file that no write explains is looked at within twice its own time.
    @Test func randomSchedules() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var machine = Self.watching()
            var (now, checks, due, isLooking) = (UInt64(1_000), 0, UInt64?.none, false)
            func act(_ action: Machine.Action) {
                switch action {
                case .look:
                    #expect(!isLooking)
                    isLooking = true
                case .wait(let time): due = time
                case .none: break
                case .watchFiles, .stop: Issue.record("\(action)")
                }
            }
            for _ in 0..<40 {
                now += UInt64.random(in: 0...6, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: act(machine.filesDidChange(now: now))
                case 1: checks += 1
                case 2 where isLooking:
                    isLooking = false
                    act(machine.lookDidEnd(checkCount: checks, now: now))
                default: if let time = due, time <= now { act(machine.timeDidCome(checkCount: checks, now: now)) }
                }
            }
            // Another connection commits now.
            act(machine.filesDidChange(now: now))
            let change = now
            var looks = 0
            while now < change + 30, looks < 2 {
                if isLooking {
                    isLooking = false
                    looks += 1
                    act(machine.lookDidEnd(checkCount: checks, now: now))
                }
                guard looks < 2, let time = due else { break }
                now = max(now, time)
                act(machine.timeDidCome(checkCount: checks, now: now))
            }
            #expect(looks == 2 && now <= change + 20)
        }
    }
}
