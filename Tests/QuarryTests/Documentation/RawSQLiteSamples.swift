import CSQLite
import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Raw SQLite". `RawSQLiteTests` has the prohibitions.
@Suite struct RawSQLiteSamples {
    let folder: TemporaryFolder
    let dbQueue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, content BLOB);
                    INSERT INTO file (name, content) VALUES ('a', x'0001020304'), ('b', NULL);
                    """)
        }
    }

    @Test func statements() throws {
        let names = ["c", "d"]
        try dbQueue.write { db in
            let statement = try db.makeStatement(sql: "INSERT INTO file (name) VALUES (:name) RETURNING id, name")
            print(statement.isReadonly, statement.columnNames)  // false ["id", "name"]
            for name in names {
                try statement.setArguments(["name": name])
                let rows = try Row.fetchCursor(statement)
                while let row = try rows.next() { print(row) }  // [id:3 name:"c"], [id:4 name:"d"]
            }
            #expect(!statement.isReadonly)
            #expect(statement.columnNames == ["id", "name"])
            #expect(try Row.fetchAll(db, sql: "SELECT id, name FROM file").count == 4)
        }
    }

    @Test func scripts() throws {
        try dbQueue.write { db in
            let script = "CREATE TABLE tag (name TEXT); INSERT INTO tag VALUES ('x'); SELECT name FROM tag"
            let statements = try db.allStatements(sql: script)
            while let statement = try statements.next() {
                let rows = try Row.fetchAll(statement)
                print(statement.sql, rows)
            }

            #expect(try String.fetchAll(db, sql: "SELECT name FROM tag") == ["x"])
        }
    }

    @Test func blobs() throws {
        let pieces: [[UInt8]] = [[1, 2, 3], [4, 5]]
        let size = 5
        let header = try dbQueue.write { db in
            try db.execute(sql: "INSERT INTO file (name, content) VALUES ('c', zeroblob(?))", arguments: [size])
            let blob = try db.openBlob(
                table: "file", column: "content", rowID: db.lastInsertedRowID, readOnly: false)
            for piece in pieces { try blob.write(piece) }
            try blob.seek(to: 0)
            let header = try blob.read(count: 2)  // [1, 2]
            try blob.close()
            return header
        }

        #expect(header == [1, 2])
        let content = try dbQueue.read { db in
            try [UInt8].fetchOne(db, sql: "SELECT content FROM file WHERE name = 'c'")
        }
        #expect(content == [1, 2, 3, 4, 5])
    }

    @Test func serialization() throws {
        let bytes = try dbQueue.read { db in try db.serialize() }
        let copy = try DatabaseQueue()
        try copy.inDatabase { db in try db.deserialize(bytes) }

        #expect(try copy.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM file") } == 2)
    }

    @Test func limits() throws {
        var config = Configuration()
        config.prepareDatabase { db in
            try db.setLimit(.length, to: 10_000_000)  // bytes of a value or row
            try db.setLimit(.attached, to: 0)
        }
        let dbQueue = try DatabaseQueue(configuration: config)

        try dbQueue.writeWithoutTransaction { db in
            #expect(db.limit(.length) == 10_000_000)
            expectError(.SQLITE_ERROR, "too many attached databases - max 0") {
                try db.execute(sql: "ATTACH ':memory:' AS other")
            }
        }
    }

    @Test func traces() throws {
        var lines: [String] = []
        func log(_ line: String) { lines.append(line) }
        try dbQueue.read { db in
            db.trace(options: [.statement, .profile]) { event in
                switch event {
                case .statement(let statement): log(statement.sql)  // SELECT name FROM file WHERE id = ?
                case .profile(_, let duration): log("\(duration) seconds")
                }
            }
            _ = try String.fetchOne(db, sql: "SELECT name FROM file WHERE id = ?", arguments: [1])
            db.trace()  // ends the tracing
            _ = try String.fetchOne(db, sql: "SELECT name FROM file WHERE id = ?", arguments: [2])
        }
        #expect(lines.count == 2)
        #expect(lines.first == "SELECT name FROM file WHERE id = ?")
        #expect(lines.last?.hasSuffix(" seconds") == true)
    }

    @Test func pragmas() throws {
        var config = Configuration()
        config.prepareDatabase { db in
            try db.execute(sql: "PRAGMA threads = 2")
        }
        let dbQueue = try DatabaseQueue(configuration: config)
        let threads = try dbQueue.read { db in try Int.fetchOne(db, sql: "PRAGMA threads") }  // 2
        let options = try dbQueue.read { db in try String.fetchAll(db, sql: "PRAGMA compile_options") }

        #expect(threads == 2)
        #expect(options.contains { $0.hasPrefix("THREADSAFE=") })
    }

    /// A C compiler, if the machine has one.
    static let compiler = ["cc", "clang", "gcc"]
        .flatMap { name in
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static let canCompile = compiler != nil && FileManager.default.fileExists(atPath: "/usr/include/sqlite3ext.h")

    @Test(.enabled(if: canCompile)) func extensions() throws {
        let path = folder.file("a.sqlite")
        let library = folder.file("double.so")
        try #"""
        #include <sqlite3ext.h>
        SQLITE_EXTENSION_INIT1
        static void twice(sqlite3_context *context, int count, sqlite3_value **values) {
            sqlite3_result_int64(context, 2 * sqlite3_value_int64(values[0]));
        }
        int sqlite3_double_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
            SQLITE_EXTENSION_INIT2(api);
            return sqlite3_create_function(db, "twice", 1, SQLITE_UTF8, 0, twice, 0, 0);
        }
        """#.write(toFile: folder.file("double.c"), atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.compiler))
        process.arguments = ["-shared", "-fPIC", "-o", library, folder.file("double.c")]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)

        var config = Configuration()
        config.allowsLoadingExtensions = true
        config.prepareDatabase { db in try db.loadExtension(path: library) }
        let dbQueue = try DatabaseQueue(path: path, configuration: config)

        #expect(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT twice(21)") } == 42)
        expectError(.SQLITE_ERROR, "not authorized") {
            try dbQueue.read { db in _ = try Row.fetchAll(db, sql: "SELECT load_extension(?)", arguments: [library]) }
        }
    }

    @Test func fileSystems() throws {
        let path = folder.file("a.sqlite")
        var config = Configuration()
        config.vfs = "unix-dotfile"
        let dbQueue = try DatabaseQueue(path: path, configuration: config)

        try dbQueue.inTransaction(.immediate) { _ in
            #expect(FileManager.default.fileExists(atPath: path + ".lock"))
            return .commit
        }
        config.vfs = "nowhere"
        expectError(.SQLITE_ERROR) { try DatabaseQueue(path: path, configuration: config) }
    }

    @Test func cFunctions() throws {
        let cacheBytes = try dbQueue.read { db in
            var current: CInt = 0
            var highest: CInt = 0
            sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
            return current
        }
        #expect(cacheBytes > 0)

        try dbQueue.write { db in
            let statement = try db.makeStatement(sql: "SELECT COUNT(*) FROM file WHERE name > ?")
            _ = try Int.fetchOne(statement, arguments: [""])
            let steps = sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)
            #expect(steps == 1)
        }
    }

    @Test func changesByCFunctions() async throws {
        let counts = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM file")!
        }.values(in: dbQueue)
        var iterator = counts.makeAsyncIterator()
        #expect(try await iterator.next() == 2)
        try await dbQueue.write { db in
            sqlite3_exec(db.sqliteConnection, "DELETE FROM file WHERE name = 'a'", nil, nil, nil)
            try db.notifyChanges(in: Table("file"))
        }
        #expect(try await iterator.next() == 1)
    }

    @Test func transactionsByHand() throws {
        try dbQueue.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            try db.execute(sql: "DELETE FROM file")
            try db.execute(sql: "ROLLBACK")
        }

        #expect(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM file") } == 2)
    }
}
