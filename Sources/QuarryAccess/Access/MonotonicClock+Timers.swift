import Dispatch
import QuarryCore

extension MonotonicClock {
    /// Runs `body` on another thread after some nanoseconds.
    ///
    /// It is a block, so that it isn't allocated twice: Dispatch takes blocks.
    func after(_ nanoseconds: UInt64, _ body: @escaping @Sendable @convention(block) () -> Void) {
        guard let time else {
            DispatchQueue.global().asyncAfter(
                deadline: .now() + .nanoseconds(Int(clamping: nanoseconds)), execute: body)
            return
        }
        // The caller may hold a lock that `body` takes.
        if !time.at(time.now &+ nanoseconds, { body() }) { DispatchQueue.global().async(execute: body) }
    }
}

extension ConditionLock {
    /// Releases the mutex, sleeps until another thread signals, and takes the mutex again. It may also wake without a
    /// signal: with a clock that a test moves, it looks at the clock each millisecond.
    ///
    /// - parameter deadline: nanoseconds of the clock; nil for no deadline.
    /// - returns: false at the deadline.
    func wait(until deadline: UInt64?, _ clock: MonotonicClock) -> Bool {
        guard let deadline, clock.time != nil else { return wait(until: deadline) }
        guard clock.now < deadline else { return false }
        _ = wait(until: SystemClock.monotonicNanoseconds() &+ 1_000_000)
        return true
    }
}
