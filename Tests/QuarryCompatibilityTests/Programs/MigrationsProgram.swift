import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Migrations: in order, up to one, merged, failing, with foreign keys, and of another version of the program.
enum MigrationsProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        let migrator = migrator
        print(migrator.migrations)
        try migrator.migrate(dbQueue, upTo: "createAuthor")
        try dbQueue.read { db in
            print(
                try migrator.appliedMigrations(db), try migrator.hasCompletedMigrations(db), try db.tableExists("book"))
        }
        try migrator.migrate(dbQueue)
        try migrator.migrate(dbQueue)
        try dbQueue.read { db in
            print(
                try migrator.appliedMigrations(db), try migrator.completedMigrations(db),
                try migrator.hasCompletedMigrations(db))
            print(try migrator.appliedIdentifiers(db).sorted(), try migrator.hasBeenSuperseded(db))
            print(try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid"))
            print(
                try db.columns(in: "author").map(\.name), try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM book") ?? -1)
            print(
                try db.foreignKeys(on: "book").map(\.destinationTable),
                try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false)
        }

        // An older version of the program.
        var older = DatabaseMigrator()
        older.registerMigration("createAuthor") { _ in }
        try dbQueue.read { db in
            print("superseded", try older.hasBeenSuperseded(db), try older.hasCompletedMigrations(db))
        }
        try older.migrate(dbQueue)

        // A migration that fails is undone; those before it stay.
        var failing = migrator
        failing.registerMigration("addIndex") { db in
            try db.create(indexOn: "book", columns: ["title"])
        }
        failing.registerMigration("break") { db in
            try db.execute(sql: "INSERT INTO author (name, birthYear) VALUES ('Lost', 1)")
            try db.execute(sql: "INSERT INTO author (id, name) VALUES (1, 'Twice')")
        }
        do {
            try failing.migrate(dbQueue)
        } catch DatabaseError.SQLITE_CONSTRAINT {
            print("constraint")
        }
        try dbQueue.read { db in
            print(
                try failing.appliedMigrations(db).last ?? "none",
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM author") ?? -1)
            print(try db.indexes(on: "book").map(\.name).sorted())
        }

        // A foreign key that is broken when the migration ends.
        for checks in [DatabaseMigrator.ForeignKeyChecks.deferred, .immediate] {
            var breaking = DatabaseMigrator()
            breaking.registerMigration("breakKey", foreignKeyChecks: checks) { db in
                try db.execute(sql: "INSERT INTO book (title, authorId) VALUES ('Nobody''s', 99)")
            }
            do {
                try breaking.migrate(dbQueue)
            } catch let error as DatabaseError {
                print(error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY, error.resultCode == .SQLITE_CONSTRAINT)
            }
        }
        var unchecked = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        unchecked.registerMigration("leaveBroken") { db in
            try db.execute(sql: "INSERT INTO book (title, authorId) VALUES ('Nobody''s', 99)")
        }
        unchecked.registerMigration("repair") { db in
            try db.execute(sql: "DELETE FROM book WHERE authorId = 99")
            try db.checkForeignKeys()
        }
        try unchecked.migrate(dbQueue)
        print("repaired", try dbQueue.read { try $0.foreignKeyViolations().next() == nil })

        // Migrations that are merged into one.
        var merged = DatabaseMigrator()
        merged.registerMigration("library", merging: ["createAuthor", "createBook", "addBirthYear"]) { db, applied in
            print("merging", applied.sorted())
            if applied.isEmpty {
                try db.create(table: "author") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("name", .text).notNull()
                }
            }
        }
        merged.registerMigration("last") { db in
            print("last", try db.tableExists("author"))
        }
        try merged.migrate(dbQueue)
        print(try dbQueue.read(merged.appliedMigrations))
        let fresh = try DatabaseQueue()
        try merged.migrate(fresh)
        print(try fresh.read(merged.appliedMigrations), try fresh.read { try $0.tableExists("book") })

        // While a schema is designed.
        let designed = try DatabaseQueue()
        for columns in [["a"], ["a", "b"], ["a", "b"]] {
            var designing = DatabaseMigrator()
            designing.eraseDatabaseOnSchemaChange = true
            designing.registerMigration("v1") { db in
                try db.create(table: "draft") { t in
                    for column in columns {
                        t.column(column, .text)
                    }
                }
            }
            print("changes", try designed.read(designing.hasSchemaChanges))
            try designing.migrate(designed)
            try designed.write { db in
                try db.execute(sql: "INSERT INTO draft (a) VALUES ('kept')")
                print(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM draft") ?? -1, try db.columns(in: "draft").count)
            }
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("createAuthor") { db in
            try db.create(table: "author") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
        }
        migrator.registerMigration("createBook") { db in
            try db.create(table: "book") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.belongsTo("author", onDelete: .cascade).notNull()
            }
            try db.execute(
                sql: "INSERT INTO author VALUES (1, 'Melville'); INSERT INTO book VALUES (1, 'Moby-Dick', 1)")
        }
        migrator.registerMigration("addBirthYear") { db in
            // A table is made again: its books stay.
            try db.create(table: "new_author") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().collate(.localizedCaseInsensitiveCompare)
                t.column("birthYear", .integer)
            }
            try db.execute(sql: "INSERT INTO new_author SELECT id, name, NULL FROM author")
            try db.drop(table: "author")
            try db.rename(table: "new_author", to: "author")
        }
        return migrator
    }
}
