import BenchSupport
import CSQLiteBench

/// Rows 8: a query that finds no rows, so that what surrounds it shows; in 8.4 it finds ten.
extension CPeer {
    static func selectCached() throws -> Workload {
        try select { connection, range in
            let statement = try connection.cached(BenchSQL.selectBestPlayers)
            var count = 0
            for number in range {
                sqlite3_bind_int64(statement, 1, Int64(number))
                while try connection.step(statement) { count += 1 }
                sqlite3_reset(statement)
            }
            return count
        }
    }

    static func selectUncached(_ texts: [String]) throws -> Workload {
        try select { connection, range in
            var count = 0
            for number in range {
                var statement: OpaquePointer?
                let text = texts[number % texts.count]
                let code = sqlite3_prepare_v2(connection.handle, text, -1, &statement, nil)
                guard code == SQLITE_OK, let statement else { throw connection.failure(code) }
                defer { sqlite3_finalize(statement) }
                sqlite3_bind_int64(statement, 1, Int64(number))
                while try connection.step(statement) { count += 1 }
            }
            return count
        }
    }

    static func selectPlayers() throws -> Workload {
        let players = BenchValues.players(BenchSQL.bestPlayersCount)
        return try select(players) { connection, range in
            let statement = try connection.cached(BenchSQL.selectBestPlayers)
            var sum = 0
            for number in range {
                sqlite3_bind_int64(statement, 1, Int64(number % 100))
                var players: [Player] = []
                while try connection.step(statement) { players.append(Player(statement)) }
                sqlite3_reset(statement)
                for player in players { sum &+= player.checksum }
            }
            return sum
        }
    }

    private static func select(
        _ players: [BenchValues.Player] = [],
        _ body: @escaping @Sendable (Connection, Range<Int>) throws -> Int
    ) throws -> Workload {
        let connection = try Connection(":memory:")
        try connection.execute(BenchSQL.createPlayer)
        try insert(players[...], connection)
        return .sync { range in
            try connection.run(connection.cached("BEGIN DEFERRED TRANSACTION"))
            let count = try body(connection, range)
            try connection.run(connection.cached("COMMIT TRANSACTION"))
            return count &+ range.count
        }
    }
}
