import QuarryCore
import Synchronization

/// The threads of the process that sleep until they get a connection, and the few tasks that wait while they have one.
/// A thread that would sleep for ever gets an error instead.
///
/// An access that finds its connection free never comes here. The lock is taken before those of lanes, never while one
/// of those is held.
enum WaitingThreads {
    private struct Entry {
        let lane: ConnectionLane
        let place: Int
    }

    private static let entries = Lock<[UInt: Entry]>([:])

    /// The thread that runs is about to sleep.
    ///
    /// - returns: the deadlock that its sleep would complete; nil if its wait ends.
    static func begin(_ lane: ConnectionLane, _ place: Int) -> DatabaseError? {
        entries.withLock { entries in
            entries[Database.currentThread] = Entry(lane: lane, place: place)
            let error = deadlock(lane, place, entries)
            // It counts as awake from now on, although its place is still in the line: no other wait is refused for it.
            if error != nil { entries[Database.currentThread] = nil }
            return error
        }
    }

    /// The thread that runs has slept for long.
    ///
    /// The last thread of a circle finds it when it falls asleep. This second look is for circles that are overlooked.
    ///
    /// - returns: as `begin`.
    static func lookAgain(_ lane: ConnectionLane, _ place: Int) -> DatabaseError? {
        let error = begin(lane, place, task: 0)
        if error != nil { overlooked.add(1, ordering: .relaxed) }
        return error
    }

    /// How many threads and tasks are entered as waiting for a lane: for tests.
    static func count(on lane: ConnectionLane) -> Int {
        entries.withLock { entries in entries.values.count { $0.lane === lane } }
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
    /// - parameter task: its number; 0 for one that has no connection, which is asked for the place alone.
    /// - returns: as for a thread.
    static func begin(_ lane: ConnectionLane, _ place: Int, task: UInt) -> DatabaseError? {
        entries.withLock { entries in
            if task != 0 { entries[task] = Entry(lane: lane, place: place) }
            return deadlock(lane, place, entries)
        }
    }

    /// A task waits no more.
    static func end(task: UInt) {
        let entry = entries.withLock { $0.removeValue(forKey: task) }
        _ = consume entry
    }

    private static func deadlock(
        _ lane: ConnectionLane, _ place: Int, _ entries: [UInt: Entry]
    ) -> DatabaseError? {
        // The usual case ends here: an access that has one of the connections doesn't wait.
        guard lane.mayNeverServe(isAsleep: { entries[$0] != nil }) else { return nil }
        let start = WaitGraph.Sleep(lane: ObjectIdentifier(lane), place: place)
        var last: WaitGraph.Deadlock?
        while true {
            let graph = graph(lane, entries)
            guard let deadlock = graph.deadlock(of: start) else { return nil }
            // Lanes are read one after the other, while their accesses go on. A deadlock that two graphs show is of one
            // moment: no thread falls asleep in between, since that takes the lock held here, and each place has a
            // number of its own.
            if last?.places.isSubset(of: deadlock.places) ?? false {
                return DatabaseError(resultCode: .SQLITE_BUSY, message: graph.description(of: deadlock))
            }
            last = deadlock
        }
    }

    private static func graph(_ lane: ConnectionLane, _ entries: [UInt: Entry]) -> WaitGraph {
        var lanes = [ObjectIdentifier(lane): lane]
        return WaitGraph(from: ObjectIdentifier(lane)) { thread in
            guard let entry = entries[thread] else { return nil }
            let id = ObjectIdentifier(entry.lane)
            lanes[id] = entry.lane
            return WaitGraph.Sleep(lane: id, place: entry.place)
        } lane: { id in
            guard let lane = lanes[id] else { return nil }
            if let barred = lane.barredLane { lanes[ObjectIdentifier(barred)] = barred }
            return lane.waitState
        }
    }
}
