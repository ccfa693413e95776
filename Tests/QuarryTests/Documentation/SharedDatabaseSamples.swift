import Quarry
import QuarryShared
import QuarryTestSupport
import Testing

@Suite struct SharedDatabaseSamples {
    let folder = try! TemporaryFolder(isFast: true)

    @Test func sharedDatabases() async throws {
        let path = folder.file("players.sqlite")
        let database = SharedDatabase(path: path)
        try await database.write { db in
            try db.execute(sql: "CREATE TABLE player (name TEXT)")
        }
        let alias = SharedDatabase(path: path)
        let isSame = database.isSameDatabase(as: alias)
        #expect(isSame)
        try await database.closeAsync()
        let newPath = folder.file("new.sqlite")
        try await database.withClosedDatabase { files in try files.copy(to: newPath) }
        try await database.write { db in try db.execute(sql: "DROP TABLE player") }
        try await database.withClosedDatabase { files in
            try files.replace(with: newPath)
        }
        #expect(try await alias.read { db in try db.tableExists("player") })
        let backupPath = folder.file("backup.sqlite")
        let blockade = try await database.blockade()
        try blockade.files.copy(to: backupPath)
        blockade.end()
        #expect(try await DatabaseQueue(path: backupPath).read { db in try db.tableExists("player") })
    }
}
