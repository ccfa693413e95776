/// The allowed allocations of an operation of Quarry: its present count, and no more.
package struct AllocationThreshold: Sendable {
    /// Blocks an operation.
    package let blocks: Double
    /// Bytes that an operation's result keeps, where that is measured.
    package let bytesKept: Double?
    /// Whether chance decides how much a pass has to do, though one client alone runs it.
    package let isChance: Bool

    private init(_ blocks: Double, bytesKept: Double? = nil, isChance: Bool = false) {
        self.blocks = blocks
        self.bytesKept = bytesKept
        self.isChance = isChance
    }

    /// By row. Counts include SQLite's own: C's are printed next to them when they are checked.
    ///
    /// The fraction of a count is what a pass allocates for itself, over its operations, and SQLite for its pages.
    /// Where clients meet (`/2`, `/8`), chance decides how many of them find no connection, and one that waits
    /// allocates its place in the line. Short accesses on two cores mostly don't wait; now and then a line forms that
    /// doesn't end while all come back at once, so these rows are counted again before they fail. Offloaded accesses of
    /// more tasks than connections mostly wait: there the threshold is what all allocate if each does.
    package static let all: [String: AllocationThreshold] = [
        "1.1": .init(0.01),
        "1.2": .init(1.01),
        "1.3": .init(0.01),
        "2.1": .init(0.01),
        "2.2": .init(1.01),
        "3.1": .init(0.01),
        "3.2": .init(0.01),
        "3.3": .init(0.01),
        "3.4": .init(2.01, bytesKept: 190),
        "3.5": .init(2.01),
        "3.7": .init(2.01),
        "4.1": .init(0.01),
        "4.2": .init(0.01),
        "4.3": .init(0.01),
        "5.1": .init(2.06),
        "5.2": .init(3.06),
        "5.3": .init(2.06),
        "5.4": .init(2.06),
        "5.5": .init(8.6),
        "5.6": .init(4.7),
        "5.7": .init(3.2),
        "5.8": .init(7.1),
        "5.9": .init(3.08),
        "5.10": .init(1.8),
        "6.1": .init(7.51),
        "6.2": .init(7.51),
        "6.3": .init(7.51),
        "6.4": .init(7.51),
        "6.5": .init(9.51),
        "6.6": .init(7.51),
        "6.7": .init(7.51),
        "6.8": .init(7.56),
        "6.9": .init(0.01),
        "7.1/1": .init(0.01),
        "7.1/2": .init(0.5),
        "7.1/8": .init(0.5),
        "7.2/1": .init(0.01),
        "7.2/2": .init(0.5),
        "7.2/8": .init(0.5),
        "7.3/1": .init(0.01),
        "7.3/2": .init(0.5),
        "7.3/8": .init(0.5),
        "7.4/1": .init(0.01),
        "7.4/2": .init(0.5),
        "7.4/8": .init(0.5),
        "7.5": .init(0.01),
        "7.6": .init(0.01),
        "7.7/1": .init(0.04),
        "7.7/2": .init(0.5),
        "7.7/8": .init(0.5),
        "7.8/1": .init(0.04),
        "7.8/2": .init(0.5),
        "7.8/8": .init(0.5),
        "7.9/1": .init(0.04),
        "7.9/2": .init(0.5),
        "7.9/8": .init(0.5),
        "7.9o/1": .init(1.1),
        "7.9o/2": .init(1.5),
        "7.9o/8": .init(2),
        "7.10/1": .init(1.1),
        "7.10/2": .init(2),
        "7.10/8": .init(6),
        "8.1": .init(4.01),
        "8.2": .init(9.01),
        "8.3": .init(19.01),
        "8.4": .init(52.01),
        "8.5": .init(11.01),
        "8.6": .init(12.01),
        "8.7": .init(11.01),
        "8.7n": .init(76.55),
        "8.8": .init(14.01),
        "8.8c": .init(14.01),
        "9.1": .init(0.42),
        "9.2": .init(0.28),
        // A fetch, its access and its delivery.
        "10.1": .init(36),
        "10.2": .init(27),
        "10.3": .init(1_613.5),
        "10.5": .init(8.1),
        "10.5p": .init(2.1),
        // Chance decides how many fetches run meanwhile: 8.1 blocks without one, and 5.4 more for each batch of them.
        "10.6": .init(14, isChance: true),
        "10.6p": .init(30, isChance: true),
        // Each subscriber reads each commit before the next: the most that it can allocate. While writes follow
        // closely, it takes several at once. At times a wake-up finds more to reuse: a hundredth is chance.
        "10.7": .init(16.2, isChance: true),
        "10.8": .init(72, isChance: true),
        "10.9": .init(543, isChance: true),
        "10.10": .init(26.3, isChance: true),
        "10.11": .init(82, isChance: true),
        "10.12": .init(553, isChance: true),
        "10.13": .init(13_009.5),
        "11.1": .init(3.01),
        "11.2": .init(380.1),
        "11.3": .init(777.1),
        "12.1": .init(0.01),
        "12.2": .init(0.01),
        "12.3": .init(0.01),
        "12.4": .init(2.01),
        "12.5": .init(2.01),
        "12.6": .init(1.01),
        "13.1": .init(847.8),
        "13.2": .init(847.9),
    ]
}
