internal import Metrics
internal import Synchronization

/// An instrument that can print itself.
protocol PrometheusInstrument: AnyObject, Sendable {
    /// - parameter labels: without braces; empty if there are none.
    func text(named name: String, labels: String) -> String
}

/// A counter or a gauge.
final class PrometheusNumber: PrometheusInstrument, CounterHandler, FloatingPointCounterHandler, MeterHandler,
    RecorderHandler
{
    private let value = Mutex(0.0)

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func set(_ new: Int64) { set(Double(new)) }
    func set(_ new: Double) { value.withLock { $0 = new } }
    func record(_ new: Int64) { set(Double(new)) }
    func record(_ new: Double) { set(new) }
    func reset() { set(0.0) }

    func text(named name: String, labels: String) -> String {
        "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value.withLock(\.self).prometheus)\n"
    }
}

/// A histogram with fixed bounds.
final class PrometheusHistogram: PrometheusInstrument, TimerHandler, RecorderHandler {
    /// From a tenth of a millisecond to ten seconds.
    static let seconds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    static let counts = [0.0, 1, 2, 5, 10, 20, 50, 100, 1_000, 10_000]

    private struct State {
        /// The values in each bucket alone, those above the last bound at the end.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func text(named name: String, labels: String) -> String {
        let state = state.withLock(\.self)
        let prefix = labels.isEmpty ? "" : labels + ","
        var count = 0
        var lines = ""
        for (bound, bucket) in zip(bounds.map(\.prometheus) + ["+Inf"], state.counts) {
            count += bucket
            lines += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(count)\n"
        }
        let braces = labels.isEmpty ? "" : "{\(labels)}"
        return lines + "\(name)_sum\(braces) \(state.sum.prometheus)\n\(name)_count\(braces) \(count)\n"
    }
}

extension Double {
    /// As Go reads it: without `.0`, and with the names of the numbers that are none.
    fileprivate var prometheus: String {
        if isNaN { return "NaN" }
        if isInfinite { return self > 0 ? "+Inf" : "-Inf" }
        guard let whole = Int64(exactly: self) else { return "\(self)" }
        return "\(whole)"
    }
}
