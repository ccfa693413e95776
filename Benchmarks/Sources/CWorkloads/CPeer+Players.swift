import BenchSupport
import CSQLiteBench
import Foundation

/// Rows 5: players that are written, in memory.
extension CPeer {
    static func insertPlayers() throws -> Workload {
        let connection = try Connection(":memory:")
        try connection.execute(BenchSQL.createPlayer)
        let players = BenchValues.players(FixtureSize.players)
        return Workload(
            .sync { range in
                try insert(players[range], connection)
                return 0
            },
            finish: {
                let checksum = try connection.integer(BenchSQL.playerChecksum)
                try connection.execute(BenchSQL.deletePlayers)
                return checksum
            })
    }

    static func updatePlayers(_ fixtures: Fixtures) throws -> Workload {
        let connection = try Connection(":memory:")
        try connection.execute(BenchSQL.createPlayer)
        let players = BenchValues.players(fixtures.playerCount)
        try insert(players[...], connection)
        return Workload(
            .sync { range in
                try inTransaction(connection) {
                    let statement = try connection.cached(BenchSQL.updatePlayer)
                    for number in range {
                        let player = players[Int(fixtures.playerKey(number)) - 1]
                        try bind(player, score: player.score + 1, to: statement, from: 1, connection)
                        sqlite3_bind_int64(statement, 8, player.id)
                        try connection.run(statement)
                    }
                }
                return 0
            },
            finish: { try connection.integer(BenchSQL.playerChecksum) })
    }

    /// All of them in one transaction.
    static func insert(_ players: ArraySlice<BenchValues.Player>, _ connection: Connection) throws {
        try inTransaction(connection) {
            let statement = try connection.cached(BenchSQL.insertPlayer)
            for player in players {
                sqlite3_bind_int64(statement, 1, player.id)
                try bind(player, score: player.score, to: statement, from: 2, connection)
                try connection.run(statement)
            }
        }
    }

    private static func inTransaction(_ connection: Connection, _ body: () throws -> Void) throws {
        try connection.run(connection.cached("BEGIN IMMEDIATE TRANSACTION"))
        try body()
        try connection.run(connection.cached("COMMIT TRANSACTION"))
    }

    /// Binds all columns but the key.
    @inline(__always)
    private static func bind(
        _ player: BenchValues.Player, score: Int, to statement: OpaquePointer, from first: Int32,
        _ connection: Connection
    ) throws {
        guard bindText(player.name, to: statement, at: first) == SQLITE_OK,
            bindText(player.email, to: statement, at: first + 1) == SQLITE_OK
        else { throw connection.failure(SQLITE_MISUSE) }
        sqlite3_bind_int64(statement, first + 2, Int64(score))
        sqlite3_bind_double(statement, first + 3, player.bonus)
        if let teamId = player.teamId {
            sqlite3_bind_int64(statement, first + 4, teamId)
        } else {
            sqlite3_bind_null(statement, first + 4)
        }
        guard bindDate(player.createdAt, to: statement, at: first + 5) == SQLITE_OK else {
            throw connection.failure(SQLITE_MISUSE)
        }
        if let avatar = player.avatar {
            guard bindData(avatar, to: statement, at: first + 6) == SQLITE_OK else {
                throw connection.failure(SQLITE_MISUSE)
            }
        } else {
            sqlite3_bind_null(statement, first + 6)
        }
    }
}
