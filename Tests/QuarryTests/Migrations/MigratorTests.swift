import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Migrations") struct MigratorTests {
    /// `v1` creates a table, `v2` adds a column to it, `v3` a row.
    static func players(_ change: (inout DatabaseMigrator) -> Void = { _ in }) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.makePlayers() }
        migrator.registerMigration("v2") { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN score INTEGER") }
        migrator.registerMigration("v3") { db in
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 1000)")
        }
        change(&migrator)
        return migrator
    }

    // MARK: - Migrating

    @Test(arguments: WriterKind.allCases) func eachRunsOnceInItsOrder(kind: WriterKind) throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        let migrator = Self.players()
        #expect(migrator.migrations == ["v1", "v2", "v3"])
        try migrator.migrate(writer)
        try migrator.migrate(writer)
        let (rows, schema) = try writer.read { db in
            (
                try Row.fetchAll(db, sql: "SELECT * FROM player"),
                try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'grdb_migrations'")
            )
        }
        #expect(rows == [["id": 1, "name": "Arthur", "score": 1000]])
        #expect(schema == "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let applied = try writer.read { db in
            try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
        }
        #expect(applied == ["v1", "v2", "v3"])
        try writer.close()
    }

    @Test func namedDatabasesInMemory() throws {
        let first = try DatabaseQueue(named: "MigratorTests")
        let second = try DatabaseQueue(named: "MigratorTests")
        try Self.players().migrate(first)
        try Self.players().migrate(second)
        #expect(try second.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") } == 1)
    }

    @Test func theSQLOfAMigration() throws {
        let trace = SQLTrace()
        var configuration = Configuration()
        trace.install(in: &configuration)
        let queue = try DatabaseQueue(configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false)
            try db.execute(sql: "CREATE TABLE t (a)")
        }
        _ = trace.take()
        try migrator.migrate(queue)
        let reading = ["sqlite_master", "schema_version", "database_list", "SELECT identifier"]
        #expect(
            trace.take().filter { line in !reading.contains { line.contains($0) } } == [
                "BEGIN IMMEDIATE TRANSACTION",
                "PRAGMA foreign_keys",
                "CREATE TABLE t (a)",
                "PRAGMA \"main\".foreign_key_check",
                "CREATE TABLE IF NOT EXISTS main.grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)",
                "INSERT INTO main.grdb_migrations (identifier) VALUES (?)",
                "COMMIT TRANSACTION",
            ])
        try migrator.migrate(queue)
        _ = trace.take()
        try migrator.migrate(queue)
        #expect(
            trace.take().filter { !$0.contains("PRAGMA") } == [
                "SELECT identifier FROM main.grdb_migrations ORDER BY identifier"
            ])
    }

    @Test func aMigratorWithoutMigrationsDoesNothing() throws {
        let queue = try DatabaseQueue()
        try DatabaseMigrator().migrate(queue)
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
    }

    @Test func aDatabaseThatWasErasedIsMigratedAgain() throws {
        let queue = try DatabaseQueue()
        let migrator = Self.players()
        for _ in 1...3 {
            try migrator.migrate(queue)
            try migrator.migrate(queue)
            #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") } == 1)
            try queue.erase()
        }
        try migrator.migrate(queue)
        try queue.write { db in try db.execute(sql: "DROP TABLE player; DROP TABLE grdb_migrations") }
        try migrator.migrate(queue)
        #expect(try queue.read(migrator.hasCompletedMigrations))
    }

    @Test func upToATarget() throws {
        let queue = try DatabaseQueue()
        let migrator = Self.players()
        try migrator.migrate(queue, upTo: "v2")
        #expect(try queue.read(migrator.appliedMigrations) == ["v1", "v2"])
        try migrator.migrate(queue, upTo: "v2")
        try migrator.migrate(queue, upTo: "v3")
        #expect(try queue.read(migrator.appliedMigrations) == ["v1", "v2", "v3"])
    }

    @Test func aReadOnlyDatabaseThatIsUpToDate() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("db")
        try Self.players().migrate(DatabaseQueue(path: path))
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try Self.players().migrate(queue)
        expectError(.SQLITE_READONLY, "attempt to write a readonly database") {
            try Self.players { $0.registerMigration("v4") { _ in } }.migrate(queue)
        }
    }

    @Test func theTableOfAnAttachedDatabaseIsAnother() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("other")
        try Self.players().migrate(DatabaseQueue(path: path))
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db in try db.execute(sql: "ATTACH DATABASE ? AS other", arguments: [path]) }
        try Self.players().migrate(queue)
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM main.player") } == 1)
    }

    @Test func theSchemaSourceIsNotAsked() throws {
        struct Source: DatabaseSchemaSource {
            func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { ["a"] }
        }
        var configuration = Configuration()
        configuration.schemaSource = Source()
        let queue = try DatabaseQueue(configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE t (a); CREATE VIEW v AS SELECT * FROM t")
            #expect(db.schemaSource == nil)
            #expect(throws: DatabaseError.self) { try db.primaryKey("v") }
        }
        try migrator.migrate(queue)
        #expect(try queue.read { (db) throws in try db.primaryKey("v").columns } == ["a"])
    }

    // MARK: - What is applied

    @Test func whatIsApplied() throws {
        let queue = try DatabaseQueue()
        let migrator = Self.players()
        try queue.read { (db) throws in
            #expect(try migrator.appliedMigrations(db) == [])
            #expect(try migrator.appliedIdentifiers(db) == [])
            #expect(try migrator.completedMigrations(db) == [])
            #expect(try migrator.hasCompletedMigrations(db) == false)
            #expect(try migrator.hasBeenSuperseded(db) == false)
        }
        try migrator.migrate(queue)
        try queue.read { (db) throws in
            #expect(try migrator.appliedMigrations(db) == ["v1", "v2", "v3"])
            #expect(try migrator.appliedIdentifiers(db) == ["v1", "v2", "v3"])
            #expect(try migrator.completedMigrations(db) == ["v1", "v2", "v3"])
            #expect(try migrator.hasCompletedMigrations(db))
            #expect(try migrator.hasBeenSuperseded(db) == false)
        }
    }

    @Test func olderProgramFindsANewerDatabase() throws {
        let queue = try DatabaseQueue()
        try Self.players().migrate(queue)
        var older = DatabaseMigrator()
        older.registerMigration("v1") { _ in }
        try older.migrate(queue)
        try queue.read { (db) throws in
            #expect(try older.hasBeenSuperseded(db))
            #expect(try older.appliedMigrations(db) == ["v1"])
            #expect(try older.appliedIdentifiers(db) == ["v1", "v2", "v3"])
            #expect(try older.hasCompletedMigrations(db))
        }
    }

    @Test func migrationInsertedBeforeAppliedOnesRuns() throws {
        let queue = try DatabaseQueue()
        try Self.players().migrate(queue)
        let order = Recorded<[String]>([])
        var migrator = DatabaseMigrator()
        for name in ["v0", "v1", "v1b", "v2", "v3"] {
            migrator.registerMigration(name) { _ in order.update { $0.append(name) } }
        }
        try queue.read { (db) throws in
            #expect(try migrator.appliedMigrations(db) == ["v1", "v2", "v3"])
            #expect(try migrator.completedMigrations(db) == [])
            #expect(try migrator.hasCompletedMigrations(db) == false)
        }
        try migrator.migrate(queue)
        #expect(order.value == ["v0", "v1b"])
        #expect(try queue.read(migrator.hasCompletedMigrations))
    }

    // MARK: - Merged migrations

    @Test(arguments: [[], ["v1"], ["v1", "v2"]]) func merged(old: [String]) throws {
        let queue = try DatabaseQueue()
        var older = DatabaseMigrator()
        for name in old { older.registerMigration(name) { _ in } }
        try older.migrate(queue)
        let seen = Recorded<[Set<String>]>([])
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v2 again", merging: ["v1", "v2", "v9"]) { db, applied in
            seen.update { $0.append(applied) }
        }
        #expect(try queue.read(migrator.hasBeenSuperseded) == false)
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        #expect(seen.value == [Set(old)])
        #expect(try queue.read(migrator.appliedIdentifiers) == ["v2 again"])
        #expect(try queue.read(older.hasBeenSuperseded))
    }

    @Test func aMergedMigrationMayKeepAnOldName() throws {
        let queue = try DatabaseQueue()
        var older = DatabaseMigrator()
        older.registerMigration("v1") { _ in }
        try older.migrate(queue)
        let seen = Recorded<[Set<String>]>([])
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v2", merging: ["v1", "v2"]) { db, applied in seen.update { $0.append(applied) } }
        try migrator.migrate(queue)
        #expect(seen.value == [["v1"]])
        #expect(try queue.read(migrator.appliedIdentifiers) == ["v2"])
    }

    @Test func appliedMigrationForgetsThoseMergedIntoItLater() throws {
        let queue = try DatabaseQueue()
        var older = DatabaseMigrator()
        for name in ["v1", "v2", "v3", "v4"] { older.registerMigration(name, checksum: name) { _ in } }
        try older.migrate(queue)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { _ in Issue.record("v1 has run again") }
        migrator.registerMigration("v4", merging: ["v2", "v3"]) { _, _ in Issue.record("v4 has run again") }
        #expect(try queue.read(migrator.hasBeenSuperseded) == false)
        #expect(try queue.read(migrator.hasCompletedMigrations))
        try migrator.migrate(queue)
        #expect(try queue.read(migrator.appliedIdentifiers) == ["v1", "v4"])
        let noted = try queue.read { (db) throws in
            try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migration_checksums")
        }
        #expect(noted == ["v1", "v4"])
        // The merged migrations may be left out of the program now.
        var later = DatabaseMigrator()
        for name in ["v1", "v4"] { later.registerMigration(name) { _ in } }
        #expect(try queue.read(later.hasBeenSuperseded) == false)
        #expect(try queue.read(later.hasSchemaChanges) == false)
        #expect(try queue.read(older.hasCompletedMigrations) == false)
    }

    // MARK: - Mistakes

    @Test func anIdentifierThatIsRegisteredTwice() throws {
        let migrator = Self.players { $0.registerMigration("v2") { _ in } }
        let queue = try DatabaseQueue()
        let message = "migration v2 is registered twice"
        let calls: [(Database) throws -> Void] = [
            { _ = try migrator.appliedMigrations($0) }, { _ = try migrator.appliedIdentifiers($0) },
            { _ = try migrator.completedMigrations($0) }, { _ = try migrator.hasCompletedMigrations($0) },
            { _ = try migrator.hasBeenSuperseded($0) }, { _ = try migrator.hasSchemaChanges($0) },
            { _ = try migrator.changedMigrations($0) }, { _ = try migrator.plan($0) },
        ]
        for call in calls {
            expectError(.SQLITE_MISUSE, message) { try queue.read { db in try call(db) } }
        }
        expectError(.SQLITE_MISUSE, message) { try migrator.migrate(queue) }
        expectError(.SQLITE_MISUSE, message) { try migrator.migrate(queue, upTo: "v1") }
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
    }

    @Test func aMigrationThatIsRegisteredAndMerged() throws {
        let migrator = Self.players { $0.registerMigration("v4", merging: ["v1"]) { _, _ in } }
        expectError(.SQLITE_MISUSE, "migration v1 is registered, and merged into v4") {
            try migrator.migrate(DatabaseQueue())
        }
    }

    @Test func targetsThatCannotBeReached() throws {
        let queue = try DatabaseQueue()
        let migrator = Self.players()
        expectError(.SQLITE_MISUSE, "no migration v9 is registered") { try migrator.migrate(queue, upTo: "v9") }
        try migrator.migrate(queue)
        expectError(.SQLITE_MISUSE, "the database can't be migrated up to v1: v3 is already applied") {
            try migrator.migrate(queue, upTo: "v1")
        }
    }

    @Test func aMigrationInsideAnAccess() throws {
        let queue = try DatabaseQueue()
        expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") {
            try queue.write { _ in try Self.players().migrate(queue) }
        }
    }
}
