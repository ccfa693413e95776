import Testing

@testable import QuarryCore

/// The times at which a statement and its access must end, as values.
@Suite struct DeadlinesTests {
    private func deadline(_ milliseconds: Int, _ subject: AccessDeadline.Subject = .access) -> AccessDeadline {
        AccessDeadline(subject, after: .milliseconds(milliseconds), now: 0)
    }

    @Test func durationsInNanoseconds() {
        #expect(Duration.milliseconds(2).nanoseconds == 2_000_000)
        #expect(Duration.nanoseconds(1).nanoseconds == 1)
        #expect(Duration.zero.nanoseconds == 0)
        #expect(Duration.milliseconds(-1).nanoseconds == 0)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(
            Duration(secondsComponent: 18_446_744_073, attosecondsComponent: 709_551_615_000_000_000)
                .nanoseconds == .max)
        #expect(
            Duration(secondsComponent: 18_446_744_073, attosecondsComponent: 709_551_616_000_000_000)
                .nanoseconds == .max)
        #expect(AccessDeadline(after: .seconds(Int64.max), now: 7).end == .max)
        #expect(AccessDeadline(after: .seconds(-3), now: 7).end == 7)
    }

    /// Lengths that a product with 10⁻¹⁸ isn't.
    @Test(arguments: [(30, "0.03 seconds"), (70, "0.07 seconds"), (1_100, "1.1 seconds"), (60_000, "60.0 seconds")])
    func lengthsInWords(_ milliseconds: Int, _ text: String) {
        #expect(deadline(milliseconds).text == text)
    }

    @Test func noDeadlineIsSet() {
        var deadlines = Deadlines()
        #expect(!deadlines.isSet)
        #expect(deadlines.statementWillStart(isCommit: false, now: 5) == nil)
        #expect(deadlines.takeError(isInterruption: true) == nil)
    }

    @Test func theFirstDeadlineCounts() {
        var deadlines = Deadlines()
        deadlines.statementLimit = 0.002
        _ = deadlines.narrow(to: deadline(3))
        #expect(deadlines.isSet)
        #expect(deadlines.statementWillStart(isCommit: false, now: 0) == nil)
        #expect(deadlines.timeLeft(now: 500_000) { true } == 1_500_000)
        #expect(deadlines.timeLeft(now: 2_000_000) { true } == 0)
        #expect(
            deadlines.takeError(isInterruption: true)?.message == "statement timeout: it ran longer than 0.002 seconds")
        #expect(deadlines.takeError(isInterruption: true) == nil, "it is taken")
        #expect(deadlines.statementWillStart(isCommit: false, now: 2_500_000) == nil)
        #expect(deadlines.timeLeft(now: 2_600_000) { true } == 400_000)
        #expect(deadlines.timeLeft(now: 3_000_000) { true } == 0)
        let error = deadlines.takeError(isInterruption: true)
        #expect(error?.extendedResultCode == .SQLITE_INTERRUPT)
        #expect(error?.message == "access timeout: it ran longer than 0.003 seconds")
        #expect(deadlines.statementWillStart(isCommit: false, now: 3_000_000) == deadline(3))
    }

    /// A change whose interruption would harm others goes on for as long again.
    @Test func overruns() {
        var deadlines = Deadlines()
        deadlines.statementLimit = 0.002
        _ = deadlines.statementWillStart(isCommit: false, now: 1_000_000)
        #expect(!deadlines.mayOverrun(now: 1_000_000), "no deadline has passed")
        #expect(deadlines.timeLeft(now: 3_000_000) { true } == 0)
        #expect(deadlines.mayOverrun(now: 3_000_000) && deadlines.mayOverrun(now: 4_999_999))
        #expect(!deadlines.mayOverrun(now: 5_000_000))
        _ = deadlines.narrow(to: deadline(1))
        #expect(deadlines.timeLeft(now: 3_000_000) { true } == 0)
        #expect(!deadlines.mayOverrun(now: 3_000_000), "an access must end")
    }

    @Test func waitsForLocks() {
        var deadlines = Deadlines()
        deadlines.statementLimit = 0.002
        _ = deadlines.statementWillStart(isCommit: false, now: 0)
        #expect(deadlines.timeLeft(now: 2_000_000) { false } == UInt64.max - 2_000_000, "no statement runs")
        #expect(deadlines.timeLeft(now: 2_000_000) { true } == 0)
        let ofStatement = deadlines.takeError(isInterruption: false)
        #expect(ofStatement?.extendedResultCode == .SQLITE_INTERRUPT)
        #expect(ofStatement?.message == "statement timeout: it waited for a lock for longer than 0.002 seconds")
        deadlines.restore(deadline(1))
        #expect(deadlines.timeLeft(now: 2_000_000) { false } == 0, "an access ends without a statement, too")
        let ofAccess = deadlines.takeError(isInterruption: false)
        #expect(ofAccess?.extendedResultCode == .SQLITE_BUSY)
        #expect(ofAccess?.message == "access timeout: it waited for a lock for longer than 0.001 seconds")
    }

    @Test func aLaterDeadlineDoesNotReplaceAnEarlierOne() {
        var deadlines = Deadlines()
        let outer = deadlines.narrow(to: deadline(2))
        #expect(outer == nil)
        let first = deadlines.narrow(to: deadline(1, .untrustedSQL))
        #expect(first == deadline(2))
        #expect(deadlines.access == deadline(1, .untrustedSQL))
        let second = deadlines.narrow(to: deadline(5, .untrustedSQL))
        #expect(deadlines.access == deadline(1, .untrustedSQL))
        deadlines.restore(second)
        deadlines.restore(first)
        #expect(deadlines.access == deadline(2))
        deadlines.restore(outer)
        #expect(!deadlines.isSet)
    }

    @Test func commits() {
        var deadlines = Deadlines()
        _ = deadlines.narrow(to: deadline(1))
        #expect(deadlines.statementWillStart(isCommit: true, now: 0) == nil)
        #expect(deadlines.isCommitting)
        #expect(deadlines.statementWillStart(isCommit: false, now: 0) == nil)
        #expect(!deadlines.isCommitting)
    }
}
