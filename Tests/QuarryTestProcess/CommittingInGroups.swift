import Quarry

/// Commits with 64 tasks at once that share transactions, and says the number of each write when it is acknowledged,
/// until it is killed.
///
/// Write `n` inserts row `n` and two rows `n` into `twice`: a write is whole, or absent.
func commitInGroupsForever(path: String, first: Int) async throws {
    var configuration = Configuration()
    configuration.synchronous = .full
    configuration.groupCommit = true
    let pool = try DatabasePool(path: path, configuration: configuration)
    try await pool.write { db in
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY); CREATE TABLE IF NOT EXISTS twice (id INTEGER)")
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<64 {
            group.addTask {
                var number = first + task
                while true {
                    // Some fail, and are undone alone.
                    let fails = number % 7 == 0
                    do {
                        try await pool.write { [number] db in
                            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number])
                            for _ in 0..<2 {
                                try db.execute(sql: "INSERT INTO twice VALUES (?)", arguments: [number])
                            }
                            if fails { throw Wrong("undone") }
                        }
                        say(number)
                    } catch is Wrong {}
                    number += 64
                }
            }
        }
        try await group.waitForAll()
    }
}
