import Quarry
import QuarryExpectations
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryTables

private struct Item: Codable, PersistableRecord, FetchableRecord, Equatable {
    static let databaseTableName = "item"
    var id: Int
    var name: String
    var score: Int?
}

private struct Failure: Error {}

/// One-line reads and writes of a table, alone and inside accesses.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct BoundTableTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ kind: WriterKind, _ configuration: Configuration = Configuration()) throws
        -> (any DatabaseWriter, TableWriter<Item>)
    {
        let writer = try kind.make(folder, configuration)
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER)")
        }
        return (writer, writer.table("item", of: Item.self))
    }

    private struct NewItem: Codable, MutablePersistableRecord, FetchableRecord, Equatable {
        static let databaseTableName = "item"
        var id: Int64?
        var name: String
        var score: Int?
        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    /// The other columns get their default values.
    @Test func someColumnsAreInserted() async throws {
        let (writer, items) = try make(.pool)
        let newItems = writer.table("item", of: NewItem.self)
        try await onOwnThread {
            try items.insert(Item(id: 1, name: "a", score: 1), columns: ["id", "name"])
            try items.insertAll([Item(id: 2, name: "b", score: 1)], columns: ["id", "name"])
            var item = NewItem(id: 9, name: "c", score: 1)
            try newItems.insert(&item, columns: ["name"])
            #expect(item.id == 3)
            try items.insert(Item(id: 1, name: "x", score: 1), onConflict: .ignore, columns: ["id", "name"])
        }
        try await items.insert(Item(id: 4, name: "d", score: 1), columns: ["id", "name"])
        try await items.insertAll([Item(id: 5, name: "e", score: 1)], columns: ["id", "name"])
        var item = NewItem(id: 9, name: "f", score: 1)
        try await newItems.insert(&item, columns: ["name"])
        #expect(item.id == 6)
        let names = try await items.fetchAll {
            $0.filter(Column("score") == nil).select(Column("name"), as: String.self)
        }
        #expect(names == ["a", "b", "c", "d", "e", "f"])
        #expect(try await items.fetchCount() == 6)
    }

    @Test(arguments: WriterKind.allCases) func synchronous(_ kind: WriterKind) throws {
        let (_, items) = try make(kind)
        try items.insert(Item(id: 1, name: "a", score: 1))
        #expect(try items.insertAll([Item(id: 2, name: "b", score: 2), Item(id: 3, name: "c", score: nil)]) == 2)
        #expect(try items.insertAll([]) == 0)
        #expect(try items.fetchCount() == 3)
        #expect(try items.fetchOne(key: 2) == Item(id: 2, name: "b", score: 2))
        #expect(try items.fetchOne(key: 9) == nil)
        let names = try items.fetchAll { $0.select(Column("name"), as: String.self).order(Column("id").desc) }
        #expect(names == ["c", "b", "a"])
        #expect(try items.fetchOne { $0.select(max(Column("score")), as: Int.self) } == 2)
        #expect(try items.fetchCount { $0.filter(Column("score") == nil) } == 1)
        try items.update(Item(id: 1, name: "A", score: 9), columns: ["name"])
        #expect(try items.fetchOne(key: 1) == Item(id: 1, name: "A", score: 1))
        try items.insert(Item(id: 1, name: "replaced", score: 0), onConflict: .replace)
        try items.insert(Item(id: 1, name: "ignored", score: 0), onConflict: .ignore)
        #expect(try items.fetchOne()?.name == "replaced")
        try items.upsert(Item(id: 1, name: "upserted", score: 5))
        #expect(try items.updateAll([Column("score") += 10]) { $0.filter(Column("id") == 1) } == 1)
        #expect(try items.exists(key: 1) && !items.exists(key: 7))
        #expect(try items.delete(Item(id: 1, name: "", score: nil)))
        #expect(try !items.deleteOne(key: 1))
        #expect(try items.deleteAll { $0.order(Column("id")).limit(1) } == 1)
        #expect(try items.fetchAll() == [Item(id: 3, name: "c", score: nil)])
        #expect(try items.deleteAll() == 1)
    }

    @Test(arguments: WriterKind.allCases) func asynchronous(_ kind: WriterKind) async throws {
        let (writer, items) = try make(kind)
        try await items.insert(Item(id: 1, name: "a", score: 1))
        #expect(try await items.insertAll([Item(id: 2, name: "b", score: 2)]) == 1)
        #expect(try await items.fetchCount() == 2)
        #expect(try await items.fetchAll().map(\.name) == ["a", "b"])
        #expect(try await items.fetchOne(key: 2)?.name == "b")
        #expect(try await items.fetchOne { $0.order(Column("id").desc) }?.name == "b")
        try await items.update(Item(id: 1, name: "A", score: 1))
        try await items.upsert(Item(id: 3, name: "c", score: nil))
        #expect(try await items.updateAll([Column("score").set(to: 0)]) == 3)
        #expect(
            try await items.updateAll(set: ["score"], from: Item(id: 0, name: "", score: 7)) { $0.filter(key: 3) } == 1)
        #expect(try await items.delete(Item(id: 1, name: "", score: nil)))
        #expect(try await items.deleteOne(key: 2))
        #expect(try await items.fetchAll() == [Item(id: 3, name: "c", score: 7)])
        #expect(try await items.write { db in try Item.fetchCount(db) } == 1)
        #expect(try await items.deleteAll() == 1)
        #expect(try await writer.existingTable("item", of: Item.self).fetchCount() == 0)
    }

    @Test func namesOfTables() throws {
        let (writer, items) = try make(.memoryQueue)
        #expect(writer.table(of: Item.self).tableName == "item" && items.tableName == "item")
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE old (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
        }
        // The same type in another table.
        let old = writer.table("old", of: Item.self)
        try old.insert(Item(id: 5, name: "o", score: nil))
        try old.update(Item(id: 5, name: "p", score: nil))
        try old.insertAll([Item(id: 6, name: "q", score: nil)])
        #expect(try old.fetchAll().map(\.name) == ["p", "q"] && items.fetchCount() == 0)
        #expect(try old.delete(Item(id: 6, name: "", score: nil)))
        expectError(.SQLITE_ERROR, "no such table: nothing") { try writer.existingTable("nothing", of: Item.self) }
        #expect(try writer.existingTable("OLD", of: Item.self).fetchCount() == 1)
        // Bound without a check, it fails at its use.
        let missing = writer.table("nothing", of: Item.self)
        let error = expectError(DatabaseError.self) { try missing.fetchAll() }
        #expect(error?.message == "no such table: nothing")
        #expect(error?.sql == #"SELECT * FROM "nothing""#)
    }

    @Test(arguments: WriterKind.allCases) func joinsAWrite(_ kind: WriterKind) throws {
        let (writer, items) = try make(kind)
        expectError(Failure.self) {
            try writer.write { db in
                try items.insert(Item(id: 1, name: "a", score: nil))
                #expect(try items.fetchCount() == 1)
                #expect(try items.read { inner in inner === db })
                #expect(try items.existing() == 1)
                throw Failure()
            }
        }
        #expect(try items.fetchCount() == 0)
        try writer.write { db in
            try items.insert(Item(id: 1, name: "a", score: nil))
            try expectEmitted(
                db, "SAVEPOINT quarry", #"INSERT INTO "item" ("id", "name", "score") VALUES (2,'b',NULL)"#,
                "RELEASE SAVEPOINT quarry"
            ) { try items.insert(Item(id: 2, name: "b", score: nil)) }
            // A method that fails takes back its own changes alone.
            expectError(.SQLITE_CONSTRAINT) {
                try items.insertAll([Item(id: 3, name: "c", score: nil), Item(id: 1, name: "again", score: nil)])
            }
            expectError(Failure.self) {
                try items.write { _ in
                    try items.deleteAll()
                    throw Failure()
                }
            }
        }
        #expect(try items.fetchAll().map(\.id) == [1, 2])
    }

    @Test(arguments: WriterKind.allCases) func joinsAnAccessWithoutTransaction(_ kind: WriterKind) throws {
        let (writer, items) = try make(kind)
        try writer.writeWithoutTransaction { db in
            try items.insert(Item(id: 1, name: "a", score: nil))
            #expect(!db.isInsideTransaction)
            #expect(try items.fetchCount() == 1)
            // A ROLLBACK in SQL under the method ends its transaction: it throws, and the connection is in order.
            #expect(throws: DatabaseError.self) {
                try items.write { db in
                    try items.insert(Item(id: 2, name: "b", score: nil))
                    try db.execute(sql: "ROLLBACK")
                    try items.insert(Item(id: 3, name: "c", score: nil))
                }
            }
            #expect(!db.isInsideTransaction)
        }
        try writer.barrierWriteWithoutTransaction { _ in try items.insert(Item(id: 4, name: "d", score: nil)) }
        try writer.unsafeReentrantWrite { _ in try items.insert(Item(id: 5, name: "e", score: nil)) }
        let ids = try items.fetchAll().map(\.id)
        #expect(ids.contains(1) && ids.contains(4) && ids.contains(5) && !ids.contains(2))
    }

    @Test(arguments: WriterKind.allCases) func joinsARead(_ kind: WriterKind) throws {
        let (writer, items) = try make(kind)
        try items.insert(Item(id: 1, name: "a", score: nil))
        try writer.read { (db) throws in
            #expect(try items.read { inner in inner === db })
            #expect(try items.fetchAll().count == 1)
            let writes: [() throws -> Void] = [
                { try items.insert(Item(id: 2, name: "b", score: nil)) },
                { try items.deleteAll() },
                { try items.write { _ in _ = Issue.record("has run") } },
            ]
            for write in writes {
                expectError(.SQLITE_READONLY, "table item can't be written inside a read of its database") {
                    try write()
                }
            }
        }
        try writer.unsafeRead { _ in
            #expect(try items.fetchAll().count == 1)
            if kind.isPool {
                expectError(.SQLITE_READONLY) { try items.deleteAll() }
            } else {
                try items.insert(Item(id: 2, name: "b", score: nil))
            }
        }
        // A read keeps its state.
        if kind.isPool {
            try writer.read { (db) throws in
                try onOtherThread { try items.insert(Item(id: 7, name: "later", score: nil)) }
                #expect(try items.fetchOne(key: 7) == nil)
            }
            #expect(try items.exists(key: 7))
        }
    }

    @Test(arguments: [WriterKind.pool, .anyPool]) func aReadAndAWriteOfAPool(_ kind: WriterKind) throws {
        let (pool, items) = try make(kind)
        let message = """
            table item is used where both a read and a write of its database are open: call a method that takes the \
            Database that is meant
            """
        try pool.write { db in
            try items.insert(Item(id: 1, name: "a", score: nil))
            try pool.read { (inner) throws in
                expectError(.SQLITE_MISUSE, message) { try items.fetchCount() }
                expectError(.SQLITE_MISUSE, message) { try items.deleteAll() }
                #expect(try Item.fetchCount(inner) == 0 && Item.fetchCount(db) == 1)
            }
            #expect(try items.fetchCount() == 1)
        }
        try pool.read { _ in
            _ = try pool.write { _ in expectError(.SQLITE_MISUSE, message) { try items.fetchCount() } }
        }
        #expect(try items.fetchCount() == 1)
    }

    @Test func otherDatabasesAreNotJoined() throws {
        let (queue, items) = try make(.fileQueue)
        let (pool, others) = try make(.pool)
        try queue.write { _ in
            try others.insert(Item(id: 1, name: "a", score: nil))
            try pool.write { _ in
                try others.insert(Item(id: 2, name: "b", score: nil))
                try items.insert(Item(id: 3, name: "c", score: nil))
            }
        }
        #expect(try items.fetchAll().map(\.id) == [3] && others.fetchAll().map(\.id) == [1, 2])
        // A snapshot is another database to join: a write beside its read goes ahead.
        let snapshot = try (pool as! DatabasePool).makeSnapshot()
        let frozen = snapshot.table("item", of: Item.self)
        try snapshot.read { db in
            try others.insert(Item(id: 4, name: "d", score: nil))
            #expect(try frozen.read { $0 === db })
            #expect(try frozen.fetchCount() == 2)
        }
        #expect(try others.fetchCount() == 3)
    }

    @Test(arguments: [AsyncExecution.automatic, .inline, .offloaded], WriterKind.allCases)
    func insideAsynchronousAccesses(_ execution: AsyncExecution, _ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        let (writer, items) = try make(kind, configuration)
        try await writer.write { db in
            try items.insert(Item(id: 1, name: "a", score: nil))
            #expect(try items.read { $0 === db })
        }
        // Each in a transaction that may be shared: the one that throws leaves nothing.
        await withTaskGroup(of: Void.self) { group in
            for id in 10..<40 {
                group.addTask {
                    _ = try? await writer.write { _ in
                        try items.insert(Item(id: id, name: "g", score: nil))
                        if id % 3 == 0 { throw Failure() }
                    }
                }
            }
        }
        #expect(try await items.fetchCount { $0.filter(Column("id") >= 10) } == 20)
        try await writer.read { (db) throws in
            #expect(try items.read { $0 === db })
            expectError(.SQLITE_READONLY) { try items.deleteAll() }
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await items.insert(Item(id: 2, name: "cancelled", score: nil))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        // A cancelled task's joined method throws the cancellation, and the write is rolled back.
        let joined = Task {
            try await writer.write { _ in
                try items.insert(Item(id: 3, name: "b", score: nil))
                withUnsafeCurrentTask { $0?.cancel() }
                try items.insert(Item(id: 4, name: "c", score: nil))
            }
        }
        await #expect(throws: CancellationError.self) { try await joined.value }
        #expect(try await items.fetchCount { $0.filter(Column("id") < 10) } == 1)
    }

    @Test func insideCallbacks() throws {
        let (writer, items) = try make(.memoryQueue)
        // A function of SQL may read, but not write in the middle of a statement that reads.
        try writer.write { db in
            try items.insert(Item(id: 1, name: "a", score: nil))
            db.add(function: DatabaseFunction("counted", argumentCount: 0) { _ in try items.fetchCount() })
            #expect(try Int.fetchOne(db, sql: "SELECT counted()") == 1)
            // After the commit the access is still there to be joined.
            db.afterNextTransaction { _ in
                #expect(throws: Never.self) { _ = try items.fetchCount() }
            }
        }
        try items.insert(Item(id: 2, name: "b", score: nil))
        #expect(try items.fetchCount() == 2)
    }

    @Test func closedAndReadOnly() throws {
        let (writer, items) = try make(.fileQueue)
        try items.insert(Item(id: 1, name: "a", score: nil))
        var configuration = Configuration()
        configuration.readonly = true
        let readOnly = try DatabaseQueue(path: writer.path, configuration: configuration)
        let frozen = readOnly.table("item", of: Item.self)
        #expect(try frozen.fetchCount() == 1)
        expectError(.SQLITE_READONLY) { try frozen.deleteAll() }
        try writer.close()
        expectError(.SQLITE_MISUSE, "Connection is closed") { try items.fetchCount() }
        expectError(.SQLITE_MISUSE, "Connection is closed") { try items.insert(Item(id: 2, name: "b", score: nil)) }
    }

    @Test func throwingParts() throws {
        let (_, items) = try make(.memoryQueue)
        try items.insert(Item(id: 1, name: "a", score: nil))
        expectError(Failure.self) { try items.deleteAll { _ in throw Failure() } }
        expectError(Failure.self) { try items.fetchAll { (_) -> QueryInterfaceRequest<Int> in throw Failure() } }
        #expect(try items.fetchCount() == 1)
    }
}

extension TableWriter {
    /// The count, through a check of the table.
    fileprivate func existing() throws -> Int {
        try database.existingTable(tableName, of: RowDecoder.self).fetchCount()
    }
}

private struct Numbered: Codable, MutablePersistableRecord, FetchableRecord {
    var id: Int64?
    var name: String
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

@Suite struct BoundTableRecordTests {
    @Test func theRecordTakesItsID() async throws {
        let dbQueue = try DatabaseQueue()
        try await dbQueue.write { db in
            try db.execute(sql: "CREATE TABLE numbered (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
        }
        let table = dbQueue.table(of: Numbered.self)
        var one = Numbered(id: nil, name: "a")
        try await table.insert(&one)
        #expect(one.id == 1)
        try joining(dbQueue, table)
        try await table.upsert(Numbered(id: 2, name: "c"))
        #expect(try await table.fetchAll().map(\.name) == ["a", "c"])
    }

    private func joining(_ dbQueue: DatabaseQueue, _ table: TableWriter<Numbered>) throws {
        var two = Numbered(id: nil, name: "b")
        try dbQueue.write { _ in try table.insert(&two) }
        #expect(two.id == 2)
        // If it fails, it is unchanged.
        var again = Numbered(id: nil, name: "a")
        #expect(throws: DatabaseError.self) { try dbQueue.write { _ in try table.insert(&again) } }
        #expect(again.id == nil)
    }
}
