import QuarryCore

// Closing the connections of groups with a grace period.

extension ConnectionGroup {
    /// The lengths of closing.
    struct GracePeriod {
        /// How long accesses may go on.
        let length: Duration
        /// How long closing waits for interrupted accesses.
        let interruptionTimeout: Duration
        let clock: MonotonicClock

        fileprivate func makeMachine(_ groups: [ConnectionGroup]) -> ClosingStateMachine {
            ClosingStateMachine(
                groupCount: groups.count, gracePeriod: length.nanoseconds,
                interruptionTimeout: interruptionTimeout.nanoseconds, now: clock.now)
        }
    }

    /// Closes all connections of some groups, after the backups and accesses that were requested earlier.
    ///
    /// - parameter groups: as in `close(_:)`.
    /// - parameter core: has the backups of the database.
    /// - throws: `SQLITE_BUSY` if an access or a backup doesn't end, if statements are left, or if this thread has one
    ///   of the connections. Then the groups stay usable.
    static func close(
        _ groups: [ConnectionGroup], _ core: DatabaseCore, _ period: GracePeriod,
        whenClosed: (@Sendable () -> Void)? = nil
    ) throws {
        guard try beginClosing(groups) else { return }
        let groups = try withWork(of: core, groups)
        var machine = period.makeMachine(groups)
        var step = machine.begin()
        do {
            while case .some(let waiting) = try perform(step, on: groups, period, &machine) {
                let group = groups[waiting.group]
                do {
                    _ = try group.wait(
                        for: .barrier, .library, nil, .closer, isFirst: waiting.isFirst, deadline: waiting.deadline)
                    step = machine.didWait(now: period.clock.now)
                } catch {
                    guard try !group.isClosedByOther(error, waiting.deadline) else { break }
                    step = machine.didExpire(now: period.clock.now)
                }
            }
        } catch {
            abandonClosing(groups, heldCount: machine.heldCount)
            throw error
        }
        endClosing(groups, heldCount: machine.heldCount, whenClosed: whenClosed)
    }

    /// As the synchronous `close`, but waiting suspends the task, and closing runs on the library's threads.
    ///
    /// - throws: the errors of the synchronous `close`; `CancellationError` if the task is cancelled while it waits.
    static func close(
        _ groups: [ConnectionGroup], _ core: DatabaseCore, _ period: GracePeriod, _ workers: WorkerThreads,
        whenClosed: (@Sendable () -> Void)? = nil
    ) async throws {
        guard try beginClosing(groups) else { return }
        let groups = try withWork(of: core, groups)
        let token = AccessToken()
        let current = Lock<CurrentWait?>(nil)
        try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(workers, isolation: nil) {
                try await closeBegun(groups, period, workers, token, current, whenClosed: whenClosed)
            }
        } onCancel: {
            token.cancel()
            if let wait = current.withLock({ $0 }) { wait.group.cancel(wait.waiter) }
        }
    }

    /// The wait of a task that closes.
    private struct CurrentWait: Sendable {
        let group: ConnectionGroup
        let waiter: TaskWaiter
    }

    private static func closeBegun(
        _ groups: [ConnectionGroup], _ period: GracePeriod, _ workers: WorkerThreads, _ token: AccessToken,
        _ current: Lock<CurrentWait?>, whenClosed: (@Sendable () -> Void)?
    ) async throws {
        var machine = period.makeMachine(groups)
        var step = machine.begin()
        do {
            while true {
                if token.isCancelled { throw CancellationError() }
                guard let waiting = try perform(step, on: groups, period, &machine) else { break }
                let group = groups[waiting.group]
                let waiter = TaskWaiter(workers, .offloadedTask)
                current.withLock { $0 = CurrentWait(group: group, waiter: waiter) }
                group.request(
                    waiter, token, .barrier, .library, nil, .closer, isFirst: waiting.isFirst,
                    deadline: waiting.deadline)
                do {
                    _ = try await group.grant(waiter)
                    step = machine.didWait(now: period.clock.now)
                } catch {
                    guard try !group.isClosedByOther(error, waiting.deadline) else { break }
                    step = machine.didExpire(now: period.clock.now)
                }
            }
        } catch {
            abandonClosing(groups, heldCount: machine.heldCount)
            throw error
        }
        endClosing(groups, heldCount: machine.heldCount, whenClosed: whenClosed)
    }

    // MARK: - Steps

    private struct Waiting {
        let group: Int
        let isFirst: Bool
        let deadline: AccessDeadline
    }

    /// Performs steps until one that waits.
    ///
    /// - returns: nil once the connections are closed.
    private static func perform(
        _ step: ClosingStateMachine.Step, on groups: [ConnectionGroup], _ period: GracePeriod,
        _ machine: inout ClosingStateMachine
    ) throws -> Waiting? {
        var step = step
        while true {
            switch step {
            case .wait(let group, let isFirst, let end):
                return Waiting(group: group, isFirst: isFirst, deadline: AccessDeadline(end: end))
            case .interrupt:
                for group in groups { group.endGracePeriod() }
                step = machine.didInterrupt(now: period.clock.now)
            case .close:
                try closeConnections(groups)
                return nil
            case .giveUp: throw stillRunning(groups, period)
            }
        }
    }

    /// Makes the groups refuse accesses.
    ///
    /// - returns: false if they are closed.
    private static func beginClosing(_ groups: [ConnectionGroup]) throws -> Bool {
        guard let first = groups.first, !first.isClosed else { return false }
        // Checked before waiting for any group, whose access may wait for a connection of this thread.
        for group in groups.reversed() { try group.checkMayClose() }
        for group in groups {
            group.state.withLock { state in
                state.machine.phase.beginClosing()
                state.closingGroups = groups
            }
        }
        return true
    }

    /// Adds the other work on some groups that refuse more of it. It comes first: a backup may need accesses to end.
    private static func withWork(
        of core: DatabaseCore, _ groups: [ConnectionGroup]
    ) throws -> [ConnectionGroup] {
        var work: [ConnectionGroup] = []
        core.parts.forEach { work += $0.work(on: groups) }
        do {
            for group in work { try group.checkWorkMayEnd() }
        } catch {
            abandonClosing(groups, heldCount: 0)
            throw error
        }
        for group in work { group.state.withLock { $0.machine.phase.beginClosing() } }
        return work + groups
    }

    /// The connections are closed, by this call or by another one.
    ///
    /// - parameter whenClosed: called if the next access opens the connections again; nil if none does.
    private static func endClosing(_ groups: [ConnectionGroup], heldCount: Int, whenClosed: (@Sendable () -> Void)?) {
        if heldCount == groups.count, let whenClosed { whenClosed() }
        guard heldCount == groups.count, whenClosed == nil else { return abandonClosing(groups, heldCount: heldCount) }
        for group in groups.reversed() { group.finishClosing() }
        forgetClosing(groups)
    }

    /// The groups serve accesses again, unless another call closes them.
    private static func abandonClosing(_ groups: [ConnectionGroup], heldCount: Int) {
        for group in groups { group.state.withLock { $0.machine.phase.abandonClosing() } }
        endBarriers(groups.prefix(heldCount))
        forgetClosing(groups)
        // While the groups refused accesses, a directory took the database for one in use.
        for group in groups { group.gate?.mayBeIdle() }
    }

    private static func forgetClosing(_ groups: [ConnectionGroup]) {
        for group in groups {
            // Released outside the lock.
            let forgotten = group.state.withLock { state in
                guard state.machine.phase.isOpen || state.machine.isClosed else { return [ConnectionGroup]() }
                defer { state.closingGroups = [] }
                return state.closingGroups
            }
            _ = consume forgotten
        }
    }

    /// Whether another call has closed the group meanwhile. Throws an error that is no timeout of closing.
    private func isClosedByOther(_ error: any Error, _ deadline: AccessDeadline) throws -> Bool {
        let phase = state.withLock { $0.machine.phase }
        if phase == .closed { return true }
        if error is CancellationError { throw error }
        if case .ending = phase { return false }
        guard clock.now >= deadline.end else { throw error }
        return false
    }

    /// Refuses the waiting accesses, and interrupts the running ones.
    private func endGracePeriod() {
        perform(decide { $0.endGracePeriod(now: clock.now) })
        let error = DatabaseError(
            resultCode: .SQLITE_INTERRUPT, message: "Connection is closing: its grace period has ended")
        for access in runningAccesses { _ = end(access, error) }
        interrupt()
        endWork?(error)
    }

    /// The error if interrupted accesses don't end.
    private static func stillRunning(_ groups: [ConnectionGroup], _ period: GracePeriod) -> DatabaseError {
        let accesses = groups.flatMap { group in
            if group.endWork != nil { return group.state.withLock { $0.machine.leasedCount > 0 } ? [group.name] : [] }
            return group.runningAccesses.map { access in
                group.label(of: access).map { "the access “\($0)” of \(group.name)" }
                    ?? "an access without a label of \(group.name)"
            }
        }
        let names = accesses.isEmpty ? "an access" : accesses.joined(separator: ", ")
        let length = AccessDeadline(after: period.interruptionTimeout, now: 0).text
        return DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "unable to close: \(names) doesn't end, \(length) after its interruption")
    }
}

extension DatabaseReader {
    /// Closes all connections, and lets the accesses end that were requested earlier.
    ///
    /// ```swift
    /// try dbPool.close(gracePeriod: .seconds(10))
    /// ```
    ///
    /// 1. From this call on, new accesses throw `SQLITE_MISUSE`, "Connection is closing". Running and waiting accesses
    ///    go on, and so do accesses inside them, running backups into files, and running restorations.
    /// 2. After the grace period, waiting accesses throw `SQLITE_MISUSE`, and the statements of running accesses throw
    ///    `SQLITE_INTERRUPT`: their transactions are rolled back. Backups and restorations throw it, too.
    /// 3. When all accesses and backups have ended, the connections are closed, as with `close()`.
    ///
    /// Code of an access that runs no statement can't be interrupted. If an access hasn't ended after
    /// `interruptionTimeout`, the method throws `SQLITE_BUSY`, and the error names the access's label.
    ///
    /// Observations end when the connections are closed. An outbox that is being delivered, and stable readers and
    /// snapshots, which have their own connections, behave as with `close()`.
    ///
    /// If the method throws, the database stays open, and serves accesses again.
    ///
    /// - parameter gracePeriod: how long accesses may go on; zero or less to interrupt them at once.
    /// - parameter interruptionTimeout: how long to wait for interrupted accesses.
    /// - throws: `SQLITE_BUSY` if an access or a backup doesn't end, if statements are left, or inside an access of
    ///   this thread or the closure of its backup.
    public func close(gracePeriod: Duration, interruptionTimeout: Duration = .seconds(5)) throws {
        guard let groupReader else { throw DatabaseError.foreignReader() }
        if try (groupReader as? DatabasePool)?.isClosedBehindGate() ?? false { return }
        let period = ConnectionGroup.GracePeriod(
            length: gracePeriod, interruptionTimeout: interruptionTimeout, clock: groupReader.core.clock)
        let whenClosed = (groupReader as? DatabasePool)?.opener.map { opener in { @Sendable in opener.didClose() } }
        try ConnectionGroup.close(groupReader.groups, groupReader.core, period, whenClosed: whenClosed)
        if whenClosed == nil { groupReader.didClose() }
    }

    /// As the synchronous `close(gracePeriod:)`; waiting suspends the task, and closing holds none of Swift's threads.
    ///
    /// ```swift
    /// try await dbPool.close(gracePeriod: .seconds(10))
    /// ```
    ///
    /// Cancelling the task ends the wait: `CancellationError` is thrown, and the database serves accesses again.
    /// Accesses that were interrupted meanwhile have failed.
    ///
    /// - throws: the errors of the synchronous `close(gracePeriod:)`; `CancellationError`.
    public func close(gracePeriod: Duration, interruptionTimeout: Duration = .seconds(5)) async throws {
        guard let groupReader else { throw DatabaseError.foreignReader() }
        if await (groupReader as? DatabasePool)?.isClosedBehindGateAsync() ?? false { return }
        let period = ConnectionGroup.GracePeriod(
            length: gracePeriod, interruptionTimeout: interruptionTimeout, clock: groupReader.core.clock)
        let whenClosed = (groupReader as? DatabasePool)?.opener.map { opener in { @Sendable in opener.didClose() } }
        try await ConnectionGroup.close(
            groupReader.groups, groupReader.core, period, groupReader.workers, whenClosed: whenClosed)
        if whenClosed == nil { groupReader.didClose() }
    }
}
