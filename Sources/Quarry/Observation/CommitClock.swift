import QuarryCore

/// Counts the commits of a database, and keeps the changes that a running fetch may have missed.
///
/// A fetch whose snapshot has the number 7 sees the first seven commits. When it ends, `mayHaveChanged` says whether a
/// later commit has changed what it read.
struct CommitClock: Sendable {
    /// The number of the last commit.
    private(set) var number = 0

    /// Whether a commit has begun to show: a read may see the state before or after it.
    private(set) var isCommitting = false

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

    mutating func commitWillHappen() { isCommitting = true }

    mutating func commitDidNotHappen() { isCommitting = false }

    mutating func commitDidHappen(_ changes: DatabaseRegion) {
        isCommitting = false
        number += 1
        guard !beginnings.isEmpty, !changes.isEmpty else { return }
        log.append((number, changes))
        if log.count > Self.capacity { mergePairs() }
    }

    /// A fetch begins: its snapshot will have the returned number, or a later one.
    mutating func fetchWillBegin() -> Int {
        beginnings.append(number)
        return number
    }

    /// A fetch has ended, and has asked `mayHaveChanged`.
    mutating func fetchDidEnd(begunAt number: Int) {
        guard let index = beginnings.firstIndex(of: number) else { return }
        beginnings.swapAt(index, beginnings.count - 1)
        beginnings.removeLast()
        guard let oldest = beginnings.min() else { return log.removeAll(keepingCapacity: true) }
        if let first = log.first, first.number <= oldest { log.removeAll { $0.number <= oldest } }
    }

    /// Whether a commit after a snapshot may have changed a region.
    func mayHaveChanged(_ region: DatabaseRegion, since snapshot: Int) -> Bool {
        log.contains { $0.number > snapshot && region.isModified(by: $0.changes) }
    }

    /// Halves the log. An entry then has the number of the later of two commits, and the changes of both: a fetch
    /// between them may be repeated without need, and no change is missed.
    private mutating func mergePairs() {
        var merged: [(number: Int, changes: DatabaseRegion)] = []
        merged.reserveCapacity(Self.capacity + 1)
        for index in stride(from: 0, to: log.count - 1, by: 2) {
            merged.append((log[index + 1].number, log[index].changes.union(log[index + 1].changes)))
        }
        if !log.count.isMultiple(of: 2), let last = log.last { merged.append(last) }
        log = merged
    }
}
