import Quarry
import QuarryTestSupport
import Testing

/// `belongsTo` of existing tables.
@Suite struct AddedForeignKeyTests {
    private func withTables(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = ON;
                    CREATE TABLE teams (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE "my ""team" ("my ""key" TEXT PRIMARY KEY);
                    CREATE TABLE country (code TEXT, number INTEGER, PRIMARY KEY (code, number));
                    CREATE TABLE log (message TEXT);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE draft (id INTEGER PRIMARY KEY);
                    INSERT INTO teams VALUES (1, 'Red');
                    INSERT INTO player VALUES (1, 'Arthur'), (2, 'Barbara');
                    """)
            try body(db)
        }
    }

    @Test func theColumnAndItsIndexAreAdded() throws {
        try withTables { db throws in
            let statements = try emitted(db) {
                try db.alter(table: "player") { t in
                    t.belongsTo("team", onDelete: .setNull)
                    t.belongsTo("home", inTable: "TEAMS", onUpdate: .cascade, deferred: true, indexed: false)
                    t.belongsTo("captain", inTable: "Player").unique()
                    t.belongsTo("my \"team")
                }
            }
            #expect(
                statements == [
                    #"ALTER TABLE "player" ADD COLUMN "teamId" INTEGER REFERENCES "teams"("id") ON DELETE SET NULL"#,
                    #"CREATE INDEX "player_on_teamId" ON "player"("teamId")"#,
                    #"ALTER TABLE "player" ADD COLUMN "homeId" INTEGER REFERENCES "TEAMS"("id") ON UPDATE CASCADE "#
                        + "DEFERRABLE INITIALLY DEFERRED",
                    #"ALTER TABLE "player" ADD COLUMN "captainId" INTEGER REFERENCES "player"("id")"#,
                    #"CREATE UNIQUE INDEX "player_on_captainId" ON "player"("captainId")"#,
                    #"ALTER TABLE "player" ADD COLUMN "my ""teamMy ""key" TEXT REFERENCES "my ""team"("my ""key")"#,
                    #"CREATE INDEX "player_on_my ""teamMy ""key" ON "player"("my ""teamMy ""key")"#,
                ])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player WHERE teamId IS NULL") == 2)
            try db.execute(sql: "UPDATE player SET teamId = 1, captainId = 2 WHERE id = 1; DELETE FROM teams")
            #expect(try Int?.fetchAll(db, sql: "SELECT teamId FROM player") == [nil, nil])
            expectError(.SQLITE_CONSTRAINT_FOREIGNKEY) { () throws in
                try db.execute(sql: "UPDATE player SET teamId = 5")
            }
            expectError(.SQLITE_CONSTRAINT_UNIQUE) { () throws in try db.execute(sql: "UPDATE player SET captainId = 2")
            }
        }
    }

    /// Each statement sees the changes of the previous ones.
    @Test func laterChangesSeeEarlierOnes() throws {
        try withTables { db throws in
            try db.alter(table: "player") { t in
                t.rename(column: "id", to: "number")
                t.belongsTo("captain", inTable: "player")
            }
            #expect(try db.columns(in: "player").map(\.name) == ["number", "name", "captainNumber"])
        }
    }

    @Test func anEmptyTableTakesNotNull() throws {
        try withTables { db throws in
            let statements = try emitted(db) { try db.alter(table: "draft") { t in t.belongsTo("team").notNull() } }
            #expect(
                statements.filter { !$0.hasPrefix("SELECT") } == [
                    #"ALTER TABLE "draft" ADD COLUMN "teamId" INTEGER NOT NULL REFERENCES "teams"("id")"#,
                    #"CREATE INDEX "draft_on_teamId" ON "draft"("teamId")"#,
                ])
            expectError(.SQLITE_CONSTRAINT_NOTNULL) { () throws in
                try db.execute(sql: "INSERT INTO draft (id) VALUES (1)")
            }
            expectError(
                .SQLITE_ERROR,
                """
                belongsTo("team") in alter(table: "player"): teamId can't be NOT NULL, because the rows of the table \
                have no value for it: add it without notNull(), fill it, and make it NOT NULL with \
                rebuild(table: "player")
                """
            ) { () throws in
                try db.alter(table: "player") { t in t.belongsTo("team").notNull() }
            }
            #expect(try db.columns(in: "player").count == 2)
        }
    }

    @Test func keysThatCannotBeAdded() throws {
        try withTables { db throws in
            expectError(
                .SQLITE_ERROR,
                """
                belongsTo("country") in alter(table: "player"): the key of table country has 2 columns, and ALTER \
                TABLE adds keys of one column only: use rebuild(table: "player")
                """
            ) { () throws in
                try db.alter(table: "player") { t in t.belongsTo("country") }
            }
            expectError(.SQLITE_ERROR, "table log has no primary key that a foreign key can refer to") { () throws in
                try db.alter(table: "player") { t in t.belongsTo("log") }
            }
            do {
                try db.alter(table: "player") { t in t.belongsTo("squad") }
                Issue.record("there is no such table")
            } catch let error as DatabaseError {
                #expect(error.message?.contains("squad") == true)
            }
            expectError(.SQLITE_ERROR, "duplicate column name: naMe") { () throws in
                try db.execute(sql: "CREATE TABLE na (me TEXT PRIMARY KEY)")
                try db.alter(table: "player") { t in t.belongsTo("na") }
            }
            #expect(try db.columns(in: "player").count == 2)
            #expect(try db.indexes(on: "player").isEmpty)
        }
    }

    /// A key that `alter` refuses is added by the cure that its error names.
    @Test func rebuildingAddsTheOthers() throws {
        try withTables { db throws in
            try db.execute(sql: "INSERT INTO country VALUES ('FR', 1)")
            try db.rebuild(
                table: "player", filling: ["teamId": "1", "countryCode": "'FR'", "countryNumber": "1"]
            ) { t in
                t.primaryKey("id", .integer)
                t.column("name", .text)
                t.belongsTo("team").notNull()
                t.belongsTo("country")
            }
            #expect(try db.foreignKeys(on: "player").count == 2)
            try db.checkForeignKeys()
        }
    }

    @Test func otherSchemas() throws {
        try withTables { db throws in
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS aux;
                    CREATE TABLE aux.team (id INTEGER PRIMARY KEY);
                    CREATE TABLE aux.member (id INTEGER PRIMARY KEY);
                    CREATE TEMP TABLE scratch (id INTEGER PRIMARY KEY);
                    """)
            try db.alter(table: "member", in: "aux") { t in t.belongsTo("team") }
            #expect(try db.indexes(on: "member", in: "aux").map(\.name) == ["member_on_teamId"])
            // The first schema with the table, for its index, too.
            let statements = try emitted(db) {
                try db.alter(table: "member") { t in
                    t.belongsTo("other", inTable: "team")
                    t.add(column: "number", .integer).indexed()
                }
            }
            #expect(
                statements == [
                    #"ALTER TABLE "member" ADD COLUMN "otherId" INTEGER REFERENCES "team"("id")"#,
                    #"CREATE INDEX "aux"."member_on_otherId" ON "member"("otherId")"#,
                    #"ALTER TABLE "member" ADD COLUMN "number" INTEGER"#,
                    #"CREATE INDEX "aux"."member_on_number" ON "member"("number")"#,
                ])
            try db.alter(table: "scratch", in: "temp") { t in t.belongsTo("parent", inTable: "scratch") }
            #expect(try db.indexes(on: "scratch", in: "temp").map(\.name) == ["scratch_on_parentId"])
        }
    }
}
