import Quarry
import QuarryTestSupport
import Testing

@Suite("Rebuilding tables")
struct TableRebuildTests {
    /// A table that others refer to in each way, with all that hangs on it.
    static let setUp = """
        CREATE TABLE team (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT COLLATE NOCASE, points TEXT, old TEXT);
        INSERT INTO team VALUES (1, 'Red', '10', 'x'), (2, 'Blue', '7', 'y'), (9, 'gone', '0', 'z');
        DELETE FROM team WHERE id = 9;
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team(id) ON DELETE CASCADE,
            nextId INTEGER REFERENCES team ON DELETE SET NULL,
            lastId INTEGER REFERENCES team(id) ON DELETE RESTRICT);
        INSERT INTO player VALUES (1, 1, 2, 1), (2, 2, NULL, 2);
        CREATE TABLE log (text TEXT);
        CREATE INDEX team_on_name ON team(name);
        CREATE UNIQUE INDEX 'team on points' ON team(points DESC) WHERE points > '0';
        CREATE TRIGGER team_insert AFTER INSERT ON team BEGIN INSERT INTO log VALUES (NEW.name); END;
        CREATE TRIGGER player_insert AFTER INSERT ON player BEGIN
            UPDATE team SET points = points + 1 WHERE id = NEW.teamId;
        END;
        CREATE TEMP TRIGGER team_update AFTER UPDATE ON main.team BEGIN INSERT INTO log VALUES ('update'); END;
        CREATE VIEW best AS SELECT name FROM team WHERE points > 8;
        """

    static func rebuild(_ db: Database) throws {
        try db.rebuild(table: "TEAM", filling: ["title": "upper(name)", "points": "CAST(points AS INTEGER)"]) { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text).notNull()
            t.column("name", .text).notNull().collate(.nocase).indexed()
            t.column("points", .integer).notNull().check(sql: "points >= 0")
            t.column("size", .integer).notNull().defaults(to: 11)
            t.column("twice", .integer).generatedAs(sql: "points * 2")
            t.belongsTo("parent", inTable: "team", indexed: false)
        }
    }

    static func expectRebuilt(_ db: Database) throws {
        #expect(
            try Row.fetchAll(db, sql: "SELECT * FROM team").map(\.description) == [
                #"[id:1 title:"RED" name:"Red" points:10 size:11 twice:20 parentId:NULL]"#,
                #"[id:2 title:"BLUE" name:"Blue" points:7 size:11 twice:14 parentId:NULL]"#,
            ])
        // No foreign key has acted, and each still refers to the table.
        #expect(
            try Row.fetchAll(db, sql: "SELECT * FROM player").map(\.description) == [
                "[id:1 teamId:1 nextId:2 lastId:1]", "[id:2 teamId:2 nextId:NULL lastId:2]",
            ])
        #expect(try db.foreignKeys(on: "player").map(\.destinationTable) == ["team", "team", "team"])
        #expect(
            try schemaSQL(db) == [
                "CREATE VIEW best AS SELECT name FROM team WHERE points > 8",
                "CREATE TABLE log (text TEXT)",
                """
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team(id) ON DELETE CASCADE,
                    nextId INTEGER REFERENCES team ON DELETE SET NULL,
                    lastId INTEGER REFERENCES team(id) ON DELETE RESTRICT)
                """,
                """
                CREATE TRIGGER player_insert AFTER INSERT ON player BEGIN
                    UPDATE team SET points = points + 1 WHERE id = NEW.teamId;
                END
                """,
                "CREATE TABLE sqlite_sequence(name,seq)",
                """
                CREATE TABLE "team" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "title" TEXT NOT NULL, \
                "name" TEXT NOT NULL COLLATE NOCASE, "points" INTEGER NOT NULL CHECK (points >= 0), \
                "size" INTEGER NOT NULL DEFAULT 11, "twice" INTEGER GENERATED ALWAYS AS (points * 2) VIRTUAL, \
                "parentId" INTEGER REFERENCES "team"("id"))
                """,
                "CREATE UNIQUE INDEX 'team on points' ON team(points DESC) WHERE points > '0'",
                "CREATE TRIGGER team_insert AFTER INSERT ON team BEGIN INSERT INTO log VALUES (NEW.name); END",
                #"CREATE INDEX "team_on_name" ON "team"("name")"#,
            ])
        #expect(try db.triggerExists("team_update", in: "temp"))
        #expect(try String.fetchAll(db, sql: "SELECT text FROM log") == [])
        #expect(try Int.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'team'") == 9)
        #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        try db.checkForeignKeys()
    }

    @Test(arguments: [true, false])
    func allThatHangsOnTheTableIsKept(inTransaction: Bool) throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.writeWithoutTransaction { db in
            try db.execute(sql: Self.setUp)
            if inTransaction {
                try db.inTransaction {
                    try Self.rebuild(db)
                    return .commit
                }
            } else {
                try Self.rebuild(db)
            }
            try Self.expectRebuilt(db)
            // Keys are checked, and act, as before.
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
            #expect(try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") == false)
            expectError(.SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed") {
                try db.execute(sql: "INSERT INTO player VALUES (3, 77, NULL, NULL)")
            }
            try db.execute(sql: "INSERT INTO team (title, name, points) VALUES ('a', 'b', 1)")
            #expect(db.lastInsertedRowID == 10)
            try db.execute(sql: "UPDATE team SET size = 12 WHERE id = 10")
            #expect(try String.fetchAll(db, sql: "SELECT text FROM log") == ["b", "update"])
        }
    }

    @Test func whatFollowsAnErrorIsAsBefore() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.writeWithoutTransaction { db in
            try db.execute(sql: Self.setUp)
            let before = try schemaSQL(db) + schemaSQL(db, in: "temp")
            func expectRefusal(
                _ message: String, code: ResultCode = .SQLITE_ERROR, filling: [String: SQL] = [:],
                line: SourceLocation = #_sourceLocation, _ body: (TableDefinition) throws -> Void
            ) throws {
                expectError(code, message, sourceLocation: line) {
                    try db.rebuild(table: "team", filling: filling, body: body)
                }
                #expect(try schemaSQL(db) + schemaSQL(db, in: "temp") == before, sourceLocation: line)
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM team") == 2, sourceLocation: line)
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 2, sourceLocation: line)
                #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true, sourceLocation: line)
                #expect(try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") == false, sourceLocation: line)
                #expect(!db.isInsideTransaction, sourceLocation: line)
            }
            func columns(_ t: TableDefinition) {
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text)
                t.column("points", .integer)
            }
            try expectRefusal("CHECK constraint failed: points > 8", code: .SQLITE_CONSTRAINT_CHECK) { t in
                columns(t)
                t.check(sql: "points > 8")
            }
            try expectRefusal("NOT NULL constraint failed: team.size", code: .SQLITE_CONSTRAINT_NOTNULL) { t in
                columns(t)
                t.column("size").notNull()
            }
            try expectRefusal("no such column: zork", filling: ["name": "zork"], columns)
            try expectRefusal(
                "table team has no column zork to be filled", code: .SQLITE_MISUSE, filling: ["zork": "1"], columns)
            try expectRefusal(
                "column twice is generated, and can't be filled", code: .SQLITE_MISUSE, filling: ["TWICE": "1"]
            ) { t in
                columns(t)
                t.column("twice").generatedAs(sql: "2")
            }
            // Objects that need a column: an index, a view, another table's trigger, a foreign key.
            try expectRefusal("no such column: name") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("points", .integer)
            }
            try db.drop(index: "team_on_name")
            try db.drop(index: "team on points")
            try db.drop(trigger: "team_insert")
            var afterDrops = try schemaSQL(db)
            func rebuildWithoutPoints(_ message: String) throws {
                expectError(.SQLITE_ERROR, message) {
                    try db.rebuild(table: "team") { t in
                        t.autoIncrementedPrimaryKey("id")
                        t.column("name", .text)
                    }
                }
                #expect(try schemaSQL(db) == afterDrops)
            }
            try rebuildWithoutPoints("error in trigger player_insert: no such column: points")
            try db.drop(trigger: "player_insert")
            afterDrops = try schemaSQL(db)
            try rebuildWithoutPoints("error in view best: no such column: points")
            expectError(.SQLITE_ERROR, #"foreign key mismatch - "player" referencing "team""#) {
                try db.rebuild(table: "team") { t in
                    t.column("id")
                    t.column("name", .text).primaryKey()
                    t.column("points")
                }
            }
            expectError(
                .SQLITE_CONSTRAINT_FOREIGNKEY,
                "FOREIGN KEY constraint violation - from player(lastId) to team(id), "
                    + "in [id:1 teamId:1 nextId:2 lastId:1]"
            ) {
                try db.rebuild(table: "team", filling: ["id": "id + 100"], body: columns)
            }
            #expect(try schemaSQL(db) == afterDrops)
        }
    }

    @Test func viewsThatWereBrokenBeforeDoNotStandInTheWay() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT * FROM nowhere")
            try db.rebuild(table: "t") { t in t.column("a", .integer).notNull() }
            #expect(try db.columns(in: "t").map(\.isNotNull) == [true])
        }
    }

    @Test func whatIsNoOrdinaryTableIsRefused() throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE f USING fts5(a); CREATE VIEW v AS SELECT 1;
                    CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT);
                    """)
            for name in ["f", "f_data", "sqlite_sequence"] {
                expectError(.SQLITE_ERROR, "table \(name) can't be rebuilt: it isn't an ordinary table") {
                    try db.rebuild(table: name) { t in t.column("a") }
                }
            }
            expectError(.SQLITE_ERROR, "no such table: v") { try db.rebuild(table: "v") { t in t.column("a") } }
            expectError(.SQLITE_ERROR, "no such table: main.x") {
                try db.rebuild(table: "x", in: "main") { t in t.column("a") }
            }
            expectError(.SQLITE_MISUSE, "a rebuilt table can't have the options ifNotExists and temporary") {
                try db.rebuild(table: "a", options: .temporary) { t in t.column("a") }
            }
        }
    }

    @Test func rowidsAndOptions() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a, rowid); INSERT INTO t (_rowid_, a, rowid) VALUES (7, 'x', 1)")
            try db.rebuild(table: "t") { t in
                t.column("a", .text)
                t.column("rowid", .integer)
                t.column("_rowid_", .integer)
            }
            #expect(
                try Row.fetchOne(db, sql: "SELECT oid AS n, * FROM t")?.description
                    == "[n:7 a:\"x\" rowid:1 _rowid_:NULL]")
            // A new integer key takes the numbers that the rows had.
            try db.rebuild(table: "t", options: .strict) { t in
                t.primaryKey("id", .integer)
                t.column("a", .text)
            }
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM t")?.description == "[id:7 a:\"x\"]")
            try db.rebuild(table: "t", options: [.strict, .withoutRowID]) { t in
                t.primaryKey("a", .text)
                t.column("id", .integer)
            }
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM t")?.description == "[a:\"x\" id:7]")
            #expect(try !db.primaryKey("t").tableHasRowID)
            try db.rebuild(table: "t", filling: ["id": "id + \(1)"]) { t in t.primaryKey("id", .integer) }
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM t")?.description == "[id:8]")
        }
    }

    @Test func inOtherSchemas() throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS aux;
                    CREATE TABLE t (a); INSERT INTO t VALUES ('main');
                    CREATE TABLE aux.t (a); INSERT INTO aux.t VALUES ('aux');
                    CREATE TABLE aux.child (a REFERENCES t(a));
                    CREATE INDEX aux.i ON t(a);
                    CREATE TRIGGER aux.tr AFTER INSERT ON t BEGIN SELECT 1; END;
                    CREATE TEMP TRIGGER tt AFTER INSERT ON aux.t BEGIN SELECT 1; END;
                    CREATE TEMP TABLE t (a); INSERT INTO temp.t VALUES ('temp');
                    CREATE INDEX temp.i ON t(a);
                    CREATE TRIGGER temp.ti AFTER INSERT ON t BEGIN SELECT 2; END;
                    """)
            for schema in ["aux", "temp", "main"] {
                try db.rebuild(table: "t", in: schema) { t in
                    t.column("a", .text).notNull().unique()
                    t.column("b", .text).defaults(to: schema)
                }
                let row = try Row.fetchOne(db, sql: "SELECT * FROM \(schema).t")
                #expect(row?.description == #"[a:"\#(schema)" b:"\#(schema)"]"#)
            }
            #expect(try schemaSQL(db).count == 1)
            #expect(try [db.triggerExists("tr", in: "aux"), db.triggerExists("tt", in: "temp")] == [true, true])
            #expect(try db.triggerExists("ti", in: "temp"))
            for schema in ["aux", "temp"] {
                #expect(try db.indexes(on: "t", in: schema).contains { $0.name == "i" })
            }
        }
    }

    @Test func deferredViolationsAreNotForgotten() throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = ON;
                    CREATE TABLE p (id INTEGER PRIMARY KEY);
                    CREATE TABLE c (id REFERENCES p DEFERRABLE INITIALLY DEFERRED);
                    """)
            let error = #expect(throws: DatabaseError.self) { () throws in
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO c VALUES (1)")
                    expectError(.SQLITE_MISUSE, "table p can't be rebuilt while deferred foreign keys are violated") {
                        try db.rebuild(table: "p") { t in t.primaryKey("id", .integer) }
                    }
                    return .commit
                }
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO c VALUES (1); INSERT INTO p VALUES (1)")
                try db.rebuild(table: "p") { t in t.primaryKey("id", .integer) }
                return .commit
            }
        }
    }

    @Test func aRunningCursorStandsInTheWay() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            try db.inTransaction {
                let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                #expect(try cursor.next() == 1)
                expectError(.SQLITE_LOCKED, "database table is locked") {
                    try db.rebuild(table: "t") { t in t.column("a", .integer) }
                }
                return .commit
            }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2])
            #expect(try schemaSQL(db) == ["CREATE TABLE t (a)"])
        }
    }

    @Test func failingFileOperationChangesAllOrNothing() throws {
        let faults = try FaultVFS()
        try withTemporaryFolder { folder in
            var nth = 1
            var failures = 0
            while true {
                let path = "\(folder)/\(nth).sqlite"
                var configuration = Configuration()
                configuration.vfs = faults.name
                let dbQueue = try DatabaseQueue(path: path, configuration: configuration)
                try dbQueue.writeWithoutTransaction { db in
                    try db.execute(
                        sql: Self.setUp.replacing("TEMP TRIGGER", with: "TRIGGER").replacing("main.", with: ""))
                }
                let before = try dbQueue.read { db in try schemaSQL(db) }
                faults.arm([.write, .sync, .read, .truncate, .delete], nth: nth)
                let result = Result { try dbQueue.writeWithoutTransaction { db in try Self.rebuild(db) } }
                let hasFailed = faults.failures > 0
                faults.disarm()
                try? dbQueue.close()
                try DatabaseQueue(path: path).read { db in
                    #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
                    #expect(try Int.fetchAll(db, sql: "SELECT id FROM team ORDER BY id") == [1, 2])
                    #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 2)
                    let after = try schemaSQL(db)
                    switch result {
                    case .success: #expect(after != before && after.count == before.count, "\(nth)")
                    case .failure:
                        failures += 1
                        #expect(after == before, "\(nth)")
                    }
                }
                if !hasFailed { break }
                nth += 1
            }
            #expect(failures > 5)
        }
    }
}
