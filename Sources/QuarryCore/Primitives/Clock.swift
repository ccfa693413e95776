#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The system's clocks.
package enum SystemClock {
    /// Seconds since 2001-01-01 00:00:00 UTC.
    package static func secondsSinceReferenceDate() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec - 978_307_200) + Double(time.tv_nsec) * 1e-9
    }

    /// Nanoseconds since 1970-01-01 00:00:00 UTC.
    package static func nanosecondsSinceEpoch() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Nanoseconds of a clock that never goes back.
    package static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Takes about a tenth of a microsecond.
    package static func pause() {
        for _ in 0..<4 { _ = monotonicNanoseconds() }
    }

    /// Waits without sleeping for something that another thread is about to do.
    ///
    /// Each two microseconds it yields. The system may have put the other thread on this processor, which it wouldn't
    /// get before the end: on a busy machine of two processors, writes of one task, which wake a thread each, took 45
    /// microseconds with a 99th percentile of 210, and take 30 and 50. To yield all the time is slower.
    ///
    /// - parameter end: when the wait ends at the latest, in nanoseconds.
    package static func spin(until end: UInt64, while mustWait: () -> Bool) {
        while mustWait(), monotonicNanoseconds() < end {
            for _ in 0..<20 where mustWait() { pause() }
            sched_yield()
        }
    }

    /// Suspends the thread.
    package static func sleep(nanoseconds: UInt64) {
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        nanosleep(&time, nil)
    }
}
