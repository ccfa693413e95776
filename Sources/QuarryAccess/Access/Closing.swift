import QuarryCore

/// A call that closes the connections of some groups. `ClosingStateMachine` decides, and this value acts for it.
///
/// Two drivers wait for it: a thread with `run()`, and a task with `run(_:mayStay:_:)`.
struct Closing: Sendable {
    enum Form: Sendable {
        /// The running accesses end, before those that wait: these are refused.
        case atOnce
        /// The accesses that were requested earlier end, for a while; others are refused at once.
        case afterGrace(GracePeriod)
        /// The accesses that were requested earlier end; others wait until `ConnectionGroup.endBarriers`.
        case window
    }

    /// The lengths of closing.
    struct GracePeriod: Sendable {
        /// How long accesses may go on.
        fileprivate let length: Duration
        /// How long closing waits for interrupted accesses.
        fileprivate let interruptionTimeout: Duration
        /// Has the backups of the database.
        fileprivate let core: DatabaseCore
        /// Called if the next access opens the connections again; nil if none does.
        let whenClosed: (@Sendable () -> Void)?

        init(_ reader: any GroupReader, _ length: Duration, interruptionTimeout: Duration) {
            self.length = length
            self.interruptionTimeout = interruptionTimeout
            core = reader.core
            whenClosed = (reader as? DatabasePool)?.opener.map { opener in { @Sendable in opener.didClose() } }
        }
    }

    /// In the order in which they are waited for. Their connections are closed in the opposite order.
    private let groups: [ConnectionGroup]
    private let form: Form
    private var machine: ClosingStateMachine
    private var step: ClosingStateMachine.Step

    /// Begins to close; `run` follows.
    ///
    /// - parameter groups: in the order in which they are waited for.
    /// - throws: `SQLITE_BUSY` if this thread has one of the connections.
    init(_ groups: [ConnectionGroup], _ form: Form) throws {
        self.form = form
        let isClosed = if case .window = form { false } else { groups[0].isClosed }
        switch form {
        case .window:
            self.groups = groups
            machine = ClosingStateMachine(groupCount: groups.count, goesFirst: false)
        case .atOnce:
            if !isClosed { try Self.checkMayClose(groups) }
            self.groups = groups
            machine = ClosingStateMachine(groupCount: groups.count, goesFirst: true)
        case .afterGrace(let period):
            if !isClosed { try Self.checkMayClose(groups) }
            self.groups = isClosed ? groups : try Self.refusingAccesses(of: groups, period.core)
            machine = ClosingStateMachine(
                groupCount: self.groups.count, gracePeriod: period.length.nanoseconds,
                interruptionTimeout: period.interruptionTimeout.nanoseconds, now: period.core.clock.now)
        }
        step = isClosed ? machine.wasClosed() : machine.begin()
    }

    private static func checkMayClose(_ groups: [ConnectionGroup]) throws {
        // Checked before waiting for any group, whose access may wait for a connection of this thread.
        for group in groups.reversed() { try group.checkMayClose() }
    }

    /// Makes some groups refuse accesses, and the other work on them more of it.
    ///
    /// - returns: the work and the groups. The work comes first: a backup may need accesses to end.
    private static func refusingAccesses(of groups: [ConnectionGroup], _ core: DatabaseCore) throws
        -> [ConnectionGroup]
    {
        for group in groups {
            group.state.withLock { state in
                state.machine.phase.beginClosing()
                state.closingGroups = groups
            }
        }
        var work: [ConnectionGroup] = []
        core.parts.forEach { work += $0.work(on: groups) }
        do {
            for group in work { try group.checkWorkMayEnd() }
        } catch {
            serveAgain(groups, refused: true, heldCount: 0)
            throw error
        }
        for group in work { group.state.withLock { $0.machine.phase.beginClosing() } }
        return work + groups
    }

    // MARK: - Drivers

    /// Closes the connections. Waits on this thread.
    ///
    /// - throws: `SQLITE_BUSY` if statements are left, or if an access or a backup doesn't end. Then the groups stay
    ///   usable.
    consuming func run() throws {
        do {
            while let wait = try nextWait() {
                let result = Result {
                    _ = try wait.group.wait(
                        for: .barrier, wait.origin, nil, wait.requester, isFirst: wait.isFirst,
                        deadline: wait.deadline)
                }
                try didWait(wait, result)
            }
        } catch {
            serveAgain()
            throw error
        }
        end()
    }

    /// Closes the connections for a task, and runs `body`, on the library's threads: like a barrier, closing must not
    /// need one of Swift's, since all of them may wait behind it.
    ///
    /// It enters the line of the first group before it goes there.
    ///
    /// - parameter mayStay: whether the task may stay on the thread afterwards.
    /// - throws: the errors of the synchronous `run`; `CancellationError` if the task is cancelled while it waits; the
    ///   errors of `body`.
    consuming func run<T: Sendable>(
        _ workers: WorkerThreads, mayStay: Bool = false, _ body: @Sendable () throws -> T
    ) async throws -> T {
        let line = Line(workers)
        // The first step closes nothing, so it doesn't throw.
        let first = try nextWait().map { line.enter($0) }
        let closing = self
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(workers.executor(mayStay: mayStay), isolation: nil) {
                try await closing.run(first, line)
                return try body()
            }
        } onCancel: {
            line.cancel()
        }
    }

    private consuming func run(_ first: Request?, _ line: Line) async throws {
        var next = first
        do {
            while let request = next {
                let result: Result<Void, any Error>
                do {
                    _ = try await request.wait.group.grant(request.waiter)
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                try didWait(request.wait, result)
                if line.token.isCancelled { throw CancellationError() }
                next = try nextWait().map { line.enter($0) }
            }
        } catch {
            serveAgain()
            throw error
        }
        end()
    }

    /// The request of a task for a barrier.
    private struct Request: Sendable {
        let wait: Wait
        let waiter: TaskWaiter
    }

    /// The requests of a task that closes, one after another. The task can be cancelled.
    private final class Line: Sendable {
        private let workers: WorkerThreads
        let token = AccessToken()
        private let current = Lock<Request?>(nil)

        init(_ workers: WorkerThreads) { self.workers = workers }

        func enter(_ wait: Wait) -> Request {
            let request = Request(wait: wait, waiter: TaskWaiter(workers, .offloadedTask))
            current.withLock { $0 = request }
            wait.group.request(
                request.waiter, token, .barrier, wait.origin, nil, wait.requester ?? .newcomer, isFirst: wait.isFirst,
                deadline: wait.deadline)
            return request
        }

        func cancel() {
            token.cancel()
            if let request = current.withLock({ $0 }) { request.wait.group.cancel(request.waiter) }
        }
    }

    // MARK: - Steps

    /// The barrier that the caller has to wait for.
    private struct Wait: Sendable {
        let group: ConnectionGroup
        let isFirst: Bool
        let deadline: AccessDeadline
        let origin: AccessRequest.Origin
        let requester: ClosingPhase.Requester?
    }

    /// The lengths of closing; nil if it waits as long as it has to.
    private var period: GracePeriod? { if case .afterGrace(let period) = form { period } else { nil } }

    private var now: UInt64 { period?.core.clock.now ?? 0 }

    /// Performs steps until one that waits.
    ///
    /// - returns: nil once the connections are closed.
    private mutating func nextWait() throws -> Wait? {
        while true {
            switch step {
            case .wait(let group, let isFirst, let end):
                let (origin, requester): (AccessRequest.Origin, ClosingPhase.Requester?) =
                    switch form {
                    case .atOnce: (.user, .closer)
                    case .afterGrace: (.library, .closer)
                    case .window: (.user, group > 0 ? .admitted : nil)
                    }
                return Wait(
                    group: groups[group], isFirst: isFirst, deadline: AccessDeadline(end: end), origin: origin,
                    requester: requester)
            case .interrupt:
                for group in groups { group.endGracePeriod() }
                step = machine.didInterrupt(now: now)
            case .close:
                if case .window = form {
                    // An access of this thread would wait for its own barrier.
                    let thread = Database.currentThread
                    for group in groups { group.state.withLock { $0.barrier = .window(thread: thread) } }
                }
                try ConnectionGroup.closeConnections(groups)
                return nil
            case .giveUp: throw stillRunning
            case .end: return nil
            }
        }
    }

    /// The wait has ended.
    private mutating func didWait(_ wait: Wait, _ result: Result<Void, any Error>) throws {
        switch result {
        case .success: step = machine.didWait(now: now)
        case .failure(let error):
            if case .window = form { throw error }
            let phase = wait.group.state.withLock { $0.machine.phase }
            if phase == .closed { return step = machine.wasClosed() }
            guard period != nil, !(error is CancellationError) else { throw error }
            if case .ending = phase {} else if wait.group.clock.now < wait.deadline.end { throw error }
            step = machine.didExpire(now: now)
        }
    }

    // MARK: - The end

    /// The connections are closed, by this call or by another one.
    private func end() {
        if case .window = form { return }
        let whenClosed = period?.whenClosed
        let hasClosed = machine.heldCount == groups.count
        if hasClosed, let whenClosed { whenClosed() }
        guard hasClosed, whenClosed == nil else { return serveAgain() }
        for group in groups.reversed() { group.finishClosing() }
        Self.forgetClosing(groups)
    }

    private func serveAgain() {
        Self.serveAgain(groups, refused: period != nil, heldCount: machine.heldCount)
    }

    /// The groups serve accesses again, unless another call closes them.
    ///
    /// - parameter refused: whether they refused accesses for this call.
    private static func serveAgain(_ groups: [ConnectionGroup], refused: Bool, heldCount: Int) {
        if refused { for group in groups { group.state.withLock { $0.machine.phase.abandonClosing() } } }
        ConnectionGroup.endBarriers(groups.prefix(heldCount))
        guard refused else { return }
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

    /// The error if interrupted accesses don't end.
    private var stillRunning: DatabaseError {
        let accesses = groups.flatMap(\.runningWork)
        let names = accesses.isEmpty ? "an access" : accesses.joined(separator: ", ")
        let length = AccessDeadline(after: period?.interruptionTimeout ?? .zero, now: 0).text
        return DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "unable to close: \(names) doesn't end, \(length) after its interruption")
    }
}
