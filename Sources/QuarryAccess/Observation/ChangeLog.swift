import QuarryCore

/// Keeps the changes that a running fetch may have missed. A value.
///
/// A fetch whose snapshot has the number 7 sees the first seven commits. When it ends, `mayHaveChanged` says whether a
/// later commit has changed what it read.
struct ChangeLog: Sendable {
    /// The changes of the commits after the oldest running fetch, in order.
    private var log: [(number: Int, changes: DatabaseRegion)] = []

    /// The numbers at which the running fetches have begun.
    private var beginnings: [Int] = []

    /// How many entries the log has at most.
    static let capacity = 32

    /// Whether a fetch is running.
    var isKeepingChanges: Bool { !beginnings.isEmpty }

    /// The number of kept entries.
    var logCount: Int { log.count }

    mutating func commitDidHappen(_ changes: DatabaseRegion, number: Int) {
        guard !beginnings.isEmpty, !changes.isEmpty else { return }
        log.append((number, changes))
        if log.count > Self.capacity { mergePairs() }
    }

    /// A fetch begins: its snapshot will have this number, or a later one.
    mutating func fetchWillBegin(at number: Int) { beginnings.append(number) }

    /// A fetch has ended, and has asked `mayHaveChanged`.
    mutating func fetchDidEnd(begunAt number: Int) {
        guard let index = beginnings.firstIndex(of: number) else { return }
        beginnings.swapAt(index, beginnings.count - 1)
        beginnings.removeLast()
        guard let oldest = beginnings.min() else { return log.removeAll(keepingCapacity: true) }
        log.removeAll { $0.number <= oldest }
    }

    /// Whether a commit after a snapshot may have changed a region.
    func mayHaveChanged(_ region: DatabaseRegion, since snapshot: Int) -> Bool {
        log.contains { $0.number > snapshot && region.isModified(by: $0.changes) }
    }

    /// Halves the log. An entry then has the number of the later of two commits, and the changes of both: a fetch
    /// between them may be repeated without need, and no change is missed.
    private mutating func mergePairs() {
        // Two connections of one database in memory may report their commits in either order.
        log.sort { $0.number < $1.number }
        var merged: [(number: Int, changes: DatabaseRegion)] = []
        merged.reserveCapacity(Self.capacity + 1)
        for index in stride(from: 0, to: log.count - 1, by: 2) {
            merged.append((log[index + 1].number, log[index].changes.union(log[index + 1].changes)))
        }
        if !log.count.isMultiple(of: 2), let last = log.last { merged.append(last) }
        log = merged
    }
}
