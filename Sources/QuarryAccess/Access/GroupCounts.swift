import QuarryCore

/// The counts of a group's accesses, kept under the group's lock.
struct GroupCounts {
    /// Of this many accesses, one is timed: reading the clock twice would take a tenth of a short read.
    static let timedPart = 64

    private(set) var accessCount = 0
    private(set) var waitCount = 0
    /// The times of the accesses that had to wait.
    private(set) var wait = DurationHistogram()
    private(set) var hold = DurationHistogram()
    private(set) var run = DurationHistogram()
    /// The number of running accesses that are timed.
    private(set) var timedCount = 0
    /// The counts of the connections that were closed.
    private(set) var ofClosed = ConnectionCounts()

    /// Counts an access that gets its connection.
    ///
    /// - returns: whether to time it.
    @inline(__always)
    mutating func countAccess() -> Bool {
        accessCount &+= 1
        return accessCount % Self.timedPart == 0
    }

    mutating func countWait(nanoseconds: UInt64) {
        waitCount += 1
        wait.record(nanoseconds: nanoseconds)
    }

    mutating func timingDidBegin() { timedCount += 1 }

    mutating func timingDidEnd(hold: UInt64, run: UInt64) {
        timedCount -= 1
        self.hold.record(nanoseconds: hold)
        self.run.record(nanoseconds: run)
    }

    /// Keeps the counts of a connection that is about to be dropped. No access has it.
    mutating func connectionWillClose(_ connection: ConnectionGroup.Connection) {
        connection.database.readCacheStatus()
        ofClosed.addCounts(of: connection.database.counts)
    }
}

extension ConnectionGroup {
    /// An access gets its connection after it has waited or opened it.
    func takeConnection(_ slot: Int, arrival: UInt64?) -> Connection? {
        state.withLock { state in
            if let arrival {
                let now = clock.now
                state.counts.countWait(nanoseconds: now > arrival ? now - arrival : 0)
            }
            if state.counts.countAccess() { beginTiming(slot) }
            return state.connections[slot]
        }
    }

    /// Times the access that gets a connection. The caller has the lock.
    @inline(never)
    func beginTiming(_ slot: Int) {
        state.contents.pointee.connections[slot]?.timedSince = clock.now
        state.contents.pointee.connections[slot]?.database.beginTiming()
        state.contents.pointee.counts.timingDidBegin()
    }

    /// Ends the timing of the access that gives its connection back, if it is timed. The caller has the lock.
    @inline(never)
    func endTiming(_ slot: Int) {
        guard let connection = state.contents.pointee.connections[slot], connection.timedSince > 0 else { return }
        let hold = clock.now - connection.timedSince
        state.contents.pointee.counts.timingDidEnd(hold: hold, run: connection.database.endTiming())
        state.contents.pointee.connections[slot]?.timedSince = 0
    }
}
