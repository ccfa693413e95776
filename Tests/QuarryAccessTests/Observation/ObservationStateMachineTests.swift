import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The steps of one observation, without threads.
@Suite struct ObservationStateMachineTests {
    var machine = ObservationStateMachine()

    /// An observation with a taken value.
    static func current(_ pace: ObservationPace.Kind? = nil) -> ObservationStateMachine {
        var machine = ObservationStateMachine(pace: pace)
        _ = machine.fetchWillBegin()
        _ = machine.fetchDidSucceed(isOutdated: false)
        _ = machine.valueWasTaken()
        return machine
    }

    @Test mutating func theFirstFetch() {
        #expect(machine.state == .due)
        #expect(machine.fetchWillBegin() == true)
        #expect(machine.fetchDidSucceed(isOutdated: false) == .deliver)
        #expect(machine.state == .delivering)
        #expect(machine.valueWasTaken() == .none)
        #expect(machine.state == .current)
    }

    @Test mutating func aChangeDuringTheFetchIsFetchedOnceTheValueIsTaken() {
        _ = machine.fetchWillBegin()
        #expect(machine.regionDidChange() == .none)
        #expect(machine.fetchDidSucceed(isOutdated: true) == .deliver)
        #expect(machine.state == .outdated)
        #expect(machine.valueWasTaken() == .enqueue)
        #expect(machine.state == .due)
    }

    @Test mutating func changesAreCoalesced() {
        machine = Self.current()
        #expect(machine.regionDidChange() == .enqueue)
        #expect(machine.regionDidChange() == .none)
        _ = machine.fetchWillBegin()
        _ = machine.fetchDidSucceed(isOutdated: false)
        #expect(machine.regionDidChange() == .none)
        #expect(machine.regionDidChange() == .none)
        #expect(machine.state == .outdated)
        #expect(machine.valueWasTaken() == .enqueue)
    }

    @Test mutating func transientErrorsAreRetriedWithGrowingPauses() {
        var pauses: [Int] = []
        for _ in 0..<ObservationStateMachine.maximumRetryCount {
            #expect(machine.fetchWillBegin() == true)
            guard case .retry(let milliseconds) = machine.fetchDidFail(isTransient: true) else {
                Issue.record("not retried")
                return
            }
            pauses.append(milliseconds)
            #expect(machine.retryPauseDidEnd() == .enqueue)
        }
        #expect(pauses == [1, 4, 16, 64, 256])
        _ = machine.fetchWillBegin()
        #expect(machine.fetchDidFail(isTransient: true) == .fail)
        #expect(machine.isEnded)
    }

    @Test mutating func aSuccessForgetsErrors() {
        for _ in 0..<20 {
            _ = machine.fetchWillBegin()
            #expect(machine.fetchDidFail(isTransient: true) == .retry(milliseconds: 1))
            _ = machine.retryPauseDidEnd()
            _ = machine.fetchWillBegin()
            _ = machine.fetchDidSucceed(isOutdated: true)
            #expect(machine.valueWasTaken() == .enqueue)
        }
    }

    @Test mutating func anErrorEndsIt() {
        _ = machine.fetchWillBegin()
        #expect(machine.fetchDidFail(isTransient: false) == .fail)
        #expect(machine.regionDidChange() == .none)
        #expect(machine.fetchWillBegin() == false)
        #expect(machine.end() == false)
    }

    @Test mutating func aBatchThatFailedPutsItBack() {
        _ = machine.fetchWillBegin()
        #expect(machine.fetchDidNotHappen() == .enqueue)
        #expect(machine.state == .due)
    }

    @Test mutating func nothingFollowsItsEnd() {
        _ = machine.fetchWillBegin()
        #expect(machine.end() == true)
        #expect(machine.fetchDidSucceed(isOutdated: true) == .none)
        #expect(machine.fetchDidFail(isTransient: true) == .none)
        #expect(machine.fetchDidNotHappen() == .none)
        #expect(machine.valueWasTaken() == .none)
        #expect(machine.pauseDidEnd() == .none)
        #expect(machine.retryPauseDidEnd() == .none)
        #expect(!machine.isWatching)
    }

    @Test mutating func debouncing() {
        machine = Self.current(.debounce)
        #expect(machine.regionDidChange() == .startPause)
        #expect(machine.regionDidChange() == .extendPause)
        #expect(machine.pauseDidEnd() == .enqueue)
        #expect(machine.state == .due)
    }

    @Test mutating func throttling() {
        machine = Self.current(.throttle(latest: true))
        #expect(machine.isResting)
        #expect(machine.regionDidChange() == .none)
        #expect(machine.state == .pausing(.rest))
        #expect(machine.pauseDidEnd() == .enqueue)
        machine = Self.current(.throttle(latest: true))
        #expect(machine.pauseDidEnd() == .none)
        #expect(machine.regionDidChange() == .enqueue)
    }

    @Test mutating func throttlingWithoutTheLatest() {
        machine = Self.current(.throttle(latest: false))
        #expect(machine.regionDidChange() == .none)
        #expect(machine.state == .current)
        #expect(machine.pauseDidEnd() == .none)
        #expect(machine.regionDidChange() == .enqueue)
    }

    /// The end doesn't overtake a value.
    @Test mutating func closingDuringAFetch() {
        _ = machine.fetchWillBegin()
        #expect(machine.databaseDidClose() == false)
        #expect(machine.fetchDidSucceed(isOutdated: true) == .deliver)
        // The scheduler may take the value before its delivery is known.
        #expect(machine.valueWasTaken() == .enqueue)
        #expect(machine.valueWasHandedOver() == true)
        #expect(machine.isEnded)
    }

    @Test mutating func closingAfterAFetch() {
        _ = machine.fetchWillBegin()
        _ = machine.fetchDidSucceed(isOutdated: false)
        #expect(machine.valueWasHandedOver() == false)
        #expect(machine.databaseDidClose() == true)
        #expect(machine.databaseDidClose() == false)
        #expect(machine.valueWasHandedOver() == false)
    }

    /// A fetch that can't be repeated ends the observation with its error.
    @Test mutating func closingDuringAFetchThatFails() {
        _ = machine.fetchWillBegin()
        #expect(machine.databaseDidClose() == false)
        #expect(machine.fetchDidFail(isTransient: true) == .fail)
    }

    /// The next fetch is refused by the closed database.
    @Test mutating func closingDuringAFetchThatDoesNotHappen() {
        _ = machine.fetchWillBegin()
        #expect(machine.databaseDidClose() == false)
        #expect(machine.fetchDidNotHappen() == .enqueue)
        #expect(machine.fetchWillBegin() == true)
        #expect(machine.fetchDidFail(isTransient: false) == .fail)
    }

    /// The next fetch may begin before the delivery of the last value is known.
    @Test mutating func closingDuringTheNextFetch() {
        _ = machine.fetchWillBegin()
        _ = machine.fetchDidSucceed(isOutdated: true)
        _ = machine.valueWasTaken()
        _ = machine.fetchWillBegin()
        #expect(machine.valueWasHandedOver() == false)
        #expect(machine.databaseDidClose() == false)
        _ = machine.fetchDidSucceed(isOutdated: false)
        #expect(machine.valueWasHandedOver() == true)
    }

    /// Any order of events: a change is always followed by a fetch, and nothing is fetched twice at a time.
    @Test(arguments: 0..<200) func randomEvents(_ round: Int) {
        var generator = SeededGenerator()
        let seed = generator.seed
        let paces: [ObservationPace.Kind?] = [nil, .debounce, .throttle(latest: true)]
        let pace = paces.randomElement(using: &generator) ?? nil
        var machine = ObservationStateMachine(pace: pace)
        var commits = 0
        var seen = -1
        var snapshot = 0
        var line = 1
        for _ in 0..<200 {
            let action: ObservationStateMachine.Action
            switch (Int.random(in: 0..<7, using: &generator), machine.state) {
            case (0, _), (1, _):
                commits += 1
                action = machine.isWatching ? machine.regionDidChange() : .none
            case (2, .due):
                #expect(line == 1, "seed \(seed)")
                line = 0
                #expect(machine.fetchWillBegin() == true, "seed \(seed)")
                snapshot = commits
                action = .none
            case (3, .fetching):
                action = machine.fetchDidSucceed(isOutdated: commits > snapshot)
                seen = snapshot
            case (4, .fetching): action = machine.fetchDidNotHappen()
            case (5, .delivering), (5, .outdated): action = machine.valueWasTaken()
            case (6, .pausing): action = machine.pauseDidEnd()
            default: continue
            }
            if action == .enqueue { line += 1 }
            #expect(line <= 1, "seed \(seed)")
            #expect((machine.state == .due) == (line == 1), "seed \(seed)")
            if machine.state == .current || machine.state == .delivering {
                #expect(seen == commits, "seed \(seed): an outdated value counts as current")
            }
        }
    }
}
