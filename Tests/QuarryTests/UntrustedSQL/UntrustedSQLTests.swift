import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryUntrustedSQL

/// SQL of users: what it may read, and what it can't do.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct UntrustedSQLTests {
    /// Tables and views, of which a policy allows some.
    func queue(
        _ execution: AsyncExecution = .automatic, _ clock: ManualMonotonicClock? = nil
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        if let clock { configuration.monotonicClock = clock.monotonicClock }
        configuration.asyncExecution = execution
        configuration.prepareDatabase { db in
            db.add(function: DatabaseFunction("own", argumentCount: 1, pure: true) { $0[0] })
            try db.attach(":memory:", as: "archive")
        }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, secret TEXT);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER, name TEXT);
                    CREATE TABLE account (name TEXT PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE archive.player (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE archive.old (id INTEGER PRIMARY KEY);
                    CREATE TEMPORARY TABLE draft (a);
                    CREATE VIEW roster AS
                        SELECT player.name, team.name AS team FROM player JOIN team ON team.id = teamId;
                    CREATE VIEW secrets AS SELECT player.name FROM player JOIN team ON team.secret = player.name;
                    CREATE VIEW members AS SELECT name FROM player NATURAL JOIN account;
                    CREATE VIEW nested AS SELECT name FROM secrets;
                    CREATE VIEW calling AS SELECT own(name) AS name FROM player;
                    CREATE VIRTUAL TABLE search USING fts5(body);
                    CREATE VIRTUAL TABLE box USING rtree(id, a, b);
                    INSERT INTO team VALUES (1, 'Reds', 'x');
                    INSERT INTO player VALUES (1, 1, 'Arthur'), (2, 1, 'Barbara');
                    INSERT INTO account VALUES ('Arthur');
                    INSERT INTO search VALUES ('a red fox');
                    INSERT INTO box VALUES (1, 2, 3);
                    """)
        }
        return queue
    }

    private var policy: UntrustedSQLPolicy {
        var policy = UntrustedSQLPolicy()
        policy.allowTable("player")
        policy.allowTable("team", columns: ["id", "name"])
        policy.allowTable("search")
        policy.allowTable("box")
        return policy
    }

    @Test(arguments: [
        ("SELECT name FROM player ORDER BY id", "Arthur Barbara"),
        ("SELECT P.NAME FROM \"PLAYER\" AS p WHERE p.[id] = 2", "Barbara"),
        ("SELECT * FROM roster ORDER BY name", "Arthur Reds Barbara Reds"),
        ("SELECT COUNT(*) FROM roster", "2"),
        ("WITH p AS (SELECT name FROM main.player) SELECT upper(name) FROM p", "ARTHUR BARBARA"),
        ("WITH p AS MATERIALIZED (SELECT 1 FROM player) SELECT COUNT(*) FROM p", "2"),
        ("SELECT name FROM player WHERE EXISTS (SELECT 1 FROM team WHERE team.id = teamId) LIMIT 1", "Arthur"),
        ("SELECT COUNT(*) FROM player, team", "2"),
        ("SELECT body FROM search WHERE search MATCH 'fox'", "a red fox"),
        ("SELECT a FROM box WHERE b > 1", "2.0"),
        ("VALUES (1), (2)", "1 2"),
        ("SELECT row_number() OVER (ORDER BY id) FROM player", "1 2"),
        ("SELECT name LIKE 'a%', '{\"a\":1}' ->> 'a' FROM player WHERE rowid = 1", "1 1"),
        ("/* a comment */ SELECT 'NATURAL USING'; -- the end", "NATURAL USING"),
        ("SELECT 1 WHERE 1 IN (SELECT id FROM team)", "1"),
    ]) func allowed(_ sql: String, _ expected: String) throws {
        let rows = try queue().fetchUntrusted(sql, policy: policy).rows
        #expect(rows.flatMap { $0 }.map { "\($0.storage.value ?? "NULL")" }.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        // Tables and columns, however they are named and reached.
        ("SELECT secret FROM team", "reading team.secret isn't allowed"),
        ("SELECT * FROM team", "reading team.secret isn't allowed"),
        ("SELECT [Secret] FROM \"TEAM\"", "reading team.secret isn't allowed"),
        ("SELECT name FROM player ORDER BY (SELECT secret FROM team)", "reading team.secret isn't allowed"),
        ("SELECT COUNT(*) FROM team WHERE secret = 'x'", "reading team.secret isn't allowed"),
        ("SELECT 1 FROM player JOIN team ON secret = player.name", "reading team.secret isn't allowed"),
        ("WITH t AS (SELECT * FROM team) SELECT id FROM t", "reading team.secret isn't allowed"),
        ("SELECT (SELECT max(secret) FROM team)", "reading team.secret isn't allowed"),
        ("SELECT 1 FROM team GROUP BY secret", "reading team.secret isn't allowed"),
        ("SELECT count() FILTER (WHERE secret > 'a') FROM team", "reading team.secret isn't allowed"),
        ("VALUES ((SELECT secret FROM team))", "reading team.secret isn't allowed"),
        ("SELECT name FROM account", "reading account isn't allowed"),
        ("SELECT COUNT(*) FROM account", "reading account isn't allowed"),
        ("SELECT COUNT(*) FROM main.account", "reading account isn't allowed"),
        ("SELECT 1 IN account", "reading account isn't allowed"),
        ("SELECT 1 FROM player, account", "reading account isn't allowed"),
        ("SELECT 1 FROM (SELECT 1 FROM account)", "reading account isn't allowed"),
        ("SELECT 1 UNION SELECT 1 FROM account", "reading account isn't allowed"),
        ("WITH account AS (SELECT 1) SELECT COUNT(*) FROM account", "reading account isn't allowed"),
        ("SELECT id FROM archive.player", "reading archive.player isn't allowed"),
        ("SELECT id FROM old", "reading archive.old isn't allowed"),
        ("SELECT a FROM draft", "reading temp.draft isn't allowed"),
        ("SELECT a FROM temp.draft", "reading temp.draft isn't allowed"),
        // Joins whose columns SQLite doesn't report.
        (
            "SELECT 1 FROM (SELECT 'x' AS secret) NATURAL JOIN team",
            "NATURAL isn't allowed: SQLite doesn't tell which columns are compared"
        ),
        (
            "SELECT 1 FROM (SELECT 'Arthur' AS name) JOIN account USING (name)",
            "USING isn't allowed: SQLite doesn't tell which columns are compared"
        ),
        // Views.
        ("SELECT name FROM secrets", "reading team.secret isn't allowed"),
        ("SELECT COUNT(*) FROM secrets", "reading team.secret isn't allowed"),
        ("SELECT name FROM nested", "reading team.secret isn't allowed"),
        ("SELECT name FROM members", "reading members isn't allowed"),
        ("SELECT COUNT(*) FROM members", "reading members isn't allowed"),
        ("SELECT name FROM calling", "calling own isn't allowed"),
        // The schema.
        ("SELECT sql FROM sqlite_schema", "reading sqlite_master isn't allowed"),
        ("SELECT COUNT(*) FROM sqlite_schema", "reading sqlite_master isn't allowed"),
        ("SELECT sql FROM archive.sqlite_master", "reading archive.sqlite_master isn't allowed"),
        ("SELECT sql FROM sqlite_temp_schema", "reading temp.sqlite_temp_master isn't allowed"),
        // Functions.
        ("SELECT load_extension('x')", "calling load_extension isn't allowed"),
        ("SELECT own(1)", "calling own isn't allowed"),
        ("SELECT sqlite_version()", "calling sqlite_version isn't allowed"),
        ("SELECT changes()", "calling changes isn't allowed"),
        ("SELECT fts3_tokenizer('simple')", "calling fts3_tokenizer isn't allowed"),
        // Everything but SELECT.
        ("DELETE FROM player", "DELETE isn't allowed: only SELECT is"),
        ("REPLACE INTO player VALUES (1, 1, 'x')", "REPLACE isn't allowed: only SELECT is"),
        ("WITH p AS (SELECT 1) DELETE FROM player", "writing to player isn't allowed"),
        ("WITH p AS (SELECT 1) INSERT INTO player (name) SELECT 'x'", "writing to player isn't allowed"),
        ("PRAGMA table_info(team)", "PRAGMA isn't allowed: only SELECT is"),
        ("PRAGMA query_only = 0", "PRAGMA isn't allowed: only SELECT is"),
        ("ATTACH 'x.sqlite' AS x", "ATTACH isn't allowed: only SELECT is"),
        ("DETACH archive", "DETACH isn't allowed: only SELECT is"),
        ("BEGIN", "BEGIN isn't allowed: only SELECT is"),
        ("COMMIT", "COMMIT isn't allowed: only SELECT is"),
        ("ROLLBACK", "ROLLBACK isn't allowed: only SELECT is"),
        ("SAVEPOINT s", "SAVEPOINT isn't allowed: only SELECT is"),
        ("VACUUM INTO 'x.sqlite'", "VACUUM isn't allowed: only SELECT is"),
        ("CREATE TEMP TABLE x (a)", "CREATE isn't allowed: only SELECT is"),
        ("DROP TABLE player", "DROP isn't allowed: only SELECT is"),
        ("REINDEX", "REINDEX isn't allowed: only SELECT is"),
        ("ANALYZE", "ANALYZE isn't allowed: only SELECT is"),
        ("EXPLAIN SELECT 1", "EXPLAIN isn't allowed: only SELECT is"),
        ("EXPLAIN QUERY PLAN SELECT 1", "EXPLAIN isn't allowed: only SELECT is"),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
            "a recursive common table expression isn't allowed"
        ),
        (
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 3",
            "a recursive common table expression isn't allowed"
        ),
    ]) func refused(_ sql: String, _ message: String) throws {
        let queue = try queue()
        expectError(.SQLITE_AUTH, message) { try queue.fetchUntrusted(sql, policy: policy) }
        try queue.write { db in
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player NATURAL JOIN account") == 1)
            try db.execute(sql: "DELETE FROM account")
        }
    }

    @Test func allButSome() throws {
        let queue = try queue()
        var policy = UntrustedSQLPolicy()
        policy.allowsOtherTables = true
        policy.denyTable("account")
        policy.denyTable("team", columns: ["secret"])
        #expect(try queue.fetchUntrusted("SELECT id FROM archive.player", policy: policy).rows == [])
        #expect(try queue.fetchUntrusted("SELECT id, name FROM team", policy: policy).rows.count == 1)
        for (sql, message) in [
            ("SELECT * FROM team", "reading team.secret isn't allowed"),
            ("SELECT 1 FROM account", "reading account isn't allowed"),
            ("SELECT name FROM members", "reading members isn't allowed"),
            ("SELECT sql FROM sqlite_schema", "reading sqlite_master isn't allowed"),
        ] { expectError(.SQLITE_AUTH, message) { try queue.fetchUntrusted(sql, policy: policy) } }
    }

    /// Tables that SQLite has without a schema, of which some builds have none.
    @Test(
        arguments: [
            "pragma_table_info('team')", "pragma_database_list", "dbstat", "sqlite_dbpage", "sqlite_stmt",
            "bytecode('SELECT 1')",
            "tables_used('SELECT 1')", "fts5vocab", "csv",
        ], [true, false]) func builtInTables(_ table: String, isFirstUse: Bool) throws
    {
        let queue = try queue()
        var policy = policy
        policy.allowsOtherTables = true
        let name = String(table.prefix { $0 != "(" })
        if !isFirstUse { _ = try? queue.read { db in try Row.fetchOne(db, sql: "SELECT * FROM \(table)") } }
        for sql in ["SELECT * FROM \(table)", "SELECT COUNT(*) FROM \(table)"] {
            let error = expectError(DatabaseError.self) { try queue.fetchUntrusted(sql, policy: policy) }
            let expected = [
                "a built-in virtual table, or writing to sqlite_master, isn't allowed",
                "reading \(name) isn't allowed", "no such table: \(name)", "no such table: fts5vocab",
            ]
            #expect(expected.contains(error?.message ?? ""))
        }
    }

    @Test func whatIsNamedIsAllowed() throws {
        let queue = try queue()
        var policy = policy
        policy.allowTable("members")
        policy.allowTable("account")
        policy.allowTable("sqlite_schema", columns: ["name", "type"])
        policy.allowFunctions(["own"])
        policy.allowsRecursion = true
        #expect(try queue.fetchUntrusted("SELECT name FROM members", policy: policy).rows == [["Arthur".databaseValue]])
        #expect(try queue.fetchUntrusted("SELECT own(7)", policy: policy).rows == [[7.databaseValue]])
        #expect(
            try queue.fetchUntrusted("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'view'", policy: policy).rows
                == [[5.databaseValue]])
        #expect(
            try queue.fetchUntrusted(
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT i FROM n", policy: policy
            ).rows.count == 3)
    }

    /// The programs of <https://www.sqlite.org/security.html> that use much time or memory.
    @Test(arguments: [
        ("SELECT zeroblob(1000000000)", ResultCode.SQLITE_TOOBIG),
        ("SELECT randomblob(2000000)", .SQLITE_TOOBIG),
        ("SELECT hex(zeroblob(100000)) || 'x'", .SQLITE_TOOBIG),
        ("SELECT length(group_concat(hex(zeroblob(400000)))) FROM player, player, player", .SQLITE_TOOBIG),
        ("SELECT COUNT(*) FROM player a, player b, \(Self.manyTables)", .SQLITE_INTERRUPT),
        (
            "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' LIKE '\(String(repeating: "%a", count: 40))b'",
            .SQLITE_ERROR
        ),
        ("SELECT \(String(repeating: "1+", count: 1000))1", .SQLITE_ERROR),
        ("SELECT \(String(repeating: "-(", count: 2000))1\(String(repeating: ")", count: 2000))", .SQLITE_ERROR),
        ("SELECT \(Array(repeating: "1", count: 101).joined(separator: ","))", .SQLITE_ERROR),
        (Array(repeating: "SELECT 1", count: 6).joined(separator: " UNION ALL "), .SQLITE_ERROR),
        ("SELECT max(1,2,3,4,5,6,7,8,9)", .SQLITE_ERROR),
        ("SELECT ?101", .SQLITE_ERROR),
        ("SELECT '\(String(repeating: "x", count: 100_000))'", .SQLITE_TOOBIG),
        ("SELECT 1 FROM \((0..<10).map { "player p\($0)" }.joined(separator: ", "))", .SQLITE_TOOBIG),
        ("SELECT \(Array(repeating: "zeroblob(99999)", count: 11).joined(separator: ","))", .SQLITE_TOOBIG),
        ("SELECT length(zeroblob(100001))", .SQLITE_TOOBIG),
        ("SELECT 1; SELECT 2", .SQLITE_MISUSE),
        ("", .SQLITE_ERROR),
        ("SELECT 1\0; DROP TABLE player", .SQLITE_MISUSE),
    ]) func bounds(_ sql: String, _ code: ResultCode) throws {
        let queue = try queue(.automatic, ManualMonotonicClock(tick: .milliseconds(1)))
        var policy = policy
        // The other bounds come first.
        policy.timeout = code == .SQLITE_INTERRUPT ? .milliseconds(100) : .seconds(100)
        let error = expectError(code) { try queue.fetchUntrusted(sql, policy: policy) }
        if code == .SQLITE_INTERRUPT {
            #expect(error?.message == "timeout of untrusted SQL: it ran longer than 0.1 seconds")
        }
        // Nothing is left behind.
        try queue.write { db in
            #expect(db.limit(.length) == 1_000_000_000)
            #expect(try Int.fetchOne(db, sql: "SELECT length(zeroblob(2000000))") == 2_000_000)
            #expect(try Int.fetchOne(db, sql: "SELECT \(String(repeating: "1+", count: 500))1") == 501)
            try db.execute(sql: "INSERT INTO account VALUES ('x')")
        }
    }

    private static let manyTables = (0..<30).map { "player p\($0)" }.joined(separator: ", ")

    @Test func tooManyInstructions() throws {
        let queue = try queue()
        var policy = policy
        policy.maximumInstructionCount = 200
        let values = (0..<90).map { "(\($0), \($0) + 1)" }.joined(separator: ", ")
        let error = expectError(.SQLITE_NOMEM) {
            try queue.fetchUntrusted(
                "SELECT * FROM player WHERE \((0..<40).map { "abs(id) <> \($0)" }.joined(separator: " AND "))",
                policy: policy)
        }
        #expect(
            error?.message == """
                out of memory, or the statement needs more than 200 instructions \
                (UntrustedSQLPolicy.maximumInstructionCount)
                """)
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM (VALUES \(values))") } == 90)
    }

    // MARK: - Nothing is left behind

    @Test func statementsAreNotShared() throws {
        let queue = try queue()
        try queue.write { db in
            let sql = "SELECT secret FROM team"
            #expect(try String.fetchOne(db, sql: sql) == "x")
            let cached = try db.cachedStatement(sql: sql)
            let kept = try db.makeStatement(sql: sql)
            #expect(try String.fetchOne(kept) == "x")
            var inner: Statement?
            try db.withUntrustedSQL(policy) {
                for statement in [cached, kept] {
                    expectError(.SQLITE_AUTH, "reading team.secret isn't allowed") { try String.fetchOne(statement) }
                }
                expectError(.SQLITE_AUTH, "reading team.secret isn't allowed") { try String.fetchOne(db, sql: sql) }
                expectError(.SQLITE_AUTH, "reading team.secret isn't allowed") { try db.cachedStatement(sql: sql) }
                inner = try db.cachedStatement(sql: "SELECT name FROM team")
                #expect(try String.fetchOne(inner!) == "Reds")
            }
            expectError(
                .SQLITE_MISUSE, "A statement of untrusted SQL can't be run outside of withUntrustedSQL."
            ) { try String.fetchOne(inner!) }
            #expect(try db.cachedStatement(sql: "SELECT name FROM team") !== inner)
            #expect(try String.fetchOne(db, sql: sql) == "x")
            #expect(try String.fetchOne(kept) == "x")
            try db.execute(sql: "UPDATE team SET secret = 'y'")
            #expect(try String.fetchOne(cached) == "y")
        }
    }

    @Test func cursorsEnd() throws {
        let queue = try queue()
        try queue.read { db in
            let outer = try String.fetchCursor(db, sql: "SELECT secret FROM team, player")
            #expect(try outer.next() == "x")
            let inner = try db.withUntrustedSQL(policy) {
                let inner = try String.fetchCursor(db, sql: "SELECT name FROM player")
                #expect(try inner.next() == "Arthur")
                return inner
            }
            expectError(.SQLITE_MISUSE) { try inner.next() }
            #expect(try outer.next() == "x", "a cursor that began earlier goes on")
        }
    }

    @Test func hostilePrograms() throws {
        let queue = try queue()
        for isTransaction in [true, false] {
            try queue.writeWithoutTransaction { db in
                if isTransaction { try db.beginTransaction() }
                expectError(CancellationError.self) {
                    try db.withUntrustedSQL(policy) { () throws -> Void in throw CancellationError() }
                }
                _ = try db.withUntrustedSQL(policy) {
                    expectError(.SQLITE_MISUSE, "withUntrustedSQL can't be nested") {
                        try db.withUntrustedSQL(policy) { Issue.record("it is nested") }
                    }
                }
                try db.withUntrustedSQL(policy) {
                    try db.setLimit(.length, to: 2_000_000)
                    expectError(.SQLITE_AUTH) { try db.execute(sql: "ROLLBACK") }
                    expectError(.SQLITE_AUTH) { try db.inSavepoint { .commit } }
                    expectError(.SQLITE_AUTH) { try db.execute(sql: "SELECT name FROM sqlite_schema") }
                    expectError(.SQLITE_AUTH) { try db.execute(sql: "INSERT INTO account VALUES ('x')") }
                    #expect(db.isInsideTransaction)
                }
                #expect(db.limit(.length) == 1_000_000_000)
                #expect(db.isInsideTransaction == isTransaction)
                try db.execute(sql: "INSERT OR REPLACE INTO account VALUES ('x')")
                if isTransaction { try db.commit() }
            }
        }
        var wrong = policy
        wrong.maximumColumnCount = -1
        expectError(.SQLITE_MISUSE) { try queue.fetchUntrusted("SELECT 1", policy: wrong) }
    }

    /// A function of the program that runs SQL: the policy decides on that, too.
    @Test(arguments: [
        ("SELECT secret FROM team", "reading team.secret isn't allowed"),
        ("ROLLBACK", "ROLLBACK isn't allowed: only SELECT is"),
        ("DELETE FROM account", "DELETE isn't allowed: only SELECT is"),
        ("ATTACH ':memory:' AS more", "ATTACH isn't allowed: only SELECT is"),
    ]) func functionsThatRunSQL(_ sql: String, _ message: String) throws {
        let queue = try queue()
        var policy = policy
        policy.allowFunctions(["RUN"])
        try queue.write { db in
            // It runs in the access of this connection alone.
            nonisolated(unsafe) unowned let db = db
            db.add(
                function: DatabaseFunction("run", argumentCount: 0) { _ in
                    try db.execute(sql: sql)
                    return 1
                })
            expectError(.SQLITE_AUTH, message) {
                try db.withUntrustedSQL(policy) { try Int.fetchOne(db, sql: "SELECT run() FROM player") }
            }
            #expect(db.isInsideTransaction)
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM account")
            #expect(count == 1)
        }
    }

    /// A table that comes between two blocks is judged, too.
    @Test func theSchemaChanges() throws {
        let queue = try queue()
        #expect(try queue.fetchUntrusted("SELECT COUNT(*) FROM player", policy: policy).rows == [[2.databaseValue]])
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE later (a); DROP VIEW roster; CREATE TABLE roster (name)")
        }
        for sql in ["SELECT COUNT(*) FROM later", "SELECT COUNT(*) FROM roster"] {
            expectError(.SQLITE_AUTH) { try queue.fetchUntrusted(sql, policy: policy) }
        }
    }

    @Test func observations() throws {
        let queue = try queue()
        let policy = policy
        // The authorizer has a second client.
        let regions = try queue.read { db in
            try db.recordingRegion {
                try db.withUntrustedSQL(policy) { try String.fetchAll(db, sql: "SELECT name FROM player") }
            }
        }
        #expect(regions.value == ["Arthur", "Barbara"])
        try queue.read { db in
            #expect(regions.region.isModified(byEventsOfKind: .insert(tableName: "player")))
            expectError(.SQLITE_AUTH) {
                try db.withUntrustedSQL(policy) { try Row.fetchAll(db, sql: "SELECT * FROM team") }
            }
        }
    }

    // MARK: - Readers

    @Test(arguments: WriterKind.allCases) func eachReader(_ kind: WriterKind) async throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        try writer.makeTable(1, 2)
        var policy = UntrustedSQLPolicy()
        policy.allowTable("t")
        var readers: [any DatabaseReader] = [writer, AnyDatabaseReader(writer)]
        if let pool = writer as? DatabasePool {
            readers += [try pool.makeSnapshot(), try pool.makeSnapshotPool(), try await pool.makeStableReader()]
        }
        for reader in readers {
            let expected = UntrustedSQLResult(columns: ["a"], rows: [[2.databaseValue]])
            #expect(
                try await reader.fetchUntrusted("SELECT a FROM t WHERE a > ?", arguments: [1], policy: policy)
                    == expected)
            let policy = policy
            let values = try await onOwnThread {
                try reader.fetchUntrusted("SELECT a FROM t WHERE a > :a", arguments: ["a": 1], policy: policy)
            }
            #expect(values == expected)
            await expectError(.SQLITE_AUTH) {
                try await reader.fetchUntrusted("SELECT * FROM sqlite_schema", policy: policy)
            }
            #expect(try await reader.read { db in try db.values() } == [1, 2])
        }
    }

    @Test func cancellation() async throws {
        let queue = try queue(.offloaded, ManualMonotonicClock())
        var policy = policy
        policy.allowsRecursion = true
        policy.timeout = .seconds(600)
        let endless = """
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0
            """
        let unbounded = policy
        let runs = Step("the query runs")
        let task = Task {
            try await queue.read { db in
                try db.withUntrustedSQL(unbounded) {
                    runs.reach()
                    SwiftThreads.willBlock(until: "an endless query is interrupted")
                    try db.execute(sql: endless)
                }
            }
        }
        try await runs.reached(by: task)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let ticking = try self.queue(.offloaded, ManualMonotonicClock(tick: .milliseconds(1)))
        await expectError(.SQLITE_INTERRUPT, "access timeout: it ran longer than 0.01 seconds") {
            try await ticking.read(timeout: .milliseconds(10)) { db in
                try db.withUntrustedSQL(unbounded) { try db.execute(sql: endless) }
            }
        }
    }

    @Test func json() throws {
        let queue = try queue()
        var policy = policy
        policy.allowFunctions(["own"])
        let result = try queue.fetchUntrusted(
            "SELECT 1 AS a, 1.5 AS a, NULL, 'é', x'', x'00', x'0001', x'000102', 9e999, -9e999", policy: policy)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let values = #"[1,1.5,null,"é","","AA==","AAE=","AAEC","inf","-inf"]"#
        let text = String(decoding: try encoder.encode(result), as: UTF8.self)
        #expect(text.hasSuffix(#""rows":[\#(values)]}"#))
        #expect(text.hasPrefix(#"{"columns":["a","a","NULL""#))
    }
}
