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

    /// Suspends the thread.
    package static func sleep(nanoseconds: UInt64) {
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        nanosleep(&time, nil)
    }
}
