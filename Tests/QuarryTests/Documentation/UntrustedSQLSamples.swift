import Foundation
import Quarry
import QuarryTestSupport
import QuarryUntrustedSQL
import Testing

/// The code of the article "Untrusted SQL".
@Suite struct UntrustedSQLSamples {
    let folder: TemporaryFolder
    let dbPool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        var still = Configuration()
        still.monotonicClock = ManualMonotonicClock().monotonicClock
        dbPool = try DatabasePool(path: folder.file("players.sqlite"), configuration: still)
        try dbPool.write { db in
            try db.makeScoredPlayers(["Arthur": 200, "Barbara": 50])
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, budget INTEGER);
                    CREATE TABLE account (name TEXT);
                    """)
        }
    }

    @Test func allowedTables() async throws {
        var policy = UntrustedSQLPolicy()
        policy.allowTable("player")
        policy.allowTable("team", columns: ["id", "name"])
        policy.timeout = .milliseconds(500)
        policy.maximumRowCount = 100

        let result = try await dbPool.fetchUntrusted(
            "SELECT name FROM player WHERE score > ? ORDER BY name", arguments: [100], policy: policy)
        let json = try JSONEncoder().encode(result)  // {"columns":["name"],"rows":[["Arthur"]]}

        #expect(String(decoding: json, as: UTF8.self).contains(#""rows":[["Arthur"]]"#))
        for (sql, message) in [
            ("SELECT budget FROM team", "reading team.budget isn't allowed"),
            ("SELECT * FROM sqlite_schema", "reading sqlite_master isn't allowed"),
            ("SELECT load_extension('x')", "calling load_extension isn't allowed"),
            ("DELETE FROM player", "DELETE isn't allowed: only SELECT is"),
        ] {
            await expectError(.SQLITE_AUTH, message) { try await dbPool.fetchUntrusted(sql, policy: policy) }
        }
        await expectError(.SQLITE_TOOBIG) {
            try await dbPool.fetchUntrusted("SELECT zeroblob(1000000000)", policy: policy)
        }
    }

    @Test func deniedTables() throws {
        var policy = UntrustedSQLPolicy()
        policy.allowsOtherTables = true
        policy.denyTable("account")
        policy.denyTable("team", columns: ["budget"])

        let sqlOfUser = "SELECT name FROM player ORDER BY name"
        let names = try dbPool.read { db in
            try db.withUntrustedSQL(policy) {
                try String.fetchAll(db, sql: sqlOfUser)
            }
        }

        #expect(names == ["Arthur", "Barbara"])
        expectError(.SQLITE_AUTH) { try dbPool.fetchUntrusted("SELECT 1 FROM account", policy: policy) }
    }
}
