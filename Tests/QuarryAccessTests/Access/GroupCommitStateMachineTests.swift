import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The decisions who goes on with a shared transaction, and who ends it.
@Suite struct GroupCommitStateMachineTests {
    private let limits = GroupCommitStateMachine.Limits(count: 4, time: 100)

    @Test func aloneWriteCommits() {
        var machine = GroupCommitStateMachine(limits, now: 0)
        #expect(machine.isFirst)
        #expect(machine.partDidEnd(.kept, hasNext: false) == .commit)
        #expect(machine.waitingCount == 0)
    }

    @Test func failedFirstWriteHasNothingToShare() {
        var machine = GroupCommitStateMachine(limits, now: 0)
        #expect(machine.partDidEnd(.lost, hasNext: false) == .end)
    }

    @Test func bounds() {
        var machine = GroupCommitStateMachine(limits, now: 1_000)
        #expect(machine.mayGoOn(now: 1_099) && !machine.mayGoOn(now: 1_100))
        for count in 0..<3 {
            #expect(machine.mayGoOn(now: 1_000))
            #expect(machine.sendsBack == (count >= 2))
            #expect(machine.partDidEnd(.kept, hasNext: true) == .pass)
        }
        #expect(!machine.mayGoOn(now: 1_000))
        #expect(machine.partDidEnd(.kept, hasNext: false) == .commit)
        #expect(machine.waitingCount == 3 && machine.count == 4)
    }

    /// Random lines of writes: each is told exactly once. A transaction has at most four writes, which follow one
    /// another in line; those that waited for its end are told in the order of their arrival, and before any write of
    /// the next transaction.
    @Test func randomSchedules() {
        var generator = SeededGenerator()
        for _ in 0..<10_000 {
            let arrivals = Array(0..<Int.random(in: 1...12, using: &generator))
            var line = arrivals
            var ran: [Int] = []
            var told: [Int] = []
            while !line.isEmpty {
                var machine = GroupCommitStateMachine(limits, now: 0)
                var now: UInt64 = 0
                var waiting: [Int] = []
                let (first, toldBefore) = (line[0], told.count)
                var step = GroupCommitStateMachine.Step.pass
                while step == .pass {
                    let isFirst = machine.isFirst
                    let write = line.removeFirst()
                    ran.append(write)
                    now += UInt64.random(in: 0..<40, using: &generator)
                    let end: PartEnd =
                        switch Int.random(in: 0..<10, using: &generator) {
                        case 0: .lost
                        case 2: .committed
                        case 1 where !isFirst: .undone
                        default: .kept
                        }
                    let joins = !generator.isOne(in: 5)
                    let hasNext =
                        end != .lost && end != .committed && joins && !line.isEmpty && machine.mayGoOn(now: now)
                    step = machine.partDidEnd(end, hasNext: hasNext)
                    #expect(step == .pass || !hasNext, "seed \(generator.seed)")
                    if end == .kept, step == .pass { waiting.append(write) } else { told.append(write) }
                    #expect(machine.waitingCount == waiting.count, "seed \(generator.seed)")
                    #expect(machine.count <= 4, "seed \(generator.seed)")
                }
                #expect(waiting == waiting.sorted(), "seed \(generator.seed)")
                told += waiting
                // None of an earlier transaction, none of a later one, and none left out.
                #expect(
                    told[toldBefore...].sorted() == Array(first...ran.last!) && ran.last! - first < 4,
                    "seed \(generator.seed)")
            }
            #expect(ran == arrivals && told.count == ran.count, "seed \(generator.seed)")
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
