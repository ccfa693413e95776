import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// `Configuration.trustedSchema`: the reasons why it is true by default.
@Suite struct TrustedSchemaTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A file whose schema uses functions of the program, and full-text search.
    private func open(trusted: Bool, _ options: DatabaseFunction.Options = []) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.trustedSchema = trusted
        configuration.prepareDatabase { db in
            db.add(function: DatabaseFunction("f", argumentCount: 1, pure: true, options: options) { $0[0] })
        }
        return try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
    }

    /// SQLite reads these definitions when it opens the file.
    @Test(arguments: [
        "CREATE TABLE t (a CHECK (f(a) = a))", "CREATE TABLE t (a); CREATE INDEX ofF ON t (f(a))",
        "CREATE TABLE t (a, b AS (f(a)))",
    ]) func functionsInTables(_ definition: String) throws {
        do { try open(trusted: true).write { db in try db.execute(sql: definition) } }
        let error = expectError(.SQLITE_CORRUPT) { try open(trusted: false) }
        #expect(error?.message?.hasPrefix("malformed database schema") ?? false)
        #expect(error?.message?.hasSuffix("unsafe use of f()") ?? false)
        let queue = try open(trusted: false, .innocuous)
        try queue.write { db in try db.execute(sql: "INSERT INTO t (a) VALUES (1)") }
    }

    /// A pool's pragma, or one of the configuration, reads the schema before the function is added.
    @Test func schemaThatIsReadBeforeFunctionsAreAdded() throws {
        do {
            try open(trusted: true).write { db in try db.execute(sql: "CREATE TABLE t (a CHECK (f(a) = a))") }
        }
        var configuration = Configuration()
        configuration.trustedSchema = false
        configuration.defensive = true
        configuration.cacheSize = 1 << 20
        configuration.synchronous = .normal
        configuration.prepareDatabase { db in
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema")
            #expect(count == 1)
            db.add(function: DatabaseFunction("f", argumentCount: 1, pure: true) { $0[0] })
        }
        let path = folder.file("a.sqlite")
        for open in [
            { _ = try DatabaseQueue(path: path, configuration: configuration) },
            { _ = try DatabasePool(path: path, configuration: configuration) },
        ] {
            let error = expectError(.SQLITE_CORRUPT) { try open() }
            #expect(error?.message?.contains("unsafe use of f()") ?? false)
        }
    }

    @Test func functionsInViewsAndTriggers() throws {
        do {
            try open(trusted: true).write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE t (a);
                        CREATE TRIGGER calls AFTER INSERT ON t BEGIN SELECT f(new.a); END;
                        CREATE VIEW v AS SELECT f(a) AS a FROM t;
                        """)
            }
        }
        let untrusting = try open(trusted: false)
        try untrusting.writeWithoutTransaction { db in
            for sql in ["INSERT INTO t VALUES (1)", "SELECT a FROM v"] {
                expectError(.SQLITE_ERROR, "unsafe use of f()") { try db.execute(sql: sql) }
            }
            let value = try Int.fetchOne(db, sql: "SELECT f(1)")
            #expect(value == 1)
        }
        try untrusting.close()
        let values = try open(trusted: false, .innocuous).write { db in
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            return try Int.fetchAll(db, sql: "SELECT a FROM v")
        }
        #expect(values == [2])
    }

    /// The reason why the setting isn't off by default: SQLite 3.40.1 refuses each write to a synchronized table.
    @Test func synchronizedFullText() throws {
        try open(trusted: true).write { db in
            try db.create(table: "book") { t in
                t.primaryKey("id", .integer)
                t.column("title", .text)
            }
            try db.create(virtualTable: "book_ft", using: FTS5()) { t in
                t.synchronize(withTable: "book")
                t.column("title")
            }
            try db.execute(sql: "INSERT INTO book (title) VALUES ('Moby-Dick')")
        }
        try open(trusted: false).write { db in
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM book_ft WHERE book_ft MATCH 'moby'")
            #expect(count == 1)
            guard Database.sqliteLibVersionNumber == 3_040_001 else { return }
            expectError(.SQLITE_ERROR, "unsafe use of virtual table \"book_ft\"") {
                try db.execute(sql: "INSERT INTO book (title) VALUES ('Omoo')")
            }
        }
    }
}
