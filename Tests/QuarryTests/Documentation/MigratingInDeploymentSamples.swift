import Quarry
import QuarryIncrementalWrites
import QuarryRecovery
import QuarryTestSupport
import Testing

/// The code of the article "Migrating in deployment".
@Suite struct MigratingInDeploymentSamples {
    enum StartError: Error {
        case needsMigration
        case isTooOld
    }

    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("players.sqlite")
    }

    // MARK: - The releases

    enum Release1 {
        struct Player: Codable, FetchableRecord, MutablePersistableRecord {
            var id: Int64?
            var name: String
            var score: Int
        }

        static let migrator: DatabaseMigrator = {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("1: create player") { db in
                try db.create(table: "player") { t in
                    t.primaryKey("id", .integer)
                    t.column("name", .text).notNull()
                    t.column("score", .integer).notNull().defaults(to: 0)
                }
            }
            return migrator
        }()
    }

    enum Release2 {
        struct Player: Codable, FetchableRecord, MutablePersistableRecord {
            var id: Int64?
            var name: String
            var points: Int
        }

        static let migrator: DatabaseMigrator = {
            var migrator = Release1.migrator
            migrator.registerMigration("2: expand player.points") { db in
                try db.execute(
                    sql: """
                        ALTER TABLE player ADD COLUMN points INTEGER;
                        UPDATE player SET points = score;
                        CREATE TRIGGER player_insert AFTER INSERT ON player BEGIN
                            UPDATE player
                            SET points = coalesce(NEW.points, NEW.score), score = coalesce(NEW.points, NEW.score)
                            WHERE id = NEW.id;
                        END;
                        CREATE TRIGGER player_score AFTER UPDATE OF score ON player
                        WHEN NEW.score IS NOT OLD.score BEGIN
                            UPDATE player SET points = NEW.score WHERE id = NEW.id;
                        END;
                        CREATE TRIGGER player_points AFTER UPDATE OF points ON player
                        WHEN NEW.points IS NOT OLD.points BEGIN
                            UPDATE player SET score = NEW.points WHERE id = NEW.id;
                        END
                        """)
            }
            return migrator
        }()
    }

    static let release3: DatabaseMigrator = {
        var migrator = Release2.migrator
        migrator.registerMigration("3: contract player.score") { db in
            try db.execute(
                sql: """
                    CREATE TABLE newPlayer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, points INTEGER NOT NULL);
                    INSERT INTO newPlayer SELECT id, name, points FROM player;
                    DROP TABLE player;
                    ALTER TABLE newPlayer RENAME TO player
                    """)
            try db.setUserVersion(2)  // the oldest release that works on this schema
        }
        return migrator
    }()

    // MARK: - Start

    /// Opens the file as a release does: a pool of its own for each.
    private func open(release: Int, _ migrator: DatabaseMigrator) async throws -> DatabasePool {
        let dbPool = try await DatabasePool.open(path: path)
        let oldestRelease = try await dbPool.read { db in try db.userVersion() }
        guard release >= oldestRelease else { throw StartError.isTooOld }
        try await migrator.migrate(dbPool) { _ in }
        return dbPool
    }

    @Test func migrationsAreAStep() async throws {
        let logged = Recorded<[String]>([])
        let log = { @Sendable (line: String) in logged.update { $0.append(line) } }
        let migrator = Release2.migrator
        func start(_ command: String?, _ dbPool: DatabasePool) async throws {
            if command == "migrate" {
                try await migrator.migrate(dbPool) { progress in
                    log("\(progress.identifier), \(progress.index) of \(progress.count): \(progress.state)")
                }
            } else if try await !dbPool.read({ db in try migrator.hasCompletedMigrations(db) }) {
                throw StartError.needsMigration
            }
        }
        let dbPool = try await DatabasePool.open(path: path)
        await #expect(throws: StartError.needsMigration) { try await start(nil, dbPool) }
        try await Release1.migrator.migrate(dbPool) { _ in }
        await #expect(throws: StartError.needsMigration) { try await start(nil, dbPool) }
        try await start("migrate", dbPool)
        try await start(nil, dbPool)
        #expect(
            logged.value == ["2: expand player.points, 1 of 1: begins", "2: expand player.points, 1 of 1: committed"])
    }

    // MARK: - Two versions at once

    /// A row as a release sees it.
    private struct Seen: Equatable {
        var name: String
        var number: Int
    }

    private func oldPlayers(_ dbPool: DatabasePool) async throws -> [Seen] {
        try await dbPool.read { db in
            try Release1.Player.order(Column("name")).fetchAll(db).map { Seen(name: $0.name, number: $0.score) }
        }
    }

    private func newPlayers(_ dbPool: DatabasePool) async throws -> [Seen] {
        try await dbPool.read { db in
            try Release2.Player.order(Column("name")).fetchAll(db).map { Seen(name: $0.name, number: $0.points) }
        }
    }

    @Test func twoReleasesWriteOneFile() async throws {
        let old = try await open(release: 1, Release1.migrator)
        try await old.write { db in
            _ = try Release1.Player(id: nil, name: "Arthur", score: 300).inserted(db)
        }

        // Release 2 starts while release 1 runs.
        let new = try await open(release: 2, Release2.migrator)
        #expect(try await newPlayers(new) == [Seen(name: "Arthur", number: 300)])
        let insertions = try await old.write { db in
            try emitted(db) { _ = try Release1.Player(id: nil, name: "Barbara", score: 500).inserted(db) }
        }
        #expect(insertions.contains { $0.hasPrefix(#"INSERT INTO "player" ("id", "name", "score")"#) })
        try await new.write { db in
            _ = try Release2.Player(id: nil, name: "Craig", points: 700).inserted(db)
        }
        let three = [
            Seen(name: "Arthur", number: 300), Seen(name: "Barbara", number: 500), Seen(name: "Craig", number: 700),
        ]
        #expect(try await oldPlayers(old) == three)
        #expect(try await newPlayers(new) == three)

        // Each changes a row of the other, by a record and by SQL.
        try await old.write { db in
            var craig = try Release1.Player.filter(Column("name") == "Craig").fetchOne(db)!
            craig.score += 1
            try craig.update(db)
            try db.execute(sql: "UPDATE player SET score = score + 10")
        }
        try await new.write { db in
            var barbara = try Release2.Player.filter(Column("name") == "Barbara").fetchOne(db)!
            barbara.points += 2
            try barbara.update(db)
            try db.execute(sql: "UPDATE player SET points = points + 100")
        }
        let changed = [
            Seen(name: "Arthur", number: 410), Seen(name: "Barbara", number: 612), Seen(name: "Craig", number: 811),
        ]
        #expect(try await oldPlayers(old) == changed)
        #expect(try await newPlayers(new) == changed)

        // Release 2 is rolled back, and comes again.
        try await new.closeAsync()
        try await old.closeAsync()
        let again = try await open(release: 1, Release1.migrator)
        #expect(try await again.read(Release1.migrator.hasBeenSuperseded))
        try await again.write { db in _ = try Release1.Player(id: nil, name: "Daniel", score: 1).inserted(db) }
        try await again.closeAsync()

        // Release 3 contracts while release 2 runs.
        let second = try await open(release: 2, Release2.migrator)
        let third = try await open(release: 3, Self.release3)
        #expect(try await newPlayers(second) == changed + [Seen(name: "Daniel", number: 1)])
        try await second.write { db in _ = try Release2.Player(id: nil, name: "Eve", points: 2).inserted(db) }
        #expect(try await newPlayers(third).last == Seen(name: "Eve", number: 2))
        let triggers = try await third.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        }
        #expect(triggers == [])
        await #expect(throws: StartError.isTooOld) { _ = try await open(release: 1, Release1.migrator) }
    }

    @Test func insertionsByPositionFailAfterTheExpansion() async throws {
        let dbPool = try await open(release: 2, Release2.migrator)
        await expectError(.SQLITE_ERROR, "table player has 4 columns but 3 values were supplied") {
            try await dbPool.write { db in try db.execute(sql: "INSERT INTO player VALUES (NULL, 'Arthur', 300)") }
        }
    }

    // MARK: - Back

    @Test func aBackupBeforeTheContraction() async throws {
        let backupPath = folder.file("before-3.sqlite")
        let dbPool = try await open(release: 2, Release2.migrator)
        let migrator = Self.release3
        try await dbPool.backup(toFile: backupPath)
        try await migrator.migrate(dbPool) { _ in }

        try await dbPool.restore(from: backupPath)
        let columns = try await dbPool.read { db in try db.columns(in: "player").map(\.name) }
        #expect(columns == ["id", "name", "score", "points"])
        #expect(try await dbPool.read { db in try db.userVersion() } == 0)
    }

    @Test func aFailedMigrationLeavesTheReleaseBefore() async throws {
        let dbPool = try await open(release: 2, Release2.migrator)
        try await dbPool.write { db in
            try db.execute(sql: "DROP TRIGGER player_insert; INSERT INTO player (name) VALUES ('Arthur')")
        }
        let failed = Recorded<[String]>([])
        let migrator = Self.release3
        await expectError(.SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: newPlayer.points") {
            try await migrator.migrate(dbPool) { progress in
                if progress.state == .failed { failed.update { $0.append(progress.identifier) } }
            }
        }
        #expect(failed.value == ["3: contract player.score"])
        #expect(try await oldPlayers(dbPool) == [Seen(name: "Arthur", number: 0)])
        #expect(try await dbPool.read { db in try db.tableExists("newPlayer") } == false)
    }

    // MARK: - Long migrations

    @Test func rowsAreFilledInSteps() async throws {
        let dbPool = try await open(release: 1, Release1.migrator)
        try await dbPool.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
                    INSERT INTO player SELECT i, 'Player ' || i, i FROM n;
                    ALTER TABLE player ADD COLUMN points INTEGER;
                    UPDATE player SET points = -1 WHERE id = 1500
                    """)
        }
        let last = try await dbPool.read { db in try Int64.fetchOne(db, sql: "SELECT max(id) FROM player") } ?? 0
        try await dbPool.writeIncrementally(stride(from: 0, through: last, by: 1000)) { db, first in
            try db.execute(
                sql: "UPDATE player SET points = score WHERE id BETWEEN ? AND ? AND points IS NULL",
                arguments: [first, first + 999])
        }
        let different = try await dbPool.read { db in
            try Int.fetchAll(db, sql: "SELECT id FROM player WHERE points IS NOT score")
        }
        #expect(different == [1500])
    }

    @Test func aMigrationOfAnotherProcessMakesWritersWait() async throws {
        var config = Configuration()
        config.busyMode = .immediateError
        let dbPool = try await open(release: 1, Release1.migrator)
        let other = try await DatabasePool.open(path: path, configuration: config)
        let (begun, mayEnd) = (Step("the migration has begun"), Step("the migration may end"))
        var migrator = Release1.migrator
        migrator.registerMigration("long") { _ in
            begun.reach()
            try mayEnd.wait()
        }
        let long = migrator
        let migration = OwnThread { try long.migrate(dbPool) }
        try await begun.reached()
        await expectError(.SQLITE_BUSY, "database is locked") {
            try await other.write { db in try db.execute(sql: "DELETE FROM player") }
        }
        #expect(try await oldPlayers(other) == [])
        mayEnd.reach()
        try await migration.value
    }
}
