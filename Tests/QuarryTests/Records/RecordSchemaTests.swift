import Quarry
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
            #expect(databaseFailure { try record.update(db) }?.message == "no such table: wide")
            #expect(databaseFailure { try record.insert(db) }?.message == "no such table: wide")
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT) STRICT")
            try record.insert(db)
            #expect(try record.exists(db))
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

    @Test func anotherThreadIsRefused() throws {
        // Sendable: the test uses it where it refuses to be used.
        struct Escaped: @unchecked Sendable { let db: Database }
        let queue = try DatabaseQueue()
        let escaped = try queue.write { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, name TEXT, nickname TEXT)")
            return Escaped(db: db)
        }
        let error = databaseFailure { try Wide(id: 1, name: "a").insert(escaped.db) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "Database was used outside of its access.")
    }
}
