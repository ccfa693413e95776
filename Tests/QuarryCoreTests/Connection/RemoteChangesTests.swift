import Testing

@testable import QuarryCore

/// The counts of a connection whose data is elsewhere.
@Suite struct RemoteChangesTests {
    @Test func rowsAreAdded() {
        var changes = RemoteChanges()
        #expect(changes.last == 0 && changes.total == 0)
        changes.add(2)
        changes.add(3)
        #expect(changes.last == 3 && changes.total == 5)
        changes.add(0)
        #expect(changes.last == 0 && changes.total == 5)
    }

    @Test func aFailedStatementChangesNothing() {
        var changes = RemoteChanges()
        changes.add(2)
        changes.statementDidFail()
        #expect(changes.last == 0 && changes.total == 2)
    }

    /// The next change must still make a difference: observers learn of it by the total.
    @Test(arguments: [(Int.max, Int(Int32.max)), (1 << 32, Int(Int32.max)), (-1, 0), (Int.min, 0)])
    func wrongCountsAreBounded(count: Int, bound: Int) {
        var changes = RemoteChanges()
        changes.add(count)
        #expect(changes.last == bound && changes.total == bound)
        changes.add(1)
        #expect(changes.last == 1 && changes.total == bound + 1)
    }
}
