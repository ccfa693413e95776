import Quarry
import Testing

@Suite struct SQLSamples {
    let dbQueue: DatabaseQueue

    init() throws {
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER, teamId INTEGER);
                    INSERT INTO player (name, score, teamId) VALUES ('Arthur', 300, 1), ('Barbara', 700, NULL);
                    """)
        }
    }

    @Test func execute() throws {
        try dbQueue.write { db in
            try db.execute(
                sql: "INSERT INTO player (name, score) VALUES (?, ?)",
                arguments: ["Craig", nil])
            let id = db.lastInsertedRowID

            try db.execute(
                sql: "UPDATE player SET score = :score WHERE id = :id",
                arguments: ["score": 500, "id": id])
            let count = db.changesCount  // 1

            #expect(count == 1)
            #expect(id == 3)
        }
    }

    @Test func statements() throws {
        try dbQueue.write { db in
            let insert = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (?)")
            for name in ["Craig", "Daniela"] {
                try insert.execute(arguments: [name])
            }

            // Kept by the connection, and found again by its text
            let statement = try db.cachedStatement(sql: "SELECT score FROM player WHERE name = ?")
            let score = try Int.fetchOne(statement, arguments: ["Arthur"])

            #expect(score == 300)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 4)
        }
    }

    @Test func interpolation() throws {
        try dbQueue.write { db in
            let name = "O'Brien"
            let column = "score"
            try db.execute(literal: "UPDATE player SET name = \(name), \(identifier: column) = \(1) WHERE id = \(2)")
            // UPDATE player SET name = ?, "score" = ? WHERE id = ?

            let request: SQLRequest<String> = "SELECT name FROM player WHERE id IN \([1, 2, 3]) ORDER BY id"
            let names = try request.fetchAll(db)
            // SELECT name FROM player WHERE id IN (?,?,?) ORDER BY id

            #expect(names == ["Arthur", "O'Brien"])
        }
    }

    @Test func composition() throws {
        try dbQueue.read { db in
            var conditions: [SQL] = ["score IS NOT NULL"]
            let minimumScore: Int? = 500
            if let minimumScore { conditions.append("score >= \(minimumScore)") }
            let query: SQL = "SELECT name FROM player WHERE \(conditions.joined(separator: " AND "))"
            let names = try String.fetchAll(db, literal: query)
            #expect(names == ["Barbara"])
        }
    }

    @Test func values() throws {
        try dbQueue.read { db in
            let names = try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name")  // [String]
            let teams = try Int?.fetchAll(db, sql: "SELECT teamId FROM player")  // [Int?]
            let scores = try Int.fetchSet(db, sql: "SELECT score FROM player")  // Set<Int>
            let best = try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player WHERE teamId = 9")  // nil
            let known = try String.fetchAll(db, literal: "SELECT name FROM player WHERE id IN \([1, 2])")  // [String]
            #expect(names == ["Arthur", "Barbara"])
            #expect(teams == [1, nil])
            #expect(scores == [300, 700])
            #expect(best == nil)
        }
    }

    @Test func rows() throws {
        try dbQueue.read { db in
            let row = try Row.fetchOne(db, sql: "SELECT id, name, teamId FROM player WHERE name = 'Barbara'")!
            let id: Int64 = row["id"]
            let name: String = row[1]
            let teamId: Int? = row["teamId"]  // nil: NULL
            let checked = try row.decode(String.self, forColumn: "name")  // throws where a subscript would trap
            #expect((id, name, teamId) == (2, "Barbara", nil))
            #expect(checked == "Barbara")
        }
        try dbQueue.read { db in
            let row = try Row.fetchOne(db, sql: "SELECT rowid AS rowid, name FROM player")!
            let rowID: Int64 = row[.rowID]
            let values: [String: (any DatabaseValueConvertible)?] = ["id": 1, "name": "Arthur", "score": nil]
            let made = Row(values)  // [id:1 name:"Arthur" score:NULL]

            #expect(rowID == 1)
            #expect("\(made)" == #"[id:1 name:"Arthur" score:NULL]"#)
        }
    }

    @Test func cursors() throws {
        try dbQueue.read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT name, score FROM player")
            var total = 0
            while let row = try rows.next() {
                total += row["score"] ?? 0
            }

            let names = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
            let firstLong = try names.first { name in name.count > 6 }  // steps no further than it has to
            #expect(total == 1000)
            #expect(firstLong == "Barbara")
        }
    }

    @Test func severalStatements() throws {
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                    INSERT INTO team (name) VALUES (?);
                    INSERT INTO team (name) VALUES (?);
                    """,
                arguments: ["Reds", "Blues"])
            #expect(try String.fetchAll(db, sql: "SELECT name FROM team") == ["Reds", "Blues"])
        }
    }
}
