import Testing

@testable import Quarry

/// The decisions of a lane, with no thread at all: each test states who asks, and what is answered.
@Suite struct LeaseStateMachineTests {
    typealias Machine = LeaseStateMachine<String>

    /// A task that asks for a connection.
    private func ask(
        _ machine: inout Machine, _ name: String, _ request: Machine.Request = .connection, isThread: Bool = false,
        isFirst: Bool = false, at now: UInt64 = 0
    ) -> Machine.Answer {
        machine.acquire(request, name, isThread: isThread, isFirst: isFirst, now: now)
    }

    private func texts(_ actions: [Machine.Action]?) -> [String]? { actions?.map(\.text) }

    @Test func requestsAreServedInTheOrderTheyCame() {
        var machine = Machine(capacity: 1, opened: 1)
        #expect(ask(&machine, "a") == .granted(.connection(0)))
        #expect(ask(&machine, "b") == .wait(id: 1))
        #expect(ask(&machine, "c") == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == ["b: connection 0"])
        #expect(machine.release(0) { 0 }.map(\.text) == ["c: connection 0"])
        #expect(machine.release(0) { 0 }.map(\.text) == [])
        #expect(ask(&machine, "d") == .granted(.connection(0)))
    }

    @Test func slotsAreOpenedWhenNoConnectionIsIdle() {
        var machine = Machine(capacity: 2)
        #expect(ask(&machine, "a") == .granted(.open(0)))
        #expect(machine.release(0) { 0 }.isEmpty)
        #expect(ask(&machine, "b") == .granted(.connection(0)))
        #expect(ask(&machine, "c") == .granted(.open(1)))
        #expect(ask(&machine, "d") == .wait(id: 1))
    }

    @Test func aSlotThatCouldNotBeOpenedServesTheNext() {
        var machine = Machine(capacity: 1)
        #expect(ask(&machine, "a") == .granted(.open(0)))
        #expect(ask(&machine, "b") == .wait(id: 1))
        #expect(machine.openingFailed(0, now: 0).map(\.text) == ["b: open 0"])
    }

    @Test func aTaskIsNeverOvertaken() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "task", at: 0) == .wait(id: 1))
        #expect(machine.release(0) { 1 }.map(\.text) == ["task: connection 0"])
        #expect(machine.acquireNow(isThread: true, now: { 1 }) == nil)
    }

    @Test func aThreadMayBeOvertakenForAWhile() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "thread", isThread: true, at: 1000) == .wait(id: 1))
        #expect(machine.release(0) { 1001 }.map(\.text) == ["wake thread"])
        // Nobody but threads waits, and the first of them not long: another thread goes first, a task doesn't.
        #expect(machine.acquireNow(isThread: false, now: { 1001 }) == nil)
        #expect(machine.acquireNow(isThread: true, now: { 1001 }) == .granted(.connection(0)))
        #expect(machine.retry(id: 1, now: 1002) == nil)
        // Its patience is over: the connection is handed over, while it sleeps.
        let late = 1000 + Machine.patience
        #expect(machine.release(0) { late }.map(\.text) == ["thread: connection 0"])
        #expect(machine.acquireNow(isThread: true, now: { late }) == nil)
        #expect(machine.retry(id: 1, now: late) == nil, "it has been served")
    }

    @Test func aThreadThatWaitsLongIsNotOvertaken() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "thread", isThread: true, at: 0) == .wait(id: 1))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake thread"])
        #expect(machine.acquireNow(isThread: true, now: { Machine.patience }) == nil)
        #expect(machine.retry(id: 1, now: Machine.patience)?.grant == .connection(0))
    }

    @Test func clocksThatWereReadEarlierAreNoTrap() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "thread", isThread: true, at: 500) == .wait(id: 1))
        #expect(machine.release(0) { 400 }.map(\.text) == ["wake thread"])
        #expect(machine.acquireNow(isThread: true, now: { 300 }) == .granted(.connection(0)))
    }

    @Test func aWakeUpIsPassedOn() {
        var machine = Machine(capacity: 2, opened: 2)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        #expect(ask(&machine, "first", isThread: true) == .wait(id: 1))
        #expect(ask(&machine, "second", isThread: true) == .wait(id: 2))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake first"])
        #expect(machine.release(1) { 1 }.map(\.text) == [], "one is woken at a time")
        let answer = machine.retry(id: 1, now: 2)
        #expect(answer?.grant == .connection(1))
        #expect(answer?.actions.map(\.text) == ["wake second"])
        #expect(machine.retry(id: 2, now: 3)?.grant == .connection(0))
    }

    @Test func aTaskBehindAWokenThreadIsServed() {
        var machine = Machine(capacity: 2, opened: 2)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        #expect(ask(&machine, "thread", isThread: true) == .wait(id: 1))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake thread"])
        #expect(machine.release(1) { 1 }.map(\.text) == [])
        #expect(ask(&machine, "task") == .wait(id: 2))
        #expect(machine.retry(id: 1, now: 2)?.actions.map(\.text) == ["task: connection 0"])
    }

    @Test func aBarrierWaitsForAllAndHoldsBackThoseBehind() {
        var machine = Machine(capacity: 2, opened: 2)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        #expect(ask(&machine, "barrier", .barrier) == .wait(id: 1))
        #expect(ask(&machine, "c") == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == [])
        #expect(machine.release(1) { 0 }.map(\.text) == ["barrier: all"])
        #expect(machine.hasBarrier)
        #expect(machine.acquireNow(isThread: true, now: { 0 }) == nil)
        #expect(machine.releaseBarrier(now: 0).map(\.text) == ["c: connection 1"])
    }

    @Test func aBarrierThatIsCancelledLetsThoseBehindGo() {
        var machine = Machine(capacity: 2, opened: 2)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "barrier", .barrier) == .wait(id: 1))
        #expect(ask(&machine, "b") == .wait(id: 2))
        #expect(texts(machine.cancel(id: 1, now: 0)) == ["b: connection 0"])
        #expect(machine.cancel(id: 1, now: 0) == nil)
        #expect(machine.cancel(id: 2, now: 0) == nil, "it has been served")
    }

    @Test func closingGoesFirstAndRefusesAll() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "b") == .wait(id: 1))
        #expect(ask(&machine, "close", .barrier, isThread: true, isFirst: true) == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == ["close: all"])
        #expect(machine.close().map(\.text) == ["refuse b: closed"])
        #expect(machine.isClosed)
        #expect(ask(&machine, "c") == .refused(.closed))
        #expect(ask(&machine, "d", .barrier) == .refused(.closed))
        #expect(machine.acquireNow(isThread: true, now: { 0 }) == .refused(.closed))
        #expect(machine.waiterCount == 0)
    }

    @Test func noMoreThanTheMaximumWait() {
        var machine = Machine(capacity: 1, maximumWaiters: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "b") == .wait(id: 1))
        #expect(ask(&machine, "c") == .refused(.tooManyWaiters(1)))
        #expect(ask(&machine, "d", .barrier) == .refused(.tooManyWaiters(1)))
        #expect(ask(&machine, "close", .barrier, isFirst: true) == .wait(id: 2), "closing always may")
    }

    @Test func tasksExpireAndThreadsDoNot() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "old", at: 10) == .wait(id: 1))
        #expect(ask(&machine, "thread", isThread: true, at: 11) == .wait(id: 2))
        #expect(ask(&machine, "young", at: 20) == .wait(id: 3))
        #expect(machine.firstSuspendedArrival == 10)
        #expect(machine.expire(arrivedBefore: 15, now: 30).expired.map(\.0) == ["old"])
        #expect(machine.firstSuspendedArrival == 20)
        #expect(machine.waiterCount == 2)
    }

    @Test func connectionsRetireWhenTheyComeBack() {
        var machine = Machine(capacity: 3)
        #expect(ask(&machine, "a") == .granted(.open(0)))
        #expect(ask(&machine, "b") == .granted(.open(1)))
        #expect(machine.release(1) { 0 }.isEmpty)
        #expect(machine.retireAll().map(\.text) == ["drop 1"])
        #expect(machine.idleCount == 0)
        #expect(machine.release(0) { 0 }.map(\.text) == ["drop 0"])
        #expect(machine.idleCount == 0)
        #expect(ask(&machine, "c") == .granted(.open(0)))
        #expect(machine.release(0) { 0 }.isEmpty, "it is a new one")
    }

    @Test func aSlotThatFailsToOpenDoesNotRetire() {
        var machine = Machine(capacity: 1)
        #expect(ask(&machine, "a") == .granted(.open(0)))
        #expect(machine.retireAll().isEmpty)
        #expect(machine.openingFailed(0, now: 0).isEmpty)
        #expect(ask(&machine, "b") == .granted(.open(0)))
        #expect(machine.release(0) { 0 }.isEmpty)
        #expect(machine.idleCount == 1)
    }

    @Test func idleConnectionsGoAtTheSecondTick() {
        var machine = Machine(capacity: 2)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        #expect(machine.release(0) { 0 }.isEmpty)
        #expect(machine.advanceTick().isEmpty)
        #expect(machine.release(1) { 0 }.isEmpty)
        #expect(machine.advanceTick().map(\.text) == ["drop 0"])
        #expect(machine.advanceTick().map(\.text) == ["drop 1"])
        #expect(machine.advanceTick().isEmpty)
    }
}

extension LeaseStateMachine<String>.Action {
    fileprivate var text: String {
        switch self {
        case .grant(let name, .connection(let slot)): "\(name): connection \(slot)"
        case .grant(let name, .open(let slot)): "\(name): open \(slot)"
        case .grant(let name, .all): "\(name): all"
        case .wake(let name): "wake \(name)"
        case .refuse(let name, .closed): "refuse \(name): closed"
        case .refuse(let name, .tooManyWaiters(let count)): "refuse \(name): more than \(count)"
        case .drop(let slot): "drop \(slot)"
        }
    }
}
