import Quarry
import QuarryTableSchemas
import QuarryTestSupport
import Testing

@Suite struct SchemaSamples {
    private func withTeams(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
            }
            try body(db)
        }
    }

    private func withPlayers(_ body: (Database) throws -> Void) throws {
        try withTeams { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull().defaults(to: 0).check(sql: "score >= 0")
                t.belongsTo("team", onDelete: .cascade)
            }
            try db.execute(sql: "INSERT INTO team VALUES (1, 'Red'); INSERT INTO player VALUES (1, 'Arthur', 2000, 1)")
            try body(db)
        }
    }

    @Test func creating() throws {
        try withPlayers { (db) throws in
            #expect(try db.columns(in: "player").map(\.name) == ["id", "name", "score", "teamId"])
            #expect(try db.indexes(on: "player").map(\.name) == ["player_on_teamId"])
        }
    }

    @Test func keys() throws {
        try DatabaseQueue().write { db in
            try db.create(table: "passport", options: [.withoutRowID, .strict]) { t in
                t.primaryKey {
                    t.column("country", .text)
                    t.column("number", .integer)
                }
            }
            try db.create(table: "citizen") { t in
                t.primaryKey("uuid", .text)
                t.belongsTo("passport").unique()
                t.belongsTo("parent", inTable: "citizen")
            }
            #expect(
                try db.columns(in: "citizen").map(\.name)
                    == ["uuid", "passportCountry", "passportNumber", "parentUuid"])
        }
    }

    @Test func altering() throws {
        try withPlayers { db in
            try db.alter(table: "player") { t in
                t.add(column: "bonus", .integer).notNull().defaults(to: 0)
                t.add(column: "total", .integer).generatedAs(sql: "score + bonus")
                t.rename(column: "name", to: "fullName")
            }
            try db.rename(table: "player", to: "user")
            #expect(try Int.fetchOne(db, sql: "SELECT total FROM user WHERE fullName = 'Arthur'") == 2000)
        }
    }

    @Test func addingForeignKeys() throws {
        try withPlayers { db throws in
            try db.execute(sql: "CREATE TABLE coach (id INTEGER PRIMARY KEY)")
            let statements = try emitted(db) {
                try db.alter(table: "player") { t in
                    t.belongsTo("coach", onDelete: .setNull)
                }
            }
            #expect(
                statements == [
                    #"ALTER TABLE "player" ADD COLUMN "coachId" INTEGER REFERENCES "coach"("id") ON DELETE SET NULL"#,
                    #"CREATE INDEX "player_on_coachId" ON "player"("coachId")"#,
                ])
        }
    }

    @Test func rebuilding() throws {
        try withPlayers { db in
            try db.rebuild(table: "player", filling: ["points": "max(score, 1)"]) { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().collate(.nocase)
                t.column("points", .integer).notNull().check(sql: "points > 0")
                t.belongsTo("team", onDelete: .restrict)
            }
            #expect(try Int.fetchOne(db, sql: "SELECT points FROM player") == 2000)
        }
    }

    struct Player: Codable, FetchableRecord, PersistableRecord, TableSchemaProviding {
        var id: Int64
        var name: String
        var score: Int
        var teamId: Int64?

        static var databaseSchema: TableSchema {
            TableSchema { t in
                t.column("id").primaryKey(autoincrement: true)
                t.column("score").defaults(to: 0).check { $0 >= 0 }
                t.column("teamId").references("team", onDelete: .cascade).indexed()
                t.uniqueKey(["teamId", "name"])
                t.index(on: [Column("score").desc, Column("name")], suffix: "_byScore")
            }
        }
    }

    @Test func tablesOfRecords() throws {
        try withTeams { (db) throws in
            try db.create(tableFor: Player.self)
            #expect(
                try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE tbl_name = 'player' AND sql <> ''")
                    == [
                        """
                        CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL, \
                        "score" INTEGER NOT NULL CHECK ("score" >= 0) DEFAULT 0, \
                        "teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE, UNIQUE ("teamId", "name"))
                        """,
                        #"CREATE INDEX "player_on_teamId" ON "player"("teamId")"#,
                        #"CREATE INDEX "player_byScore" ON "player"("score" DESC, "name")"#,
                    ])
        }
    }

    @Test func synchronizing() throws {
        try withTeams { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, nickname TEXT)
                    """)
            let report = try db.synchronizeSchema(of: Player.self)
            print(report.addedColumns)  // ["score", "teamId"]
            print(report.createdIndexes)  // ["player_byScore", "player_on_teamId"]
            print(report.ignoredColumns)  // ["nickname"]: of the table, and not of the record
            print(report.mismatches)  // [UNIQUE of player: declared (teamid, name), is none]
            #expect(report.addedColumns == ["score", "teamId"])
            #expect(report.createdIndexes == ["player_byScore", "player_on_teamId"])
            #expect(report.ignoredColumns == ["nickname"])
            for mismatch in try db.schemaMismatches(for: Player.self) {
                print(mismatch)  // undeclared column of nickname: declared none, is TEXT
            }
            #expect(
                try db.schemaMismatches(for: Player.self).first?.description
                    == "undeclared column of nickname: declared none, is TEXT")
        }
    }

    @Test func indexesViewsAndTriggers() throws {
        try withPlayers { db in
            try db.create(index: "player_on_name", on: "player", expressions: ["lower(name)", "score DESC"])
            try db.create(indexOn: "player", columns: ["teamId", "name"], options: .unique, condition: "score > \(0)")
            try db.create(view: "hero", asLiteral: "SELECT * FROM player WHERE score > \(1000)")
            try db.create(table: "scoreLog") { t in
                t.column("playerId", .integer)
                t.column("score", .integer)
            }
            try db.create(
                trigger: "player_score", on: "player", .after(.update(of: ["score"])),
                when: "NEW.score <> OLD.score",
                body: "INSERT INTO scoreLog (playerId, score) VALUES (NEW.id, NEW.score)")
            try db.execute(sql: "UPDATE player SET score = 3000")
            #expect(try Int.fetchOne(db, sql: "SELECT score FROM scoreLog") == 3000)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM hero") == ["Arthur"])
        }
    }

    @Test func virtualTables() throws {
        try DatabaseQueue().write { db in
            try db.create(virtualTable: "document", using: "fts5(title, body)")
            #expect(try db.columns(in: "document").map(\.name) == ["title", "body"])
        }
    }

    @Test func reading() throws {
        try withPlayers { db in
            if try db.tableExists("player") {
                for column in try db.columns(in: "player") {
                    print(column.name, column.type, column.isNotNull, column.defaultValueSQL ?? "")
                }
            }
            let key = try db.primaryKey("player").columns  // ["id"]
            let isUnique = try db.table("team", hasUniqueKey: ["name"])  // true
            let foreignKeys = try db.foreignKeys(on: "player")  // one, to team
            #expect(key == ["id"] && isUnique && foreignKeys.map(\.destinationTable) == ["team"])
        }
    }

    @Test func checking() throws {
        try withPlayers { db in
            let violations = try db.foreignKeyViolations()
            while let violation = try violations.next() {
                print(try violation.failureDescription(db))
                // FOREIGN KEY constraint violation - from player(teamId) to team(id), in [id:1 teamId:42]
            }
            try db.checkForeignKeys(in: "player")  // throws SQLITE_CONSTRAINT_FOREIGNKEY where there is any
        }
    }

    struct ViewKeys: DatabaseSchemaSource {
        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            view.name == "hero" ? ["id"] : nil
        }
    }

    @Test func sources() throws {
        var config = Configuration()
        config.schemaSource = ViewKeys()
        try DatabaseQueue(configuration: config).write { db in
            try db.execute(sql: "CREATE VIEW hero AS SELECT 1 AS id")
            #expect(try db.primaryKey("hero").columns == ["id"])
        }
    }
}
