import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite("Altering tables, indexes, views, triggers, virtual tables")
struct SchemaVerbTests {
    private func withPlayers(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, bonus INTEGER);
                    INSERT INTO player VALUES (1, 'Arthur', 10, 1), (2, 'O''Brien', 2000, 2);
                    """)
            try body(db)
        }
    }

    @Test func alterations() throws {
        try withPlayers { db in
            let statements = try emitted(db) {
                try db.alter(table: "player") { t in
                    t.add(column: "url", .text).notNull().defaults(to: "x").indexed()
                    t.addColumn(sql: "a TEXT")
                    t.addColumn(literal: "b TEXT DEFAULT \("it's")")
                    t.rename(column: "score", to: "points")
                    t.drop(column: "bonus")
                    t.add(column: "double", .integer).generatedAs(sql: "points * 2").check(sql: "double < 9999")
                }
            }
            #expect(
                statements == [
                    #"ALTER TABLE "player" ADD COLUMN "url" TEXT NOT NULL DEFAULT 'x'"#,
                    #"CREATE INDEX "player_on_url" ON "player"("url")"#,
                    #"ALTER TABLE "player" ADD COLUMN a TEXT"#,
                    #"ALTER TABLE "player" ADD COLUMN b TEXT DEFAULT 'it''s'"#,
                    #"ALTER TABLE "player" RENAME COLUMN "score" TO "points""#,
                    #"ALTER TABLE "player" DROP COLUMN "bonus""#,
                    #"ALTER TABLE "player" ADD COLUMN "double" INTEGER CHECK (double < 9999) GENERATED ALWAYS AS "#
                        + "(points * 2) VIRTUAL",
                ])
            let players = try Row.fetchAll(db, sql: "SELECT * FROM player").map(\.description)
            #expect(
                players == [
                    #"[id:1 name:"Arthur" points:10 url:"x" a:NULL b:"it\'s" double:20]"#,
                    #"[id:2 name:"O\'Brien" points:2000 url:"x" a:NULL b:"it\'s" double:4000]"#,
                ])
            expectError(.SQLITE_ERROR, "Cannot add a UNIQUE column") {
                try db.alter(table: "player") { t in t.add(column: "c").unique() }
            }
            expectError(.SQLITE_ERROR, "no such table: nowhere") {
                try db.alter(table: "nowhere") { t in t.add(column: "c") }
            }
            expectError(.SQLITE_ERROR, "no such column: \"\"c\"\"") {
                try db.alter(table: "player") { t in t.drop(column: "c") }
            }
        }
    }

    @Test func renamingAndDroppingTables() throws {
        try withPlayers { db in
            let statements = try emitted(db) {
                try db.rename(table: "player", to: "user")
                try db.drop(table: "user")
            }
            #expect(statements == [#"ALTER TABLE "player" RENAME TO "user""#, #"DROP TABLE "user""#])
            expectError(.SQLITE_ERROR, "no such table: user") { try db.drop(table: "user") }
            expectError(.SQLITE_ERROR, "no such table: main.user") { try db.drop(table: "user", in: "main") }
            expectError(.SQLITE_ERROR, "no such table: user") { try db.rename(table: "user", to: "player") }
        }
    }

    @Test func indexes() throws {
        try withPlayers { db in
            let myOrder = DatabaseCollation("my order") { (lhs: String, rhs: String) in lhs.count - rhs.count }
            db.add(collation: myOrder)
            let statements = try emitted(db) {
                try db.create(index: "i1", on: "player", columns: ["name", "score"])
                try db.create(index: "i2", on: "player", columns: ["id"], options: [.unique, .ifNotExists])
                try db.create(index: "i3", on: "player", columns: ["score"], condition: "score > \(3)")
                try db.create(index: "i4", on: "player", columns: ["bonus"], unique: true, ifNotExists: true)
                try db.create(
                    index: "i5", on: "player",
                    expressions: ["lower(name)", "score DESC", "name COLLATE NOCASE", "bonus = \("x'y")"],
                    options: .unique, condition: "name <> \("it's")")
                try db.create(indexOn: "player", columns: ["score", "name"])
                try db.create(indexOn: "player", columns: ["score", "name"], options: .ifNotExists)
                try db.drop(index: "i1")
                try db.drop(indexOn: "PLAYER", columns: ["SCORE", "Name"])
                try db.drop(indexOn: "player", columns: ["name", "score"])
                try db.reindex(collation: .nocase)
                try db.reindex(collation: myOrder)
            }
            #expect(
                statements == [
                    #"CREATE INDEX "i1" ON "player"("name", "score")"#,
                    #"CREATE UNIQUE INDEX IF NOT EXISTS "i2" ON "player"("id")"#,
                    #"CREATE INDEX "i3" ON "player"("score") WHERE score > 3"#,
                    #"CREATE UNIQUE INDEX IF NOT EXISTS "i4" ON "player"("bonus")"#,
                    #"CREATE UNIQUE INDEX "i5" ON "player"(lower(name), score DESC, name COLLATE NOCASE, "#
                        + "bonus = 'x''y') WHERE name <> 'it''s'",
                    #"CREATE INDEX "index_player_on_score_name" ON "player"("score", "name")"#,
                    #"CREATE INDEX IF NOT EXISTS "index_player_on_score_name" ON "player"("score", "name")"#,
                    #"DROP INDEX "i1""#,
                    #"DROP INDEX "index_player_on_score_name""#,
                    "REINDEX NOCASE",
                    #"REINDEX "my order""#,
                ])
            expectError(.SQLITE_ERROR, "no such index: i1") { try db.drop(index: "i1") }
            expectError(.SQLITE_ERROR, "no such table: nowhere") { try db.drop(indexOn: "nowhere", columns: ["a"]) }
            expectError(.SQLITE_ERROR, "no such table: main.nowhere") {
                try db.create(index: "i", on: "nowhere", columns: ["a"])
            }
            try db.create(index: "i6", on: "player", columns: ["score"])
            expectError(.SQLITE_ERROR, "several indexes on player(score): i3, i6") {
                try db.drop(indexOn: "player", columns: ["score"])
            }
        }
    }

    @Test func indexesOnTemporaryTablesAreDroppedThere() throws {
        try withPlayers { db in
            try db.execute(sql: "CREATE INDEX i ON player(score); CREATE TEMP TABLE player (score)")
            try db.execute(sql: "CREATE INDEX temp.i ON player(score)")
            let statements = try emitted(db) {
                try db.drop(indexOn: "player", columns: ["score"])
                try db.drop(indexOn: "player", columns: ["score"], in: "main")
            }
            #expect(statements == [#"DROP INDEX "temp"."i""#, #"DROP INDEX "main"."i""#])
        }
    }

    @Test func views() throws {
        try withPlayers { db in
            let request: SQLRequest<Row> = "SELECT * FROM player WHERE name = \("O'Brien")"
            let statements = try emitted(db) {
                try db.create(view: "v1", as: request)
                try db.create(
                    view: "v2", options: [.ifNotExists, .temporary], columns: ["x y", "z"],
                    asLiteral: "SELECT id, name FROM player WHERE score > \(1000) AND id IN \([1, 2])")
            }
            #expect(
                statements == [
                    #"CREATE VIEW "v1" AS SELECT * FROM player WHERE name = 'O''Brien'"#,
                    #"CREATE TEMPORARY VIEW IF NOT EXISTS "v2" ("x y", "z") AS SELECT id, name FROM player WHERE "#
                        + "score > 1000 AND id IN (1,2)",
                ])
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM v1") == [2])
            let row = try Row.fetchOne(db, sql: "SELECT * FROM v2")?.description
            #expect(row == #"[x y:2 z:"O\'Brien"]"#)
            try db.drop(view: "v1")
            expectError(.SQLITE_ERROR, "no such view: v1") { try db.drop(view: "v1") }
        }
    }

    @Test func triggers() throws {
        try withPlayers { db in
            try db.execute(sql: "CREATE TABLE log (text); CREATE VIEW best AS SELECT * FROM player WHERE score > 1000")
            let statements = try emitted(db) {
                try db.create(
                    trigger: "t1", on: "player", .after(.update(of: ["score", "bonus"])),
                    when: "NEW.score <> OLD.score AND NEW.name <> \("it's; END")",
                    body: "INSERT INTO log VALUES (\("a;b") || NEW.score); DELETE FROM log WHERE text IS NULL; ")
                try db.create(
                    trigger: "t2", on: "best", .insteadOf(.delete), options: [.ifNotExists, .temporary],
                    body: "DELETE FROM player WHERE id = OLD.id -- gone")
                try db.create(trigger: "t3", on: "player", .before(.insert), body: "SELECT RAISE(ABORT, 'full')")
            }
            #expect(
                statements == [
                    #"CREATE TRIGGER "t1" AFTER UPDATE OF "score", "bonus" ON "player" WHEN NEW.score <> OLD.score "#
                        + "AND NEW.name <> 'it''s; END' BEGIN\nINSERT INTO log VALUES ('a;b' || NEW.score); "
                        + "DELETE FROM log WHERE text IS NULL;\nEND",
                    #"CREATE TEMPORARY TRIGGER IF NOT EXISTS "t2" INSTEAD OF DELETE ON "best" BEGIN"#
                        + "\nDELETE FROM player WHERE id = OLD.id -- gone\n;\nEND",
                    #"CREATE TRIGGER "t3" BEFORE INSERT ON "player" BEGIN"# + "\nSELECT RAISE(ABORT, 'full');\nEND",
                ])
            try db.execute(sql: "UPDATE player SET score = 11 WHERE id = 1; DELETE FROM best")
            #expect(try String.fetchAll(db, sql: "SELECT text FROM log") == ["a;b11"])
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM player") == [1])
            expectError(.SQLITE_CONSTRAINT_TRIGGER, "full") {
                try db.execute(sql: "INSERT INTO player (name) VALUES ('x')")
            }
            try db.drop(trigger: "t3")
            try db.drop(trigger: "t1", in: "main")
            #expect(try !db.triggerExists("t1"))
            expectError(.SQLITE_ERROR, "no such trigger: t1") { try db.drop(trigger: "t1") }
        }
    }

    private struct RTree: VirtualTableModule {
        final class Definition {
            var columns: [String] = []
            let configuration: VirtualTableConfiguration
            init(_ configuration: VirtualTableConfiguration) { self.configuration = configuration }
        }

        var failure: (any Error)?
        let moduleName = "rtree"

        func makeTableDefinition(configuration: VirtualTableConfiguration) -> Definition { Definition(configuration) }
        func moduleArguments(for definition: Definition, in db: Database) throws -> [String] { definition.columns }

        func database(_ db: Database, didCreate tableName: String, using definition: Definition) throws {
            #expect(definition.configuration.tableName == tableName)
            try db.execute(sql: "INSERT INTO \(tableName.quotedDatabaseIdentifier) VALUES (1, 2, 3)")
            if let failure { throw failure }
        }
    }

    @Test func virtualTables() throws {
        struct Stop: Error {}
        try withConnection { db in
            let statements = try emitted(db) {
                try db.create(virtualTable: "a", using: "fts5(x)")
                try db.create(virtualTable: "b", options: [.ifNotExists, .temporary], using: "fts5(x)")
                try db.create(virtualTable: "c", ifNotExists: true, using: "fts5(x)")
                try db.create(virtualTable: "area", using: RTree()) { t in t.columns = ["id", "minX", "maxX"] }
            }.filter { $0.hasPrefix("CREATE VIRTUAL") || $0.hasPrefix("BEGIN") || $0.hasPrefix("COMMIT") }
            #expect(
                statements == [
                    #"CREATE VIRTUAL TABLE "a" USING fts5(x)"#,
                    #"CREATE VIRTUAL TABLE IF NOT EXISTS "temp"."b" USING fts5(x)"#,
                    #"CREATE VIRTUAL TABLE IF NOT EXISTS "c" USING fts5(x)"#,
                    "BEGIN IMMEDIATE TRANSACTION",
                    #"CREATE VIRTUAL TABLE "area" USING rtree(id, minX, maxX)"#,
                    "COMMIT TRANSACTION",
                ])
            #expect(try Double.fetchOne(db, sql: "SELECT maxX FROM area") == 3)
            #expect(try db.tableExists("b", in: "temp"))
            // The module's changes are taken back with the table.
            #expect(throws: Stop.self) { () throws in
                try db.create(virtualTable: "area2", using: RTree(failure: Stop())) { t in t.columns = ["a", "b", "c"] }
            }
            #expect(try !db.tableExists("area2"))
            expectError(.SQLITE_ERROR, "no such module: nowhere") { try db.create(virtualTable: "d", using: "nowhere") }
        }
    }

    @Test func nothingIsChangedWhereNothingCanBeWritten() throws {
        try withPlayers { db in
            try db.readOnly {
                expectError(.SQLITE_READONLY, "attempt to write a readonly database") {
                    try db.create(table: "t") { t in t.column("a") }
                }
                expectError(.SQLITE_READONLY, "attempt to write a readonly database") {
                    try db.rebuild(table: "player") { t in t.column("name") }
                }
            }
        }
    }
}
