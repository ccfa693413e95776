import Quarry
import QuarryRecovery

/// The table of numbered pages of tests that kill backups: `n` rows, whose last is `n`.
private func makePages(_ writer: any DatabaseWriter, _ count: Int) throws {
    try writer.write { db in
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b BLOB);
                WITH c(n) AS (SELECT COUNT(*) + 1 FROM t UNION ALL SELECT n + 1 FROM c WHERE n < ?)
                INSERT INTO t SELECT n, randomblob(3900) FROM c WHERE n <= ?;
                """, arguments: [count, count])
    }
}

/// Commits, and backs up, until it is killed. Says the number of each commit, and `backup` and the number that each
/// backup has at least.
func backUpForever(path: String, kind: DatabaseKind, target: String) throws {
    var configuration = Configuration()
    configuration.synchronous = .full
    let writer = try kind.open(path, configuration)
    try makePages(writer, 150)
    var options = BackupOptions()
    options.pagesPerStep = 16
    options.replacesExisting = true
    while true {
        let number = try writer.write { db in
            try db.execute(sql: "INSERT INTO t (b) VALUES (randomblob(3900))")
            return Int(db.lastInsertedRowID)
        }
        say(number)
        options.compact = number % 4 == 0
        try writer.backup(toFile: target, options: options)
        say("backup \(number)")
    }
}

/// Restores from one file and the other in turn, until it is killed. Says the name of each file that was restored.
func restoreForever(path: String, kind: DatabaseKind, sources: [String]) throws {
    var configuration = Configuration()
    configuration.commitNumbers = .stored
    let writer = try kind.open(path, configuration)
    say("opened")
    while true {
        for source in sources {
            try writer.restore(from: source)
            say("\(source) \(writer.lastCommitNumber)")
        }
    }
}
