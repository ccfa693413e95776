import Quarry
import QuarryIncrementalWrites
import QuarryTestSupport
import Testing

@Suite struct BulkLoadingSamples {
    struct Player: Codable, FetchableRecord, MutablePersistableRecord {
        struct InvalidLine: Error {}

        var id: Int64?
        var name: String

        init(_ line: String) throws {
            guard !line.isEmpty else { throw InvalidLine() }
            name = line
        }

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct Score: Codable, PersistableRecord {
        var playerId: Int64?
        var points: Int
    }

    let folder: TemporaryFolder
    let dbPool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try dbPool.write { db in
            try db.makePlayers()
            try db.execute(
                sql: """
                    CREATE INDEX playerOnName ON player (name);
                    CREATE TABLE score (playerId INTEGER REFERENCES player, points INTEGER);
                    """)
        }
    }

    private var count: Int { get async throws { try await dbPool.read(Player.fetchCount) } }

    private func lines(_ lines: [String]) -> AsyncStream<String> {
        AsyncStream { continuation in
            for line in lines { continuation.yield(line) }
            continuation.finish()
        }
    }

    @Test func allOrNone() async throws {
        let players = try ["Arthur", "Barbara"].map { name in try Player(name) }
        let insertedCount = try await dbPool.write { db in
            try Player.insertAll(db, players)
        }
        #expect(insertedCount == 2)
        #expect(try await count == 2)
    }

    @Test(arguments: [0, 1]) func chunks(emptyLines: Int) async throws {
        let print = { @Sendable (_: Any...) in }
        var restart: Int?
        let lines = lines(Array(repeating: "Arthur", count: 1_234) + Array(repeating: "", count: emptyLines))
        let players = lines.map { line in try Player(line) }  // an AsyncSequence
        do {
            let result = try await dbPool.insertIncrementally(
                players, chunkSize: 1_000, onConflict: .ignore
            ) { progress in
                print("\(progress.elementCount) lines, \(progress.rowCount) new players")
            }
            print("complete, in \(result.transactionCount) transactions")
        } catch let error as BulkWriteError {
            print(error)  // element 1234, after 1000 committed ones: SQLite error 19: …
            restart = error.committed.elementCount
        }
        #expect(try await count == (emptyLines == 0 ? 1_234 : 1_000))
        #expect(restart == (emptyLines == 0 ? nil : 1_000))
    }

    @Test func severalTables() async throws {
        let lines = lines(["Arthur", "Barbara"])
        try await dbPool.writeIncrementally(lines) { db, line in
            let player = try Player(line).inserted(db)
            try Score(playerId: player.id, points: 0).insert(db)
        }
        let scores = try await dbPool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM score") }
        #expect(scores == 2)
    }

    @Test func beforeAndAfter() async throws {
        let newPlayers = try ["Arthur", "Barbara"].map { name in try Player(name) }
        for _ in 1...2 {
            try await dbPool.write { db in
                try db.drop(index: "playerOnName")
                try db.execute(sql: "DROP TABLE IF EXISTS player_ft")
                try db.dropFTS5SynchronizationTriggers(forTable: "player_ft")
            }
            try await dbPool.insertIncrementally(newPlayers)
            try await dbPool.write { db in
                try db.create(index: "playerOnName", on: "player", columns: ["name"])
                try db.create(virtualTable: "player_ft", using: FTS5()) { t in
                    t.synchronize(withTable: "player")  // and indexes the rows that exist
                    t.column("name")
                }
                try db.analyze()
            }
            try await dbPool.write { db in
                try db.execute(sql: "PRAGMA analysis_limit = 400")
                try db.analyze()
            }
        }
        let found = try await dbPool.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player_ft WHERE player_ft MATCH 'arthur'")
        }
        #expect(found == 2)
    }
}
