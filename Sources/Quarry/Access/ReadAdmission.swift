/// Decides where a read runs, from the durations of earlier reads.
///
/// It keeps an estimate of a high percentile (about the 95th) of the durations. A read that took longer than the
/// estimate raises it by a fifth; any other read lowers it by a hundredth. The two balance where one read in twenty is
/// longer. The estimate forgets old reads this way.
struct ReadAdmission: Sendable, Equatable {
    /// Nanoseconds. Longer reads run on the library's threads: a hop there and back costs 10 to 20 us.
    static let longestInline = 100_000.0

    /// Nanoseconds below which a read costs less than the hop. Any number of such reads runs inline.
    static let shorterThanHop = 10_000.0

    /// The estimate, in nanoseconds.
    private(set) var estimate: Double

    /// The number of reads that run inline.
    private(set) var inlineCount = 0

    /// The number of reads that may run inline: half as many as Swift's pool has threads.
    let maximumInlineCount: Int

    init(estimate: Double = 20_000, maximumInlineCount: Int) {
        self.estimate = estimate
        self.maximumInlineCount = max(1, maximumInlineCount)
    }

    /// Whether reads are short enough to run inline.
    var expectsShortReads: Bool { estimate <= Self.longestInline }

    /// Whether a read may run inline. If so, it counts as running until `inlineReadDidEnd`.
    mutating func admitsInline() -> Bool {
        guard expectsShortReads else { return false }
        guard estimate <= Self.shorterThanHop || inlineCount < maximumInlineCount else { return false }
        inlineCount += 1
        return true
    }

    /// - parameter duration: nanoseconds; nil if the read turned out to have to run elsewhere.
    mutating func inlineReadDidEnd(_ duration: UInt64?) {
        inlineCount -= 1
        if let duration { record(duration) }
    }

    /// Takes the duration of a read, in nanoseconds, into the estimate.
    mutating func record(_ duration: UInt64) {
        if Double(duration) > estimate {
            estimate = min(estimate * 1.2, 1e12)
        } else {
            estimate = max(estimate * 0.99, 100)
        }
    }
}
