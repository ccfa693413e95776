import Quarry

extension ModelGenerator {
    private mutating func player() -> Player {
        Player(
            id: random.oneIn(2) ? nil : Int64(random.number(1...40)),
            teamId: random.oneIn(3) ? nil : Int64(random.number(1...9)), name: random.word(),
            score: random.oneIn(4) ? nil : random.number(-1...20))
    }

    mutating func write() -> ModelStep {
        var player = player()
        let (other, predicate, id, value) = (self.player(), predicate(), random.number(1...30), random.value())
        switch random.number(0...22) {
        case 0...3:
            return change("insert \(player)") { db in
                try player.insert(db)
                return "\(player)"
            }
        case 4:
            let resolution = random.pick([Database.ConflictResolution.ignore, .replace, .abort, .fail])
            return change("insert \(player) \(resolution)") { db in
                try player.insert(db, onConflict: resolution)
                return "\(player)"
            }
        case 5:
            return change("update \(player)") { db in
                try player.update(db)
                return ""
            }
        case 6:
            return change("save \(player)") { db in
                try player.save(db)
                return "\(player)"
            }
        case 7:
            return change("upsert \(player)") { db in
                try player.upsert(db)
                return "\(player)"
            }
        case 8: return change("delete \(id)") { db in "\(try Player.deleteOne(db, key: id))" }
        case 9: return step("delete \(other)") { db in "\(try other.delete(db))" }
        case 10:
            return change("update all") { db in "\(try Player.filter(predicate).updateAll(db, Column("score") += 1))" }
        case 11:
            return change("set \(value)") { db in
                "\(try Player.filter(key: id).updateAll(db, Column("score").set(to: value)))"
            }
        case 12: return change("delete some") { db in "\(try Player.filter(predicate).limit(2).deleteAll(db))" }
        case 13:
            let team = Team(id: random.oneIn(2) ? nil : Int64(id % 12), name: "T\(random.number(1...12))")
            return change("insert and fetch \(team)") { db in "\(try team.insertAndFetch(db))" }
        case 14: return change("delete team") { db in "\(try Team.deleteOne(db, key: id % 12))" }
        case 15:
            return change("update and fetch") { db in
                "\(try Player.filter(predicate).updateAndFetchAll(db, [Column("score").set(to: id)]))"
            }
        case 16: return change("delete and fetch") { db in "\(try Player.filter(key: id).deleteAndFetchAll(db))" }
        case 17...19: return statement()
        case 20: return faultyWrite()
        case 21: return savepoint()
        default: return schemaChange()
        }
    }

    private mutating func statement() -> ModelStep {
        let sql = random.pick([
            "INSERT INTO pair VALUES (?, ?)", "INSERT OR REPLACE INTO pair VALUES (?, ?)",
            "INSERT OR IGNORE INTO pair VALUES (?, ?)", "UPDATE pair SET v = ?2 WHERE k > ?1",
            "DELETE FROM pair WHERE k = ?1 OR v = ?2", "REPLACE INTO badge VALUES (?, ?)",
            "INSERT INTO badge VALUES (?, ?) ON CONFLICT (code) DO UPDATE SET level = level + 1",
            "INSERT OR ROLLBACK INTO badge VALUES (?, ?)",
            "UPDATE badge SET level = pair.v FROM pair WHERE code = ?1 AND k = ?2",
            "INSERT INTO pair SELECT id + ?1, name FROM player WHERE score > ?2 LIMIT 3",
        ])
        let arguments: StatementArguments = [random.value(), random.value()]
        return change("\(sql) \(arguments)") { db in
            try db.execute(sql: sql, arguments: arguments)
            return ""
        }
    }

    private mutating func faultyWrite() -> ModelStep {
        let sql = random.pick([
            "INSERT INTO nope VALUES (1)", "INSERT INTO team (nope) VALUES (1)",
            "INSERT INTO team (name) VALUES (NULL)",
            "INSERT INTO team (id, name) VALUES ('a', 'b')", "INSERT INTO team VALUES (1)", "UPDATE team SET id = 'a'",
            "INSERT INTO player (name, score) VALUES ('x', 1), ('y', -1)", "INSERT INTO badge VALUES ('z', 'text')",
            "INSERT INTO player (name, teamId) VALUES ('x', 99)", "DELETE FROM team; DELETE FROM nope",
            "INSERT OR FAIL INTO player (name, score) VALUES ('x', 1), ('y', -1)", "UPDATE player SET score = 'abc'",
            "INSERT INTO pair SELECT 1, json('{')", "DROP TABLE nope", "CREATE TABLE team (a)", "ROLLBACK TO nope",
            "INSERT INTO pair VALUES (1, 2); SELECT 1; UPDATE pair SET v = 3", "RELEASE nope",
        ])
        return change(sql) { db in
            try db.execute(sql: sql)
            return ""
        }
    }

    private mutating func savepoint() -> ModelStep {
        let steps = [write(), read(), write()]
        let isKept = random.oneIn(2)
        return step("savepoint (\(isKept ? "kept" : "undone")): \(steps.map(\.name))") { db in
            var results: [String] = []
            try db.inSavepoint {
                for step in steps { results.append(try step.run(db)) }
                return isKept ? .commit : .rollback
            }
            return results.joined(separator: "\n")
        }
    }

    private mutating func schemaChange() -> ModelStep {
        let sql = random.pick([
            "CREATE TABLE IF NOT EXISTS extra (a INTEGER PRIMARY KEY, b TEXT)", "DROP TABLE IF EXISTS extra",
            "CREATE INDEX IF NOT EXISTS pair_v ON pair(v)", "DROP INDEX IF EXISTS pair_v",
            "CREATE VIEW IF NOT EXISTS scores AS SELECT name, score FROM player", "DROP VIEW IF EXISTS scores",
            "CREATE TABLE IF NOT EXISTS copy AS SELECT name, score FROM player", "DROP TABLE IF EXISTS copy",
            "INSERT INTO extra (b) VALUES ('x')", "ALTER TABLE extra ADD COLUMN c",
            "ALTER TABLE extra RENAME COLUMN c TO d",
        ])
        return step(sql) { db in
            try db.execute(sql: sql)
            return "\(try db.tableExists("extra")) \(try db.viewExists("scores"))"
        }
    }
}
