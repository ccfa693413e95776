import Quarry
import QuarryTestSupport
import Testing

@Suite struct MigrationsSamples {
    /// Registers `v1` and `v2`, and migrates.
    private func migrated(_ dbPool: DatabasePool) throws -> DatabaseMigrator {
        var migrator = DatabaseMigrator()

        migrator.registerMigration("v1") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
        }

        migrator.registerMigration("v2") { db in
            try db.alter(table: "player") { t in
                t.add(column: "score", .integer).notNull().defaults(to: 0)
            }
        }

        try migrator.migrate(dbPool)
        return migrator
    }

    private func withPool(_ body: (DatabasePool, inout DatabaseMigrator) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let dbPool = try DatabasePool(path: folder.file("db"))
        var migrator = try migrated(dbPool)
        try body(dbPool, &migrator)
        try dbPool.close()
    }

    @Test func registering() throws {
        try withPool { (dbPool, migrator) throws in
            #expect(try dbPool.read(migrator.hasCompletedMigrations))
        }
    }

    @Test func failing() throws {
        try withPool { dbPool, migrator in
            migrator.registerMigration("v3") { db in try db.execute(sql: "DROP TABLE team") }
            do {
                try migrator.migrate(dbPool) { progress in
                    if progress.state == .failed { print("\(progress.identifier) has failed") }  // v3
                }
            } catch let error as DatabaseError {
                print(error.message ?? "")  // no such table: team
            }
            let error = #expect(throws: DatabaseError.self) { try migrator.migrate(dbPool) }
            #expect(error?.message == "no such table: team")
        }
    }

    @Test func inATask() async throws {
        let folder = try TemporaryFolder()
        let dbPool = try DatabasePool(path: folder.file("db"))
        var migrator = try await onOwnThread { try migrated(dbPool) }
        migrator.registerMigration("v3") { _ in }
        try await migrator.migrate(dbPool) { progress in
            print("\(progress.identifier), \(progress.index) of \(progress.count)")
        }
        let isComplete = try await dbPool.read { [migrator] db in try migrator.hasCompletedMigrations(db) }
        #expect(isComplete)
    }

    @Test func foreignKeys() throws {
        try withPool { (dbPool, migrator) throws in
            migrator.registerMigration("v3", foreignKeyChecks: .immediate) { db in
                try db.execute(sql: "UPDATE player SET score = score * 10")
            }
            try migrator.migrate(dbPool)
            #expect(try dbPool.read(migrator.hasCompletedMigrations))
        }
    }

    @Test func knowingBefore() throws {
        try withPool { (dbPool, migrator) throws in
            try dbPool.read { db in
                print(try migrator.appliedMigrations(db))  // ["v1", "v2"]
                print(try migrator.hasCompletedMigrations(db))  // true
                print(try migrator.hasBeenSuperseded(db))  // false
            }
            migrator.registerMigration("v3") { db in try db.execute(sql: "DELETE FROM player") }
            let plan = try dbPool.read { db in try migrator.plan(db) }
            for step in plan.steps {
                print(step.identifier, step.statements)
            }
            #expect(plan.description == "-- v3\nDELETE FROM player;")
        }
    }

    @Test func changing() throws {
        try withPool { (dbPool, migrator) throws in
            migrator.registerMigration("v4", checksum: "sha256:2c26b46b68ffc68f") { db in
                try db.create(indexOn: "player", columns: ["score"])
            }
            #if DEBUG
            migrator.eraseDatabaseOnSchemaChange = true
            #endif
            try migrator.migrate(dbPool)
            #expect(try dbPool.read(migrator.changedMigrations) == [])
            #expect(try dbPool.read(migrator.hasSchemaChanges) == false)
        }
    }

    @Test func merging() throws {
        try withPool { (dbPool, migrator) throws in
            var merged = DatabaseMigrator()
            merged.registerMigration("v2b", merging: ["v1", "v2"]) { db, applied in
                if !applied.contains("v1") {
                    try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
                }
                if !applied.contains("v2") {
                    try db.execute(sql: "ALTER TABLE player ADD COLUMN score INTEGER NOT NULL DEFAULT 0")
                }
            }
            try merged.migrate(dbPool)
            try merged.migrate(DatabaseQueue())
            #expect(try dbPool.read(merged.appliedIdentifiers) == ["v2b"])
        }
    }
}
