import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryUntrustedSQL

extension UntrustedSQLTests {
    /// SQLite reports each table that a statement opens. `NATURAL` and `USING` are the exceptions.
    @Test func eachOpenedTableIsReported() throws {
        try queue().writeWithoutTransaction { db in
            try db.execute(sql: "CREATE INDEX ofSecret ON team (secret); CREATE INDEX ofBoth ON team (name || secret)")
            let tables = try Row.fetchAll(db, sql: "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0")
            let names = Dictionary(
                tables.map { ($0["rootpage"] as Int, $0["tbl_name"] as String) },
                uniquingKeysWith: { first, _ in first })
            let reported = Recorded<Set<String>>([])
            let client = db.hooks.onAuthorization { authorization in
                // SQLITE_READ: https://www.sqlite.org/c3ref/c_alter_table.html
                if authorization.action == 20, let table = authorization.first {
                    reported.update { _ = $0.insert(String(cString: table).lowercased()) }
                }
                return .allow
            }
            defer { db.hooks.remove(client) }
            func openedButNotReported(_ sql: String) throws -> Set<String> {
                reported.update { $0 = [] }
                let program = try Row.fetchAll(db, sql: "EXPLAIN " + sql)
                let opened = program.filter { $0["opcode"] == "OpenRead" && $0["p3"] == 0 }
                return Set(opened.compactMap { names[$0["p2"]] }).subtracting(reported.value)
            }
            for sql in [
                "SELECT 1 FROM team", "SELECT 1 IN account", "SELECT 1 FROM player LEFT JOIN team ON 1",
                "SELECT 1 FROM player, team GROUP BY 1", "SELECT max(rowid) FROM team",
                "SELECT 1 FROM team WHERE rowid = 1",
                "SELECT COUNT(*) FROM team WHERE name || secret = 'x'",
                "SELECT 1 FROM team INDEXED BY ofSecret WHERE secret = 1",
                "SELECT (SELECT 1 FROM team)", "SELECT 1 UNION SELECT 1 FROM team",
                "SELECT 1 EXCEPT SELECT secret FROM team",
                "WITH c AS MATERIALIZED (SELECT 1 FROM team) SELECT * FROM c", "SELECT COUNT(*) OVER () FROM team",
                "SELECT 1 FROM account", "SELECT * FROM (SELECT 1 FROM team)", "SELECT 1 FROM team WHERE 0",
                "VALUES ((SELECT 1 FROM team))", "SELECT 1 FROM team LIMIT (SELECT COUNT(*) FROM player)",
                "SELECT 1 FROM player WHERE (1, 2) IN (SELECT id, name FROM team)", "SELECT DISTINCT 1 FROM team",
                "SELECT 1 FROM player WHERE EXISTS (SELECT * FROM team)", "SELECT (id, name) = (1, 2) FROM team",
                "SELECT iif(1, (SELECT 1 FROM team), 0)", "SELECT 1 FROM player ORDER BY (SELECT secret FROM team)",
                "SELECT COUNT(*) FROM roster", "SELECT COUNT(*) FROM secrets", "SELECT COUNT(*) FROM nested",
                "SELECT sum(1) FILTER (WHERE EXISTS (SELECT 1 FROM team)) FROM player",
            ] {
                let hidden = try openedButNotReported(sql)
                #expect(hidden == [], "\(sql)")
            }
            let hidden = "SELECT 1 FROM (SELECT 'x' AS secret) NATURAL JOIN team"
            let isReported = try openedButNotReported(hidden).isEmpty
            if Database.sqliteLibVersionNumber == 3_040_001 { #expect(!isReported) }
        }
    }
}
