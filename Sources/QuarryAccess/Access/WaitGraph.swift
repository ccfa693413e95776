/// The wait-for graph of connection groups, as a value: finds a wait that would never end.
///
/// A thread that has one connection may wait for another: a read that writes, a write that reads, a backup from pool to
/// pool. If several such threads wait for each other's connections, none continues. The graph is a copy of the groups
/// and the waiting threads, gathered from the last wait, which completes a deadlock and is refused. So the waits before
/// it never form a deadlock.
///
/// The search starts from the end: an access that doesn't wait ends some day, and releases its connections. The waits
/// that these connections serve end too, and so on. All other waits never end.
struct WaitGraph {
    typealias GroupID = ObjectIdentifier

    /// A waiter's position in a group's queue.
    struct QueueEntry {
        let id: Int
        let isBarrier: Bool
        /// Whether the connection that a barrier keeps is lent to it.
        let borrows: Bool
    }

    struct Group {
        /// The name of the connections in messages: "the writer of players.sqlite".
        var name: String
        /// The threads whose accesses have connections; 0 for an access that has not begun.
        var threads: [UInt] = []
        var availableCount = 0
        /// Whether a barrier keeps all connections.
        var hasBarrier = false
        /// The thread that has the barrier, if its access runs.
        var barrierThread: UInt = 0
        /// The group that a barrier of this group also waits for.
        var barredGroup: GroupID?
        var queue: [QueueEntry] = []
    }

    /// The queue entry of a waiting thread.
    struct Wait: Hashable {
        let group: GroupID
        let entry: Int
    }

    private(set) var groups: [GroupID: Group] = [:]
    private(set) var waits: [UInt: Wait] = [:]

    /// Gathers the groups and waits that a wait in a group depends on.
    ///
    /// - parameter wait: the wait of a thread; nil if it doesn't wait.
    /// - parameter group: the copy of a group.
    init(from start: GroupID, wait: (UInt) -> Wait?, group: (GroupID) -> Group?) {
        var rest = [start]
        while let id = rest.popLast() {
            guard groups[id] == nil, let found = group(id) else { continue }
            groups[id] = found
            if let barred = found.barredGroup { rest.append(barred) }
            for thread in found.threads + [found.barrierThread] where thread != 0 {
                guard let wait = wait(thread) else { continue }
                waits[thread] = wait
                rest.append(wait.group)
            }
        }
    }

    /// Waits that never end.
    struct Deadlock {
        /// All waits that never end.
        let waits: Set<Wait>
        /// Some of them: each waits for the next, the last one for the first.
        let path: [Wait]
    }

    /// The deadlock that a wait is part of; nil if the wait ends.
    func deadlock(of start: Wait) -> Deadlock? {
        var ending: Set<Wait> = []
        let candidates = Set(waits.values).union(groups.keys.compactMap { barrierWait(of: $0) }).union([start])
        var isChanged = true
        while isChanged, !ending.contains(start) {
            isChanged = false
            for wait in candidates where !ending.contains(wait) && ends(wait, ending) {
                ending.insert(wait)
                isChanged = true
            }
        }
        guard !ending.contains(start) else { return nil }
        var path = [start]
        while let last = path.last, let next = obstacle(of: last, ending, start), !path.contains(next) {
            path.append(next)
        }
        return Deadlock(waits: candidates.subtracting(ending), path: path)
    }

    /// The message for a deadlock: "deadlock: a reader of … is in use by an access that waits for …".
    func description(of deadlock: Deadlock) -> String {
        let names = deadlock.path.compactMap { groups[$0.group]?.name }
        return "deadlock: " + names.joined(separator: " is in use by an access that waits for ")
            + ", which is in use by an access that waits for this one"
    }

    // MARK: - Inside

    /// The wait of a group's barrier in the barred group; nil if the barrier doesn't wait.
    private func barrierWait(of group: GroupID) -> Wait? {
        guard let group = groups[group], group.hasBarrier, let barred = group.barredGroup else { return nil }
        return groups[barred]?.queue.first(where: \.isBarrier).map { Wait(group: barred, entry: $0.id) }
    }

    /// Whether a wait ends, if some other waits do.
    private func ends(_ wait: Wait, _ ending: Set<Wait>) -> Bool {
        guard let group = groups[wait.group], let index = group.queue.firstIndex(where: { $0.id == wait.entry }) else {
            return true  // It has been served.
        }
        if group.hasBarrier, !group.queue[index].borrows {
            // A lent connection has to come back, even if the barrier gives up.
            guard group.threads.allSatisfy({ ends(thread: $0, ending) }) else { return false }
            if let wait = barrierWait(of: wait.group) { return ending.contains(wait) }
            return ends(thread: group.barrierThread, ending)
        }
        if group.queue[...index].contains(where: \.isBarrier), !group.hasBarrier {
            return group.threads.allSatisfy { ends(thread: $0, ending) }
        }
        return group.availableCount > 0 || group.threads.contains { ends(thread: $0, ending) }
    }

    private func ends(thread: UInt, _ ending: Set<Wait>) -> Bool {
        waits[thread].map { ending.contains($0) } ?? true
    }

    /// The wait that a wait depends on; if there are several, the one that closes the circle.
    private func obstacle(of wait: Wait, _ ending: Set<Wait>, _ start: Wait) -> Wait? {
        guard let group = groups[wait.group] else { return nil }
        let borrows = group.queue.contains { $0.id == wait.entry && $0.borrows }
        if group.hasBarrier, !borrows, let wait = barrierWait(of: wait.group) ?? waits[group.barrierThread],
            !ending.contains(wait)
        {
            return wait
        }
        let obstacles = group.threads.compactMap { waits[$0] }.filter { !ending.contains($0) }
        return obstacles.contains(start) ? start : obstacles.first
    }
}
