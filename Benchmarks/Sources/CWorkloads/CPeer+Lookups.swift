import BenchSupport
import CSQLiteBench

/// Rows 6: a player by its key.
extension CPeer {
    static func lookup(_ fixtures: Fixtures) throws -> Workload {
        let prepared = try PreparedConnection(Connection(fixtures.readPath), looksUp: true)
        return .sync { range in
            try prepared.read {
                try range.reduce(0) { try $0 &+ prepared.lookUp(fixtures.playerKey($1)) }
            }
        }
    }

    static func lookupUnderMutex(_ fixtures: Fixtures) throws -> Workload {
        let prepared = try PreparedConnection(Connection(fixtures.readPath), looksUp: true)
        let mutex = PthreadMutex()
        return .sync { range in
            var sum = 0
            for number in range {
                let key = fixtures.playerKey(number)
                sum &+= try mutex.withLock { try prepared.read { try prepared.lookUp(key) } }
            }
            return sum
        }
    }

    static func lookupInPool(_ fixtures: Fixtures, _ key: @escaping @Sendable (Int) -> Int64) throws -> Workload {
        let pool = try ReaderPool(path: fixtures.copy(), looksUp: true)
        return .sync { range in
            var sum = 0
            for number in range {
                let key = key(number)
                sum &+= try pool.withReader { reader in try reader.pinnedRead { try reader.lookUp(key) } }
            }
            return sum
        }
    }

    static func lookupInActor(_ fixtures: Fixtures) throws -> Workload {
        let actor = ConnectionActor(try PreparedConnection(walWriter(fixtures.copy()), looksUp: true))
        return .async { range in
            var sum = 0
            for number in range {
                sum &+= try await actor.lookUp(fixtures.playerKey(number))
            }
            return sum
        }
    }
}
