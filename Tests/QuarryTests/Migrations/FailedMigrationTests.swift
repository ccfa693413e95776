import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Migrations that fail") struct FailedMigrationTests {
    private struct Refusal: Error, Equatable {}

    /// The whole content of a database.
    private static func content(_ writer: any DatabaseWriter) throws -> [Row] {
        try writer.read { db in
            let tables = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master ORDER BY name")
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            return try names.reduce(into: tables) { $0 += try Row.fetchAll(db, sql: "SELECT * FROM \"\($1)\"") }
        }
    }

    @Test(arguments: WriterKind.allCases) func leavesTheFileAsItWas(kind: WriterKind) throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try migrator.migrate(writer)
        let before = try Self.content(writer)
        migrator.registerMigration("v2") { db in
            try db.execute(sql: "INSERT INTO t VALUES (1); CREATE TABLE u (a); DROP TABLE missing")
        }
        migrator.registerMigration("v3") { _ in Issue.record("a migration has run after one that failed") }
        var failed: [String] = []
        let error = expectError(DatabaseError.self) {
            try migrator.migrate(writer) { if $0.state == .failed { failed.append($0.identifier) } }
        }
        #expect(failed == ["v2"])
        #expect(error?.resultCode == .SQLITE_ERROR)
        #expect(
            error?.description
                == "SQLite error 1: no such table: missing - in migration \"v2\" - while executing `DROP TABLE missing`"
        )
        #expect(try Self.content(writer) == before)
        try writer.close()
    }

    @Test func theFirstOneLeavesNothing() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            throw Refusal()
        }
        #expect(throws: Refusal()) { try migrator.migrate(queue) }
        #expect(try Self.content(queue) == [])
    }

    @Test func thoseBeforeItStay() throws {
        let queue = try DatabaseQueue()
        var migrator = MigratorTests.players()
        migrator.registerMigration("v4") { _ in throw Refusal() }
        #expect(throws: Refusal.self) { try migrator.migrate(queue) }
        let applied = try queue.read(migrator.appliedMigrations)
        #expect(applied == ["v1", "v2", "v3"])
    }

    @Test func theErrorIsThatOfTheMigration() throws {
        let queue = try DatabaseQueue()
        var migrator = MigratorTests.players()
        migrator.registerMigration("v4") { db in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (1)")
        }
        var isCaught = false
        do {
            try migrator.migrate(queue)
        } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
            isCaught = true
        }
        #expect(isCaught)
    }

    @Test func migrationMustNotEndItsTransaction() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.execute(sql: "COMMIT TRANSACTION") }
        let error = #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "the migration has ended its own transaction")
        let applied = try queue.read(migrator.appliedMigrations)
        #expect(applied == [])
    }

    @Test func rolledBackTransactionIsNotTakenForAnOpenOne() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE ON CONFLICT ROLLBACK); INSERT INTO t VALUES (1)")
            try? db.execute(sql: "INSERT INTO t VALUES (1)")
        }
        let error = #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(try Self.content(queue) == [])
    }

    // MARK: - Foreign keys

    /// A child row without a parent.
    private static let orphan = """
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (id INTEGER PRIMARY KEY, parentId INTEGER REFERENCES parent(id));
        INSERT INTO child VALUES (1, 7)
        """

    private static func migrator(_ checks: DatabaseMigrator.ForeignKeyChecks) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1", foreignKeyChecks: checks) { db in try db.execute(sql: orphan) }
        return migrator
    }

    @Test(arguments: [
        (
            DatabaseMigrator.ForeignKeyChecks.deferred,
            "FOREIGN KEY constraint violation - from child(parentId) to parent(id), in [id:1 parentId:7]"
        ),
        (.immediate, "FOREIGN KEY constraint failed"),
    ])
    func violations(checks: DatabaseMigrator.ForeignKeyChecks, message: String) throws {
        let queue = try DatabaseQueue()
        let error = #expect(throws: DatabaseError.self) { try Self.migrator(checks).migrate(queue) }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(error?.message == message)
        #expect(try Self.content(queue) == [])
        #expect(try queue.read { (db) throws in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") } == true)
    }

    @Test func deferredChecksAreNoneWhereForeignKeysAreOff() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(configuration: configuration)
        try Self.migrator(.deferred).migrate(queue)
        #expect(try queue.read { (db) throws in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") } == false)
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") } == 1)
    }

    @Test func disabledChecks() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator = migrator.disablingDeferredForeignKeyChecks()
        migrator.registerMigration("v1") { (db) throws in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false)
            try db.execute(sql: Self.orphan)
        }
        migrator.registerMigration("v2", foreignKeyChecks: .immediate) { (db) throws in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
        }
        try migrator.migrate(queue)
        #expect(try queue.read { (db) throws in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") } == true)
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") } == 1)
    }

    @Test func thoseRegisteredBeforeKeepTheirChecks() throws {
        let migrator = Self.migrator(.deferred).disablingDeferredForeignKeyChecks()
        #expect(throws: DatabaseError.self) { try migrator.migrate(DatabaseQueue()) }
    }

    @Test func referencedTableCanBeRecreated() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY, a);
                    CREATE TABLE child (id INTEGER PRIMARY KEY, parentId REFERENCES parent(id) ON DELETE CASCADE);
                    INSERT INTO parent VALUES (1, 2); INSERT INTO child VALUES (1, 1)
                    """)
        }
        migrator.registerMigration("v2") { db in
            try db.execute(
                sql: """
                    CREATE TABLE new_parent (id INTEGER PRIMARY KEY, a INTEGER NOT NULL);
                    INSERT INTO new_parent SELECT * FROM parent;
                    DROP TABLE parent;
                    ALTER TABLE new_parent RENAME TO parent
                    """)
        }
        try migrator.migrate(queue)
        #expect(try queue.read { (db) throws in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") } == 1)
        let keys = try queue.read { db in try db.foreignKeys(on: "child").map(\.destinationTable) }
        #expect(keys == ["parent"])
    }

    // MARK: - Each statement, each operation

    /// Migrations of all kinds, and what the database is after each.
    private static func allKinds() throws -> (migrator: DatabaseMigrator, states: [[Row]]) {
        var migrator = MigratorTests.players { migrator in
            migrator.registerMigration("v5", foreignKeyChecks: .immediate, checksum: "a") { db in
                try db.rebuild(table: "player") { t in
                    t.primaryKey("id", .integer)
                    t.column("name", .text).notNull()
                    t.column("score", .integer).notNull().defaults(to: 0)
                }
                try db.create(indexOn: "player", columns: ["score"])
            }
        }
        migrator.registerMigration("v6", merging: ["v4"], checksum: "b") { db, _ in
            try db.execute(sql: "UPDATE player SET score = score + 1; DELETE FROM player WHERE score < 0")
        }
        let whole = try DatabaseQueue()
        var states: [[Row]] = [[]]
        for identifier in migrator.migrations {
            try migrator.migrate(whole, upTo: identifier)
            states.append(try content(whole))
        }
        return (migrator, states)
    }

    @Test(arguments: [false, true]) func interruptedMigrationAppliesWhollyOrNotAtAll(isPool: Bool) throws {
        let (migrator, states) = try Self.allKinds()
        var number = 1
        var failures = 0
        while true {
            let folder = try TemporaryFolder(isFast: true)
            let path = folder.file("db")
            let writer: any DatabaseWriter =
                isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
            let failure = FailingStatement(nth: number)
            try writer.writeWithoutTransaction { db in failure.install(in: db) }
            let result = Result { try migrator.migrate(writer) }
            let hasFailed = failure.hasFailed
            try writer.writeWithoutTransaction { db in failure.remove(from: db) }
            let applied = try writer.read(migrator.appliedMigrations)
            #expect(try Self.content(writer) == states[applied.count], "statement \(number): \(failure.sql)")
            #expect(try writer.unsafeRead { (db) throws in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") } == true)
            switch result {
            case .success: #expect(applied == migrator.migrations, "statement \(number): \(failure.sql)")
            case .failure: failures += 1
            }
            // The migrator goes on after the last applied migration.
            try migrator.migrate(writer)
            #expect(try Self.content(writer) == states.last)
            try writer.close()
            guard hasFailed else { break }
            number += 1
        }
        // Some statements end before SQLite looks for an interruption.
        #expect(failures > 60)
    }

    @Test(arguments: [false, true]) func migrationOnAFailingDiskAppliesWhollyOrNotAtAll(isPool: Bool) throws {
        let (migrator, states) = try Self.allKinds()
        let faults = try FaultVFS()
        var configuration = Configuration()
        configuration.vfs = faults.name
        configuration.busyMode = .immediateError
        var number = 1
        var failures = 0
        while true {
            let folder = try TemporaryFolder(isFast: true)
            let path = folder.file("db")
            let writer: any DatabaseWriter =
                isPool
                ? try DatabasePool(path: path, configuration: configuration)
                : try DatabaseQueue(path: path, configuration: configuration)
            faults.arm(.all, nth: number)
            let result = Result { try migrator.migrate(writer) }
            let hasFailed = faults.failures > 0
            faults.disarm()
            try writer.close()
            // Another connection sees what is in the file.
            let queue = try DatabaseQueue(path: path)
            let applied = try queue.read(migrator.appliedMigrations)
            #expect(try Self.content(queue) == states[applied.count], "operation \(number)")
            switch result {
            case .success: #expect(applied == migrator.migrations, "operation \(number)")
            case .failure: failures += 1
            }
            try migrator.migrate(queue)
            #expect(try Self.content(queue) == states.last)
            guard hasFailed else { break }
            // Operations that are alike follow one another.
            number += 1 + number / 40
        }
        #expect(failures > 20)
    }
}

/// Interrupts the nth statement of a connection from now on, as it begins.
private final class FailingStatement: Sendable {
    private let nth: Int
    private struct State {
        var count = 0
        var sql = ""
        var client: HookSlots.Client?
    }
    private let state = Lock(State())

    init(nth: Int) { self.nth = nth }

    var hasFailed: Bool { state.withLock { $0.count >= nth } }
    var sql: String { state.withLock { $0.sql } }

    func install(in db: Database) {
        let client = db.hooks.onTrace(.statements) { [unowned db] event in
            guard case .statement(_, let text) = event else { return }
            let isNow = self.state.withLock { state in
                state.count += 1
                if state.count == self.nth { state.sql = String(cString: text) }
                return state.count == self.nth
            }
            if isNow { db.interrupt() }
        }
        state.withLock { $0.client = client }
    }

    func remove(from db: Database) {
        if let client = state.withLock({ $0.client }) { db.hooks.remove(client) }
    }
}
