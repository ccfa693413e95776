import BenchSupport

#if BENCH_QUARRY
import Quarry
import QuarryCaching
#else
import GRDB
#endif

/// Rows 6: a player by its key.
extension LibraryWorkloads {
    static func lookupKeyCodable(_ fixtures: Fixtures) throws -> Workload {
        try lookup(fixtures) { db, key in try CodablePlayer.fetchOne(db, key: key)?.checksum ?? 0 }
    }

    static func lookupKeyRecord(_ fixtures: Fixtures) throws -> Workload {
        try lookup(fixtures) { db, key in try Player.fetchOne(db, key: key)?.checksum ?? 0 }
    }

    static func lookupCached(_ fixtures: Fixtures) throws -> Workload {
        try lookup(fixtures, lookUp)
    }

    static func lookupSQL(_ fixtures: Fixtures) throws -> Workload {
        try lookup(fixtures) { db, key in
            try Player.fetchOne(db, sql: BenchSQL.selectPlayer, arguments: [key])?.checksum ?? 0
        }
    }

    static func lookupRequest(_ fixtures: Fixtures) throws -> Workload {
        try lookup(fixtures) { db, key in
            let request = SQLRequest<Player>(sql: BenchSQL.selectPlayer, arguments: [key], cached: true)
            return try request.fetchOne(db)?.checksum ?? 0
        }
    }

    /// Many lookups in one read.
    private static func lookup(
        _ fixtures: Fixtures, _ body: @escaping @Sendable (Database, Int64) throws -> Int
    ) throws -> Workload {
        let queue = try DatabaseQueue(path: fixtures.readPath)
        return .sync { range in
            try queue.read { db in
                try range.reduce(0) { try $0 &+ body(db, fixtures.playerKey($1)) }
            }
        }
    }

    static func lookupQueueRead(_ fixtures: Fixtures) throws -> Workload {
        let queue = try DatabaseQueue(path: fixtures.readPath)
        return .sync { range in
            var sum = 0
            for number in range {
                let key = fixtures.playerKey(number)
                sum &+= try queue.read { db in try lookUp(db, key) }
            }
            return sum
        }
    }

    static func lookupPoolRead(_ fixtures: Fixtures) throws -> Workload {
        let pool = try openedPool(fixtures.copy())
        return .sync { range in
            var sum = 0
            for number in range {
                let key = fixtures.playerKey(number)
                sum &+= try pool.read { db in try lookUp(db, key) }
            }
            return sum
        }
    }

    static func lookupPoolReadAsync(_ fixtures: Fixtures) throws -> Workload {
        let pool = try openedPool(fixtures.copy())
        return .async { range in
            var sum = 0
            for number in range {
                let key = fixtures.playerKey(number)
                sum &+= try await pool.read { db in try lookUp(db, key) }
            }
            return sum
        }
    }

    static func lookupHot(_ fixtures: Fixtures) throws -> Workload {
        let pool = try openedPool(fixtures.copy())
        #if BENCH_QUARRY
        let players = CachedTable<CodablePlayer>(pool)
        let lookUp: @Sendable (Int64) throws -> CodablePlayer? = { key in try players.fetchOne(key: key) }
        // A cached table keeps records after the first write access that began after its first lookup.
        _ = try lookUp(1)
        try pool.write { _ in }
        #else
        let lookUp: @Sendable (Int64) throws -> CodablePlayer? = { key in
            try pool.read { db in try CodablePlayer.fetchOne(db, key: key) }
        }
        #endif
        return .sync { range in
            try range.reduce(0) { sum, number in
                try sum &+ (lookUp(fixtures.hotPlayerKey(number))?.checksum ?? 0)
            }
        }
    }

    @Sendable
    private static func lookUp(_ db: Database, _ key: Int64) throws -> Int {
        let statement = try db.cachedStatement(sql: BenchSQL.selectPlayer)
        return try Player.fetchOne(statement, arguments: [key])?.checksum ?? 0
    }
}
