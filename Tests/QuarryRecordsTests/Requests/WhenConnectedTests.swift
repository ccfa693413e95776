import Quarry
import QuarryCore
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

/// Closures of requests get the connection that the request is rendered for.
@Suite struct WhenConnectedTests {
    private typealias Team = Sport.Team
    private typealias Player = Sport.Player

    /// A request in each place that takes a closure, and the SQL that it becomes.
    private static func requests(
        _ note: @escaping @Sendable (Database) -> Void
    ) -> [(request: QueryInterfaceRequest<Row>, sql: String)] {
        let players = Table("player").all()
        let filtered = players.filterWhenConnected { db in
            note(db)
            return Column("score") > (try Int.fetchOne(db, sql: "SELECT 14"))
        }
        let best = CommonTableExpression(named: "best", request: filtered, as: Row.self)
        let members = Player.all().filterWhenConnected { db in
            note(db)
            return Column("score") > (try Int.fetchOne(db, sql: "SELECT 14"))
        }
        return [
            (filtered, #"SELECT * FROM "player" WHERE "score" > 14"#),
            (
                players.selectWhenConnected { db in
                    note(db)
                    return [Column("id"), Column("name")]
                }, #"SELECT "id", "name" FROM "player""#
            ),
            (
                players.select(Column("id")).annotatedWhenConnected { db in
                    note(db)
                    return [Column("name")]
                }, #"SELECT "id", "name" FROM "player""#
            ),
            (
                players.orderWhenConnected { db in
                    note(db)
                    return [Column("name").desc]
                }.reversed(), #"SELECT * FROM "player" ORDER BY "name" ASC"#
            ),
            (
                players.groupWhenConnected { db in
                    note(db)
                    return [Column("teamId")]
                }.havingWhenConnected { db in
                    note(db)
                    return max(Column("score")) > 1
                }, #"SELECT * FROM "player" GROUP BY "teamId" HAVING MAX("score") > 1"#
            ),
            (
                Table("team").filter(filtered.exists()),
                #"SELECT * FROM "team" WHERE EXISTS (SELECT * FROM "player" WHERE "score" > 14)"#
            ),
            (
                best.all().with(best),
                #"WITH "best" AS (SELECT * FROM "player" WHERE "score" > 14) SELECT * FROM "best""#
            ),
            (
                Team.joining(
                    required: Team.players.filterWhenConnected { db in
                        note(db)
                        return Column("score") > (try Int.fetchOne(db, sql: "SELECT 14"))
                    }
                ).asRequest(of: Row.self),
                #"SELECT "team".* FROM "team" JOIN "player" ON ("player"."teamId" = "team"."id") "#
                    + #"AND ("player"."score" > 14)"#
            ),
            (
                members.select(Column("id")).asRequest(of: Row.self),
                #"SELECT "id" FROM "player" WHERE "score" > 14"#
            ),
        ]
    }

    @Test func closuresGetTheConnectionInEachPlace() throws {
        // One set of requests for two connections.
        let noted = Recorded<[ObjectIdentifier]>([])
        let requests = Self.requests { noted.note($0) }
        for _ in 1...2 {
            try withSport { db in
                for (request, sql) in requests {
                    let before = noted.value.count
                    let rendered = try request.sql(db)
                    #expect(rendered == sql)
                    let found = noted.value.dropFirst(before)
                    #expect(!found.isEmpty && found.allSatisfy { $0 == ObjectIdentifier(db) }, "\(sql)")
                }
            }
        }
    }

    @Test func closuresOfChangesGetTheConnection() throws {
        let noted = Recorded<[ObjectIdentifier]>([])
        let request = Table("player").all().filterWhenConnected { db in
            noted.note(db)
            return Column("id") == 1
        }
        try withSport { (db) throws in
            #expect(try request.delete().sql(db) == #"DELETE FROM "player" WHERE "id" = 1"#)
            #expect(
                try request.updateAll(db, Column("score").set(to: 2)) == 1)
            #expect(noted.value.count == 2 && noted.value.allSatisfy { $0 == ObjectIdentifier(db) })
        }
    }

    @Test func withoutAConnectionTheyThrow() {
        final class NoSchema: QuerySchema {
            func keyColumns(of table: String) throws -> [String] { [] }
            func keyMayBeNull(of table: String) throws -> Bool { false }
            func rowColumn(of table: String) throws -> String? { nil }
            func rowIDName(of table: String) throws -> String? { nil }
            func isViewWithoutKey(_ table: String) throws -> Bool { false }
            func columnNames(of table: String) throws -> [String] { [] }
            func columnMayBeNull(_ column: String, of table: String) throws -> Bool { true }
            func uniqueKeys(of table: String) throws -> [[String]] { [] }
            func references(from table: String) throws -> [TableReference] { [] }
        }
        let noted = Recorded<[ObjectIdentifier]>([])
        for (request, sql) in Self.requests({ noted.note($0) }) {
            let error = expectError(DatabaseError.self) { () throws in
                var writer = QueryWriter(schema: NoSchema())
                try writer.write(request.query)
            }
            // An association asks for its columns before its condition is written.
            if sql.contains("JOIN") { continue }
            #expect(error?.resultCode == .SQLITE_MISUSE, "\(sql)")
            #expect(
                error?.message
                    == "a part of the request needs a connection, but the request is rendered without one", "\(sql)"
            )
        }
        #expect(noted.value.isEmpty)
    }

    @Test func oneRequestOnTwoSchemasAtOnce() async throws {
        let schemas = [
            (
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
                #"SELECT "id", "a" FROM "t" WHERE "id" > 1 ORDER BY "a" DESC"#
            ),
            (
                "CREATE TABLE t (b, c, k TEXT, PRIMARY KEY (k)) WITHOUT ROWID",
                #"SELECT "b", "c", "k" FROM "t" WHERE "k" > 1 ORDER BY "k" DESC"#
            ),
        ]
        let request = Table("t").all()
            .selectWhenConnected { db in try db.columns(in: "t").map { Column($0.name) } }
            .filterWhenConnected { db in try Column(db.primaryKey("t").columns[0]) > 1 }
            .orderWhenConnected { db in try [Column(db.columns(in: "t").last?.name ?? "").desc] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (definition, sql) in schemas + schemas {
                group.addTask {
                    let queue = try DatabaseQueue()
                    try await queue.write { db in
                        try db.execute(sql: definition)
                        for _ in 1...200 {
                            #expect(try request.sql(db) == sql)
                            // The schema is read again.
                            db.clearSchemaCache()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func closuresThatChangeTheSchema() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
            let request = Table("t").all().filterWhenConnected { db in
                let count = try db.columns(in: "t").count
                try db.execute(sql: "ALTER TABLE t ADD COLUMN c\(count) DEFAULT \(count)")
                db.releaseMemory()
                return Column("id") > 1
            }
            for _ in 1...3 {
                let row = try #require(try request.fetchOne(db))
                #expect(try Array(row.columnNames) == db.columns(in: "t").map(\.name))
                #expect(row["id"] == 2 && row["c1"] == 1)
            }
            #expect(try request.fetchCount(db) == 1)
        }
    }
}

extension Recorded<[ObjectIdentifier]> {
    fileprivate func note(_ db: Database) { update { $0.append(ObjectIdentifier(db)) } }
}
