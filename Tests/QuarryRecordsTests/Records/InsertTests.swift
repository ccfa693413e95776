import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Inserting records") struct InsertTests {
    @Test func aRecordLearnsItsID() throws {
        try withTables { (db) throws in
            var player = Player(name: "Arthur")
            let sql = try emitted(db) { try player.insert(db) }
            #expect(sql == [#"INSERT INTO "player" ("id", "name", "score") VALUES (NULL,'Arthur',1)"#])
            #expect(player.id == 1)
            var other = CodablePlayer(id: nil, name: "Barbara", score: 2)
            let otherSQL = try emitted(db) { try other.insert(db) }
            #expect(otherSQL == [#"INSERT INTO "player" ("id", "name", "score") VALUES (NULL,'Barbara',2)"#])
            #expect(other.id == 2)
            let third = try CodablePlayer(id: nil, name: "Craig", score: 3).inserted(db)
            #expect(third == CodablePlayer(id: 3, name: "Craig", score: 3))
            #expect(try Player.fetchAll(db).map(\.name) == ["Arthur", "Barbara", "Craig"])
        }
    }

    @Test func manyOfAKindAreOneStatement() throws {
        try withTables { (db) throws in
            for number in 1...50 {
                var player = CodablePlayer(
                    id: number % 3 == 0 ? Int64(number * 10) : nil, name: "p\(number)", score: number)
                try player.insert(db)
                #expect(player.id == db.lastInsertedRowID)
                try Pair(a: number, b: "b\(number)", c: number % 2 == 0 ? number : nil).insert(db)
            }
            #expect(try CodablePlayer.fetchAll(db).map(\.score).sorted() == Array(1...50))
            #expect(try Pair.fetchAll(db) == (1...50).map { Pair(a: $0, b: "b\($0)", c: $0 % 2 == 0 ? $0 : nil) })
        }
    }

    /// The other columns get their default values, as with `insert(db, columns:)`.
    @Test func someColumnsOfManyRecords() throws {
        struct Item: Codable, MutablePersistableRecord {
            var id: Int64?
            var name: String
            var score: Int
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, score INTEGER DEFAULT 7)")
            try db.execute(sql: "CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT, score INTEGER DEFAULT 7)")
            let items = (1...100).map { Item(id: Int64($0 + 1_000), name: "i\($0)", score: $0) }
            let sql = try emitted(db) { () throws in
                #expect(try Item.insertAll(db, items[..<2], columns: ["name"]) == 2)
            }
            #expect(
                sql.filter { $0.hasPrefix("INSERT") }
                    == [#"INSERT INTO "item" ("name") VALUES ('i1')"#, #"INSERT INTO "item" ("name") VALUES ('i2')"#])
            var changing = items
            #expect(try Item.insertAll(db, &changing, onConflict: .ignore, columns: ["name"], table: "other") == 100)
            #expect(changing.map(\.id) == (1...100).map { $0 })
            #expect(try Item.insertAll(db, items, columns: ["name", "id"]) == 100)
            let sums = try Int.fetchAll(
                db, sql: "SELECT SUM(score) FROM item UNION ALL SELECT SUM(score) FROM other")
            #expect(sums == [102 * 7, 700])
            expectError(.SQLITE_MISUSE, #"the record has no column "none" of table item"#) {
                try Item.insertAll(db, items, columns: ["name", "none"])
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM item") == 102)
        }
    }

    @Test func conflictPolicies() throws {
        struct Replacing: Codable, PersistableRecord {
            static let databaseTableName = "player"
            static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace, update: .ignore)
            var id: Int64
            var name: String
            var score: Int
        }
        try withTables { (db) throws in
            var player = Player(id: 1, name: "Arthur")
            try player.insert(db)
            for (policy, words) in [
                (.replace, "OR REPLACE "), (.ignore, "OR IGNORE "), (.fail, "OR FAIL "), (.rollback, "OR ROLLBACK "),
                (.abort, ""),
            ] as [(Database.ConflictResolution, String)] {
                var other = Player(id: nil, name: "\(policy)", score: 2)
                let sql = try emitted(db) { try other.insert(db, onConflict: policy) }
                #expect(
                    sql == ["INSERT \(words)INTO \"player\" (\"id\", \"name\", \"score\") VALUES (NULL,'\(policy)',2)"])
            }
            let replacing = Replacing(id: 1, name: "Arthur", score: 5)
            #expect(
                try emitted(db) { try replacing.insert(db) }
                    == [#"INSERT OR REPLACE INTO "player" ("id", "name", "score") VALUES (1,'Arthur',5)"#])
            #expect(
                try emitted(db) { try replacing.update(db) }
                    == [#"UPDATE OR IGNORE "player" SET "name"='Arthur', "score"=5 WHERE "id"=1"#])
            expectError(.SQLITE_CONSTRAINT_PRIMARYKEY) { try replacing.insert(db, onConflict: .abort) }
            #expect(try Player.fetchOne(db, key: 1)?.score == 5)
        }
    }

    @Test func anInsertThatIsIgnoredSaysSo() throws {
        try withTables { (db) throws in
            var first = CodablePlayer(id: nil, name: "Arthur", score: 1)
            try first.insert(db)
            var other = CodablePlayer(id: nil, name: "Arthur", score: 2)
            let isInserted = try other.insertOrIgnore(db)
            #expect(!isInserted)
            #expect(other.id == nil)
            try other.insert(db, onConflict: .ignore)
            #expect(other.id == nil)
            other.name = "Barbara"
            #expect(try other.insertOrIgnore(db))
            #expect(other.id == 2)
            #expect(try Country(code: "FR", name: "France").insertOrIgnore(db))
            #expect(try !Country(code: "FR", name: "France").insertOrIgnore(db))
            expectError(
                RecordError.self,
                """
                Key not found in table player: [id:NULL]: the id is NULL. Was the record inserted, and the id stored \
                in didInsert?
                """
            ) {
                try CodablePlayer(id: nil, name: "Arthur", score: 1).insertAndFetch(db, onConflict: .ignore)
            }
        }
    }

    @Test func aTriggerMayRefuseARow() throws {
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE INSERT ON player WHEN NEW.score < 0 BEGIN SELECT RAISE(IGNORE); END
                    """)
            var player = CodablePlayer(id: nil, name: "Arthur", score: -1)
            try player.insert(db)
            #expect(player.id == nil)
            #expect(try Player.fetchCount(db) == 0)
        }
    }

    @Test func anErrorHasTheArguments() throws {
        try withTables { (db) throws in
            var player = CodablePlayer(id: nil, name: "Arthur", score: 1)
            try player.insert(db)
            for _ in 0..<2 {
                var other = CodablePlayer(id: nil, name: "Arthur", score: 2)
                let error = expectError(
                    .SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: player.name",
                    sql: #"INSERT INTO "player" ("id", "name", "score") VALUES (?,?,?)"#
                ) { try other.insert(db) }
                #expect(error?.arguments == [nil, "Arthur", 2])
            }
        }
    }

    @Test func tablesOfAllKinds() throws {
        try withTables { (db) throws in
            #expect(try emitted(db) { try Only(id: 2).insert(db) } == [#"INSERT INTO "only" ("id") VALUES (2)"#])
            #expect(
                try emitted(db) { try Pair(a: 2, b: "y", c: nil).insert(db) }
                    == [#"INSERT INTO "pair" ("a", "b", "c") VALUES (2,'y',NULL)"#])
            #expect(try emitted(db) { try NoKey(x: 2).insert(db) } == [#"INSERT INTO "noKey" ("x") VALUES (2)"#])
            try Country(code: "FR", name: "France").insert(db)
            #expect(try Country.fetchAll(db) == [Country(code: "FR", name: "France")])
            #expect(try Pair.fetchAll(db) == [Pair(a: 2, b: "y", c: nil)])
        }
    }

    @Test func aRecordWithoutColumnsHasDefaults() throws {
        struct Empty: Codable, MutablePersistableRecord {
            static let databaseTableName = "player"
        }
        try withTables { (db) throws in
            var empty = Empty()
            #expect(try emitted(db) { try empty.insert(db) } == [#"INSERT INTO "player" DEFAULT VALUES"#])
            #expect(
                try emitted(db) { try empty.insert(db, onConflict: .ignore) }
                    == [#"INSERT OR IGNORE INTO "player" DEFAULT VALUES"#])
            #expect(try Row.fetchAll(db, sql: "SELECT score FROM player") == [["score": 100], ["score": 100]])
            expectError(
                RecordError.self,
                """
                Key not found in table player: [id:NULL]: the id is NULL. Was the record inserted, and the id stored \
                in didInsert?
                """
            ) { try empty.update(db) }
        }
    }

    @Test func someColumns() throws {
        try withTables { (db) throws in
            var player = Player(name: "Arthur", score: 5)
            let sql = try emitted(db) { try player.insert(db, columns: ["NAME"]) }
            #expect(sql == [#"INSERT INTO "player" ("name") VALUES ('Arthur')"#])
            #expect(player.id == 1)
            #expect(try Player.fetchOne(db, key: 1)?.score == 100)
            try Pair(a: 1, b: "x", c: 3).insert(db, columns: [Column("b"), Column("a")])
            #expect(try Pair.fetchAll(db) == [Pair(a: 1, b: "x", c: nil)])
            expectError(.SQLITE_MISUSE, "the record has no column \"nickname\" of table player") {
                try player.insert(db, columns: ["nickname"])
            }
        }
    }

    @Test func fetchingWhatWasInserted() throws {
        struct Draft: Codable, PersistableRecord {
            static let databaseTableName = "player"
            var name: String
        }
        try withTables { (db) throws in
            let sql = try emitted(db) { () throws in
                let player = try Draft(name: "Arthur").insertAndFetch(db, as: Player.self)
                #expect(player == Player(id: 1, name: "Arthur", score: 100))
            }
            #expect(sql == [#"INSERT INTO "player" ("name") VALUES ('Arthur') RETURNING *"#])
            let other = try CodablePlayer(id: nil, name: "Barbara", score: 1).insertAndFetch(db, onConflict: .replace)
            #expect(other == CodablePlayer(id: 2, name: "Barbara", score: 1))
        }
    }

    @Test func anotherTable() throws {
        try withTables { (db) throws in
            try db.execute(sql: "CREATE TABLE archive (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
            var player = CodablePlayer(id: nil, name: "Arthur", score: 1)
            #expect(
                try emitted(db) { try player.insert(db, table: "archive") }
                    == [#"INSERT INTO "archive" ("id", "name", "score") VALUES (NULL,'Arthur',1)"#])
            player.score = 2
            try player.update(db, table: "archive")
            #expect(try CodablePlayer.fetchAll(db, table: "archive") == [player])
            #expect(try CodablePlayer.fetchOne(db, key: 1, table: "archive") == player)
            #expect(try CodablePlayer.fetchCount(db) == 0)
            #expect(try player.delete(db, table: "archive"))
        }
    }

    @Test func aTableNameThatChanges() throws {
        // This test alone uses it.
        enum Current { nonisolated(unsafe) static var table = "player" }
        struct Moving: Codable, PersistableRecord {
            static var databaseTableName: String { Current.table }
            var id: Int64
            var name: String
        }
        try withTables { (db) throws in
            try db.execute(sql: "CREATE TABLE second (id INTEGER PRIMARY KEY, name TEXT)")
            try Moving(id: 1, name: "a").insert(db)
            Current.table = "second"
            try Moving(id: 1, name: "a").insert(db)
            Current.table = "player"
            try Moving(id: 2, name: "b").insert(db)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM second") == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 2)
        }
    }

    @Test func viewsWithTriggers() throws {
        struct Named: Codable, MutablePersistableRecord {
            var name: String
            var wasInserted: Bool? = nil
            enum CodingKeys: CodingKey { case name }
            mutating func didInsert(_ inserted: InsertionSuccess) { wasInserted = true }
        }
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    CREATE VIEW named AS SELECT name FROM player;
                    CREATE TRIGGER named_insert INSTEAD OF INSERT ON named WHEN NEW.name <> '' BEGIN
                        INSERT INTO player (name) VALUES (NEW.name);
                    END
                    """)
            var named = Named(name: "Arthur")
            try named.insert(db)
            #expect(named.wasInserted == true)
            var nobody = Named(name: "")
            try nobody.insert(db)
            #expect(nobody.wasInserted == nil)
            #expect(try Player.fetchAll(db) == [Player(id: 1, name: "Arthur", score: 100)])
            expectError(.SQLITE_ERROR, "view named has no primary key") { try named.update(db) }
        }
    }

    @Test func aMissingTable() throws {
        struct Ghost: Codable, PersistableRecord { var id: Int64 }
        try withTables { (db) throws in
            expectError(.SQLITE_ERROR, "no such table: ghost") { try Ghost(id: 1).insert(db) }
        }
    }

    @Test func aRecordThatInsertsAnotherWhileItIsEncoded() throws {
        try withTables { (db) throws in
            try db.execute(sql: "CREATE TABLE log (text TEXT)")
            struct Log: Codable, PersistableRecord { var text: String }
            // A record that inserts another of its type while it is encoded.
            struct Nesting: MutablePersistableRecord {
                static let databaseTableName = "log"
                let db: Database
                var depth: Int
                func encode(to container: inout PersistenceContainer) throws {
                    if depth > 0 {
                        var inner = Nesting(db: db, depth: depth - 1)
                        try inner.insert(db)
                    }
                    container["text"] = "\(depth)"
                }
            }
            for _ in 0..<2 {
                var nesting = Nesting(db: db, depth: 2)
                try nesting.insert(db)
            }
            let texts = try String.fetchAll(db, sql: "SELECT text FROM log WHERE text = '2'")
            #expect(texts.count == 2)
            #expect(try Log.fetchCount(db) >= 6)
        }
    }

    private struct Values: MutablePersistableRecord {
        static let databaseTableName = "none"
        var values: [(String, any DatabaseValueConvertible)]
        var rowIDs: [Int64] = []

        init(_ values: (String, any DatabaseValueConvertible)...) { self.values = values }

        func encode(to container: inout PersistenceContainer) throws {
            for (column, value) in values { container[column] = value.databaseValue }
        }

        mutating func didInsert(_ inserted: InsertionSuccess) { rowIDs.append(inserted.rowID) }
    }

    /// Where there is no rowid, that of an earlier insert isn't told.
    @Test func rowIDsOfWhatHasNone() throws {
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    CREATE VIEW players AS SELECT id, name FROM player;
                    CREATE TRIGGER intoPlayers INSTEAD OF INSERT ON players BEGIN
                        INSERT INTO player (id, name) VALUES (new.id, new.name);
                    END;
                    INSERT INTO player (id, name) VALUES (77, 'earlier');
                    """)
            var country = Values(("code", "FR"), ("name", "France"))
            try country.insert(db, table: "country")
            try country.save(db, table: "country")
            try country.upsert(db, table: "country")
            var view = Values(("id", 5), ("name", "Arthur"))
            try view.insert(db, table: "players")
            #expect(country.rowIDs == [0, 0])
            #expect(view.rowIDs == [0])
            #expect(db.lastInsertedRowID == 77)
        }
    }

    /// Columns may hide all names of the rowid.
    @Test func rowIDsWithoutName() throws {
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE named (rowid TEXT UNIQUE, oid TEXT, _rowid_ TEXT, x INTEGER PRIMARY KEY);
                    CREATE TABLE nameless (rowid TEXT UNIQUE, oid TEXT, _rowid_ TEXT);
                    """)
            for table in ["named", "nameless"] {
                var (a, b) = (Values(("rowid", "a"), ("oid", "1")), Values(("rowid", "b"), ("oid", "2")))
                try a.insert(db, table: table)
                try b.insert(db, table: table)
                try a.upsert(db, table: table)
                #expect(b.rowIDs == [2])
                #expect(a.rowIDs == (table == "named" ? [1, 1] : [1, 0]))
            }
        }
    }

    /// A class learns nothing, but what its callbacks note.
    private final class Item: PersistableRecord, Encodable {
        static let databaseTableName = "player"
        enum Columns {
            static let name = Column("name")
            static let score = Column("score")
        }
        let id: Int64?
        let name: String
        init(id: Int64?, name: String) {
            self.id = id
            self.name = name
        }
    }

    @Test func columnsOfRecordsThatAreConstants() throws {
        try withTables { (db) throws in
            let sql = try emitted(db) { () throws in
                let item = Item(id: 5, name: "Arthur")
                #expect(try item.insertAndFetch(db, selection: [Column("score")]) { try Int.fetchOne($0) } == 100)
                #expect(try item.saveAndFetch(db, selection: [Column("name")]) { try String.fetchOne($0) } == "Arthur")
                let other = Item(id: nil, name: "Barbara")
                let score = try other.insertAndFetch(db) { statement in
                    try Int.fetchOne(statement)
                } select: {
                    [$0.score]
                }
                #expect(score == 100)
            }
            #expect(
                sql.filter { $0.contains("RETURNING") } == [
                    #"INSERT INTO "player" ("id", "name") VALUES (5,'Arthur') RETURNING "score""#,
                    #"UPDATE "player" SET "name"='Arthur' WHERE "id"=5 RETURNING "name""#,
                    #"INSERT INTO "player" ("id", "name") VALUES (NULL,'Barbara') RETURNING "score""#,
                ])
        }
    }

    /// A player whose encoding runs SQL.
    struct Interloper: MutablePersistableRecord {
        static let databaseTableName = "player"
        var id: Int64?
        var run: () throws -> Void = {}

        func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            try run()
            container["name"] = "Interloper"
        }
    }

    @Test(arguments: ["ROLLBACK", "COMMIT"]) func encodingThatEndsTheTransaction(_ sql: String) throws {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.makePlayers() }
        // The first write of a kind is encoded before its statement runs, later ones in the midst of it.
        for verb in ["insert", "update", "delete"] {
            expectError(.SQLITE_ABORT) {
                try queue.write { db in
                    try db.execute(sql: "REPLACE INTO player VALUES (1, 'Arthur'), (2, 'Barbara')")
                    func write(_ record: Interloper) throws {
                        var record = record
                        switch verb {
                        case "insert": try record.insert(db)
                        case "update": try record.update(db)
                        default: try record.delete(db)
                        }
                    }
                    try write(Interloper(id: verb == "insert" ? 3 : 2))
                    try write(Interloper(id: verb == "insert" ? 4 : 1) { try db.execute(sql: sql) })
                }
            }
            try queue.write { db in
                let names = try String.fetchAll(db, sql: "SELECT id || name FROM player ORDER BY id")
                let expected =
                    switch (sql, verb) {
                    case ("ROLLBACK", _): [String]()
                    case (_, "insert"): ["1Arthur", "2Barbara", "3Interloper"]
                    case (_, "update"): ["1Arthur", "2Interloper"]
                    default: ["1Arthur"]
                    }
                #expect(names == expected, "\(verb): nothing is written outside the transaction")
                try db.execute(sql: "DELETE FROM player")
            }
        }
    }
}
