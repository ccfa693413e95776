import QuarryCore
import Synchronization

/// The threads of the process that wait until they get a connection, and the few tasks that wait while they have one.
/// A thread that would wait for ever gets an error instead.
///
/// An access that finds its connection free never comes here. The lock is taken before those of groups, never while one
/// of those is held.
enum DeadlockDetector {
    private struct Wait {
        let group: ConnectionGroup
        let entry: Int
    }

    private static let waits = Lock<[UInt: Wait]>([:])

    /// The thread that runs is about to wait.
    ///
    /// - returns: the deadlock that its wait would complete; nil if its wait ends.
    static func begin(_ group: ConnectionGroup, _ entry: Int) -> DatabaseError? {
        waits.withLock { waits in
            waits[Database.currentThread] = Wait(group: group, entry: entry)
            let error = deadlock(group, entry, waits)
            // It counts as awake from now on, although its entry is still in the queue: no other wait is refused for it.
            if error != nil { waits[Database.currentThread] = nil }
            return error
        }
    }

    /// The thread that runs has slept for long.
    ///
    /// The last thread of a circle finds it when it falls asleep. This second look is for circles that are overlooked.
    ///
    /// - returns: as `begin`.
    static func lookAgain(_ group: ConnectionGroup, _ entry: Int) -> DatabaseError? {
        let error = begin(group, entry, task: 0)
        if error != nil { overlooked.add(1, ordering: .relaxed) }
        return error
    }

    /// How many threads and tasks are entered as waiting for a group: for tests.
    static func count(on group: ConnectionGroup) -> Int {
        waits.withLock { waits in waits.values.count { $0.group === group } }
    }

    /// How many deadlocks were found late: for tests.
    static var overlookedCount: Int { overlooked.load(ordering: .relaxed) }

    private static let overlooked = Atomic<Int>(0)

    /// The thread that runs has slept.
    static func end() { end(task: Database.currentThread) }

    private static let taskCount = Atomic<UInt>(0)

    /// A number for a task that will wait while it has a connection. It is odd: the numbers of threads are addresses,
    /// which are even.
    static func newTask() -> UInt { taskCount.add(2, ordering: .relaxed).newValue - 1 }

    /// A task is about to wait.
    ///
    /// - parameter task: its number; 0 for one that has no connection, which is asked for the entry alone.
    /// - returns: as for a thread.
    static func begin(_ group: ConnectionGroup, _ entry: Int, task: UInt) -> DatabaseError? {
        waits.withLock { waits in
            if task != 0 { waits[task] = Wait(group: group, entry: entry) }
            return deadlock(group, entry, waits)
        }
    }

    /// A task waits no more.
    static func end(task: UInt) {
        let wait = waits.withLock { $0.removeValue(forKey: task) }
        _ = consume wait
    }

    private static func deadlock(
        _ group: ConnectionGroup, _ entry: Int, _ waits: [UInt: Wait]
    ) -> DatabaseError? {
        // The usual case ends here: an access that has one of the connections doesn't wait.
        guard group.mayNeverServe(isAsleep: { waits[$0] != nil }) else { return nil }
        let start = WaitGraph.Wait(group: ObjectIdentifier(group), entry: entry)
        var last: WaitGraph.Deadlock?
        while true {
            let graph = graph(group, waits)
            guard let deadlock = graph.deadlock(of: start) else { return nil }
            // Lanes are read one after the other, while their accesses go on. A deadlock that two graphs show is of one
            // moment: no thread falls asleep in between, since that takes the lock held here, and each entry has a
            // number of its own.
            if last?.waits.isSubset(of: deadlock.waits) ?? false {
                return DatabaseError(resultCode: .SQLITE_BUSY, message: graph.description(of: deadlock))
            }
            last = deadlock
        }
    }

    private static func graph(_ group: ConnectionGroup, _ waits: [UInt: Wait]) -> WaitGraph {
        var groups = [ObjectIdentifier(group): group]
        return WaitGraph(from: ObjectIdentifier(group)) { thread in
            guard let wait = waits[thread] else { return nil }
            let id = ObjectIdentifier(wait.group)
            groups[id] = wait.group
            return WaitGraph.Wait(group: id, entry: wait.entry)
        } group: { id in
            guard let group = groups[id] else { return nil }
            if let barred = group.barredGroup { groups[ObjectIdentifier(barred)] = barred }
            return group.waitState
        }
    }
}
