import QuarryCore

// Accesses in tasks of their own, which report to a closure.

extension AccessRunner {
    func enqueue(
        _ placement: Placement, barrier: ConnectionLane? = nil,
        _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        enqueue(placement, barrier: barrier, { body(.success($0)) }, orFail: { body(.failure($0)) })
    }

    func enqueueRead(
        _ placement: Placement, _ kind: ReadKind, _ body: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let isCalled = Lock(false)
        enqueueRead(
            placement, kind,
            { db in
                isCalled.withLock { $0 = true }
                body(.success(db))
            },
            orFail: { error in
                // An error of the transaction's end comes after the closure has had its connection.
                if !isCalled.withLock({ $0 }) { body(.failure(error)) }
            })
    }

    func enqueueWrite<T: Sendable>(
        _ placement: Placement, _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        enqueue(
            placement,
            { db in
                let result = Result { try db.withTransaction { (.commit, try updates(db)) } }
                completion(db, result)
            },
            orFail: { [lane] error in
                // Closed, or too many wait: the connection that is handed out refuses every use.
                if let db = lane.anyConnection { completion(db, .failure(error)) }
            })
    }

    func enqueueWriteWithoutTransaction(_ placement: Placement, _ updates: @escaping @Sendable (Database) -> Void) {
        let isCalled = Lock(false)
        enqueue(
            placement,
            { db in
                isCalled.withLock { $0 = true }
                updates(db)
            },
            orFail: { [lane] _ in
                guard !isCalled.withLock({ $0 }), let db = lane.anyConnection else { return }
                updates(db)
            })
    }

    /// Runs `body` with the connection that this thread has, or as an access.
    func reentrant<T>(_ body: (Database) throws -> T) throws -> T {
        if let db = lane.ownedConnection { return try body(db) }
        return try sync(body)
    }

    /// Reads in a transaction with the connection that this thread has, or as an access.
    func readHere(_ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        guard let db = lane.ownedConnection else { return enqueueRead(.offloaded, .transaction, body) }
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
