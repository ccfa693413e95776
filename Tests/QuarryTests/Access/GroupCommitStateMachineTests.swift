import QuarryCore
import QuarryTestSupport
import Testing

@testable import Quarry

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
        for _ in 0..<3 {
            #expect(machine.mayGoOn(now: 1_000))
            #expect(machine.partDidEnd(.kept, hasNext: true) == .pass)
        }
        #expect(!machine.mayGoOn(now: 1_000))
        #expect(machine.partDidEnd(.kept, hasNext: false) == .commit)
        #expect(machine.waitingCount == 3 && machine.count == 4)
    }

    /// Random lines of writes: each is told exactly once, in a transaction of at most four, and in its order.
    @Test func randomSchedules() {
        var generator = SeededGenerator()
        for _ in 0..<10_000 {
            var line = (0..<Int.random(in: 1...12, using: &generator)).map { $0 }
            var told: [Int] = []
            while !line.isEmpty {
                var machine = GroupCommitStateMachine(limits, now: 0)
                var now: UInt64 = 0
                var waiting: [Int] = []
                var step = GroupCommitStateMachine.Step.pass
                while step == .pass {
                    let isFirst = machine.isFirst
                    let write = line.removeFirst()
                    now += UInt64.random(in: 0..<40, using: &generator)
                    let end: PartEnd =
                        switch Int.random(in: 0..<10, using: &generator) {
                        case 0: .lost
                        case 1 where !isFirst: .undone
                        default: .kept
                        }
                    let joins = !generator.isOne(in: 5)
                    let hasNext = end != .lost && joins && !line.isEmpty && machine.mayGoOn(now: now)
                    step = machine.partDidEnd(end, hasNext: hasNext)
                    #expect(step == .pass || !hasNext, "seed \(generator.seed)")
                    if end == .kept, step == .pass { waiting.append(write) } else { told.append(write) }
                    #expect(machine.waitingCount == waiting.count, "seed \(generator.seed)")
                    #expect(machine.count <= 4, "seed \(generator.seed)")
                }
                told += waiting
            }
            #expect(told.count == Set(told).count && line.isEmpty, "seed \(generator.seed)")
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
