import Quarry

func tour(path: String) async throws -> [String] {
    // One connection that writes, several that read at the same time.
    let dbPool = try DatabasePool(path: path)

    // A write is a transaction: all of it or nothing.
    try await dbPool.write { db in
        try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER)")
        let insert = try db.makeStatement(sql: "INSERT INTO player (name, score) VALUES (?, ?)")
        for (name, score) in [("Arthur", 300), ("Barbara", 700), ("Craig", nil)] {
            try insert.execute(arguments: [name, score])
        }
    }

    // A read sees one state of the database, whatever is written meanwhile. Interpolated values become arguments.
    let minimum = 500
    let request: SQLRequest<Row> = "SELECT name, score FROM player WHERE score >= \(minimum) ORDER BY score"
    let winners = try await dbPool.read { db in
        try request.fetchAll(db).map { row in "\(row["name"] as String): \(row["score"] as Int)" }
    }

    // Errors have SQLite's codes, and know the statement that failed.
    do {
        try await dbPool.write { db in
            try db.execute(sql: "INSERT INTO player (id, name) VALUES (?, ?)", arguments: [1, "Zoe"])
        }
    } catch DatabaseError.SQLITE_CONSTRAINT_PRIMARYKEY {
        print("player 1 is there already")
    }
    return winners
}
