import Quarry
import QuarryShared
import QuarryTestSupport
import Testing

@Suite struct ManyDatabasesSamples {
    let folder = try! TemporaryFolder(isFast: true)

    @Test func manyDatabases() async throws {
        let folderPath = folder.path
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
        }
        let tenants = try DatabaseDirectory(path: folderPath, maximumOpenCount: 100, migrator: migrator)
        let acme = try tenants.database(named: "acme")
        try await acme.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
        }
        #expect(try tenants.names() == ["acme"])

        func answer() throws -> String {
            guard try tenants.contains("unknown") else { return "404" }
            return "200"
        }
        #expect(try answer() == "404")

        let statistics = tenants.statistics
        print(statistics.openCount, statistics.evictedCount, statistics.total.transactions.committed)
        #expect(statistics.openCount == 1)
        try await tenants.closeAsync()
        #expect(!acme.isOpened)
    }
}
