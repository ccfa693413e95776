import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Random schedules of a pool's two groups as values: accesses inside accesses, barriers that lend, windows, closes
/// that fail. After each step: no slot has two accesses, none is leased as long as it may be closed; at the end, no
/// access waits.
@Suite struct PairScheduleTests {
    @Test func randomSchedules() {
        let seed = SeededGenerator().seed
        print("PairScheduleTests: seed \(seed)")
        var totals: [String: Int] = [:]
        for index in 0..<10_000 {
            let schedule = PairSchedule.run(seed: seed &+ UInt64(index))
            guard schedule.faults.isEmpty else {
                let report = PairSchedule.run(seed: seed &+ UInt64(index), keepsLog: true).report
                Issue.record("seed \(seed), schedule \(index):\n\(report)")
                return
            }
            totals.merge(schedule.counts, uniquingKeysWith: +)
        }
        for event in ["lent", "lent and opened", "closed", "not closed", "deadlock", "given up", "refused"] {
            #expect(totals[event, default: 0] > 0, "\(event): \(totals), seed \(seed)")
        }
    }
}

extension PairSchedule {
    enum Connection { case none, open, closed }

    /// The work of an actor, which is an access, or a nest of them.
    enum Kind: Equatable {
        /// The groups of the connections, from the outer access to the inner one.
        case access([Int])
        case barrierWrite
        case window
        /// Closing that goes first.
        case close
        case gracefulClose
    }

    enum Stage: Equatable {
        case asks(Int)
        case waits(Int, id: Int, Machine.Request)
        case lends(Int)
        case opens(Int, slot: Int)
        case runs
        case setsAside
        case takesBack
        case runsBarrier
        case endsLending
        case closes
        case isClosed
        case ends
        case hasEnded
    }

    struct Slot: Hashable {
        let group: Int
        let slot: Int
    }

    struct Actor {
        let kind: Kind
        let waiterKind: Machine.WaiterKind
        var stage: Stage
        /// The slots of its accesses, from the outer one to the inner one.
        var slots: [Slot] = []
        /// The slot that it has set aside.
        var aside: Slot?
        /// The number of groups whose barriers it has.
        var heldCount = 0
        var isFirst = false
        var isWoken = false
        /// The connections that it has to close.
        var toClose: [Slot] = []
        /// The groups whose barriers it has to end, the last ones first. `ConnectionGroup` ends all of them in one
        /// step; the machines are right whether it does or not.
        var toEnd: [[Int]]?

        var isBarrier: Bool { [.window, .close, .gracefulClose].contains(kind) }
    }
}
