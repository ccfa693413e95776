#if Instrumentation || AllButTLS
import Testing

@testable import QuarryInstrumentation

/// The operations and tables of statements.
@Suite struct StatementSummaryTests {
    @Test(arguments: [
        ("SELECT * FROM player WHERE id = ?", "SELECT", "player", "SELECT player"),
        ("select name from main.\"player\" p, team t where p.x = t.y", "SELECT", nil, "SELECT main.player team"),
        ("SELECT a, b FROM [odd name] LEFT JOIN `team` ON f(a, b), club", "SELECT", nil, "SELECT odd name team club"),
        ("SELECT 1", "SELECT", nil, "SELECT"),
        ("SELECT count(*) FROM (SELECT * FROM player), team", "SELECT", nil, "SELECT player team"),
        ("SELECT value FROM json_each(?), player", "SELECT", "player", "SELECT player"),
        ("SELECT 1 WHERE a IS DISTINCT FROM b", "SELECT", nil, "SELECT"),
        ("SELECT replace(name, ?, ?) FROM player ORDER BY a, b", "SELECT", "player", "SELECT player"),
        ("INSERT INTO player (a, b) VALUES (?, ?), (?, ?)", "INSERT", "player", "INSERT player"),
        ("INSERT OR REPLACE INTO player(a) VALUES (?)", "INSERT", "player", "INSERT player"),
        ("INSERT INTO a SELECT * FROM b RETURNING x, y", "INSERT", nil, "INSERT a SELECT b"),
        ("INSERT INTO a(x) VALUES (1) ON CONFLICT DO UPDATE SET x = 2, y = 3", "INSERT", "a", "INSERT a"),
        ("REPLACE INTO a VALUES (1)", "REPLACE", "a", "REPLACE a"),
        ("UPDATE OR IGNORE player SET a = 1, b = 2", "UPDATE", "player", "UPDATE player"),
        ("DELETE FROM player WHERE id IN (SELECT id FROM gone)", "DELETE", nil, "DELETE player SELECT gone"),
        ("WITH a(x, y) AS (SELECT * FROM b) DELETE FROM c WHERE x IN a", "DELETE", nil, "SELECT b DELETE c"),
        ("WITH RECURSIVE a AS (SELECT 1 UNION SELECT x + 1 FROM a) SELECT * FROM a", "SELECT", nil, "SELECT"),
        ("VALUES (1), (2)", "VALUES", nil, "VALUES"),
        ("CREATE TABLE IF NOT EXISTS main.t (a)", "CREATE TABLE", "main.t", "CREATE TABLE main.t"),
        ("CREATE UNIQUE INDEX i ON t(a)", "CREATE INDEX", nil, "CREATE INDEX i"),
        ("CREATE VIRTUAL TABLE t USING fts5(a)", "CREATE TABLE", "t", "CREATE TABLE t"),
        ("DROP TRIGGER x", "DROP TRIGGER", nil, "DROP TRIGGER x"),
        ("BEGIN IMMEDIATE TRANSACTION", "BEGIN", nil, "BEGIN"),
        ("PRAGMA main.schema_version", "PRAGMA", nil, "PRAGMA main"),
        ("EXPLAIN QUERY PLAN SELECT * FROM t", "EXPLAIN", nil, "EXPLAIN"),
        ("-- SELECT\n/*/ FROM a */ COMMIT", "COMMIT", nil, "COMMIT"),
        ("", nil, nil, ""),
        ("'unfinished", nil, nil, ""),
        ("no SQL at all", nil, nil, ""),
    ]) func summary(sql: String, operation: String?, collection: String?, text: String) {
        let summary = StatementSummary(sql)
        #expect(summary.operation == operation)
        #expect(summary.collection == collection)
        #expect(summary.text == text)
    }

    @Test func summaryIsCutAfterAName() {
        let tables = (0..<100).map { "table_with_a_long_name_\($0)" }
        let summary = StatementSummary("SELECT * FROM \(tables.joined(separator: ", "))")
        #expect(summary.text.utf8.count <= StatementSummary.maximumLength)
        #expect(summary.text == (["SELECT"] + tables.prefix(9)).joined(separator: " "))
    }

    /// Any text is read to its end.
    @Test func randomTexts() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("StatementSummaryTests: seed \(seed)")
        var state = seed
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        let parts = [
            "SELECT", "FROM", "WITH", "AS", "(", ")", ",", ".", "'", "\"", "[", "`", "--", "/*", "*/", "\n", "a", "é",
            "1",
            "?", ":", "UPDATE", "OR", "INTO", "JOIN", "CREATE", "TABLE", "IF", "\0",
        ]
        for _ in 0..<20_000 {
            let text = (0..<next(12)).map { _ in parts[next(parts.count)] }.joined(separator: next(2) == 0 ? " " : "")
            let summary = StatementSummary(text)
            #expect(summary.text.utf8.count <= StatementSummary.maximumLength)
            #expect(!summary.text.isEmpty || summary.operation == nil, "\(text)")
        }
    }
}
#endif
