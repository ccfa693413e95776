import Quarry
import QuarryCluster
import Testing

/// `DatabaseCluster` on nodes of dqlite.
@Suite("A database on nodes", .serialized, .threeNodes, .timeLimit(.minutes(10))) struct DatabaseTests {
    let nodes: NodeGroup

    init() throws { nodes = try #require(NodeGroup.current) }

    @Test func recordsAndAssociations() throws {
        for address in nodes.addresses {
            // One address suffices, a follower's too.
            let cluster = try nodes.open("records", by: [address])
            try DatabaseMigrator.teams.migrate(cluster)
            try cluster.write { db in
                try Team.deleteAll(db)
                try Player.deleteAll(db)
                var reds = Team(id: 1, name: "Reds")
                try reds.insert(db)
                var blues = Team(id: nil, name: "Blues")
                try blues.insert(db)
                #expect(blues.id == db.lastInsertedRowID)
                for number in 1...5 {
                    var player = Player(
                        id: Int64(number), teamId: number < 4 ? 1 : nil, name: "P\(number)", score: number)
                    try player.insert(db)
                }
                #expect(try Player.filter(Column("score") > 3).updateAll(db, Column("score") += 10) == 2)
                #expect(db.changesCount == 2)
            }
            let teams = try cluster.read { db in
                try Team.order(Column("name").desc)
                    .including(all: Team.players.order(Column("id")))
                    .asRequest(of: TeamInfo.self).fetchAll(db)
            }
            #expect(teams.map(\.team.name) == ["Reds", "Blues"])
            let names = teams.map { team in team.players.map(\.name) }
            #expect(names == [["P1", "P2", "P3"], []])
            let players = try cluster.read { db in
                try Player.order(Column("score").desc).including(optional: Player.team)
                    .asRequest(of: PlayerInfo.self).fetchAll(db)
            }
            #expect(players.map(\.player.score) == [15, 14, 3, 2, 1])
            #expect(players.map(\.team?.name) == [nil, nil, "Reds", "Reds", "Reds"])
            let left = try cluster.write { db in
                try (Team.deleteOne(db, key: 1), Player.fetchCount(db))
            }
            #expect(left == (true, 2))
            #expect(
                try cluster.read { db in try DatabaseMigrator.teams.completedMigrations(db) } == ["team", "player"])
        }
    }

    @Test func savepoints() throws {
        let cluster = try nodes.open("savepoints")
        try DatabaseMigrator.teams.migrate(cluster)
        try cluster.write { db in
            var team = Team(id: nil, name: "A")
            try team.insert(db)
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO team (name) VALUES ('B')")
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO team (name) VALUES ('C')")
                    try db.execute(sql: "CREATE TABLE extra (a)")
                    return .rollback
                }
                #expect(try !db.tableExists("extra"))
                return .commit
            }
            // A violated constraint leaves the transaction as it was.
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO team (name) VALUES ('A')")
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error?.message == "UNIQUE constraint failed: team.name")
        }
        // A savepoint that is the transaction.
        try cluster.writeWithoutTransaction { db in
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO team (name) VALUES ('D')")
                return .commit
            }
        }
        let names = try cluster.read { db in try String.fetchAll(db, sql: "SELECT name FROM team ORDER BY name") }
        #expect(names == ["A", "B", "D"])
    }

    @Test func returning() throws {
        let cluster = try nodes.open("returning")
        try DatabaseMigrator.teams.migrate(cluster)
        let team = try cluster.write { db in try Team(id: nil, name: "A").insertAndFetch(db) }
        #expect(team == Team(id: 1, name: "A"))
        // Outside a transaction, after which a node would abort at the next write.
        try cluster.writeWithoutTransaction { db in
            let names = try String.fetchAll(db, sql: "INSERT INTO team (name) VALUES ('B'), ('C') RETURNING name")
            #expect(names == ["B", "C"])
            #expect(db.lastInsertedRowID == 3)
            try db.execute(sql: "INSERT INTO team (name) VALUES ('D')")
            // Unread rows.
            _ = try String.fetchOne(db, sql: "UPDATE team SET name = name || '!' RETURNING name")
            try db.execute(sql: "INSERT INTO team (name) VALUES ('E')")
            let error = #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, sql: "INSERT INTO team (name) VALUES ('F'), ('E') RETURNING id")
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error?.message == "UNIQUE constraint failed: team.name")
            try db.execute(sql: "INSERT INTO team (name) VALUES ('G')")
        }
        let names = try cluster.read { db in try String.fetchAll(db, sql: "SELECT name FROM team ORDER BY id") }
        #expect(names == ["A!", "B!", "C!", "D!", "E", "G"])
    }

    @Test func changesThatFail() throws {
        let cluster = try nodes.open("failures")
        try DatabaseMigrator.teams.migrate(cluster)
        try cluster.write { db in
            // Often enough that the node prepares the statement.
            for name in ["A", "B", "C"] { _ = try Team(id: nil, name: name).insertAndFetch(db) }
            #expect(db.changesCount == 1)
            for _ in 1...3 {
                let error = #expect(throws: DatabaseError.self) {
                    _ = try Team(id: nil, name: "A").insertAndFetch(db)
                }
                #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
                #expect(db.isInsideTransaction)
            }
            #expect(try Team.fetchCount(db) == 3)
        }
        // Outside a transaction, FAIL keeps the rows before the one at fault, and ABORT doesn't.
        for (resolution, count) in [("FAIL", 4), ("ABORT", 4), ("ROLLBACK", 4)] {
            let error = #expect(throws: DatabaseError.self) {
                try cluster.writeWithoutTransaction { db in
                    try db.execute(sql: "INSERT OR \(resolution) INTO team (name) VALUES ('\(resolution)'), ('A')")
                }
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(try cluster.read { db in try Team.fetchCount(db) } == count)
        }
    }

    @Test func manyArguments() throws {
        let cluster = try nodes.open("arguments")
        try DatabaseMigrator.teams.migrate(cluster)
        try cluster.write { db in
            for number in 1...600 { _ = try Team(id: Int64(number), name: "T\(number)").inserted(db) }
        }
        let list = Array(repeating: "?", count: 250).joined(separator: ", ")
        let count = try cluster.read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM team WHERE id IN (\(list))",
                arguments: StatementArguments((1...250).map { $0 * 2 }))
        }
        #expect(count == 250)
        // More keys than a node takes arguments.
        #expect(try cluster.read { db in try Team.fetchAll(db, keys: Array(1...600)).count } == 600)
        #expect(try cluster.write { db in try Team.deleteAll(db, keys: Array(1...500)) } == 500)
    }

    @Test func fullText() throws {
        let cluster = try nodes.open("text")
        try cluster.write { db in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.tokenizer = .porter()
                t.column("content")
            }
            try db.execute(sql: "INSERT INTO document VALUES ('the quick brown foxes'), ('lazy dogs')")
        }
        let other = try nodes.open("text")
        for database in [cluster, other] {
            let found = try database.read { db in
                try String.fetchAll(
                    db, sql: "SELECT snippet(document, 0, '<', '>', '', 9) FROM document WHERE document MATCH ?",
                    arguments: [FTS5Pattern(matchingAllTokensIn: "fox")])
            }
            #expect(found == ["the quick brown <foxes>"])
        }
        try other.write { db in try db.execute(sql: "INSERT INTO document(document) VALUES ('optimize')") }
    }

    @Test func userVersion() throws {
        let cluster = try nodes.open("version")
        try cluster.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA user_version = 3")
            try db.execute(sql: "PRAGMA application_id = 5")
        }
        #expect(try cluster.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") } == 3)
        #expect(try cluster.read { db in try db.applicationID() } == 5)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try cluster.write { db in
                try db.execute(sql: "PRAGMA user_version = 4")
                #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 4)
                throw Stop()
            }
        }
        #expect(try nodes.open("version").read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") } == 3)
    }

    @Test func clientsThatWriteAtTheSameTime() async throws {
        let first = try nodes.open("clients")
        try await first.write { db in try db.execute(sql: "CREATE TABLE item (client INTEGER, number INTEGER) STRICT") }
        let clusters = [first, try nodes.open("clients"), try nodes.open("clients")]
        try await withThrowingTaskGroup { group in
            for (client, cluster) in clusters.enumerated() {
                group.addTask {
                    for number in 0..<30 {
                        try await cluster.write { db in
                            let count = try Int.fetchOne(
                                db, sql: "SELECT count(*) FROM item WHERE client = ?", arguments: [client])
                            #expect(count == number)
                            try db.execute(sql: "INSERT INTO item VALUES (?, ?)", arguments: [client, number])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await first.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM item") } == 90)
    }

    @Test func changesOfOthersAreObserved() async throws {
        let cluster = try nodes.open("observed") { $0.changePollingInterval = .milliseconds(20) }
        try DatabaseMigrator.teams.migrate(cluster)
        try await cluster.countChanges(in: ["team"])
        let other = try nodes.open("observed")
        var names: [[String]] = []
        for try await value in ValueObservation.tracking({ db in
            try String.fetchAll(db, sql: "SELECT name FROM team ORDER BY id")
        }).values(in: cluster) {
            if names.last != value { names.append(value) }
            if value.count == 2 { break }
            try await other.write { db in
                try db.execute(sql: "INSERT INTO team (name) VALUES (?)", arguments: ["T\(value.count)"])
            }
        }
        #expect(names == [[], ["T0"], ["T0", "T1"]])
    }
}
