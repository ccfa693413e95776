/// Decides where a read runs, from the durations of earlier reads.
///
/// It keeps their average, in which each read counts for a hundred and twenty-eighth, and so forgets old reads. On a
/// busy machine one read in thirty loses its processor for a millisecond: a high percentile would take that for the
/// duration of reads.
struct ReadAdmission: Sendable, Equatable {
    /// Nanoseconds. Reads that take longer on average run on the library's threads.
    static let longestInline = 1_000_000.0

    /// Nanoseconds. Of reads that take longer on average, as many as may run inline are a crowd: the library's threads
    /// run them and the next one at the same time, and one hop costs them little.
    static let longestInCrowd = 100_000.0

    /// The number of reads that ask again at the same time, of which the library's threads run more in the same time
    /// than Swift's threads would, which meanwhile prepare the next ones.
    static let crowd = 8

    /// The number of reads in a row that find few accesses before the crowd is believed to have gone.
    static let calm = 16

    /// Nanoseconds. A read that takes longer counts as this: a single one says little of the others, and it takes one
    /// read in twenty to end inline reads.
    static let longestCounted = 20_000_000.0

    /// The part of each read in the average.
    static let weight = 1.0 / 128

    /// How often reads may ask again, for each thread that can't take one, until a read begins or ends.
    static let patience = 16

    /// The answer to a read.
    enum Answer: Equatable {
        /// It may run where its task is.
        case here
        /// It may soon: as many reads as may run inline do so, and such reads are short. The task yields, and asks
        /// again. `askAgain` has to follow.
        case soon
        /// It runs on the library's threads.
        case elsewhere
    }

    /// How many reads there are.
    enum Traffic: Equatable {
        /// Reads run inline.
        case light
        /// Reads run on the library's threads, until `calm` of them in a row find few accesses: less than two, and less
        /// than there are places.
        case crowded(calmCount: Int)
    }

    private(set) var traffic = Traffic.light

    /// The average duration, in nanoseconds.
    private(set) var average: Double

    /// The number of reads that run inline.
    private(set) var inlineCount = 0

    /// The number of reads that may run inline: half as many as Swift's pool has threads.
    let maximumInlineCount: Int

    /// The number of reads that will ask again.
    private(set) var askingCount = 0

    /// The number of answers `soon` since a read has begun or ended inline.
    private var postponedCount = 0

    init(average: Double = 20_000, maximumInlineCount: Int) {
        self.average = average
        self.maximumInlineCount = max(1, maximumInlineCount)
    }

    /// Whether reads are short enough to run inline.
    var expectsShortReads: Bool { average <= Self.longestInline }

    /// Whether a read that begins now runs inline, if there is a place.
    ///
    /// - parameter accessCount: the number of accesses of the connections that run or wait. Called if it matters.
    mutating func expectsInlineRead(accessCount: () -> Int) -> Bool {
        guard expectsShortReads else { return false }
        traffic = trafficWithRead(accessCount: accessCount)
        return traffic == .light
    }

    /// Where a read may run. If the answer is `here`, it counts as running until `inlineReadDidEnd`.
    ///
    /// - parameter mayAsk: whether the answer may be `soon`. Asked if it matters.
    mutating func place(mayAsk: @autoclosure () -> Bool = true, accessCount: () -> Int) -> Answer {
        guard expectsInlineRead(accessCount: accessCount) else { return .elsewhere }
        guard inlineCount < maximumInlineCount else {
            // The reads that run are long after all, or have lost their processor.
            guard mayAsk(), postponedCount < Self.patience * maximumInlineCount else { return .elsewhere }
            postponedCount += 1
            askingCount += 1
            return .soon
        }
        inlineCount += 1
        postponedCount = 0
        return .here
    }

    /// Where a read may run that had the answer `soon`.
    mutating func askAgain(accessCount: () -> Int) -> Answer {
        askingCount -= 1
        return place(accessCount: accessCount)
    }

    private func trafficWithRead(accessCount: () -> Int) -> Traffic {
        switch traffic {
        case .light:
            let isCrowd =
                askingCount >= Self.crowd || (average > Self.longestInCrowd && accessCount() >= maximumInlineCount)
            return isCrowd ? .crowded(calmCount: 0) : .light
        case .crowded(let calmCount):
            guard accessCount() < min(2, maximumInlineCount) else { return .crowded(calmCount: 0) }
            return calmCount + 1 < Self.calm ? .crowded(calmCount: calmCount + 1) : .light
        }
    }

    /// - parameter duration: nanoseconds; nil if the read turned out to have to run elsewhere.
    mutating func inlineReadDidEnd(_ duration: UInt64?) {
        inlineCount -= 1
        postponedCount = 0
        if let duration { record(duration) }
    }

    /// Takes the duration of a read, in nanoseconds, into the average.
    mutating func record(_ duration: UInt64) {
        average += (min(Double(duration), Self.longestCounted) - average) * Self.weight
    }
}
