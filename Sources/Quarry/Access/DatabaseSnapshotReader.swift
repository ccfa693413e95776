public import QuarryCore

/// What reads a state that doesn't change: `DatabaseSnapshot`, `DatabaseSnapshotPool`.
public protocol DatabaseSnapshotReader: DatabaseReader {
    /// Reads; inside an access of this thread, with that access's connection. Nothing can go wrong with that: the state
    /// is the same.
    func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

/// What the two kinds of snapshots are made of: connections whose transaction stays open.
final class SnapshotCore: Sendable {
    let runner: AccessRunner
    let workers: WorkerThreads
    private let placement: AccessRunner.Placement

    init(
        _ name: String, configuration: Configuration, connections: [ConnectionGroup.Connection], workers: WorkerThreads
    ) {
        self.workers = workers
        runner = AccessRunner(
            ConnectionGroup(
                name, capacity: connections.count, limits: configuration.groupLimits, connections: connections,
                open: { throw DatabaseError(resultCode: .SQLITE_ABORT, message: "Snapshot is lost.") }),
            workers: workers)
        placement = configuration.asyncExecution.readPlacement(inMemory: false)
    }

    deinit { workers.shutDown() }

    func read<T>(_ value: (Database) throws -> T) throws -> T {
        try runner.read(.bare) { db in
            try Self.checkTransaction(db)
            return try value(db)
        }
    }

    func asyncRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await runner.asyncRead(placement, .bare) { db in
            try Self.checkTransaction(db)
            return try value(db)
        }
    }

    func enqueueRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        runner.enqueueRead(.bare) { result in
            value(
                result.flatMap { db in
                    Result {
                        try Self.checkTransaction(db)
                        return db
                    }
                })
        }
    }

    func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let db = runner.group.ownedConnection { return try value(db) }
        return try read(value)
    }

    /// Throws `SQLITE_ABORT` where SQL has ended the transaction that is the snapshot.
    static func checkTransaction(_ db: Database) throws {
        guard db.isInsideTransaction else {
            throw DatabaseError(resultCode: .SQLITE_ABORT, message: "Snapshot is lost.")
        }
    }
}
