import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite("Creating tables")
struct TableCreationTests {
    private func expectDDL(
        _ expected: [String], setUp: String = "", sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (Database) throws -> Void
    ) throws {
        try withConnection { db in
            try db.execute(sql: setUp)
            let statements = try emitted(db) { try body(db) }
            #expect(statements == expected, sourceLocation: sourceLocation)
        }
    }

    @Test func columnsWithAllTheirConstraints() throws {
        let sql = """
            CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, \
            "name" TEXT NOT NULL UNIQUE, \
            "score" INTEGER NOT NULL ON CONFLICT REPLACE CHECK (score > 0) CHECK (score < 1000) DEFAULT 0, \
            "email" UNIQUE ON CONFLICT IGNORE COLLATE NOCASE, \
            "created" DATETIME DEFAULT CURRENT_TIMESTAMP, \
            "double" INTEGER GENERATED ALWAYS AS (score * 2) VIRTUAL, \
            "triple" INTEGER GENERATED ALWAYS AS (score * 3) STORED)
            """
        try expectDDL([sql]) { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique().indexed()
                t.column("score", .integer).notNull(onConflict: .replace).defaults(to: 0)
                    .check(sql: "score > 0").check(sql: "score < 1000")
                t.column("email").unique(onConflict: .ignore).collate(.nocase)
                t.column("created", .datetime).defaults(sql: "CURRENT_TIMESTAMP")
                t.column("double", .integer).generatedAs(sql: "score * 2")
                t.column("triple", .integer).generatedAs(sql: "score * 3", .stored)
            }
            #expect(try schemaSQL(db).contains(sql))
        }
    }

    @Test func columnsAndConstraintsInSQL() throws {
        try expectDDL([
            """
            CREATE TABLE "t" ("a" TEXT, b TEXT NOT NULL, c TEXT DEFAULT 'O''Brien', UNIQUE ("a", "b") \
            ON CONFLICT ROLLBACK, FOREIGN KEY ("a") REFERENCES "u"("x") ON DELETE CASCADE ON UPDATE SET NULL \
            DEFERRABLE INITIALLY DEFERRED, CHECK (a < b), CONSTRAINT short CHECK (length(a) < 9), \
            CHECK (c <> '?' AND a > 1.5))
            """
        ]) { db in
            try db.create(table: "t") { t in
                t.column("a", .text)
                t.column(sql: "b TEXT NOT NULL")
                t.column(literal: "c TEXT DEFAULT \("O'Brien")")
                t.check(sql: "a < b")
                t.uniqueKey(["a", "b"], onConflict: .rollback)
                t.foreignKey(
                    ["a"], references: "u", columns: ["x"], onDelete: .cascade, onUpdate: .setNull, deferred: true)
                t.constraint(sql: "CONSTRAINT short CHECK (length(a) < 9)")
                t.constraint(literal: "CHECK (c <> '?' AND a > \(1.5))")
            }
        }
    }

    @Test func options() throws {
        try expectDDL([
            """
            CREATE TEMPORARY TABLE IF NOT EXISTS "t" ("id" TEXT PRIMARY KEY NOT NULL, "x" ANY) STRICT, WITHOUT ROWID
            """,
            #"CREATE INDEX IF NOT EXISTS "t_on_x" ON "t"("x")"#,
        ]) { db in
            try db.create(table: "t", options: [.ifNotExists, .temporary, .withoutRowID, .strict]) { t in
                t.primaryKey("id", .text)
                t.column("x", .any).indexed()
            }
        }
        try expectDDL([#"CREATE TEMPORARY TABLE IF NOT EXISTS "t" ("id" INTEGER PRIMARY KEY) WITHOUT ROWID"#]) { db in
            try db.create(table: "t", temporary: true, ifNotExists: true, withoutRowID: true) { t in
                t.primaryKey("id", .integer)
            }
        }
    }

    @Test func anExistingTableStaysWithIfNotExists() throws {
        try withConnection { db in
            for _ in 1...2 {
                try db.create(table: "t", options: .ifNotExists) { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("a").indexed()
                    t.belongsTo("parent", inTable: "t")
                }
            }
            expectError(.SQLITE_ERROR, "table \"t\" already exists") {
                try db.create(table: "t") { t in t.column("a") }
            }
        }
    }

    @Test func primaryKeys() throws {
        try expectDDL([
            #"CREATE TABLE "a" ("id" INTEGER PRIMARY KEY ON CONFLICT FAIL)"#,
            #"CREATE TABLE "b" ("id" TEXT PRIMARY KEY ON CONFLICT REPLACE NOT NULL ON CONFLICT FAIL)"#,
            #"CREATE TABLE "c" ("x" TEXT NOT NULL, "y" INTEGER NOT NULL ON CONFLICT FAIL, "z", PRIMARY KEY ("x", "y"))"#,
            #"CREATE TABLE "d" ("x" TEXT, "y" INTEGER, PRIMARY KEY ("x", "y") ON CONFLICT FAIL)"#,
            #"CREATE TABLE "e" ("x" INTEGER PRIMARY KEY ON CONFLICT FAIL AUTOINCREMENT)"#,
            #"CREATE TABLE "f" ("x" TEXT PRIMARY KEY)"#,
            #"CREATE TABLE "g" ("x" TEXT NOT NULL, PRIMARY KEY ("x") ON CONFLICT REPLACE)"#,
        ]) { db in
            try db.create(table: "a") { t in t.primaryKey("id", .integer, onConflict: .fail) }
            try db.create(table: "b") { t in
                t.primaryKey("id", .text, onConflict: .replace).notNull(onConflict: .fail)
            }
            try db.create(table: "c") { t in
                t.primaryKey {
                    t.column("x", .text)
                    t.column("y", .integer).notNull(onConflict: .fail)
                }
                t.column("z")
            }
            try db.create(table: "d") { t in
                t.column("x", .text)
                t.column("y", .integer)
                t.primaryKey(["x", "y"], onConflict: .fail)
            }
            try db.create(table: "e") { t in
                t.column("x", .integer).primaryKey(onConflict: .fail, autoincrement: true)
            }
            try db.create(table: "f") { t in t.column("x", .text).primaryKey() }
            try db.create(table: "g") { t in t.primaryKey(onConflict: .replace) { t.column("x", .text) } }
        }
    }

    @Test func errorsOfSQLiteComeWithTheSQL() throws {
        try withConnection { db in
            expectError(.SQLITE_ERROR, "table \"t\" has more than one primary key") {
                try db.create(table: "t") { t in
                    t.primaryKey("a", .text)
                    t.primaryKey(["a"])
                }
            }
            let error = #expect(throws: DatabaseError.self) { try db.create(table: "t") { _ in } }
            #expect(error?.message == "near \")\": syntax error")
            #expect(error?.sql == #"CREATE TABLE "t" ()"#)
        }
    }

    @Test func whatTheBodyThrowsComesOut() throws {
        struct Stop: Error {}
        try withConnection { (db) throws in
            let definition: (TableDefinition) throws -> Void = { _ in throw Stop() }
            #expect(throws: Stop.self) { () throws in try db.create(table: "t", body: definition) }
            #expect(try schemaSQL(db) == [])
        }
    }

    @Test(arguments: ["order", "a \"b\"", "Größe", "e\u{301}", "a.b", "'", "select * from t; --", "😀", "[x]"])
    func anyNameGoes(name: String) throws {
        try withConnection { db in
            try db.create(table: name) { t in
                t.autoIncrementedPrimaryKey("id")
                t.column(name, .text).notNull().indexed().defaults(to: name)
                t.belongsTo(name, inTable: name)
            }
            try db.create(indexOn: name, columns: [name])
            try db.alter(table: name) { t in
                t.rename(column: name, to: name + "2")
                t.add(column: name + "3", .integer)
                t.drop(column: name + "3")
            }
            try db.rename(table: name, to: name + "2")
            try db.rebuild(table: name + "2", filling: [name: SQL(sql: (name + "2").quotedDatabaseIdentifier)]) { t in
                t.autoIncrementedPrimaryKey("id")
                t.column(name, .text).notNull()
                t.belongsTo(name, inTable: name + "2")
                t.column(name + "2", .text)
            }
            #expect(try db.tableExists(name + "2"))
            #expect(try !db.tableExists(name))
            #expect(try db.columns(in: name + "2").map(\.name) == ["id", name, name + "Id", name + "2"])
            #expect(try db.foreignKeys(on: name + "2").map(\.destinationTable) == [name + "2"])
            try db.create(view: name, asLiteral: SQL(sql: "SELECT 1"))
            #expect(try db.viewExists(name))
            try db.drop(view: name)
            try db.drop(table: name + "2")
            #expect(try db.columns(in: "sqlite_master").count == 5)
        }
    }

    @Test func inAnAttachedDatabase() throws {
        try expectDDL(
            [
                #"CREATE TABLE "aux"."team" ("id" INTEGER PRIMARY KEY AUTOINCREMENT)"#,
                #"CREATE TABLE "aux"."player" ("name" TEXT, "teamId" INTEGER REFERENCES "team"("id"))"#,
                #"CREATE INDEX "aux"."player_on_teamId" ON "player"("teamId")"#,
                #"CREATE UNIQUE INDEX "aux"."i" ON "player"("name") WHERE name > 'a'"#,
                #"ALTER TABLE "aux"."player" ADD COLUMN "captainId" INTEGER REFERENCES "team"("id")"#,
                #"CREATE VIEW "aux"."v" AS SELECT 1"#,
                #"DROP VIEW "aux"."v""#,
                #"DROP INDEX "aux"."i""#,
                #"ALTER TABLE "aux"."player" RENAME TO "p""#,
                #"DROP TABLE "aux"."p""#,
            ], setUp: "ATTACH ':memory:' AS aux; CREATE TABLE team (code TEXT PRIMARY KEY)"
        ) { db in
            try db.create(table: "team", in: "aux") { t in t.autoIncrementedPrimaryKey("id") }
            try db.create(table: "player", in: "aux") { t in
                t.column("name", .text)
                t.belongsTo("team")
            }
            try db.create(
                index: "i", in: "aux", on: "player", columns: ["name"], options: .unique, condition: "name > \("a")")
            try db.alter(table: "player", in: "aux") { t in t.add(column: "captainId", .integer).references("team") }
            try db.create(view: "v", in: "aux", asLiteral: "SELECT 1")
            try db.drop(view: "v", in: "aux")
            try db.drop(index: "i", in: "aux")
            try db.rename(table: "player", in: "aux", to: "p")
            try db.drop(table: "p", in: "aux")
        }
    }
}
