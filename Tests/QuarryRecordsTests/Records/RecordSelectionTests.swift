import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Columns of records that are written and found") struct RecordSelectionTests {
    /// A player without its score.
    private struct Name: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["score"])] }
        var id: Int64?
        var name: String
    }

    /// A player and what it would have with a bonus.
    private struct Bonus: Codable, FetchableRecord, TableRecord, Equatable {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] {
            [Column("id"), (Column("score") + 10).forKey("total")]
        }
        var id: Int64
        var total: Int
    }

    @Test func theSelectionOfTheTypeIsFetched() throws {
        try withTables { (db) throws in
            var player = Player(id: 1, name: "Arthur", score: 5)
            try player.insert(db)
            try expectEmitted(db, #"SELECT "id", "score" + 10 AS "total" FROM "player" WHERE "id" = 1"#) {
                let found = try Bonus.fetchOne(db, key: 1)
                #expect(found == Bonus(id: 1, total: 15))
            }
            // The same statement, with the same arguments of its own.
            let again = try Bonus.find(db, key: 1)
            #expect(again == Bonus(id: 1, total: 15))
            try expectEmitted(db, #"SELECT "id", "score" + 10 AS "total" FROM "player" WHERE "id" IN (1, 2)"#) {
                let found = try Bonus.fetchAll(db, keys: [1, 2])
                #expect(found == [Bonus(id: 1, total: 15)])
            }
            try expectEmitted(db, #"SELECT "id", "score" + 10 AS "total" FROM "player" WHERE "name" = 'Arthur'"#) {
                let found = try Bonus.fetchOne(db, key: ["name": "Arthur"])
                #expect(found == Bonus(id: 1, total: 15))
            }
            try expectEmitted(db, #"SELECT "id", "name" FROM "player""#) {
                let found = try Name.fetchAll(db)
                #expect(found == [Name(id: 1, name: "Arthur")])
            }
            #expect(try Name.numberOfSelectedColumns(db) == 2)
        }
    }

    @Test func theSelectionOfTheTypeIsReturned() throws {
        try withTables { (db) throws in
            let name = Name(id: nil, name: "Arthur")
            try expectEmitted(db, #"INSERT INTO "player" ("id", "name") VALUES (NULL,'Arthur') RETURNING "id", "name""#)
            {
                let inserted = try name.insertAndFetch(db)
                #expect(inserted == Name(id: 1, name: "Arthur"))
            }
            try expectEmitted(
                db, #"UPDATE "player" SET "name"='Barbara' WHERE "id"=1 RETURNING "id", "score" + 10 AS "total""#
            ) {
                let updated = try Name(id: 1, name: "Barbara").updateAndFetch(db, as: Bonus.self)
                #expect(updated == Bonus(id: 1, total: 110))
            }
            try expectEmitted(
                db,
                #"INSERT INTO "player" ("id", "name") VALUES (1,'Craig') ON CONFLICT DO UPDATE SET "#
                    + #""name" = "excluded"."name" RETURNING "id", "score" + 10 AS "total", "rowid""#
            ) {
                var craig = Name(id: 1, name: "Craig")
                let upserted = try craig.upsertAndFetch(db, as: Bonus.self)
                #expect(upserted == Bonus(id: 1, total: 110))
            }
        }
    }

    @Test func columnsOfOneCall() throws {
        try withTables { (db) throws in
            var zed = CodablePlayer(id: 77, name: "Zed", score: 5)
            let selection: [any SQLSelectable] = [Column("name"), (Column("score") * 2).forKey("s")]
            try expectEmitted(
                db,
                #"INSERT INTO "player" ("id", "name", "score") VALUES (77,'Zed',5) "#
                    + #"RETURNING "name", "score" * 2 AS "s""#
            ) {
                let row = try zed.insertAndFetch(db, selection: selection) { try Row.fetchOne($0) }
                #expect(row == ["name": "Zed", "s": 10])
            }
            try expectEmitted(db, #"UPDATE "player" SET "name"='Zed', "score"=5 WHERE "id"=77 RETURNING "name""#) {
                let name = try zed.updateAndFetch(db, selection: [Column("name")]) { try String.fetchOne($0) }
                #expect(name == "Zed")
            }
            try expectEmitted(db, #"UPDATE "player" SET "score"=9 WHERE "id"=77 RETURNING "score""#) {
                let score = try zed.updateChangesAndFetch(
                    db, selection: [Column("score")], fetch: { try Int.fetchOne($0) }, modify: { $0.score = 9 })
                #expect(score == 9)
            }
            try expectEmitted(db, #"UPDATE "player" SET "score"=9 WHERE "id"=77 RETURNING "id""#) {
                let id = try zed.updateAndFetch(db, columns: ["score"], selection: [Column("id")]) {
                    try Int64.fetchOne($0)
                }
                #expect(id == 77)
            }
            var missing = CodablePlayer(id: 5, name: "Missing", score: 1)
            expectError(RecordError.self, "Key not found in table player: [id:5]") {
                try missing.updateAndFetch(db, selection: [Column("id")]) { try Row.fetchOne($0) }
            }
            let saved = try missing.saveAndFetch(db, selection: [Column("id")]) { try Int64.fetchOne($0) }
            #expect(saved == 5)
            let nothing = expectError(DatabaseError.self) {
                try missing.updateAndFetch(db, selection: []) { try Row.fetchOne($0) }
            }
            #expect(nothing?.message == "a request selects nothing")
        }
    }

    @Test func upsertsAssignColumns() throws {
        try withTables { (db) throws in
            var player = CodablePlayer(id: 1, name: "Arthur", score: 5)
            try player.insert(db)
            let insert = #"INSERT INTO "player" ("id", "name", "score") VALUES (1,'Arthur',5) ON CONFLICT("id") "#
            try expectEmitted(
                db, insert + #"DO UPDATE SET "score" = "score" + "excluded"."score" RETURNING *, "rowid""#
            ) {
                let found = try player.upsertAndFetch(
                    db, onConflict: ["id"],
                    doUpdate: { excluded in
                        [Column("score").set(to: Column("score") + excluded["score"]), Column("name").noOverwrite]
                    })
                #expect(found.score == 10)
            }
            try expectEmitted(
                db,
                insert + #"DO UPDATE SET "name" = "excluded"."name", "score" = "excluded"."score" RETURNING *, "rowid""#
            ) {
                let found = try player.upsertAndFetch(db, onConflict: ["id"], doUpdate: { _ in [] })
                #expect(found.score == 5)
            }
            try expectEmitted(
                db, insert + #"DO UPDATE SET "score" = "score" + "excluded"."score" RETURNING *, "rowid""#
            ) {
                let found = try player.upsertAndFetch(
                    db, onConflict: ["id"], updating: .noColumnUnlessSpecified,
                    doUpdate: { excluded in [Column("score") += excluded["score"]] })
                #expect(found.score == 10)
            }
            try expectEmitted(db, insert + #"DO UPDATE SET "id" = "id" RETURNING *, "rowid""#) {
                let found = try player.upsertAndFetch(
                    db, onConflict: ["id"], updating: .noColumnUnlessSpecified, doUpdate: { _ in [] })
                #expect(found.score == 10)
            }
            // Other values are arguments of the same statement.
            for bonus in 1...3 {
                let found = try player.upsertAndFetch(
                    db, onConflict: ["id"], updating: .noColumnUnlessSpecified,
                    doUpdate: { _ in [Column("score").set(to: bonus)] })
                #expect(found.score == bonus)
            }
        }
    }
}
