import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryCaching

/// Lookups from memory: whatever happens to the rows, they return what a read returns.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct CachedTableTests {
    struct Player: Codable, FetchableRecord, PersistableRecord, Sendable, Equatable {
        var id: Int64
        var name: String
        var score = 0
    }

    struct Country: FetchableRecord, TableRecord, Sendable, Equatable {
        var code: String
        var name: String

        init(row: Row) throws {
            code = try row.decode(forColumn: "code")
            name = try row.decode(forColumn: "name")
        }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func open(isPool: Bool = true) throws -> any DatabaseWriter {
        let path = folder.file("a.sqlite")
        let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL);
                    CREATE TABLE country (code TEXT PRIMARY KEY COLLATE NOCASE, name TEXT NOT NULL);
                    INSERT INTO country VALUES ('FR', 'France'), ('de', 'Germany');
                    """)
            for id in 1...10 { try Player(id: Int64(id), name: "Player \(id)").insert(db) }
        }
        return writer
    }

    /// The synchronous lookup, also in an asynchronous test.
    private func lookUp<Record>(
        _ table: CachedTable<Record>, _ key: some DatabaseValueConvertible
    ) throws -> Record? { try table.fetchOne(key: key) }

    /// Looks a key up until the record comes from memory.
    private func warm<Record>(_ table: CachedTable<Record>, _ key: some DatabaseValueConvertible) async throws {
        try await until("the record is in memory") {
            let hits = table.statistics.hitCount
            _ = try lookUp(table, key)
            return table.statistics.hitCount > hits
        }
    }

    @Test(arguments: [false, true]) func hitsRunNoSQL(isPool: Bool) async throws {
        let writer = try open(isPool: isPool)
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        let before = writer.statistics.statements.run
        #expect(try lookUp(players, 1) == Player(id: 1, name: "Player 1"))
        #expect(try await players.fetchOne(key: 1) == Player(id: 1, name: "Player 1"))
        #expect(writer.statistics.statements.run == before)
        #expect(players.statistics.count == 1)
        #expect(try lookUp(players, 99) == nil)
        #expect(try await players.fetchOne(key: 99) == nil)
    }

    /// Each way to change a row, and the next lookup sees it.
    @Test(arguments: [false, true]) func lookupsSeeEachCommit(isPool: Bool) async throws {
        let writer = try open(isPool: isPool)
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        try await warm(players, 2)
        for statement in [
            "UPDATE player SET name = 'A' WHERE id = 1", "INSERT OR REPLACE INTO player VALUES (1, 'B', 0)",
            "INSERT INTO player VALUES (1, 'x', 0) ON CONFLICT DO UPDATE SET name = 'C'",
            "UPDATE player SET id = 100 WHERE id = 1", "UPDATE player SET id = 1 WHERE id = 100",
            "DELETE FROM player WHERE id = 1", "INSERT INTO player VALUES (1, 'D', 5)", "DELETE FROM player",
            "DROP TABLE player; CREATE TABLE player (id INTEGER PRIMARY KEY, name, score); INSERT INTO player VALUES (1, 'E', 0)",
            "ALTER TABLE player ADD COLUMN extra", "VACUUM", "PRAGMA user_version = 5",
        ] {
            try await writer.writeWithoutTransaction { db in try db.execute(sql: statement) }
            let expected = try await writer.read { db in try Player.fetchOne(db, key: 1) }
            #expect(try lookUp(players, 1) == expected, "\(statement)")
            if expected != nil { try await warm(players, 1) }
            #expect(try lookUp(players, 1) == expected, "\(statement)")
        }
    }

    @Test func theCapacityChangesAtAnyTime() async throws {
        let writer = try open()
        let players = CachedTable<Player>(writer, capacity: 5)
        #expect(players.capacity == 5)
        for id in 1...5 { try await warm(players, id) }
        players.capacity = 2
        #expect(players.capacity == 2)
        #expect(players.statistics.count == 2 && players.statistics.evictionCount == 3)
        let hits = players.statistics.hitCount
        for id in 4...5 { #expect(try lookUp(players, id)?.name == "Player \(id)") }
        #expect(players.statistics.hitCount == hits + 2)
        players.capacity = 0
        #expect(players.statistics.count == 0)
        #expect(try lookUp(players, 1)?.name == "Player 1")
        #expect(players.statistics.count == 0)
        players.capacity = .max
        for id in 1...10 { try await warm(players, id) }
        #expect(players.statistics.count == 10)
    }

    @Test func theCapacityChangesFromManyThreads() async throws {
        let writer = try open()
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for step in 0..<200 {
                        players.capacity = (task + step) % 5
                        _ = try? await players.fetchOne(key: step % 10 + 1)
                    }
                }
            }
        }
        players.capacity = 3
        for id in 1...10 { #expect(try lookUp(players, id)?.name == "Player \(id)") }
        #expect(players.statistics.count <= 3)
    }

    @Test func releasingMemoryRemovesTheRecords() async throws {
        let writer = try open()
        let (players, others) = (CachedTable<Player>(writer), CachedTable<Player>(writer))
        for id in 1...3 { try await warm(players, id) }
        try await warm(others, 1)
        #expect(writer.releaseIdle([.readers, .pages, .statements]).removedRecords == 0)
        #expect(players.statistics.count == 3)
        let released = writer.releaseIdle(.records)
        #expect(released.removedRecords == 4)
        #expect(released.closedConnections == 0 && released.emptiedConnections == 0)
        #expect(players.statistics.count == 0 && others.statistics.count == 0)
        try await warm(players, 1)
        #expect(players.statistics.count == 1 && players.capacity == 10_000)
        #expect(writer.releaseIdle().removedRecords == 1)
    }

    /// A lookup begins to keep records only after a write that was running: also if no access may wait.
    @Test func aRunningWriteIsSeenIfNoAccessMayWait() async throws {
        var configuration = Configuration()
        configuration.maximumWaiters = 0
        try open().close()
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let players = CachedTable<Player>(pool)
        let steps = ["begun", "changed"].map { Step("the write has \($0)") }
        let mays = ["change", "end"].map { Step("it may \($0)") }
        let write = OwnThread {
            try pool.writeWithoutTransaction { db in
                steps[0].reach()
                try mays[0].wait()
                try db.execute(sql: "UPDATE player SET name = 'new' WHERE id = 1")
                steps[1].reach()
                try mays[1].wait()
            }
        }
        try await steps[0].reached()
        for _ in 0..<200 {
            #expect(try lookUp(players, 1)?.name == "Player 1")
            await Task.yield()
        }
        mays[0].reach()
        try await steps[1].reached()
        #expect(try lookUp(players, 1)?.name == "new")
        mays[1].reach()
        try await write.value
        try await warm(players, 1)
        #expect(try lookUp(players, 1)?.name == "new")
    }

    @Test func rolledBackWritesChangeNothing() async throws {
        struct Stop: Error {}
        let writer = try open()
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        try await writer.write { db in
            try Player(id: 1, name: "new").update(db)
            // The state of the last commit, also within a write.
            #expect(try lookUp(players, 1)?.name == "Player 1")
            try db.inSavepoint {
                try Player(id: 2, name: "new").update(db)
                return .rollback
            }
        }
        #expect(try lookUp(players, 1)?.name == "new")
        #expect(try lookUp(players, 2)?.name == "Player 2")
        try await warm(players, 1)
        expectError(Stop.self) {
            try writer.write { db in
                try Player(id: 1, name: "lost").update(db)
                throw Stop()
            }
        }
        #expect(try lookUp(players, 1)?.name == "new")
    }

    /// A lookup inside a write of a queue: from memory, or refused as any access inside another.
    @Test func insideAWriteOfAQueue() async throws {
        let writer = try open(isPool: false)
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        try await writer.write { db throws in
            #expect(try lookUp(players, 1)?.name == "Player 1")
            expectError(.SQLITE_MISUSE) { try lookUp(players, 2) }
        }
        #expect(try lookUp(players, 2)?.name == "Player 2")
    }

    /// A collation lets other keys find a row; a commit names the key that the row has.
    @Test func keysThatAreNotTheRowsOwn() async throws {
        let writer = try open()
        let countries = CachedTable<Country>(writer)
        try await warm(countries, "FR")
        for _ in 0..<3 { #expect(try lookUp(countries, "fr")?.name == "France") }
        #expect(countries.statistics.count == 1)
        try await writer.write { db in try db.execute(sql: "UPDATE country SET name = 'République' WHERE code = 'fr'") }
        #expect(try lookUp(countries, "fr")?.name == "République")
        #expect(try lookUp(countries, "FR")?.name == "République")
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        for _ in 0..<3 { #expect(try lookUp(players, "1")?.name == "Player 1") }
        try await writer.write { db in try db.execute(sql: "UPDATE player SET name = 'x'") }
        #expect(try lookUp(players, "1")?.name == "x")
        #expect(try lookUp(players, Optional<Int>.none) == nil)
    }

    struct Note: Codable, FetchableRecord, TableRecord, Sendable {
        var text: String
    }

    /// VACUUM may number rows without a declared key anew, so they aren't kept.
    @Test func rowsWithoutADeclaredKey() async throws {
        let writer = try open()
        try await writer.write { db in
            try db.execute(sql: "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('a')")
        }
        let notes = CachedTable<Note>(writer)
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        for _ in 0..<10 { #expect(try await notes.fetchOne(key: 1)?.text == "a") }
        #expect(notes.statistics.count == 0)
    }

    struct TeamView: Codable, FetchableRecord, TableRecord, Sendable {
        static let databaseTableName = "team"
        static var databaseSelection: [any SQLSelectable] {
            [Column("id"), SQL("(SELECT COUNT(*) FROM player WHERE score = team.id)").forKey("count")]
        }

        var id: Int64
        var count: Int
    }

    @Test func queriesThatReadOtherTables() async throws {
        let writer = try open()
        try await writer.write { db in
            try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY); INSERT INTO team VALUES (5)")
        }
        let teams = CachedTable<TeamView>(writer)
        try await warm(teams, 5)
        #expect(try lookUp(teams, 5)?.count == 0)
        try await writer.write { db in try Player(id: 50, name: "x", score: 5).insert(db) }
        #expect(try lookUp(teams, 5)?.count == 1)
    }

    @Test func mistakes() throws {
        struct Pair: FetchableRecord, TableRecord, Sendable {
            init(row: Row) {}
        }
        struct None: Codable, FetchableRecord, TableRecord, Sendable {
            var id: Int
        }
        let writer = try open()
        try writer.write { db in try db.execute(sql: "CREATE TABLE pair (a, b, PRIMARY KEY (a, b))") }
        for _ in 0..<2 {
            expectError(
                .SQLITE_MISUSE,
                #"the primary key of table pair has several columns, "a", "b": give a value for each"#
            ) { try CachedTable<Pair>(writer).fetchOne(key: 1) }
            expectError(.SQLITE_ERROR, "no such table: none") { try CachedTable<None>(writer).fetchOne(key: 1) }
        }
        let players = CachedTable<Player>(writer, capacity: 0)
        for _ in 0..<10 { #expect(try lookUp(players, 1)?.name == "Player 1") }
        #expect(players.statistics.count == 0 && players.statistics.missCount == 10)
    }

    @Test func aClosedDatabase() async throws {
        let writer = try open()
        let players = CachedTable<Player>(writer)
        try await warm(players, 1)
        try writer.close()
        expectError(.SQLITE_MISUSE) { try lookUp(players, 1) }
        expectError(.SQLITE_MISUSE) { try lookUp(players, 1) }
        await expectError(.SQLITE_MISUSE) { try await players.fetchOne(key: 2) }
    }

    @Test func aCancelledTask() async throws {
        let players = CachedTable<Player>(try open())
        try await warm(players, 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(try await players.fetchOne(key: 1)?.name == "Player 1")
            _ = try await players.fetchOne(key: 2)
        }
        await expectError(CancellationError.self) { try await task.value }
    }

    /// The cache goes, and the commits aren't kept for it any more.
    @Test func aReleasedCacheListensToNothing() async throws {
        let writer = try open()
        var players: CachedTable<Player>? = CachedTable<Player>(writer)
        try await warm(try #require(players), 1)
        weak let released = players
        players = nil
        #expect(released == nil)
        try await writer.write { db in try Player(id: 1, name: "x").update(db) }
        let name = try await writer.read { db in try Player.fetchOne(db, key: 1)?.name }
        #expect(name == "x")
    }

    /// Another pool on the file, as another process would be.
    @Test func commitsOfOthersAreNoticed() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in
            try db.makeScoredPlayers()
            try Player(id: 1, name: "a").insert(db)
        }
        let players = CachedTable<Player>(pool)
        try await warm(players, 1)
        let other = try DatabasePool(path: folder.file("a.sqlite"))
        try await other.write { db in try Player(id: 1, name: "b").update(db) }
        try await until("the commit is noticed") { try lookUp(players, 1)?.name == "b" }
    }

    /// The end of a record and the conversion of a key run code of the program: here, lookups in the same table.
    @Test func codeOfTheProgramMayLookUp() async throws {
        let writer = try open()
        let owners = CachedTable<Owner>(writer, capacity: 2)
        Owner.table.update { $0 = owners }
        defer { Owner.table.update { $0 = nil } }
        try await warm(owners, Key(id: 1))
        for id in 1...10 { _ = try lookUp(owners, Key(id: id)) }
        try await writer.write { db in try db.execute(sql: "UPDATE player SET name = 'x'") }
        #expect(try lookUp(owners, Key(id: 10)) != nil)
        owners.removeAll()
        #expect(owners.statistics.count <= 2)
    }

    private struct Key: DatabaseValueConvertible {
        var id: Int

        var databaseValue: DatabaseValue {
            _ = Owner.table.value?.statistics
            return id.databaseValue
        }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Key? {
            Int.fromDatabaseValue(dbValue).map { Key(id: $0) }
        }
    }

    private final class Owner: FetchableRecord, TableRecord, Sendable {
        static let databaseTableName = "player"
        static let table = Recorded<CachedTable<Owner>?>(nil)

        init(row: Row) {}

        deinit { _ = Self.table.value?.statistics }
    }

    /// Writers that count up, lookups from all sides: after a write has returned, no lookup returns an older value.
    @Test(arguments: [false, true]) func noLookupIsStale(isPool: Bool) async throws {
        let seed = SeededGenerator()
        print("CachedTableTests: seed \(seed.seed)")
        let writer = try open(isPool: isPool)
        let players = CachedTable<Player>(writer, capacity: 5)
        try await warm(players, 1)
        // The scores that were committed before.
        let committed = Recorded<[Int64: Int]>([:])
        // The scores that any read has returned.
        let seen = Recorded<[Int64: Int]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                group.addTask {
                    var random = SeededGenerator(seed: seed.seed &+ UInt64(number))
                    for _ in 0..<300 {
                        let id = Int64.random(in: 1...10, using: &random)
                        let isRolledBack = Int.random(in: 0..<5, using: &random) == 0
                        let score = try await writer.write { db -> Int? in
                            let score = try #require(try Player.fetchOne(db, key: id)).score + 1
                            try db.inSavepoint {
                                try Player(id: id, name: "x", score: score).update(db)
                                return isRolledBack ? .rollback : .commit
                            }
                            return isRolledBack ? nil : score
                        }
                        if let score { committed.update { $0[id] = max($0[id] ?? 0, score) } }
                    }
                }
            }
            for number in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: seed.seed &+ 100 &+ UInt64(number))
                    for step in 0..<2_000 {
                        let id = Int64.random(in: 1...10, using: &random)
                        let least = max(committed.value[id] ?? 0, seen.value[id] ?? 0)
                        let found: Player?
                        switch step % 3 {
                        case 0: found = try lookUp(players, id)
                        case 1: found = try await players.fetchOne(key: id)
                        default: found = try await writer.read { db in try Player.fetchOne(db, key: id) }
                        }
                        let score = try #require(found).score
                        #expect(score >= least)
                        seen.update { $0[id] = max($0[id] ?? 0, score) }
                    }
                }
            }
            try await group.waitForAll()
        }
        for id in Int64(1)...10 {
            let expected = try await writer.read { db in try Player.fetchOne(db, key: id) }
            #expect(try lookUp(players, id) == expected)
        }
        #expect(players.statistics.hitCount > 0)
    }
}
