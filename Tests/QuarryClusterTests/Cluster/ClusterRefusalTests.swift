import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import Testing

@Suite("Refusals of a cluster") struct ClusterRefusalTests {
    /// SQLite carries out some of them when they are prepared, even behind EXPLAIN.
    @Test(arguments: [
        "foreign_keys = OFF", "foreign_keys(0)", "main.'foreign_keys' = 0", "query_only = ON", "recursive_triggers = ON",
        "encoding = 'UTF-16'", "legacy_alter_table = ON", "application_id = 4", "page_size = 512", "schema_version = 3",
        "journal_mode = DELETE",
    ]) func settings(_ setting: String) throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.writeWithoutTransaction { db in
            let settings = ["foreign_keys", "query_only", "recursive_triggers", "legacy_alter_table", "encoding"]
            let before = settings.map { rows(db, "PRAGMA \($0)") }
            for prefix in ["", "EXPLAIN ", "EXPLAIN QUERY PLAN ", "/* x */ explain /* query */ ", "SELECT 1; "] {
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "\(prefix)PRAGMA \(setting)") }
                #expect(error?.message?.hasSuffix("with a value: not in a cluster") == true, "\(prefix)")
            }
            #expect(settings.map { rows(db, "PRAGMA \($0)") } == before)
            try db.execute(sql: "INSERT INTO player (name) VALUES ('a')")
        }
        let pragmas = fixture.nodes.log.statements.filter { $0.contains("PRAGMA") }
        #expect(Set(pragmas).isSubset(of: ["PRAGMA schema_version"]))
    }

    @Test(arguments: ["TABLE temp.x (a)", "TEMPORARY VIEW x AS SELECT 1", "VIEW \"temp\" . x AS SELECT 1"])
    func temporaryObjects(_ object: String) throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.writeWithoutTransaction { db in
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "CREATE \(object)") }
            #expect(error?.message?.hasSuffix("not in a cluster") == true)
            #expect(rows(db, "SELECT * FROM sqlite_temp_schema") == "")
        }
        #expect(!fixture.nodes.log.statements.contains { $0.hasPrefix("CREATE") })
    }
}
