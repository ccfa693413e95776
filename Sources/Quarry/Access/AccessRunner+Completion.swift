import QuarryCore

// Accesses in their own tasks, which report to a closure.

extension AccessRunner {
    func enqueue(_ request: AccessRequest, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let call = SingleCall()
        enqueue(
            request, { db in call { body(.success(db)) } }, orFail: { error in call { body(.failure(error)) } })
    }

    /// Runs a write of kind `write` in a bare access, in which `completion` then uses the connection.
    func enqueueWrite<T: Sendable>(
        _ request: AccessRequest, _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        let call = SingleCall()
        enqueue(
            AccessRequest(.bare, request.placement, origin: request.origin),
            { db in
                let result = Result { try request.kind.run(db, updates) }
                call { completion(db, result) }
            },
            orFail: { error in call { completion(Self.noConnection(error), .failure(error)) } })
    }

    func enqueueWriteWithoutTransaction(
        _ request: AccessRequest, _ updates: @escaping @Sendable (Database) -> Void
    ) {
        let call = SingleCall()
        enqueue(
            request, { db in call { updates(db) } },
            orFail: { error in call { updates(Self.noConnection(error)) } })
    }

    /// Ends a read that another thread has begun, in its own task, on the library's threads.
    func continueRead(
        _ lease: ConnectionGroup.Lease, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let call = SingleCall()
        let trace = tracedIfAny(AccessRequest(.begunRead)).trace
        Task(executorPreference: workers) { [group] in
            defer { group.release(lease, endsJob: true) }
            do {
                try Self.frame(lease.database, nil, trace: trace, kind: .begunRead) { db in
                    call { body(.success(db)) }
                }
                trace?.finish()
            } catch {
                let error = trace?.finish(error) ?? error
                call { body(.failure(error)) }
            }
        }
    }

    /// A connection for a closure that must receive one although none is available. No other access has the connection,
    /// and each use throws.
    private static func noConnection(_ error: any Error) -> Database {
        let reason =
            error as? DatabaseError ?? DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "\(error)")
        return Database(refusing: reason)
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
