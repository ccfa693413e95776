import QuarryCore
import QuarryTestSupport
import Testing

/// The regions that the statements of a closure read.
@Suite struct RecordedRegionTests {
    private func withTables(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try db.execute(
                sql: "CREATE TABLE a (x, y); CREATE TABLE b (x); CREATE TABLE c (x); INSERT INTO a VALUES (1, 2)")
            try body(db)
        }
    }

    private func read(_ table: String, _ db: Database) throws {
        _ = try Int.fetchAll(db, sql: "SELECT x FROM \(table)")
    }

    @Test func statements() throws {
        try withTables { (db) throws in
            // Kept before the connection has recorded anything.
            try read("a", db)
            for _ in 0..<2 {
                #expect(try db.recordingRegion { try read("a", db) }.region.description == "a(x)")
            }
            #expect(try db.recordingRegion {}.region.isEmpty)
            #expect(
                try db.recordingRegion {
                    try db.execute(sql: "INSERT INTO b SELECT y FROM a; BEGIN; PRAGMA user_version; COMMIT")
                }.region.description == "a(y)")
            #expect(
                try db.recordingRegion {
                    let cursor = try Int.fetchCursor(db, sql: "SELECT x FROM c")
                    withExtendedLifetime(cursor) {}
                }.region.description == "c(x)")
        }
    }

    /// SQLite doesn't report what NATURAL joins and USING compare.
    @Test func joinsByName() throws {
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE d (x, y); CREATE INDEX d_xy ON d (x, y);
                    CREATE TEMP TABLE e (x);
                    CREATE VIEW joined AS SELECT a.y FROM a NATURAL JOIN d;
                    ATTACH ':memory:' AS more; CREATE TABLE more.f (x, y);
                    CREATE VIRTUAL TABLE g USING fts5(x);
                    """)
            let queries = [
                ("SELECT 1 FROM a NATURAL JOIN d", "a(*),d(*)"),
                ("SELECT 1 FROM a JOIN d USING (x, y)", "a(*),d(*)"),
                ("SELECT a.y FROM a FULL JOIN d USING (x)", "a(*),d(*)"),
                ("SELECT y FROM joined", "a(*),d(*),joined(y)"),
                ("SELECT 1 FROM e NATURAL JOIN b", "b(*),temp.e(*)"),
                ("SELECT 1 FROM a NATURAL JOIN more.f", "a(*),more.f(*)"),
                ("WITH w AS (SELECT x FROM c) SELECT 1 FROM w NATURAL JOIN b", "b(*),c(*)"),
                ("SELECT 1 FROM g NATURAL JOIN b", "full database"),
                // The word is in a string.
                ("SELECT x FROM b WHERE x = 'USING'", "b(x)"),
            ]
            for (sql, region) in queries {
                #expect(try db.makeStatement(sql: sql).databaseRegion.description == region, "\(sql)")
                #expect(
                    try db.recordingRegion { _ = try Row.fetchAll(db, sql: sql) }.region.description == region, "\(sql)"
                )
            }
            try db.execute(sql: "DROP VIEW joined")
            #expect(try db.makeStatement(sql: "SELECT x FROM b").databaseRegion.description == "b(x)")
        }
    }

    @Test func recordingsNest() throws {
        try withTables { (db) throws in
            var inner = DatabaseRegion()
            let outer = try db.recordingRegion {
                try read("a", db)
                inner = try db.recordingRegion { try read("b", db) }.region
                _ = try? db.recordingRegion {
                    try read("c", db)
                    throw DatabaseError(message: "no")
                }
            }
            #expect(inner.description == "b(x)")
            #expect(outer.region.description == "a(x),b(x),c(x)")
        }
    }

    @Test func aRecordingWithinTheLibrarysOwnReads() throws {
        try withTables { (db) throws in
            var inner = DatabaseRegion()
            let outer = try db.recordingRegion {
                try db.withoutRecordingRegion {
                    try read("a", db)
                    inner = try db.recordingRegion { try read("b", db) }.region
                    try read("a", db)
                }
                try read("c", db)
            }
            #expect(inner.description == "b(x)")
            #expect(outer.region.description == "c(x)")
        }
    }

    @Test func failingStatements() throws {
        try withTables { (db) throws in
            let region = try db.recordingRegion {
                expectError(.SQLITE_ERROR) { try db.execute(sql: "SELECT abs(-9223372036854775807 - 1) FROM a") }
                expectError(.SQLITE_ERROR) { try db.execute(sql: "SELECT * FROM missing") }
            }.region
            #expect(region.tableNames?.map(\.name) == ["a"])
        }
    }

    @Test func statementsInFunctions() throws {
        try withTables { (connection) throws in
            // Used on this thread alone, during the access.
            nonisolated(unsafe) unowned let db = connection
            db.add(
                function: DatabaseFunction("other", argumentCount: 0) { _ in
                    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM b")
                })
            #expect(
                try db.recordingRegion { _ = try Int.fetchAll(db, sql: "SELECT other() FROM a") }.region.description
                    == "a(),b()")
        }
    }

    @Test func registeredAccesses() throws {
        try withTables { (db) throws in
            let region = try db.makeStatement(sql: "SELECT x FROM c").databaseRegion
            #expect(try db.recordingRegion { try db.registerAccess(to: region) }.region == region)
            var count = 0
            func counted() -> DatabaseRegion {
                count += 1
                return region
            }
            try db.registerAccess(to: counted())
            #expect(count == 0)
        }
    }

    @Test func rowsThatARequestKnows() throws {
        try withTables { (db) throws in
            let a = TableName(schema: "main", name: "a")
            let row = DatabaseRegion(a, columns: ["x"], rowIDs: [1])
            func recorded(_ sql: String, _ arguments: StatementArguments) throws -> String {
                try db.recordingRegion {
                    db.expectRead(sql: "SELECT x FROM a WHERE rowid = ?", [1], row)
                    _ = try Int.fetchAll(db, sql: sql, arguments: arguments)
                }.region.description
            }
            #expect(try recorded("SELECT x FROM a WHERE rowid = ?", [1]) == "a(x)[1]")
            // Other arguments, other SQL: what SQLite says.
            #expect(try recorded("SELECT x FROM a WHERE rowid = ?", [2]).hasSuffix("(rowid,x)"))
            #expect(try recorded("SELECT x FROM b", []) == "b(x)")
        }
    }

    /// SQLite names a view in a query that reads none of its columns as the author of the view's own reads.
    @Test func viewsOfWhichNoColumnIsRead() throws {
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    CREATE VIEW v AS SELECT * FROM a; CREATE VIEW w AS SELECT COUNT(*) AS n FROM b;
                    CREATE VIEW vv AS SELECT x FROM v; CREATE VIEW one AS SELECT 1 AS n;
                    CREATE TEMP VIEW t AS SELECT * FROM main.c;
                    CREATE VIEW both AS SELECT x FROM a UNION ALL SELECT x FROM b;
                    CREATE VIEW bothAgain AS SELECT * FROM both;
                    CREATE VIEW "no word" AS SELECT x FROM a UNION ALL SELECT x FROM b;
                    CREATE VIEW "." AS SELECT x FROM a UNION ALL SELECT x FROM b;
                    ATTACH ':memory:' AS more; CREATE TABLE more.m (x); CREATE VIEW more.mv AS SELECT * FROM m
                    """)
            let queries: [(String, [String])] = [
                ("SELECT COUNT(*) FROM v", ["v"]), ("SELECT COUNT(*) FROM V AS other", ["v"]),
                ("SELECT COUNT(*) FROM main.v", ["v"]), ("SELECT EXISTS (SELECT 1 FROM v)", ["v"]),
                ("SELECT (SELECT COUNT(*) FROM v)", ["v"]), ("SELECT COUNT(*) FROM v, w", ["v", "w"]),
                ("SELECT COUNT(*) FROM vv", ["v", "vv"]), ("SELECT COUNT(*) FROM one", ["one"]),
                // SQLite 3.54 counts the rows of each part itself, and doesn't name the view.
                ("SELECT COUNT(*) FROM t", ["temp.t"]), ("SELECT COUNT(*) FROM both", ["both"]),
                ("SELECT COUNT(*) FROM \"BOTH\"", ["both"]), ("SELECT COUNT(*) FROM bothAgain", ["both", "bothAgain"]),
                ("SELECT COUNT(*) FROM \"no word\"", ["no word"]), ("SELECT COUNT(*) FROM [.]", ["."]),
                ("SELECT (SELECT COUNT(*) FROM both) + 1", ["both"]),
                ("SELECT COUNT(*) FROM mv", ["more.mv"]), ("SELECT COUNT(*) FROM b LEFT JOIN v", ["v"]),
                ("SELECT COUNT(*) FROM b WHERE x IN (SELECT 1 FROM v)", ["v"]),
                ("SELECT x FROM b WHERE EXISTS (SELECT 1 FROM w)", ["w"]),
                ("SELECT COUNT(*) FROM (SELECT 1 FROM v UNION ALL SELECT 1 FROM w)", ["v", "w"]),
                ("WITH q AS (SELECT 1 FROM v) SELECT COUNT(*) FROM q", ["v"]),
                ("SELECT 1 FROM v GROUP BY 1 HAVING (SELECT COUNT(*) FROM w) > 0", ["v", "w"]),
                ("INSERT INTO c SELECT COUNT(*) FROM v", ["v"]), ("SELECT COUNT(*) FROM b NATURAL JOIN w", ["w"]),
            ]
            for (sql, views) in queries {
                let expected = views.map { "\($0)(*)" }
                let region = try db.makeStatement(sql: sql).databaseRegion
                let recorded = try db.recordingRegion { try db.execute(sql: sql) }.region
                for region in [region, recorded] {
                    let found = region.withWholeTables.description.split(separator: ",").map(String.init)
                    #expect(Set(found).isSuperset(of: expected), "\(sql)")
                }
            }
            try db.execute(sql: "DROP VIEW \".\"")
            // A common table expression is no view.
            let sql = "WITH q AS (SELECT x FROM a) SELECT COUNT(*) FROM q"
            #expect(try db.makeStatement(sql: sql).databaseRegion.description == "a(x)")
        }
    }

    @Test func schemaChangesInBetween() throws {
        try withTables { (db) throws in
            try db.execute(sql: "CREATE VIEW v AS SELECT x FROM a")
            let statement = try db.cachedStatement(sql: "SELECT * FROM v")
            func recorded() throws -> Set<String> {
                let region = try db.recordingRegion { _ = try Int.fetchAll(statement) }.region
                return Set(region.tableNames?.map(\.name) ?? [])
            }
            #expect(try recorded() == ["a", "v"])
            try db.execute(sql: "DROP VIEW v; CREATE VIEW v AS SELECT x FROM b")
            #expect(try recorded() == ["b", "v"])
        }
    }

    /// SQLite notices when the statement runs that the view is another one.
    @Test func viewThatAnotherConnectionHasChanged() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/db.sqlite"
            let (first, second) = (try TestConnection(path: path), try TestConnection(path: path))
            try first.access {
                try $0.execute(sql: "CREATE TABLE a (x); CREATE TABLE b (x); CREATE VIEW v AS SELECT x FROM a")
            }
            func recorded() throws -> Set<String> {
                try first.access { db in
                    let region = try db.recordingRegion { _ = try Int.fetchAll(db, sql: "SELECT * FROM v") }.region
                    return Set(region.tableNames?.map(\.name) ?? [])
                }
            }
            #expect(try recorded() == ["a", "v"])
            try second.access { try $0.execute(sql: "DROP VIEW v; CREATE VIEW v AS SELECT x FROM b") }
            #expect(try recorded().contains("b"))
            #expect(try recorded() == ["b", "v"])
        }
    }

    /// A part of the schema that can't be read is unknown, not absent.
    @Test func interruptedLookups() throws {
        try withTables { (db) throws in
            try db.execute(sql: "CREATE VIEW joined AS SELECT a.y FROM a NATURAL JOIN b")
            let statements = try ["SELECT y FROM joined", "SELECT 1 FROM c NATURAL JOIN b", "UPDATE a SET x = 1"].map {
                try db.makeStatement(sql: $0)
            }
            try withLastingInterruption(db) {
                for statement in statements { _ = statement.databaseRegion }
                expectError(.SQLITE_INTERRUPT) { try db.recordingRegion { try read("a", db) } }
            }
            #expect(statements.map(\.databaseRegion.description) == ["a(*),b(*),joined(y)", "b(*),c(*)", "empty"])
            #expect(try db.recordingRegion { try read("a", db) }.region.description == "a(x)")
        }
    }
}
