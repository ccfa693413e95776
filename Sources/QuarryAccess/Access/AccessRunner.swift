import QuarryCore
import Synchronization

/// Runs accesses on the connections of a group: takes a lease, frames the access, releases the lease.
package final class AccessRunner: Sendable {
    package let group: ConnectionGroup
    let workers: WorkerThreads
    /// The part of the database that its connections share.
    let core: DatabaseCore
    /// The database and the connections, as tracers see them.
    let source: DatabaseTraceEvent.Source
    let role: DatabaseTraceEvent.Connection.Role
    /// The tracers of the configuration; nil if it has none.
    let configuredTracers: TracerList?
    private let sharesCommits: Bool
    /// The place of a writer among the live databases. Used with the lock of `LiveDatabases` held.
    nonisolated(unsafe) var links = LiveDatabases.Links()
    // Made by the first write that may share: opening a database allocates nothing for it.
    private let madeGroupCommit = AtomicLazyReference<Lock<GroupCommit>>()

    /// The transaction that writes share, used by the access that has the connection; nil if they share none.
    var groupCommit: Lock<GroupCommit>? {
        guard sharesCommits else { return nil }
        return madeGroupCommit.load() ?? madeGroupCommit.storeIfNil(Lock(GroupCommit()))
    }

    /// - parameter configuredTracers: the tracers of the configuration.
    /// - parameter sharesCommits: whether writes share transactions.
    package init(
        _ group: ConnectionGroup, workers: WorkerThreads, _ core: DatabaseCore, _ source: DatabaseTraceEvent.Source,
        _ role: DatabaseTraceEvent.Connection.Role, configuredTracers: TracerList?, sharesCommits: Bool = false
    ) {
        self.sharesCommits = sharesCommits
        self.group = group
        self.workers = workers
        self.core = core
        self.source = source
        self.role = role
        self.configuredTracers = configuredTracers
    }

    private var admission: Lock<ReadAdmission> { workers.admission }

    /// The state of the decisions where reads run.
    var readAdmission: ReadAdmission { admission.withLock { $0 } }

    // MARK: - Performing

    /// Runs an access on this thread.
    package func perform<T>(_ request: AccessRequest, _ body: (Database) throws -> T) throws -> T {
        if TracerList.hasAny, let traced = tracing(request, isAsynchronous: false) {
            return try performTraced(traced, body)
        }
        try request.checkHasTime()
        // Checked before the wait for this group's connection, whose access may wait for a connection of this thread.
        if let barrier = request.barrier, barrier.ownedConnection != nil {
            throw DatabaseError.reentrantAccess(barrier.name)
        }
        let lease = try group.lease(request.origin, request.trace, until: request.deadline)
        if let barrier = request.barrier {
            try group.beginBarrier(of: barrier, for: lease, request.origin, request.trace)
        }
        return try group.use(lease) { db in
            defer { request.barrier?.endBarrier() }
            return try Self.frame(
                db, request.deadline.map { AccessToken(deadline: $0) }, trace: request.trace, kind: request.kind, body)
        }
    }

    /// Runs an access for a task, which can be cancelled.
    package func perform<T: Sendable>(
        _ request: AccessRequest, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        if TracerList.hasAny, let traced = tracing(request, isAsynchronous: true) {
            return try await performTraced(traced, body)
        }
        try request.checkHasTime()
        if request.sharesCommit, let groupCommit { return try await performSharing(request, groupCommit, body) }
        if mustYield(request.placement) { await Task.yield() }
        // A deadline needs a token, and so does a task that waits.
        if request.deadline == nil {
            // The task doesn't wait here, so it needs no queue entry, no token and no cancellation handler.
            if request.placement == .inline, let lease = group.leaseAtOnce() {
                return try group.use(lease) { db in
                    try Self.frame(db, nil, followsTask: true, trace: request.trace, kind: request.kind, body)
                }
            }
            // Asked before a connection is taken: an access that runs elsewhere takes one there, and counts once.
            if request.placement == .measured, await isAdmittedSoon() {
                if let lease = group.leaseAtOnce() {
                    do {
                        return try group.use(lease) { db in try performInline(request, db, nil, body) }
                    } catch is WouldWait {}
                } else {
                    admission.withLock { $0.inlineReadDidEnd(nil) }
                }
                return try await performWaiting(request, .inlineTask, body)
            }
        }
        return try await performWaiting(
            request, mayRunInline(request) ? .inlineTask : .offloadedTask, body)
    }

    /// Waits for a connection, and runs the access where the request says.
    private func performWaiting<T: Sendable>(
        _ request: AccessRequest, _ waiterKind: ConnectionGroup.Machine.WaiterKind,
        _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        let place = TaskPlace(request, group, workers, waiterKind)
        return try await withTaskCancellationHandler {
            if request.placement == .inline { return try await performHere(request, at: place, body) }
            guard waiterKind == .inlineTask else {
                return try await withTaskExecutorPreference(place.executor, isolation: nil) {
                    try await performHere(request, at: place, body)
                }
            }
            return try await performMeasured(request, at: place, body)
        } onCancel: {
            place.cancel()
        }
    }

    /// Waits for a connection, and runs the access where the task is.
    private func performHere<T: Sendable>(
        _ request: AccessRequest, at place: TaskPlace, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        let lease = try await group.lease(place.turn)
        if let barrier = request.barrier, let waiter = place.barrierWaiter {
            try await group.beginBarrier(of: barrier, waiter, place.token, for: lease, request.origin, request.trace)
        }
        return try group.use(lease, endsJob: true) { db in
            defer { request.barrier?.endBarrier(endsJob: true) }
            return try run(request, db, place.token, body)
        }
    }

    /// Runs the access with its connection. Measures it if the durations of reads decide the placement.
    private func run<T>(
        _ request: AccessRequest, _ db: Database, _ token: AccessToken, _ body: (Database) throws -> T
    ) throws -> T {
        guard request.placement == .measured else {
            return try Self.frame(db, token, trace: request.trace, kind: request.kind, body)
        }
        return try Self.frame(db, token, trace: request.trace) { db in
            try measured { try request.kind.run(db, body) }
        }
    }

    /// Runs `body` as one access of a connection, unless the access has been cancelled.
    static func frame<T>(
        _ db: Database, _ token: AccessToken?, followsTask: Bool = false, trace: AccessTrace? = nil,
        kind: AccessRequest.Kind = .bare, _ body: (Database) throws -> T
    ) throws -> T {
        if let trace { return try tracedFrame(db, token, followsTask: followsTask, trace, kind: kind, body) }
        if followsTask ? Task.isCancelled : token?.isCancelled ?? false { throw CancellationError() }
        let isTimed = try db.beginAccess(token, followsTask: followsTask)
        let result: T
        do {
            if isTimed { result = try timed(db, kind, body) } else { result = try kind.run(db, body) }
        } catch {
            // The first error counts.
            _ = db.endAccess()
            throw error
        }
        if let error = db.endAccess() { throw error }
        return result
    }

    /// Runs `body` as one access of a connection that no group has.
    package static func frame<T>(
        _ db: Database, followsTask: Bool = false, kind: AccessRequest.Kind = .bare, _ body: (Database) throws -> T
    ) throws -> T { try frame(db, nil, followsTask: followsTask, kind: kind, body) }

    // MARK: - Accesses in their own tasks

    /// Runs an access in its own task, on the library's threads. Its queue entry is taken before this returns.
    ///
    /// ```swift
    /// readers.enqueue(AccessRequest(.pinnedRead, origin: .library)) { db in … } whenReleased: { result in … }
    /// ```
    ///
    /// - parameter whenReleased: called when the connection is given back. Receives the error if no connection is
    ///   available, if `body` throws, or if the access leaves an error behind.
    package func enqueue(
        _ request: AccessRequest, _ body: @escaping @Sendable (Database) throws -> Void,
        whenReleased: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let request = inOwnTask(request)
        let place = TaskPlace(request, group, workers, .offloadedTask)
        // Two closures: one that is kept in a variable is called by another, which is a block more.
        switch request.origin {
        case .user, .continuation:
            Task(executorPreference: place.executor) {
                await self.performInOwnTask(request, at: place, body, whenReleased)
            }
        // An access of the library has nothing of the task that happens to request it: no local values, no priority.
        case .library:
            Task.detached(executorPreference: place.executor) {
                await self.performInOwnTask(request, at: place, body, whenReleased)
            }
        }
    }

    private func performInOwnTask(
        _ request: AccessRequest, at place: TaskPlace, _ body: @Sendable (Database) throws -> Void,
        _ whenReleased: (Result<Void, any Error>) -> Void
    ) async {
        do {
            try await performHere(request, at: place, body)
        } catch {
            return whenReleased(.failure(request.trace?.finish(error) ?? error))
        }
        request.trace?.finish()
        whenReleased(.success(()))
    }

    /// The request of an access that ends with its task.
    private func inOwnTask(_ request: AccessRequest) -> AccessRequest {
        var request = tracedIfAny(request)
        request.mayStay = false
        return request
    }

    // MARK: - Leases

    /// Waits for a connection for a task. Runs `body`, which may wait for other connections, on the library's threads.
    ///
    /// - parameter barrier: a group whose connections must all be idle meanwhile.
    /// - parameter task: the number of the waiting task, from `DeadlockDetector.newTask()`. The task has other
    ///   connections, or will wait for more.
    func withLease<T: Sendable>(
        barrier: ConnectionGroup? = nil, task: UInt,
        _ body: @Sendable (ConnectionGroup.Lease, AccessToken) async throws -> T
    ) async throws -> T {
        let request = AccessRequest(barrier: barrier, mayStay: false)
        let place = TaskPlace(request, group, workers, .offloadedTask)
        // Entered here, because the executor holds the task until it is served.
        group.enter(place.turn, task: task)
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(place.executor, isolation: nil) {
                let lease = try await group.lease(place.turn)
                if let barrier, let waiter = place.barrierWaiter {
                    try await group.beginBarrier(of: barrier, waiter, place.token, for: lease, task: task)
                }
                return try await group.use(lease, holder: task) {
                    defer { barrier?.endBarrier() }
                    return try await body(lease, place.token)
                }
            }
        } onCancel: {
            place.cancel()
        }
    }

    // MARK: - Inline reads

    /// Whether an access is expected to run where the task is, if it has to wait.
    private func mayRunInline(_ request: AccessRequest) -> Bool {
        switch request.placement {
        case .inline: true
        case .offloaded: false
        case .measured:
            // Without a deadline, it was asked before.
            request.deadline != nil && admission.withLock { $0.expectsInlineRead { group.accessCount } }
        }
    }

    /// Where a read may run. If it is here, `performInline` or `ReadAdmission.inlineReadDidEnd` has to follow.
    ///
    /// - parameter asksAgain: whether the read had the answer `soon`.
    /// - parameter mayAsk: whether the answer may be `soon`.
    private func placeOfRead(
        asksAgain: Bool = false, mayAsk: @autoclosure () -> Bool = true
    ) -> ReadAdmission.Answer {
        admission.lock()
        defer { admission.unlock() }
        if asksAgain { return admission.contents.pointee.askAgain { group.accessCount } }
        return admission.contents.pointee.place(mayAsk: mayAsk()) { group.accessCount }
    }

    /// Whether a read may run where the task is, now or after other tasks have run.
    ///
    /// With a hop for each read that couldn't run at once, a server of 64 connections took a fifth more of the
    /// processors for each request. A task that stays on a thread of the library has no hop to avoid.
    private func isAdmittedSoon() async -> Bool {
        var answer = placeOfRead(mayAsk: !WorkerThreads.isCurrentThread)
        while answer == .soon {
            await Task.yield()
            answer = placeOfRead(asksAgain: true)
        }
        return answer == .here
    }

    /// Waits for a connection, and runs a measured read: where the task is, if it is admitted once it has the
    /// connection.
    private func performMeasured<T: Sendable>(
        _ request: AccessRequest, at place: TaskPlace, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        let leaseOrSlot = try await group.leaseOrSlot(place.turn)
        if case .lease(let lease) = leaseOrSlot, placeOfRead(mayAsk: false) == .here {
            do {
                return try group.use(lease) { db, end in
                    do {
                        return try performInline(request, db, place.token, body)
                    } catch is WouldWait {
                        end = .kept
                        throw WouldWait()
                    }
                }
            } catch is WouldWait {}
        }
        return try await withTaskExecutorPreference(workers.executor(mayStay: request.mayStay), isolation: nil) {
            let lease = try group.lease(leaseOrSlot)
            return try group.use(lease, endsJob: true) { db in try run(request, db, place.token, body) }
        }
    }

    /// Runs an admitted read where the task is.
    ///
    /// - parameter token: nil if the task itself is asked whether it is cancelled.
    /// - throws: `WouldWait` if the read has to run elsewhere. An optional result would cost more than the locks: this
    ///   generic function isn't specialised.
    private func performInline<T>(
        _ request: AccessRequest, _ db: Database, _ token: AccessToken?, _ body: (Database) throws -> T
    ) throws -> T {
        var start: UInt64 = 0
        defer {
            let duration = start == 0 ? nil : group.clock.now - start
            admission.lock()
            admission.contents.pointee.inlineReadDidEnd(duration)
            admission.unlock()
        }
        // Setups may take long.
        if db.hasPendingSetups { throw WouldWait() }
        return try Self.frame(db, token, followsTask: token == nil, trace: request.trace) { db in
            switch request.kind {
            case .read, .pinnedRead:
                try Self.beginWithoutWaiting(db)
                start = group.clock.now
                return try AccessRequest.Kind.begunRead.run(db, body)
            case .bare, .begunRead, .snapshotRead, .write:
                start = group.clock.now
                return try request.kind.run(db, body)
            }
        }
    }

    private struct WouldWait: Error {}

    /// Begins a read where no thread may wait: takes the locks that the read needs, or gives up.
    ///
    /// The read itself then never waits: a reader in WAL mode needs no other lock, and in other modes it already holds
    /// the lock.
    private static func beginWithoutWaiting(_ db: Database) throws {
        db.refusesToWait = true
        defer { db.refusesToWait = false }
        do {
            try db.beginRead(pinned: true)
        } catch DatabaseError.SQLITE_BUSY {
            throw WouldWait()
        }
    }

    private func measured<T>(_ body: () throws -> T) rethrows -> T {
        let start = group.clock.now
        defer {
            let duration = group.clock.now - start
            admission.withLock { $0.record(duration) }
        }
        return try body()
    }

    // MARK: - Yielding

    /// The number of accesses that ran where their task is.
    private let inlineCount = Atomic<Int>(0)

    /// When a task last yielded, in nanoseconds.
    private let lastYield = Atomic<UInt64>(0)

    /// Whether the task has to let others run before its access.
    ///
    /// An inline access that finds its connection free never suspends. As many tasks as there are threads, reading in
    /// loops, would occupy Swift's pool.
    func mustYield(_ placement: AccessRequest.Placement) -> Bool {
        guard placement != .offloaded, inlineCount.wrappingAdd(1, ordering: .relaxed).newValue % 16 == 0,
            !WorkerThreads.isCurrentThread
        else { return false }
        let now = group.clock.now
        // Yielding may wake a thread, which costs as much as several reads.
        guard now &- lastYield.load(ordering: .relaxed) > 500_000 else { return false }
        lastYield.store(now, ordering: .relaxed)
        return true
    }
}

/// A task's entries in the wait queues of the groups that its access needs.
struct TaskPlace: Sendable {
    let token: AccessToken
    /// The connection of the access, or the waiter for it.
    let turn: ConnectionGroup.LeaseOrWaiter
    /// The waiter for the barrier. It enters the queue once the task has its connection.
    let barrierWaiter: TaskWaiter?
    /// The library's threads; for a task that waits, those that go on with it.
    let executor: any TaskExecutor
    private let group: ConnectionGroup
    private let barrier: ConnectionGroup?

    init(
        _ request: AccessRequest, _ group: ConnectionGroup, _ workers: WorkerThreads,
        _ waiterKind: ConnectionGroup.Machine.WaiterKind
    ) {
        token = AccessToken(deadline: request.deadline)
        self.group = group
        barrier = request.barrier
        barrierWaiter = request.barrier == nil ? nil : TaskWaiter(workers, .offloadedTask)
        turn = group.request(token, workers, waiterKind, request)
        executor =
            switch turn {
            case .waiter(let waiter): waiter
            case .lease: workers.executor(mayStay: request.mayStay)
            }
    }

    func cancel() {
        token.cancel()
        if case .waiter(let waiter) = turn { group.cancel(waiter) }
        if let barrier, let barrierWaiter { barrier.cancel(barrierWaiter) }
    }
}
