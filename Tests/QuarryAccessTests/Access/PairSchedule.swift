import Quarry
import QuarryTestSupport

@testable import QuarryAccess

/// The machines of a writer and its readers, and the actors that use them.
final class PairSchedule {
    typealias Machine = LeaseStateMachine<Int>

    static let writer = 0
    static let readers = 1

    private var machines: [Machine]
    private var connections: [[Connection]]
    private var actors: [Actor] = []
    private var now: UInt64 = 1_000_000_000
    /// The actor that has each slot.
    private var owners: [Slot: Int] = [:]
    /// The actor that has the barrier of each group.
    private var barriers: [Int?] = [nil, nil]
    /// The waits of threads.
    private var waits: [UInt: WaitGraph.Wait] = [:]
    private let groupIDs = [GroupIdentity(), GroupIdentity()]
    private var generator: SeededGenerator
    private let keepsLog: Bool
    private var log: [String] = []
    private(set) var faults: [String] = []
    private(set) var counts: [String: Int] = [:]

    private final class GroupIdentity: Sendable {}

    var report: String { (log + faults.map { "FAULT: \($0)" }).joined(separator: "\n") }

    static func run(seed: UInt64, keepsLog: Bool = false) -> PairSchedule {
        let schedule = PairSchedule(seed: seed, keepsLog: keepsLog)
        schedule.run()
        return schedule
    }

    private init(seed: UInt64, keepsLog: Bool) {
        var generator = SeededGenerator(seed: seed)
        let readerCount = Int.random(in: 1...3, using: &generator)
        machines = [Machine(capacity: 1, lends: true), Machine(capacity: readerCount)]
        connections = [[.none], Array(repeating: .none, count: readerCount)]
        self.generator = generator
        self.keepsLog = keepsLog
    }

    private func note(_ text: @autoclosure () -> String) {
        if keepsLog { log.append("\(now): \(text())") }
    }

    private func check(_ condition: Bool, _ fault: @autoclosure () -> String) {
        if !condition { faults.append(fault()) }
    }

    private func count(_ event: String) { counts[event, default: 0] += 1 }

    private func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &generator) == 0 }

    private func text(_ group: Int) -> String { group == Self.writer ? "the writer" : "a reader" }

    // MARK: - Schedules

    private func run() {
        for _ in 0..<Int.random(in: 10...80, using: &generator) where faults.isEmpty {
            now += UInt64.random(in: 0...(chance(2) ? 10 : Machine.patience), using: &generator)
            switch Int.random(in: 0..<16, using: &generator) {
            case 0..<3: arrive()
            case 3: giveUp()
            case 4: disturb()
            default: go()
            }
            checkInvariants()
        }
        // No actor comes or gives up any more: each ends.
        var rounds = 0
        while faults.isEmpty, rounds < 5_000, actors.contains(where: { $0.stage != .hasEnded }) {
            rounds += 1
            now += Machine.patience
            for group in machines.indices where machines[group].isToPassOver {
                perform(machines[group].passOver(now: now), group)
            }
            go()
            checkInvariants()
        }
        let left = actors.indices.filter { actors[$0].stage != .hasEnded }.map { "\($0): \(actors[$0])" }
        check(left.isEmpty, "never ended: \(left)")
        if faults.isEmpty { check(owners.isEmpty && barriers.allSatisfy { $0 == nil }, "left: \(owners)") }
    }

    private func arrive() {
        let kinds: [Kind] = [
            .access([Self.readers]), .access([Self.writer]), .access([Self.readers, Self.writer]),
            .access([Self.readers, Self.writer]), .access([Self.writer, Self.readers]), .barrierWrite, .window, .close,
            .gracefulClose,
        ]
        let kind = kinds.randomElement(using: &generator)!
        let waiterKinds: [Machine.WaiterKind]
        switch kind {
        case .access(let groups): waiterKinds = groups.count > 1 ? [.thread] : [.thread, .inlineTask, .offloadedTask]
        case .barrierWrite, .window, .close, .gracefulClose: waiterKinds = [.thread, .offloadedTask]
        }
        var first = Self.writer
        if case .access(let groups) = kind { first = groups[0] }
        if kind == .gracefulClose { for group in machines.indices { machines[group].phase.beginClosing() } }
        actors.append(
            Actor(
                kind: kind, waiterKind: waiterKinds.randomElement(using: &generator)!, stage: .asks(first),
                isFirst: kind == .close))
        note("\(actors.count - 1) comes: \(kind), \(actors[actors.count - 1].waiterKind)")
    }

    /// A random actor takes its next step.
    private func go() {
        let able = actors.indices.filter { index in
            switch actors[index].stage {
            case .hasEnded: false
            case .waits: actors[index].isWoken
            default: true
            }
        }
        if let name = able.randomElement(using: &generator) { step(name) }
    }

    /// An access that waits is cancelled, or a grace period ends.
    private func giveUp() {
        let waiting = actors.indices.filter { if case .waits = actors[$0].stage { true } else { false } }
        guard let name = waiting.randomElement(using: &generator) else { return }
        if actors[name].kind == .gracefulClose, chance(2) { return endGracePeriod(name) }
        count("given up")
        cancel(name)
    }

    private func cancel(_ name: Int) {
        guard case .waits(let group, let id, _) = actors[name].stage else { return }
        note("\(name) gives up")
        let actions = machines[group].cancel(id: id, now: now)
        check(actions != nil, "\(name) waits, and isn't in the queue")
        didFail(name)
        perform(actions ?? [], group)
    }

    private func endGracePeriod(_ name: Int) {
        guard case .waits(let group, let id, _) = actors[name].stage else { return }
        note("\(name) ends the grace period")
        let actions = machines[group].cancel(id: id, now: now)
        waits[thread(name)] = nil
        actors[name].isFirst = true
        actors[name].stage = .asks(group)
        perform(actions ?? [], group)
        for group in machines.indices { perform(machines[group].endGracePeriod(now: now), group) }
    }

    private func disturb() {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: perform(machines[Self.readers].retireAll(), Self.readers)
        case 1: perform(machines[Self.readers].advanceTick(), Self.readers)
        default:
            let group = chance(2) ? Self.readers : Self.writer
            perform(machines[group].dropIdle(), group)
        }
    }

    // MARK: - Steps of actors

    private func step(_ name: Int) {
        switch actors[name].stage {
        case .asks(let group): ask(name, group)
        case .waits(let group, let id, _): retry(name, group, id)
        case .lends(let group):
            perform(machines[group].lend(), group)
            barrierWasGranted(name, group)
        case .opens(let group, let slot): open(name, Slot(group: group, slot: slot))
        case .runs: goOn(name)
        case .setsAside: setAside(name)
        case .takesBack: takeBack(name)
        case .runsBarrier:
            note("\(name) ends its barrier")
            actors[name].stage = .runs
            endBarriers([Self.readers])
        case .endsLending: endLending(name)
        case .closes: close(name)
        case .isClosed: actors[name].stage = .ends
        case .ends: end(name)
        case .hasEnded: break
        }
    }

    /// Odd for a task, as the numbers of tasks are.
    private func thread(_ name: Int) -> UInt { UInt(name + 1) * 2 }

    private func ask(_ name: Int, _ group: Int) {
        let actor = actors[name]
        let isInside = !actor.slots.isEmpty || actor.aside != nil || actor.heldCount > 0
        let request: Machine.Request = actor.isBarrier || actor.aside != nil ? .barrier : .connection
        let requester: ClosingPhase.Requester =
            [.close, .gracefulClose].contains(actor.kind) ? .closer : isInside ? .admitted : .newcomer
        let borrows = group == Self.writer && actor.slots.contains { $0.group == Self.readers }
        let answer = machines[group].acquire(
            request, name, actor.waiterKind, .user, requester, isFirst: actor.isFirst, borrows: borrows, now: now)
        note("\(name) asks for \(text(group)), \(request): \(answer)")
        switch answer {
        case .granted(let grant):
            take(name, group, grant)
            if grant == .all { actors[name].stage = .lends(group) }
        case .wait(let id):
            actors[name].isWoken = false
            actors[name].stage = .waits(group, id: id, request)
            let wait = WaitGraph.Wait(group: ObjectIdentifier(groupIDs[group]), entry: id)
            if actor.waiterKind == .thread { waits[thread(name)] = wait }
            guard actor.waiterKind == .thread || request == .barrier, hasDeadlock(wait, group) else { return }
            count("deadlock")
            cancel(name)
        case .refused:
            count("refused")
            didFail(name)
        }
    }

    private func retry(_ name: Int, _ group: Int, _ id: Int) {
        actors[name].isWoken = false
        let answer = machines[group].retry(id: id, now: now)
        note("\(name) asks again: \(answer.map { "\($0.grant)" } ?? "waits on")")
        guard let answer else { return }
        take(name, group, answer.grant)
        perform(answer.actions, group)
    }

    /// An actor gets what it has asked for.
    private func take(_ name: Int, _ group: Int, _ grant: Machine.Grant) {
        waits[thread(name)] = nil
        switch grant {
        case .connection(let slot):
            lease(name, Slot(group: group, slot: slot))
            check(connections[group][slot] == .open, "\(name) has got a connection that is \(connections[group][slot])")
            actors[name].stage = actors[name].kind == .barrierWrite ? .setsAside : .runs
        case .open(let slot):
            lease(name, Slot(group: group, slot: slot))
            check(connections[group][slot] == .none, "\(name) opens one that is \(connections[group][slot])")
            actors[name].stage = .opens(group, slot: slot)
        case .all:
            check(barriers[group] == nil, "two barriers")
            check(!owners.keys.contains { $0.group == group }, "a barrier beside \(owners)")
            barriers[group] = name
            barrierWasGranted(name, group)
        }
    }

    private func lease(_ name: Int, _ slot: Slot) {
        check(owners[slot] == nil, "\(name) and \(owners[slot] ?? -1) have \(slot)")
        if let holder = barriers[slot.group] {
            let isLending = slot.group == Self.writer && barriers[Self.readers] != holder
            check(isLending, "\(name) has got \(slot), which \(holder) may close")
            check(actors[name].slots.contains { $0.group == Self.readers }, "\(name) has borrowed, and doesn't read")
            count("lent")
            if connections[slot.group][slot.slot] == .none { count("lent and opened") }
        }
        owners[slot] = name
        actors[name].slots.append(slot)
    }

    private func barrierWasGranted(_ name: Int, _ group: Int) {
        if actors[name].aside != nil {
            actors[name].stage = .takesBack
        } else {
            actors[name].heldCount = group + 1
            actors[name].stage = group == Self.writer ? .asks(Self.readers) : .endsLending
        }
    }

    private func open(_ name: Int, _ slot: Slot) {
        if chance(8) {
            note("\(name) can't open \(slot)")
            giveBack(name, isOpened: false)
            return didFail(name)
        }
        // A reader that comes first opens the writer.
        if slot.group == Self.readers, connections[Self.writer][0] != .open, machines[Self.writer].adopt(0) {
            note("\(name) opens the writer")
            connections[Self.writer][0] = .open
        }
        connections[slot.group][slot.slot] = .open
        actors[name].stage = actors[name].kind == .barrierWrite ? .setsAside : .runs
    }

    /// The innermost access begins another, or ends.
    private func goOn(_ name: Int) {
        if case .access(let groups) = actors[name].kind, actors[name].slots.count < groups.count, !chance(3) {
            actors[name].stage = .asks(groups[actors[name].slots.count])
        } else {
            giveBack(name)
            if actors[name].slots.isEmpty { actors[name].stage = .hasEnded }
        }
    }

    private func giveBack(_ name: Int, isOpened: Bool = true) {
        guard let slot = actors[name].slots.popLast() else { return }
        note("\(name) gives back \(slot)")
        check(owners.removeValue(forKey: slot) == name, "\(name) has lost \(slot)")
        let now = now
        if isOpened {
            check(connections[slot.group][slot.slot] == .open, "\(name) has lost the connection of \(slot)")
            perform(machines[slot.group].release(slot.slot) { now }, slot.group)
        } else {
            perform(machines[slot.group].openingFailed(slot.slot, now: now), slot.group)
        }
    }

    /// A wait has failed: the outer accesses end, too.
    private func didFail(_ name: Int) {
        waits[thread(name)] = nil
        let isEnding = if case .ending = machines[Self.writer].phase { true } else { false }
        if actors[name].kind == .gracefulClose, isEnding, !actors[name].isFirst {
            // Another has ended the grace period.
            actors[name].isFirst = true
            actors[name].stage = .asks(actors[name].heldCount)
        } else if actors[name].aside != nil {
            actors[name].aside = nil
            actors[name].stage = .hasEnded
            endBarriers([Self.writer])
        } else if actors[name].isBarrier {
            actors[name].stage = .ends
        } else {
            actors[name].stage = actors[name].slots.isEmpty ? .hasEnded : .runs
            if case .access(let groups) = actors[name].kind, groups.count > 1, !actors[name].slots.isEmpty {
                giveBack(name)
                actors[name].stage = .hasEnded
            }
        }
    }

    private func setAside(_ name: Int) {
        guard let slot = actors[name].slots.popLast() else { return }
        note("\(name) sets the writer aside")
        owners[slot] = nil
        barriers[Self.writer] = name
        actors[name].aside = slot
        actors[name].stage = .asks(Self.readers)
        perform(machines[Self.writer].setAside(slot.slot), Self.writer)
    }

    private func takeBack(_ name: Int) {
        guard let slot = actors[name].aside else { return }
        note("\(name) takes the writer back")
        check(machines[Self.writer].takeBack(slot.slot), "\(name) can't take the writer back")
        barriers[Self.writer] = nil
        actors[name].aside = nil
        lease(name, slot)
        actors[name].stage = .runsBarrier
    }

    // MARK: - Closing

    private func endLending(_ name: Int) {
        note("\(name) ends the lending")
        for group in machines.indices {
            check(machines[group].endLending(), "\(name) can't end the lending of \(text(group))")
        }
        actors[name].toClose = [Slot(group: Self.writer, slot: 0)]
        actors[name].toClose += connections[Self.readers].indices.map { Slot(group: Self.readers, slot: $0) }
        actors[name].stage = .closes
    }

    private func close(_ name: Int) {
        guard let slot = actors[name].toClose.popLast() else {
            count("closed")
            actors[name].stage = .isClosed
            return
        }
        guard connections[slot.group][slot.slot] == .open else { return }
        if chance(6) {
            note("\(name) can't close \(slot)")
            count("not closed")
            actors[name].stage = .ends
            return
        }
        note("\(name) closes \(slot)")
        check(owners[slot] == nil, "\(name) closes \(slot), which \(owners[slot] ?? -1) uses")
        connections[slot.group][slot.slot] = .closed
    }

    private func end(_ name: Int) {
        if actors[name].toEnd == nil {
            let held = Array(machines.indices.prefix(actors[name].heldCount))
            let steps = [[held], held.map { [$0] }, held.reversed().map { [$0] }]
            actors[name].toEnd = steps.randomElement(using: &generator)
            if actors[name].kind == .gracefulClose {
                for group in machines.indices { machines[group].phase.abandonClosing() }
            }
        }
        let groups = actors[name].toEnd?.popLast() ?? []
        note("\(name) ends the barriers \(groups)")
        if actors[name].toEnd?.isEmpty ?? true { actors[name].stage = .hasEnded }
        endBarriers(groups)
    }

    /// Ends the barriers of some groups.
    private func endBarriers(_ groups: [Int]) {
        var actions: [[Machine.Action]] = []
        for group in groups {
            for slot in connections[group].indices where connections[group][slot] == .closed {
                check(machines[group].forget(slot), "\(group).\(slot) can't be forgotten")
                connections[group][slot] = .none
            }
            barriers[group] = nil
            actions.append(machines[group].releaseBarrier(now: now))
        }
        for (group, actions) in zip(groups, actions) { perform(actions, group) }
    }

    // MARK: - Answers

    private func perform(_ actions: [Machine.Action], _ group: Int) {
        for action in actions {
            note("    \(text(group)): \(action)")
            switch action {
            case .grant(let name, let grant): take(name, group, grant)
            case .wake(let name): actors[name].isWoken = true
            case .refuse(let name, _):
                count("refused")
                didFail(name)
            case .drop(let slot):
                check(owners[Slot(group: group, slot: slot)] == nil, "\(slot) is dropped while it is used")
                check(connections[group][slot] == .open, "\(slot) is dropped, and is \(connections[group][slot])")
                connections[group][slot] = .none
            }
        }
    }

    private func hasDeadlock(_ wait: WaitGraph.Wait, _ group: Int) -> Bool {
        let indices = Dictionary(uniqueKeysWithValues: groupIDs.enumerated().map { (ObjectIdentifier($1), $0) })
        let graph = WaitGraph(from: ObjectIdentifier(groupIDs[group])) {
            waits[$0]
        } group: { id in
            indices[id].map { waitState($0) }
        }
        return graph.deadlock(of: wait) != nil
    }

    private func waitState(_ group: Int) -> WaitGraph.Group {
        let holder = barriers[group].map { actors[$0] }
        let isHere = holder.map { [.runsBarrier, .endsLending, .closes, .isClosed, .ends].contains($0.stage) } ?? false
        return WaitGraph.Group(
            name: text(group), threads: owners.filter { $0.key.group == group }.map { thread($0.value) },
            availableCount: machines[group].availableCount, hasBarrier: machines[group].hasBarrier,
            barrierThread: isHere ? thread(barriers[group] ?? 0) : 0,
            barredGroup: group == Self.writer ? ObjectIdentifier(groupIDs[Self.readers]) : nil,
            queue: machines[group].queue)
    }

    // MARK: - What must be so

    private func checkInvariants() {
        for group in machines.indices {
            let slots = owners.keys.filter { $0.group == group }
            check(machines[group].leasedCount == slots.count, "\(text(group)) leased: \(slots)")
            check(slots.allSatisfy { !machines[group].isIdle($0.slot) }, "leased and idle: \(slots)")
            check(machines[group].hasBarrier == (barriers[group] != nil), "barrier of \(text(group))")
            let waiterCount = actors.count { if case .waits(group, _, _) = $0.stage { true } else { false } }
            check(machines[group].waiterCount == waiterCount, "\(waiterCount) wait for \(text(group))")
        }
        guard let holder = barriers[Self.readers], barriers[Self.writer] == holder else { return }
        check(owners.isEmpty || actors[holder].aside != nil, "leased while all may be closed: \(owners)")
    }
}
