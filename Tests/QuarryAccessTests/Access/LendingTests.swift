import Quarry
import Testing

@testable import QuarryAccess

/// A barrier keeps connections, and lends them to the accesses that it waits for: the decisions of a writer's group,
/// with no thread at all.
@Suite struct LendingTests {
    typealias Machine = LeaseStateMachine<String>

    private func ask(
        _ machine: inout Machine, _ name: String, _ request: Machine.Request = .connection, borrows: Bool = false,
        isFirst: Bool = false
    ) -> Machine.Answer {
        machine.acquire(request, name, .thread, isFirst: isFirst, borrows: borrows, now: 0)
    }

    @Test func aConnectionThatIsSetAsideIsLentToThoseWhoMayBorrow() {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "barrier") == .granted(.connection(0)))
        #expect(machine.setAside(0).isEmpty)
        #expect(ask(&machine, "write") == .wait(id: 1))
        #expect(machine.acquireIdle(.thread, now: { 0 }) == nil)
        #expect(ask(&machine, "read that writes", borrows: true) == .granted(.connection(0)))
        #expect(ask(&machine, "another", borrows: true) == .wait(id: 2))
        #expect(machine.release(0) { 0 }.map(\.text) == ["another: connection 0"], "before the write that came earlier")
        #expect(machine.release(0) { 0 }.isEmpty)
        let isBack = machine.takeBack(0)
        #expect(isBack)
        #expect(machine.leasedCount == 1)
        #expect(machine.release(0) { 0 }.map(\.text) == ["wake write"])
    }

    @Test func oneThatWaitsAlreadyBorrowsWhatIsSetAside() {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "barrier") == .granted(.connection(0)))
        #expect(ask(&machine, "write") == .wait(id: 1))
        #expect(ask(&machine, "read that writes", borrows: true) == .wait(id: 2))
        #expect(machine.setAside(0).map(\.text) == ["read that writes: connection 0"])
        #expect(machine.release(0) { 0 }.isEmpty)
    }

    @Test func aBarrierThatFailsLeavesWhatIsLent() {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "barrier") == .granted(.connection(0)))
        #expect(machine.setAside(0).isEmpty)
        #expect(ask(&machine, "read that writes", borrows: true) == .granted(.connection(0)))
        #expect(ask(&machine, "write") == .wait(id: 1))
        #expect(machine.releaseBarrier(now: 0).isEmpty, "the connection is out")
        #expect(machine.release(0) { 0 }.map(\.text) == ["wake write"])
    }

    @Test func whatIsOutIsNotTakenBack() {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "barrier") == .granted(.connection(0)))
        #expect(machine.setAside(0).isEmpty)
        #expect(ask(&machine, "read that writes", borrows: true) == .granted(.connection(0)))
        let isBack = machine.takeBack(0)
        #expect(!isBack)
    }

    @Test(arguments: [true, false]) func closingLends(comesAtOnce: Bool) {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "a") == .granted(.connection(0)))
        #expect(ask(&machine, "write") == .wait(id: 1))
        #expect(ask(&machine, "read that writes", borrows: true) == .wait(id: 2))
        if comesAtOnce {
            // The write is woken; closing asks before it does.
            #expect(machine.release(0) { 0 }.map(\.text) == ["wake write"])
            #expect(ask(&machine, "close", .barrier, isFirst: true) == .granted(.all))
            #expect(machine.lend().map(\.text) == ["read that writes: connection 0"])
        } else {
            #expect(ask(&machine, "close", .barrier, isFirst: true) == .wait(id: 3))
            #expect(machine.release(0) { 0 }.map(\.text) == ["close: all", "read that writes: connection 0"])
        }
        #expect(machine.retry(id: 1, now: 1) == nil)
        #expect(machine.release(0) { 0 }.isEmpty)
        #expect(machine.close().map(\.text) == ["refuse write: closed"])
    }

    @Test func oneThatWasWokenBorrows() {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "a") == .granted(.connection(0)))
        #expect(ask(&machine, "read that writes", borrows: true) == .wait(id: 1))
        #expect(machine.release(0) { 0 }.map(\.text) == ["wake read that writes"])
        #expect(ask(&machine, "close", .barrier, isFirst: true) == .granted(.all))
        #expect(machine.retry(id: 1, now: 1)?.grant == .connection(0))
    }

    // MARK: - The end of the lending

    /// The barrier has the readers, too. A read that begins as soon as they are free must not borrow what is closed.
    @Test func aBarrierThatMayCloseLendsNothing() {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "close", .barrier, isFirst: true) == .granted(.all))
        let isClosing = machine.endLending()
        #expect(isClosing)
        #expect(ask(&machine, "read that writes", borrows: true) == .wait(id: 1))
        #expect(machine.lend().isEmpty)
        #expect(machine.retry(id: 1, now: 0) == nil)
        let isForgotten = machine.forget(0)
        #expect(isForgotten)
        #expect(machine.releaseBarrier(now: 0).map(\.text) == ["wake read that writes"])
        #expect(machine.retry(id: 1, now: 0)?.grant == .open(0))
        #expect(ask(&machine, "write") == .wait(id: 2), "the slot was given once")
    }

    @Test func whatIsLentIsNotForgotten() {
        var machine = Machine(capacity: 1, opened: 1, lends: true)
        #expect(ask(&machine, "close", .barrier, isFirst: true) == .granted(.all))
        #expect(ask(&machine, "read that writes", borrows: true) == .granted(.connection(0)))
        let (isForgotten, isClosing) = (machine.forget(0), machine.endLending())
        #expect(!isForgotten && !isClosing)
        #expect(ask(&machine, "write") == .wait(id: 1))
        #expect(machine.releaseBarrier(now: 0).isEmpty, "the connection is out")
        #expect(machine.release(0) { 0 }.map(\.text) == ["wake write"])
    }

    @Test func aLeasedSlotIsNeitherForgottenNorAdopted() {
        var machine = Machine(capacity: 2)
        #expect(ask(&machine, "a") == .granted(.open(0)))
        machine.beginBarrier()
        let (isForgotten, isAdopted) = (machine.forget(0), machine.adopt(0))
        #expect(!isForgotten && !isAdopted)
        #expect(machine.releaseBarrier(now: 0).isEmpty)
        #expect(ask(&machine, "b") == .granted(.open(1)))
        #expect(machine.leasedCount == 2)
    }

    @Test func aSlotThatComesBackTwiceIsFreeOnce() {
        var machine = Machine(capacity: 1, opened: 1)
        #expect(ask(&machine, "a") == .granted(.connection(0)))
        for _ in 0..<2 { #expect(machine.release(0) { 0 }.isEmpty) }
        #expect(machine.openingFailed(0, now: 0).isEmpty)
        #expect(machine.leasedCount == 0 && machine.availableCount == 1)
        #expect(ask(&machine, "b") == .granted(.connection(0)))
        #expect(ask(&machine, "c") == .wait(id: 1))
    }
}
