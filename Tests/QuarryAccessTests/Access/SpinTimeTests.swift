import Quarry
import Testing

@testable import QuarryAccess

/// How long a thread without work looks for some.
@Suite struct SpinTimeTests {
    var time = SpinTime()

    /// A thread that looks from `now` on finds nothing.
    private mutating func spinInVain(from now: UInt64) -> UInt64 {
        let end = time.spinWillBegin(now: now)
        time.spinDidEnd(hasFoundJob: false)
        return end - now
    }

    @Test mutating func aThreadThatWasWokenSoonLooksLongerTheNextTime() {
        #expect(spinInVain(from: 1_000_000) == SpinTime.shortest)
        time.threadIsWoken(now: 1_074_000)
        #expect(time.spinWillBegin(now: 1_100_000) == 1_100_000 + SpinTime.longest)
    }

    @Test mutating func oneThatWasWokenLateDoesNot() {
        #expect(spinInVain(from: 1_000_000) == SpinTime.shortest)
        time.threadIsWoken(now: 1_075_000)
        #expect(spinInVain(from: 2_000_000) == SpinTime.shortest)
    }

    @Test mutating func itGoesOnAsLongAsItFindsJobs() {
        #expect(spinInVain(from: 1_000_000) == SpinTime.shortest)
        time.threadIsWoken(now: 1_030_000)
        for now in stride(from: UInt64(2_000_000), to: 3_000_000, by: 100_000) {
            #expect(time.spinWillBegin(now: now) == now + SpinTime.longest)
            time.spinDidEnd(hasFoundJob: true)
        }
        #expect(spinInVain(from: 3_000_000) == SpinTime.longest)
        #expect(spinInVain(from: 4_000_000) == SpinTime.shortest)
    }

    @Test mutating func theFirstJobOfAllIsNoReason() {
        time.threadIsWoken(now: 1_000_000)
        #expect(spinInVain(from: 2_000_000) == SpinTime.shortest)
    }
}
