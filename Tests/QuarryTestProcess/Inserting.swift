import Quarry

/// Opens a file, writes rows, reads each of them, and closes it.
///
/// - parameter finds: whether each row has to be there. It needn't be if another process restores a backup.
func insert(path: String, kind: DatabaseKind, finds: Bool, rows: [String]) throws {
    var configuration = Configuration()
    // The process that started this one writes, too.
    configuration.busyMode = .timeout(60)
    let writer = try kind.open(path, configuration)
    for row in rows {
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a UNIQUE)")
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row])
        }
        let count = try writer.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE a = ?", arguments: [row])
        }
        guard count == 1 || !finds else { throw Wrong("\(row) was written, and is found \(count ?? -1) times") }
    }
    try writer.close()
    say(rows.count)
}
