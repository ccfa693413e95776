import QuarryCore

/// The state of a connection whose writes may share transactions.
struct GroupCommit: Sendable {
    /// A transaction that an access has left open for the next.
    struct OpenTransaction {
        let machine: GroupCommitStateMachine
        /// Tells the writes of its end.
        let end: TransactionEnd
    }

    var limits = GroupCommitStateMachine.Limits()
    var openTransaction: OpenTransaction?
}

/// The end of a transaction, for which the writes that share it wait.
final class TransactionEnd: @unchecked Sendable {
    typealias Waiting = UnsafeContinuation<Result<Void, any Error>, Never>

    private enum State {
        /// Two writes share most transactions: one waits, which needs no array.
        case open(first: Waiting?, others: [Waiting])
        case ended(Result<Void, any Error>)
    }

    // `@unchecked`: used with the lock held. A lock of its own would be two blocks for each transaction.
    private var state = State.open(first: nil, others: [])
    private let lock: Lock<GroupCommit>

    /// - parameter lock: that of the connection's writes.
    init(_ lock: Lock<GroupCommit>) { self.lock = lock }

    /// Waits until the transaction has ended. It can't be cancelled: the write has been made.
    ///
    /// - throws: the reason why it was rolled back.
    func wait() async throws {
        try await withUnsafeContinuation { continuation in
            let result: Result<Void, any Error>? = lock.withLock { _ in
                switch state {
                case .open(nil, _):
                    state = .open(first: continuation, others: [])
                    return nil
                case .open(let first, var others):
                    // Not copied: a thousand writes may wait.
                    state = .open(first: nil, others: [])
                    others.append(continuation)
                    state = .open(first: first, others: others)
                    return nil
                case .ended(let result): return result
                }
            }
            if let result { continuation.resume(returning: result) }
        }.get()
    }

    /// The transaction has ended.
    func resolve(_ result: Result<Void, any Error>) {
        let (first, others) = lock.withLock { _ -> (Waiting?, [Waiting]) in
            guard case .open(let first, let others) = state else { return (nil, []) }
            state = .ended(result)
            return (first, others)
        }
        first?.resume(returning: result)
        for continuation in others { continuation.resume(returning: result) }
    }
}

// Writes that share a transaction with those that wait behind them.

extension AccessRunner {
    /// The outcome of a write that has run.
    private enum Part<T: Sendable>: Sendable {
        /// Its transaction has ended, or its changes were rolled back alone.
        ///
        /// - parameter leaves: whether the task goes back to Swift's threads.
        case ended(Result<T, any Error>, leaves: Bool)
        /// Its changes are kept if the transaction is committed.
        case waits(TransactionEnd, Result<T, any Error>)
    }

    /// Runs a write for a task: in a transaction of its own, or in that of the write before it.
    func performSharing<T: Sendable>(
        _ request: AccessRequest, _ groupCommit: Lock<GroupCommit>, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        let place = TaskPlace(request, group, workers, .offloadedTask)
        let part = try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(place.executor, isolation: nil) {
                let lease = try await group.lease(place.turn)
                return runPart(request, groupCommit, lease, place.token, body)
            }
        } onCancel: {
            place.cancel()
        }
        switch part {
        case .ended(let result, let leaves):
            if leaves { await WorkerThreads.leave() }
            return try result.get()
        case .waits(let end, let result):
            try await end.wait()
            return try result.get()
        }
    }

    /// Runs a write in its transaction, and then gives the connection to the next write, or back.
    private func runPart<T>(
        _ request: AccessRequest, _ groupCommit: Lock<GroupCommit>, _ lease: ConnectionGroup.Lease,
        _ token: AccessToken, _ body: (Database) throws -> T
    ) -> Part<T> {
        let (shared, limits) = groupCommit.withLock { ($0.openTransaction.take(), $0.limits) }
        var outcome: Result<Void, any Error>?
        let part: Part<T> = group.use(lease, endsJob: true) { db, leaseEnd in
            do {
                if shared != nil {
                    try db.joinTransaction(token)
                } else {
                    if token.isCancelled { throw CancellationError() }
                    try db.beginAccess(token)
                }
            } catch {
                outcome = .failure(DatabaseError.sharedTransactionWasLost(error))
                return .ended(.failure(error), leaves: false)
            }
            var machine = shared?.machine ?? GroupCommitStateMachine(limits, now: group.clock.now)
            let client = request.trace?.accessWillRun(db)
            var (result, end) = machine.isFirst ? db.runFirstPart(body) : db.runLaterPart(body)
            request.trace?.bodyDidEnd(db)
            let next =
                end == .lost || end == .committed || !db.mayBeJoined
                    || !machine.mayGoOn(now: group.clock.now)
                ? nil : group.pass(lease)
            switch machine.partDidEnd(end, hasNext: next != nil) {
            case .pass:
                request.trace?.accessDidRun(db, client)
                let transactionEnd = shared?.end ?? TransactionEnd(groupCommit)
                if let error = db.leaveTransaction(keepsPart: end == .kept), case .success = result {
                    result = .failure(error)
                }
                groupCommit.withLock { [machine] in
                    $0.openTransaction = GroupCommit.OpenTransaction(machine: machine, end: transactionEnd)
                }
                leaseEnd = .kept
                if let next { group.perform([next], endsJob: true, suspends: end == .kept) }
                return end == .kept ? .waits(transactionEnd, result) : .ended(result, leaves: false)
            case .commit:
                let commit = Result { try db.commitParts(keepsPart: end == .kept) }
                if case .failure(let error) = commit, end == .kept { result = .failure(error) }
                outcome = commit.mapError(DatabaseError.ofOthers)
            case .end:
                if end == .lost, case .failure(let error) = result {
                    outcome = .failure(DatabaseError.sharedTransactionWasLost(db.reasonOfLoss(error)))
                } else {
                    outcome = .success(())
                }
            }
            // The first error counts.
            if let error = db.endAccess(), case .success = result { result = .failure(error) }
            request.trace?.accessDidRun(db, client)
            return .ended(result, leaves: machine.sendsBack)
        }
        // The writes that wait are told when the connection is back.
        if let outcome { shared?.end.resolve(outcome) }
        return part
    }
}

extension ConnectionGroup {
    /// Takes the waiter at the front out of the queue, if it joins transactions: it gets the lease of the access that
    /// asks, which hands it over with `perform`.
    func pass(_ lease: Lease) -> Machine.Action? {
        state.withLock { state in
            guard let action = state.machine.pass(lease.slot) else { return nil }
            if state.counts.timedCount > 0 { endTiming(lease.slot) }
            return action
        }
    }
}

extension DatabaseError {
    /// The error of a commit for the writes before the last. A cluster can't check the deferred foreign keys of each,
    /// but a write that defers them is the last of its transaction.
    fileprivate static func ofOthers(_ error: any Error) -> any Error {
        guard (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT else { return error }
        return sharedTransactionWasLost(error)
    }

    /// The error of the writes whose transaction another write has lost. The code says that nothing of them was kept.
    fileprivate static func sharedTransactionWasLost(_ error: any Error) -> DatabaseError {
        let reason = (error as? DatabaseError).map { "\($0.extendedResultCode): \($0.message ?? "")" } ?? "\(error)"
        return DatabaseError(
            resultCode: .SQLITE_ABORT_ROLLBACK,
            message:
                "the transaction that this write shared with others was rolled back: one of them failed (\(reason))")
    }
}
