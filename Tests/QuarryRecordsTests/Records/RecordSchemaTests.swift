import Quarry
import QuarryCaching
import QuarryTestSupport
import Testing

/// Changes of the schema under statements that are kept.
@Suite("Records and schema changes") struct RecordSchemaTests {
    struct Wide: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "wide"
        var id: Int64
        var name: String
        var nickname: String?
    }

    @Test func aColumnIsAddedByAnotherConnection() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabasePool(path: folder.file("a.sqlite")), try DatabaseQueue(path: folder.file("a.sqlite"))
        )
        try first.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO wide VALUES (1, 'a')")
            let sql = try emitted(db) { try Wide(id: 1, name: "b", nickname: "n").update(db) }
            #expect(sql == [#"UPDATE "wide" SET "name"='b' WHERE "id"=1"#])
        }
        #expect(try first.read { db in try Wide.fetchOne(db, key: 1) } == Wide(id: 1, name: "b", nickname: nil))
        try second.write { (db) throws in try db.execute(sql: "ALTER TABLE wide ADD COLUMN nickname TEXT") }
        try first.write { (db) throws in
            let sql = try emitted(db) { try Wide(id: 1, name: "c", nickname: "n").update(db) }
            #expect(sql == [#"UPDATE "wide" SET "name"='c', "nickname"='n' WHERE "id"=1"#])
        }
        #expect(try first.read { db in try Wide.fetchOne(db, key: 1) } == Wide(id: 1, name: "c", nickname: "n"))
        try second.write { (db) throws in try db.execute(sql: "ALTER TABLE wide DROP COLUMN nickname") }
        #expect(try first.read { db in try Wide.fetchOne(db, key: 1) } == Wide(id: 1, name: "c", nickname: nil))
        try first.write { (db) throws in try Wide(id: 1, name: "d", nickname: "n").update(db) }
        #expect(try first.read { db in try Wide.fetchOne(db, key: 1)?.name } == "d")
    }

    @Test func columnsAreReordered() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabaseQueue(path: folder.file("a.sqlite")), try DatabaseQueue(path: folder.file("a.sqlite"))
        )
        let record = Wide(id: 1, name: "a", nickname: "b")
        try first.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT)")
            try record.insert(db)
            #expect(try Wide.fetchOne(db, key: 1) == record)
        }
        try second.write { (db) throws in
            try db.execute(sql: "DROP TABLE wide; CREATE TABLE wide (nickname TEXT, name TEXT, id INTEGER PRIMARY KEY)")
        }
        try first.write { (db) throws in
            try record.insert(db)
            #expect(try Wide.fetchOne(db, key: 1) == record)
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM wide") == ["nickname": "b", "name": "a", "id": 1])
        }
    }

    @Test func theKeyMoves() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabaseQueue(path: folder.file("a.sqlite")), try DatabaseQueue(path: folder.file("a.sqlite"))
        )
        try first.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT)")
            try Wide(id: 1, name: "a").insert(db)
            try Wide(id: 1, name: "b").update(db)
            #expect(try Wide.fetchOne(db, key: 1)?.name == "b")
        }
        try second.write { (db) throws in
            try db.execute(
                sql: """
                    DROP TABLE wide;
                    CREATE TABLE wide (id INTEGER, name TEXT PRIMARY KEY NOT NULL, nickname TEXT);
                    INSERT INTO wide VALUES (1, 'a', NULL)
                    """)
        }
        try first.write { (db) throws in
            #expect(try Wide.fetchOne(db, key: "a") == Wide(id: 1, name: "a"))
            let sql = try emitted(db) { try Wide(id: 2, name: "a", nickname: "n").update(db) }
            #expect(sql == [#"UPDATE "wide" SET "id"=2, "nickname"='n' WHERE "name"='a'"#])
            #expect(try Wide(id: 0, name: "a").delete(db))
        }
    }

    @Test func theSameConnectionChangesTheTable() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO wide VALUES (1, 'a')")
            let record = Wide(id: 1, name: "b", nickname: "n")
            try record.update(db)
            try db.execute(sql: "ALTER TABLE wide ADD COLUMN nickname TEXT")
            try record.update(db)
            #expect(try Wide.fetchOne(db, key: 1) == record)
            try db.inSavepoint { () throws in
                try db.execute(sql: "ALTER TABLE wide DROP COLUMN nickname")
                try record.update(db)
                #expect(try Wide.fetchOne(db, key: 1) == Wide(id: 1, name: "b"))
                return .rollback
            }
            try record.update(db)
            #expect(try Wide.fetchOne(db, key: 1) == record)
            try db.execute(sql: "DROP TABLE wide")
            expectError(.SQLITE_ERROR, "no such table: wide") { try record.update(db) }
            expectError(.SQLITE_ERROR, "no such table: wide") { try record.insert(db) }
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT) STRICT")
            try record.insert(db)
            #expect(try record.exists(db))
        }
    }

    /// The unique keys of a table are read once, and again after a change of the schema.
    @Test func uniqueKeysAreRemembered() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabasePool(path: folder.file("a.sqlite")), try DatabaseQueue(path: folder.file("a.sqlite"))
        )
        let key: [String: (any DatabaseValueConvertible)?] = ["nickname": "n", "name": "a"]
        let select = #"SELECT * FROM "wide" WHERE ("name" = 'a') AND ("nickname" = 'n')"#
        try first.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT)")
            try db.execute(sql: "CREATE UNIQUE INDEX names ON wide (name, nickname)")
            try Wide(id: 1, name: "a", nickname: "n").insert(db)
        }
        let accesses: [((Database) throws -> Void) throws -> Void] = [
            first.write, first.writeWithoutTransaction, first.read, first.unsafeRead,
        ]
        for access in accesses {
            try access { (db) throws in
                _ = try Wide.fetchOne(db, key: key)
                let sql = try emitted(db, includingSchemaReads: true) { () throws in
                    for _ in 0..<3 { #expect(try Wide.fetchOne(db, key: key)?.id == 1) }
                }
                #expect(sql == [select, select, select])
            }
        }
        let message = #"table wide has no unique key on "name", "nickname""#
        try second.write { (db) throws in try db.execute(sql: "DROP INDEX names") }
        for access in accesses {
            try access { (db) throws in expectError(.SQLITE_MISUSE, message) { try Wide.fetchOne(db, key: key) } }
        }
        // Between two lookups of one access.
        try first.unsafeRead { (db) throws in
            expectError(.SQLITE_MISUSE, message) { try Wide.fetchOne(db, key: key) }
            try second.write { (db) throws in try db.execute(sql: "CREATE UNIQUE INDEX names ON wide (name, nickname)")
            }
            #expect(try Wide.fetchOne(db, key: key)?.id == 1)
        }
        try first.write { (db) throws in
            #expect(try Wide.fetchOne(db, key: key)?.id == 1)
            try db.inSavepoint { () throws in
                try db.execute(sql: "DROP INDEX names")
                expectError(.SQLITE_MISUSE, message) { try Wide.fetchOne(db, key: key) }
                return .rollback
            }
            #expect(try Wide.fetchOne(db, key: key)?.id == 1)
        }
    }

    @Test func plansEndWithTheConnection() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"))
        try queue.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT)")
            let record = Wide(id: 1, name: "a")
            try record.insert(db)
            db.releaseMemory()
            #expect(try record.delete(db))
            try record.insert(db)
            #expect(try Wide.fetchOne(db, key: 1) == record)
        }
        try queue.close()
        #expect(throws: DatabaseError.self) { try queue.write { (db) throws in try Wide(id: 1, name: "a").insert(db) } }
    }

    @Test func keysOfViews() throws {
        struct ViewKeys: DatabaseSchemaSource {
            let column: String
            func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
                view.name == "wide" ? [column] : nil
            }
        }
        var configuration = Configuration()
        configuration.schemaSource = ViewKeys(column: "id")
        try DatabaseQueue(configuration: configuration).write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE hidden (id INTEGER PRIMARY KEY, name TEXT UNIQUE, nickname TEXT);
                    CREATE VIEW wide AS SELECT * FROM hidden;
                    CREATE TRIGGER w INSTEAD OF UPDATE ON wide BEGIN
                        UPDATE hidden SET name = NEW.name, nickname = NEW.nickname WHERE id = OLD.id;
                    END;
                    INSERT INTO hidden VALUES (1, 'a', NULL);
                    """)
            let record = Wide(id: 1, name: "a", nickname: "n")
            let sql = try emitted(db) { () throws in
                try record.update(db)
                #expect(try Wide.fetchOne(db, key: 1) == record)
            }
            #expect(sql[0] == #"UPDATE "wide" SET "name"='a', "nickname"='n' WHERE "id"=1"#)
            #expect(sql.last == #"SELECT * FROM "wide" WHERE "id" = 1"#)
            try db.withSchemaSource(ViewKeys(column: "name")) { () throws in
                #expect(try Wide.fetchOne(db, key: "a") == record)
                #expect(try Wide.fetchOne(db, key: ["name": "a"]) == record)
            }
            expectError(.SQLITE_ERROR, "view wide has no primary key") {
                try db.withSchemaSource(nil) { try record.update(db) }
            }
            #expect(try Wide.fetchOne(db, key: 1) == record)
        }
    }

    @Test func deletionsFromViewsAreCounted() throws {
        struct ViewKeys: DatabaseSchemaSource {
            func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { ["id"] }
        }
        struct WideID: TableRecord, Identifiable {
            static let databaseTableName = "wide"
            var id: Int64
        }
        var configuration = Configuration()
        configuration.schemaSource = ViewKeys()
        try DatabaseQueue(configuration: configuration).write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE hidden (id INTEGER PRIMARY KEY, name TEXT UNIQUE, nickname TEXT);
                    CREATE VIEW wide AS SELECT * FROM hidden;
                    CREATE TRIGGER d INSTEAD OF DELETE ON wide WHEN OLD.name <> 'kept' BEGIN
                        DELETE FROM hidden WHERE id = OLD.id;
                    END;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40000)
                    INSERT INTO hidden SELECT i, iif(i = 7, 'kept', 'n' || i), NULL FROM n;
                    """)
            let sql = try emitted(db) { () throws in
                #expect(try Wide.deleteOne(db, key: 1))
                #expect(try !Wide.deleteOne(db, key: 1))
                #expect(try Wide.deleteOne(db, key: ["id": 2]))
                #expect(try Wide.deleteAll(db, keys: [1, 2, 3, 4]) == 2)
                #expect(try Wide.deleteAll(db, keys: [["id": 5], ["id": 5], ["id": 50_000]]) == 1)
                #expect(try WideID.deleteOne(db, id: 6))
                #expect(try WideID.deleteAll(db, ids: [6, 7, 8]) == 1)
            }
            #expect(
                sql.filter { $0.hasPrefix("DELETE") } == [
                    #"DELETE FROM "wide" WHERE "id" = 1"#, #"DELETE FROM "wide" WHERE "id" = 1"#,
                    #"DELETE FROM "wide" WHERE "id" = 2"#, #"DELETE FROM "wide" WHERE "id" IN (1, 2, 3, 4)"#,
                    #"DELETE FROM "wide" WHERE ("id" = 5) OR ("id" = 5) OR ("id" = 50000)"#,
                    #"DELETE FROM "wide" WHERE "id" = 6"#, #"DELETE FROM "wide" WHERE "id" IN (6, 7, 8)"#,
                ])
            // More keys than a statement takes arguments: their counts are added.
            #expect(try Wide.deleteAll(db, keys: 1...50_000) == 40_000 - 8)
            #expect(try Wide.fetchAll(db).map(\.name) == ["kept"])
            #expect(try !Wide.deleteOne(db, key: 7))
            #expect(try Wide.deleteAll(db) == 0)
        }
    }

    @Test func columnsThatAreCalledLikeTheRowid() throws {
        struct Odd: Codable, FetchableRecord, PersistableRecord, Equatable {
            var rowid: String
            var oid: Int?
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE odd (rowid TEXT UNIQUE, oid INTEGER)")
            let record = Odd(rowid: "a", oid: 5)
            try record.insert(db)
            let sql = try emitted(db) { () throws in
                #expect(try Odd.fetchOne(db, key: 1) == record)
                #expect(try record.upsertAndFetch(db) == record)
            }
            #expect(
                sql == [
                    #"SELECT * FROM "odd" WHERE "_rowid_" = 1"#,
                    #"INSERT INTO "odd" ("rowid", "oid") VALUES ('a',5) ON CONFLICT DO UPDATE SET "#
                        + #""rowid" = "excluded"."rowid", "oid" = "excluded"."oid" RETURNING *, "_rowid_""#,
                ])
            try db.execute(sql: "CREATE TABLE odder (rowid TEXT, oid INTEGER, _rowid_ INTEGER)")
            try record.insert(db, table: "odder")
            #expect(try Odd.fetchAll(db, table: "odder") == [record])
            expectError(.SQLITE_MISUSE, "table odder has no primary key") {
                try Odd.fetchOne(db, key: 1, table: "odder")
            }
        }
    }

    @Test func anotherConnectionChangesAnAttachedDatabase() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabaseQueue(path: folder.file("a.sqlite")), try DatabaseQueue(path: folder.file("b.sqlite"))
        )
        try second.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO wide VALUES (1, 'a')")
        }
        let record = Wide(id: 1, name: "b", nickname: "n")
        try first.writeWithoutTransaction { (db) throws in
            try db.execute(sql: "ATTACH ? AS b", arguments: [folder.file("b.sqlite")])
        }
        try first.write { (db) throws in
            try record.update(db)
            #expect(try Wide.fetchOne(db, key: 1) == Wide(id: 1, name: "b"))
        }
        try first.write { (db) throws in try record.update(db) }
        try second.write { (db) throws in try db.execute(sql: "ALTER TABLE wide ADD COLUMN nickname TEXT") }
        try first.write { (db) throws in
            try record.update(db)
            #expect(try Wide.fetchOne(db, key: 1) == record)
        }
    }

    private struct Item: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "item"
        var id: Int64
        var v: Int64?
    }

    /// The ways to find a row by its key; each returns whether the row exists.
    private enum KeyVerb: CaseIterable {
        case fetchOne, find, exists, fetchAll, deleteOne, cached, insert

        func run(_ pool: DatabasePool, _ cache: CachedTable<Item>) throws -> Bool {
            switch self {
            case .fetchOne: try pool.read { db in try Item.fetchOne(db, key: 3) != nil }
            case .find: try pool.read { db in try Item.find(db, key: 3).id == 3 }
            case .exists: try pool.read { db in try Item.exists(db, key: 3) }
            case .fetchAll: try pool.read { db in try Item.fetchAll(db, keys: [3, 4]).count == 1 }
            case .deleteOne: try pool.write { db in try Item.deleteOne(db, key: 3) }
            case .cached: try cache.fetchOne(key: 3) != nil
            // Refused by the columns, not by the key.
            case .insert:
                try pool.write { db in
                    try Item(id: 4, v: 5).insert(db, columns: ["id", "v"])
                    return true
                }
            }
        }
    }

    private static let refusedKeys = [
        "CREATE TABLE item (id INT, v INT, PRIMARY KEY (id, v))", "CREATE VIEW item AS SELECT 3 AS id, 4 AS v",
        "CREATE TABLE item (id INT, v INT, rowid, oid, _rowid_)",
    ]

    /// Neither a refusal of a key nor its acceptance survives the change of the schema by another connection.
    @Test(arguments: refusedKeys, [true, false])
    func keyIsJudgedByTheCurrentSchema(_ refused: String, isRefusedFirst: Bool) throws {
        let accepted = "CREATE TABLE item (id INTEGER PRIMARY KEY, v INT)"
        // A record that is kept may be found until the other connection's commit is noticed.
        for verb in KeyVerb.allCases where verb != .insert && (isRefusedFirst || verb != .cached) {
            let folder = try TemporaryFolder()
            var configuration = Configuration()
            configuration.maximumReaderCount = 1
            let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
            let cache = CachedTable<Item>(pool)
            let other = try DatabaseQueue(path: folder.file("a.sqlite"))
            var definitions = [refused, accepted]
            if !isRefusedFirst { definitions.reverse() }
            for (index, definition) in definitions.enumerated() {
                try other.write { db in
                    if index == 1 { try db.execute(sql: "DROP \(definitions[0].split(separator: " ")[1]) item") }
                    try db.execute(sql: definition)
                    if !definition.contains("VIEW") { try db.execute(sql: "INSERT INTO item (id, v) VALUES (3, 4)") }
                }
                for _ in 0..<2 where verb != .deleteOne || definition != accepted {
                    if definition == accepted {
                        #expect(try verb.run(pool, cache), "\(verb)")
                    } else {
                        #expect(throws: DatabaseError.self, "\(verb)") { try verb.run(pool, cache) }
                    }
                }
                if verb == .deleteOne, definition == accepted { #expect(try verb.run(pool, cache)) }
            }
        }
    }

    /// The column that was the key no longer exists.
    @Test func keyIsAnotherColumnInAnotherConnectionsTable() throws {
        for verb in KeyVerb.allCases where verb != .insert {
            let folder = try TemporaryFolder()
            let pool = try DatabasePool(path: folder.file("a.sqlite"))
            let cache = CachedTable<Item>(pool)
            let other = try DatabaseQueue(path: folder.file("a.sqlite"))
            try other.write { db in
                try db.execute(
                    sql: "CREATE TABLE item (x INTEGER PRIMARY KEY, id, v); INSERT INTO item VALUES (3, 3, 4)")
            }
            #expect(try verb.run(pool, cache), "\(verb)")
            try other.write { db in
                try db.execute(
                    sql:
                        "DROP TABLE item; CREATE TABLE item (id INTEGER PRIMARY KEY, v); INSERT INTO item VALUES (3, 4)"
                )
            }
            #expect(try verb.run(pool, cache), "\(verb)")
        }
    }

    /// A column that the table lacks is refused before a statement is prepared.
    @Test func columnIsAddedByAnotherConnectionBeforeItIsWritten() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let cache = CachedTable<Item>(pool)
        let other = try DatabaseQueue(path: folder.file("a.sqlite"))
        try other.write { db in try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY)") }
        expectError(.SQLITE_ERROR, "table item has no column named v") { try KeyVerb.insert.run(pool, cache) }
        try other.write { db in try db.execute(sql: "ALTER TABLE item ADD COLUMN v") }
        #expect(try KeyVerb.insert.run(pool, cache))
    }

    @Test func anotherThreadIsRefused() throws {
        // Sendable: the test uses it where it refuses to be used.
        struct Escaped: @unchecked Sendable { let db: Database }
        let queue = try DatabaseQueue()
        let escaped = try queue.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT)")
            return Escaped(db: db)
        }
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.") {
            try Wide(id: 1, name: "a").insert(escaped.db)
        }
    }
}
