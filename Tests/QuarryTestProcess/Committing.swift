import Quarry

/// Commits, and says the number of each commit when it is acknowledged, until it is killed.
///
/// Commit `n` inserts row `n`, deletes row `n - 50`, and writes `n` down.
///
/// - parameter work: what is done between commits, and said before: `checkpoint`, `vacuum`, `open` (closes and opens);
///   or nothing.
func commitForever(path: String, kind: DatabaseKind, work: String) throws {
    var configuration = Configuration()
    configuration.synchronous = .full
    var writer = try kind.open(path, configuration)
    while true {
        let number = try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, b BLOB);
                    CREATE TABLE IF NOT EXISTS last (n INTEGER);
                    """)
            let number = (try Int.fetchOne(db, sql: "SELECT n FROM last") ?? 0) + 1
            if number == 1 { try db.execute(sql: "INSERT INTO last VALUES (0)") }
            try db.execute(
                sql: "INSERT INTO t VALUES (?, randomblob(?))", arguments: [number, (number * 7919) % 9000])
            try db.execute(sql: "DELETE FROM t WHERE id <= ?", arguments: [number - 50])
            try db.execute(sql: "UPDATE last SET n = ?", arguments: [number])
            return number
        }
        say(number)
        switch work {
        case "checkpoint":
            say(work)
            try writer.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        case "vacuum":
            say(work)
            try writer.vacuum()
        case "open":
            say(work)
            try writer.close()
            writer = try kind.open(path, configuration)
        default:
            break
        }
    }
}
