import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Updating, saving and deleting records") struct UpdateTests {
    private struct Measurement: Codable, MutablePersistableRecord, Equatable {
        static let databaseTableName = "measurement"
        var id: Int64
        var number: Double?
        var bytes: [UInt8]?

        enum CodingKeys: CodingKey { case id, number, bytes }

        func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["number"] = number
            container["bytes"] = bytes.map { Data($0) }
        }
    }

    @Test func changesOfNullsAndBlobs() throws {
        try withTables { (db) throws in
            try db.execute(sql: "CREATE TABLE measurement (id INTEGER PRIMARY KEY, number REAL, bytes BLOB)")
            var record = Measurement(id: 1, number: 1, bytes: [1, 2])
            try record.insert(db)
            func changes(_ change: (inout Measurement) -> Void) throws -> [String] {
                try emitted(db) { _ = try record.updateChanges(db, modify: change) }
            }
            let update = #"UPDATE "measurement" SET "#
            #expect(try changes { $0.number = nil } == [update + #""number"=NULL WHERE "id"=1"#])
            #expect(try changes { $0.number = nil } == [])
            #expect(try changes { $0.bytes = [1, 2] } == [])
            #expect(try changes { $0.bytes = [1, 3] } == [update + #""bytes"=x'0103' WHERE "id"=1"#])
            #expect(try changes { $0.bytes = nil } == [update + #""bytes"=NULL WHERE "id"=1"#])
            #expect(try changes { $0.bytes = [] } == [update + #""bytes"=zeroblob(0) WHERE "id"=1"#])
            #expect(
                try changes { ($0.number, $0.bytes) = (0, [0]) }
                    == [update + #""number"=0.0, "bytes"=x'00' WHERE "id"=1"#])
            #expect(try changes { $0.number = -0.0 } == [], "SQLite compares them as equal")
            #expect(
                try Row.fetchAll(db, sql: "SELECT id, number, hex(bytes) AS b FROM measurement")
                    == [["id": 1, "number": 0.0, "b": "00"]])
        }
    }

    /// A NaN is a change, and refused: SQLite would store NULL.
    @Test func changesOfNaN() throws {
        try withTables { (db) throws in
            try db.execute(sql: "CREATE TABLE measurement (id INTEGER PRIMARY KEY, number REAL, bytes BLOB)")
            var record = Measurement(id: 1, number: 1, bytes: nil)
            try record.insert(db)
            let error = expectError(.SQLITE_MISMATCH) { try record.updateChanges(db) { $0.number = .nan } }
            #expect(error?.message?.contains("NaN") == true)
            #expect(try Double.fetchOne(db, sql: "SELECT number FROM measurement") == 1)
            // A NaN that stays one is no change, and isn't written.
            #expect(
                try emitted(db) { _ = try record.updateChanges(db) { $0.bytes = [1] } }
                    == [#"UPDATE "measurement" SET "bytes"=x'01' WHERE "id"=1"#])
            #expect(
                try emitted(db) { _ = try record.updateChanges(db) { $0.number = nil } }
                    == [#"UPDATE "measurement" SET "number"=NULL WHERE "id"=1"#])
        }
    }

    @Test func updates() throws {
        try withTables { (db) throws in
            var player = Player(name: "Arthur")
            try player.insert(db)
            #expect(
                try emitted(db) { try player.update(db) }
                    == [#"UPDATE "player" SET "name"='Arthur', "score"=1 WHERE "id"=1"#])
            player.score = 7
            #expect(
                try emitted(db) { try player.update(db, onConflict: .ignore) }
                    == [#"UPDATE OR IGNORE "player" SET "name"='Arthur', "score"=7 WHERE "id"=1"#])
            #expect(
                try emitted(db) { try player.update(db, columns: ["name"]) }
                    == [#"UPDATE "player" SET "name"='Arthur' WHERE "id"=1"#])
            #expect(
                try emitted(db) { try player.update(db, columns: ["SCORE", "name"]) }
                    == [#"UPDATE "player" SET "name"='Arthur', "score"=7 WHERE "id"=1"#])
            #expect(
                try emitted(db) { try player.update(db, columns: [Column("id")]) }
                    == [#"UPDATE "player" SET "id"=1 WHERE "id"=1"#])
            #expect(
                try emitted(db) {
                    try Only(id: 2).insert(db)
                    try Only(id: 2).update(db)
                }
                    == [#"INSERT INTO "only" ("id") VALUES (2)"#, #"UPDATE "only" SET "id"=2 WHERE "id"=2"#])
            try Pair(a: 2, b: "y", c: nil).insert(db)
            #expect(
                try emitted(db) { try Pair(a: 2, b: "y", c: 4).update(db) }
                    == [#"UPDATE "pair" SET "c"=4 WHERE "a"=2 AND "b"='y'"#])
            #expect(try Pair.fetchAll(db) == [Pair(a: 2, b: "y", c: 4)])
            try Country(code: "FR", name: "").insert(db)
            try Country(code: "FR", name: "France").update(db)
            #expect(try Country.fetchAll(db) == [Country(code: "FR", name: "France")])
        }
    }

    @Test func manyOfAKindAreOneStatement() throws {
        try withTables { (db) throws in
            var players = (1...20).map { CodablePlayer(id: nil, name: "p\($0)", score: $0) }
            try CodablePlayer.insertAll(db, &players)
            for index in players.indices {
                players[index].score += 100
                try players[index].update(db)
            }
            #expect(try CodablePlayer.fetchAll(db) == players)
            for player in players.dropFirst(5) { #expect(try player.delete(db)) }
            #expect(try CodablePlayer.fetchAll(db) == Array(players.prefix(5)))
        }
    }

    @Test func unknownColumnsAreNamed() throws {
        struct Wide: Codable, PersistableRecord {
            static let databaseTableName = "player"
            var id: Int64
            var name: String
            var nickname: String
        }
        try withTables { (db) throws in
            expectError(.SQLITE_MISUSE, "the record has no column \"nope\" of table player") {
                try Player(id: 1, name: "a").update(db, columns: ["nope"])
            }
            let wide = Wide(id: 1, name: "a", nickname: "b")
            expectError(.SQLITE_ERROR, "table player has no column named nickname") {
                try wide.update(db, columns: ["nickname"])
            }
            // An update of all columns leaves out columns that the table hasn't.
            try db.execute(sql: "INSERT INTO player (id) VALUES (1)")
            let sql = try emitted(db) { try wide.update(db) }
            #expect(sql == [#"UPDATE "player" SET "name"='a' WHERE "id"=1"#])
        }
    }

    @Test func aRowThatIsMissing() throws {
        try withTables { (db) throws in
            for _ in 0..<2 {
                expectError(RecordError.self, "Key not found in table player: [id:1234]") {
                    try Player(id: 1234, name: "x").update(db)
                }
                let sql = try emitted(db) {
                    expectError(
                        RecordError.self,
                        """
                        Key not found in table player: [id:NULL]: the id is NULL. Was the record inserted, and the id \
                        stored in didInsert?
                        """
                    ) {
                        try Player(id: nil, name: "x").update(db)
                    }
                }
                #expect(sql.isEmpty)
                expectError(RecordError.self, "Key not found in table pair: [a:1 b:TEXT]") {
                    try Pair(a: 1, b: "x", c: 1).update(db)
                }
                expectError(
                    RecordError.self,
                    """
                    Key not found in table noKey: [rowid:NULL]: a table without a primary key has only the rowid, \
                    which the record doesn't have. Declare a primary key
                    """
                ) {
                    try NoKey(x: 2).update(db)
                }
                expectError(RecordError.self, "Key not found in table player: [id:1234]") {
                    try Player(id: 1234, name: "x").updateAndFetch(db)
                }
                #expect(try !Player(id: 1234, name: "x").delete(db))
                #expect(try !Player(id: nil, name: "x").delete(db))
                #expect(try !Player(id: nil, name: "x").exists(db))
                #expect(try !NoKey(x: 2).delete(db))
            }
        }
    }

    @Test func aConflictThatIsIgnored() throws {
        try withTables { (db) throws in
            var (first, second) = (Player(name: "a"), Player(name: "b"))
            try first.insert(db)
            try second.insert(db)
            second.name = "a"
            expectError(RecordError.self, "Key not found in table player: [id:2]") {
                try second.update(db, onConflict: .ignore)
            }
            expectError(.SQLITE_CONSTRAINT_UNIQUE) { try second.update(db) }
            #expect(expectError(DatabaseError.self) { try second.update(db) }?.arguments == ["a", 1, 2])
            try second.update(db, onConflict: .replace)
            #expect(try Player.fetchAll(db) == [second])
        }
    }

    @Test func changes() throws {
        try withTables { (db) throws in
            var player = CodablePlayer(id: nil, name: "Arthur", score: 1)
            try player.insert(db)
            let sql = try emitted(db) { () throws in
                let unchanged = try player.updateChanges(db) { $0.score = 1 }
                #expect(!unchanged)
                let changed = try player.updateChanges(db) { $0.score = 5 }
                #expect(changed)
                let old = player
                player.name = "A"
                #expect(try player.updateChanges(db, from: old))
                #expect(try !player.updateChanges(db, from: player))
                let none = try player.updateChangesAndFetch(db) { _ in }
                #expect(none == nil)
                let fetched = try player.updateChangesAndFetch(db) { $0.score = 77 }
                #expect(fetched == CodablePlayer(id: 1, name: "A", score: 77))
            }
            #expect(
                sql == [
                    #"UPDATE "player" SET "score"=5 WHERE "id"=1"#, #"UPDATE "player" SET "name"='A' WHERE "id"=1"#,
                    #"UPDATE "player" SET "score"=77 WHERE "id"=1 RETURNING *"#,
                ])
            let row = try player.updateAndFetch(db, as: Only.self)
            #expect(row == Only(id: 1))
        }
    }

    @Test func differences() throws {
        let (new, old) = (Pair(a: 2, b: "y", c: 4), Pair(a: 2, b: "z", c: nil))
        #expect(try new.databaseChanges(from: old) == ["b": "z".databaseValue, "c": .null])
        #expect(try new.databaseDictionary == ["a": 2.databaseValue, "b": "y".databaseValue, "c": 4.databaseValue])
        #expect(try new.databaseChanges(from: NoKey(x: 1)) == ["a": .null, "b": .null, "c": .null])
        #expect(new.databaseEquals(new))
        #expect(!new.databaseEquals(old))
        var changing = old
        let changes = try changing.databaseChanges { $0.c = 1 }
        #expect(changes == ["c": .null])
        #expect(changing.c == 1)
    }

    @Test func saves() throws {
        try withTables { (db) throws in
            var player = Player(name: "Arthur")
            let sql = try emitted(db) { () throws in
                try player.save(db)
                player.score = 5
                try player.save(db)
                var missing = Player(id: 99, name: "C")
                try missing.save(db)
            }
            #expect(
                sql == [
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (NULL,'Arthur',1)"#,
                    #"UPDATE "player" SET "name"='Arthur', "score"=5 WHERE "id"=1"#,
                    #"UPDATE "player" SET "name"='C', "score"=1 WHERE "id"=99"#,
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (99,'C',1)"#,
                ])
            #expect(try Player(id: nil, name: "D").saved(db).id == 100)
            let fetchSQL = try emitted(db) { () throws in
                #expect(try Player(id: 1, name: "Arthur", score: 8).saveAndFetch(db).score == 8)
                let inserted = try Player(id: 1235, name: "zzz").saveAndFetch(db)
                #expect(inserted == Player(id: 1235, name: "zzz"))
            }
            #expect(
                fetchSQL == [
                    #"UPDATE "player" SET "name"='Arthur', "score"=8 WHERE "id"=1 RETURNING *"#,
                    #"UPDATE "player" SET "name"='zzz', "score"=1 WHERE "id"=1235 RETURNING *"#,
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (1235,'zzz',1) RETURNING *"#,
                ])
            try Country(code: "FR", name: "F").save(db)
            try Country(code: "FR", name: "France").save(db)
            #expect(try Country.fetchAll(db) == [Country(code: "FR", name: "France")])
            try NoKey(x: 1).save(db)
            try NoKey(x: 1).save(db)
            #expect(try NoKey.fetchCount(db) == 2)
        }
    }

    @Test func deletesAndLooks() throws {
        try withTables { (db) throws in
            var player = Player(name: "Arthur")
            try player.insert(db)
            try Pair(a: 2, b: "y", c: 4).insert(db)
            let sql = try emitted(db) { () throws in
                #expect(try player.exists(db))
                #expect(try player.delete(db))
                #expect(try !player.delete(db))
                #expect(try !player.exists(db))
                #expect(try Pair(a: 2, b: "y", c: nil).exists(db))
                #expect(try Pair(a: 2, b: "y", c: nil).delete(db))
            }
            #expect(
                sql == [
                    #"SELECT EXISTS (SELECT 1 FROM "player" WHERE "id"=1)"#, #"DELETE FROM "player" WHERE "id"=1"#,
                    #"DELETE FROM "player" WHERE "id"=1"#, #"SELECT EXISTS (SELECT 1 FROM "player" WHERE "id"=1)"#,
                    #"SELECT EXISTS (SELECT 1 FROM "pair" WHERE "a"=2 AND "b"='y')"#,
                    #"DELETE FROM "pair" WHERE "a"=2 AND "b"='y'"#,
                ])
        }
    }
}

@Suite("Upserting records") struct UpsertTests {
    @Test func upserts() throws {
        try withTables { (db) throws in
            var player = Player(id: 1, name: "Arthur", score: 5)
            let sql = try emitted(db) { () throws in
                try player.upsert(db)
                player.score = 6
                try player.upsert(db)
                var other = Player(name: "U")
                try other.upsert(db)
                #expect(other.id == 2)
                // The row that is in the way tells its id.
                var same = Player(name: "Arthur", score: 9)
                try same.upsert(db)
                #expect(same.id == 1)
                try Pair(a: 1, b: "x", c: 3).upsert(db)
                try NoKey(x: 1).upsert(db)
                try Only(id: 1).upsert(db)
            }
            let insert = #"INSERT INTO "player" ("id", "name", "score") VALUES "#
            let update =
                #" ON CONFLICT DO UPDATE SET "name" = "excluded"."name", "score" = "excluded"."score" RETURNING "rowid""#
            #expect(
                sql == [
                    "\(insert)(1,'Arthur',5)\(update)", "\(insert)(1,'Arthur',6)\(update)",
                    "\(insert)(NULL,'U',1)\(update)", "\(insert)(NULL,'Arthur',9)\(update)",
                    #"INSERT INTO "pair" ("a", "b", "c") VALUES (1,'x',3) ON CONFLICT DO UPDATE SET "c" = "excluded"."c" RETURNING "rowid""#,
                    #"INSERT INTO "noKey" ("x") VALUES (1) ON CONFLICT DO UPDATE SET "x" = "excluded"."x" RETURNING "rowid""#,
                    #"INSERT INTO "only" ("id") VALUES (1) ON CONFLICT DO UPDATE SET "id" = "id" RETURNING "rowid""#,
                ])
            #expect(try Player.fetchAll(db) == [Player(id: 1, name: "Arthur", score: 9), Player(id: 2, name: "U")])
        }
    }

    @Test func withoutARowID() throws {
        try withTables { (db) throws in
            let sql = try emitted(db) { () throws in
                try Country(code: "FR", name: "F").upsert(db)
                let france = try Country(code: "FR", name: "France").upsertAndFetch(db)
                #expect(france == Country(code: "FR", name: "France"))
            }
            #expect(
                sql == [
                    #"INSERT INTO "country" ("code", "name") VALUES ('FR','F') ON CONFLICT DO UPDATE SET "name" = "excluded"."name" RETURNING "code""#,
                    #"INSERT INTO "country" ("code", "name") VALUES ('FR','France') ON CONFLICT DO UPDATE SET "name" = "excluded"."name" RETURNING *"#,
                ])
        }
    }

    @Test func targetsAndStrategies() throws {
        try withTables { (db) throws in
            var player = Player(name: "Arthur", score: 5)
            try player.insert(db)
            var other = Player(id: 50, name: "Arthur", score: 8)
            let sql = try emitted(db) { () throws in
                let all = try other.upsertAndFetch(db)
                #expect(all == Player(id: 1, name: "Arthur", score: 8))
                other.score = 9
                let byName = try other.upsertAndFetch(db, onConflict: ["name"])
                #expect(byName == Player(id: 1, name: "Arthur", score: 9))
                other.score = 10
                let kept = try other.upsertAndFetch(db, onConflict: ["name"], updating: .noColumnUnlessSpecified)
                #expect(kept == Player(id: 1, name: "Arthur", score: 9))
                let only = try other.upsertAndFetch(db, as: Only.self, onConflict: ["name"])
                #expect(only == Only(id: 1))
                #expect(other.id == 1)
            }
            let insert = #"INSERT INTO "player" ("id", "name", "score") VALUES "#
            #expect(
                sql == [
                    #"\#(insert)(50,'Arthur',8) ON CONFLICT DO UPDATE SET "name" = "excluded"."name", "score" = "excluded"."score" RETURNING *, "rowid""#,
                    #"\#(insert)(1,'Arthur',9) ON CONFLICT("name") DO UPDATE SET "score" = "excluded"."score" RETURNING *, "rowid""#,
                    #"\#(insert)(1,'Arthur',10) ON CONFLICT("name") DO UPDATE SET "id" = "id" RETURNING *, "rowid""#,
                    #"\#(insert)(1,'Arthur',10) ON CONFLICT("name") DO UPDATE SET "score" = "excluded"."score" RETURNING *, "rowid""#,
                ])
        }
    }

    @Test func theRowHasNoColumnBesidesItsOwn() throws {
        struct AnyColumns: FetchableRecord {
            var names: [String]
            init(row: Row) { names = Array(row.columnNames) }
        }
        try withTables { (db) throws in
            let columns = try NoKey(x: 1).upsertAndFetch(db, as: AnyColumns.self)
            #expect(columns.names == ["x"])
        }
    }
}
