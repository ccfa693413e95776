import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("What is known of the schema stays true")
struct SchemaCacheTests {
    /// The statements of an access, but for those that begin and end it.
    private func statements(_ db: Database, _ body: (Database) throws -> Void) throws -> [String] {
        try emitted(db, includingSchemaReads: true) { try body(db) }
    }

    @Test func nothingIsReadTwice() throws {
        try withTemporaryFolder { folder in
            let dbPool = try DatabasePool(path: folder + "/db.sqlite")
            try dbPool.write { db in
                try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY REFERENCES t, a UNIQUE)")
            }
            func readAll(_ db: Database) throws {
                _ = try db.primaryKey("t")
                _ = try db.columns(in: "T")
                _ = try db.indexes(on: "t")
                _ = try db.foreignKeys(on: "t")
                _ = try db.tableExists("t")
            }
            try dbPool.read { (db) throws in
                #expect(try statements(db, readAll).count > 5)
                #expect(try statements(db, readAll) == [])
            }
            // The file is the one that was read: nothing runs.
            try dbPool.read { (db) throws in #expect(try statements(db, readAll) == []) }
            try dbPool.write { (db) throws in
                #expect(try statements(db, readAll).count > 5)
                #expect(try statements(db, readAll) == [])
                try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
                #expect(try statements(db, readAll) == [])
            }
            // After a commit the number of the schema's state is asked for, once.
            try dbPool.read { (db) throws in
                #expect(try statements(db, readAll) == ["PRAGMA schema_version"])
                #expect(try statements(db, readAll) == [])
            }
            try dbPool.read { (db) throws in #expect(try statements(db, readAll) == []) }
            try dbPool.write { (db) throws in
                #expect(try statements(db, readAll) == ["PRAGMA schema_version"])
                #expect(try statements(db, readAll) == [])
            }
            // Accesses that don't ask run nothing more.
            try dbPool.write { db in
                let run = try statements(db) { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t") }
                #expect(run == ["SELECT count(*) FROM t"])
            }
        }
    }

    @Test func changesByThisConnection() throws {
        try withConnection { db in
            #expect(try !db.tableExists("t"))
            try db.execute(sql: "CREATE TABLE t (a)")
            #expect(try db.columns(in: "t").map(\.name) == ["a"])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
            #expect(try db.columns(in: "t").map(\.name) == ["a", "b"])
            try db.inTransaction {
                try db.execute(sql: "ALTER TABLE t ADD COLUMN c")
                #expect(try db.columns(in: "t").map(\.name) == ["a", "b", "c"])
                return .rollback
            }
            #expect(try db.columns(in: "t").map(\.name) == ["a", "b"])
            // SQLite gives this state the number that the one before had.
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN b TO d")
            #expect(try db.columns(in: "t").map(\.name) == ["a", "d"])
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "CREATE TABLE u (x)")
                    #expect(try db.tableExists("u"))
                    return .rollback
                }
                #expect(try !db.tableExists("u"))
                try db.execute(sql: "CREATE TABLE u (y)")
                #expect(try db.columns(in: "u").map(\.name) == ["y"])
                return .commit
            }
            #expect(try db.columns(in: "u").map(\.name) == ["y"])
            try db.execute(sql: "CREATE TEMP TABLE u (z)")
            #expect(try db.columns(in: "u").map(\.name) == ["z"])
            try db.execute(sql: "DROP TABLE u")
            #expect(try db.columns(in: "u").map(\.name) == ["y"])
        }
    }

    @Test func attachedDatabases() throws {
        try withTemporaryFolder { folder in
            for name in ["a", "b"] {
                try DatabaseQueue(path: "\(folder)/\(name)").write { db in
                    try db.execute(sql: "CREATE TABLE t (\(name))")
                }
            }
            try withConnection { db in
                for name in ["a", "b", "a"] {
                    try db.execute(sql: "ATTACH '\(folder)/\(name)' AS x")
                    #expect(try db.columns(in: "t").map(\.name) == [name])
                    // Others change it.
                    try DatabaseQueue(path: "\(folder)/\(name)").write { db in
                        try db.execute(sql: "CREATE TABLE IF NOT EXISTS u (a)")
                    }
                    #expect(try db.tableExists("u"))
                    try db.execute(sql: "DETACH x")
                    #expect(try !db.tableExists("t"))
                }
            }
        }
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool])
    func changesByOtherConnections(kind: WriterKind) throws {
        let folder = try TemporaryFolder()
        do {
            let writer = try kind.make(folder)
            let other = try kind.make(folder)
            func names(_ db: Database) throws -> [String] { try db.columns(in: "t").map(\.name) }
            try writer.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
            #expect(try writer.read(names) == ["a"])
            #expect(try other.read(names) == ["a"])
            #expect(try writer.write(names) == ["a"])
            try other.write { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN b") }
            #expect(try writer.read(names) == ["a", "b"])
            #expect(try writer.write(names) == ["a", "b"])
            // Outside a transaction, between two calls.
            try writer.writeWithoutTransaction { db in
                #expect(try names(db) == ["a", "b"])
                try other.write { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN c") }
                #expect(try names(db) == ["a", "b", "c"])
                try other.write { db in try db.execute(sql: "DROP TABLE t") }
                expectError(.SQLITE_ERROR, "no such table: t") { try names(db) }
            }
        }
    }

    @Test func aTransactionSeesItsOwnState() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/db.sqlite"
            let dbPool = try DatabasePool(path: path)
            try dbPool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
            try dbPool.read { db in
                try dbPool.write { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN b") }
                // Read for the first time now, in the state of the transaction.
                #expect(try db.columns(in: "t").map(\.name) == ["a"])
            }
            try dbPool.read { (db) throws in #expect(try db.columns(in: "t").map(\.name) == ["a", "b"]) }
        }
    }

    @Test func replacedDatabases() throws {
        try withConnection { other in
            try other.execute(sql: "CREATE TABLE t (other)")
            let bytes = try other.serialize()
            try withConnection { db in
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(try db.columns(in: "t").map(\.name) == ["a"])
                try db.deserialize(bytes)
                #expect(try db.columns(in: "t").map(\.name) == ["other"])
                try other.execute(sql: "DROP TABLE t; CREATE TABLE t (third)")
                try other.backup(to: db)
                #expect(try db.columns(in: "t").map(\.name) == ["third"])
            }
        }
    }

    @Test func clearing() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            _ = try db.columns(in: "t")
            db.clearSchemaCache()
            let run = try statements(db) { db in _ = try db.columns(in: "t") }
            #expect(run.contains("PRAGMA \"main\".table_xinfo(\"t\")"))
        }
    }

    @Test func randomChangesByTwoConnections() throws {
        var random = SeededGenerator()
        print("SchemaCacheTests.randomChangesByTwoConnections seed: \(random.seed)")
        let folder = try TemporaryFolder(isFast: true)
        let queues = try [0, 1].map { _ in try DatabaseQueue(path: folder.file("db.sqlite")) }
        func real(_ db: Database) throws -> [String] {
            try String.fetchAll(
                db, sql: "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c ORDER BY 1")
        }
        func known(_ db: Database) throws -> [String] {
            try (0..<4).flatMap { number -> [String] in
                guard try db.tableExists("t\(number)") else { return [] }
                return try db.columns(in: "t\(number)").map { "t\(number).\($0.name)" }
            }.sorted()
        }
        for step in 0..<300 {
            let queue = queues.randomElement(using: &random)!
            let table = "t\(Int.random(in: 0..<4, using: &random))"
            let commits = Bool.random(using: &random)
            let looksInside = Bool.random(using: &random)
            let drops = Bool.random(using: &random)
            try queue.writeWithoutTransaction { db in
                try db.inTransaction {
                    let sql = drops ? "DROP TABLE IF EXISTS \(table)" : "CREATE TABLE IF NOT EXISTS \(table) (c\(step))"
                    try db.execute(sql: sql)
                    if looksInside { #expect(try known(db) == real(db), "step \(step), seed \(random.seed)") }
                    return commits ? .commit : .rollback
                }
            }
            for queue in queues where Bool.random(using: &random) {
                try queue.read { (db) throws in #expect(try known(db) == real(db), "step \(step), seed \(random.seed)")
                }
            }
        }
    }
}
