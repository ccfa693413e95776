import QuarryCore
import Synchronization

/// Runs accesses on the connections of a group: takes a lease, frames the access, gives the lease back.
final class AccessRunner: Sendable {
    /// Where an asynchronous access runs.
    enum Placement: Sendable {
        case inline
        case offloaded
        /// Where the durations of reads say.
        case measured
    }

    let group: ConnectionGroup
    private let workers: WorkerThreads
    private let admission: Lock<ReadAdmission>

    init(_ group: ConnectionGroup, workers: WorkerThreads) {
        self.group = group
        self.workers = workers
        admission = Lock(ReadAdmission(maximumInlineCount: CooperativePool.width / 2))
    }

    /// What is known of the durations of reads.
    var readAdmission: ReadAdmission { admission.withLock { $0 } }

    // MARK: - Threads

    /// Runs an access on this thread.
    ///
    /// - parameter barrier: a group whose connections must all be at rest meanwhile.
    func sync<T>(barrier: ConnectionGroup? = nil, _ body: (Database) throws -> T) throws -> T {
        // Before the group's connection is waited for: who has it may wait for this thread's.
        if let barrier, barrier.ownedConnection != nil { throw DatabaseError.reentrantAccess() }
        let lease = try group.lease()
        guard let barrier else {
            defer { group.release(lease) }
            return try lease.withDatabase { db in try Self.frame(db, nil, body) }
        }
        try group.beginBarrier(of: barrier, for: lease)
        defer {
            barrier.endBarrier()
            group.release(lease)
        }
        return try Self.frame(lease.database, nil, body)
    }

    /// Runs `body` as one access of a connection, unless it has been cancelled.
    static func frame<T>(
        _ db: Database, _ token: AccessToken?, followsTask: Bool = false, _ body: (Database) throws -> T
    ) throws -> T {
        if followsTask ? Task.isCancelled : token?.isCancelled ?? false { throw CancellationError() }
        try db.beginAccess(token, followsTask: followsTask)
        let result: T
        do {
            result = try body(db)
        } catch {
            // The first error counts.
            _ = db.endAccess()
            throw error
        }
        if let error = db.endAccess() { throw error }
        return result
    }

    // MARK: - Tasks

    /// Runs an access for a task, which can be cancelled.
    func async<T: Sendable>(
        _ placement: Placement, barrier: ConnectionGroup? = nil, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        // A barrier has a connection while it waits for others, and so it mustn't need a thread of Swift's.
        let placement = barrier == nil ? placement : .offloaded
        if isToGiveWay(placement) { await Task.yield() }
        if placement == .inline, let lease = group.leaseAtOnce() {
            // Nothing is waited for: no place in a line, and nothing to be told of a cancellation.
            defer { group.release(lease) }
            return try lease.withDatabase { db in try Self.frame(db, nil, followsTask: true, body) }
        }
        let place = TaskPlace(group, barrier, workers, placement == .inline ? .inlineTask : .offloadedTask)
        return try await withTaskCancellationHandler {
            try await run(place, placement, body)
        } onCancel: {
            place.cancel()
        }
    }

    /// How a read begins.
    enum ReadKind {
        /// In a transaction of its own, which sees the state of its first statement.
        case transaction
        /// In a transaction of its own, which sees the state of its beginning.
        case pinnedTransaction
        /// As the connection stands: a snapshot's transaction is open.
        case bare
    }

    /// Runs a read on this thread.
    func read<T>(_ kind: ReadKind, _ body: (Database) throws -> T) throws -> T {
        try sync { db in try Self.read(db, kind, body) }
    }

    static func read<T>(_ db: Database, _ kind: ReadKind, _ body: (Database) throws -> T) throws -> T {
        switch kind {
        case .transaction: try db.beginRead(pinned: false)
        case .pinnedTransaction: try db.beginRead(pinned: true)
        case .bare: return try body(db)
        }
        return try db.finishRead { try body(db) }
    }

    /// Runs a read for a task, which can be cancelled.
    func asyncRead<T: Sendable>(
        _ placement: Placement, _ kind: ReadKind, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        if isToGiveWay(placement) { await Task.yield() }
        if placement != .offloaded, let lease = group.leaseAtOnce() {
            defer { group.release(lease) }
            if placement == .inline {
                return try Self.frame(lease.database, nil, followsTask: true) { db in try Self.read(db, kind, body) }
            }
            if isAdmittedInline() {
                do { return try readInline(lease, nil, kind, body) } catch is WouldWait {}
            }
        }
        let place = TaskPlace(group, nil, workers, mayRunInline(placement) ? .inlineTask : .offloadedTask)
        return try await withTaskCancellationHandler {
            try await runRead(place, placement, kind, body)
        } onCancel: {
            place.cancel()
        }
    }

    /// Waits for a connection for a task, and runs `body`, which may wait for others, on the library's threads.
    ///
    /// - parameter barrier: a group whose connections must all be at rest meanwhile.
    /// - parameter task: the number of the task that waits, as of `DeadlockDetector.newTask()`: it has other connections,
    ///   or will wait for more.
    func withLease<T: Sendable>(
        barrier: ConnectionGroup? = nil, task: UInt,
        _ body: @Sendable (ConnectionGroup.Lease, AccessToken) async throws -> T
    ) async throws -> T {
        let place = TaskPlace(group, barrier, workers, .offloadedTask)
        // Here: the executor holds the task until its turn comes.
        group.enter(place.turn, task: task)
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(place.executor, isolation: nil) {
                let lease = try await group.lease(place.turn)
                if let barrier = place.barrier, let waiter = place.barrierWaiter {
                    try await group.beginBarrier(of: barrier, waiter, place.token, for: lease, task: task)
                }
                group.setHolder(task, of: lease.slot)
                defer {
                    group.setHolder(nil, of: lease.slot)
                    place.barrier?.endBarrier()
                    group.release(lease)
                }
                return try await body(lease, place.token)
            }
        } onCancel: {
            place.cancel()
        }
    }

    /// Runs an access in a task of its own, on the library's threads. Its place in the line is taken before this
    /// returns.
    ///
    /// - parameter fail: called where there is no connection to be had, or the access leaves an error behind.
    func enqueue(
        barrier: ConnectionGroup? = nil, _ body: @escaping @Sendable (Database) throws -> Void,
        orFail fail: @escaping @Sendable (any Error) -> Void
    ) {
        let place = TaskPlace(group, barrier, workers, .offloadedTask)
        Task(executorPreference: place.executor) {
            do {
                try await self.runHere(place, body)
            } catch {
                // The user's code, which may take its time.
                WorkerThreads.willBeBusy()
                fail(error)
            }
        }
    }

    /// Runs a read in a task of its own, on the library's threads. Its place in the line is taken before this returns.
    func enqueueRead(
        _ kind: ReadKind, _ body: @escaping @Sendable (Database) -> Void,
        orFail fail: @escaping @Sendable (any Error) -> Void
    ) {
        enqueue({ db in try self.measured { try Self.read(db, kind, body) } }, orFail: fail)
    }

    /// Ends a read that another thread has begun, in a task of its own, on the library's threads.
    func continueRead(
        _ lease: ConnectionGroup.Lease, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        Task(executorPreference: workers) { [group] in
            defer { group.release(lease, endsJob: true) }
            var hasBegun = false
            do {
                try Self.frame(lease.database, nil) { db in
                    try db.finishRead {
                        hasBegun = true
                        body(.success(db))
                    }
                }
            } catch {
                // Once `body` has run, an error that ends the read has no receiver.
                if !hasBegun { body(.failure(error)) }
            }
        }
    }

    // MARK: - Running

    private func run<T: Sendable>(
        _ place: TaskPlace, _ placement: Placement, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        if placement == .inline { return try await runHere(place, body) }
        return try await withTaskExecutorPreference(place.executor, isolation: nil) {
            try await runHere(place, body)
        }
    }

    /// Waits for the lease, and runs where the task is.
    private func runHere<T: Sendable>(_ place: TaskPlace, _ body: @Sendable (Database) throws -> T) async throws -> T {
        let lease = try await group.lease(place.turn)
        guard let barrier = place.barrier, let waiter = place.barrierWaiter else {
            defer { group.release(lease, endsJob: true) }
            return try Self.frame(lease.database, place.token, body)
        }
        try await group.beginBarrier(of: barrier, waiter, place.token, for: lease)
        defer {
            barrier.endBarrier(endsJob: true)
            group.release(lease, endsJob: true)
        }
        return try Self.frame(lease.database, place.token, body)
    }

    private func runRead<T: Sendable>(
        _ place: TaskPlace, _ placement: Placement, _ kind: ReadKind, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        switch placement {
        case .inline:
            return try await runHere(place) { db in try Self.read(db, kind, body) }
        case .measured where place.waiterKind == .inlineTask:
            let leaseOrSlot = try await group.leaseOrSlot(place.turn)
            if case .lease(let lease) = leaseOrSlot, isAdmittedInline() {
                var isOver = true
                defer { if isOver { group.release(lease) } }
                do {
                    return try readInline(lease, place.token, kind, body)
                } catch is WouldWait {
                    isOver = false
                }
            }
            return try await withTaskExecutorPreference(workers, isolation: nil) {
                let lease = try group.lease(leaseOrSlot)
                defer { group.release(lease, endsJob: true) }
                return try Self.frame(lease.database, place.token) { db in
                    try measured { try Self.read(db, kind, body) }
                }
            }
        case .measured, .offloaded:
            return try await withTaskExecutorPreference(place.executor, isolation: nil) {
                let lease = try await group.lease(place.turn)
                defer { group.release(lease, endsJob: true) }
                return try Self.frame(lease.database, place.token) { db in
                    try measured { try Self.read(db, kind, body) }
                }
            }
        }
    }

    /// Whether a read is expected to run where the task is.
    private func mayRunInline(_ placement: Placement) -> Bool {
        switch placement {
        case .inline: true
        case .offloaded: false
        case .measured: admission.withLock { $0.expectsShortReads }
        }
    }

    /// Whether a read may run where the task is; `readInline` has to follow then.
    private func isAdmittedInline() -> Bool {
        admission.lock()
        defer { admission.unlock() }
        return admission.contents.pointee.admitsInline()
    }

    /// Runs a read where the task is.
    ///
    /// - parameter token: nil where the task itself is asked whether it is cancelled.
    /// - throws: `WouldWait` if the read has to run elsewhere. Not an optional result: in a generic function that isn't
    ///   specialised, its type costs more than the locks.
    private func readInline<T>(
        _ lease: ConnectionGroup.Lease, _ token: AccessToken?, _ kind: ReadKind, _ body: (Database) throws -> T
    ) throws -> T {
        var start: UInt64 = 0
        defer {
            let duration = start == 0 ? nil : SystemClock.monotonicNanoseconds() - start
            admission.lock()
            admission.contents.pointee.inlineReadDidEnd(duration)
            admission.unlock()
        }
        return try Self.frame(lease.database, token, followsTask: token == nil) { db in
            if case .bare = kind {
                start = SystemClock.monotonicNanoseconds()
                return try body(db)
            }
            try Self.beginWithoutWaiting(db)
            start = SystemClock.monotonicNanoseconds()
            return try db.finishRead { try body(db) }
        }
    }

    private struct WouldWait: Error {}

    /// Begins a read where no thread may wait: takes the locks that it needs, or gives up.
    ///
    /// What is read then waits for nobody: in WAL mode a reader never does, and elsewhere the lock is held.
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
        let start = SystemClock.monotonicNanoseconds()
        defer {
            let duration = SystemClock.monotonicNanoseconds() - start
            admission.withLock { $0.record(duration) }
        }
        return try body()
    }

    /// A task's place in the lines it waits in.
    private struct TaskPlace: Sendable {
        let group: ConnectionGroup
        let barrier: ConnectionGroup?
        let token = AccessToken()
        let waiterKind: ConnectionGroup.Machine.WaiterKind
        let turn: ConnectionGroup.LeaseOrWaiter
        /// Used once the task has the group's connection.
        let barrierWaiter: TaskWaiter?

        /// The library's threads; for one that waits, those that go on with it.
        let executor: any TaskExecutor

        init(
            _ group: ConnectionGroup, _ barrier: ConnectionGroup?, _ workers: WorkerThreads,
            _ waiterKind: ConnectionGroup.Machine.WaiterKind
        ) {
            self.group = group
            self.barrier = barrier
            self.waiterKind = waiterKind
            barrierWaiter = barrier == nil ? nil : TaskWaiter(workers, .offloadedTask)
            turn = group.request(token, workers, waiterKind)
            executor = if case .waiter(let waiter) = turn { waiter } else { workers }
        }

        func cancel() {
            token.cancel()
            if case .waiter(let waiter) = turn { group.cancel(waiter) }
            if let barrier, let barrierWaiter { barrier.cancel(barrierWaiter) }
        }
    }

    // MARK: - Giving way

    /// Counts accesses that ran where their task is.
    private let inlineCount = Atomic<Int>(0)

    /// When one of them gave way, in nanoseconds.
    private let lastGivenWay = Atomic<UInt64>(0)

    /// Whether a task is to let others run, now and then.
    ///
    /// An access that finds its connection free, and runs where its task is, never suspends. Tasks that read in loops,
    /// as many as there are threads, would keep Swift's pool to themselves.
    private func isToGiveWay(_ placement: Placement) -> Bool {
        guard placement != .offloaded, inlineCount.wrappingAdd(1, ordering: .relaxed).newValue % 16 == 0 else {
            return false
        }
        let now = SystemClock.monotonicNanoseconds()
        // Giving way may wake a thread, which costs as much as several reads.
        guard now &- lastGivenWay.load(ordering: .relaxed) > 500_000 else { return false }
        lastGivenWay.store(now, ordering: .relaxed)
        return true
    }
}
