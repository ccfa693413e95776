import BenchSupport

/// Rows 7: accesses that do nothing.
extension CPeer {
    static func emptyReadUnderMutex() throws -> Workload {
        let prepared = try PreparedConnection(Connection(":memory:"), looksUp: false)
        let mutex = PthreadMutex()
        return .sync { range in
            for _ in range {
                try mutex.withLock { try prepared.read {} }
            }
            return range.count
        }
    }

    static func emptyWriteUnderMutex(_ connection: Connection) throws -> Workload {
        let prepared = try PreparedConnection(connection, looksUp: false)
        let mutex = PthreadMutex()
        return .sync { range in
            for _ in range {
                try mutex.withLock { try prepared.write {} }
            }
            return range.count
        }
    }

    static func emptyReadInPool(_ fixtures: Fixtures) throws -> Workload {
        let pool = try ReaderPool(path: fixtures.newPath(), looksUp: false)
        return .sync { range in
            for _ in range {
                try pool.withReader { reader in try reader.pinnedRead {} }
            }
            return range.count
        }
    }

    static func emptyAccessUnderMutex() -> Workload {
        let mutex = PthreadMutex()
        return .sync { range in
            for _ in range {
                mutex.withLock {}
            }
            return range.count
        }
    }

    static func emptyAccessInPool(_ fixtures: Fixtures) throws -> Workload {
        let pool = try ReaderPool(path: fixtures.newPath(), looksUp: false)
        return .sync { range in
            for _ in range {
                try pool.withReader { _ in }
            }
            return range.count
        }
    }

    static func emptyWriteInActor() throws -> Workload {
        let actor = ConnectionActor(try PreparedConnection(Connection(":memory:"), looksUp: false))
        return .async { range in
            for _ in range {
                try await actor.emptyWrite()
            }
            return range.count
        }
    }

    static func emptyReadInActor() throws -> Workload {
        let actor = ConnectionActor(try PreparedConnection(Connection(":memory:"), looksUp: false))
        return .async { range in
            for _ in range {
                try await actor.emptyRead()
            }
            return range.count
        }
    }

    static func emptyPinnedReadInActor(_ fixtures: Fixtures) throws -> Workload {
        let actor = ConnectionActor(try PreparedConnection(walWriter(fixtures.newPath()), looksUp: false))
        return .async { range in
            for _ in range {
                try await actor.emptyPinnedRead()
            }
            return range.count
        }
    }

    static func emptyReadOnOwnThread(_ fixtures: Fixtures) throws -> Workload {
        let prepared = try PreparedConnection(walWriter(fixtures.newPath()), looksUp: false)
        return hop { try prepared.pinnedRead {} }
    }

    static func emptyWriteOnOwnThread(_ fixtures: Fixtures) throws -> Workload {
        let prepared = try PreparedConnection(walWriter(fixtures.newPath()), looksUp: false)
        return hop { try prepared.write {} }
    }

    static func threadHop() -> Workload {
        hop {}
    }

    /// One hop for each operation to a thread that performs the job, and back.
    private static func hop(_ job: @escaping @Sendable () throws -> Void) -> Workload {
        let worker = HopWorker(job)
        return .async { range in
            for _ in range {
                try await worker.perform()
            }
            return range.count
        }
    }
}

/// One connection, serialized as Swift does it.
actor ConnectionActor {
    private let prepared: PreparedConnection

    init(_ prepared: PreparedConnection) {
        self.prepared = prepared
    }

    func lookUp(_ key: Int64) throws -> Int {
        try prepared.pinnedRead { try prepared.lookUp(key) }
    }

    func emptyRead() throws {
        try prepared.read {}
    }

    func emptyWrite() throws {
        try prepared.write {}
    }

    func emptyPinnedRead() throws {
        try prepared.pinnedRead {}
    }
}
