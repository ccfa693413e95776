import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite("Persistence callbacks") struct CallbackTests {
    final class Calls {
        var names: [String] = []
    }

    struct Watched: MutablePersistableRecord, FetchableRecord {
        static let databaseTableName = "player"
        var calls = Calls()
        var id: Int64?
        var name: String
        var failsIn = ""

        init(calls: Calls, id: Int64? = nil, name: String) {
            self.calls = calls
            self.id = id
            self.name = name
        }

        init(row: Row) throws {
            id = row["id"]
            name = row["name"]
        }

        func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["name"] = name
        }

        func note(_ name: String) throws {
            calls.names.append(name)
            if name == failsIn { throw Failure() }
        }

        struct Failure: Error {}

        mutating func willInsert(_ db: Database) throws { try note("willInsert") }

        func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
            try note("aroundInsert")
            let inserted = try insert()
            let column = inserted.rowIDColumn ?? "-"
            try note("inserted \(inserted.rowID) \(column) \(inserted.isInserted) \(inserted.persistenceContainer)")
        }

        mutating func didInsert(_ inserted: InsertionSuccess) {
            try? note("didInsert")
            id = inserted.rowID
        }

        func willUpdate(_ db: Database, columns: Set<String>) throws { try note("willUpdate \(columns.sorted())") }

        func aroundUpdate(
            _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
        ) throws {
            try note("aroundUpdate \(columns.sorted())")
            try note("updated \(try update().persistenceContainer)")
        }

        func didUpdate(_ updated: PersistenceSuccess) { try? note("didUpdate") }

        func willSave(_ db: Database) throws { try note("willSave") }

        func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
            try note("aroundSave")
            try note("saved \(try save().persistenceContainer)")
        }

        func didSave(_ saved: PersistenceSuccess) { try? note("didSave") }

        func willDelete(_ db: Database) throws { try note("willDelete") }

        func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
            try note("aroundDelete")
            try note("deleted \(try delete())")
        }

        func didDelete(deleted: Bool) { try? note("didDelete \(deleted)") }
    }

    private func calls(_ calls: Calls, _ body: () throws -> Void) rethrows -> [String] {
        calls.names = []
        try body()
        return calls.names
    }

    @Test func callbacksRunInOrder() throws {
        try withTables { (db) throws in
            let log = Calls()
            var player = Watched(calls: log, name: "A")
            let inserted = [
                "willSave", "aroundSave", "willInsert", "aroundInsert", "inserted 1 id true [id:1 name:\"A\"]",
                "didInsert", "saved [id:1 name:\"A\"]", "didSave",
            ]
            #expect(try calls(log) { try player.insert(db) } == inserted)
            #expect(player.id == 1)
            let columns = #"["id", "name", "score"]"#
            #expect(
                try calls(log) { try player.update(db) } == [
                    "willSave", "aroundSave", "willUpdate \(columns)", "aroundUpdate \(columns)",
                    "updated [id:1 name:\"A\"]", "didUpdate", "saved [id:1 name:\"A\"]", "didSave",
                ])
            #expect(
                try calls(log) { try player.update(db, columns: ["name"]) }.filter { $0.contains("pdate ") } == [
                    #"willUpdate ["name"]"#, #"aroundUpdate ["name"]"#,
                ])
            #expect(try calls(log) { _ = try player.updateChanges(db) { _ in } } == [])
            #expect(try calls(log) { try player.upsert(db) } == inserted)
            #expect(try calls(log) { _ = try player.upsertAndFetch(db) } == inserted)
            #expect(
                try calls(log) { try player.delete(db) } == [
                    "willDelete", "aroundDelete", "deleted true", "didDelete true",
                ])
            #expect(
                try calls(log) { try player.delete(db) } == [
                    "willDelete", "aroundDelete", "deleted false", "didDelete false",
                ])
            // A save that finds no row inserts.
            #expect(
                try calls(log) { try player.save(db) } == [
                    "willSave", "aroundSave", "willUpdate \(columns)", "aroundUpdate \(columns)", "willInsert",
                    "aroundInsert", "inserted 1 id true [id:1 name:\"A\"]", "didInsert", "saved [id:1 name:\"A\"]",
                    "didSave",
                ])
            var new = Watched(calls: log, name: "B")
            #expect(
                try calls(log) { try new.save(db) } == [
                    "willSave", "aroundSave", "willInsert", "aroundInsert", "inserted 2 id true [id:2 name:\"B\"]",
                    "didInsert", "saved [id:2 name:\"B\"]", "didSave",
                ])
        }
    }

    @Test func nothingInserted() throws {
        try withTables { (db) throws in
            let log = Calls()
            var player = Watched(calls: log, name: "A")
            try player.insert(db)
            var other = Watched(calls: log, name: "A")
            #expect(
                try calls(log) { try other.insert(db, onConflict: .ignore) } == [
                    "willSave", "aroundSave", "willInsert", "aroundInsert",
                    "inserted 1 id false [id:NULL name:\"A\"]", "saved [id:NULL name:\"A\"]", "didSave",
                ])
            #expect(other.id == nil)
        }
    }

    @Test(arguments: ["willSave", "aroundSave", "willInsert", "aroundInsert"]) func oneThatThrows(
        _ callback: String
    ) throws {
        try withTables { (db) throws in
            let log = Calls()
            var player = Watched(calls: log, name: "A")
            player.failsIn = callback
            #expect(throws: Watched.Failure.self) { try player.insert(db) }
            #expect(log.names.last == callback)
            #expect(player.id == nil)
            #expect(try Watched.fetchCount(db) == 0)
        }
    }

    @Test func errorsGoThrough() throws {
        try withTables { (db) throws in
            let log = Calls()
            var player = Watched(calls: log, name: "A")
            try player.insert(db)
            expectError(.SQLITE_CONSTRAINT_PRIMARYKEY) { try player.insert(db) }
            #expect(log.names.last == "aroundInsert")
            let missing = Watched(calls: log, id: 99, name: "B")
            expectError(RecordError.self, "Key not found in table player: [id:99]") { try missing.update(db) }
            #expect(log.names.last?.hasPrefix("aroundUpdate") == true)
        }
    }

    /// How a callback can be wrong.
    enum Fault: String, CaseIterable {
        case callsNothing, hidesTheError, callsTwice
    }

    struct Faulty: PersistableRecord {
        static let databaseTableName = "player"
        var id: Int64
        var fault: Fault
        var callback: String

        func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["name"] = "A"
        }

        private func run(_ name: String, _ action: () throws -> Void) throws {
            guard name == callback else { return try action() }
            switch fault {
            case .callsNothing: break
            case .hidesTheError: try? action()
            case .callsTwice:
                try action()
                try action()
            }
        }

        func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
            try run("aroundInsert") { _ = try insert() }
        }

        func aroundUpdate(
            _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
        ) throws {
            try run("aroundUpdate") { _ = try update() }
        }

        func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
            try run("aroundSave") { _ = try save() }
        }

        func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
            try run("aroundDelete") { _ = try delete() }
        }
    }

    @Test(arguments: Fault.allCases, ["aroundInsert", "aroundSave", "aroundUpdate", "aroundDelete"])
    func aroundCallbackMustCallItsBodyOnce(_ fault: Fault, _ callback: String) throws {
        try withTables { (db) throws in
            try db.execute(
                sql: """
                    INSERT INTO player (id, name) VALUES (1, 'A'), (2, 'B');
                    CREATE TRIGGER keep BEFORE DELETE ON player WHEN OLD.id = 1 BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
            // The row with id 1 is in the way of an insert, and can't be deleted; 2 takes the name of 1.
            let isInsert = callback == "aroundInsert" || callback == "aroundSave"
            let id: Int64 =
                switch fault {
                case .hidesTheError: callback == "aroundUpdate" ? 2 : 1
                default: isInsert ? 3 : callback == "aroundUpdate" ? 1 : 2
                }
            if isInsert, fault != .hidesTheError { try db.execute(sql: "UPDATE player SET name = 'C' WHERE id = 1") }
            let faulty = Faulty(id: id, fault: fault, callback: callback)
            let error = expectError(.SQLITE_MISUSE) {
                switch callback {
                case "aroundUpdate": try faulty.update(db)
                case "aroundDelete": try faulty.delete(db)
                default: try faulty.insert(db)
                }
            }
            #expect(error?.message == "`Faulty.\(callback)` must call its action, once, and let its error through")
        }
    }

    @Test func aClassThatIsARecord() throws {
        final class Shared: PersistableRecord {
            static let databaseTableName = "player"
            let name: String
            // One thread uses the record.
            nonisolated(unsafe) var id: Int64?
            init(name: String) { self.name = name }
            func encode(to container: inout PersistenceContainer) {
                container["id"] = id
                container["name"] = name
            }
            func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        try withTables { (db) throws in
            let shared = Shared(name: "A")
            try shared.insert(db)
            #expect(shared.id == 1)
            try shared.save(db)
            #expect(try shared.delete(db))
        }
    }
}
