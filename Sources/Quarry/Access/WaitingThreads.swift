import QuarryCore
import Synchronization

/// The threads that sleep until they get a connection, of all databases: one that is about to sleep for ever is told
/// so. So are the few tasks that wait while they have a connection.
///
/// Only who falls asleep comes here. The lock is taken before those of lanes, never while one is held.
enum WaitingThreads {
    private struct Entry {
        let lane: ConnectionLane
        let place: Int
    }

    private static let entries = Lock<[UInt: Entry]>([:])

    /// The thread that runs is about to sleep.
    ///
    /// - returns: why it must not: it has what those have that it waits for, and they wait for it.
    static func begin(_ lane: ConnectionLane, _ place: Int) -> DatabaseError? {
        entries.withLock { entries in
            entries[Database.currentThread] = Entry(lane: lane, place: place)
            let error = deadlock(lane, place, entries)
            // It is awake from now on: nobody else is refused for it, although its place is still there.
            if error != nil { entries[Database.currentThread] = nil }
            return error
        }
    }

    /// The thread that runs has slept for long.
    ///
    /// Who falls asleep last finds a circle: nothing else closes one. This is for what that overlooks.
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

    /// A number for a task that will wait while it has a connection. Those of threads are addresses, which are even.
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
        // The usual case, which costs no more: who has the connections doesn't wait.
        guard lane.mayNeverServe(isAsleep: { entries[$0] != nil }) else { return nil }
        let start = WaitGraph.Sleep(lane: ObjectIdentifier(lane), place: place)
        var last: WaitGraph.Deadlock?
        while true {
            let graph = graph(lane, entries)
            guard let deadlock = graph.deadlock(of: start) else { return nil }
            // Lanes are looked at one after the other, while others go on. What two looks find is of one moment: nobody
            // has begun to sleep in between, for that takes the lock held here, and no place has the number of an
            // earlier one.
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
