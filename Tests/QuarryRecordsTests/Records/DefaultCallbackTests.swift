import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Types that have some callbacks of their own: what is left to default implementations is skipped once it is known,
/// and nothing else changes.
@Suite("Callbacks that are left out") struct DefaultCallbackTests {
    final class Calls { var names: [String] = [] }

    struct WillInsert: MutablePersistableRecord, Encodable {
        static let databaseTableName = "only"
        var id: Int64?
        mutating func willInsert(_ db: Database) throws { id = (id ?? 0) + 100 }
    }

    struct DidInsert: MutablePersistableRecord, Encodable {
        static let databaseTableName = "only"
        var id: Int64?
        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct Saves: PersistableRecord {
        static let databaseTableName = "only"
        let calls: Calls
        var id: Int64?
        func encode(to container: inout PersistenceContainer) { container["id"] = id }
        func willSave(_ db: Database) throws { calls.names.append("willSave") }
        func didSave(_ saved: PersistenceSuccess) {
            calls.names.append("didSave \(saved.persistenceContainer["id"] ?? -1)")
        }
    }

    struct Around: PersistableRecord {
        static let databaseTableName = "only"
        let calls: Calls
        var id: Int64?
        func encode(to container: inout PersistenceContainer) { container["id"] = id }
        func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
            calls.names.append("before \(try insert().rowID)")
        }
        func didUpdate(_ updated: PersistenceSuccess) { calls.names.append("didUpdate") }
    }

    struct Updates: PersistableRecord {
        static let databaseTableName = "only"
        let calls: Calls
        var id: Int64?
        func encode(to container: inout PersistenceContainer) { container["id"] = id }
        func willUpdate(_ db: Database, columns: Set<String>) throws { calls.names.append("willUpdate \(columns)") }
    }

    @Test func aRecordThatCouldNotBeInsertedStaysAsItWas() throws {
        try withTables { (db) throws in
            for id: Int64 in 1...3 {
                var record = WillInsert(id: id)
                try record.insert(db)
                #expect(record.id == id + 100)
                // The row exists: it fails.
                var other = WillInsert(id: id)
                expectError(.SQLITE_CONSTRAINT) { try other.insert(db) }
                #expect(other.id == id)
            }
        }
    }

    @Test func didInsertIsCalledEachTime() throws {
        try withTables { (db) throws in
            for id: Int64 in 1...3 {
                var record = DidInsert(id: nil)
                try record.insert(db)
                #expect(record.id == id)
            }
            var records = [DidInsert(id: nil), DidInsert(id: nil)]
            try DidInsert.insertAll(db, &records)
            #expect(records.map(\.id) == [4, 5])
            try DidInsert.insertAll(db, [DidInsert(id: nil), DidInsert(id: nil)])
            #expect(try Only.fetchAll(db).map(\.id) == [1, 2, 3, 4, 5, 6, 7])
            var ignored = DidInsert(id: 1)
            #expect(try !ignored.insertOrIgnore(db))
            #expect(ignored.id == 1)
        }
    }

    @Test func whatIsDefinedIsCalledEachTime() throws {
        try withTables { (db) throws in
            let calls = Calls()
            for id: Int64 in 1...3 {
                calls.names = []
                try Saves(calls: calls, id: id).insert(db)
                try Saves(calls: calls, id: id).update(db)
                try Saves(calls: calls, id: id).save(db)
                let saved = ["willSave", "didSave \(id)"]
                #expect(calls.names == saved + saved + saved)
                calls.names = []
                try Around(calls: calls, id: id + 10).insert(db)
                try Around(calls: calls, id: id + 10).update(db)
                #expect(calls.names == ["before \(id + 10)", "didUpdate"])
                calls.names = []
                try Updates(calls: calls, id: id).update(db)
                try Updates(calls: calls, id: id).update(db, columns: ["id"])
                #expect(calls.names == [#"willUpdate ["id"]"#, #"willUpdate ["id"]"#])
                #expect(throws: RecordError.self) { () throws in try Updates(calls: calls, id: 99).update(db) }
            }
            calls.names = []
            try Around.insertAll(db, [Around(calls: calls, id: 21), Around(calls: calls, id: 22)])
            #expect(calls.names == ["before 21", "before 22"])
            // Not an array: its elements don't lie side by side.
            try Only.insertAll(db, (31...33).lazy.map { Only(id: $0) })
            #expect(try Only.fetchAll(db, keys: [31, 32, 33]).count == 3)
        }
    }
}
