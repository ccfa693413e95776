import Quarry
import QuarryTestSupport
import Testing

@Suite("Foreign keys of definitions")
struct BelongsToTests {
    private static let parents = """
        CREATE TABLE team (code TEXT PRIMARY KEY);
        CREATE TABLE country (code TEXT, number INTEGER, PRIMARY KEY (code, number));
        CREATE TABLE author (uuid BLOB PRIMARY KEY);
        CREATE TABLE log (message TEXT);
        CREATE VIEW best AS SELECT * FROM team;
        """

    private func expectDDL(
        _ expected: [String], setUp: String = parents, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (TableDefinition) throws -> Void
    ) throws {
        try withConnection { db in
            try db.execute(sql: setUp)
            let statements = try emitted(db) { try db.create(table: "t", body: body) }
            #expect(statements == expected, sourceLocation: sourceLocation)
        }
    }

    @Test func columnsTakeNameAndTypeFromTheKey() throws {
        try expectDDL([
            """
            CREATE TABLE "t" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, \
            "teamCode" TEXT NOT NULL REFERENCES "team"("code"), \
            "homeCode" TEXT NOT NULL ON CONFLICT ABORT REFERENCES "team"("code") ON DELETE CASCADE \
            ON UPDATE RESTRICT DEFERRABLE INITIALLY DEFERRED, \
            "countryCode" TEXT, "countryNumber" INTEGER, \
            "parentId" INTEGER REFERENCES "t"("id"), \
            "authorUuid" BLOB NOT NULL UNIQUE REFERENCES "author"("uuid") ON DELETE SET DEFAULT, \
            FOREIGN KEY ("countryCode", "countryNumber") REFERENCES "country"("code", "number"))
            """,
            """
            CREATE UNIQUE INDEX "index_t_on_countryCode_countryNumber" ON "t"("countryCode", "countryNumber")
            """,
            #"CREATE INDEX "t_on_teamCode" ON "t"("teamCode")"#,
            #"CREATE INDEX "t_on_parentId" ON "t"("parentId")"#,
        ]) { t in
            t.autoIncrementedPrimaryKey("id")
            t.belongsTo("team").notNull()
            t.belongsTo(
                "home", inTable: "team", onDelete: .cascade, onUpdate: .restrict, deferred: true, indexed: false
            )
            .notNull(onConflict: .abort)
            t.belongsTo("country").unique()
            t.belongsTo("parent", inTable: "T")
            t.belongsTo("author", onDelete: .setDefault).unique().notNull()
        }
    }

    @Test func inThePrimaryKeyTheyAreNotNullAndHaveNoIndex() throws {
        try expectDDL([
            """
            CREATE TABLE "t" ("teamCode" TEXT NOT NULL REFERENCES "team"("code") ON DELETE CASCADE, \
            "countryCode" TEXT NOT NULL, "countryNumber" INTEGER NOT NULL, \
            PRIMARY KEY ("teamCode", "countryCode", "countryNumber"), \
            FOREIGN KEY ("countryCode", "countryNumber") REFERENCES "country"("code", "number"))
            """
        ]) { t in
            t.primaryKey {
                t.belongsTo("team", onDelete: .cascade)
                t.belongsTo("country")
            }
        }
    }

    @Test func referencesToTheTableItself() throws {
        try expectDDL([
            """
            CREATE TABLE "t" ("a" TEXT NOT NULL, "b" INTEGER NOT NULL, "parentA" TEXT, "parentB" INTEGER, \
            PRIMARY KEY ("a", "b"), FOREIGN KEY ("parentA", "parentB") REFERENCES "t"("a", "b"))
            """,
            #"CREATE INDEX "index_t_on_parentA_parentB" ON "t"("parentA", "parentB")"#,
        ]) { t in
            t.primaryKey {
                t.column("a", .text)
                t.column("b", .integer)
            }
            t.belongsTo("parent", inTable: "t")
        }
        try expectDDL([
            #"CREATE TABLE "t" ("parentName" REFERENCES "t"("name"), "name", PRIMARY KEY ("name"))"#,
            #"CREATE INDEX "t_on_parentName" ON "t"("parentName")"#,
        ]) { t in
            t.belongsTo("parent", inTable: "t")
            t.column("name")
            t.primaryKey(["name"])
        }
        // SQLite knows the key of a definition in SQL.
        try expectDDL([#"CREATE TABLE "t" (id INTEGER PRIMARY KEY, "parentId" REFERENCES "t")"#]) { t in
            t.column(sql: "id INTEGER PRIMARY KEY")
            t.column("parentId").references("t")
        }
    }

    @Test func foreignKeysTakeTheColumnsOfThePrimaryKey() throws {
        try expectDDL([
            """
            CREATE TABLE "t" ("a" REFERENCES "team"("code"), "b" REFERENCES "author"("zork") ON DELETE RESTRICT \
            ON UPDATE CASCADE, FOREIGN KEY ("a", "b") REFERENCES "country"("code", "number"), \
            FOREIGN KEY ("b") REFERENCES "nowhere"("q"))
            """
        ]) { t in
            t.column("a").references("team")
            t.column("b").references("author", column: "zork", onDelete: .restrict, onUpdate: .cascade)
            t.foreignKey(["a", "b"], references: "country")
            t.foreignKey(["b"], references: "nowhere", columns: ["q"])
        }
    }

    @Test(arguments: [
        ("book", "books"), ("category", "categories"), ("box", "boxes"), ("person", "people"), ("child", "children"),
        ("leaf", "leaves"), ("bus", "buses"), ("Person", "People"), ("homeTeam", "homeTeams"), ("team", "TEAMS"),
    ])
    func aTableMayBeNamedByThePlural(name: String, table: String) throws {
        let setUp = "CREATE TABLE \(table) (id INTEGER PRIMARY KEY)"
        try withConnection { db in
            try db.execute(sql: setUp)
            try db.create(table: "t") { t in t.belongsTo(name) }
            let key = try #require(try db.foreignKeys(on: "t").first)
            #expect(key.destinationTable.lowercased() == table.lowercased())
            #expect(key.originColumns == ["\(name)Id"])
            // Of both, the singular is meant.
            try db.execute(sql: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY)")
            try db.create(table: "u") { t in t.belongsTo(name) }
            #expect(try db.foreignKeys(on: "u").map(\.destinationTable) == [name])
        }
    }

    @Test func errorsNameWhatIsWrong() throws {
        try withConnection { db in
            try db.execute(sql: Self.parents)
            func expectRefusal(
                _ message: String, _ body: (TableDefinition) -> Void, line: SourceLocation = #_sourceLocation
            ) {
                expectError(.SQLITE_ERROR, message, sourceLocation: line) { try db.create(table: "t", body: body) }
            }
            expectRefusal("no such table: missing") { t in t.belongsTo("missing") }
            expectRefusal("no such table: missing") { t in t.belongsTo("a", inTable: "missing") }
            expectRefusal("no such table: missing") { t in t.column("a").references("missing") }
            expectRefusal("no such table: missing") { t in
                t.column("a")
                t.foreignKey(["a"], references: "missing")
            }
            expectRefusal("table log has no primary key that a foreign key can refer to") { t in t.belongsTo("log") }
            expectRefusal("table t has no primary key that a foreign key can refer to") { t in
                t.belongsTo("parent", inTable: "t")
            }
            expectRefusal("foreign key on a refers to 2 columns of table country, not 1") { t in
                t.column("a").references("country")
            }
            expectRefusal("foreign key on a, b refers to 1 column of table team, not 2") { t in
                t.column("a")
                t.column("b")
                t.foreignKey(["a", "b"], references: "team")
            }
            expectRefusal("database view best has no primary key") { t in t.column("a").references("best") }
            expectRefusal(
                "belongsTo(\"parent\"): the primary key of table t is defined in SQL; define the column, and "
                    + "foreignKey(_:references:)"
            ) { t in
                t.column(sql: "id INTEGER PRIMARY KEY")
                t.belongsTo("parent", inTable: "t")
            }
            #expect(try !db.tableExists("t"))
        }
    }

    @Test func tablesWithoutPrimaryKeyAreReferredToWhereForeignKeysAreNotChecked() throws {
        let table = """
            CREATE TABLE "t" ("logId" INTEGER REFERENCES "log"("rowid") ON DELETE CASCADE, \
            "a" REFERENCES "log"("rowid"), "parentId" INTEGER REFERENCES "t"("rowid"), "c", \
            FOREIGN KEY ("c") REFERENCES "log"("rowid"))
            """
        @Sendable func create(_ db: Database) throws {
            try db.create(table: "t") { t in
                t.belongsTo("log", onDelete: .cascade, indexed: false)
                t.column("a").references("log")
                t.belongsTo("parent", inTable: "t", indexed: false)
                t.column("c")
                t.foreignKey(["c"], references: "log")
            }
        }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let unchecked = try DatabaseQueue(configuration: configuration)
        try unchecked.write { (db) throws in
            try db.execute(sql: "CREATE TABLE log (message TEXT)")
            #expect(try emitted(db) { try create(db) } == [table])
            try db.execute(sql: "INSERT INTO t (logId) VALUES (1)")
            try db.alter(table: "t") { t in t.add(column: "d").references("log") }
            #expect(try db.foreignKeys(on: "t").count == 5)
        }

        // A migration may leave such a table to a later one, which makes it whole.
        let checked = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { (db) throws in
            try db.execute(sql: "CREATE TABLE log (message TEXT)")
            try create(db)
            #expect(try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 't'") == table)
            try db.drop(table: "t")
        }
        try migrator.migrate(checked)
        try checked.write { (db) throws in
            #expect(try !db.tableExists("t"))
            expectError(.SQLITE_ERROR, "table log has no primary key that a foreign key can refer to") {
                try create(db)
            }
        }

        // The check at a migration's end refuses what SQLite can't use.
        migrator.registerMigration("v2") { (db) throws in try create(db) }
        expectError(.SQLITE_ERROR, "foreign key mismatch - \"t\" referencing \"log\"") { () throws in
            try migrator.migrate(checked)
        }
        #expect(try checked.read { db in try !db.tableExists("t") })
    }

    @Test func alteredTablesReferToTheirOwnKey() throws {
        try withConnection { db in
            try db.execute(sql: Self.parents)
            try db.makePlayers()
            let statements = try emitted(db) {
                try db.alter(table: "player") { t in
                    t.add(column: "captainId", .integer).references("player").indexed()
                    t.add(column: "teamCode", .text).references("team", onDelete: .setNull)
                    t.rename(column: "id", to: "number")
                    t.add(column: "friendNumber", .integer).references("player")
                }
            }
            #expect(
                statements == [
                    #"ALTER TABLE "player" ADD COLUMN "captainId" INTEGER REFERENCES "player"("id")"#,
                    #"CREATE INDEX "player_on_captainId" ON "player"("captainId")"#,
                    #"ALTER TABLE "player" ADD COLUMN "teamCode" TEXT REFERENCES "team"("code") ON DELETE SET NULL"#,
                    #"ALTER TABLE "player" RENAME COLUMN "id" TO "number""#,
                    #"ALTER TABLE "player" ADD COLUMN "friendNumber" INTEGER REFERENCES "player"("number")"#,
                ])
        }
    }
}
