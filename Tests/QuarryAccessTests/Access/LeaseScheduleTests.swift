import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Random schedules of a group's decisions, against what must always be so.
@Suite struct LeaseScheduleTests {
    @Test func randomSchedules() {
        var generator = SeededGenerator()
        let seed = generator.seed
        for index in 0..<12_000 {
            var schedule = LeaseSchedule(&generator)
            schedule.run(steps: Int.random(in: 5...60, using: &generator), &generator)
            schedule.end(&generator)
            guard schedule.faults.isEmpty else {
                Issue.record("seed \(seed), schedule \(index):\n\(schedule.report)")
                return
            }
        }
        print("LeaseScheduleTests: seed \(seed)")
    }
}

/// A machine, and what the outside knows of it.
private struct LeaseSchedule {
    typealias Machine = LeaseStateMachine<Int>

    struct Waiter {
        let name: Int
        let id: Int
        let request: Machine.Request
        let waiterKind: Machine.WaiterKind
        let origin: AccessRequest.Origin
        let isFirst: Bool
        let arrival: UInt64
        var woken: UInt64?
        /// Whether it has asked after its patience.
        var isNext = false
        var isNoTask: Bool { waiterKind != .inlineTask }
        let deadline: UInt64
        var mayExpire: Bool { waiterKind != .thread && origin == .user }
    }

    var machine: Machine
    let capacity: Int
    let maximumWaiters: Int?
    /// 1: only threads come. 2: threads and tasks.
    let waiterKindCount: Int
    var now: UInt64 = 1_000_000_000
    var lastName = 0
    /// In the order they should be served.
    var line: [Waiter] = []
    /// The slots that are out, and whether they have a connection.
    var held: Set<Int> = []
    var open: Set<Int>
    var hasBarrier = false
    var log: [String] = []
    var faults: [String] = []

    init(_ generator: inout SeededGenerator) {
        capacity = Int.random(in: 1...4, using: &generator)
        maximumWaiters = Bool.random(using: &generator) ? nil : Int.random(in: 0...4, using: &generator)
        waiterKindCount = Int.random(in: 1...3, using: &generator)
        let opened = Int.random(in: 0...capacity, using: &generator)
        machine = Machine(capacity: capacity, maximumWaiters: maximumWaiters, opened: opened)
        open = Set(0..<opened)
        log.append("capacity \(capacity), maximumWaiters \(maximumWaiters.map(String.init) ?? "nil"), opened \(opened)")
    }

    var report: String { (log + faults.map { "FAULT: \($0)" }).joined(separator: "\n") }

    private mutating func check(_ condition: Bool, _ fault: String) {
        if !condition { faults.append(fault) }
    }

    // MARK: - Steps

    mutating func run(steps: Int, _ generator: inout SeededGenerator) {
        for _ in 0..<steps where faults.isEmpty {
            now += UInt64.random(in: 0...(Bool.random(using: &generator) ? 10 : Machine.patience), using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<8: ask(.connection, waiterKind(&generator), origin(&generator), isFirst: false)
            case 8:
                let waiterKind: Machine.WaiterKind = Bool.random(using: &generator) ? .thread : .offloadedTask
                ask(.barrier, waiterKind, origin(&generator), isFirst: false)
            case 9 where Int.random(in: 0..<4, using: &generator) == 0: ask(.barrier, .thread, .user, isFirst: true)
            case 10..<14: giveBack(&generator)
            case 14, 15: retry(&generator)
            case 16: cancel(&generator)
            case 17: expire()
            case 18: retireOrTick(&generator)
            case 19 where Bool.random(using: &generator): passOver()
            default: if hasBarrier { endBarrier() }
            }
            checkInvariants()
        }
    }

    private func waiterKind(_ generator: inout SeededGenerator) -> Machine.WaiterKind {
        [.thread, .inlineTask, .offloadedTask][Int.random(in: 0..<waiterKindCount, using: &generator)]
    }

    private func origin(_ generator: inout SeededGenerator) -> AccessRequest.Origin {
        Int.random(in: 0..<4, using: &generator) == 0 ? .library : .user
    }

    private mutating func ask(
        _ request: Machine.Request, _ waiterKind: Machine.WaiterKind, _ origin: AccessRequest.Origin, isFirst: Bool
    ) {
        lastName += 1
        let mayOvertake =
            line.isEmpty || (line.count < capacity - held.count && line.allSatisfy { $0.woken != nil })
            || (waiterKind != .offloadedTask && line.allSatisfy { $0.waiterKind != .offloadedTask }
                && line[0].request == .connection
                && mayBeOvertaken(line[0]))
        let deadline = origin == .user ? now + UInt64(lastName % 3) * Machine.patience : .max
        let answer = machine.acquire(
            request, lastName, waiterKind, origin, .closer, isFirst: isFirst, deadline: deadline, now: now)
        log.append("\(now): \(lastName) asks: \(request), \(waiterKind), \(origin), first \(isFirst): \(answer)")
        let userCount = line.count { $0.origin == .user }
        switch answer {
        case .granted(let grant):
            check(request == .barrier ? line.isEmpty || isFirst : mayOvertake, "\(lastName) has overtaken")
            take(grant, request)
        case .wait(let id):
            let waiter = Waiter(
                name: lastName, id: id, request: request, waiterKind: waiterKind, origin: origin, isFirst: isFirst,
                arrival: now, deadline: deadline)
            line.insert(waiter, at: isFirst ? 0 : line.count)
            check(isFirst || origin == .library || userCount < maximumWaiters ?? .max, "more wait than may")
        case .refused(let refusal):
            check(refusal == .tooManyWaiters(maximumWaiters ?? -1), "refused: \(refusal)")
            check(!isFirst && origin == .user && userCount >= maximumWaiters ?? .max, "refused too early")
        }
    }

    private func mayBeOvertaken(_ waiter: Waiter) -> Bool {
        if now < waiter.arrival + Machine.patience { return true }
        return waiter.waiterKind == .thread && !waiter.isNext && now < (waiter.woken ?? now) + Machine.patience
    }

    private mutating func take(_ grant: Machine.Grant, _ request: Machine.Request) {
        check(!hasBarrier, "granted beside a barrier")
        switch grant {
        case .connection(let slot):
            check(request == .connection && held.insert(slot).inserted, "slot \(slot) is given twice")
            check(open.contains(slot), "slot \(slot) has no connection")
        case .open(let slot):
            check(request == .connection && held.insert(slot).inserted, "slot \(slot) is given twice")
            check(open.insert(slot).inserted, "slot \(slot) has a connection already")
        case .all:
            check(request == .barrier && held.isEmpty, "a barrier beside \(held)")
            hasBarrier = true
        }
    }

    mutating func perform(_ actions: [Machine.Action]) {
        for action in actions {
            log.append("    \(action)")
            switch action {
            case .grant(let name, let grant):
                guard let index = line.firstIndex(where: { $0.name == name }) else {
                    check(false, "\(name) is served, and doesn't wait")
                    continue
                }
                let entry = line.remove(at: index)
                check(entry.waiterKind != .inlineTask, "a task is handed a connection")
                checkOrder(before: index, of: entry)
                take(grant, entry.request)
            case .wake(let name):
                guard let index = line.firstIndex(where: { $0.name == name }) else {
                    check(false, "\(name) is woken, and doesn't wait")
                    continue
                }
                check(index < capacity - held.count, "\(name) is woken, and there is no connection for it")
                check(line[index].woken == nil, "\(name) is woken twice")
                check(line[index].waiterKind != .offloadedTask, "\(name) would go on without asking")
                line[index].woken = now
            case .refuse(let name, let refusal):
                check(refusal == .closed && machine.isClosed, "refused: \(refusal)")
                check(line.contains { $0.name == name }, "\(name) is refused, and doesn't wait")
                line.removeAll { $0.name == name }
            case .drop(let slot):
                check(!held.contains(slot), "slot \(slot) is dropped while it is out")
                check(open.remove(slot) != nil, "slot \(slot) is dropped twice")
            }
        }
    }

    /// Waiters before one that is served have been woken, and a connection is kept for each; or they are tasks that
    /// haven't come for long.
    private mutating func checkOrder(before index: Int, of entry: Waiter) {
        let isKeptFor = line[..<index].allSatisfy { $0.woken != nil } && index < capacity - held.count
        let free = capacity - held.count
        let isPassing =
            line[..<index].allSatisfy { $0.waiterKind == .inlineTask }
            && line.prefix(min(free, index)).allSatisfy { now >= ($0.woken ?? now) + Machine.patience }
        check(entry.isFirst || index == 0 || isKeptFor || isPassing, "\(entry.name) has overtaken")
    }

    private mutating func passOver() {
        log.append("\(now): tasks that have not come are passed over")
        perform(machine.passOver(now: now))
    }

    private mutating func giveBack(_ generator: inout SeededGenerator) {
        guard let slot = held.sorted().randomElement(using: &generator) else { return }
        held.remove(slot)
        if Int.random(in: 0..<10, using: &generator) == 0 {
            log.append("\(now): slot \(slot) couldn't be opened")
            open.remove(slot)
            perform(machine.openingFailed(slot, now: now))
        } else {
            log.append("\(now): slot \(slot) comes back")
            let now = now
            perform(machine.release(slot) { now })
        }
    }

    private mutating func retry(_ generator: inout SeededGenerator) {
        guard let waiter = line.filter({ $0.woken != nil }).randomElement(using: &generator) else { return }
        retry(waiter)
    }

    private mutating func retry(_ waiter: Waiter) {
        guard let index = line.firstIndex(where: { $0.id == waiter.id }) else { return }
        line[index].woken = nil
        let answer = machine.retry(id: waiter.id, now: now)
        log.append("\(now): \(waiter.name) asks again: \(answer.map { "\($0.grant)" } ?? "waits on")")
        guard let answer else {
            line[index].isNext = now >= waiter.arrival + Machine.patience
            return
        }
        check(
            line[..<index].allSatisfy { $0.woken != nil } && index < capacity - held.count,
            "\(waiter.name) has overtaken")
        line.remove(at: index)
        take(answer.grant, waiter.request)
        perform(answer.actions)
    }

    private mutating func cancel(_ generator: inout SeededGenerator) {
        let id = Int.random(in: 1...max(1, lastName), using: &generator)
        let index = line.firstIndex { $0.id == id }
        let actions = machine.cancel(id: id, now: now)
        log.append("\(now): the place \(id) is given up: \(actions != nil)")
        check((actions != nil) == (index != nil), "cancelling \(id): \(actions != nil), waiting: \(index != nil)")
        if let index { line.remove(at: index) }
        perform(actions ?? [])
    }

    private mutating func expire() {
        let result = machine.expire(now: now)
        log.append("\(now): tasks expire: \(result.expired.map(\.0))")
        let expected = line.filter { $0.mayExpire && $0.deadline <= now }.map(\.name)
        check(result.expired.map(\.0) == expected, "\(expected) should have expired")
        line.removeAll { expected.contains($0.name) }
        perform(result.actions)
        let first = line.filter(\.mayExpire).map(\.deadline).min() ?? .max
        check(machine.firstDeadline == first, "the first task gives up at \(first)")
    }

    private mutating func retireOrTick(_ generator: inout SeededGenerator) {
        if Bool.random(using: &generator) {
            let hasOwnBarrier = hasBarrier && Bool.random(using: &generator)
            log.append("\(now): all retire\(hasOwnBarrier ? " in the barrier" : "")")
            let idleCount = machine.idleCount
            perform(machine.retireAll(hasOwnBarrier: hasOwnBarrier))
            // Another caller's barrier may be closing them.
            let leftCount = hasBarrier && !hasOwnBarrier ? idleCount : 0
            check(machine.idleCount == leftCount, "\(machine.idleCount) idle connections are left, not \(leftCount)")
        } else {
            log.append("\(now): tick")
            perform(machine.advanceTick())
        }
    }

    mutating func endBarrier() {
        log.append("\(now): the barrier ends")
        hasBarrier = false
        perform(machine.releaseBarrier(now: now))
    }

    // MARK: - What must be so

    private mutating func checkInvariants() {
        check(machine.leasedCount == held.count, "leased: \(machine.leasedCount), out: \(held)")
        check(held.count <= capacity, "more connections than there are")
        check(machine.hasBarrier == hasBarrier, "barrier: \(machine.hasBarrier)")
        check(machine.waiterCount == line.count, "waiters: \(machine.waiterCount), in line: \(line.map(\.name))")
        check(!hasBarrier || held.isEmpty, "a barrier beside \(held)")
        guard let first = line.first, !hasBarrier else { return }
        switch first.request {
        case .barrier: check(!held.isEmpty, "the barrier \(first.name) waits for nobody")
        case .connection:
            for waiter in line.prefix(capacity - held.count) {
                guard waiter.request == .connection else { break }
                check(waiter.woken != nil, "\(waiter.name) sleeps while a connection is free")
            }
        }
        if held.count < capacity, first.waiterKind == .inlineTask,
            line.contains(where: { $0.waiterKind != .inlineTask })
        {
            check(machine.isToPassOver, "nobody looks whether \(first.name) comes")
        }
    }

    /// Everybody gives back, until nobody is left; then all is closed.
    mutating func end(_ generator: inout SeededGenerator) {
        // Swift's threads may all be blocked by those who wait: no task comes then.
        if Bool.random(using: &generator) {
            log.append("no task comes")
            serve(\.isNoTask, &generator)
        }
        serve({ _ in true }, &generator)
        endEmpty(&generator)
    }

    /// Everybody gives back, and some ask again when they are woken, until none of them is left.
    private mutating func serve(_ mayCome: (Waiter) -> Bool, _ generator: inout SeededGenerator) {
        var rounds = 0
        while faults.isEmpty, rounds < 10_000, hasBarrier || !held.isEmpty || line.contains(where: mayCome) {
            rounds += 1
            now += Machine.patience
            if hasBarrier { endBarrier() }
            if let waiter = line.first(where: { $0.woken != nil && mayCome($0) }) { retry(waiter) }
            if machine.isToPassOver { passOver() }
            giveBack(&generator)
            checkInvariants()
        }
        let left = line.filter(mayCome).map(\.name)
        check(left.isEmpty, "never served: \(left)")
    }

    private mutating func endEmpty(_ generator: inout SeededGenerator) {
        check(held.isEmpty && !hasBarrier, "something is still out")
        guard faults.isEmpty else { return }
        lastName += 1
        check(machine.acquire(.barrier, lastName, .thread, isFirst: true, now: now) == .granted(.all), "close")
        hasBarrier = true
        closeWithWaiters(&generator)
    }

    private mutating func closeWithWaiters(_ generator: inout SeededGenerator) {
        for _ in 0..<3 { ask(.connection, waiterKind(&generator), origin(&generator), isFirst: false) }
        perform(machine.close())
        check(line.isEmpty && machine.isClosed, "not refused: \(line.map(\.name))")
        check(machine.acquireNow(.thread, now: { 0 }) == .refused(.closed), "served after it was closed")
    }
}
