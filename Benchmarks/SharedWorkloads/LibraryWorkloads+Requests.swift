import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 8: a query that finds no rows, so that what surrounds it shows; in 8.4 it finds ten.
extension LibraryWorkloads {
    @inline(never)
    private static func bestPlayers(above score: Int) -> QueryInterfaceRequest<Player> {
        Player.filter(Column("score") > score).order(Column("name")).limit(10)
    }

    static func buildRequest() -> Workload {
        .sync { range in
            for number in range { withExtendedLifetime(bestPlayers(above: number)) {} }
            return range.count
        }
    }

    static func prepareRequest() throws -> Workload {
        try select { db, range in
            for number in range { _ = try bestPlayers(above: number).makePreparedRequest(db) }
            return 0
        }
    }

    static func fetchRequest() throws -> Workload {
        try select { db, range in
            var count = 0
            for number in range { count += try bestPlayers(above: number).fetchAll(db).count }
            return count
        }
    }

    static func fetchRequestRows() throws -> Workload {
        try select(BenchValues.players(BenchSQL.bestPlayersCount)) { db, range in
            var sum = 0
            for number in range {
                for player in try bestPlayers(above: number % 100).fetchAll(db) { sum &+= player.checksum }
            }
            return sum
        }
    }

    static func selectCached() throws -> Workload {
        try select { db, range in
            var count = 0
            for number in range {
                let statement = try db.cachedStatement(sql: BenchSQL.selectBestPlayers)
                count += try Row.fetchAll(statement, arguments: [number]).count
            }
            return count
        }
    }

    static func selectCursor() throws -> Workload {
        try select { db, range in
            var count = 0
            for number in range {
                let statement = try db.cachedStatement(sql: BenchSQL.selectBestPlayers)
                let rows = try Row.fetchCursor(statement, arguments: [number])
                while try rows.next() != nil { count += 1 }
            }
            return count
        }
    }

    static func selectInterpolated() throws -> Workload {
        try select { db, range in
            var count = 0
            for number in range {
                let request = SQLRequest<Row>(
                    literal: "SELECT * FROM player WHERE score > \(number) ORDER BY name LIMIT 10")
                count += try request.fetchAll(db).count
            }
            return count
        }
    }

    static func selectInterpolatedCached() throws -> Workload {
        try select { db, range in
            var count = 0
            for number in range {
                let request = SQLRequest<Row>(
                    literal: "SELECT * FROM player WHERE score > \(number) ORDER BY name LIMIT 10", cached: true)
                count += try request.fetchAll(db).count
            }
            return count
        }
    }

    static func selectUncached(_ texts: [String]) throws -> Workload {
        try select { db, range in
            var count = 0
            for number in range {
                count += try Row.fetchAll(db, sql: texts[number % texts.count], arguments: [number]).count
            }
            return count
        }
    }

    private static func select(
        _ players: [BenchValues.Player] = [],
        _ body: @escaping @Sendable (Database, Range<Int>) throws -> Int
    ) throws -> Workload {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: BenchSQL.createPlayer)
            for player in players { try Player(player).insert(db) }
        }
        return .sync { range in
            try queue.read { try body($0, range) } &+ range.count
        }
    }
}
