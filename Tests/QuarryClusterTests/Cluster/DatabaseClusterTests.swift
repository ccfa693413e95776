import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

@Suite("A database on a cluster") struct DatabaseClusterTests {
    private static let insertion = """
        INSERT INTO quarry_commit (id, time, isFence) \
        VALUES (?, max(?, coalesce((SELECT max(time) FROM quarry_commit), 0) + 1), 0)
        """

    @Test func recordsAndRequests() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        try cluster.write { db in
            var arthur = Player(id: nil, name: "Arthur", score: 300, photo: [1, 2, 3])
            try arthur.insert(db)
            #expect(arthur.id == 1)
            #expect(db.lastInsertedRowID == 1)
            #expect(db.changesCount == 1)
            var barbara = Player(id: nil, name: "Barbara", score: nil, photo: [])
            try barbara.insert(db)
            barbara.score = 700
            try barbara.update(db)
            #expect(db.changesCount == 1)
            #expect(try Player.filter(Player.Columns.score > 100).updateAll(db, Player.Columns.score += 1) == 2)
            #expect(db.changesCount == 2)
        }
        let players = try cluster.read { db in try Player.order(Player.Columns.name).fetchAll(db) }
        #expect(
            players == [
                Player(id: 1, name: "Arthur", score: 301, photo: [1, 2, 3]),
                Player(id: 2, name: "Barbara", score: 701, photo: []),
            ])
        #expect(try cluster.read { db in try Player.fetchOne(db, key: 2)?.name } == "Barbara")
        #expect(try cluster.read { db in try Player.fetchCount(db) } == 2)
        #expect(try cluster.write { db in try Player.deleteOne(db, key: 1) })
        #expect(try fixture.nodes.query("SELECT name FROM player") == [[.text("Barbara")]])
    }

    @Test func aReadIsOneRoundTrip() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        _ = try cluster.read { db in try Player.fetchOne(db, key: 1) }
        fixture.nodes.log.clear()
        // Nobody waits for the answer of the COMMIT, so the next read makes sure that it was executed.
        for _ in 1...2 { _ = try cluster.read { db in try Player.fetchOne(db, key: 1) } }
        // The COMMIT of the read before may arrive late.
        #expect(
            fixture.nodes.log.statements.drop { $0.hasPrefix("COMMIT") }.prefix(4) == [
                "BEGIN DEFERRED TRANSACTION", "PRAGMA schema_version",
                "SELECT * FROM \"player\" WHERE \"id\" = ?", "COMMIT TRANSACTION",
            ])
        // Nothing is sent for a transaction without a statement.
        let count = fixture.nodes.log.entries.count { $0.sql?.hasPrefix("BEGIN") == true }
        try cluster.read { _ in }
        try cluster.write { _ in }
        #expect(fixture.nodes.log.entries.count { $0.sql?.hasPrefix("BEGIN") == true } == count)
    }

    @Test func aWriteKeepsItsIdentifier() throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.write { db in try db.execute(sql: "DELETE FROM player") }
        fixture.nodes.log.clear()
        try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        #expect(
            fixture.nodes.log.statements == [
                "BEGIN IMMEDIATE TRANSACTION", "PRAGMA schema_version", Self.insertion,
                "INSERT INTO player (name) VALUES ('Arthur')", "COMMIT TRANSACTION",
            ])
        #expect(try fixture.identifierCount() == 3)
    }

    @Test func aWriteThatChangesNothingKeepsNoIdentifier() throws {
        let fixture = try ClusterFixture()
        let count = try fixture.identifierCount()
        #expect(try fixture.cluster.write { db in try Player.fetchCount(db) } == 0)
        try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        #expect(try fixture.identifierCount() == count + 1)
        #expect(fixture.nodes.log.statements.contains("ROLLBACK"))
    }

    /// A statement on the journal, or on the schema, may remove the identifier.
    @Test(arguments: ["DELETE FROM Quarry_Commit", "DROP TABLE quarry_commit", "CREATE TABLE team (id INTEGER)"])
    func aWriteOnTheJournalKeepsItsIdentifier(_ sql: String) throws {
        let fixture = try ClusterFixture()
        fixture.nodes.log.clear()
        try fixture.cluster.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            try db.execute(sql: sql)
        }
        let ending = fixture.nodes.log.statements.suffix(2)
        #expect(ending == [Self.insertion, "COMMIT TRANSACTION"])
        #expect(try fixture.identifierCount() >= 1)
        // The lost answer of the next COMMIT is settled.
        fixture.nodes.faults.once(.closeConnection, at: .executed) { $0.sql == "COMMIT TRANSACTION" }
        try fixture.cluster.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
            try db.execute(sql: sql.hasPrefix("DELETE") ? sql : "DELETE FROM player WHERE name = 'Arthur'")
        }
        #expect(try fixture.nodes.query("SELECT count(*) FROM player WHERE name = 'Barbara'") == [[.integer(1)]])
    }

    @Test func asynchronousAccesses() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...20 {
                group.addTask {
                    try await cluster.write { db in
                        var player = Player(id: nil, name: "Player \(number)", score: number)
                        try player.insert(db)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 20)
        try await cluster.closeAsync()
        await #expect(throws: DatabaseError.self) { try await cluster.read { db in try Player.fetchCount(db) } }
    }

    @Test func errorsRollBack() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        try cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        let error = #expect(throws: DatabaseError.self) {
            try cluster.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
                try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        #expect(error?.message == "UNIQUE constraint failed: player.name")
        #expect(error?.sql == "INSERT INTO player (name) VALUES (?)")
        #expect(try cluster.read { db in try String.fetchAll(db, sql: "SELECT name FROM player") } == ["Arthur"])
        // A caught error leaves the transaction as it is.
        try cluster.write { db in
            try? db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Craig')")
        }
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(2)]])
        // ON CONFLICT ROLLBACK ends it.
        let aborted = #expect(throws: DatabaseError.self) {
            try cluster.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('David')")
                try? db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('Arthur')")
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Eve')")
            }
        }
        #expect(aborted?.resultCode == .SQLITE_ABORT)
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(2)]])
    }

    @Test func savepoints() throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
                return .rollback
            }
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Craig')")
                return .commit
            }
        }
        #expect(
            try fixture.nodes.query("SELECT name FROM player ORDER BY name") == [[.text("Arthur")], [.text("Craig")]])
    }

    @Test func returning() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let inserted = try cluster.write { db in
            let player = try Player(id: nil, name: "Arthur", score: 1).insertAndFetch(db)
            #expect(db.lastInsertedRowID == 1)
            return player
        }
        #expect(inserted == Player(id: 1, name: "Arthur", score: 1))
        // Outside a transaction, where a node would abort.
        let names = try cluster.writeWithoutTransaction { db in
            try String.fetchAll(db, sql: "UPDATE player SET score = 2 RETURNING name")
        }
        #expect(names == ["Arthur"])
        #expect(fixture.nodes.aborts == [])
        #expect(try fixture.nodes.query("SELECT score FROM player") == [[.integer(2)]])
    }

    @Test func manyRowsAndStatementsInBetween() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        try cluster.write { db in
            for number in 0..<500 {
                try db.execute(
                    sql: "INSERT INTO player (name, score, photo) VALUES (?, ?, zeroblob(100))",
                    arguments: ["Player \(number)", number])
            }
        }
        try cluster.write { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM player ORDER BY score")
            var sum = 0
            while let row = try cursor.next() {
                let id: Int64 = row["id"]
                try db.execute(sql: "UPDATE player SET score = score + 1 WHERE id = ?", arguments: [id])
                sum += row["score"] as Int
            }
            #expect(sum == (0..<500).reduce(0, +))
        }
        // Unread rows.
        try cluster.read { db in
            let first = try Row.fetchOne(db, sql: "SELECT * FROM player ORDER BY score")
            #expect(first?["score"] == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT SUM(score) FROM player") == (1...500).reduce(0, +))
        }
        // More keys than a statement has arguments.
        let players = try cluster.read { db in try Player.fetchAll(db, keys: Array(1...500)) }
        #expect(players.count == 500)
    }

    @Test func values() throws {
        let fixture = try ClusterFixture(schema: "CREATE TABLE t (a)")
        let cluster = fixture.cluster
        let values: [DatabaseValue] = [
            .null, Int64.min.databaseValue, Int64.max.databaseValue, 0.databaseValue, Double.pi.databaseValue,
            (-Double.infinity).databaseValue, "".databaseValue, "é😀".databaseValue, [UInt8]().databaseValue,
            [UInt8](repeating: 0, count: 10_000).databaseValue, String(repeating: "x", count: 10_000).databaseValue,
        ]
        for value in values {
            let read = try cluster.write { db in
                try db.execute(sql: "DELETE FROM t")
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value])
                return try DatabaseValue.fetchOne(db, sql: "SELECT a FROM t WHERE a IS ?", arguments: [value])
            }
            #expect(read == value)
        }
        let error = #expect(throws: DatabaseError.self) {
            try cluster.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["a\0b"]) }
        }
        #expect(error?.resultCode == .SQLITE_MISMATCH)
    }

    @Test func namedArguments() throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.write { db in
            try db.execute(
                sql: "INSERT INTO player (name, score) VALUES (:name, :score)",
                arguments: ["score": 5, "name": "Arthur"])
            let statement = try db.makeStatement(sql: "SELECT ?2, :a, ?1, :a")
            let row = try Row.fetchOne(statement, arguments: [1, 2, 3])
            #expect(row.map { Array($0.databaseValues) } == [2, 3, 1, 3].map(\.databaseValue))
            #expect(statement.columnNames == ["?2", ":a", "?1", ":a"])
        }
    }

    @Test func readsDoNotWrite() throws {
        let fixture = try ClusterFixture()
        let error = #expect(throws: DatabaseError.self) {
            try fixture.cluster.read { db in try db.execute(sql: "DELETE FROM player") }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
        let bare = #expect(throws: DatabaseError.self) {
            try fixture.cluster.unsafeRead { db in try db.execute(sql: "DELETE FROM player") }
        }
        #expect(bare?.resultCode == .SQLITE_READONLY)
    }

    @Test func fullText() throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        try cluster.write { db in
            try db.create(virtualTable: "document", using: FTS5()) { t in t.column("content") }
            try db.execute(sql: "INSERT INTO document VALUES ('the quick brown fox')")
        }
        let found = try cluster.read { db in
            try String.fetchAll(db, sql: "SELECT content FROM document WHERE document MATCH ?", arguments: ["quick"])
        }
        #expect(found == ["the quick brown fox"])
        // Another client makes the shadow of the virtual table.
        let other = try fixture.other()
        #expect(try other.read { db in try db.columns(in: "document").map(\.name) } == ["content"])
        #expect(try other.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM document") } == 1)
    }
}
