import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The decisions of a group, with no thread at all: each test states who asks, and what is answered.
@Suite struct LeaseStateMachineTests {
    typealias Machine = LeaseStateMachine<String>

    /// One asks for a connection, and keeps its place unless it is said otherwise.
    private func ask(
        _ machine: inout Machine, _ name: String, _ request: Machine.Request = .connection,
        _ waiterKind: Machine.WaiterKind = .offloadedTask, _ origin: AccessRequest.Origin = .user,
        isFirst: Bool = false, deadline: UInt64 = .max, at now: UInt64 = 0
    ) -> Machine.Answer {
        machine.acquire(request, name, waiterKind, origin, isFirst: isFirst, deadline: deadline, now: now)
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

    @Test func oneThatKeepsItsPlaceIsNeverOvertaken() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "b", at: 0) == .wait(id: 1))
        #expect(machine.release(0) { 1 }.map(\.text) == ["b: connection 0"])
        #expect(machine.acquireNow(.thread, now: { 1 }) == nil)
        #expect(machine.acquireNow(.inlineTask, now: { 1 }) == nil)
    }

    @Test(arguments: [Machine.WaiterKind.thread, .inlineTask], [Machine.WaiterKind.thread, .inlineTask])
    func oneMayBeOvertakenForAWhile(_ waiterKind: Machine.WaiterKind, by other: Machine.WaiterKind) {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "b", .connection, waiterKind, at: 1000) == .wait(id: 1))
        #expect(machine.release(0) { 1001 }.map(\.text) == ["wake b"])
        // It waits, and not for long: another goes first, but none that keeps its place.
        #expect(machine.acquireNow(.offloadedTask, now: { 1001 }) == nil)
        #expect(machine.acquireNow(other, now: { 1001 }) == .granted(.connection(0)))
        #expect(machine.retry(id: 1, now: 1002) == nil)
        // The waiter's patience has ended. It is woken, and no waiter overtakes it once it has asked.
        let late = 1000 + Machine.patience
        #expect(machine.release(0) { late }.map(\.text) == ["wake b"])
        switch waiterKind {
        case .thread:
            #expect(machine.acquireNow(other, now: { late }) == .granted(.connection(0)), "until it is awake")
            #expect(machine.retry(id: 1, now: late) == nil)
            #expect(machine.release(0) { late }.map(\.text) == ["b: connection 0"])
            #expect(machine.retry(id: 1, now: late) == nil, "it has been served")
        default:
            #expect(machine.acquireNow(other, now: { late }) == nil)
            #expect(machine.retry(id: 1, now: late)?.grant == .connection(0))
        }
        #expect(machine.acquireNow(other, now: { late }) == nil)
    }

    @Test func aThreadThatDoesNotWakeUpIsHandedTheConnection() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "b", .connection, .thread, at: 0) == .wait(id: 1))
        let late = 2 * Machine.patience
        #expect(machine.release(0) { late }.map(\.text) == ["wake b"])
        #expect(machine.acquireNow(.thread, now: { late + 1 }) == .granted(.connection(0)))
        #expect(machine.release(0) { late + 2 }.map(\.text) == [], "it has been woken")
        #expect(machine.acquireNow(.thread, now: { late + Machine.patience - 1 }) == .granted(.connection(0)))
        #expect(machine.release(0) { late + Machine.patience }.map(\.text) == ["b: connection 0"])
    }

    @Test func nobodyIsOvertakenWhileOneWaitsWhoKeepsItsPlace() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "task", .connection, .inlineTask) == .wait(id: 1))
        #expect(ask(&machine, "b") == .wait(id: 2))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake task"])
        #expect(machine.acquireNow(.thread, now: { 1 }) == nil)
        #expect(machine.acquireNow(.inlineTask, now: { 1 }) == nil)
        #expect(machine.retry(id: 1, now: 2)?.grant == .connection(0))
        #expect(machine.release(0) { 2 }.map(\.text) == ["b: connection 0"])
    }

    @Test(arguments: [Machine.WaiterKind.thread, .inlineTask])
    func oneThatWaitsLongIsNotOvertaken(_ waiterKind: Machine.WaiterKind) {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "b", .connection, waiterKind, at: 0) == .wait(id: 1))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake b"])
        let late = 1 + Machine.patience
        #expect(machine.acquireNow(.thread, now: { late }) == nil)
        #expect(machine.acquireNow(.inlineTask, now: { late }) == nil)
        #expect(machine.retry(id: 1, now: late)?.grant == .connection(0))
    }

    @Test func clocksThatWereReadEarlierAreNoTrap() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "thread", .connection, .thread, at: 500) == .wait(id: 1))
        #expect(machine.release(0) { 400 }.map(\.text) == ["wake thread"])
        #expect(machine.acquireNow(.thread, now: { 300 }) == .granted(.connection(0)))
    }

    @Test(arguments: [Machine.WaiterKind.thread, .inlineTask])
    func asManyAreWokenAsThereAreConnections(_ waiterKind: Machine.WaiterKind) {
        var machine = Machine(capacity: 2, opened: 2)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        #expect(ask(&machine, "first", .connection, waiterKind) == .wait(id: 1))
        #expect(ask(&machine, "second", .connection, waiterKind) == .wait(id: 2))
        #expect(ask(&machine, "third", .connection, waiterKind) == .wait(id: 3))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake first"])
        #expect(machine.release(1) { 1 }.map(\.text) == ["wake second"])
        // The second comes before the first: there is a connection for both, and none for the third.
        #expect(machine.retry(id: 2, now: 2)?.grant == .connection(1))
        #expect(machine.retry(id: 3, now: 2) == nil)
        #expect(machine.retry(id: 1, now: 2)?.grant == .connection(0))
    }

    @Test func aConnectionIsKeptForEachThatWasWoken() {
        var machine = Machine(capacity: 3, opened: 3)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        _ = ask(&machine, "c")
        #expect(ask(&machine, "task", .connection, .inlineTask) == .wait(id: 1))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake task"])
        #expect(ask(&machine, "d") == .wait(id: 2))
        #expect(machine.release(1) { 1 }.map(\.text) == ["d: connection 1"])
        #expect(machine.release(2) { 1 }.map(\.text) == [])
        #expect(ask(&machine, "e") == .granted(.connection(2)), "there is one more")
        #expect(machine.retry(id: 1, now: 2)?.grant == .connection(0))
    }

    // MARK: - Tasks that don't come

    @Test(arguments: [Machine.WaiterKind.thread, .offloadedTask])
    func aTaskThatDoesNotComeIsPassedOver(_ waiterKind: Machine.WaiterKind) {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "first", .connection, .inlineTask) == .wait(id: 1))
        #expect(ask(&machine, "second", .connection, .inlineTask) == .wait(id: 2))
        #expect(ask(&machine, "b", .connection, waiterKind) == .wait(id: 3))
        #expect(ask(&machine, "c", .connection, waiterKind) == .wait(id: 4))
        #expect(!machine.isToPassOver, "there is no connection")
        #expect(machine.release(0) { 10 }.map(\.text) == ["wake first"])
        #expect(machine.isToPassOver)
        #expect(machine.passOver(now: 9 + Machine.patience).isEmpty, "it is waited for")
        #expect(machine.passOver(now: 10 + Machine.patience).map(\.text) == ["b: connection 0"])
        #expect(!machine.isToPassOver)
        #expect(machine.passOver(now: 10 + Machine.patience).isEmpty)
        // It still hasn't come.
        #expect(machine.release(0) { 20 + Machine.patience }.map(\.text) == ["c: connection 0"])
        #expect(machine.release(0) { 30 + Machine.patience }.map(\.text) == [])
        // Now it comes.
        #expect(machine.retry(id: 1, now: 40 + Machine.patience)?.grant == .connection(0))
        #expect(machine.release(0) { 50 + Machine.patience }.map(\.text) == ["wake second"])
    }

    @Test func aTaskThatComesTooLateIsWaitedForAnew() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "task", .connection, .inlineTask) == .wait(id: 1))
        #expect(ask(&machine, "b") == .wait(id: 2))
        #expect(ask(&machine, "c") == .wait(id: 3))
        #expect(machine.release(0) { 0 }.map(\.text) == ["wake task"])
        #expect(machine.passOver(now: Machine.patience).map(\.text) == ["b: connection 0"])
        #expect(machine.retry(id: 1, now: Machine.patience + 1) == nil)
        // It has waited for ten times its patience: it is waited for for five times its patience.
        let late = 10 * Machine.patience
        #expect(machine.release(0) { late }.map(\.text) == ["wake task"])
        #expect(machine.passOver(now: late + 5 * Machine.patience - 1).isEmpty)
        #expect(machine.passOver(now: late + 5 * Machine.patience).map(\.text) == ["c: connection 0"])
    }

    @Test func aConnectionIsNotKeptForEver() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "task", .connection, .inlineTask) == .wait(id: 1))
        #expect(ask(&machine, "b") == .wait(id: 2))
        let late = 1_000 * Machine.patience
        #expect(machine.release(0) { late }.map(\.text) == ["wake task"])
        #expect(machine.passOver(now: late + Machine.longestReservation - 1).isEmpty)
        #expect(machine.passOver(now: late + Machine.longestReservation).map(\.text) == ["b: connection 0"])
    }

    @Test func aBarrierPassesOver() {
        var machine = Machine(capacity: 2, opened: 2)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        #expect(ask(&machine, "task", .connection, .inlineTask) == .wait(id: 1))
        #expect(ask(&machine, "barrier", .barrier) == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == ["wake task"])
        #expect(machine.passOver(now: Machine.patience).isEmpty, "a connection is out")
        #expect(machine.release(1) { Machine.patience }.map(\.text) == ["barrier: all"])
        #expect(machine.retry(id: 1, now: Machine.patience) == nil)
        #expect(machine.releaseBarrier(now: Machine.patience).map(\.text) == ["wake task"])
    }

    @Test func aTaskThatCannotComeIsPassedOverAtOnce() {
        let isBlocked = Recorded(false)
        var machine = Machine(capacity: 1, opened: 1) { isBlocked.value }
        _ = ask(&machine, "a")
        #expect(ask(&machine, "task", .connection, .inlineTask) == .wait(id: 1))
        #expect(ask(&machine, "b", .connection, .thread) == .wait(id: 2))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake task"])
        #expect(machine.passOver(now: 1).isEmpty)
        isBlocked.update { $0 = true }
        #expect(machine.passOver(now: 1).map(\.text) == ["b: connection 0"])
        #expect(machine.retry(id: 1, now: 1) == nil)
        #expect(ask(&machine, "c", .connection, .thread) == .wait(id: 3))
        #expect(machine.release(0) { 1 }.map(\.text) == ["wake task", "c: connection 0"])
    }

    @Test func tasksAmongThemselvesPassNobodyOver() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "first", .connection, .inlineTask) == .wait(id: 1))
        #expect(ask(&machine, "second", .connection, .inlineTask) == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == ["wake first"])
        #expect(!machine.isToPassOver)
        #expect(machine.passOver(now: 10 * Machine.patience).isEmpty)
    }

    // MARK: - Barriers, closing, limits

    @Test func aBarrierWaitsForAllAndHoldsBackThoseBehind() {
        var machine = Machine(capacity: 2, opened: 2)
        _ = ask(&machine, "a")
        _ = ask(&machine, "b")
        #expect(ask(&machine, "barrier", .barrier) == .wait(id: 1))
        #expect(ask(&machine, "c") == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == [])
        #expect(machine.release(1) { 0 }.map(\.text) == ["barrier: all"])
        #expect(machine.hasBarrier)
        #expect(machine.acquireNow(.thread, now: { 0 }) == nil)
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
        #expect(ask(&machine, "close", .barrier, .thread, isFirst: true) == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == ["close: all"])
        #expect(machine.close().map(\.text) == ["refuse b: closed"])
        #expect(machine.isClosed)
        #expect(ask(&machine, "c") == .refused(.closed))
        #expect(ask(&machine, "d", .barrier) == .refused(.closed))
        #expect(machine.acquireNow(.thread, now: { 0 }) == .refused(.closed))
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
        #expect(ask(&machine, "patient", deadline: 100, at: 9) == .wait(id: 1))
        #expect(ask(&machine, "hasty", deadline: 20, at: 10) == .wait(id: 2))
        #expect(ask(&machine, "thread", .connection, .thread, deadline: 20, at: 11) == .wait(id: 3))
        #expect(ask(&machine, "without", at: 20) == .wait(id: 4))
        #expect(machine.firstDeadline == 20)
        #expect(machine.expire(now: 19).expired.isEmpty)
        #expect(machine.expire(now: 20).expired.map(\.0) == ["hasty"])
        #expect(machine.firstDeadline == 100)
        #expect(machine.expire(now: 1000).expired.map(\.0) == ["patient"])
        #expect(machine.firstDeadline == .max)
        #expect(machine.waiterCount == 2)
    }

    @Test func requestsOfTheLibraryHaveNoLimit() {
        var machine = Machine(capacity: 1, maximumWaiters: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "library", .connection, .offloadedTask, .library) == .wait(id: 1))
        #expect(ask(&machine, "thread", .connection, .thread, .library) == .wait(id: 2))
        #expect(ask(&machine, "barrier", .barrier, .offloadedTask, .library) == .wait(id: 3))
        #expect(ask(&machine, "b") == .wait(id: 4), "they aren't counted")
        #expect(ask(&machine, "c") == .refused(.tooManyWaiters(1)))
        #expect(ask(&machine, "more", .connection, .offloadedTask, .library) == .wait(id: 5))
        // They are served in their order, and leave the count as it is.
        #expect(machine.release(0) { 0 }.map(\.text) == ["library: connection 0"])
        #expect(ask(&machine, "d") == .refused(.tooManyWaiters(1)))
        #expect(machine.cancel(id: 4, now: 0)?.map(\.text) == [])
        #expect(ask(&machine, "e") == .wait(id: 6))
    }

    @Test func requestsOfTheLibraryAreRefusedAtTheClose() {
        var machine = Machine(capacity: 1, opened: 1)
        _ = ask(&machine, "a")
        #expect(ask(&machine, "library", .connection, .offloadedTask, .library, at: 10) == .wait(id: 1))
        #expect(machine.firstDeadline == .max)
        #expect(machine.close().map(\.text) == ["refuse library: closed"])
        #expect(ask(&machine, "late", .connection, .offloadedTask, .library) == .refused(.closed))
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

    /// A connection that a barrier closes and another thread drops would be closed twice.
    @Test func connectionsOfABarrierRetireAtItsEnd() {
        var machine = Machine(capacity: 3)
        for (name, slot) in [("a", 0), ("b", 1)] { #expect(ask(&machine, name) == .granted(.open(slot))) }
        for slot in 0..<2 { #expect(machine.release(slot) { 0 }.isEmpty) }
        machine.beginBarrier()
        #expect(machine.retireAll().isEmpty)
        #expect(machine.idleCount == 2)
        // The barrier closes one itself.
        let isForgotten = machine.forget(0)
        #expect(isForgotten)
        #expect(machine.releaseBarrier(now: 0).map(\.text) == ["drop 1"])
        #expect(machine.idleCount == 0)
        // Both are new.
        for (name, slot) in [("c", 0), ("d", 1)] { #expect(ask(&machine, name) == .granted(.open(slot))) }
        for slot in 0..<2 { #expect(machine.release(slot) { 0 }.isEmpty) }
    }

    @Test func anAccessRetiresTheConnectionsOfItsOwnBarrier() {
        var machine = Machine(capacity: 1)
        #expect(ask(&machine, "a") == .granted(.open(0)))
        #expect(machine.release(0) { 0 }.isEmpty)
        machine.beginBarrier()
        #expect(machine.retireAll(hasOwnBarrier: true).map(\.text) == ["drop 0"])
        #expect(machine.releaseBarrier(now: 0).isEmpty)
        #expect(ask(&machine, "b") == .granted(.open(0)))
        #expect(machine.release(0) { 0 }.isEmpty)
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

    /// A slot that the clock and a closing barrier empty at once would be leased twice.
    @Test func ticksUnderABarrierDropNothing() {
        var machine = Machine(capacity: 2)
        #expect(ask(&machine, "a") == .granted(.open(0)))
        #expect(machine.release(0) { 0 }.isEmpty)
        #expect(machine.advanceTick().isEmpty)
        machine.beginBarrier()
        #expect(machine.advanceTick().isEmpty)
        for _ in 0..<2 {
            let isForgotten = machine.forget(0)
            #expect(isForgotten)
        }
        #expect(machine.releaseBarrier(now: 0).isEmpty)
        #expect(ask(&machine, "b") == .granted(.open(0)))
        #expect(ask(&machine, "c") == .granted(.open(1)))
        #expect(ask(&machine, "d") == .wait(id: 1))
    }
}

extension LeaseStateMachine<String>.Action {
    var text: String {
        switch self {
        case .grant(let name, .connection(let slot)): "\(name): connection \(slot)"
        case .grant(let name, .open(let slot)): "\(name): open \(slot)"
        case .grant(let name, .all): "\(name): all"
        case .wake(let name): "wake \(name)"
        case .refuse(let name, .closed): "refuse \(name): closed"
        case .refuse(let name, .closing): "refuse \(name): closing"
        case .refuse(let name, .gracePeriodEnded): "refuse \(name): grace period ended"
        case .refuse(let name, .tooManyWaiters(let count)): "refuse \(name): more than \(count)"
        case .drop(let slot): "drop \(slot)"
        }
    }
}
