import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

/// The mistakes of a first day: each error says what is wrong, where, and what to do.
@Suite struct FirstMistakesTests {
    private struct Team: Codable, PersistableRecord { var id: Int64 }

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("shop.sqlite")
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write(Self.makeTables)
        return queue
    }

    private static func makeTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, teamId INTEGER REFERENCES team);
                INSERT INTO team VALUES (1, 'Reds');
                INSERT INTO player VALUES (1, 'Arthur', 1);
                """)
    }

    private func makePool(_ configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var config = Configuration()
        config.label = "shop"
        configure(&config)
        let pool = try DatabasePool(path: path, configuration: config)
        try pool.write(Self.makeTables)
        return pool
    }

    // MARK: - SQL

    @Test func aMigrationThatFails() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("create player") { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY); INSERT INTO player VALUES (1)")
        }
        migrator.registerMigration("add \"bonus\"") { db in
            try db.execute(sql: "ALTER TABLE player ADD COLUMN bonus INTEGER NOT NULL")
        }
        expectError(
            DatabaseError.self,
            """
            SQLite error 1: Cannot add a NOT NULL column with default value NULL - in migration "add \\"bonus\\"" - \
            while executing `ALTER TABLE player ADD COLUMN bonus INTEGER NOT NULL`
            """
        ) { try migrator.migrate(queue) }

        migrator = DatabaseMigrator()
        migrator.registerMigration("create player") { _ in }
        migrator.registerMigration("ends itself") { db in try db.execute(sql: "COMMIT") }
        let error = expectError(DatabaseError.self) { try migrator.migrate(queue) }
        #expect(error?.description.contains("the migration has ended its own transaction") == true)
        #expect(error?.description.contains(" - in migration \"ends itself\"") == true)
    }

    @Test func theWrongNumberOfArguments() throws {
        try makeQueue().write { (db) throws in
            func expect(_ numbers: String, _ sql: String, _ arguments: StatementArguments, of failed: String? = nil) {
                expectError(
                    DatabaseError.self,
                    """
                    SQLite error 21: wrong number of statement arguments: \(numbers) expected - while executing \
                    `\(failed ?? sql)`
                    """
                ) { try db.execute(sql: sql, arguments: arguments) }
            }
            expect("1 given, 2", "SELECT ?, ?", [1])
            expect("0 given, 1", "SELECT ?", [])
            expect("1 given, 0", "SELECT 1", [1])
            expect("3 given, 2", "SELECT ?; SELECT ?", [1, 2, 3])
            expect("3 given, 4", "SELECT ?, ?; SELECT ?, ?", [1, 2, 3], of: "SELECT ?, ?")
            // Named arguments aren't counted: the other parameters need values.
            expect("0 given, 2", "SELECT :a, ?, ?", ["a": 1])
            expect("1 given, 0", "SELECT :a", ["a": 1] + [2])
        }
    }

    @Test func aMissingTableInAnEmptyFile() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { (db) throws in
            let hint = ": the database \(try #require(db.mainFilePath)) has no table at all (was it migrated?)"
            for _ in 0..<2 {
                expectError(
                    DatabaseError.self,
                    "SQLite error 1: no such table: player\(hint) - while executing `SELECT * FROM player`"
                ) { try Row.fetchAll(db, sql: "SELECT * FROM player") }
                #expect(db.lastErrorCode == .SQLITE_ERROR)
                #expect(db.lastErrorMessage == "no such table: player")
            }
            expectError(DatabaseError.self, "SQLite error 1: no such table: team\(hint)") {
                try Team(id: 1).insert(db)
            }
            expectError(DatabaseError.self, "SQLite error 1: no such table: main.team\(hint)") {
                try db.columns(in: "team", in: "main")
            }
            func expectNoHint() {
                expectError(
                    DatabaseError.self, "SQLite error 1: no such table: player - while executing `SELECT * FROM player`"
                ) { try Row.fetchAll(db, sql: "SELECT * FROM player") }
            }
            try db.inSavepoint {
                try db.execute(sql: "CREATE TEMPORARY TABLE note (a)")
                expectNoHint()
                return .rollback
            }
            try db.inSavepoint {
                try db.execute(sql: #"CREATE TABLE "a ""table""" (a)"#)
                expectNoHint()
                return .rollback
            }
            expectError(
                DatabaseError.self,
                """
                SQLite error 1: no such table: a "table"\(hint) - while executing `SELECT * FROM "a ""table\"""`
                """
            ) { try Row.fetchAll(db, sql: #"SELECT * FROM "a ""table""""#) }
        }
        // The table may have been meant to be in an attached file.
        try queue.writeWithoutTransaction { (db) throws in
            try db.execute(sql: "ATTACH DATABASE ':memory:' AS other; CREATE TABLE other.team (id)")
            expectError(
                DatabaseError.self, "SQLite error 1: no such table: player - while executing `SELECT * FROM player`"
            ) { try Row.fetchAll(db, sql: "SELECT * FROM player") }
        }
        try DatabaseQueue().read { (db) throws in
            expectError(
                DatabaseError.self,
                """
                SQLite error 1: no such table: player: the database has no table at all (was it migrated?) - while \
                executing `SELECT * FROM player`
                """
            ) { try Row.fetchAll(db, sql: "SELECT * FROM player") }
        }
    }

    @Test func aWriteInARead() throws {
        let message = "SQLite error 8: attempt to write a readonly database"
        let sql = "DELETE FROM player"
        let delete: (Database) throws -> Void = { db in try db.execute(sql: sql) }
        let queue = try makeQueue()
        expectError(DatabaseError.self, "\(message) (in a read: use write) - while executing `\(sql)`") {
            try queue.read(delete)
        }
        let pool = try makePool()
        expectError(DatabaseError.self, "\(message) (in a read: use write) - while executing `\(sql)`") {
            try pool.read(delete)
        }
        let snapshot = try pool.makeSnapshot()
        expectError(DatabaseError.self, "\(message) (in a read: use write) - while executing `\(sql)`") {
            try snapshot.read(delete)
        }
        try snapshot.close()
        try pool.close()
        var config = Configuration()
        config.readonly = true
        let readonly = try DatabaseQueue(path: path, configuration: config)
        expectError(DatabaseError.self, "\(message) (Configuration.readonly) - while executing `\(sql)`") {
            try readonly.write(delete)
        }
    }

    @Test func theSyntaxOfAFullTextSearch() throws {
        try makeQueue().write { (db) throws in
            try db.execute(sql: "CREATE VIRTUAL TABLE document USING fts5(title)")
            expectError(
                DatabaseError.self,
                """
                SQLite error 1: fts5: syntax error near "'": FTS5Pattern(matchingAllTokensIn:) makes a pattern of any \
                text - while executing `SELECT * FROM document WHERE document MATCH ?`
                """
            ) {
                try Row.fetchAll(
                    db, sql: "SELECT * FROM document WHERE document MATCH ?", arguments: ["Moby's whale"])
            }
            #expect(db.lastErrorMessage == "fts5: syntax error near \"'\"")
        }
    }

    @Test func belongingToAnUnknownTable() throws {
        try makeQueue().write { (db) throws in
            expectError(
                DatabaseError.self,
                """
                SQLite error 1: no such table: squad: belongsTo("squad") refers to it. Create it before, or name the \
                table with inTable:
                """
            ) { try db.create(table: "match") { t in t.belongsTo("squad") } }
        }
    }

    // MARK: - Transactions

    @Test func theEndOfATransactionInsideWrite() throws {
        func message(_ end: String, _ sql: String?) -> String {
            "SQLite error 4: Transaction was aborted: \(end)" + (sql.map { " - while executing `\($0)`" } ?? "")
        }
        let queue = try makeQueue()
        let delete = "DELETE FROM player"
        let committed = "its closure has committed it. Remove the COMMIT: the end of the closure commits"
        expectError(DatabaseError.self, message(committed, delete)) {
            try queue.write { db in
                try db.execute(sql: "COMMIT")
                try db.execute(sql: delete)
            }
        }
        expectError(DatabaseError.self, message(committed, nil)) {
            try queue.write { db in try db.execute(sql: "END") }
        }
        let rolledBack = "its closure has rolled it back. Throw an error, or use a savepoint, instead of ROLLBACK"
        expectError(DatabaseError.self, message(rolledBack, delete)) {
            try queue.write { db in
                try db.execute(sql: "ROLLBACK")
                try db.execute(sql: delete)
            }
        }
        let other = "SQLite has rolled it back, after an error, or by ROLLBACK of a conflict clause or a trigger"
        expectError(DatabaseError.self, message(other, delete)) {
            try queue.write { db in
                try? db.execute(sql: "INSERT OR ROLLBACK INTO player VALUES (1, 'Barbara', 1)")
                try db.execute(sql: delete)
            }
        }
        // The last transaction says nothing of this one.
        expectError(DatabaseError.self, message(committed, delete)) {
            try queue.inDatabase { db in
                try db.inTransaction {
                    try db.execute(sql: "COMMIT; \(delete)")
                    return .commit
                }
            }
        }
        #expect(try queue.read { db in try Table("player").fetchCount(db) } == 1)
    }

    @Test func aWriteInAWrite() throws {
        let pool = try makePool()
        func message(_ name: String) -> String {
            """
            SQLite error 21: Database methods are not reentrant. This thread already has \(name): pass its db to \
            functions instead of using the database in them.
            """
        }
        expectError(DatabaseError.self, message("the writer of shop")) {
            try pool.write { _ in try pool.write { _ in } }
        }
        expectError(DatabaseError.self, message("a reader of shop")) {
            try pool.read { _ in try pool.read { _ in } }
        }
        try pool.close()
        let queue = try DatabaseQueue(path: path)
        expectError(DatabaseError.self, message("the connection of \(path)")) {
            try queue.read { _ in try queue.write { _ in } }
        }
    }

    // MARK: - Databases

    @Test func aClosedDatabase() async throws {
        let pool = try makePool()
        try pool.close()
        expectError(DatabaseError.self, "SQLite error 21: Connection is closed: a reader of shop") {
            try pool.read { _ in }
        }
        await expectError(DatabaseError.self, "SQLite error 21: Connection is closed: the writer of shop") {
            try await pool.write { _ in }
        }
        let queue = try DatabaseQueue(named: "books")
        let kept = try queue.write { db in
            try Self.makeTables(db)
            return db
        }
        try queue.close()
        expectError(DatabaseError.self, "SQLite error 21: Connection is closed: \(kept.description)") {
            try kept.execute(sql: "SELECT 1")
        }
    }

    @Test func aLockedDatabase() throws {
        let pool = try makePool { $0.busyMode = .timeout(0.02) }
        let other = try DatabaseQueue(path: path)
        let begin = "while executing `BEGIN IMMEDIATE TRANSACTION`"
        try other.writeWithoutTransaction { (db) throws in
            try db.execute(sql: "BEGIN IMMEDIATE")
            expectError(
                DatabaseError.self,
                """
                SQLite error 5: database is locked: shop, for 0.02 seconds (Configuration.busyMode), by another \
                connection (another process or pool?) - \(begin)
                """
            ) { try pool.write { _ in } }
            var config = Configuration()
            config.busyMode = .immediateError
            let hasty = try DatabaseQueue(path: path, configuration: config)
            expectError(
                DatabaseError.self,
                """
                SQLite error 5: database is locked: \(path), by another connection (another process or pool?), \
                while Configuration.busyMode is .immediateError - \(begin)
                """
            ) { try hasty.write { _ in } }
            try db.execute(sql: "ROLLBACK")
        }
        // Other errors with the same code keep their text.
        try pool.writeWithoutTransaction { (db) throws in
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player")
            _ = try rows.next()
            try db.execute(sql: "BEGIN")
            let error = expectError(DatabaseError.self) { try db.execute(sql: "DROP TABLE player") }
            #expect(error?.description.contains("busyMode") == false)
            try db.execute(sql: "ROLLBACK")
        }
    }

    @Test func aPoolInMemory() {
        expectError(
            DatabaseError.self,
            """
            SQLite error 1: could not activate WAL Mode at path: :memory:: a pool needs a file. Use DatabaseQueue() \
            for a database in memory
            """
        ) { try DatabasePool(path: ":memory:") }
    }

    // MARK: - The connection after a mistake

    /// A hint reads the schema. Traces don't show it, and it changes nothing in the connection.
    @Test func aHintDisturbsNothing() throws {
        var config = Configuration()
        let traced = Recorded<[String]>([])
        config.prepareDatabase { db in db.trace { event in traced.update { $0.append(event.description) } } }
        let queue = try DatabaseQueue(path: path, configuration: config)
        try queue.writeWithoutTransaction { (db) throws in
            try db.execute(sql: "SAVEPOINT outer")
            let before = traced.value.count
            expectError(.SQLITE_ERROR, "no such table: player") { try db.execute(sql: "DELETE FROM player") }
            #expect(traced.value.count == before)
            #expect(db.isInsideTransaction)
            try db.execute(sql: "ROLLBACK TO outer; RELEASE outer")
            #expect(!db.isInsideTransaction)
        }
        // While another connection has the file to itself, nothing waits for the lock.
        try queue.close()
        let other = try DatabaseQueue(path: path)
        try other.write { db in try db.execute(sql: "CREATE TABLE a (b); DROP TABLE a") }
        let reader = try DatabaseQueue(path: path)
        expectError(.SQLITE_ERROR, "no such table: player") {
            try reader.read { db in try db.execute(sql: "SELECT * FROM player") }
        }
        try other.writeWithoutTransaction { (db) throws in
            try db.execute(sql: "BEGIN EXCLUSIVE")
            expectError(.SQLITE_ERROR, "no such table: player") {
                try reader.inDatabase { db in _ = try db.makeStatement(sql: "SELECT * FROM player") }
            }
            try db.execute(sql: "ROLLBACK")
        }
    }
}
