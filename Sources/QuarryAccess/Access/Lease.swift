import QuarryCore
import Synchronization

extension ConnectionGroup {
    /// The right of one access to use a connection. Its owner runs `use`, once, which releases the connection.
    ///
    /// It is no `~Copyable` value with a `deinit`: a waiting task shares it with the closure that cancels the task, and
    /// Swift lets no closure consume a captured value.
    struct Lease: @unchecked Sendable {
        // Sendable: one access has it, and uses the connection from one thread at a time.
        /// Unretained: the group holds the connection, and drops none that is leased.
        private let reference: Unmanaged<Database>
        let slot: Int

        init(_ database: Database, slot: Int) {
            reference = .passUnretained(database)
            self.slot = slot
        }

        var database: Database { reference.takeUnretainedValue() }

        /// Runs `body` with the connection, without retaining it.
        @inline(__always)
        fileprivate func withDatabase<T>(_ body: (Database) throws -> T) rethrows -> T {
            try reference._withUnsafeGuaranteedRef { try body($0) }
        }
    }

    /// The end of the use of a lease.
    enum LeaseEnd {
        case released
        /// Another access goes on with the connection, or this one will.
        case kept
    }

    /// Runs `body` with a leased connection, and releases it.
    ///
    /// - parameter endsJob: whether the thread, if it belongs to the library, has nothing else to do afterwards, except
    ///   the code of a program whose task stays.
    @inline(__always)
    func use<T>(_ lease: Lease, endsJob: Bool = false, _ body: (Database) throws -> T) rethrows -> T {
        defer { release(lease, endsJob: endsJob) }
        return try lease.withDatabase(body)
    }

    /// As `use`, but `body` decides whether the connection is released.
    ///
    /// - parameter body: its second parameter is `released` before the call.
    @inline(__always)
    func use<T>(
        _ lease: Lease, endsJob: Bool = false, _ body: (Database, _ end: inout LeaseEnd) throws -> T
    ) rethrows -> T {
        var end = LeaseEnd.released
        defer { if end == .released { release(lease, endsJob: endsJob) } }
        return try lease.withDatabase { db in try body(db, &end) }
    }

    /// As `use`, for several accesses of a thread.
    ///
    /// - parameter holder: the thread or task that has the connection meanwhile, for the deadlock detector.
    func use<T>(_ lease: Lease, holder: UInt, _ body: (Database) throws -> T) rethrows -> T {
        setHolder(holder, of: lease.slot)
        return try use(lease) { db in
            defer { setHolder(nil, of: lease.slot) }
            return try body(db)
        }
    }

    /// As `use`, for a task that uses the connection in several accesses.
    ///
    /// - parameter holder: the thread or task that has the connection meanwhile, for the deadlock detector.
    func use<T>(_ lease: Lease, holder: UInt, _ body: () async throws -> T) async rethrows -> T {
        setHolder(holder, of: lease.slot)
        defer {
            setHolder(nil, of: lease.slot)
            release(lease, endsJob: false)
        }
        return try await body()
    }

    /// - parameter endsJob: whether the thread, if it belongs to the library, has nothing else to do afterwards, except
    ///   the code of a program whose task stays.
    private func release(_ lease: Lease, endsJob: Bool) {
        state.lock()
        if state.contents.pointee.counts.timedCount > 0 { endTiming(lease.slot) }
        let actions = state.contents.pointee.machine.release(lease.slot) { clock.now }
        hasIdle.store(state.contents.pointee.machine.idleCount > 0, ordering: .relaxed)
        if idleClock != nil, !state.contents.pointee.isTicking { startTicking(&state.contents.pointee) }
        if state.contents.pointee.machine.waiterCount > 0 { watch(&state.contents.pointee) }
        let dropped = actions.isEmpty ? [] : Self.takeDropped(&state.contents.pointee, actions)
        let isEnding = state.contents.pointee.whenUnused != nil
        state.unlock()
        if !actions.isEmpty { perform(actions, endsJob: endsJob) }
        if !dropped.isEmpty { Self.close(dropped, state) }
        if isEnding { Self.tellIfUnused(state) }
        gate?.accessDidEnd()
    }
}
