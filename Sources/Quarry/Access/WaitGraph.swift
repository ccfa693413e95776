/// The waits across lanes, as a value: finds a wait that would never end.
///
/// A thread that has one connection may wait for another: a read that writes, a write that reads, a backup from pool to
/// pool. Where several such threads wait for each other's connections, none goes on. The graph is a copy of the lanes
/// and the waiting threads, gathered from one place in one line: the place of the last waiter, which completes a
/// deadlock and is refused. So the waits before it never form one.
///
/// The proof starts from the end: an access that doesn't wait ends some day, and gives its connections back. The waits
/// that these connections serve end too, and so on. All other waits never end.
struct WaitGraph {
    typealias LaneID = ObjectIdentifier

    /// A place in a lane's line.
    struct Place {
        let id: Int
        let isBarrier: Bool
        /// Whether the connection that a barrier keeps is lent to it.
        let borrows: Bool
    }

    struct Lane {
        /// The name of the connections in messages: "the writer of players.sqlite".
        var name: String
        /// The threads whose accesses have connections; 0 for an access that has yet to begin.
        var threads: [UInt] = []
        var availableCount = 0
        /// Whether a barrier keeps all connections.
        var hasBarrier = false
        /// The thread that has the barrier, if its access runs.
        var barrierThread: UInt = 0
        /// The lane that a barrier of this one waits for as well.
        var barredLane: LaneID?
        var line: [Place] = []
    }

    /// Where a thread sleeps.
    struct Sleep: Hashable {
        let lane: LaneID
        let place: Int
    }

    private(set) var lanes: [LaneID: Lane] = [:]
    private(set) var sleeps: [UInt: Sleep] = [:]

    /// Gathers what a place depends on.
    ///
    /// - parameter sleep: where a thread sleeps; nil if it doesn't.
    /// - parameter lane: what a lane is.
    init(from start: LaneID, sleep: (UInt) -> Sleep?, lane: (LaneID) -> Lane?) {
        var rest = [start]
        while let id = rest.popLast() {
            guard lanes[id] == nil, let found = lane(id) else { continue }
            lanes[id] = found
            if let barred = found.barredLane { rest.append(barred) }
            for thread in found.threads + [found.barrierThread] where thread != 0 {
                guard let sleep = sleep(thread) else { continue }
                sleeps[thread] = sleep
                rest.append(sleep.lane)
            }
        }
    }

    /// Waits that never end.
    struct Deadlock {
        /// All places whose waits never end.
        let places: Set<Sleep>
        /// Some of them: each waits for the next, the last one for the first.
        let path: [Sleep]
    }

    /// The deadlock that a place is part of; nil if its wait ends.
    func deadlock(of start: Sleep) -> Deadlock? {
        var ending: Set<Sleep> = []
        let places = Set(sleeps.values).union(lanes.keys.compactMap { barrierPlace(of: $0) }).union([start])
        var isChanged = true
        while isChanged, !ending.contains(start) {
            isChanged = false
            for place in places where !ending.contains(place) && ends(place, ending) {
                ending.insert(place)
                isChanged = true
            }
        }
        guard !ending.contains(start) else { return nil }
        var path = [start]
        while let last = path.last, let next = obstacle(of: last, ending, start), !path.contains(next) {
            path.append(next)
        }
        return Deadlock(places: places.subtracting(ending), path: path)
    }

    /// The message for a deadlock: "deadlock: a reader of … is in use by an access that waits for …".
    func description(of deadlock: Deadlock) -> String {
        let names = deadlock.path.compactMap { lanes[$0.lane]?.name }
        return "deadlock: " + names.joined(separator: " is in use by an access that waits for ")
            + ", which is in use by an access that waits for this one"
    }

    // MARK: - Inside

    /// The place in the barred lane where the barrier of a lane waits; nil if it doesn't wait.
    private func barrierPlace(of lane: LaneID) -> Sleep? {
        guard let lane = lanes[lane], lane.hasBarrier, let barred = lane.barredLane else { return nil }
        return lanes[barred]?.line.first(where: \.isBarrier).map { Sleep(lane: barred, place: $0.id) }
    }

    /// Whether a wait ends, if those of some places do.
    private func ends(_ sleep: Sleep, _ ending: Set<Sleep>) -> Bool {
        guard let lane = lanes[sleep.lane], let index = lane.line.firstIndex(where: { $0.id == sleep.place }) else {
            return true  // It has been served.
        }
        if lane.hasBarrier, !lane.line[index].borrows {
            // A lent connection has to come back, even if the barrier gives up.
            guard lane.threads.allSatisfy({ ends(thread: $0, ending) }) else { return false }
            if let place = barrierPlace(of: sleep.lane) { return ending.contains(place) }
            return ends(thread: lane.barrierThread, ending)
        }
        if lane.line[...index].contains(where: \.isBarrier), !lane.hasBarrier {
            return lane.threads.allSatisfy { ends(thread: $0, ending) }
        }
        return lane.availableCount > 0 || lane.threads.contains { ends(thread: $0, ending) }
    }

    private func ends(thread: UInt, _ ending: Set<Sleep>) -> Bool {
        sleeps[thread].map { ending.contains($0) } ?? true
    }

    /// The place that a place waits for: of several, the one that closes the circle.
    private func obstacle(of sleep: Sleep, _ ending: Set<Sleep>, _ start: Sleep) -> Sleep? {
        guard let lane = lanes[sleep.lane] else { return nil }
        let borrows = lane.line.contains { $0.id == sleep.place && $0.borrows }
        if lane.hasBarrier, !borrows, let place = barrierPlace(of: sleep.lane) ?? sleeps[lane.barrierThread],
            !ending.contains(place)
        {
            return place
        }
        let places = lane.threads.compactMap { sleeps[$0] }.filter { !ending.contains($0) }
        return places.contains(start) ? start : places.first
    }
}
