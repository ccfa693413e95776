import Quarry

/// Opens the file, adds to a counter that all processes share and to one of its own, reads, and closes; again and
/// again, in step with nobody.
func count(path: String, kind: DatabaseKind, name: String, rounds: Int) throws {
    say("ready")
    waitForStart()
    var own = 0
    for _ in 0..<rounds {
        let writer = try kind.open(path)
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, n INTEGER NOT NULL)")
            for name in [name, "all"] {
                try db.execute(sql: "INSERT OR IGNORE INTO counter VALUES (?, 0)", arguments: [name])
            }
        }
        for _ in 0..<5 {
            let all = try writer.write { db in
                // In two statements: another process's update would be lost, if there were one between them.
                let counts = try ["all", name].map { name in
                    try Int.fetchOne(db, sql: "SELECT n FROM counter WHERE name = ?", arguments: [name]) ?? -1
                }
                guard counts[1] == own else { throw Wrong("\(name) has counted to \(own), and finds \(counts[1])") }
                for (name, count) in zip(["all", name], counts) {
                    try db.execute(sql: "UPDATE counter SET n = ? WHERE name = ?", arguments: [count + 1, name])
                }
                return counts[0] + 1
            }
            own += 1
            let (seen, sum) = try writer.read { db in
                (
                    try Int.fetchOne(db, sql: "SELECT n FROM counter WHERE name = 'all'") ?? -1,
                    try Int.fetchOne(db, sql: "SELECT SUM(n) FROM counter WHERE name <> 'all'") ?? -1
                )
            }
            guard seen >= all else { throw Wrong("\(name) has written \(all), and then reads \(seen)") }
            guard seen == sum else { throw Wrong("\(name) reads \(seen), and a sum of \(sum) in the same transaction") }
        }
        try writer.close()
    }
    say(own)
}
