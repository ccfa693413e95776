import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Documents with one line: in an access of its own, or in the one that the thread has.
@Suite(.timeLimit(.minutes(1 * TestTime.factor))) struct BoundCollectionTests {
    let folder: TemporaryFolder
    private let year = books.path("year", as: Int.self)

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func make(isPool: Bool) throws -> any DatabaseWriter {
        let path = folder.file("a.sqlite")
        let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        try writer.write { db in try store.create(in: db) }
        return writer
    }

    /// Each verb, in the access that the caller has or in its own.
    private func useAll(_ shelf: CollectionWriter<Book, Reading>) throws {
        try shelf.set(key: "emma", emma)
        try shelf.set(key: "typee", typee, metadata: Reading(page: 1))
        #expect(try shelf.get(key: "emma") == emma && shelf.get(key: "none") == nil)
        #expect(try shelf.getMetadata(key: "typee") == Reading(page: 1))
        #expect(try shelf.replace(key: "typee", mobyDick) && !shelf.replace(key: "none", mobyDick))
        #expect(try shelf.replaceMetadata(key: "typee", Reading(page: 2)))
        let document = Document(key: "typee", object: mobyDick, metadata: Reading(page: 2))
        #expect(try shelf.getDocument(key: "typee") == document)
        #expect(try shelf.getDocuments(keys: ["typee", "none", "emma"]).map(\.key) == ["typee", "emma"])
        #expect(try shelf.contains(key: "emma") && !shelf.contains(key: "none"))
        #expect(try shelf.touch(key: "emma", .object) && !shelf.touch(key: "none"))
        #expect(try shelf.keys() == ["emma", "typee"])
        #expect(try shelf.count() == 2)
        #expect(try shelf.count { $0.filter(year > 1850) } == 1)
        #expect(try shelf.fetchAll().count == 2)
        #expect(try shelf.fetchAll { $0.filter(year > 1850) } == [document])
        #expect(try shelf.fetchOne { $0.order(year) }?.key == "emma")
        #expect(try shelf.remove(key: "emma") && !shelf.remove(key: "emma"))
        #expect(try shelf.remove(keys: ["typee", "emma"]) == 1)
        try shelf.set(key: "emma", emma)
        try shelf.set(key: "typee", typee)
        #expect(try shelf.removeAll { $0.filter(year < 1820) } == 1)
        #expect(try shelf.removeAll() == 1)
    }

    @Test(arguments: [false, true]) func inAnAccessOfItsOwn(isPool: Bool) throws {
        let writer = try make(isPool: isPool)
        try useAll(books.bound(to: writer))
        #expect(try writer.read { try store.count($0) } == 0)
    }

    @Test(arguments: [false, true]) func inTheAccessOfTheThread(isPool: Bool) throws {
        let writer = try make(isPool: isPool)
        let shelf = books.bound(to: writer)
        struct Undone: Error {}
        expectError(Undone.self) {
            try writer.write { db in
                try useAll(shelf)
                try shelf.set(key: "emma", emma)
                #expect(try books.get(db, key: "emma") == emma)
                throw Undone()
            }
        }
        #expect(try shelf.count() == 0)
        try writer.writeWithoutTransaction { _ in try useAll(shelf) }
        // A method that fails takes its own changes back.
        try writer.write { db in
            try shelf.set(key: "emma", emma)
            expectError(Undone.self) {
                try shelf.write { _ in
                    try shelf.remove(key: "emma")
                    throw Undone()
                }
            }
        }
        #expect(try shelf.keys() == ["emma"])
        #expect(try shelf.read { db in try (shelf.count(), store.count(db)) } == (1, 1))
    }

    @Test(arguments: [false, true]) func insideARead(isPool: Bool) throws {
        let writer = try make(isPool: isPool)
        let shelf = books.bound(to: writer)
        try writer.read { _ throws in
            #expect(try shelf.count() == 0)
            expectError(.SQLITE_READONLY) { try shelf.set(key: "emma", emma) }
            expectError(.SQLITE_READONLY) { try shelf.removeAll() }
        }
        if isPool {
            expectError(.SQLITE_READONLY, "table document can't be written inside a read of its database") {
                try writer.read { _ in try shelf.remove(key: "emma") }
            }
            try writer.write { _ in
                _ = try writer.read { _ in
                    expectError(.SQLITE_MISUSE) { try shelf.get(key: "emma") }
                }
            }
        }
    }

    @Test func ofASnapshot() throws {
        let pool = try DatabasePool(path: folder.file("b.sqlite"))
        try pool.write { db in
            try store.create(in: db)
            try books.set(db, key: "emma", emma)
        }
        let shelf = books.bound(to: try pool.makeSnapshot())
        try pool.write { _ = try store.removeAll($0) }
        #expect(try shelf.get(key: "emma") == emma)
        #expect(try shelf.count() == 1)
    }

    @Test(arguments: [false, true]) func asynchronously(isPool: Bool) async throws {
        let writer = try await onOwnThread { try make(isPool: isPool) }
        let shelf = books.bound(to: writer)
        try await shelf.set(key: "emma", emma)
        try await shelf.set(key: "typee", typee, metadata: Reading(page: 1))
        #expect(try await shelf.get(key: "emma") == emma)
        #expect(try await shelf.getMetadata(key: "typee") == Reading(page: 1))
        #expect(try await shelf.replace(key: "typee", mobyDick))
        #expect(try await shelf.replaceMetadata(key: "typee", nil))
        #expect(try await shelf.getDocument(key: "typee") == Document(key: "typee", object: mobyDick))
        #expect(try await shelf.getDocuments(keys: ["typee", "none"]).map(\.key) == ["typee"])
        #expect(try await shelf.contains(key: "emma"))
        #expect(try await shelf.touch(key: "emma"))
        #expect(try await shelf.keys() == ["emma", "typee"])
        #expect(try await shelf.count { $0.filter(year > 1850) } == 1)
        #expect(try await shelf.fetchAll { $0.filter(year > 1850) }.map(\.key) == ["typee"])
        #expect(try await shelf.fetchOne { $0.order(year) }?.key == "emma")
        #expect(try await shelf.read { db in try store.count(db) } == 2)
        #expect(try await shelf.write { db in try books.count(db) } == 2)
        #expect(try await shelf.remove(key: "emma"))
        #expect(try await shelf.remove(keys: ["typee", "emma"]) == 1)
        #expect(try await shelf.removeAll() == 0)
    }

    @Test func errors() async throws {
        let writer = try DatabaseQueue()
        let shelf = books.bound(to: writer)
        await expectError(.SQLITE_ERROR, "no such table: main.document") { try await shelf.get(key: "emma") }
        try await writer.write { db in
            try store.create(in: db)
            try db.execute(sql: "INSERT INTO document (collection, key, object) VALUES ('books', 'a', '{}')")
        }
        await expectError(
            DocumentError.self, "document books/a: could not decode the object as Book at title: key not found"
        ) {
            try await shelf.get(key: "a")
        }
        struct Refused: Error {}
        await expectError(Refused.self) { try await shelf.fetchAll { _ in throw Refused() } }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await shelf.set(key: "emma", emma)
        }
        await expectError(CancellationError.self) { try await task.value }
        #expect(try await shelf.count() == 1)
        try await onOwnThread { try writer.close() }
        await expectError(.SQLITE_MISUSE) { try await shelf.count() }
    }
}
