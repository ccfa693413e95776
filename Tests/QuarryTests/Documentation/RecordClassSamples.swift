import Quarry
import QuarryTestSupport
import Testing

// The class of the page "Coming from GRDB".

/// The base class of records that know which of their columns have changed.
class Record: FetchableRecord, TableRecord, PersistableRecord {
    /// The columns as the database has them, by their names in lower case; nil for a record that was never in it.
    private var reference: [String: DatabaseValue]?

    /// Subclasses override these three.
    class var databaseTableName: String { "\(self)" }
    class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }
    class var databaseSelection: [any SQLSelectable] { [AllColumns()] }

    init() {}

    required init(row: Row) throws {
        keep(row)
    }

    func encode(to container: inout PersistenceContainer) throws {}

    // MARK: - Changes

    /// The columns with another value than the database has, and the value that it has; nil where that isn't known.
    final var databaseChanges: [String: DatabaseValue?] {
        get throws {
            var changes: [String: DatabaseValue?] = [:]
            for (column, value) in try databaseDictionary {
                let old = reference?[column.lowercased()]
                if old != value { changes.updateValue(old, forKey: column) }
            }
            return changes
        }
    }

    final var hasDatabaseChanges: Bool {
        guard let changes = try? databaseChanges else { return true }
        return !changes.isEmpty
    }

    private func keep(_ columns: some Sequence<(String, DatabaseValue)>) {
        reference = Dictionary(columns.map { ($0.lowercased(), $1) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: - Callbacks. An override calls that of `super`.

    func willInsert(_ db: Database) throws {}
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        keep(try insert().persistenceContainer)
    }
    func didInsert(_ inserted: InsertionSuccess) {}

    func willUpdate(_ db: Database, columns: Set<String>) throws {}
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        for (column, value) in try update().persistenceContainer where columns.contains(column) {
            reference = reference ?? [:]
            reference?[column.lowercased()] = value
        }
    }
    func didUpdate(_ updated: PersistenceSuccess) {}

    func willSave(_ db: Database) throws {}
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }
    func didSave(_ saved: PersistenceSuccess) {}

    func willDelete(_ db: Database) throws {}
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        if try delete() { reference = nil }
    }
    func didDelete(deleted: Bool) {}
}

extension PersistableRecord where Self: Record {
    /// Updates the columns that have changed. Returns whether there are any.
    @discardableResult
    func updateChanges(_ db: Database) throws -> Bool {
        let columns = try databaseChanges.keys
        if columns.isEmpty { return false }
        try update(db, columns: Set(columns))
        return true
    }
}

@Suite("Samples: a base class for records") struct RecordClassSamples {
    private final class Player: Record {
        var id: Int64?
        var name: String
        var score: Int

        override class var databaseTableName: String { "player" }

        init(id: Int64? = nil, name: String, score: Int) {
            self.id = id
            self.name = name
            self.score = score
            super.init()
        }

        required init(row: Row) throws {
            id = row["id"]
            name = row["name"]
            score = row["score"]
            try super.init(row: row)
        }

        override func encode(to container: inout PersistenceContainer) throws {
            container["ID"] = id
            container["name"] = name
            container["score"] = score
        }

        override func didInsert(_ inserted: InsertionSuccess) {
            super.didInsert(inserted)
            id = inserted.rowID
        }
    }

    private func withPlayers(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.makeUniquePlayers()
            try body(db)
        }
    }

    @Test func aRecordKnowsItsChanges() throws {
        try withPlayers { (db) throws in
            let player = Player(name: "Arthur", score: 1)
            #expect(player.hasDatabaseChanges)
            #expect(try player.databaseChanges == ["ID": nil, "name": nil, "score": nil])
            try player.insert(db)
            #expect(player.id == 1)
            #expect(!player.hasDatabaseChanges)
            #expect(try !player.updateChanges(db))
            player.score = 2
            player.name = "Barbara"
            #expect(try player.databaseChanges == ["name": "Arthur".databaseValue, "score": 1.databaseValue])
            try player.update(db, columns: ["name"])
            #expect(try player.databaseChanges == ["score": 1.databaseValue])
            #expect(try player.updateChanges(db))
            #expect(!player.hasDatabaseChanges)
            #expect(try Row.fetchAll(db, Player.all()) == [["id": 1, "name": "Barbara", "score": 2]])
        }
    }

    @Test func aFetchedRecordHasNone() throws {
        try withPlayers { (db) throws in
            try Player(name: "Arthur", score: 1).insert(db)
            let player = try #require(try Player.fetchOne(db, key: 1))
            #expect(!player.hasDatabaseChanges)
            player.score = 7
            try player.save(db)
            #expect(!player.hasDatabaseChanges)
            #expect(try player.delete(db))
            #expect(player.hasDatabaseChanges)
            try player.insert(db)
            #expect(!player.hasDatabaseChanges)
        }
    }

    @Test func aFailureChangesNothing() throws {
        try withPlayers { (db) throws in
            try Player(name: "Arthur", score: 1).insert(db)
            let player = Player(name: "Arthur", score: 2)
            #expect(throws: DatabaseError.self) { try player.insert(db) }
            #expect(player.hasDatabaseChanges)
            let other = try #require(try Player.fetchOne(db))
            other.name = "Barbara"
            try Player(name: "Barbara", score: 3).insert(db)
            #expect(throws: DatabaseError.self) { try other.updateChanges(db) }
            #expect(try other.databaseChanges == ["name": "Arthur".databaseValue])
        }
    }
}
