import CSQLite
import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Migrations that have changed") struct ChangedMigrationTests {
    private static func migrator(_ checksums: [String?], erases: Bool = false) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = erases
        for (index, checksum) in checksums.enumerated() {
            migrator.registerMigration("v\(index + 1)", checksum: checksum) { db in
                try db.execute(sql: "CREATE TABLE t\(index + 1) (a)")
            }
        }
        return migrator
    }

    // MARK: - Checksums

    @Test func anotherChecksumIsReported() throws {
        let queue = try DatabaseQueue()
        try Self.migrator(["a", nil, "c"]).migrate(queue)
        try Self.migrator(["a", nil, "c"]).migrate(queue)
        let changed = Self.migrator(["a", "b", "d", "e"])
        let changes = try queue.read(changed.changedMigrations)
        #expect(changes.map(\.identifier) == ["v3"])
        #expect(changes.first?.appliedChecksum == "c")
        #expect(changes.first?.registeredChecksum == "d")
        let error = #expect(throws: DatabaseError.self) { try changed.migrate(queue) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(
            error?.message == "migration v3 has changed since it was applied: its checksum was c, and is d")
        #expect(throws: DatabaseError.self) { try queue.read { (db) throws in try changed.plan(db) } }
        // Nothing was done.
        let applied = try queue.read(changed.appliedMigrations)
        #expect(applied == ["v1", "v2", "v3"])
    }

    @Test func aChecksumThatComesLaterIsNoted() throws {
        let queue = try DatabaseQueue()
        try Self.migrator([nil]).migrate(queue)
        try Self.migrator(["a"]).migrate(queue)
        let changes = try queue.read(Self.migrator(["b"]).changedMigrations)
        #expect(changes.map(\.appliedChecksum) == ["a"])
        try Self.migrator([nil]).migrate(queue)
    }

    @Test func aDatabaseThatCannotBeWritten() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("db")
        try Self.migrator([nil]).migrate(DatabaseQueue(path: path))
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try Self.migrator(["a"]).migrate(queue)
        #expect(try queue.read { (db) throws in try db.tableExists("grdb_migration_checksums") } == false)
    }

    @Test func theTablesOfADatabase() throws {
        let queue = try DatabaseQueue()
        try Self.migrator(["a"]).migrate(queue)
        let rows = try queue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM grdb_migration_checksums") }
        #expect(rows == [["identifier": "v1", "checksum": "a"]])
        var merging = DatabaseMigrator()
        merging.registerMigration("v2", merging: ["v1"], checksum: "b") { _, _ in }
        try merging.migrate(queue)
        let later = try queue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM grdb_migration_checksums") }
        #expect(later == [["identifier": "v2", "checksum": "b"]])
    }

    @Test func withoutChecksumsThereIsNoTable() throws {
        let queue = try DatabaseQueue()
        try Self.migrator([nil]).migrate(queue)
        let names = try queue.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        }
        #expect(names == ["grdb_migrations", "t1"])
    }

    // MARK: - Another schema

    @Test(arguments: WriterKind.allCases) func erasing(kind: WriterKind) throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        func migrator(_ columns: String) -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            migrator.eraseDatabaseOnSchemaChange = true
            migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE t (\(columns))") }
            migrator.registerMigration("v2") { db in try db.execute(sql: "CREATE INDEX i ON t (a)") }
            return migrator
        }
        #expect(try writer.read { (db) throws in try migrator("a").hasSchemaChanges(db) } == false)
        try migrator("a").migrate(writer)
        try writer.write { db in try db.execute(sql: "INSERT INTO t VALUES (1); ANALYZE") }
        #expect(try writer.read { (db) throws in try migrator("a").hasSchemaChanges(db) } == false)
        try migrator("a").migrate(writer)
        #expect(try writer.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
        #expect(try writer.read { (db) throws in try migrator("a, b").hasSchemaChanges(db) })
        let plan = try writer.read { db in try migrator("a, b").plan(db) }
        #expect(
            plan.description == """
                -- the database is erased
                -- v1
                CREATE TABLE t (a, b);
                -- v2
                CREATE INDEX i ON t (a);
                """)
        try migrator("a, b").migrate(writer)
        #expect(try writer.read { (db) throws in try db.columns(in: "t").map(\.name) } == ["a", "b"])
        #expect(try writer.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 0)
        try writer.close()
    }

    @Test func aRenamedMigrationErases() throws {
        let queue = try DatabaseQueue()
        try Self.migrator([nil, nil]).migrate(queue)
        let other = Self.migrator([nil], erases: true)
        #expect(try queue.read { (db) throws in try other.hasSchemaChanges(db) })
        try other.migrate(queue)
        #expect(try queue.read { (db) throws in try db.tableExists("t2") } == false)
    }

    @Test func aChangedChecksumErases() throws {
        let queue = try DatabaseQueue()
        try Self.migrator(["a"]).migrate(queue)
        try queue.write { db in try db.execute(sql: "INSERT INTO t1 VALUES (1)") }
        try Self.migrator(["b"], erases: true).migrate(queue)
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t1") } == 0)
        #expect(try queue.read { (db) throws in try Self.migrator(["b"]).changedMigrations(db) }.isEmpty)
    }

    @Test func whatIsCreatedBesidesErases() throws {
        let queue = try DatabaseQueue()
        let migrator = Self.migrator([nil], erases: true)
        try migrator.migrate(queue)
        try queue.write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        #expect(try queue.read { (db) throws in try migrator.hasSchemaChanges(db) })
        try migrator.migrate(queue)
        #expect(try queue.read { (db) throws in try db.tableExists("other") } == false)
    }

    @Test func scratchDatabaseIsPreparedAsTheConnectionsAre() throws {
        var configuration = Configuration()
        configuration.readonly = false
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("twice", argumentCount: 1, pure: true) { values in
                    Int.fromDatabaseValue(values[0]).map { $0 * 2 }
                })
        }
        let queue = try DatabaseQueue(configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE t (a, b AS (twice(a))); INSERT INTO t VALUES (twice(2))")
        }
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT b FROM t") } == 8)
    }

    // MARK: - Plans

    @Test(arguments: WriterKind.allCases) func plans(kind: WriterKind) throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        var migrator = MigratorTests.players()
        try migrator.migrate(writer, upTo: "v2")
        migrator.registerMigration("v4") { db in
            let names = try String.fetchAll(db, sql: "SELECT name FROM player")
            for name in names {
                try db.execute(sql: "UPDATE player SET name = ? WHERE name = ?", arguments: [name.uppercased(), name])
            }
            try db.create(indexOn: "player", columns: ["name"])
        }
        migrator.registerMigration("v5") { _ in }
        let before = try writer.read { db in (try db.schemaVersion(), try Row.fetchAll(db, sql: "SELECT * FROM player"))
        }
        let plan = try writer.read { db in try migrator.plan(db) }
        #expect(plan.erasesDatabase == false)
        #expect(plan.steps.map(\.identifier) == ["v3", "v4", "v5"])
        #expect(plan.steps[0].statements == ["INSERT INTO player (name, score) VALUES ('Arthur', 1000)"])
        #expect(
            plan.steps[1].statements == [
                "UPDATE player SET name = ? WHERE name = ?",
                "CREATE INDEX \"index_player_on_name\" ON \"player\"(\"name\")",
            ])
        #expect(plan.steps[2].statements == [])
        #expect(try writer.read { (db) throws in try migrator.plan(db, upTo: "v3") }.steps.count == 1)
        let after = try writer.read { db in (try db.schemaVersion(), try Row.fetchAll(db, sql: "SELECT * FROM player"))
        }
        #expect(before == after)
        #expect(try writer.read { (db) throws in try migrator.appliedMigrations(db) } == ["v1", "v2"])
        try migrator.migrate(writer)
        #expect(try writer.read { (db) throws in try migrator.plan(db) }.steps == [])
        try writer.close()
    }

    @Test func thePlanOfAMigrationThatWillFail() throws {
        let queue = try DatabaseQueue()
        try MigratorTests.players().migrate(queue)
        let migrator = MigratorTests.players { migrator in
            migrator.registerMigration("v4") { db in try db.makePlayers() }
        }
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { (db) throws in try migrator.plan(db) }
        }
        #expect(error?.message == "table player already exists")
    }

    @Test func argumentsAreShownWhereTheyArePublic() throws {
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        let queue = try DatabaseQueue(configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["x"])
                return .commit
            }
        }
        let plan = try queue.read { db in try migrator.plan(db) }
        #expect(plan.steps.map(\.statements) == [["CREATE TABLE t (a)", "INSERT INTO t VALUES ('x')"]])
    }

    // MARK: - The database in which migrations run again

    /// `prepareDatabase` runs on it too, and may ask for what only a file with a name has.
    @Test func theScratchDatabaseIsAFile() throws {
        let folder = try TemporaryFolder()
        let paths = Recorded<[String]>([])
        let fails = Recorded(false)
        struct Refused: Error {}
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            var flag: CInt = 1
            let code = sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            let path = try db.attachedDatabases()[0].path
            paths.update { $0.append(path) }
            if fails.value { throw Refused() }
            // A file that stays behind.
            _ = try String.fetchOne(db, sql: "PRAGMA main.journal_mode = WAL")
        }
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        let migrator = Self.migrator([nil], erases: true)
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        try queue.write { db in try db.execute(sql: "INSERT INTO t1 VALUES (1)") }
        fails.update { $0 = true }
        #expect(throws: Refused.self) { try migrator.migrate(queue) }
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t1") } == 1)
        #expect(paths.value.count == 3)
        for path in paths.value.dropFirst() {
            let scratch = URL(fileURLWithPath: path).deletingLastPathComponent().path
            #expect(path.hasSuffix("/scratch.sqlite"))
            #expect(!FileManager.default.fileExists(atPath: scratch), "\(scratch)")
        }
    }
}
