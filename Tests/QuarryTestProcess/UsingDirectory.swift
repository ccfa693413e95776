import Quarry
import QuarryShared

/// Writes numbers into the databases of a folder with 16 tasks, of which four can be open, and says each number when
/// its write is acknowledged, until it is killed. The folder's databases are named 0 to 11.
func useDirectoryForever(folder: String, first: Int) async throws {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)") }
    migrator.registerMigration("v2") { db in try db.execute(sql: "CREATE TABLE twice (id INTEGER)") }
    var configuration = Configuration()
    configuration.busyMode = .timeout(20)
    let directory = try DatabaseDirectory(
        path: folder, maximumOpenCount: 4, configuration: configuration, migrator: migrator)
    try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<16 {
            group.addTask {
                var number = first + task
                while true {
                    let database = try directory.database(named: "\((number * 7) % 12)")
                    try await database.write { [number] db in
                        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number])
                        for _ in 0..<2 { try db.execute(sql: "INSERT INTO twice VALUES (?)", arguments: [number]) }
                    }
                    say(number)
                    number += 16
                }
            }
        }
        try await group.waitForAll()
    }
}
