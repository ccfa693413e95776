import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Records by key") struct KeyTests {
    private func withPlayers(_ body: (Database) throws -> Void) throws {
        try withTables { (db) throws in
            for number in 1...3 {
                var player = CodablePlayer(id: nil, name: "p\(number)", score: number)
                try player.insert(db)
            }
            try Pair(a: 1, b: "x", c: 3).insert(db)
            try Pair(a: 3, b: "z", c: nil).insert(db)
            try Country(code: "FR", name: "France").insert(db)
            try NoKey(x: 7).insert(db)
            try body(db)
        }
    }

    @Test func primaryKeys() throws {
        try withPlayers { (db) throws in
            let sql = try emitted(db) { () throws in
                #expect(try Player.fetchOne(db, key: 2)?.name == "p2")
                #expect(try Player.fetchOne(db, key: 99) == nil)
                #expect(try Player.fetchOne(db, key: nil as Int64?) == nil)
                #expect(try Player.fetchOne(db, id: 3)?.name == "p3")
                #expect(try Player.find(db, key: 1).name == "p1")
                #expect(try Player.find(db, id: 1).name == "p1")
                #expect(try NoKey.fetchOne(db, key: 1) == NoKey(x: 7))
                #expect(try Country.fetchOne(db, id: "FR")?.name == "France")
                #expect(try Player.exists(db, key: 1))
                #expect(try !Player.exists(db, id: 99))
                #expect(try !Player.exists(db, key: nil as Int?))
                #expect(try Player.deleteOne(db, key: 3))
                #expect(try !Player.deleteOne(db, id: 3))
                #expect(try !Player.deleteOne(db, key: nil as Int?))
            }
            #expect(
                sql == [
                    #"SELECT * FROM "player" WHERE "id" = 2"#, #"SELECT * FROM "player" WHERE "id" = 99"#,
                    #"SELECT * FROM "player" WHERE "id" = 3"#, #"SELECT * FROM "player" WHERE "id" = 1"#,
                    #"SELECT * FROM "player" WHERE "id" = 1"#, #"SELECT * FROM "noKey" WHERE "rowid" = 1"#,
                    #"SELECT * FROM "country" WHERE "code" = 'FR'"#,
                    #"SELECT EXISTS (SELECT * FROM "player" WHERE "id" = 1)"#,
                    #"SELECT EXISTS (SELECT * FROM "player" WHERE "id" = 99)"#,
                    #"DELETE FROM "player" WHERE "id" = 3"#, #"DELETE FROM "player" WHERE "id" = 3"#,
                ])
        }
    }

    @Test func severalKeys() throws {
        try withPlayers { (db) throws in
            let sql = try emitted(db) { () throws in
                #expect(try Player.fetchAll(db, keys: [1, 99, 3]).map(\.name) == ["p1", "p3"])
                #expect(try Player.fetchAll(db, keys: [Int]()).isEmpty)
                #expect(try Player.fetchAll(db, keys: [2]).map(\.name) == ["p2"])
                #expect(try Player.fetchAll(db, keys: [nil, 1, 2] as [Int?]).count == 2)
                #expect(try Player.fetchAll(db, ids: [1, 2]).count == 2)
                #expect(try Player.fetchSet(db, ids: [1, 2]).count == 2)
                let cursor = try Player.fetchCursor(db, keys: [1, 2])
                #expect(try Array(cursor).count == 2)
                #expect(try Array(Player.fetchCursor(db, keys: [Int]())).isEmpty)
                #expect(try Player.deleteAll(db, keys: [7, 8]) == 0)
                #expect(try Player.deleteAll(db, ids: [1, 2]) == 2)
                #expect(try Player.deleteAll(db, keys: [Int]()) == 0)
            }
            #expect(
                sql == [
                    #"SELECT * FROM "player" WHERE "id" IN (1, 99, 3)"#, #"SELECT * FROM "player" WHERE "id" = 2"#,
                    #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#, #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#,
                    #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#, #"SELECT * FROM "player" WHERE "id" IN (1, 2)"#,
                    #"SELECT * FROM "player" WHERE 0"#,
                    #"DELETE FROM "player" WHERE "id" IN (7, 8)"#, #"DELETE FROM "player" WHERE "id" IN (1, 2)"#,
                ])
        }
    }

    @Test func uniqueKeys() throws {
        try withPlayers { (db) throws in
            let sql = try emitted(db) { () throws in
                #expect(try Player.fetchOne(db, key: ["name": "p1"])?.id == 1)
                #expect(try Player.fetchOne(db, key: ["NAME": "p1"])?.id == 1)
                #expect(try Player.fetchOne(db, key: ["name": nil as String?]) == nil)
                #expect(try Player.fetchOne(db, key: ["rowid": 2])?.id == 2)
                #expect(try Pair.fetchOne(db, key: ["b": "x", "a": 1]) == Pair(a: 1, b: "x", c: 3))
                #expect(
                    try Pair.fetchAll(db, keys: [["a": 1, "b": "x"], ["b": "z", "a": 3]]) == [
                        Pair(a: 1, b: "x", c: 3), Pair(a: 3, b: "z", c: nil),
                    ])
                #expect(try Player.fetchAll(db, keys: [["name": "p1"], ["name": nil as String?]]).count == 1)
                #expect(try Player.exists(db, key: ["name": "p3"]))
                #expect(try Player.deleteOne(db, key: ["name": "p3"]))
                #expect(try Pair.deleteAll(db, keys: [["a": 1, "b": "x"]]) == 1)
            }
            #expect(
                sql == [
                    #"SELECT * FROM "player" WHERE "name" = 'p1'"#, #"SELECT * FROM "player" WHERE "NAME" = 'p1'"#,
                    #"SELECT * FROM "player" WHERE "name" IS NULL"#, #"SELECT * FROM "player" WHERE "rowid" = 2"#,
                    #"SELECT * FROM "pair" WHERE ("a" = 1) AND ("b" = 'x')"#,
                    #"SELECT * FROM "pair" WHERE (("a" = 1) AND ("b" = 'x')) OR (("a" = 3) AND ("b" = 'z'))"#,
                    #"SELECT * FROM "player" WHERE ("name" = 'p1') OR ("name" IS NULL)"#,
                    #"SELECT EXISTS (SELECT * FROM "player" WHERE "name" = 'p3')"#,
                    #"DELETE FROM "player" WHERE "name" = 'p3'"#,
                    #"DELETE FROM "pair" WHERE ("a" = 1) AND ("b" = 'x')"#,
                ])
        }
    }

    @Test func whatIsNotFound() throws {
        try withPlayers { (db) throws in
            expectError(RecordError.self, "Key not found in table player: [id:4321]") { try Player.find(db, key: 4321) }
            expectError(RecordError.self, "Key not found in table player: [name:TEXT]") {
                try Player.find(db, key: ["name": "nobody"])
            }
            expectError(
                RecordError.self,
                """
                Key not found in table player: [id:NULL]: the id is NULL. Was the record inserted, and the id stored \
                in didInsert?
                """
            ) { try Player.find(db, id: nil) }
            #expect("\(Player.recordNotFound(db, key: 1))" == "Key not found in table player: [id:1]")
            #expect("\(Player.recordNotFound(db, id: 1))" == "Key not found in table player: [id:1]")
            #expect("\(Player.recordNotFound(key: ["name": "a"]))" == "Key not found in table player: [name:TEXT]")
            #expect("\(Player(id: 5, name: "").recordNotFound(db))" == "Key not found in table player: [id:5]")
        }
    }

    @Test func noRowHasTheIDNil() throws {
        try withPlayers { (db) throws in
            let sql = try emitted(db, includingSchemaReads: true) { () throws in
                #expect(try !Player.exists(db, id: nil))
                #expect(try !Player.deleteOne(db, id: nil))
            }
            #expect(sql == [])
            // The schema is read by statements that `trace` isn't told of.
            var traced: [String] = []
            db.trace { traced.append("\($0)") }
            defer { db.trace() }
            #expect(try Player.exists(db, id: 1))
            #expect(try db.primaryKey("pair").columns == ["a", "b"])
            #expect(traced == [#"SELECT EXISTS (SELECT * FROM "player" WHERE "id" = ?)"#])
        }
    }

    @Test func columnsThatContainAKey() throws {
        try withPlayers { (db) throws in
            let player = try #require(try Player.fetchOne(db, key: 1))
            let sql = try emitted(db) { () throws in
                let key: [String: (any DatabaseValueConvertible)?] = ["score": player.score, "ID": 1]
                #expect(try Player.exists(db, key: key))
                #expect(try Player.fetchOne(db, key: key) == player)
                #expect(try !Player.exists(db, key: ["score": player.score + 1, "id": 1]))
                #expect(try !Player.deleteOne(db, key: ["score": player.score + 1, "name": player.name]))
            }
            #expect(
                sql[0]
                    == "SELECT EXISTS (SELECT * FROM \"player\" WHERE (\"ID\" = 1) AND (\"score\" = \(player.score)))")
            // SQLite takes "rank" for a text.
            expectError(.SQLITE_MISUSE, #"table player has no unique key on "id", "rank""#) {
                try Player.exists(db, key: ["id": 1, "rank": 2])
            }
        }
    }

    @Test func keysThatAreNone() throws {
        try withPlayers { (db) throws in
            expectError(
                .SQLITE_MISUSE, #"the primary key of table pair has several columns, "a", "b": give a value for each"#
            ) { try Pair.fetchOne(db, key: 1) }
            expectError(.SQLITE_MISUSE, #"table player has no unique key on "score""#) {
                try Player.fetchOne(db, key: ["score": 1])
            }
            expectError(.SQLITE_MISUSE, "table player has no unique key on no column") {
                try Player.exists(db, key: [:])
            }
            expectError(.SQLITE_MISUSE, "keys of table player must have the same columns") {
                try Player.fetchAll(db, keys: [["name": "a"], ["id": 1]])
            }
            try db.execute(sql: "CREATE VIEW viewed AS SELECT * FROM player")
            expectError(.SQLITE_MISUSE, "view viewed has no primary key") {
                try Player.fetchOne(db, key: 1, table: "viewed")
            }
        }
    }

    @Test func longLists() throws {
        try withTables { (db) throws in
            _ = try db.setLimit(.variableNumber, to: 10)
            var players = (1...25).map { CodablePlayer(id: Int64($0), name: "p\($0)", score: $0) }
            try CodablePlayer.insertAll(db, &players)
            let keys = (1...25).flatMap { [$0, $0] }
            let sql = try emitted(db) { () throws in #expect(try CodablePlayer.fetchAll(db, keys: keys) == players) }
            #expect(sql.count == 3)
            let byName = try CodablePlayer.fetchAll(db, keys: (1...25).map { ["name": "p\($0)"] })
            #expect(byName.sorted { $0.score < $1.score } == players)
            let cursorSQL = try emitted(db) { () throws in
                #expect(try Array(CodablePlayer.fetchCursor(db, keys: keys)) == players)
            }
            #expect(cursorSQL == sql)
            #expect(try CodablePlayer.deleteAll(db, keys: Array(1...24)) == 24)
            #expect(try CodablePlayer.fetchAll(db) == [players[24]])
        }
        try withTables { (db) throws in
            let pairs = (1...2000).map { Pair(a: $0, b: "b", c: nil) }
            try Pair.insertAll(db, pairs)
            #expect(try Pair.fetchAll(db, keys: pairs.map { ["a": $0.a, "b": "b"] }) == pairs)
            #expect(try Pair.deleteAll(db, keys: pairs.map { ["a": $0.a, "b": "b"] }) == 2000)
        }
    }

    @Test func aCursorOverManyKeys() throws {
        try withTables { (db) throws in
            try Only.insertAll(db, (0..<50_000).map { Only(id: $0 * 2) })
            let cursor = try Only.fetchCursor(db, keys: Array(0..<100_000))
            #expect(cursor.columnNames == ["id"])
            var count = 0
            while let record = try cursor.next() {
                #expect(record.id == Int64(count) * 2)
                count += 1
            }
            #expect(count == 50_000)
            #expect(try cursor.next() == nil)
            // Parts without a row are passed over.
            _ = try db.setLimit(.variableNumber, to: 10)
            let last = try Only.fetchCursor(db, keys: Array(99_998..<200_000))
            #expect(try last.next() == Only(id: 99_998))
            #expect(try last.next() == nil)
        }
    }

    @Test func aCursorOverManyKeysEndsWithAnError() throws {
        try withTables { (db) throws in
            _ = try db.setLimit(.variableNumber, to: 2)
            try Only.insertAll(db, (1...6).map { Only(id: $0) })
            let cursor = try Only.fetchCursor(db, keys: [1, 2, 3, 4, 5, 6])
            #expect(try cursor.next() == Only(id: 1))
            try db.execute(sql: "ALTER TABLE only RENAME TO other")
            #expect(try cursor.next() == Only(id: 2))
            expectError(.SQLITE_ERROR, "no such table: only") { try cursor.next() }
            try db.execute(sql: "ALTER TABLE other RENAME TO only")
            #expect(try cursor.next() == nil)
        }
        let queue = try DatabaseQueue()
        let cursor = try queue.write { (db) throws in
            _ = try db.setLimit(.variableNumber, to: 2)
            try db.execute(sql: "CREATE TABLE only (id INTEGER PRIMARY KEY)")
            try Only.insertAll(db, (1...6).map { Only(id: $0) })
            let cursor = try Only.fetchCursor(db, keys: [1, 2, 3, 4, 5, 6])
            #expect(try cursor.next() == Only(id: 1))
            return Escaped(cursor: cursor)
        }
        expectError(.SQLITE_MISUSE) { try cursor.cursor.next() }
        try queue.write { (db) throws in #expect(try cursor.cursor.next() == nil) }
    }

    /// Sendable: it is used where it refuses to be used.
    private struct Escaped: @unchecked Sendable { let cursor: RecordCursor<Only> }

    @Test func aLongDeletionIsWhole() throws {
        try withTables { (db) throws in
            _ = try db.setLimit(.variableNumber, to: 10)
            try CodablePlayer.insertAll(db, (1...25).map { CodablePlayer(id: Int64($0), name: "p\($0)", score: $0) })
            try db.execute(
                sql: "CREATE TRIGGER keep BEFORE DELETE ON player WHEN OLD.id = 25 BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
            expectError(.SQLITE_CONSTRAINT_TRIGGER, "no") { try CodablePlayer.deleteAll(db, keys: Array(1...25)) }
            #expect(try CodablePlayer.fetchCount(db) == 25)
        }
    }

    @Test func strategiesHoldForKeys() throws {
        struct Token: Codable, FetchableRecord, PersistableRecord, Identifiable, Equatable {
            var id: UUID
            static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
                .uppercaseString
            }
        }
        struct Day: Codable, FetchableRecord, PersistableRecord, Equatable {
            var date: Date
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .secondsSince1970
            }
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: "CREATE TABLE token (id TEXT PRIMARY KEY NOT NULL); CREATE TABLE day (date INTEGER PRIMARY KEY)")
            let token = Token(id: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!)
            try token.insert(db)
            let text = "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'"
            let sql = try emitted(db) { () throws in
                #expect(try Token.fetchOne(db, id: token.id) == token)
                #expect(try Token.fetchAll(db, ids: [token.id]) == [token])
                #expect(try Token.fetchOne(db, key: ["id": token.id]) == token)
                #expect(try Token.exists(db, id: token.id))
                #expect(try Token.deleteOne(db, id: token.id))
            }
            #expect(sql.allSatisfy { $0.hasSuffix("\"id\" = \(text)") || $0.hasSuffix("\"id\" = \(text))") }, "\(sql)")
            let day = Day(date: Date(timeIntervalSince1970: 86400))
            try day.insert(db)
            #expect(try Day.fetchOne(db, key: day.date) == day)
            #expect(try Day.deleteOne(db, key: day.date as Date?))
        }
    }
}

@Suite("Batches of records") struct BatchTests {
    private func pairs(_ range: ClosedRange<Int>) -> [Pair] { range.map { Pair(a: $0, b: "b\($0)", c: $0 % 3) } }

    @Test func manyAtOnce() throws {
        try withTables { (db) throws in
            let all = pairs(1...100)
            let sql = try emitted(db) { () throws in #expect(try Pair.insertAll(db, all) == 100) }
            // The first one, three times 32, the rest.
            #expect(sql.map { $0.split(separator: "(").count - 2 } == [-1, 1, 32, 32, 32, 1, 1, 1, -1])
            #expect(sql[2].hasPrefix(#"INSERT INTO "pair" ("a", "b", "c") VALUES (2,'b2',2), (3,'b3',0), (4"#))
            #expect(try Pair.fetchAll(db) == all)
            // Existing rows, among others.
            #expect(try Pair.insertAll(db, pairs(91...180), onConflict: .ignore) == 80)
            #expect(try Pair.insertAll(db, pairs(91...190), onConflict: .replace) == 100)
            #expect(try Pair.fetchCount(db) == 190)
            _ = try db.setLimit(.variableNumber, to: 10)
            try db.execute(sql: "DELETE FROM pair")
            #expect(try Pair.insertAll(db, all) == 100)
            #expect(try Pair.fetchAll(db) == all)
        }
    }

    @Test func oneThatFailsIsNamed() throws {
        try withTables { (db) throws in
            try Pair(a: 70, b: "b70", c: nil).insert(db)
            for _ in 0..<2 {
                let error = expectError(
                    .SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: pair.a, pair.b",
                    sql: #"INSERT INTO "pair" ("a", "b", "c") VALUES (?,?,?)"#
                ) { try Pair.insertAll(db, pairs(1...100)) }
                #expect(error?.arguments == [70, "b70", 1])
                #expect(try Pair.fetchCount(db) == 1)
            }
        }
        struct Measure: Codable, PersistableRecord {
            static let databaseTableName = "noKey"
            var x: Double
        }
        try withTables { (db) throws in
            let values = (0..<100).map { Measure(x: $0 == 60 ? .nan : Double($0)) }
            let error = expectError(DatabaseError.self) { try Measure.insertAll(db, values) }
            #expect(error?.message?.hasPrefix("could not bind the number NaN to parameter 1") == true)
            #expect(try NoKey.fetchCount(db) == 0)
        }
    }

    /// A record of other columns among the others.
    @Test func recordsOfOtherColumns() throws {
        struct Ragged: PersistableRecord {
            static let databaseTableName = "pair"
            var a: Int
            func encode(to container: inout PersistenceContainer) {
                container["a"] = a
                container["b"] = "b\(a)"
                if a == 50 { container["c"] = 50 }
            }
        }
        try withTables { (db) throws in
            #expect(try Ragged.insertAll(db, (1...100).map { Ragged(a: $0) }) == 100)
            #expect(try Pair.fetchAll(db) == (1...100).map { Pair(a: $0, b: "b\($0)", c: $0 == 50 ? 50 : nil) })
        }
    }

    @Test func aTriggerRollsBack() throws {
        try DatabaseQueue().writeWithoutTransaction { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE only (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER refuse BEFORE INSERT ON only WHEN NEW.id = 50
                    BEGIN SELECT RAISE(ROLLBACK, 'refused'); END;
                    """)
            expectError(.SQLITE_CONSTRAINT_TRIGGER, "refused") {
                try Only.insertAll(db, (1...100).map { Only(id: $0) })
            }
            #expect(!db.isInsideTransaction)
            #expect(try Only.fetchCount(db) == 0)
        }
    }

    /// The schema changes between batches.
    @Test func theTableChanges() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabaseQueue(path: folder.file("a.sqlite")), try DatabaseQueue(path: folder.file("a.sqlite"))
        )
        try first.write { (db) throws in
            try db.execute(sql: "CREATE TABLE pair (a INTEGER PRIMARY KEY, b TEXT, c INTEGER)")
            try Pair.insertAll(db, pairs(1...50))
        }
        try second.write { (db) throws in
            try db.execute(sql: "DROP TABLE pair; CREATE TABLE pair (c INTEGER, b TEXT PRIMARY KEY, a INTEGER)")
        }
        try first.write { (db) throws in
            try Pair.insertAll(db, pairs(1...50))
            #expect(try Pair.fetchAll(db) == pairs(1...50))
            #expect(try Pair.fetchOne(db, key: "b7") == Pair(a: 7, b: "b7", c: 1))
        }
    }

    @Test func inserts() throws {
        try withTables { (db) throws in
            var players = [CodablePlayer(id: nil, name: "a", score: 1), CodablePlayer(id: nil, name: "b", score: 2)]
            let sql = try emitted(db) { () throws in #expect(try CodablePlayer.insertAll(db, &players) == 2) }
            #expect(
                sql == [
                    "SAVEPOINT quarry", #"INSERT INTO "player" ("id", "name", "score") VALUES (NULL,'a',1)"#,
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (NULL,'b',2)"#, "RELEASE SAVEPOINT quarry",
                ])
            #expect(players.map(\.id) == [1, 2])
            #expect(try CodablePlayer.insertAll(db, [CodablePlayer(id: nil, name: "c", score: 3)]) == 1)
            let repeated = ["a", "d"].map { CodablePlayer(id: nil, name: $0, score: 4) }
            #expect(try CodablePlayer.insertAll(db, repeated, onConflict: .ignore) == 1)
            #expect(try CodablePlayer.fetchAll(db).map(\.name) == ["a", "b", "c", "d"])
        }
    }

    @Test func allOrNone() throws {
        try withTables { (db) throws in
            var players = ["a", "b", "a"].map { CodablePlayer(id: nil, name: $0, score: 1) }
            expectError(.SQLITE_CONSTRAINT_UNIQUE) { try CodablePlayer.insertAll(db, &players) }
            #expect(players.map(\.id) == [nil, nil, nil])
            #expect(
                expectError(DatabaseError.self) { try CodablePlayer.insertAll(db, players) }?.arguments == [
                    nil, "a", 1,
                ])
            #expect(try CodablePlayer.fetchCount(db) == 0)
        }
    }

    @Test func upserts() throws {
        try withTables { (db) throws in
            var players = ["a", "b"].map { CodablePlayer(id: nil, name: $0, score: 1) }
            try CodablePlayer.upsertAll(db, &players)
            #expect(players.map(\.id) == [1, 2])
            players = ["b", "c"].map { CodablePlayer(id: nil, name: $0, score: 2) }
            try CodablePlayer.upsertAll(db, players)
            #expect(try CodablePlayer.fetchAll(db).map(\.score) == [1, 2, 2])
        }
    }

    @Test func updateAll() throws {
        try withTables { (db) throws in
            try CodablePlayer.insertAll(db, (1...3).map { CodablePlayer(id: nil, name: "p\($0)", score: $0) })
            let model = CodablePlayer(id: nil, name: "", score: 0)
            let sql = try emitted(db) { () throws in
                #expect(try CodablePlayer.updateAll(db, set: ["score"], from: model) == 3)
            }
            #expect(sql == [#"UPDATE "player" SET "score" = 0"#])
            #expect(try CodablePlayer.updateAll(db, set: [String](), from: model) == 0)
            expectError(.SQLITE_MISUSE, "the record has no column \"rank\" of table player") {
                try CodablePlayer.updateAll(db, set: ["rank"], from: model)
            }
            #expect(try CodablePlayer.fetchAll(db).map(\.score) == [0, 0, 0])
        }
    }

    @Test func wholeTables() throws {
        try withTables { (db) throws in
            try Pair.insertAll(db, (1...3).map { Pair(a: $0, b: "b", c: nil) })
            let sql = try emitted(db) { () throws in
                #expect(try Pair.fetchCount(db) == 3)
                #expect(try Pair.fetchOne(db) == Pair(a: 1, b: "b", c: nil))
                #expect(try Pair.fetchAll(db).count == 3)
                #expect(try Pair.fetchSet(db).count == 3)
                #expect(try Array(Pair.fetchCursor(db)).count == 3)
                #expect(try Pair.deleteAll(db) == 3)
                #expect(try Pair.fetchOne(db) == nil)
            }
            #expect(
                sql == [
                    #"SELECT COUNT(*) FROM "pair""#, #"SELECT * FROM "pair" LIMIT 1"#, #"SELECT * FROM "pair""#,
                    #"SELECT * FROM "pair""#, #"SELECT * FROM "pair""#, #"DELETE FROM "pair""#,
                    #"SELECT * FROM "pair" LIMIT 1"#,
                ])
            #expect(try Pair.numberOfSelectedColumns(db) == 3)
        }
    }
}
