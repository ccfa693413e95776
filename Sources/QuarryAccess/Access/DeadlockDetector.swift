import QuarryCore
import Synchronization

/// Knows the threads of the process that wait for a connection, and the few tasks that wait while they have one. A wait
/// that would never end receives an error instead.
///
/// An access that finds its connection free never comes here. This lock is taken before the locks of groups, never
/// while one of them is held.
enum DeadlockDetector {
    private struct Wait {
        let group: ConnectionGroup
        let entry: Int
    }

    private static let waits = Lock<[UInt: Wait]>([:])

    /// This thread is about to wait.
    ///
    /// - returns: the deadlock that its wait would complete; nil if its wait ends.
    static func begin(_ group: ConnectionGroup, _ entry: Int) -> DatabaseError? {
        waits.withLock { waits in
            waits[Database.currentThread] = Wait(group: group, entry: entry)
            let error = deadlock(group, entry, waits)
            // The thread counts as awake from now on, although its entry is still in the queue: no other wait is
            // refused because of it.
            if error != nil { waits[Database.currentThread] = nil }
            return error
        }
    }

    /// This thread has slept for long, and looks once more.
    ///
    /// The last thread of a circle finds the circle when it falls asleep. This look is for circles that were
    /// overlooked.
    ///
    /// - returns: the same as `begin`.
    static func lookAgain(_ group: ConnectionGroup, _ entry: Int) -> DatabaseError? {
        begin(group, entry, task: 0)
    }

    /// The number of threads and tasks that are entered as waiting for a group: for tests.
    static func count(on group: ConnectionGroup) -> Int {
        waits.withLock { waits in waits.values.count { $0.group === group } }
    }

    /// This thread no longer waits.
    static func end() { end(task: Database.currentThread) }

    private static let taskCount = Atomic<UInt>(0)

    /// A number for a task that will wait while it has a connection. It is odd, because the numbers of threads are
    /// addresses, which are even.
    static func newTask() -> UInt { taskCount.add(2, ordering: .relaxed).newValue - 1 }

    /// A task is about to wait.
    ///
    /// - parameter task: its number; 0 for a task without connections, which isn't entered.
    /// - returns: the same as for a thread.
    static func begin(_ group: ConnectionGroup, _ entry: Int, task: UInt) -> DatabaseError? {
        waits.withLock { waits in
            if task != 0 { waits[task] = Wait(group: group, entry: entry) }
            return deadlock(group, entry, waits)
        }
    }

    /// A task no longer waits.
    static func end(task: UInt) {
        let wait = waits.withLock { $0.removeValue(forKey: task) }
        _ = consume wait
    }

    private static func deadlock(
        _ group: ConnectionGroup, _ entry: Int, _ waits: [UInt: Wait]
    ) -> DatabaseError? {
        // The usual case ends here: an access with one of the connections doesn't wait.
        guard group.mayNeverServe(isAsleep: { waits[$0] != nil }) else { return nil }
        let start = WaitGraph.Wait(group: ObjectIdentifier(group), entry: entry)
        var last: WaitGraph.Deadlock?
        while true {
            let graph = graph(group, waits)
            guard let deadlock = graph.deadlock(of: start) else { return nil }
            // Groups are read one after the other, while their accesses go on. A deadlock in two graphs existed at one
            // moment: no thread falls asleep in between, since that takes the lock held here, and the numbers of
            // entries are never used again.
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
