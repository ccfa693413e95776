import Foundation
import Quarry
import QuarryExpectations
import QuarryIncrementalWrites
import QuarryRecovery
import QuarryShared
import QuarryTableSchemas
import QuarryTables
import QuarryTestSupport
import Testing

/// The code of the article "Coming from WCDB".
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ComingFromWCDBSamples {
    let folder = try! TemporaryFolder()

    struct Sample: Codable, FetchableRecord, MutablePersistableRecord, TableSchemaProviding {
        static let databaseTableName = "sampleTable"

        var identifier: Int64?
        var description: String?
        var part1: Int?

        enum CodingKeys: String, CodingKey {
            case identifier = "id"
            case description, part1
        }

        enum Columns {
            static let identifier = Column("id")
            static let description = Column("description")
        }

        static var databaseSchema: TableSchema {
            TableSchema { t in
                t.column("id").primaryKey(autoincrement: true)
                t.column("part1").defaults(to: 1).check { $0 > 0 }
                t.index(on: [Column("description").desc], suffix: "_byDescription")
            }
        }

        mutating func didInsert(_ inserted: InsertionSuccess) { identifier = inserted.rowID }
    }

    typealias Columns = Sample.Columns

    func database() throws -> DatabasePool {
        let database = try DatabasePool(path: folder.file("sample.sqlite"))
        try database.write { db in try db.create(tableFor: Sample.self) }
        return database
    }

    func sample(_ identifier: Int64, _ text: String) -> Sample {
        Sample(identifier: identifier, description: text, part1: 1)
    }

    /// Create, insert, update, delete, select, transactions, statistics: WCDB's walk-through as one program.
    @Test func walkThrough() async throws {
        let path = folder.file("walk-through.sqlite")
        let print = { @Sendable (_: Any...) in }
        // Create
        let database = try DatabasePool(path: path)
        try await database.write { db in try db.create(tableFor: Sample.self) }
        let table = database.table("sampleTable", of: Sample.self)

        // Insert
        var object = Sample(identifier: nil, description: "sample_insert", part1: 1)
        try await table.insert(&object)
        print(object.identifier ?? 0)  // 1
        let replacement = Sample(identifier: 1, description: "sample_insertOrReplace", part1: 2)
        try await table.insertAll([replacement], onConflict: .replace)

        // Update
        let model = Sample(identifier: nil, description: "sample_update", part1: nil)
        try await table.updateAll(set: ["description"], from: model) { $0.filter(Columns.identifier > 0) }

        // Delete
        try await table.deleteAll { $0.filter(Columns.identifier > 1).order(Columns.identifier.desc).limit(2) }

        // Select
        let objects = try await table.fetchAll { $0.filter(Columns.description == "sample_update") }
        let highest = try await table.fetchOne { $0.select(max(Columns.identifier), as: Int64.self) }

        // Transactions
        let first = object
        try await database.write { db in
            try table.insertAll([first], onConflict: .replace)
            try db.inSavepoint {
                try table.deleteAll()
                return .rollback
            }
        }

        // Statistics
        let statistics = database.statistics
        print(statistics.transactions.committed, statistics.writer.accessCount)

        #expect(objects.map(\.part1) == [2] && highest == 1)
        #expect(try await table.fetchAll().map(\.description) == ["sample_insert"])
        #expect(statistics.transactions.committed >= 6)
    }

    @Test func databases() async throws {
        let path = folder.file("folder/sample.sqlite")
        let url = URL(fileURLWithPath: folder.file("folder/../folder/sample.sqlite"))
        let printed = Recorded<[String]>([])
        let print = { @Sendable (values: Any...) in
            printed.update { $0.append(values.map { "\($0)" }.joined(separator: " ")) }
        }
        var config = Configuration()
        // WCDB makes missing folders.
        config.createsIntermediateDirectories = true
        // database.tag = 1
        config.label = "samples"
        // Database(withPath: path)
        let database = SharedDatabase(path: path, configuration: config)
        // Database(withFileURL: url), an alias
        let alias = SharedDatabase(path: url.path)
        print(alias.isSameDatabase(as: database))  // true
        // database.isOpened
        print(database.isOpened)  // false
        // database.canOpen
        print(database.canOpen)  // true
        print(alias.isOpened)  // true
        // canOpen is false: the reason
        try await database.open()
        // alias.path, alias.tag
        print(alias.path, alias.label ?? "")
        // database.close()
        try await database.closeAsync()
        print(alias.isOpened)  // false
        // an operation on a closed database opens it
        try await alias.write { db in try db.create(tableFor: Sample.self) }
        print(database.isOpened)  // true

        #expect(
            printed.value == ["true", "false", "true", "true", "\(database.path) samples", "false", "true"])
        expectError(.SQLITE_MISUSE) { try SharedDatabase(path: path, configuration: Configuration()).open() }
        expectError(.SQLITE_CANTOPEN) { try SharedDatabase(path: path + "/a.sqlite", configuration: config).open() }
        #expect(!SharedDatabase(path: path + "/a.sqlite", configuration: config).canOpen)
    }

    @Test func files() async throws {
        let printed = Recorded<[String]>([])
        let print = { @Sendable (value: Any) in printed.update { $0.append("\(value)") } }
        let archive = folder.path
        let database = SharedDatabase(path: folder.file("open.sqlite"))
        try await database.write { db in try db.create(tableFor: Sample.self) }
        // database.paths
        print(database.filePaths.count)  // 4
        // try database.getFilesSize()
        print(try database.fileSizes().total > 0)  // true
        // try database.close(onClosed: { try database.getFilesSize() })
        let byteCount = try await database.withClosedDatabase { files in try files.sizes().total }
        // try database.close(onClosed: { try database.moveFiles(toDirectory: archive) })
        try await database.withClosedDatabase { files in try files.move(to: archive + "/sample.sqlite") }
        // try database.close(onClosed: { try database.removeFiles() })
        try await database.withClosedDatabase { files in try files.remove() }
        // database.blockade(), database.isBlockaded
        let blockade = try await database.blockade()
        print(database.isBlockaded)  // true
        try blockade.files.replace(with: archive + "/sample.sqlite")
        // database.unblockade()
        blockade.end()

        #expect(byteCount > 0 && printed.value == ["4", "true", "true"] && !database.isBlockaded)
        #expect(try await database.read { db in try db.tableExists(Sample.databaseTableName) })
    }

    /// In a process of its own: other tests count their readers.
    @Test func memory() async {
        await #expect(processExitsWith: .success) { try await ComingFromWCDBSamples().useMemory() }
    }

    private func useMemory() async throws {
        let database = SharedDatabase(path: folder.file("sample.sqlite"))
        try await database.write { db in try db.create(tableFor: Sample.self) }
        _ = try await database.read { db in try db.tableExists(Sample.databaseTableName) }
        // database.purgeFreeHandles()
        database.releaseIdle()
        // no call: the readers stay open
        database.releaseIdle([.pages, .statements])
        // Database.purgeFreeHandlesInAllDatabases()
        DatabaseMemory.releaseIdle()
        #expect(database.isOpened && DatabaseMemory.releaseIdle().closedConnections == 0)
    }

    @Test func pools() async throws {
        let print = { @Sendable (_: Any...) in }
        let path = folder.file("sample.sqlite")
        let database = try DatabasePool(path: path)
        // database.path
        print(database.path)
        // database.close()
        try await database.closeAsync()
        expectError(.SQLITE_MISUSE) { try database.read { _ in } }
    }

    @Test func tags() throws {
        let path = folder.file("sample.sqlite")
        var config = Configuration()
        // database.tag = 3
        config.tag = 3
        let database = try DatabasePool(path: path, configuration: config)
        // database.tag
        let tag = database.configuration.tag
        // Database(withExistingTag: 3) of WCDB 1
        let databases = [3: database]
        let found = databases[3]
        #expect(tag == 3 && database.label == "3" && found === database)
        config.label = "samples"
        #expect(config.tag == nil)
    }

    @Test func tables() throws {
        let path = folder.file("sample.sqlite")
        let database = try DatabasePool(path: path)
        // database.create(table: "sampleTable", of: Sample.self)
        try database.write { db in try db.create(tableFor: Sample.self) }
        // database.create(table:of:) again, after a property was added
        try database.write { db in _ = try db.synchronizeSchema(of: Sample.self) }
        // database.getTable(named: "sampleTable", of: Sample.self)
        let table = database.table("sampleTable", of: Sample.self)
        // try database.getTable(named:of:) of WCDB 1, which throws if the table doesn't exist
        let existing = try database.existingTable("sampleTable", of: Sample.self)
        // database.isTableExists("sampleTable")
        let exists = try database.read { db in try db.tableExists("sampleTable") }
        // database.create(index:), database.drop(index:), database.drop(table:)
        try database.write { db in
            try db.create(index: "sampleTable_index", on: "sampleTable", columns: ["part1"])
            try db.drop(index: "sampleTable_index")
            try db.drop(table: "sampleTable")
        }
        #expect(exists && table.tableName == existing.tableName)
        expectError(.SQLITE_ERROR, "no such table: sampleTable") {
            try database.existingTable("sampleTable", of: Sample.self)
        }
    }

    @Test func inserting() throws {
        let database = try database()
        let table = database.table(of: Sample.self)
        var object = Sample(identifier: nil, description: "a", part1: 1)
        let objects = [sample(2, "b"), sample(3, "c")]
        // object.isAutoIncrement = true; table.insert(objects: object); object.lastInsertedRowID
        try table.insert(&object)  // object.identifier is set
        // table.insert(objects: objects)
        try table.insertAll(objects)
        // table.insert(objects: object, on: Sample.Properties.description)
        try table.write { db in
            var partial = Sample(identifier: nil, description: "d", part1: nil)
            try partial.insert(db, columns: ["description"])
        }
        // table.insertOrReplace(objects: objects)
        try table.insertAll(objects, onConflict: .replace)
        // table.insertOrIgnore(objects: objects)
        let count = try table.insertAll(objects, onConflict: .ignore)

        #expect(object.identifier == 1 && count == 0)
        #expect(try table.fetchAll().map(\.part1) == [1, 1, 1, 1])
    }

    @Test func updatingAndDeleting() throws {
        let database = try database()
        let table = database.table(of: Sample.self)
        try table.insertAll((1...9).map { sample(Int64($0), "abc") })
        let object = sample(99, "new")
        // table.update(on: Sample.Properties.description, with: object, where:, orderBy:, limit:)
        try table.updateAll(set: ["description"], from: object) { $0.order(Columns.identifier).limit(2) }
        // table.update(on: [description, part1], with: ["row", 2], where: id == 1)
        _ = try table.write { db in
            try Sample.filter(key: 1).updateAll(db, set: ["description", "part1"], to: ["row", 2])
        }
        // table.delete(where: id > 2 && description == "abc", orderBy: [id.desc], limit: 2, offset: 3)
        try table.deleteAll {
            $0.filter(Columns.identifier > 2 && Columns.description == "abc").order(Columns.identifier.desc)
                .limit(2, offset: 3)
        }
        let ids = try table.fetchAll { $0.select(Columns.identifier, as: Int.self).order(Columns.identifier) }
        #expect(ids == [1, 2, 3, 4, 7, 8, 9])
        let texts = try table.fetchAll { $0.limit(3).select(Columns.description, as: String.self) }
        #expect(texts == ["row", "new", "abc"])
        // table.delete()
        try table.deleteAll()

        // The oracles: an offset alone skips, `limit 0` deletes nothing, `limit -1` all.
        try table.insertAll((1...4).map { sample(Int64($0), "x") })
        #expect(try table.deleteAll { $0.order(Columns.identifier).limit(0) } == 0)
        #expect(try table.deleteAll { $0.order(Columns.identifier).limit(-1, offset: 2) } == 2)
        #expect(try table.deleteAll { $0.limit(-1) } == 2)
        // Too few values throw, where WCDB writes NULL.
        expectError(.SQLITE_MISUSE) {
            try table.write { db in try Sample.all().updateAll(db, set: ["description", "part1"], to: ["row"]) }
        }
    }

    @Test func selecting() throws {
        let database = try database()
        let table = database.table(of: Sample.self)
        try table.insertAll([sample(1, "a"), sample(2, "b"), sample(3, "b")])
        // table.getObjects(where: id > 1)
        let objects = try table.fetchAll { $0.filter(Columns.identifier > 1) }
        // table.getObject(where: id == 1)
        let object = try table.fetchOne(key: 1)
        // table.getRows(on: [id, description]), rows[row: 0, column: 0].int64Value
        let rows = try table.fetchAll {
            $0.select(Columns.identifier, Columns.description).order(Columns.identifier).asRequest(of: Row.self)
        }
        let first: Int64 = rows[0][0]
        // table.getRow(offset: 1)
        let second = try table.fetchOne { $0.order(Columns.identifier).limit(1, offset: 1).asRequest(of: Row.self) }
        // table.getColumn(on: description)
        let column = try table.fetchAll { $0.select(Columns.description, as: String?.self) }
        // table.getDistinctColumn(on: description)
        let distinct = try table.fetchAll { $0.select(Columns.description, as: String.self).distinct() }
        // table.getValue(on: id.max())
        let highest = try table.fetchOne { $0.select(max(Columns.identifier), as: Int64.self) }
        // table.getDistinctValue(on: description, orderBy: description.desc)
        let last = try table.fetchOne { $0.select(Columns.description, as: String.self).distinct().reversed() }
        // prepareSelect(of:fromTable:).where(…), nextObject()
        try table.read { db in
            let cursor = try Sample.filter(Columns.identifier > 1).fetchCursor(db)
            while let object = try cursor.next() { print(object.description ?? "") }
        }
        #expect(objects.count == 2 && object?.description == "a" && first == 1)
        #expect(second?["description"] == "b" && column.count == 3 && distinct.sorted() == ["a", "b"])
        #expect(highest == 3 && last != nil)
        func print(_: Any) {}
    }

    @Test func transactions() async throws {
        let print = { @Sendable (_: Any...) in }
        let database = try database()
        let table = database.table(of: Sample.self)
        let objects = [sample(1, "a"), sample(2, "b")]
        // database.run(transaction: { … })
        _ = try await database.write { _ in try table.insertAll(objects) }
        // database.run(controllableTransaction: { … return false })
        try database.writeInTransaction { _ in
            try table.deleteAll()
            return .rollback
        }
        // database.run(embeddedTransaction: { … }), a nested run(controllableTransaction:)
        try await database.write { db in
            try db.inSavepoint {
                try table.deleteAll()
                return .rollback
            }
        }
        // database.begin(), database.commit(), database.rollback(), database.isInTransaction
        try await database.writeWithoutTransaction { db in
            try db.beginTransaction()
            try table.insertAll([Sample(identifier: 3, description: "c", part1: 1)])
            print(db.isInsideTransaction)
            try db.commit()
        }
        // table.run(transaction: { … })
        _ = try await table.write { db in try Sample.filter(key: 3).deleteAll(db) }
        // database.run(pausableTransaction: { handle, stop, isNewTransaction in … })
        try await database.writeIncrementally { step in
            try step.db.execute(sql: "DELETE FROM sampleTable WHERE id IN (SELECT id FROM sampleTable LIMIT 1)")
            return step.db.changesCount == 0 ? .done : .next
        }
        // a Result in place of an error
        let result = Result { try table.insertAll(objects) }

        #expect(try result.get() == 2)
        #expect(try await table.fetchCount() == 2)
    }

    /// The oracles of transactions.
    @Test func completions() throws {
        let database = try database()
        let table = database.table(of: Sample.self)
        // A nested rollback keeps the outer rows.
        try database.write { db in
            try table.insertAll([sample(1, "outer")])
            try db.inSavepoint {
                try table.insertAll([sample(2, "inner")])
                return .rollback
            }
        }
        #expect(try table.fetchAll().map(\.description) == ["outer"])
        // A nested ordinary transaction is an error.
        let error = expectError(DatabaseError.self) {
            try database.write { db in try db.inTransaction { .commit } }
        }
        #expect(error != nil)
        // A nested write through the table isn't: it joins.
        _ = try table.write { _ in try table.write { _ in try table.insertAll([sample(3, "joined")]) } }
        #expect(try table.fetchCount() == 2)
        expectError(.SQLITE_MISUSE) { try database.write { _ in try database.write { _ in } } }
    }

    @Test func statements() throws {
        let database = try database()
        // StatementInsert().insert(intoTable: "sampleTable").columns(id).values(99)
        let insert = Sample.insert(columns: [Columns.identifier], values: [[99]])
        // StatementUpdate().update(table: "sampleTable").set(description).to("new").where(id == 99)
        let update = Sample.filter(Columns.identifier == 99).update([Columns.description.set(to: "new")])
        // StatementSelect().select(description).from("sampleTable").where(id > 5)
        let select = Sample.filter(Columns.identifier > 5).select(Columns.description, as: String.self)
        // StatementDelete().delete(from: "sampleTable").where(id > 5)
        let delete = Sample.filter(Columns.identifier > 5).delete()
        // handle.exec(statement), handle.changes
        let (values, changes) = try database.write { db in
            try insert.execute(db)
            try update.execute(db)
            let values = try select.fetchAll(db)
            try delete.execute(db)
            return (values, db.changesCount)
        }
        #expect(values == ["new"] && changes == 1)
    }

    struct Log: DatabaseTracer {
        let write: @Sendable (String) -> Void
        var options = DatabaseTracing.Options([.statements, .errors])

        func receive(_ event: DatabaseTraceEvent) {
            switch event {
            case .statement(let statement): write("\(statement.duration) \(statement.sql)")
            case .failure(let failure): write("\(failure.severity): \(failure.error)")
            default: break
            }
        }
    }

    @Test func monitoring() async throws {
        let lines = Recorded<[String]>([])
        let log = Log { line in lines.update { $0.append(line) } }
        let path = folder.file("sample.sqlite")
        var config = Configuration()
        // database.setNotification(whenCorrupted: { … })
        config.onCorruption { event in log.write("\(event)") }
        let database = try DatabasePool(path: path, configuration: config)
        // Database.globalTrace(ofPerformance:), Database.globalTrace(ofSQL:), Database.globalTrace(ofError:)
        let ofAll = DatabaseTracing.addTracer(log)
        // database.trace(ofPerformance:), database.trace(ofSQL:), database.trace(ofError:)
        let ofOne = database.addTracer(log)
        ofAll.remove()
        _ = try? await database.read { db in try Int.fetchAll(db, sql: "SELECT id FROM nonexistentTable") }
        ofOne.remove()
        // database.checkIfCorrupted()
        let isDamaged = try await database.checkIntegrity(.full).isDamaged
        #expect(!isDamaged && lines.value.contains { $0.contains("no such table: nonexistentTable") })
    }
}

extension Configuration {
    /// The number that the label has.
    var tag: Int? {
        get { label.flatMap { Int($0) } }
        set { label = newValue.map { String($0) } }
    }
}
