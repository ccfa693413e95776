import Foundation
import Quarry
import QuarryTestSupport
import QuarryUntrustedSQL
import Testing

@testable import QuarryAccess

/// The attacks of the article "Security".
@Suite struct SecurityTests {
    typealias Note = SecuritySamples.Note

    let folder: TemporaryFolder
    let dbQueue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, author TEXT, title TEXT);
                    INSERT INTO note VALUES (1, 'arthur', 'a'), (2, 'barbara', 'b'), (3, 'eve', 'c');
                    """)
        }
    }

    /// Texts that change SQL if they become a part of it.
    static let attacks = [
        "' OR 1 --", "' OR '1'='1", "a'; DROP TABLE note; --", "\" OR 1 --", "'; PRAGMA writable_schema = ON; --",
        "' UNION SELECT sql, 1, 1 FROM sqlite_schema --", "a\u{0}' OR 1 --", "?1", ":title", "' || (SELECT 1) || '",
        "\u{2019} OR 1 --", "/*", "]; DELETE FROM note; --", "`; DELETE FROM note", "\\' OR 1 --",
        String(repeating: "'", count: 10_001),
    ]

    private func expectUnchanged(_ db: Database, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let notes = try String.fetchAll(db, sql: "SELECT author || title FROM note ORDER BY id")
        #expect(notes == ["arthura", "barbarab", "evec"], sourceLocation: sourceLocation)
        let objects = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema")
        #expect(objects == ["note"], sourceLocation: sourceLocation)
    }

    // MARK: - Values

    @Test(arguments: attacks) func valuesNeverBecomeSQL(_ attack: String) throws {
        try dbQueue.write { db in
            let request: SQLRequest<Note> = "SELECT * FROM note WHERE title = \(attack) OR author IN \([attack])"
            #expect(try request.fetchAll(db).isEmpty)
            #expect(try Note.filter { $0.title == attack || [attack].contains($0.author) }.fetchAll(db).isEmpty)
            // In SQLite, a pattern of LIKE ends at a NUL.
            let matched = try Note.filter { $0.title.like(attack, escape: "\\") }.fetchAll(db)
            #expect(matched.map(\.title) == (attack.hasPrefix("a\u{0}") ? ["a"] : []))
            #expect(try Note.filter(sql: "title = :title", arguments: ["title": attack]).fetchAll(db).isEmpty)
            #expect(try Note.filter(literal: "title = \(attack)").fetchAll(db).isEmpty)
            #expect(try Note.fetchOne(db, key: ["title": attack, "id": 1]) == nil)
            try Note.filter { $0.title == attack }.updateAll(db) { [$0.author.set(to: attack)] }
            try db.execute(literal: "DELETE FROM note WHERE title = \(attack)")
            try expectUnchanged(db)

            // It is stored and read as it is.
            try Note(id: 4, author: attack, title: "d").insert(db)
            #expect(try Note.fetchOne(db, key: 4)?.author == attack)
            try Note.deleteOne(db, key: 4)
            try expectUnchanged(db)
        }
    }

    @Test(arguments: attacks) func namesAreQuoted(_ attack: String) throws {
        try dbQueue.write { db in
            let quoted = "\"" + attack.replacing("\"", with: "\"\"") + "\""
            let literal: SQL = "SELECT \(identifier: attack) FROM note"
            if attack.contains("\u{0}") {
                // SQL text ends at a NUL, so such a name is refused rather than cut.
                expectError(DatabaseError.self) { try Row.fetchAll(db, SQLRequest<Row>(literal: literal)) }
            } else {
                #expect(try literal.build(db).sql == "SELECT \(quoted) FROM note")
            }
            // No column has that name. A name in double quotes is never a text.
            expectError(DatabaseError.self) { try Note.order(Column(attack)).fetchAll(db) }
            expectError(DatabaseError.self) { try Note.filter(Column(attack) == 1).fetchAll(db) }
            expectError(DatabaseError.self) { try Table(attack).fetchAll(db) }
            expectError(DatabaseError.self) { try Note.fetchOne(db, key: [attack: 1]) }
            try expectUnchanged(db)
        }
    }

    @Test(arguments: attacks) func namesOfSchemaDefinitionsAreQuoted(_ attack: String) throws {
        try dbQueue.write { db in
            try? db.inSavepoint {
                try db.create(table: attack) { t in
                    t.column(attack, .text).defaults(to: attack)
                }
                try db.execute(literal: "INSERT INTO \(identifier: attack) DEFAULT VALUES")
                let request: SQLRequest<String> = "SELECT \(identifier: attack) FROM \(identifier: attack)"
                let stored = try request.fetchOne(db)
                #expect(stored == attack)
                try db.drop(table: attack)
                return .commit
            }
            try expectUnchanged(db)
        }
    }

    /// The parts that take SQL as a `String` run it.
    @Test func textsOfSQLAreRun() throws {
        try dbQueue.write { (db) throws in
            let attack = "1 = 1"
            #expect(try Note.filter(sql: "title = 'x' OR \(attack)").fetchCount(db) == 3)
            let literal: SQL = "SELECT COUNT(*) FROM note WHERE \(sql: attack)"
            #expect(try Int.fetchOne(db, SQLRequest<Row>(literal: literal)) == 3)
        }
    }

    /// A query runs one statement, so that nothing can be appended to it.
    @Test func aQueryIsOneStatement() throws {
        try dbQueue.write { db in
            expectError(.SQLITE_MISUSE) {
                try Row.fetchAll(db, sql: "SELECT * FROM note; DELETE FROM note")
            }
            expectError(.SQLITE_MISUSE) { try db.makeStatement(sql: "SELECT 1; DELETE FROM note") }
            try expectUnchanged(db)
        }
    }

    @Test func wildcards() throws {
        try dbQueue.read { (db) throws in
            #expect(try Note.filter { $0.author.like("%\("_")%") }.fetchCount(db) == 3)
            #expect(try Note.filter { $0.author.like("%\("\\_")%", escape: "\\") }.fetchCount(db) == 0)
        }
    }

    @Test func patternsOfFullTextSearch() throws {
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE page USING fts5(public, private);
                    INSERT INTO page VALUES ('open door', 'secret plan');
                    """)
            let count = "SELECT COUNT(*) FROM page WHERE page MATCH ?"
            // SQLite's language of patterns names columns, and has syntax errors.
            #expect(try Int.fetchOne(db, sql: count, arguments: ["private : secret"]) == 1)
            expectError(.SQLITE_ERROR) { try Int.fetchOne(db, sql: count, arguments: ["\""]) }
            for text in Self.attacks + ["private : secret plan door", "door\"", "* OR door", "NEAR(door"] {
                guard let pattern = FTS5Pattern(matchingAllTokensIn: text) else { continue }
                let words = Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
                let found = try Int.fetchOne(db, sql: count, arguments: [pattern]) == 1
                #expect(found == words.isSubset(of: ["open", "door", "secret", "plan"]), "\(text)")
            }
        }
    }

    @Test func negativeLimits() throws {
        try dbQueue.read { (db) throws in
            #expect(try Note.limit(-1).fetchCount(db) == 3)
            #expect(try Note.limit(min(max(-1, 1), 100)).fetchCount(db) == 1)
        }
    }

    // MARK: - SQL of users

    @Test(arguments: [
        "DELETE FROM note", "SELECT 1; DELETE FROM note", "ATTACH 'a' AS a", "PRAGMA journal_mode = DELETE",
        "SELECT load_extension('x')", "SELECT * FROM sqlite_schema", "SELECT author FROM note",
        "WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c", "SELECT zeroblob(1 << 30)",
        "VACUUM INTO 'copy'", "SELECT (SELECT author FROM note LIMIT 1)", "SELECT 1 FROM pragma_table_info('note')",
        "CREATE TEMP TRIGGER t AFTER INSERT ON note BEGIN SELECT 1; END", "BEGIN",
        "SELECT title FROM note ORDER BY author",
    ]) func untrustedSQL(_ attack: String) async throws {
        var policy = UntrustedSQLPolicy()
        policy.allowTable("note", columns: ["id", "title"])
        await expectError(DatabaseError.self) { try await dbQueue.fetchUntrusted(attack, policy: policy) }
        try await dbQueue.read { db in try expectUnchanged(db) }
        #expect(try await dbQueue.fetchUntrusted("SELECT title FROM note", policy: policy).rows.count == 3)
    }

    // MARK: - Files of users

    private func untrusting(_ prepare: (@Sendable (Database) -> Void)? = nil) -> Configuration {
        var config = Configuration()
        config.readonly = true
        config.acceptsURIs = false
        config.trustedSchema = false
        config.defensive = true
        config.statementTimeout = 5
        if let prepare { config.prepareDatabase { db in prepare(db) } }
        return config
    }

    @Test func viewsThatCallTheProgram() throws {
        let path = folder.file("upload.sqlite")
        let calls = Recorded(0)
        let add: @Sendable (Database) -> Void = { db in
            db.add(
                function: DatabaseFunction("notify", argumentCount: 0) { _ in
                    calls.update { $0 += 1 }
                    return 1
                })
        }
        do {
            var config = Configuration()
            config.prepareDatabase { db in add(db) }
            try DatabaseQueue(path: path, configuration: config).write { db in
                try db.execute(sql: "CREATE TABLE real (a); INSERT INTO real VALUES (1)")
                try db.execute(sql: "CREATE VIEW note AS SELECT notify() AS a FROM real")
            }
        }
        var trusting = Configuration()
        trusting.prepareDatabase { db in add(db) }
        let trustingQueue = try DatabaseQueue(path: path, configuration: trusting)
        try trustingQueue.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM note") }
        #expect(calls.value == 1)
        try trustingQueue.close()

        let upload = try DatabaseQueue(path: path, configuration: untrusting(add))
        expectError(.SQLITE_ERROR, "unsafe use of notify()") {
            try upload.read { db in try Row.fetchAll(db, sql: "SELECT * FROM note") }
        }
        #expect(calls.value == 1)
    }

    @Test func viewsThatNeverEnd() throws {
        let path = folder.file("upload.sqlite")
        do {
            try DatabaseQueue(path: path).write { db in
                try db.execute(
                    sql: """
                        CREATE VIEW note AS
                        WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT MAX(i) AS a FROM c
                        """)
            }
        }
        var config = untrusting()
        config.statementTimeout = 0.05
        config.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
        expectError(.SQLITE_INTERRUPT) {
            let upload = try DatabaseQueue(path: path, configuration: config)
            try upload.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM note") }
        }
    }

    @Test func pathsThatAreURIs() throws {
        let config = untrusting()
        let secret = folder.file("secret.sqlite")
        do { try DatabaseQueue(path: secret).write { db in try db.execute(sql: "CREATE TABLE secret (a)") } }
        _ = try DatabaseQueue(path: "file:\(secret)?immutable=1")
        expectError(.SQLITE_CANTOPEN) { try DatabaseQueue(path: "file:\(secret)?immutable=1", configuration: config) }
        expectError(.SQLITE_CANTOPEN) { try DatabaseQueue(path: "file::memory:", configuration: config) }
    }

    @Test func schemaThatIsOverwritten() throws {
        var config = Configuration()
        config.defensive = true
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: config)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(sql: "PRAGMA writable_schema = ON")
            expectError(.SQLITE_ERROR, "table sqlite_master may not be modified") {
                try db.execute(sql: "UPDATE sqlite_master SET sql = 'garbage'")
            }
        }
    }

    /// A file of random bytes behind a valid header throws, and ends nothing. The seed is printed.
    @Test func damagedFiles() throws {
        var generator = SeededGenerator()
        print("seed: \(generator.seed)")
        let path = folder.file("upload.sqlite")
        do {
            try DatabaseQueue(path: path).write { db in
                try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, a); CREATE INDEX i ON note (a)")
                for number in 0..<500 {
                    try db.execute(
                        sql: "INSERT INTO note (a) VALUES (?)", arguments: [String(repeating: "x", count: number)])
                }
            }
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        for _ in 0..<50 {
            var damaged = whole
            for _ in 0..<20 {
                let start = Int.random(in: 100..<damaged.count, using: &generator)
                let end = min(damaged.count, start + Int.random(in: 1...64, using: &generator))
                for place in start..<end { damaged[place] = UInt8.random(in: 0...255, using: &generator) }
            }
            try damaged.write(to: URL(filePath: path))
            // Either is right, but nothing else: rows, or an error of SQLite.
            do {
                let upload = try DatabaseQueue(path: path, configuration: untrusting())
                try upload.read { db in
                    _ = try db.integrityCheck()
                    _ = try Row.fetchAll(db, sql: "SELECT * FROM note WHERE a > 'x' ORDER BY a")
                }
            } catch let error as DatabaseError {
                var codes: [ResultCode] = [
                    .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_INTERRUPT, .SQLITE_TOOBIG,
                ]
                // Where a row says that a value has 2 GB or more: SQLite 3.54.0 has no memory for it, 3.40.1 calls the
                // file damaged.
                if Database.sqliteLibVersionNumber > 3_040_001 { codes.append(.SQLITE_NOMEM) }
                #expect(codes.contains(error.resultCode), "\(error)")
            }
        }
    }

    // MARK: - Secrets

    private struct Session: Codable, FetchableRecord, PersistableRecord {
        var token: String
        var userId: Int
    }

    private final class Collector: DatabaseTracer {
        let texts = Recorded<[String]>([])
        let options = DatabaseTracing.Options([.statements, .slowStatements, .errors, .accesses])
        func receive(_ event: DatabaseTraceEvent) { texts.update { $0.append("\(event)") } }
    }

    @Test func secretsInErrorsAndTraces() throws {
        let secret = "hunter2"
        let collector = Collector()
        var config = Configuration()
        config.tracers = [collector]
        let queue = try DatabaseQueue(configuration: config)
        var traced: [String] = []
        var errors: [any Error] = []
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE session (token TEXT PRIMARY KEY, userId INTEGER CHECK (userId > 0))")
            db.trace(options: [.statement, .profile]) { traced.append("\($0)") }
            defer { db.trace() }
            try Session(token: secret, userId: 1).insert(db)
            let bodies: [() throws -> Void] = [
                { try Session(token: secret, userId: 1).insert(db) },
                { try Session(token: secret, userId: 0).insert(db) },
                { _ = try Session.find(db, key: "\(secret)!") },
                { try Session(token: "\(secret)!", userId: 1).update(db) },
                { _ = try Int.fetchOne(db, sql: "SELECT token FROM session") },
                { _ = try Session.fetchAll(db, sql: "SELECT userId AS token, token AS userId FROM session") },
                { _ = try Row.fetchAll(db, sql: "SELECT missing FROM session WHERE token = ?", arguments: [secret]) },
                { _ = try Row.fetchAll(db, sql: "SELECT 1 WHERE 1 = ?", arguments: [secret, secret]) },
                { try db.execute(literal: "DELETE FROM missing WHERE token = \(secret)") },
            ]
            for (number, body) in bodies.enumerated() {
                do {
                    try body()
                    Issue.record("no error of body \(number)")
                } catch {
                    errors.append(error)
                }
            }
        }
        #expect(errors.count == 9)
        for error in errors {
            #expect(!"\(error)".contains(secret), "description")
            #expect(!String(reflecting: error).contains(secret), "debugDescription of \(error)")
            #expect(!error.localizedDescription.contains(secret), "localizedDescription of \(error)")
        }
        #expect(traced.count > 9)
        #expect(!traced.joined().contains(secret))
        #expect(collector.texts.value.count > 9)
        #expect(!collector.texts.value.joined().contains(secret))
    }

    @Test func secretsThatAreShownIfAskedFor() throws {
        var config = Configuration()
        config.publicStatementArguments = true
        let error = expectError(DatabaseError.self) {
            try DatabaseQueue(configuration: config).read { db in
                try Row.fetchAll(db, sql: "SELECT * FROM missing WHERE token = ?", arguments: ["hunter2"])
            }
        }
        // The statement didn't compile, so that its arguments were never bound.
        #expect(error?.sql == "SELECT * FROM missing WHERE token = ?")
        let constraint = expectError(DatabaseError.self) {
            try DatabaseQueue(configuration: config).write { db in
                try db.execute(sql: "CREATE TABLE session (token TEXT CHECK (token = ''))")
                try db.execute(sql: "INSERT INTO session VALUES (?)", arguments: ["hunter2"])
            }
        }
        #expect(constraint.map { "\($0)" }?.contains("hunter2") ?? false)
    }

    // MARK: - Extensions, encryption, deleted content

    @Test func extensionsAreOff() throws {
        try dbQueue.read { db in
            expectError(.SQLITE_MISUSE) { try db.loadExtension(path: "/tmp/evil.so") }
            expectError(.SQLITE_ERROR, "not authorized") {
                try Row.fetchAll(db, sql: "SELECT load_extension('/tmp/evil.so')")
            }
        }
    }

    @Test(arguments: [false, true]) func filesAreInTheClear(_ secureDelete: Bool) throws {
        let path = folder.file("a.sqlite")
        var config = Configuration()
        config.secureDelete = secureDelete
        // Some builds overwrite by default.
        if !secureDelete { config.prepareDatabase { db in try db.execute(sql: "PRAGMA secure_delete = OFF") } }
        let queue = try DatabaseQueue(path: path, configuration: config)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (?)", arguments: ["hunter2"])
        }
        func showsSecret() throws -> Bool {
            try Data(contentsOf: URL(filePath: path)).range(of: Data("hunter2".utf8)) != nil
        }
        #expect(try showsSecret())
        try queue.write { db in try db.execute(sql: "DELETE FROM t") }
        #expect(try showsSecret() != secureDelete)
    }
}
