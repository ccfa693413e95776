/// Decides where a read runs, from the durations of earlier reads.
///
/// It keeps an estimate of a high percentile (about the 95th) of the durations. A read that took longer than the
/// estimate raises it by a fifth; any other read lowers it by a hundredth. The two balance where one read in twenty is
/// longer. The estimate forgets old reads this way.
struct ReadAdmission: Sendable, Equatable {
    /// Nanoseconds. Longer reads run on the library's threads. On a busy machine one read in thirty loses its processor
    /// for a millisecond, and that isn't to count.
    static let longestInline = 1_000_000.0

    /// How often reads may ask again, for each thread that can't take one, until a read begins or ends.
    static let patience = 16

    /// The answer to a read.
    enum Answer: Equatable {
        /// It may run where its task is.
        case here
        /// It may soon: as many reads as may run inline do so, and such reads are short. The task yields, and asks
        /// again.
        case soon
        /// It runs on the library's threads.
        case elsewhere
    }

    /// The estimate, in nanoseconds.
    private(set) var estimate: Double

    /// The number of reads that run inline.
    private(set) var inlineCount = 0

    /// The number of reads that may run inline: half as many as Swift's pool has threads.
    let maximumInlineCount: Int

    /// The number of answers `soon` since a read has begun or ended inline.
    private var postponedCount = 0

    init(estimate: Double = 20_000, maximumInlineCount: Int) {
        self.estimate = estimate
        self.maximumInlineCount = max(1, maximumInlineCount)
    }

    /// Whether reads are short enough to run inline.
    var expectsShortReads: Bool { estimate <= Self.longestInline }

    /// Where a read may run. If the answer is `here`, it counts as running until `inlineReadDidEnd`.
    mutating func place() -> Answer {
        guard expectsShortReads else { return .elsewhere }
        guard inlineCount < maximumInlineCount else {
            // Those that run are long after all, or have lost their processor.
            guard postponedCount < Self.patience * maximumInlineCount else { return .elsewhere }
            postponedCount += 1
            return .soon
        }
        inlineCount += 1
        postponedCount = 0
        return .here
    }

    /// - parameter duration: nanoseconds; nil if the read turned out to have to run elsewhere.
    mutating func inlineReadDidEnd(_ duration: UInt64?) {
        inlineCount -= 1
        postponedCount = 0
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
