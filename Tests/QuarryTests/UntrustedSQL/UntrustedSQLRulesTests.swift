import QuarryTestSupport
import Testing

@testable import QuarryCore
@testable import QuarryUntrustedSQL

/// The decisions of a policy, as values.
@Suite struct UntrustedSQLRulesTests {
    private var catalog: SchemaCatalog {
        var catalog = SchemaCatalog()
        for name in ["player", "team", "sqlite_master", "sqlite_stat1"] {
            catalog.add(TableName(schema: "main", name: name), .table)
        }
        catalog.add(TableName(schema: "archive", name: "player"), .table)
        catalog.add(TableName(schema: "main", name: "player_ft"), .virtual)
        catalog.add(TableName(schema: "main", name: "player_ft_content"), .shadow)
        catalog.add(TableName(schema: "main", name: "roster"), .view(isReported: true))
        catalog.add(TableName(schema: "main", name: "joined"), .view(isReported: false))
        catalog.modules = ["json_each", "dbstat", "pragma_table_info"]
        return catalog
    }

    private func refusal(
        _ policy: UntrustedSQLPolicy, _ schema: String?, _ table: String, _ column: String = "",
        in source: String? = nil
    ) -> String? {
        UntrustedSQLRules(policy: policy, catalog: catalog)
            .refusal(of: .read(schema: schema, table: table, column: column), in: source)
    }

    @Test func nothingIsAllowedAtFirst() {
        let policy = UntrustedSQLPolicy()
        #expect(refusal(policy, "main", "player", "name") == "reading player isn't allowed")
        #expect(refusal(policy, "archive", "player", "name") == "reading archive.player isn't allowed")
        #expect(refusal(policy, nil, "PLAYER") == "reading player isn't allowed")
        #expect(refusal(policy, "main", "sqlite_master", "sql") == "reading sqlite_master isn't allowed")
        #expect(refusal(policy, nil, "sqlite_schema") == "reading sqlite_master isn't allowed")
        #expect(refusal(policy, nil, "dbstat") == "reading dbstat isn't allowed")
        #expect(refusal(policy, nil, "pragma_index_list") == "reading pragma_index_list isn't allowed")
        #expect(refusal(policy, "main", "json_each", "value") == "reading json_each isn't allowed")
        #expect(refusal(policy, nil, "json_each") == "reading json_each isn't allowed")
        #expect(refusal(policy, nil, "cte") == nil, "what it reads is reported")
    }

    /// A view of an attached database reads that database's table.
    @Test func viewsOfAttachedDatabases() {
        var catalog = catalog
        catalog.add(TableName(schema: "archive", name: "all_players"), .view(isReported: true))
        var policy = UntrustedSQLPolicy()
        policy.allowTable("player")
        let request = HookSlots.AuthorizationRequest.read(schema: nil, table: "player", column: "")
        #expect(
            UntrustedSQLRules(policy: policy, catalog: catalog).refusal(of: request)
                == "reading archive.player isn't allowed")
        policy.allowTable("player", schema: "archive")
        #expect(UntrustedSQLRules(policy: policy, catalog: catalog).refusal(of: request) == nil)
    }

    @Test func tablesAndColumns() {
        var policy = UntrustedSQLPolicy()
        policy.allowTable("Player", columns: ["ID", "name"])
        #expect(refusal(policy, "main", "player", "Name") == nil)
        #expect(refusal(policy, "main", "player", "") == nil)
        #expect(refusal(policy, "main", "player", "score") == "reading player.score isn't allowed")
        #expect(refusal(policy, "main", "player", "ROWID") == "reading player.ROWID isn't allowed")
        #expect(refusal(policy, nil, "player") == nil, "main's hides the other one")
        policy.allowTable("player", columns: ["score"])
        #expect(refusal(policy, "main", "player", "score") == nil)
        policy.denyTable("player", columns: ["name"])
        #expect(refusal(policy, "main", "player", "name") == "reading player.name isn't allowed")
        policy.denyTable("player")
        #expect(refusal(policy, "main", "player", "id") == "reading player isn't allowed")
        policy.allowTable("player")
        #expect(refusal(policy, "main", "player", "id") == "reading player isn't allowed", "denied for good")
    }

    @Test func allOtherTables() {
        var policy = UntrustedSQLPolicy()
        policy.allowsOtherTables = true
        policy.denyTable("team")
        policy.denyTable("player", columns: ["email"])
        #expect(refusal(policy, "main", "player", "name") == nil)
        #expect(refusal(policy, "main", "player", "EMAIL") == "reading player.EMAIL isn't allowed")
        #expect(refusal(policy, "main", "team", "name") == "reading team isn't allowed")
        #expect(refusal(policy, nil, "team") == "reading team isn't allowed")
        #expect(refusal(policy, "archive", "player", "email") == nil, "another table")
        #expect(refusal(policy, "main", "sqlite_stat1", "stat") == "reading sqlite_stat1 isn't allowed")
        #expect(refusal(policy, nil, "sqlite_schema") == "reading sqlite_master isn't allowed")
        policy.allowTable("sqlite_schema", columns: ["name"])
        #expect(refusal(policy, "main", "sqlite_master", "name") == nil)
        #expect(refusal(policy, "main", "sqlite_master", "sql") == "reading sqlite_master.sql isn't allowed")
    }

    @Test func views() {
        var policy = UntrustedSQLPolicy()
        #expect(refusal(policy, "main", "roster", "name") == nil, "what it reads is reported")
        #expect(refusal(policy, "main", "joined", "name") == "reading joined isn't allowed")
        #expect(refusal(policy, "main", "roster", "name", in: "joined") == "reading joined isn't allowed")
        policy.allowTable("joined", columns: ["name"])
        #expect(refusal(policy, "main", "joined", "name") == nil)
        #expect(refusal(policy, "main", "joined", "id") == "reading joined.id isn't allowed")
        #expect(refusal(policy, "main", "roster", "name", in: "joined") == nil)
        policy.denyTable("roster")
        #expect(refusal(policy, "main", "roster", "name") == "reading roster isn't allowed")
        #expect(refusal(policy, "main", "player", "name", in: "ROSTER") == "reading roster isn't allowed")
    }

    @Test func shadowTables() {
        var policy = UntrustedSQLPolicy()
        #expect(refusal(policy, "main", "player_ft_content", "c0") == "reading player_ft_content isn't allowed")
        policy.allowTable("player_ft", columns: ["name"])
        #expect(refusal(policy, "main", "player_ft", "name") == nil)
        #expect(refusal(policy, "main", "player_ft_content", "c0") == "reading player_ft_content isn't allowed")
        policy.allowTable("player_ft")
        #expect(refusal(policy, "main", "player_ft_content", "c0") == nil)
        policy.denyTable("player_ft", columns: ["bio"])
        #expect(refusal(policy, "main", "player_ft_content", "c0") == "reading player_ft_content isn't allowed")
    }

    @Test func operations() {
        var policy = UntrustedSQLPolicy()
        func refusal(_ request: HookSlots.AuthorizationRequest) -> String? {
            UntrustedSQLRules(policy: policy, catalog: catalog).refusal(of: request)
        }
        #expect(refusal(.select) == nil)
        #expect(refusal(.recursion) == "a recursive common table expression isn't allowed")
        #expect(refusal(.function("UPPER")) == nil)
        #expect(refusal(.function("load_extension")) == "calling load_extension isn't allowed")
        #expect(refusal(.pragma("data_version", hasArgument: false)) == nil)
        #expect(refusal(.pragma("data_version", hasArgument: true)) == "PRAGMA data_version isn't allowed")
        #expect(refusal(.pragma("table_info", hasArgument: true)) == "PRAGMA table_info isn't allowed")
        #expect(refusal(.other("ATTACH")) == "ATTACH isn't allowed")
        policy.allowsRecursion = true
        policy.allowFunctions(["Distance", "JSON_each"])
        policy.denyFunctions(["Upper"])
        #expect(refusal(.recursion) == nil)
        #expect(refusal(.function("distance")) == nil)
        #expect(refusal(.read(schema: "main", table: "json_each", column: "value")) == nil)
        #expect(refusal(.read(schema: nil, table: "json_each", column: "")) == nil)
        #expect(refusal(.function("upper")) == "calling upper isn't allowed")
    }

    @Test(arguments: [
        "SELECT 1 FROM a NATURAL JOIN b", "SELECT 1 FROM a natural/**/join b", "SELECT 1 FROM a JOIN b using(x)",
        "SELECT 'it''s' FROM a Natural LEFT JOIN b", "SELECT 1 FROM a JOIN b ON ?1NATURAL JOIN c",
        "SELECT 1 FROM \"a\"NATURAL JOIN b", "SELECT 1 FROM [a]NATURAL JOIN b", "SELECT 1 FROM `a`NATURAL JOIN b",
        "SELECT 1 -- '\n FROM a NATURAL JOIN b", "SELECT 1 /* ' */ FROM a NATURAL JOIN b",
        "SELECT 1 FROM a \u{FEFF}NATURAL JOIN b", "SELECT x'00'FROM a JOIN b USING(x)",
        "SELECT 1-1 FROM a natural join b",
        "SELECT 4/2 FROM a JOIN b USING(x)",
    ]) func joinsThatSQLiteDoesNotReport(_ sql: String) {
        #expect(Substring(sql).utf8.firstUnreportedJoin != nil)
    }

    @Test(arguments: [
        "SELECT 'NATURAL' FROM a", "SELECT \"natural\", [using], `USING` FROM a", "SELECT 1 -- NATURAL",
        "SELECT naturally, :using_",
        "SELECT 1 /* USING (x) */ FROM a", "SELECT 'it''s NATURAL' FROM a", "SELECT unusing FROM a", "", "'", "/*", "-",
        "/", "?",
    ]) func otherSQL(_ sql: String) {
        #expect(Substring(sql).utf8.firstUnreportedJoin == nil)
    }

    @Test func wrongNumbers() {
        var policy = UntrustedSQLPolicy()
        policy.maximumRowCount = -1
        expectError(.SQLITE_MISUSE, "UntrustedSQLPolicy.maximumRowCount must be from 0 to 2147483647, not -1") {
            try policy.check()
        }
        policy = UntrustedSQLPolicy()
        policy.maximumExpressionDepth = 0
        expectError(.SQLITE_MISUSE, "UntrustedSQLPolicy.maximumExpressionDepth must be at least 1, not 0") {
            try policy.check()
        }
    }
}
