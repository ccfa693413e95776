import Quarry
import QuarryExpectations
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryTables

private struct Item: Codable, PersistableRecord, FetchableRecord, Equatable {
    static let databaseTableName = "item"
    var id: Int
    var name: String?
}

/// Raw SQL around the one-line reads and writes of a table.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct BoundTableSeamTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ kind: WriterKind) throws -> (any DatabaseWriter, TableWriter<Item>) {
        let writer = try kind.make(folder, Configuration())
        try writer.write { db in try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)") }
        return (writer, writer.table("item", of: Item.self))
    }

    /// A table that is dropped, made again and changed, between and inside accesses.
    @Test(arguments: WriterKind.allCases) func definitions(_ kind: WriterKind) throws {
        let (writer, items) = try make(kind)
        try items.insert(Item(id: 1, name: "a"))
        try writer.write { db in
            try db.execute(sql: "DROP TABLE item")
            expectError(.SQLITE_ERROR) { try items.fetchCount() }
            try db.execute(sql: "CREATE TABLE item (name TEXT, id INTEGER PRIMARY KEY, extra TEXT DEFAULT 'e')")
            try items.insert(Item(id: 2, name: nil))
            #expect(try items.fetchAll() == [Item(id: 2, name: nil)])
        }
        #expect(try items.fetchAll() == [Item(id: 2, name: nil)])
        try writer.write { db in try db.execute(sql: "ALTER TABLE item RENAME TO thing") }
        expectError(.SQLITE_ERROR) { try items.fetchCount() }
        expectError(.SQLITE_ERROR) { try items.insert(Item(id: 3, name: nil)) }
        #expect(try writer.table("thing", of: Item.self).fetchCount() == 1)
    }

    /// After SQL has ended the transaction, a joined write fails as the access's own statements do: it isn't committed
    /// alone.
    @Test(arguments: WriterKind.allCases) func transactionsByHand(_ kind: WriterKind) throws {
        let (writer, items) = try make(kind)
        expectError(.SQLITE_ABORT) {
            try writer.write { db in
                try items.insert(Item(id: 1, name: "a"))
                try db.execute(sql: "ROLLBACK")
                expectError(.SQLITE_ABORT) { try items.insert(Item(id: 2, name: "b")) }
            }
        }
        #expect(try items.fetchAll() == [])
        // A method that fails takes back its own changes alone.
        try writer.write { db in
            try items.insert(Item(id: 3, name: "c"))
            expectError(.SQLITE_CONSTRAINT) { try items.insertAll([Item(id: 4, name: "d"), Item(id: 3, name: "e")]) }
        }
        #expect(try items.fetchAll().map(\.id) == [3])
    }

    /// A table of an attached database with the same name isn't the bound one.
    @Test func attachedDatabases() throws {
        let (writer, items) = try make(.pool)
        try items.insert(Item(id: 1, name: "main"))
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS other", arguments: [folder.file("other.sqlite")])
            try db.execute(sql: "CREATE TABLE other.item (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO other.item VALUES (9, 'other')")
            #expect(try items.fetchAll() == [Item(id: 1, name: "main")])
            #expect(try items.deleteAll() == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other.item") == 1)
        }
    }

    /// Inside a savepoint that is rolled back, all that the methods have written is taken back.
    @Test(arguments: WriterKind.allCases) func savepoints(_ kind: WriterKind) throws {
        let (writer, items) = try make(kind)
        try writer.write { db in
            try items.insert(Item(id: 1, name: nil))
            try db.inSavepoint {
                try items.insert(Item(id: 2, name: nil))
                try items.deleteOne(key: 1)
                return .rollback
            }
            #expect(try items.fetchAll().map(\.id) == [1])
        }
        #expect(try items.fetchAll().map(\.id) == [1])
    }
}
