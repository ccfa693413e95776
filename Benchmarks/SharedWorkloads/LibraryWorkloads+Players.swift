import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 5: records that are written, in memory.
extension LibraryWorkloads {
    static func insertPlayerRecord() throws -> Workload {
        try insertPlayers(Player.init) { db, players in
            for player in players { try player.insert(db) }
        }
    }

    static func insertPlayerCodable() throws -> Workload {
        try insertPlayers(CodablePlayer.init) { db, players in
            for player in players { try player.insert(db) }
        }
    }

    static func insertPlayerBatch() throws -> Workload {
        try insertPlayers(CodablePlayer.init) { db, players in
            #if BENCH_QUARRY
            try CodablePlayer.insertAll(db, players)
            #else
            // It has no such call.
            for player in players { try player.insert(db) }
            #endif
        }
    }

    static func updatePlayerRecord(_ fixtures: Fixtures) throws -> Workload {
        try updatePlayers(fixtures, Player.init) { db, player in
            var player = player
            player.score += 1
            try player.update(db)
        }
    }

    static func updatePlayerCodable(_ fixtures: Fixtures) throws -> Workload {
        try updatePlayers(fixtures, CodablePlayer.init) { db, player in
            var player = player
            player.score += 1
            try player.update(db)
        }
    }

    /// - parameter record: makes the records, before anything is timed.
    private static func insertPlayers<Record: Sendable>(
        _ record: (BenchValues.Player) -> Record,
        _ body: @escaping @Sendable (Database, ArraySlice<Record>) throws -> Void
    ) throws -> Workload {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: BenchSQL.createPlayer) }
        let players = BenchValues.players(FixtureSize.players).map(record)
        return Workload(
            .sync { range in
                try queue.write { try body($0, players[range]) }
                return 0
            },
            finish: {
                try queue.write { db in
                    let checksum = try Int.fetchOne(db, sql: BenchSQL.playerChecksum) ?? 0
                    try db.execute(sql: BenchSQL.deletePlayers)
                    return checksum
                }
            })
    }

    private static func updatePlayers<Record: Sendable>(
        _ fixtures: Fixtures, _ record: (BenchValues.Player) -> Record,
        _ body: @escaping @Sendable (Database, Record) throws -> Void
    ) throws -> Workload {
        let queue = try DatabaseQueue()
        let players = BenchValues.players(fixtures.playerCount).map(record)
        try queue.write { db in
            try db.execute(sql: BenchSQL.createPlayer)
            for player in BenchValues.players(fixtures.playerCount) { try Player(player).insert(db) }
        }
        return Workload(
            .sync { range in
                try queue.write { db in
                    for number in range { try body(db, players[Int(fixtures.playerKey(number)) - 1]) }
                }
                return 0
            },
            finish: { try queue.read { try Int.fetchOne($0, sql: BenchSQL.playerChecksum) ?? 0 } })
    }
}
