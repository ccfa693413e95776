import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Callbacks of records, time stamps, checks, conflict policies, and changes since a record was fetched.
enum CallbacksProgram: Program {
    static func run() throws {
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 1_000_000) }
        let dbQueue = try DatabaseQueue(configuration: configuration)
        try dbQueue.write { db in
            try db.create(table: "task") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull().unique()
                t.column("creationDate", .datetime).notNull()
                t.column("modificationDate", .datetime).notNull()
            }
            try db.create(table: "link") { t in
                t.primaryKey("url", .text)
                t.column("verified", .boolean).notNull()
            }
        }

        try dbQueue.write { db in
            var task = Task(title: "Write")
            print("- insert")
            try task.insert(db)
            print(task.creationDate?.timeIntervalSince1970 ?? -1)
            print("- update")
            task.title = "Write more"
            try task.update(db)
            print("- save")
            try task.save(db)
            print("- no change")
            print(try task.updateChanges(db) { $0.title = "Write more" })
            print("- change")
            print(try task.updateChanges(db) { $0.title = "Done" })
            print("- delete")
            print(try task.delete(db), try task.delete(db))
            print("- save again")
            try task.save(db)
            print("- refused")
            do {
                task.title = ""
                try task.update(db)
            } catch let error as ValidationError {
                print(error.reason)
            }
            print("- failing insert")
            do {
                var other = Task(title: "Done")
                try other.insert(db)
            } catch let error as DatabaseError {
                print(error.resultCode == .SQLITE_CONSTRAINT, error.message ?? "")
            }
            print("- upsert")
            var same = Task(title: "Done")
            try same.upsert(db)
            print(same.id == task.id, try Task.fetchCount(db))
            print("- upsert, and fetch")
            let upserted = try same.upsertAndFetch(db, onConflict: ["title"]) { _ in
                [Column("creationDate").noOverwrite]
            }
            print(upserted.title, upserted.id == task.id)
            print("- insert, and fetch")
            let fetched = try Task(title: "Next").insertAndFetch(db)
            print(fetched.title, fetched.modificationDate?.timeIntervalSince1970 ?? -1)
            print("- delete many")
            print(try Task.deleteAll(db))
        }

        try dbQueue.write { db in
            try Link(url: "a", verified: true).insert(db)
            try Link(url: "a", verified: false).insert(db)
            print(try Link.fetchAll(db).map(\.verified), try Link.fetchCount(db))
            try Link(url: "a", verified: true).insert(db, onConflict: .ignore)
            print(try Link.fetchAll(db).map(\.verified))
            do {
                try Link(url: "a", verified: true).insert(db, onConflict: .abort)
            } catch DatabaseError.SQLITE_CONSTRAINT {
                print("refused")
            }
        }

        try dbQueue.read { db in
            var link = try Link.fetchOne(db)!
            let before = link
            print(link.hasChanges(since: before))
            link.verified.toggle()
            for (column, oldValue) in try link.databaseChanges(from: before) {
                print(column, "was", oldValue)
            }
            print(try link.databaseChanges { $0.url = "b" }.keys.sorted(), link.url)
        }
    }
}

private struct ValidationError: Error {
    var reason: String
}

private struct Task: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var title: String
    var creationDate: Date?
    var modificationDate: Date?

    init(title: String) {
        self.title = title
    }

    mutating func willInsert(_ db: Database) throws {
        print("willInsert")
        let date = try db.transactionDate
        creationDate = creationDate ?? date
        modificationDate = modificationDate ?? date
    }

    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        print("aroundInsert begins")
        let inserted = try insert()
        print("aroundInsert ends", inserted.rowIDColumn ?? "none")
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        print(
            "didInsert",
            String.fromDatabaseValue(inserted.persistenceContainer["title"]?.databaseValue ?? .null) ?? "none")
        id = inserted.rowID
    }

    func willUpdate(_ db: Database, columns: Set<String>) throws {
        print("willUpdate", columns.sorted())
    }

    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        print("aroundUpdate begins")
        _ = try update()
        print("aroundUpdate ends")
    }

    func didUpdate(_ updated: PersistenceSuccess) {
        print("didUpdate")
    }

    func willSave(_ db: Database) throws {
        print("willSave")
        if title.isEmpty {
            throw ValidationError(reason: "a task has a title")
        }
    }

    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        print("aroundSave begins")
        _ = try save()
        print("aroundSave ends")
    }

    func didSave(_ saved: PersistenceSuccess) {
        print("didSave")
    }

    func willDelete(_ db: Database) throws {
        print("willDelete", db.isInsideTransaction)
    }

    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        print("aroundDelete", try delete())
    }

    func didDelete(deleted: Bool) {
        print("didDelete", deleted)
    }
}

private struct Link: Codable, FetchableRecord, PersistableRecord {
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace, update: .replace)

    var url: String
    var verified: Bool

    func hasChanges(since other: Link) -> Bool {
        !databaseEquals(other)
    }
}
