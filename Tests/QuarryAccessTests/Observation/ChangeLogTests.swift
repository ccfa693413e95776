import Quarry
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Which commits a fetch may have missed.
@Suite struct ChangeLogTests {
    var log = ChangeLog()
    var number = 0

    private mutating func commit(_ changes: DatabaseRegion) {
        number += 1
        log.commitDidHappen(changes, number: number)
    }

    private mutating func beginFetch() -> Int {
        log.fetchWillBegin(at: number)
        return number
    }

    @Test mutating func aFetchMissesLaterCommitsOfItsRegion() {
        commit(.t)
        let snapshot = beginFetch()
        #expect(!log.mayHaveChanged(.t, since: snapshot))
        commit(.other)
        #expect(!log.mayHaveChanged(.t, since: snapshot))
        commit(.t)
        #expect(log.mayHaveChanged(.t, since: snapshot))
        #expect(!log.mayHaveChanged(.t, since: number))
    }

    @Test mutating func nothingIsKeptWithoutFetches() {
        commit(.t)
        #expect(log.logCount == 0 && !log.isKeepingChanges)
        let first = beginFetch()
        commit(.t)
        let second = beginFetch()
        commit(.t)
        #expect(log.logCount == 2 && log.isKeepingChanges)
        log.fetchDidEnd(begunAt: first)
        #expect(log.logCount == 1)
        log.fetchDidEnd(begunAt: second)
        #expect(log.logCount == 0 && !log.isKeepingChanges)
    }

    @Test mutating func theLogIsBoundedAndMissesNothing() {
        let snapshot = beginFetch()
        commit(.other)
        for _ in 0..<1_000 { commit(.t) }
        #expect(log.logCount <= ChangeLog.capacity)
        #expect(log.mayHaveChanged(.other, since: snapshot))
        #expect(log.mayHaveChanged(.t, since: 999))
        #expect(!log.mayHaveChanged(.t, since: 1_001))
    }

    @Test mutating func commitsInAnyOrderAreFound() {
        let snapshot = beginFetch()
        for number in (1...ChangeLog.capacity + 1).reversed() { log.commitDidHappen(.t, number: number) }
        #expect(log.mayHaveChanged(.t, since: snapshot))
        #expect(log.mayHaveChanged(.t, since: ChangeLog.capacity))
        #expect(!log.mayHaveChanged(.t, since: ChangeLog.capacity + 1))
    }

    @Test mutating func commitsWithoutChangesAreNotKept() {
        let snapshot = beginFetch()
        commit(DatabaseRegion())
        #expect(log.logCount == 0)
        #expect(!log.mayHaveChanged(.fullDatabase, since: snapshot))
    }
}
