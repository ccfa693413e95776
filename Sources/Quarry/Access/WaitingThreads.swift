import QuarryCore

/// The threads that sleep until they get a connection, of all databases: one that is about to sleep for ever is told so.
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
            return deadlock(lane, place, entries)
        }
    }

    /// The thread that runs has slept.
    static func end() {
        let entry = entries.withLock { $0.removeValue(forKey: Database.currentThread) }
        _ = consume entry
    }

    /// Whether a task that waits for a barrier would wait for ever.
    static func check(_ lane: ConnectionLane, _ place: Int) -> DatabaseError? {
        entries.withLock { deadlock(lane, place, $0) }
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
            // Lanes are looked at one after the other, while others go on. What two looks find is of one moment: nobody has
            // begun to sleep in between, for that takes the lock held here, and no place has the number of an earlier one.
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
