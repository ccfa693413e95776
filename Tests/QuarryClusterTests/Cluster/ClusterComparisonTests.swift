import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import Testing

@Suite("A cluster does as a local database does") struct ClusterComparisonTests {
    private static let insertion = "INSERT INTO player (name, score) VALUES"

    @Test(arguments: [
        ["BEGIN", "\(insertion) ('a', 1)", "COMMIT"],
        ["BEGIN", "\(insertion) ('a', 1)", "ROLLBACK"],
        ["COMMIT"], ["ROLLBACK"], ["BEGIN", "BEGIN"], ["RELEASE nope"], ["ROLLBACK TO nope"],
        ["SAVEPOINT x", "RELEASE x"],
        ["SAVEPOINT x", "\(insertion) ('a', 1)", "RELEASE x"],
        ["SAVEPOINT x", "\(insertion) ('a', 1)", "ROLLBACK TO x", "RELEASE nope", "RELEASE x"],
        ["SAVEPOINT x", "\(insertion) ('a', 1)", "SAVEPOINT y", "\(insertion) ('b', 1)", "ROLLBACK TO y", "RELEASE x"],
        ["SAVEPOINT x", "\(insertion) ('a', 1)", "INSERT OR ROLLBACK INTO player (name) VALUES ('a')", "RELEASE x"],
        ["/* c */ SAVEPOINT x", "\(insertion) ('a', 1)", "-- c\n RELEASE /* d */ x"],
        ["SAVEPOINT \"a b\"", "\(insertion) ('a', 1)", "ROLLBACK TO \"a b\"", "RELEASE 'a b'"],
        ["BEGIN", "\(insertion) ('a', 1)", "\(insertion) ('a', 1)", "\(insertion) ('b', 1)", "COMMIT"],
        ["BEGIN; \(insertion) ('a', 1); COMMIT; BEGIN; \(insertion) ('b', 1); ROLLBACK;"],
        ["\(insertion) ('a', 1); \(insertion) ('a', 1); \(insertion) ('c', 1)"],
    ]) func transactions(_ statements: [String]) throws {
        try PoolComparison().expectSame(statements)
    }

    @Test(arguments: [
        ["CREATE TABLE player (a)", "DROP TABLE nope", "CREATE TABLE IF NOT EXISTS player (a)"],
        ["\(insertion) ('a', 1)", "ALTER TABLE player ADD COLUMN x NOT NULL", "SELECT * FROM player"],
        ["\(insertion) ('a', 1), ('b', 1)", "CREATE UNIQUE INDEX i ON player (score)", "DROP INDEX i"],
        ["\(insertion) ('a', 1)", "CREATE TABLE v AS SELECT * FROM player", "SELECT * FROM v"],
        ["CREATE VIEW w AS SELECT name FROM player", "\(insertion) ('a', 1)", "SELECT * FROM w", "DROP VIEW w"],
        [
            "BEGIN", "CREATE TABLE u (a)", "INSERT INTO u VALUES (1)", "ROLLBACK", "SELECT * FROM u",
            "CREATE TABLE u (b)",
        ],
        ["SAVEPOINT x", "CREATE TABLE u (a)", "ROLLBACK TO x", "SELECT * FROM u", "RELEASE x", "CREATE TABLE u (b)"],
        [
            "CREATE TABLE w (a PRIMARY KEY, b AS (a || 'x'), c AS (a) STORED) WITHOUT ROWID",
            "INSERT INTO w VALUES (1)",
            "SELECT * FROM w", "UPDATE w SET a = 2", "INSERT INTO w (b) VALUES (1)",
        ],
        [
            "CREATE TABLE \"select\" (\"a b\", [order])", "INSERT INTO \"select\" VALUES (1, 2)",
            "SELECT * FROM \"select\"",
        ],
        ["CREATE TABLE t2 (a); INSERT INTO t2 VALUES (1); SELECT * FROM t2; DROP TABLE t2"],
        [
            "CREATE VIRTUAL TABLE f USING fts5(name, content='player', content_rowid='id')",
            "\(insertion) ('hello', 1)",
            "INSERT INTO f(f) VALUES ('rebuild')",
            "SELECT rowid, highlight(f, 0, '<', '>') FROM f WHERE f MATCH 'hello'",
            "DROP TABLE f", "SELECT * FROM f",
        ],
        // Names of the virtual tables that carry the statements.
        ["CREATE TABLE quarry_changes (a)", "\(insertion) ('a', 1)", "SELECT * FROM quarry_changes"],
        ["CREATE TABLE quarry_rows_1 (a)", "SELECT 1", "SELECT a FROM quarry_rows_1"],
        ["CREATE TABLE quarry_execution (a)", "\(insertion) ('a', 1)"],
        ["CREATE TABLE sqlite_quarry_rows_1 (a)"],
    ]) func schemas(_ statements: [String]) throws {
        try PoolComparison().expectSame(statements)
    }

    /// A node answers with the columns that a prepared statement had before.
    @Test(arguments: ["RENAME COLUMN score TO points", "DROP COLUMN score", "ADD COLUMN x DEFAULT 4"])
    func statementsThatRunOverSchemaChanges(_ change: String) throws {
        let queries = Array(repeating: "SELECT * FROM player", count: 3)
        let insertion = "\(Self.insertion) ('a', 1)"
        let change = "ALTER TABLE player \(change)"
        try PoolComparison().expectSame([insertion] + queries + [change] + queries)
        try PoolComparison().expectSame([insertion, "BEGIN"] + queries + [change] + queries + ["ROLLBACK"] + queries)
        try PoolComparison().expectSame(
            [insertion, "SAVEPOINT x", change] + queries + ["ROLLBACK TO x"] + queries + ["RELEASE x"] + queries)
        // ON CONFLICT ROLLBACK.
        try PoolComparison().expectSame(
            [insertion, "BEGIN", change] + queries + ["INSERT OR ROLLBACK INTO player (name) VALUES ('a')"] + queries)
    }

    @Test(arguments: [
        ["CREATE TABLE c (a REFERENCES player DEFERRABLE INITIALLY DEFERRED)", "INSERT INTO c VALUES (7)"],
        [
            "CREATE TABLE c (a REFERENCES player DEFERRABLE INITIALLY DEFERRED)", "BEGIN", "INSERT INTO c VALUES (7)",
            "COMMIT", "INSERT INTO player (id, name) VALUES (7, 'g')", "COMMIT", "SELECT * FROM c",
        ],
        [
            "CREATE TABLE c (a REFERENCES player)", "BEGIN", "PRAGMA defer_foreign_keys = ON",
            "INSERT INTO c VALUES (7)",
            "PRAGMA defer_foreign_keys", "COMMIT", "ROLLBACK", "PRAGMA defer_foreign_keys",
        ],
        [
            """
            CREATE TRIGGER t AFTER INSERT ON player BEGIN SELECT RAISE(ROLLBACK, 'no') WHERE new.score = 9;
            SELECT RAISE(ABORT, 'abort') WHERE new.score = 8; SELECT RAISE(IGNORE) WHERE new.score = 7; END
            """,
            "BEGIN", "\(insertion) ('a', 1)", "\(insertion) ('b', 8)", "\(insertion) ('c', 7)", "\(insertion) ('f', 9)",
            "\(insertion) ('g', 1)", "COMMIT",
        ],
    ]) func constraints(_ statements: [String]) throws {
        try PoolComparison().expectSame(statements)
    }

    /// The answers of the requests behind a failed statement belong to no other.
    @Test(arguments: [
        "\(insertion) ('a', 2) RETURNING id", "SELECT abs(-9223372036854775808)", "\(insertion) ('a', 3)",
    ])
    func failedStatementsThatRunAgain(_ sql: String) throws {
        try PoolComparison().expectSame(sql) { db in
            try db.execute(sql: "\(Self.insertion) ('a', 1)")
            let outcomes = (1...4).map { _ in rows(db, sql) }
            try db.execute(sql: "\(Self.insertion) ('b', 1)")
            return outcomes.joined(separator: "\n") + rows(db, "SELECT * FROM player")
        }
    }

    @Test func countsOfChanges() throws {
        let insertion = Self.insertion
        try PoolComparison().expectSame("counts") { db in
            var counts: [String] = []
            for sql in [
                "\(insertion) ('a', 1), ('b', 2), ('c', 3)", "UPDATE player SET score = 9 WHERE id < 3 RETURNING id",
                "\(insertion) ('d', 3) RETURNING id", "\(insertion) ('d', 3) ON CONFLICT DO NOTHING RETURNING id",
                "\(insertion) ('d', 3) ON CONFLICT DO UPDATE SET score = 8 RETURNING id", "PRAGMA user_version = 3",
                "CREATE TABLE u (a)", "SELECT * FROM player", "DELETE FROM player RETURNING name", "DELETE FROM player",
                "\(insertion) ('x', 1)", "UPDATE player SET score = 1 WHERE 0",
                "\(insertion) ('y', 1), ('z', 1)", "INSERT INTO player (id) VALUES (5), (6), (5)",
                "\(insertion) ('y', 1), ('z', 1)", "INSERT INTO player (id) VALUES (15), (5) RETURNING id",
                "\(insertion) ('y', 1)", "SELECT missing FROM player", "SELECT abs(-9223372036854775808)",
            ] {
                counts.append(rows(db, sql))
                counts.append("\(db.changesCount) \(db.totalChangesCount) \(db.lastInsertedRowID)")
            }
            return counts.joined(separator: "\n")
        }
    }

    @Test(arguments: [
        "SELECT ?", "SELECT ?3", "SELECT ?1, ?, :a, ?7, @b, $c", "SELECT $a::b(c)", "SELECT ?2, ?2, ?1",
        "SELECT :a, @a",
        "SELECT ?100, ?",
    ]) func argumentsOfAllForms(_ sql: String) throws {
        try PoolComparison().expectSame(sql) { db in
            let statement = try db.makeStatement(sql: sql)
            let arguments: [StatementArguments] = [
                [1, 2, 3, 4, 5, 6, 7], ["a": 1, "b": 2, "c": 3], [1], [1, 2], [1, 2, 3], [],
            ]
            let outcomes = arguments.map { list in outcome { "\(try Row.fetchAll(statement, arguments: list))" } }
            return "\(statement.columnNames) \(statement.isReadonly) \(outcomes)"
        }
    }

    @Test(arguments: [1, 16, 17, 99, 100, 101, 200, 201, 255]) func argumentCounts(_ count: Int) throws {
        try PoolComparison().expectSame("\(count)") { db in
            rows(
                db, "SELECT \(Array(repeating: "?", count: count).joined(separator: "+")) AS sum",
                StatementArguments(1...count))
        }
    }

    @Test(arguments: [
        "SELECT 1 AS a, 2 AS a", "SELECT 1 AS \"\"", "SELECT 1 AS \"a\"\"b\"", "SELECT 'x''y'", "SELECT 1;;; -- é",
        "/* c */ SELECT 1 /* d */ ; -- x", "VALUES (1), (2)", "WITH t AS (SELECT 1) SELECT * FROM t", "SELECT 'a;b'",
        "EXPLAIN QUERY PLAN DELETE FROM player", "SELECT * FROM pragma_table_info('player')",
        "pragma  main . user_version",
        "PRAGMA \"main\".[user_version]", "PRAGMA 'user_version'", "/* x */ PRAGMA user_version",
        "PRAGMA defer_foreign_keys",
        "PRAGMA main.table_info('player')", "SELECT * FROM json_each('[1,2]')", "SELECT zeroblob(1000000) AS z",
        "SELECT zeroblob(0), x'', '', 1e999, -0.0", "", ";", "-- c", "SELEKT", "SELECT 1 FROM", "SELECT * FROM missing",
        "SELECT missing FROM player", "\(insertion) (1", "INSERT INTO player (nam) VALUES (1)", "SELECT f(1)",
        "SELECT 'x' COLLATE nope", "SELECT count(*) FROM sqlite_sequence",
    ]) func singleStatements(_ sql: String) throws {
        try PoolComparison().expectSame(sql) { db in
            try db.execute(sql: "\(Self.insertion) ('a', 1), ('b', 2)")
            return rows(db, sql)
                + outcome {
                    try db.execute(sql: sql)
                    return "done"
                }
        }
    }

    @Test func moreStatementsThanANodeKeeps() throws {
        try PoolComparison().expectSame("300 statements") { db in
            var sum = 0
            for _ in 0..<3 {
                for number in 0..<300 {
                    sum += try Int.fetchOne(db, sql: "SELECT \(number) + ?", arguments: [number]) ?? 0
                }
            }
            let cursors = try (0..<130).map { number in
                try Int.fetchCursor(db, sql: "SELECT \(number) UNION ALL SELECT ?", arguments: [1])
            }
            for cursor in cursors.prefix(40) { sum += try cursor.next() ?? 0 }
            return "\(sum)"
        }
    }
}
