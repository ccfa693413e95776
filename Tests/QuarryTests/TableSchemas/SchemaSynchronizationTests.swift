import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryTableSchemas

@Suite("Tables that are brought to what records declare") struct SchemaSynchronizationTests {
    struct Player: Codable, Equatable, FetchableRecord, PersistableRecord, TableSchemaProviding {
        var id: Int64?
        var name: String
        var score: Int
        var teamId: Int64?

        static var databaseSchema: TableSchema {
            TableSchema { t in
                t.column("id").primaryKey()
                t.column("score").defaults(to: 7)
                t.column("teamId").references("team").indexed()
                t.index(on: [Column("score").desc], suffix: "_byScore")
            }
        }
    }

    /// Runs `body` with a table as an older program has made it, with two rows.
    private func withOldTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, "old ""one" TEXT DEFAULT 'x');
                    CREATE INDEX old_index ON player (name);
                    INSERT INTO player (name) VALUES ('Arthur'), ('Barbara')
                    """)
            try body(db)
        }
    }

    private static func content(_ db: Database) throws -> [Row] {
        try Row.fetchAll(db, sql: "SELECT type, name, sql FROM sqlite_master ORDER BY name")
            + Row.fetchAll(db, sql: "SELECT * FROM player ORDER BY id")
    }

    // MARK: - Adding

    @Test func aTableThatIsMissing() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY)")
            #expect(
                try db.schemaMismatches(for: Player.self).map(\.description)
                    == ["table of player: declared player, is none"])
            let report = try db.synchronizeSchema(of: Player.self)
            #expect(report.createdTable)
            #expect(report.addedColumns == ["id", "name", "score", "teamId"])
            #expect(report.createdIndexes == ["player_on_teamId", "player_byScore"])
            #expect(
                report.statements == [
                    """
                    CREATE TABLE "player" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL, \
                    "score" INTEGER NOT NULL DEFAULT 7, "teamId" INTEGER REFERENCES "team"("id"))
                    """,
                    #"CREATE INDEX "player_on_teamId" ON "player"("teamId")"#,
                    #"CREATE INDEX "player_byScore" ON "player"("score" DESC)"#,
                ])
            let second = try db.synchronizeSchema(of: Player.self)
            #expect(second.isUpToDate)
            #expect(try db.synchronizeSchema(of: Player.self, dryRun: true) == second)
        }
    }

    @Test func columnsAndIndexesThatAreMissing() throws {
        try withOldTable { (db) throws in
            let before = try Self.content(db)
            let plan = try db.synchronizeSchema(of: Player.self, dryRun: true)
            #expect(try Self.content(db) == before)
            #expect(
                Set(try db.schemaMismatches(for: Player.self).map(\.kind)) == [
                    .missingColumn, .missingIndex, .undeclaredColumn, .undeclaredIndex,
                ])
            let report = try db.synchronizeSchema(of: Player.self)
            #expect(report == plan)
            #expect(!report.createdTable)
            #expect(report.addedColumns == ["score", "teamId"])
            #expect(report.createdIndexes == ["player_byScore", "player_on_teamId"])
            #expect(report.ignoredColumns == ["old \"one"])
            #expect(report.undeclaredIndexes == ["old_index"])
            #expect(report.impossible == [])
            #expect(report.mismatches == [])
            #expect(
                report.statements == [
                    #"ALTER TABLE "player" ADD COLUMN "score" INTEGER NOT NULL DEFAULT 7"#,
                    #"ALTER TABLE "player" ADD COLUMN "teamId" INTEGER REFERENCES "team"("id")"#,
                    #"CREATE INDEX "player_byScore" ON "player"("score" DESC)"#,
                    #"CREATE INDEX "player_on_teamId" ON "player"("teamId")"#,
                ])
            #expect(
                try Player.order(Column("id")).fetchAll(db) == [
                    Player(id: 1, name: "Arthur", score: 7), Player(id: 2, name: "Barbara", score: 7),
                ])
            #expect(try String.fetchAll(db, sql: "SELECT \"old \"\"one\" FROM player") == ["x", "x"])
            #expect(try db.synchronizeSchema(of: Player.self).isUpToDate)
        }
    }

    @Test func namesAreComparedAsSQLiteDoes() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE team (ID INTEGER PRIMARY KEY);
                    CREATE TABLE PLAYER ([ID] integer primary key, `Name` text not null,
                      SCORE Integer NOT NULL DEFAULT 7, teamid INTEGER REFERENCES TEAM(iD));
                    CREATE INDEX Player_On_TeamID ON player ( teamId ) ;
                    CREATE INDEX player_byscore /* best */ ON player("score"   desc)
                    """)
            #expect(try db.schemaMismatches(for: Player.self) == [])
            #expect(try db.synchronizeSchema(of: Player.self).isUpToDate)
        }
    }

    @Test func textsAreComparedAsTheyAre() throws {
        struct Record: TableSchemaProviding {
            static let databaseTableName = "player"
            static let databaseSchema = TableSchema { t in
                t.column("a", .text).defaults(to: "X")
                t.column("b", .text).defaults(sql: "CURRENT_DATE")
                t.index(on: ["a"], where: Column("a") > "X")
            }
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE player (a TEXT DEFAULT 'x', b TEXT DEFAULT current_date);
                    CREATE INDEX index_player_on_a ON player (A) WHERE A > 'x'
                    """)
            #expect(
                try db.schemaMismatches(for: Record.self).map(\.description) == [
                    "DEFAULT of a: declared 'X', is 'x'",
                    "index of index_player_on_a: declared create index index_player_on_a on player(a)where a>'X', "
                        + "is create index index_player_on_a on player(a)where a>'x'",
                ])
        }
    }

    @Test func aTableOfAnotherNameAndSchema() throws {
        try DatabaseQueue().writeWithoutTransaction { (db) throws in
            try db.execute(sql: "ATTACH DATABASE ':memory:' AS other; CREATE TABLE other.team (id INTEGER PRIMARY KEY)")
            let created = try db.synchronizeSchema(of: Player.self, named: "former", in: "other")
            #expect(created.createdIndexes == ["former_on_teamId", "former_byScore"])
            #expect(try db.tableExists("former", in: "other"))
            try db.execute(sql: "DROP INDEX other.former_byScore; ALTER TABLE other.former DROP COLUMN name")
            let added = try db.synchronizeSchema(of: Player.self, named: "former", in: "other")
            #expect(added.addedColumns == ["name"])
            #expect(added.createdIndexes == ["former_byScore"])
            #expect(try db.schemaMismatches(for: Player.self, named: "former", in: "other") == [])
        }
    }

    // MARK: - What is impossible

    struct Strict: Codable, PersistableRecord, TableSchemaProviding {
        static let databaseTableName = "player"
        var id: Int64?
        var name: String
        var email: String?
        var score: Int
        var createdAt: String
        var level: Int
        static var databaseSchema: TableSchema {
            TableSchema { t in
                t.column("id").primaryKey()
                t.column("email").unique()
                t.column("createdAt").defaults(sql: "CURRENT_TIMESTAMP")
                t.column("level").defaults(to: 1).check { $0 > 1 }
                t.column("upper", .text).generatedAs(sql: "upper(name)", .stored)
                t.column("teamId", .integer).defaults(to: 1).references("team")
                t.index(on: ["name"], unique: true)
            }
        }
    }

    @Test func reasons() throws {
        try withOldTable { (db) throws in
            try db.execute(sql: "UPDATE player SET name = 'Arthur'")
            let before = try Self.content(db)
            let report = try db.synchronizeSchema(of: Strict.self, dryRun: true)
            #expect(
                report.impossible.map { "\($0.name): \($0.reason): \($0.message)" } == [
                    "email: unique: Cannot add a UNIQUE column",
                    "score: notNullWithoutDefault: Cannot add a NOT NULL column with default value NULL",
                    "createdAt: nonConstantDefault: Cannot add a column with non-constant default",
                    "level: violatingRows: CHECK constraint failed",
                    "upper: storedColumn: cannot add a STORED column",
                    "teamId: referenceWithDefault: Cannot add a REFERENCES column with non-NULL default value",
                    "index_player_on_name: violatingRows: UNIQUE constraint failed: player.name",
                ])
            #expect(try Self.content(db) == before)
            let error = #expect(throws: SchemaSyncError.self) { try db.synchronizeSchema(of: Strict.self) }
            #expect(error?.report == report)
            #expect(
                error?.description.hasPrefix(
                    "table player can't be synchronized: email: Cannot add a UNIQUE column; score: Cannot add") == true)
            #expect(try Self.content(db) == before)
        }
    }

    @Test func someOfItIsPossibleWithoutRows() throws {
        try withOldTable { (db) throws in
            try db.execute(sql: "DELETE FROM player")
            let report = try db.synchronizeSchema(of: Strict.self, dryRun: true)
            #expect(report.impossible.map(\.reason) == [.unique])
            #expect(report.addedColumns == ["score", "createdAt", "level", "upper", "teamId"])
        }
    }

    struct OtherKey: Codable, PersistableRecord, TableSchemaProviding {
        static let databaseTableName = "player"
        var uuid: String
        var name: Int?
        static let databaseSchema = TableSchema { t in
            t.column("uuid").primaryKey()
            t.uniqueKey(["name"])
        }
    }

    @Test func whatDiffers() throws {
        try withOldTable { (db) throws in
            #expect(
                Set(try db.schemaMismatches(for: OtherKey.self).map(\.description)) == [
                    "missing column of uuid: declared TEXT, is none",
                    "undeclared column of id: declared none, is INTEGER",
                    "undeclared column of old \"one: declared none, is TEXT",
                    "undeclared index of old_index: declared none, is old_index",
                    "type of name: declared INTEGER, is TEXT", "NOT NULL of name: declared none, is NOT NULL",
                    "PRIMARY KEY of player: declared (uuid), is (id)",
                    "UNIQUE of player: declared (name), is none",
                ])
            let error = #expect(throws: SchemaSyncError.self) { try db.synchronizeSchema(of: OtherKey.self) }
            #expect(error?.report.impossible.map(\.reason) == [.primaryKey])
            #expect(error?.report.mismatches.map(\.kind) == [.type, .notNull, .primaryKey, .uniqueKeys])
        }
    }

    @Test func existingColumnsMayDiffer() throws {
        try withOldTable { (db) throws in
            try db.execute(sql: "ALTER TABLE player ADD COLUMN score TEXT; ALTER TABLE player ADD COLUMN teamId")
            let report = try db.synchronizeSchema(of: Player.self)
            #expect(report.mismatches.map(\.kind) == [.type, .notNull, .defaultValue, .type, .foreignKeys])
            #expect(report.createdIndexes == ["player_byScore", "player_on_teamId"])
        }
    }

    // MARK: - Rebuilding

    @Test func rebuilding() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT,
                      "a ""b" TEXT COLLATE NOCASE CHECK ("a ""b" <> ')'), score TEXT, -- a comment, with a comma
                      [check] INTEGER DEFAULT (1 + 1), UNIQUE (name), CONSTRAINT c CHECK (score <> ''));
                    CREATE INDEX player_byScore ON player (name);
                    CREATE INDEX old_index ON player ("a ""b");
                    INSERT INTO player (name, "a ""b", score) VALUES ('Arthur', 'x', '10'), ('Barbara', 'y', 20)
                    """)
            let before = try Self.content(db)
            let plan = try db.synchronizeSchema(of: Player.self, dryRun: true, rebuildIfNeeded: true)
            #expect(try Self.content(db) == before)
            let report = try db.synchronizeSchema(of: Player.self, rebuildIfNeeded: true)
            #expect(report == plan)
            #expect(report.rebuiltTable)
            #expect(report.addedColumns == ["teamId"])
            #expect(report.ignoredColumns == ["a \"b", "check"])
            #expect(report.undeclaredIndexes == ["old_index"])
            #expect(report.droppedConstraints == ["UNIQUE (name)", "CONSTRAINT c CHECK (score <> '')"])
            #expect(report.createdIndexes == ["player_on_teamId", "player_byScore"])
            #expect(report.impossible == [])
            #expect(report.mismatches == [])
            #expect(
                try Row.fetchAll(db, sql: "SELECT * FROM player ORDER BY id") == [
                    ["id": 1, "name": "Arthur", "score": 10, "teamId": nil, "a \"b": "x", "check": 2],
                    ["id": 2, "name": "Barbara", "score": 20, "teamId": nil, "a \"b": "y", "check": 2],
                ])
            let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'player'")
            #expect(
                sql == """
                    CREATE TABLE "player" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL, \
                    "score" INTEGER NOT NULL DEFAULT 7, "teamId" INTEGER REFERENCES "team"("id"), \
                    "a ""b" TEXT COLLATE NOCASE CHECK ("a ""b" <> ')'), [check] INTEGER DEFAULT (1 + 1))
                    """)
            #expect(
                Set(try db.schemaMismatches(for: Player.self).map(\.kind)) == [.undeclaredColumn, .undeclaredIndex])
            #expect(try db.synchronizeSchema(of: Player.self, rebuildIfNeeded: true).isUpToDate)
        }
    }

    @Test func rebuildingForAColumnThatCannotBeAdded() throws {
        try withOldTable { (db) throws in
            try db.execute(sql: "UPDATE player SET name = name || id")
            struct Record: TableSchemaProviding {
                static let databaseTableName = "player"
                static let databaseSchema = TableSchema { t in
                    t.column("id", .integer).primaryKey()
                    t.column("name", .text).notNull()
                    t.column("code", .text).unique()
                    t.column("createdAt", .datetime).notNull().defaults(sql: "CURRENT_TIMESTAMP")
                }
            }
            let report = try db.synchronizeSchema(of: Record.self, rebuildIfNeeded: true)
            #expect(report.rebuiltTable)
            #expect(report.impossible == [])
            #expect(report.addedColumns == ["code", "createdAt"])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(createdAt) FROM player") == 2)
            #expect(try db.table("player", hasUniqueKey: ["code"]))
        }
    }

    @Test func whatCanBeAddedIsAddedWithoutRebuilding() throws {
        try withOldTable { (db) throws in
            let report = try db.synchronizeSchema(of: Player.self, rebuildIfNeeded: true)
            #expect(!report.rebuiltTable)
            #expect(report.addedColumns == ["score", "teamId"])
        }
    }

    @Test func rowsThatDoNotFitLeaveTheTable() throws {
        try withOldTable { (db) throws in
            let before = try Self.content(db)
            expectError(.SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: player.score") {
                try db.synchronizeSchema(of: Strict.self, rebuildIfNeeded: true)
            }
            #expect(try Self.content(db) == before)
        }
    }

    @Test func aReadChangesNothing() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY)") }
        let mismatches = try queue.read { db in try db.schemaMismatches(for: Player.self) }
        #expect(mismatches.count == 1)
        expectError(.SQLITE_READONLY) { try queue.read { db in try db.synchronizeSchema(of: Player.self) } }
    }

    // MARK: - Random schemas

    private struct AnyTable: TableSchemaProviding {
        static let schema = Lock<TableSchema>(TableSchema())
        static let databaseTableName = "t"
        static var databaseSchema: TableSchema { schema.withLock { $0 } }
    }

    @Test func declaredSchemasAreReadBack() throws {
        var random = SeededGenerator()
        print("SchemaSynchronizationTests.randomSchemas seed: \(random.seed)")
        for number in 0..<40 {
            let context = "table \(number), seed \(random.seed)"
            let schema = RandomTableSchema(&random)
            AnyTable.schema.withLock { $0 = schema.declared }
            try withQueueConnection { db in
                try db.execute(sql: "CREATE TABLE parent (\"id\" INTEGER PRIMARY KEY, a, b, UNIQUE (a, b))")
                try db.create(tableFor: AnyTable.self)
                let first = try TableReading(db)
                #expect(first == schema.reading, "\(context)")
                let mismatches = try db.schemaMismatches(for: AnyTable.self)
                #expect(mismatches == [], "\(context)")
                let again = try db.synchronizeSchema(of: AnyTable.self, rebuildIfNeeded: true)
                #expect(again.isUpToDate, "\(context)")
                // Defined once more, of what was read.
                try db.drop(table: "t")
                AnyTable.schema.withLock { $0 = first.declared }
                try db.create(tableFor: AnyTable.self)
                let second = try TableReading(db)
                #expect(second == first, "\(context)")
                AnyTable.schema.withLock { $0 = schema.declared }
                let mismatchesOfSecond = try db.schemaMismatches(for: AnyTable.self)
                #expect(mismatchesOfSecond == [], "\(context)")
                // Columns and indexes that are taken away come back.
                try takeAway(db, &random)
                _ = try db.synchronizeSchema(of: AnyTable.self, rebuildIfNeeded: true)
                let mended = try TableReading(db)
                #expect(mended.sorted == first.sorted, "\(context)")
            }
        }
    }

    private func withQueueConnection(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in try body(db) }
    }

    private func takeAway(_ db: Database, _ random: inout SeededGenerator) throws {
        for index in try db.indexes(on: "t") where index.origin == .createIndex {
            if Bool.random(using: &random) { try db.drop(index: index.name) }
        }
        for column in try db.columns(in: "t") where Bool.random(using: &random) {
            // Columns of keys and indexes can't go.
            try? db.alter(table: "t") { t in t.drop(column: column.name) }
        }
    }
}
