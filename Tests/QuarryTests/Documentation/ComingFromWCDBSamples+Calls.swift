import Foundation
import Quarry
import QuarryShared
import QuarryTableSchemas
import QuarryTables
import QuarryTestSupport
import Testing

// The rest of the code of the article "Coming from WCDB", and the names that it has.

extension ComingFromWCDBSamples {
    struct Edition: Codable, PersistableRecord, TableSchemaProviding {
        var id: Int64?
        var title: String
        var edition: Int
        var kind: String
        var sampleId: Int64?

        static var databaseSchema: TableSchema {
            TableSchema { t in
                // BindColumnConstraint(identifier, isPrimary: true, isAutoIncrement: true)
                t.column("id").primaryKey(autoincrement: true)
                // BindColumnConstraint(kind, isNotNull: true, defaultTo: "novel"), with a collation
                t.column("kind").notNull().defaults(to: "novel").collate(.nocase)
                // BindIndex(title.asIndex(orderBy: .descending), namedWith: "_byTitle")
                t.index(on: [Column("title").desc], suffix: "_byTitle")
                // BindIndex(kind, title, namedWith: "_unique", isUnique: true)
                t.index(on: ["kind", "title"], suffix: "_unique", unique: true)
                // BindMultiUnique(title, edition)
                t.uniqueKey(["title", "edition"])
                // BindMultiPrimary(title, edition), in place of a column that is the key
                // t.primaryKey(["title", "edition"])
                // BindChecks { edition > 0 }
                t.check(Column("edition") > 0)
                // BindForeginKey(identifier, foreignKey: ForeignKey().references(with: "sampleTable").columns(id))
                t.foreignKey(["sampleId"], references: "sampleTable", columns: ["id"], onDelete: .cascade)
            }
        }
    }

    @Test func bindings() throws {
        let sql = try database().write { db in
            try db.create(tableFor: Edition.self)
            return try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_schema WHERE tbl_name = 'edition' AND sql IS NOT NULL ORDER BY rowid")
        }
        #expect(
            sql == [
                """
                CREATE TABLE "edition" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "title" TEXT NOT NULL, \
                "edition" INTEGER NOT NULL, "kind" TEXT NOT NULL DEFAULT 'novel' COLLATE NOCASE, "sampleId" INTEGER, \
                UNIQUE ("title", "edition"), \
                FOREIGN KEY ("sampleId") REFERENCES "sampleTable"("id") ON DELETE CASCADE, CHECK ("edition" > 0))
                """,
                #"CREATE INDEX "edition_byTitle" ON "edition"("title" DESC)"#,
                #"CREATE UNIQUE INDEX "edition_unique" ON "edition"("kind", "title")"#,
            ])
    }

    @Test func inMemoryAndReadOnly() throws {
        let path = try database().path
        // createInMemoryDatabase()
        let scratch = try DatabaseQueue()
        // no call: content in memory that several queues share, each with a connection of its own
        let shared = try DatabaseQueue(named: "samples")
        // a read-only database
        var config = Configuration()
        config.readonly = true
        let reader = try DatabasePool(path: path, configuration: config)
        // no call: stops the running statements
        reader.interrupt()

        #expect(try reader.read { db in try db.tableExists("sampleTable") })
        #expect(throws: DatabaseError.self) {
            try reader.write { db in try db.execute(sql: "DELETE FROM sampleTable") }
        }
        for queue in [scratch, shared] { #expect(try queue.read { db in try !db.tableExists("sampleTable") }) }
    }

    @Test func severalTables() throws {
        let printed = Recorded<[String]>([])
        let print = { (values: Any...) in
            printed.update { $0.append(values.map { "\($0)" }.joined(separator: " ")) }
        }
        let table = try database().table(of: Sample.self)
        try table.insertAll([sample(1, "a"), sample(2, "b")])
        // prepareMultiSelect(on:fromTables: ["sampleTable", "sampleTable"]).where(…), allMultiObjects()
        struct Pair: Codable, FetchableRecord {
            var sample: Sample
            var part: Sample
        }
        let part = Sample.belongsTo(Sample.self, key: "part", using: ForeignKey(["part1"], to: ["id"]))
        let pairs = try table.read { db in try Sample.including(required: part).asRequest(of: Pair.self).fetchAll(db) }
        // prepareMultiSelect(on:fromTables: ["sampleTable", "sampleTable"]).where(…), nextMultiObject()
        let joined = Sample.all().join(Table<Sample>("sampleTable").all()) { sample, part in
            sample[Column("part1")] == part[Column("id")]
        }
        try table.read { db in
            let cursor = try joined.fetchCursor(db)
            while let (sample, part) = try cursor.next() { print(sample.identifier ?? 0, part.identifier ?? 0) }
        }
        #expect(pairs.map { [$0.sample.description, $0.part.description] } == [["a", "a"], ["b", "a"]])
        #expect(printed.value.sorted() == ["1 1", "2 1"])
    }

    struct Operations: DatabaseTracer {
        let write: @Sendable (String) -> Void
        let options: DatabaseTracing.Options

        init(write: @escaping @Sendable (String) -> Void) {
            self.write = write
            var options = DatabaseTracing.Options([.connections, .waits])
            options.waitThreshold = .milliseconds(1)
            self.options = options
        }

        func receive(_ event: DatabaseTraceEvent) {
            switch event {
            // Database.globalTraceDatabaseOperation: a handle was opened
            case .connectionOpened(let opening): write("opened in \(opening.duration)")
            case .connectionClosed: write("closed")
            // Database.globalTraceBusy(_:timeOut: 0.001)
            case .wait(let wait): write("waited \(wait.waited) for \(wait.holders.compactMap(\.label))")
            default: break
            }
        }
    }

    @Test func operations() async throws {
        let lines = Recorded<[String]>([])
        let database = SharedDatabase(path: folder.file("operations.sqlite"))
        let registration = database.addTracer(Operations { line in lines.update { $0.append(line) } })
        let (isWriting, mayEnd) = (Step("the write runs"), Step("the write may end"))
        let writer = OwnThread {
            try database.write { db in
                db.accessLabel = "import"
                isWriting.reach()
                try mayEnd.wait()
            }
        }
        try await isWriting.reached()
        let other = Task { try await database.write { _ in } }
        try await until("the wait is told") { lines.value.contains { $0.hasSuffix(#"for ["import"]"#) } }
        mayEnd.reach()
        try await writer.value
        try await other.value
        try await database.closeAsync()
        registration.remove()
        #expect(lines.value.first?.hasPrefix("opened in ") ?? false)
        #expect(lines.value.contains("closed"))
    }

    /// The calls of WCDB are all named, also those that have no counterpart.
    @Test func callsAreNamed() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let article = try String(
            contentsOf: root.appending(path: "Sources/Quarry/Quarry.docc/ComingFromWCDB.md"), encoding: .utf8)
        let names = """
            allMultiObjects begin() BindChecks BindColumnConstraint BindForeginKey BindIndex BindMultiPrimary \
            BindMultiUnique blockade() canOpen CancellationSignal checkIfCorrupted() close() commit() \
            create(index: create(table: createInMemoryDatabase() delete(where: drop(index: drop(table: \
            getColumn getDistinctColumn getDistinctValue getFilesSize() getObject getObjects getRow getRows getTable \
            getValue globalTrace(ofError globalTrace(ofPerformance globalTrace(ofSQL globalTraceBusy \
            globalTraceDatabaseOperation insert(objects: insertOrIgnore insertOrReplace interrupt isBlockaded \
            isInTransaction isOpened isTableExists moveFiles nextObject() prepareMultiSelect prepareSelect \
            purgeFreeHandles() purgeFreeHandlesInAllDatabases() read-only removeFiles() rollback() \
            run(controllableTransaction: run(embeddedTransaction: run(pausableTransaction: run(transaction: \
            setNotification(whenCorrupted: StatementDelete StatementInsert StatementSelect StatementUpdate \
            TableBinding tag trace(ofError trace(ofPerformance trace(ofSQL unblockade() update(on: withExistingTag \
            withFileURL withPath
            """
        for name in names.split(separator: " ") { #expect(article.contains(name), "\(name) isn't named") }
    }
}
