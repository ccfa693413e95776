import QuarryCore
import Synchronization

/// Where asynchronous accesses run, once they have their connection. They wait for it by suspension, always.
///
/// ```swift
/// var config = Configuration()
/// config.asyncExecution = .offloaded
/// ```
///
/// A hop to another thread and back costs several times what a short read takes; a read that is long, or a write that
/// waits for the disk, must not hold a thread of Swift's pool.
public enum AsyncExecution: Sendable {
    /// In memory: at the caller's, however long; `offloaded` suits a database in memory with long statements. On files:
    /// writes on the library's threads; reads at the caller's as long as this database's reads turn out to be short and
    /// few run there at a time, otherwise on the library's threads.
    case automatic

    /// Where the caller runs. Accesses that wait for all others (barriers), and those that call back, run on the
    /// library's threads.
    case inline

    /// Always on the library's threads.
    case offloaded
}

/// Decides where a read runs, from how long reads have taken.
///
/// It keeps an estimate of a high percentile (about the 95th) of the durations, which goes up by a fifth for each read
/// that took longer, and down by a hundredth for each that didn't: the two balance where one read in twenty is longer.
/// Old reads are forgotten that way.
struct ReadAdmission: Sendable, Equatable {
    /// Nanoseconds. Reads that take longer run on the library's threads: a hop costs 10 to 20 us there and back.
    static let longestInline = 100_000.0

    /// Nanoseconds below which a read costs less than the hop: then any number of them runs inline.
    static let shorterThanHop = 10_000.0

    /// The estimate, in nanoseconds.
    private(set) var estimate: Double

    /// How many reads run inline.
    private(set) var inlineCount = 0

    /// How many may: half of the threads that Swift's pool has.
    let maximumInlineCount: Int

    init(estimate: Double = 20_000, maximumInlineCount: Int) {
        self.estimate = estimate
        self.maximumInlineCount = max(1, maximumInlineCount)
    }

    /// Whether reads are short enough to run inline.
    var expectsShortReads: Bool { estimate <= Self.longestInline }

    /// Whether a read may run inline; it counts as running then, until `inlineReadDidEnd`.
    mutating func admitsInline() -> Bool {
        guard expectsShortReads else { return false }
        guard estimate <= Self.shorterThanHop || inlineCount < maximumInlineCount else { return false }
        inlineCount += 1
        return true
    }

    /// - parameter duration: nanoseconds; nil if it turned out that the read has to run elsewhere.
    mutating func inlineReadDidEnd(_ duration: UInt64?) {
        inlineCount -= 1
        if let duration { record(duration) }
    }

    /// A read has taken that many nanoseconds, wherever it ran.
    mutating func record(_ duration: UInt64) {
        if Double(duration) > estimate {
            estimate = min(estimate * 1.2, 1e12)
        } else {
            estimate = max(estimate * 0.99, 100)
        }
    }
}
