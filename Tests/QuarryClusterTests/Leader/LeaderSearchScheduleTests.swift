import QuarryClusterWire
import QuarryTestSupport
import Testing

@testable import QuarryCluster

/// Searches in random clusters that change meanwhile, on a clock of their own.
@Suite struct LeaderSearchScheduleTests {
    /// The way in which a node meets a connection.
    enum Mode: Equatable {
        case answers(after: UInt64)
        case refuses
        case hangs
    }

    /// The cluster during a time.
    struct Epoch {
        let start: UInt64
        let leader: Int?
        let modes: [Mode]
        /// The leader that each node names; the leader names itself.
        let hints: [NodeAddress?]
    }

    struct World {
        let nodes: [NodeAddress]
        let epochs: [Epoch]
        let deadline: UInt64

        func epoch(at time: UInt64) -> Epoch { epochs.last { $0.start <= time }! }

        /// Connects to a node, and waits for an answer until a limit.
        ///
        /// - returns: nil if it fails; otherwise the leader that the node names.
        func ask(_ address: NodeAddress, _ now: inout UInt64, until limit: UInt64) -> NodeAddress?? {
            guard let node = nodes.firstIndex(of: address) else {
                now = limit
                return nil
            }
            switch epoch(at: now).modes[node] {
            case .answers(let time) where now + time <= limit:
                now += time
                let epoch = epoch(at: now)
                return .some(epoch.leader == node ? address : epoch.hints[node])
            case .refuses:
                now = min(now + 100_000, limit)
                return nil
            case .answers, .hangs:
                now = limit
                return nil
            }
        }
    }

    private static let millisecond: UInt64 = 1_000_000
    private static let slowestAnswer = 10 * millisecond

    /// - parameter stableTime: how long a leader exists before the deadline; nil if none needs to.
    private func world(
        _ generator: inout SeededGenerator, stableTime: (_ hangingCount: Int) -> UInt64?
    ) throws -> World {
        let count = Int.random(in: 1...5, using: &generator)
        let nodes = try (0..<count).map { try NodeAddress("n\($0):1") }
        let invented = try (0..<3).map { try NodeAddress("invented\($0):1") }

        func mode() -> Mode {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: .refuses
            case 1: .hangs
            case 2: .answers(after: .random(in: 0...2_000 * Self.millisecond, using: &generator))
            default: .answers(after: .random(in: 10_000...Self.slowestAnswer, using: &generator))
            }
        }

        var epochs: [Epoch] = []
        var start: UInt64 = 0
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let hasLeader = Bool.random(using: &generator)
            epochs.append(
                Epoch(
                    start: start, leader: hasLeader ? (0..<count).randomElement(using: &generator) : nil,
                    modes: nodes.map { _ in mode() },
                    hints: nodes.map { _ in (nodes + invented + [nil, nil]).randomElement(using: &generator)! }))
            start += .random(in: 0...1_500 * Self.millisecond, using: &generator)
        }

        // The last epoch has a leader that all live nodes name.
        let leader = Int.random(in: 0..<count, using: &generator)
        let modes = (0..<count).map { node in
            let mode = mode()
            return switch mode {
            case .answers(let time): Mode.answers(after: min(time, Self.slowestAnswer))
            default: node == leader ? .answers(after: Self.slowestAnswer) : mode
            }
        }
        guard let time = stableTime(modes.count { $0 == .hangs }) else {
            return World(
                nodes: nodes, epochs: epochs, deadline: .random(in: 0...5_000 * Self.millisecond, using: &generator))
        }
        epochs.append(
            Epoch(start: start, leader: leader, modes: modes, hints: nodes.map { _ in nodes[leader] }))
        return World(nodes: nodes, epochs: epochs, deadline: start + time)
    }

    struct Outcome {
        var leader: NodeAddress?
        var end: UInt64 = 0
        var actions: [(time: UInt64, action: LeaderSearch.Action)] = []
        /// The rule that an action breaks.
        var violation: String?
    }

    /// Searches, and checks each action.
    private func search(
        _ world: World, _ list: inout NodeList, _ generator: inout SeededGenerator
    ) -> Outcome {
        var now: UInt64 = 0
        var search = LeaderSearch(deadline: world.deadline)
        var outcome = Outcome()
        var asked: Set<NodeAddress> = []
        func check(_ condition: Bool, _ rule: String) {
            if !condition, outcome.violation == nil { outcome.violation = rule }
        }
        var action = search.beginRound(list.candidates, at: now, using: &generator)
        while outcome.violation == nil {
            outcome.actions.append((now, action))
            check(outcome.actions.count < 2_000, "the search ends")
            switch action {
            case .ask(let address, let limit), .verify(let address, let limit):
                check(limit > now && limit <= world.deadline, "limits are before the deadline")
                check(asked.insert(address).inserted, "a round asks each node once")
                if let leader = world.ask(address, &now, until: limit) {
                    action = search.answered(leader: leader, at: now, using: &generator)
                } else {
                    list.nodeFailed(address)
                    action = search.failed(at: now, using: &generator)
                }
            case .open(let address, let limit):
                check(limit > now && limit <= world.deadline, "limits are before the deadline")
                if world.ask(address, &now, until: limit) == .some(.some(address)),
                    world.epoch(at: now).leader == world.nodes.firstIndex(of: address)
                {
                    search.connected()
                    list.leaderFound(address)
                    outcome.leader = address
                    outcome.end = now
                    return outcome
                }
                list.nodeFailed(address)
                action = search.failed(at: now, using: &generator)
            case .wait(let nanoseconds):
                check(nanoseconds > 0 && nanoseconds <= 500 * Self.millisecond, "waits are short")
                now += nanoseconds
                check(now < world.deadline, "waits end before the deadline")
                asked.removeAll()
                action = search.beginRound(list.candidates, at: now, using: &generator)
            case .giveUp:
                outcome.end = now
                return outcome
            }
        }
        return outcome
    }

    @Test func searchesEnd() throws {
        var generator = SeededGenerator()
        var foundCount = 0
        for number in 0..<10_000 {
            let world = try world(&generator) { _ in nil }
            var list = NodeList(configured: [world.nodes[0]])
            let outcome = search(world, &list, &generator)
            if outcome.leader != nil { foundCount += 1 }
            guard outcome.violation == nil, outcome.end <= world.deadline else {
                Issue.record("seed \(generator.seed), schedule \(number): \(world) \(outcome)")
                return
            }
        }
        #expect(foundCount > 1_000 && foundCount < 9_000, "seed \(generator.seed)")
    }

    /// Each hanging node, and each wait, halves the remaining time at most. At worst the leader was elected just after
    /// it was asked: the rest of that round and the next one have to fit, then three answers.
    @Test func aLeaderThatExistsLongEnoughIsFound() throws {
        var generator = SeededGenerator()
        for number in 0..<10_000 {
            let world = try world(&generator) { hangingCount in
                let halvings = 2 * hangingCount + 2
                return 16 * Self.slowestAnswer << UInt64(halvings)
            }
            let last = world.epochs.last!
            // Some nodes are configured, and one of them is alive.
            let live = world.nodes.indices.filter { if case .answers = last.modes[$0] { true } else { false } }
            let others = world.nodes.shuffled(using: &generator).prefix(Int.random(in: 0...4, using: &generator))
            var list = NodeList(
                configured: (others + [world.nodes[live.randomElement(using: &generator)!]]).shuffled(using: &generator)
            )
            let outcome = search(world, &list, &generator)
            guard outcome.violation == nil, outcome.end <= world.deadline, outcome.leader != nil,
                list.candidates.first == outcome.leader
            else {
                Issue.record("seed \(generator.seed), schedule \(number): \(world) \(outcome)")
                return
            }
        }
    }
}
