import QuarryCore

/// The connections of a group that were taken out of their slots, and may still be open: the threads that took them
/// close them without the group's lock.
struct DroppedConnections {
    /// The numbers of connections by the thread that closes them.
    private var counts: [UInt: Int] = [:]
    /// The thread that waits until the others have closed theirs. It has the group's barrier, so that there is one.
    private var waiting: (waiter: ThreadWaiter, thread: UInt)?
    /// The connections that statements of the program keep open.
    private var unclosed: [Unclosed] = []

    private struct Unclosed {
        weak var connection: AnyObject?
    }

    var isEmpty: Bool { counts.isEmpty }

    /// The connections that couldn't be closed and are still open. To be released without the group's lock.
    var stillOpen: [AnyObject] { unclosed.compactMap(\.connection) }

    /// This thread has taken connections, and closes them.
    mutating func add(_ count: Int) { counts[Database.currentThread, default: 0] += count }

    /// This thread has closed connections.
    ///
    /// - parameter unclosed: those of them that couldn't be closed.
    /// - returns: the thread that is to be woken.
    mutating func remove(_ count: Int, unclosed: [AnyObject]) -> ThreadWaiter? {
        if !unclosed.isEmpty { self.unclosed += unclosed.map { Unclosed(connection: $0) } }
        let thread = Database.currentThread
        counts[thread, default: 0] -= count
        if counts[thread] == 0 { counts[thread] = nil }
        guard let waiting, areClosed(but: waiting.thread) else { return nil }
        self.waiting = nil
        return waiting.waiter
    }

    /// Makes this thread wait.
    ///
    /// - returns: nil if there is nothing to wait for. The connections that this thread closes don't count: a closure
    ///   of the program that is called meanwhile may close the database.
    mutating func beginWaiting(_ clock: MonotonicClock) -> ThreadWaiter? {
        let thread = Database.currentThread
        if areClosed(but: thread) { return nil }
        let waiter = ThreadWaiter(clock)
        waiting = (waiter, thread)
        return waiter
    }

    mutating func endWaiting() { waiting = nil }

    mutating func forgetUnclosed() { unclosed = [] }

    private func areClosed(but thread: UInt) -> Bool { counts.allSatisfy { $0.key == thread } }
}

extension ConnectionGroup {
    /// How long closing waits for a connection that another thread closes, which may move a long log into the database.
    private static let longestClosing: UInt64 = 60_000_000_000

    /// Takes the connections to be dropped out of their slots. The caller passes them to `close(_:_:)`.
    ///
    /// Called under the same lock as the decision: a moment later another access may have opened a new connection in
    /// the slot.
    static func takeDropped(_ state: inout State, _ actions: [Machine.Action]) -> [Connection] {
        let dropped = actions.compactMap { action -> Connection? in
            guard case .drop(let slot) = action, let connection = state.connections[slot].take() else { return nil }
            state.counts.connectionWillClose(connection)
            return connection
        }
        let openCount = dropped.count { !$0.database.isClosed }
        if openCount > 0 { state.dropped.add(openCount) }
        return dropped
    }

    /// Closes connections that `takeDropped` has taken. The caller doesn't have the lock.
    ///
    /// - parameter state: of their group.
    static func close(_ dropped: [Connection], _ state: Lock<State>) {
        // A pool that was closed drops closed connections when it is released.
        let dropped = dropped.filter { !$0.database.isClosed }
        if dropped.isEmpty { return }
        // Not left to the release: a handler of the connection, or a thread that is about to leave an access, may
        // retain it for longer.
        let unclosed = dropped.filter { !close($0.database) }.map(\.database.handleOwner)
        state.withLock { $0.dropped.remove(dropped.count, unclosed: unclosed) }?.resolve(.retry)
        // Tracers are told, and may use the database, when nothing waits for this thread any more.
        for connection in dropped where connection.database.isClosed {
            connection.database.connectionContext?.connectionDidClose()
        }
    }

    /// - returns: false if statements of the program keep the connection open.
    private static func close(_ db: Database) -> Bool {
        guard (try? db.beginClosing()) != nil else { return false }
        defer { _ = db.endAccess() }
        return (try? db.close()) != nil
    }

    /// Waits until the connections that were dropped are closed. The caller has the group's barrier.
    ///
    /// - throws: `SQLITE_BUSY` if another thread hasn't closed one for a minute, or if statements keep one open.
    func waitForDropped() throws {
        if let waiter = state.withLock({ $0.dropped.beginWaiting(clock) }) {
            let end = clock.now + Self.longestClosing
            if CooperativePool.blocking({ waiter.wait(until: end) }) == nil {
                state.withLock { $0.dropped.endWaiting() }
                throw DatabaseError(
                    resultCode: .SQLITE_BUSY,
                    message: "unable to close \(name): another thread still closes a connection")
            }
        }
        let stillOpen = state.withLock { $0.dropped.stillOpen }
        guard stillOpen.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "unable to close \(name): unfinalized statements keep a connection open that was idle")
        }
        state.withLock { $0.dropped.forgetUnclosed() }
    }
}
