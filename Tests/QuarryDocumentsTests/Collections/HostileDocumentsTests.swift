import Quarry
import QuarryDocuments
import QuarryIncrementalWrites
import QuarryTestSupport
import Testing

/// Closures that throw or use the store again, tables that vanish under statements, and bulks that are cancelled.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct HostileDocumentsTests {
    private struct Refused: Error {}

    private struct OldBook: Codable, Sendable {
        var name: String
    }

    private let oldBooks = store.collection("books", of: OldBook.self)

    /// The books in version 2, with a conversion.
    private func newBooks(
        _ convert: @escaping @Sendable (OldBook) throws -> Book
    ) -> DocumentCollection<Book, Never> {
        store.collection("books", of: Book.self).version(2).upgrading(1, from: OldBook.self, convert)
    }

    private static func book(_ old: OldBook) -> Book { Book(title: old.name, author: "", year: 0) }

    private func fill(_ db: Database, _ count: Int) throws {
        for number in 0..<count { try oldBooks.set(db, key: "\(number)", OldBook(name: "N \(number)")) }
    }

    private func versions(_ db: Database) throws -> [Int] {
        try Int.fetchAll(db, sql: "SELECT version FROM document ORDER BY key")
    }

    // MARK: - Closures

    @Test func closuresThatThrow() throws {
        try withBooks { db throws in
            var count = 0
            expectError(Refused.self) {
                try store.forEachKey(db) { _, _ in
                    count += 1
                    if count == 2 { throw Refused() }
                }
            }
            #expect(count == 2)
            expectError(Refused.self) {
                let documents = try books.all().orderedByKey().fetchCursor(db) { key in
                    if key == "typee" { throw Refused() }
                    return true
                }
                while try documents.next() != nil { count += 1 }
            }
            #expect(count == 4)
            expectError(Refused.self) {
                let pages = try books.all().fetchMetadataCursor(db) { _ in throw Refused() }
                _ = try pages.next()
            }
            // No statement is left open: the table can be dropped.
            try store.drop(in: db)
        }
    }

    /// A closure that changes the store which it enumerates: it is called for each document that stays.
    @Test func closuresThatUseTheStoreAgain() throws {
        try withBooks { db throws in
            try books.createTextIndex(db, "text", on: books.path("title", as: String.self))
            var found: [String] = []
            try store.forEachKey(db) { _, key in
                found.append(key)
                #expect(try books.contains(db, key: key))
                if key == "moby-dick" {
                    try books.remove(db, key: "typee")
                    try books.remove(db, key: key)
                }
                try store.forEachKey(db) { _, _ in }
            }
            #expect(found == ["emma", "moby-dick"])
            // The row was read before the closure has changed it.
            let documents = try books.all().fetchCursor(db) { key in
                try books.set(db, key: key, typee, metadata: books.getMetadata(db, key: key))
                return true
            }
            #expect(try documents.next() == Document(key: "emma", object: emma, metadata: Reading(page: 1)))
            #expect(
                try books.matching(#require(FTS5Pattern(matchingAllTokensIn: "typee")), in: "text").fetchCount(db) == 1)
        }
    }

    // MARK: - Tables that vanish

    @Test func droppedUnderACursor() throws {
        try withBooks { db throws in
            let documents = try books.all().orderedByKey().fetchCursor(db)
            #expect(try documents.next()?.key == "emma")
            expectError(.SQLITE_LOCKED) { try store.drop(in: db) }
            #expect(try documents.next()?.key == "moby-dick")
            #expect(try store.count(db) == 3)
        }
    }

    /// The statements that the connection keeps are for a table that is gone, and then for another one.
    @Test func droppedUnderKeptStatements() throws {
        try withBooks { db throws in
            func useAll() throws {
                try books.set(db, key: "emma", typee)
                #expect(try books.get(db, key: "emma") == typee)
                #expect(try books.touch(db, key: "emma") && books.contains(db, key: "emma"))
                #expect(try books.remove(db, key: "emma"))
            }
            try useAll()
            try store.drop(in: db)
            expectError(.SQLITE_ERROR, "no such table: main.document") { try useAll() }
            try db.execute(
                sql: """
                    CREATE TABLE document (
                        extra INTEGER DEFAULT 7, object TEXT, metadata TEXT, version INTEGER, key TEXT,
                        collection TEXT, PRIMARY KEY (collection, key))
                    """)
            try store.create(in: db)
            try useAll()
            try db.execute(sql: "ALTER TABLE document RENAME COLUMN version TO revision")
            expectError(.SQLITE_ERROR) { try useAll() }
            expectError(.SQLITE_MISUSE) { try store.create(in: db) }
        }
    }

    @Test func droppedByAnotherConnection() throws {
        let folder = try TemporaryFolder(isFast: true)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let other = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.write { db in
            try store.create(in: db)
            try books.set(db, key: "emma", emma)
        }
        #expect(try pool.read { try books.get($0, key: "emma") } == emma)
        try other.write { try store.drop(in: $0) }
        expectError(.SQLITE_ERROR, "no such table: main.document") { try pool.read { try books.get($0, key: "emma") } }
        expectError(.SQLITE_ERROR, "no such table: main.document") {
            try pool.write { try books.set($0, key: "emma", emma) }
        }
        try other.write { db in
            try store.create(in: db)
            try books.set(db, key: "emma", typee)
        }
        #expect(try pool.read { try books.get($0, key: "emma") } == typee)
    }

    /// ROLLBACK in SQL, in the midst of documents and their indexes.
    @Test func aRollbackInSQL() throws {
        let queue = try makeQueue()
        try queue.write { _ = try books.createTextIndex($0, "text", on: books.path("title", as: String.self)) }
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "BEGIN")
            try books.set(db, key: "emma", emma)
            try db.execute(sql: "SAVEPOINT a")
            try books.set(db, key: "typee", typee)
            try db.execute(sql: "ROLLBACK TO a")
            #expect(try books.keys(db) == ["emma"])
            try db.execute(sql: "ROLLBACK")
            #expect(try books.keys(db) == [])
            try books.set(db, key: "typee", typee)
            let pattern = try #require(FTS5Pattern(matchingAnyTokenIn: "emma typee"))
            #expect(try books.matching(pattern, in: "text").fetchKeys(db) == ["typee"])
        }
    }

    // MARK: - Bulks

    /// Cancelled in the midst: the open step is rolled back, earlier ones stay, and the next run goes on.
    @Test func aBulkThatIsCancelledInTheMidst() async throws {
        let queue = try makeQueue()
        try await queue.write { [self] db in try fill(db, 9) }
        let task = Recorded<Task<Int, any Error>?>(nil)
        let isStored = Step("the task is stored")
        let cancelled = newBooks { old in
            if old.name == "N 5" { task.value?.cancel() }
            return Self.book(old)
        }
        let started = Task {
            try await isStored.reached()
            return try await cancelled.upgradeAll(
                in: queue, batch: 2, pace: IncrementalWritePace(maximumHold: .zero))
        }
        task.update { $0 = started }
        isStored.reach()
        await expectError(CancellationError.self) { try await started.value }
        let found = try await queue.read { [self] db in try versions(db) }
        #expect(found == [2, 2, 2, 2, 1, 1, 1, 1, 1])
        let plain = newBooks { Self.book($0) }
        #expect(try await plain.upgradeAll(in: queue) == 5)
    }

    /// Another write drops the table between two steps.
    @Test func aBulkWhoseTableVanishes() async throws {
        try await onOwnThread { [self] in
            let queue = try makeQueue()
            try queue.write { try fill($0, 9) }
            let dropping = Recorded<OwnThread<Void>?>(nil)
            let collection = newBooks { old in
                if old.name == "N 0" {
                    dropping.update { $0 = OwnThread { try queue.write { try store.drop(in: $0) } } }
                    // This write runs, and the drop waits.
                    try spin(until: "the drop waits") { queue.pendingWriteCount == 2 }
                }
                return Self.book(old)
            }
            expectError(.SQLITE_ERROR, "no such table: main.document") {
                try collection.upgradeAll(in: queue, batch: 1)
            }
            #expect(try queue.read { try !store.exists(in: $0) })
            try queue.write { db in
                try store.create(in: db)
                try fill(db, 1)
            }
            #expect(try newBooks { Self.book($0) }.upgradeAll(in: queue) == 1)
        }
    }

    /// The conversion uses the database that is being converted.
    @Test func aConversionThatUsesTheDatabase() throws {
        let queue = try makeQueue()
        try queue.write { try fill($0, 2) }
        let collection = newBooks { old in
            _ = try queue.read { try store.count($0) }
            return Self.book(old)
        }
        expectError(
            DocumentError.self, "document books/0: could not upgrade the object to Book: it threw DatabaseError"
        ) { try collection.upgradeAll(in: queue) }
        #expect(try queue.read(versions) == [1, 1])
        #expect(try newBooks { Self.book($0) }.upgradeAll(in: queue) == 2)
    }
}
