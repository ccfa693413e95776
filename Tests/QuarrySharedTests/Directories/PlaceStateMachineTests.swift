import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite struct PlaceStateMachineTests {
    @Test func freePlacesAreTakenAtOnce() {
        var machine = PlaceStateMachine(limit: 2)
        #expect(machine.want(1, isNested: false) == [1])
        #expect(machine.want(1, isNested: false) == [])
        #expect(machine.want(2, isNested: false) == [2])
        #expect(machine.want(3, isNested: false) == [])
        #expect(machine.phase(3) == .waiting)
        #expect(machine.surplus == 1)
    }

    @Test func placesPassInOrder() {
        var machine = PlaceStateMachine(limit: 1)
        _ = machine.want(1, isNested: false)
        for id in [2, 3] { #expect(machine.want(id, isNested: false) == []) }
        machine.beginClosing(1)
        // The place is taken until the files are closed.
        #expect(machine.surplus == 1)
        #expect(machine.want(1, isNested: false) == [])
        #expect(machine.endClosing(1, isClosed: true) == [2])
        #expect(machine.phase(1) == .waiting)
        machine.beginClosing(2)
        #expect(machine.endClosing(2, isClosed: true) == [3])
        machine.beginClosing(3)
        #expect(machine.endClosing(3, isClosed: true) == [1])
    }

    /// Databases in line that are still being closed are passed by.
    @Test func closingDatabasesInLine() {
        var machine = PlaceStateMachine(limit: 2)
        for id in 1...2 { _ = machine.want(id, isNested: false) }
        machine.beginClosing(1)
        machine.beginClosing(2)
        for id in 1...3 { #expect(machine.want(id, isNested: false) == []) }
        #expect(machine.endClosing(2, isClosed: true) == [2])
        #expect(machine.endClosing(1, isClosed: true) == [1])
        #expect(machine.phase(3) == .waiting)
    }

    @Test func nestedAccessesNeedNoPlace() {
        var machine = PlaceStateMachine(limit: 1)
        _ = machine.want(1, isNested: false)
        #expect(machine.want(2, isNested: true) == [2])
        #expect(machine.want(3, isNested: false) == [])
        #expect(machine.want(3, isNested: true) == [3])
        #expect(machine.openCount == 3)
        // The ones beyond the limit are closed as soon as they are idle.
        #expect(machine.surplus == 2)
        machine.beginClosing(2)
        #expect(machine.want(2, isNested: true) == [])
        #expect(machine.endClosing(2, isClosed: true) == [2])
    }

    /// A nested access doesn't wait for the closing of the database that the one before it has left.
    @Test func closingDatabasesAreBesideThoseBeyondTheLimit() {
        var machine = PlaceStateMachine(limit: 1)
        _ = machine.want(1, isNested: false)
        for id in 2...4 {
            #expect(machine.want(id, isNested: true) == [id])
            machine.beginClosing(id)
        }
        #expect(machine.openCount == 1 && machine.closingCount == 3)
        #expect(machine.want(5, isNested: false) == [])
        for id in 2...4 { #expect(machine.endClosing(id, isClosed: true) == []) }
        #expect(machine.openCount + machine.closingCount == 1)
    }

    @Test func databasesThatStayOpen() {
        var machine = PlaceStateMachine(limit: 1)
        _ = machine.want(1, isNested: false)
        _ = machine.want(2, isNested: false)
        machine.beginClosing(1)
        _ = machine.want(1, isNested: false)
        #expect(machine.endClosing(1, isClosed: false) == [1])
        #expect(machine.waitingCount == 1)
        #expect(machine.surplus == 1)
    }

    @Test func thoseThatGiveUp() {
        var machine = PlaceStateMachine(limit: 1)
        for id in 1...3 { _ = machine.want(id, isNested: false) }
        machine.beginClosing(1)
        #expect(machine.endClosing(1, isClosed: true) == [2])
        #expect(machine.decline(2) == [3])
        #expect(machine.remove(3) == [])
        #expect(machine == PlaceStateMachine(limit: 1))
    }

    /// A database whose last access has given up leaves the line, wherever it is, but keeps the place that it has.
    @Test func databasesThatLeave() {
        var machine = PlaceStateMachine(limit: 1)
        for id in 1...3 { _ = machine.want(id, isNested: false) }
        machine.leave(2)
        #expect(machine.phase(2) == .closed)
        machine.leave(1)
        #expect(machine.phase(1) == .open)
        #expect(machine.waitingCount == 1)
        machine.beginClosing(1)
        _ = machine.want(1, isNested: true)
        machine.leave(1)
        #expect(machine.phase(1) == .closing)
        #expect(machine.endClosing(1, isClosed: true) == [3])
        #expect(machine.phase(1) == .closed)
        machine.leave(1)
        #expect(machine.remove(3) == [])
        #expect(machine == PlaceStateMachine(limit: 1))
    }

    /// At each step of a random schedule, no more are open than may be, no place is free while one waits that could
    /// have it, and those that wait are served in order. In the end each has been served.
    @Test(arguments: [UInt64.random(in: .min ... .max), 3])
    func randomSchedules(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for schedule in 0..<10_000 {
            let limit = Int.random(in: 1...3, using: &generator)
            var machine = PlaceStateMachine(limit: limit)
            /// The databases that wait, in order.
            var line: [Int] = []
            /// The databases that have been opened beyond the limit.
            var beyond: Set<Int> = []
            var closing: Set<Int> = []

            func check(_ served: [Int]) {
                for id in served {
                    line.removeAll { $0 == id }
                    #expect(machine.phase(id) == .open)
                }
                beyond = beyond.filter { machine.phase($0) != .closed && machine.phase($0) != .waiting }
                let used = machine.openCount + machine.closingCount
                #expect(used <= limit + beyond.count, "seed \(seed), schedule \(schedule)")
                #expect(used >= limit || line.allSatisfy { closing.contains($0) }, "seed \(seed), schedule \(schedule)")
                #expect(machine.waitingCount == line.count, "seed \(seed), schedule \(schedule)")
            }
            for _ in 0..<Int.random(in: 1...24, using: &generator) {
                let id = Int.random(in: 0..<6, using: &generator)
                switch Int.random(in: 0..<9, using: &generator) {
                case 0, 1, 2:
                    let before = machine.phase(id)
                    let served = machine.want(id, isNested: false)
                    if before != .open, !line.contains(id) { line.append(id) }
                    if before == .closed, !served.isEmpty { #expect(served == [id]) }
                    check(served)
                case 3:
                    let before = machine.phase(id)
                    if before == .closing, !line.contains(id) { line.append(id) }
                    if before != .open { beyond.insert(id) }
                    check(machine.want(id, isNested: true))
                case 4, 5:
                    guard let open = machine.open.sorted().first, machine.surplus > 0 else { continue }
                    machine.beginClosing(open)
                    closing.insert(open)
                    check([])
                case 6:
                    guard let id = closing.min() else { continue }
                    closing.remove(id)
                    let first = line.first { machine.phase($0) == .waiting || $0 == id }
                    let served = machine.endClosing(id, isClosed: Bool.random(using: &generator))
                    if let next = served.first(where: { $0 != id }), first != id { #expect(next == first) }
                    check(served)
                case 7:
                    line.removeAll { $0 == id }
                    machine.leave(id)
                    check([])
                default:
                    line.removeAll { $0 == id }
                    closing.remove(id)
                    check(machine.remove(id))
                }
            }
            // Open databases are closed until none waits.
            var steps = 0
            while !line.isEmpty, steps < 100 {
                steps += 1
                for id in closing.sorted() {
                    closing.remove(id)
                    check(machine.endClosing(id, isClosed: true))
                }
                for id in machine.open where machine.surplus > 0 {
                    machine.beginClosing(id)
                    closing.insert(id)
                }
            }
            #expect(line.isEmpty, "seed \(seed), schedule \(schedule)")
        }
    }
}
