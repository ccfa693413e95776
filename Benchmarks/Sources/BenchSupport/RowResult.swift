/// The result of a row.
package struct RowResult: Sendable {
    package enum Verdict: String, Sendable {
        case ok = "OK"
        case over = "OVER"
        /// The row has no budget, or Quarry didn't run.
        case none = ""
    }

    package let row: BenchRow
    package let samples: [PeerName: Samples]
    /// Allocations an operation. Empty where they can't be counted.
    package let mallocs: [PeerName: Double]
    /// Bytes in the heap that an operation's result keeps. Empty where they aren't measured.
    package let bytesKept: [PeerName: Double]

    /// The median time of an operation in nanoseconds.
    package func median(_ peer: PeerName) -> Double? {
        samples[peer]?.median
    }

    /// The peer's time in multiples of C's: the median of what the rounds say.
    ///
    /// A machine that is slow for a while is so for all peers of a round; a ratio of their medians may compare a slow
    /// round with a fast one.
    package func ratio(_ peer: PeerName) -> Double? {
        guard let times = samples[peer], let c = samples[.c] else { return nil }
        return times.medianRatio(to: c.nanoseconds)
    }

    /// The same of the fastest rounds: what remains of the difference when nothing else disturbs.
    package func ratioOfMinima(_ peer: PeerName) -> Double? {
        guard let time = samples[peer]?.min, let c = samples[.c]?.min else { return nil }
        return time / c
    }

    /// How much of its budget Quarry used: 1 is all of it.
    package var budgetUse: Double? {
        guard let quarry = samples[.quarry] else { return nil }
        return limits.map { quarry.medianRatio(to: $0) }
    }

    package var verdict: Verdict {
        guard let budgetUse else { return .none }
        return budgetUse <= 1 && keepsFewBytes ? .ok : .over
    }

    private var keepsFewBytes: Bool {
        guard let bytes = bytesKept[.quarry], let budget = row.bytesBudget else { return true }
        return bytes <= budget
    }

    /// The budget of an operation in each round, in nanoseconds.
    private var limits: [Double]? {
        switch row.budget {
        case .timesC(let factor): samples[.c]?.nanoseconds.map { $0 * factor }
        case .overC(let nanoseconds): samples[.c]?.nanoseconds.map { $0 + nanoseconds }
        case .timesGRDB(let factor): samples[.grdb]?.nanoseconds.map { $0 * factor }
        case .nanoseconds(let nanoseconds): samples[.quarry]?.nanoseconds.map { _ in nanoseconds }
        case .none: nil
        }
    }
}
