import QuarryCore

// Accesses in their own tasks, which report to a closure.

extension AccessRunner {
    /// Runs an access in its own task.
    ///
    /// - parameter body: receives the connection, or the error if none is available. It is called once.
    func enqueue(_ request: AccessRequest, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let call = SingleCall()
        enqueue(request) { db in
            call { body(.success(db)) }
        } whenReleased: { result in
            guard case .failure(let error) = result else { return }
            // `body` is the user's code, which may take a while.
            WorkerThreads.willBeBusy()
            call { body(.failure(error)) }
        }
    }

    /// Ends a read that another thread has begun, in its own task, on the library's threads.
    func continueRead(
        _ lease: ConnectionGroup.Lease, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let call = SingleCall()
        let trace = tracedIfAny(AccessRequest(.begunRead)).trace
        Task(executorPreference: workers) { [group] in
            group.use(lease, endsJob: true) { db in
                do {
                    try Self.frame(db, nil, trace: trace, kind: .begunRead) { db in call { body(.success(db)) } }
                    trace?.finish()
                } catch {
                    let error = trace?.finish(error) ?? error
                    call { body(.failure(error)) }
                }
            }
        }
    }

    /// Calls the first of several closures, and no other: an access may leave an error behind after its closure has
    /// received the connection.
    private final class SingleCall: Sendable {
        private let isCalled = Lock(false)

        func callAsFunction(_ body: () -> Void) {
            let isFirst = isCalled.withLock { isCalled in
                defer { isCalled = true }
                return !isCalled
            }
            if isFirst { body() }
        }
    }

    /// Runs `body` with the connection of the current thread, or as an access if the thread has none.
    func performReentrant<T>(_ request: AccessRequest, _ body: (Database) throws -> T) throws -> T {
        if let db = group.ownedConnection { return try body(db) }
        return try perform(request, body)
    }

    /// Reads in a transaction with the connection of the current thread, or as an access if the thread has none.
    package func readHere(
        _ request: AccessRequest, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        guard let db = group.ownedConnection else { return enqueue(request, body) }
        guard !db.isInsideTransaction else {
            return body(.failure(DatabaseError.concurrentReadInTransaction()))
        }
        do {
            try db.beginRead(pinned: false)
        } catch {
            return body(.failure(error))
        }
        // `body` has run: an error that ends the read has no receiver.
        try? db.finishRead { body(.success(db)) }
    }
}

extension DatabaseError {
    static func concurrentReadInTransaction() -> DatabaseError {
        DatabaseError.misuse("a concurrent read sees the last commit: it can't begin inside a transaction")
    }
}
