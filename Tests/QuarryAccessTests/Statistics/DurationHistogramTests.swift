import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Durations, counted by their size.
@Suite struct DurationHistogramTests {
    @Test func empty() {
        let histogram = DurationHistogram()
        #expect(histogram.count == 0 && histogram.percentile(99) == .zero && histogram.maximum == .zero)
        #expect(histogram.mean == .zero && histogram.buckets.isEmpty)
    }

    @Test func percentiles() {
        var histogram = DurationHistogram()
        for milliseconds in 1...100 { histogram.record(.milliseconds(milliseconds)) }
        #expect(
            histogram.count == 100 && histogram.sum == .milliseconds(5050) && histogram.mean == .microseconds(50_500))
        for (percent, milliseconds) in [(0.0, 1), (1.0, 1), (50.0, 50), (99.0, 99), (100.0, 100), (200.0, 100)] {
            let value = histogram.percentile(percent)
            #expect(value >= .milliseconds(milliseconds) && value <= .milliseconds(milliseconds) * 5 / 4, "\(percent)")
        }
        #expect(histogram.maximum == histogram.percentile(100))
        #expect(histogram.buckets.reduce(0) { $0 + $1.count } == 100)
    }

    /// Each duration is in the bucket whose bounds enclose it, and a bucket is at most a quarter wide.
    @Test func buckets() {
        var random = SeededGenerator()
        for _ in 0..<10_000 {
            let nanoseconds = UInt64.random(
                in: 0...(UInt64(1) << UInt64.random(in: 0...40, using: &random)), using: &random)
            let bucket = DurationHistogram.bucket(nanoseconds)
            let upper = DurationHistogram.upperBound(bucket)
            guard bucket < DurationHistogram.bucketCount - 1 else { continue }
            #expect(nanoseconds <= upper && (bucket == 0 || nanoseconds > DurationHistogram.upperBound(bucket - 1)))
            #expect(Double(upper) <= max(4, Double(nanoseconds) * 1.26), "\(nanoseconds)")
        }
        #expect(DurationHistogram.bucket(.max) == DurationHistogram.bucketCount - 1)
    }

    @Test func mergingAndDifference() {
        var (first, second) = (DurationHistogram(), DurationHistogram())
        first.record(.microseconds(1))
        second.record(.microseconds(1))
        second.record(.seconds(1))
        var sum = first
        sum.merge(second)
        #expect(sum.count == 3 && sum.sum == .microseconds(1_000_002))
        #expect(sum.since(first) == second)
        var unchanged = second
        unchanged.merge(DurationHistogram())
        #expect(unchanged == second && second.since(DurationHistogram()) == second)
        #expect(second.since(second).count == 0)
    }

    @Test func unusualDurations() {
        var histogram = DurationHistogram()
        histogram.record(.seconds(-1))
        histogram.record(.seconds(Int64.max))
        #expect(histogram.count == 2 && histogram.percentile(50) == .zero && histogram.maximum > .seconds(900))
    }
}
