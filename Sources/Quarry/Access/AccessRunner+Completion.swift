import QuarryCore

// Accesses in tasks of their own, which report to a closure.

extension AccessRunner {
    func enqueue(
        barrier: ConnectionGroup? = nil,
        _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let call = SingleCall()
        enqueue(
            barrier: barrier, { db in call { body(.success(db)) } },
            orFail: { error in call { body(.failure(error)) } })
    }

    func enqueueRead(
        _ kind: ReadKind, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let call = SingleCall()
        enqueueRead(
            kind, { db in call { body(.success(db)) } }, orFail: { error in call { body(.failure(error)) } })
    }

    func enqueueWrite<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        let call = SingleCall()
        enqueue(
            { db in
                let result = Result { try db.withTransaction { (.commit, try updates(db)) } }
                call { completion(db, result) }
            },
            orFail: { error in call { completion(Self.noConnection(error), .failure(error)) } })
    }

    func enqueueWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        let call = SingleCall()
        enqueue(
            { db in call { updates(db) } },
            orFail: { error in call { updates(Self.noConnection(error)) } })
    }

    /// A connection for a closure that gets one although there is none to be had. No other access has it, and each use
    /// throws.
    private static func noConnection(_ error: any Error) -> Database {
        let reason =
            error as? DatabaseError ?? DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "\(error)")
        return Database(refusing: reason)
    }

    /// Calls one closure of several, the first: an access may leave an error behind after its closure has had the
    /// connection.
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

    /// Runs `body` with the connection that this thread has, or as an access.
    func reentrant<T>(_ body: (Database) throws -> T) throws -> T {
        if let db = group.ownedConnection { return try body(db) }
        return try sync(body)
    }

    /// Reads in a transaction with the connection that this thread has, or as an access.
    func readHere(_ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        guard let db = group.ownedConnection else { return enqueueRead(.transaction, body) }
        guard !db.isInsideTransaction else {
            return body(.failure(DatabaseError.concurrentReadInTransaction()))
        }
        do {
            try db.beginRead(pinned: false)
        } catch {
            return body(.failure(error))
        }
        // The read has been had: an error of its end has nobody to go to.
        try? db.finishRead { body(.success(db)) }
    }
}

extension DatabaseError {
    static func concurrentReadInTransaction() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "a concurrent read sees the last commit: it can't begin inside a transaction")
    }
}
