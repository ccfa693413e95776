import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct AttachingTests {
    private func databases(_ db: Database) throws -> [String] {
        try db.attachedDatabases().map { "\($0.name): \($0.path)" }
    }

    @Test func databasesAreAttachedUnderAnyName() throws {
        try withTemporaryFolder { (folder) throws in
            try withConnection(path: "\(folder)/one.sqlite") { (db) throws in
                #expect(try databases(db) == ["main: \(folder)/one.sqlite"])
                for name in ["archive", "a b", "it's", "a\"b", "名前", "order"] {
                    try db.attach("\(folder)/two.sqlite", as: name)
                    #expect(try databases(db).last == "\(name): \(folder)/two.sqlite")
                    try db.execute(
                        sql: "CREATE TABLE IF NOT EXISTS \(name.quotedDatabaseIdentifier).t (a)")
                    try db.detach(name)
                    #expect(try db.attachedDatabases().count == 1)
                }
                try db.attach(":memory:", as: "memory")
                #expect(try databases(db).last == "memory: ")
                try db.attach("file:\(folder)/two.sqlite?mode=ro", as: "two")
                let insert = "INSERT INTO two.t VALUES (1)"
                expectError(.SQLITE_READONLY, "attempt to write a readonly database", sql: insert) {
                    try db.execute(sql: insert)
                }
                try db.execute(sql: "CREATE TABLE memory.copy AS SELECT * FROM two.t")
            }
        }
    }

    @Test func mistakesThrow() throws {
        try withTemporaryFolder { (folder) throws in
            try withConnection { (db) throws in
                let main = #"ATTACH DATABASE ? AS "main""#
                expectError(.SQLITE_ERROR, "database main is already in use", sql: main) {
                    try db.attach(":memory:", as: "main")
                }
                let missing = #"ATTACH DATABASE ? AS "x""#
                expectError(.SQLITE_CANTOPEN, "unable to open database: \(folder)/no/x.sqlite", sql: missing) {
                    try db.attach("\(folder)/no/x.sqlite", as: "x")
                }
                expectError(.SQLITE_CANTOPEN, #"the path has a NUL character: "a\0b""#, sql: nil) {
                    try db.attach("a\0b", as: "x")
                }
                expectError(.SQLITE_MISUSE, #"the name of a schema has a NUL character: "x\0""#, sql: nil) {
                    try db.attach(":memory:", as: "x\0")
                }
                expectError(.SQLITE_CANTOPEN, "unable to open database: \(folder): it is a folder", sql: nil) {
                    try db.attach(folder, as: "x")
                }
                expectError(.SQLITE_ERROR, "no such database: nope", sql: #"DETACH DATABASE "nope""#) {
                    try db.detach("nope")
                }
                expectError(.SQLITE_ERROR, "cannot detach database main", sql: #"DETACH DATABASE "main""#) {
                    try db.detach("main")
                }
                expectError(.SQLITE_MISUSE, #"the name of a schema has a NUL character: "x\0""#, sql: nil) {
                    try db.detach("x\0")
                }
                try db.attach(":memory:", as: "other")
                try db.inTransaction { () throws in
                    expectError(.SQLITE_MISUSE, "ATTACH of database x inside a transaction", sql: nil) {
                        try db.attach(":memory:", as: "x")
                    }
                    expectError(.SQLITE_MISUSE, "DETACH of database other inside a transaction", sql: nil) {
                        try db.detach("other")
                    }
                    return .commit
                }
                try db.execute(sql: "CREATE TABLE other.t (a); INSERT INTO other.t VALUES (1), (2)")
                let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM other.t")
                #expect(try cursor.next() == 1)
                expectError(.SQLITE_ERROR, "database other is locked", sql: #"DETACH DATABASE "other""#) {
                    try db.detach("other")
                }
                #expect(try cursor.next() == 2)
                #expect(try cursor.next() == nil)
                try db.detach("other")
                #expect(try db.attachedDatabases().map(\.name) == ["main"])
            }
        }
    }
}
