/// Durations, counted by their size: how many took about a microsecond, about two, and so on.
///
/// ```swift
/// let wait = dbPool.statistics.readers.wait
/// print(wait.percentile(50), wait.percentile(99), wait.maximum)
/// ```
///
/// Each power of two has four buckets, so a percentile is at most a quarter too large. Histograms can be added up and
/// subtracted. An empty one takes no memory, others 1.3 kilobytes.
public struct DurationHistogram: Sendable, Hashable {
    /// The counts by bucket; empty until the first duration.
    private var counts: [UInt64] = []

    /// The number of durations.
    public private(set) var count: UInt64 = 0

    /// The sum of the durations.
    public var sum: Duration { .nanoseconds(Int64(clamping: nanosecondSum)) }

    private var nanosecondSum: UInt64 = 0

    /// An empty histogram.
    public init() {}

    /// The mean duration; zero if there is none.
    public var mean: Duration { count == 0 ? .zero : .nanoseconds(Int64(clamping: nanosecondSum / count)) }

    /// The upper bound of the longest duration; zero if there is none.
    public var maximum: Duration {
        counts.lastIndex { $0 > 0 }.map { .nanoseconds(Int64(clamping: Self.upperBound($0))) } ?? .zero
    }

    /// The duration that a part of the durations don't exceed; zero if there is none.
    ///
    /// ```swift
    /// histogram.percentile(99) // all but one in a hundred took at most that long
    /// ```
    ///
    /// - parameter percent: from 0 to 100.
    /// - returns: the upper bound of the bucket, at most a quarter above the exact value.
    public func percentile(_ percent: Double) -> Duration {
        guard count > 0 else { return .zero }
        let rank = max(1, (min(max(percent, 0), 100) / 100 * Double(count)).rounded(.up))
        var seen: UInt64 = 0
        for (bucket, bucketCount) in counts.enumerated() {
            seen += bucketCount
            if Double(seen) >= rank { return .nanoseconds(Int64(clamping: Self.upperBound(bucket))) }
        }
        return maximum
    }

    /// The buckets that aren't empty: the durations up to `upperBound`, and above the next smaller bucket's.
    public var buckets: [(upperBound: Duration, count: UInt64)] {
        counts.enumerated().filter { $0.element > 0 }.map { bucket, count in
            (.nanoseconds(Int64(clamping: Self.upperBound(bucket))), count)
        }
    }

    // MARK: - Counting

    /// Counts a duration.
    public mutating func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) * 1e-9
        record(nanoseconds: UInt64(max(0, min(nanoseconds, 9e18))))
    }

    mutating func record(nanoseconds: UInt64, times: UInt64 = 1) {
        guard times > 0 else { return }
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.bucketCount) }
        counts[Self.bucket(nanoseconds)] &+= times
        count &+= times
        nanosecondSum &+= nanoseconds &* times
    }

    /// Adds the durations of another histogram.
    public mutating func merge(_ other: DurationHistogram) {
        guard !other.counts.isEmpty else { return }
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.bucketCount) }
        for bucket in counts.indices { counts[bucket] &+= other.counts[bucket] }
        count &+= other.count
        nanosecondSum &+= other.nanosecondSum
    }

    /// The durations that were counted since `earlier`, an earlier value of the same histogram.
    public func since(_ earlier: DurationHistogram) -> DurationHistogram {
        guard !earlier.counts.isEmpty, !counts.isEmpty else { return self }
        var difference = self
        for bucket in counts.indices {
            difference.counts[bucket] -= min(counts[bucket], earlier.counts[bucket])
        }
        difference.count -= min(count, earlier.count)
        difference.nanosecondSum -= min(nanosecondSum, earlier.nanosecondSum)
        return difference
    }

    // MARK: - Buckets

    /// The durations below four nanoseconds have a bucket each; the last bucket has those from 18 minutes on.
    static let bucketCount = 160

    static func bucket(_ nanoseconds: UInt64) -> Int {
        guard nanoseconds >= 4 else { return Int(nanoseconds) }
        let exponent = 63 - nanoseconds.leadingZeroBitCount
        let quarter = Int((nanoseconds >> UInt64(exponent - 2)) & 3)
        return min((exponent - 1) * 4 + quarter, bucketCount - 1)
    }

    /// The largest number of nanoseconds in a bucket.
    static func upperBound(_ bucket: Int) -> UInt64 {
        guard bucket >= 4 else { return UInt64(bucket) }
        let exponent = bucket / 4 + 1
        let quarter = UInt64(bucket % 4)
        return (5 + quarter) << UInt64(exponent - 2) - 1
    }
}

extension DurationHistogram: CustomStringConvertible {
    /// `count 1200, median 0.0001s, …`
    public var description: String {
        "count \(count), 50 %: \(percentile(50)), 99 %: \(percentile(99)), maximum: \(maximum)"
    }
}
