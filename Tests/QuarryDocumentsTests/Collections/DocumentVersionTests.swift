import Quarry
import QuarryDocuments
import QuarryIncrementalWrites
import QuarryTestSupport
import Testing

/// Objects of older versions, converted when they are read and in bulk.
@Suite(.timeLimit(.minutes(1 * TestTime.factor))) struct DocumentVersionTests {
    private struct First: Codable, Sendable {
        var name: String
    }

    private struct Second: Codable, Sendable {
        var first: String
        var last: String
    }

    private struct Person: Codable, Sendable, Equatable {
        var first: String
        var last: String
        var age: Int?
    }

    private struct NoName: Error {}

    private let firsts = store.collection("people", of: First.self, metadata: Int.self)
    private let seconds = store.collection("people", of: Second.self, metadata: Int.self).version(2)
    private let people = store.collection("people", of: Person.self, metadata: Int.self)
        .version(3)
        .upgrading(1, from: First.self) { old in
            let names = old.name.split(separator: " ").map(String.init)
            guard names.count == 2 else { throw NoName() }
            return Person(first: names[0], last: names[1], age: nil)
        }
        .upgrading(2, from: Second.self) { Person(first: $0.first, last: $0.last, age: 0) }

    private func fill(_ db: Database) throws {
        try firsts.set(db, key: "a", First(name: "Ada Lovelace"), metadata: 1)
        try seconds.set(db, key: "b", Second(first: "Alan", last: "Turing"), metadata: 2)
        try people.set(db, key: "c", Person(first: "Grace", last: "Hopper", age: 85), metadata: 3)
    }

    private let expected = [
        Person(first: "Ada", last: "Lovelace", age: nil), Person(first: "Alan", last: "Turing", age: 0),
        Person(first: "Grace", last: "Hopper", age: 85),
    ]

    @Test func convertedWhenRead() throws {
        try makeQueue().write { db throws in
            try fill(db)
            #expect(try people.get(db, key: "a") == expected[0])
            #expect(try people.getDocument(db, key: "b") == Document(key: "b", object: expected[1], metadata: 2))
            #expect(try people.all().orderedByKey().fetchAll(db).map(\.object) == expected)
            #expect(try Int.fetchAll(db, sql: "SELECT version FROM document ORDER BY key") == [1, 2, 3])
            // Written next, a document has the current version; metadata alone leaves it.
            try people.replace(db, key: "a", expected[0])
            try people.replaceMetadata(db, key: "b", 5)
            #expect(try Int.fetchAll(db, sql: "SELECT version FROM document ORDER BY key") == [3, 2, 3])
        }
    }

    @Test func versionsThatAreUnknown() throws {
        try makeQueue().write { db throws in
            try fill(db)
            expectError(
                DocumentError.self,
                "document people/c: could not upgrade the object to First: its version is 3, and the collection's is 1"
            ) { try firsts.get(db, key: "c") }
            expectError(
                DocumentError.self,
                """
                document people/a: could not upgrade the object to Second: \
                the collection, of version 2, has no upgrade from version 1
                """
            ) { try seconds.get(db, key: "a") }
            try firsts.set(db, key: "d", First(name: "Plato"))
            let error = expectError(
                DocumentError.self, "document people/d: could not upgrade the object to Person: it threw NoName"
            ) { try people.get(db, key: "d") }
            #expect(error?.underlyingError is NoName && error?.operation == .upgradingObject)
            try db.execute(sql: #"UPDATE document SET object = '{"name": 1}' WHERE key = 'd'"#)
            let mismatch = expectError(DocumentError.self) { try people.get(db, key: "d") }
            #expect(mismatch?.codingPath == ["name"])
        }
    }

    @Test(arguments: [1, 2, 3, 4, 100]) func convertedInBulk(batch: Int) async throws {
        let queue = try makeQueue()
        try await queue.write { db in
            try fill(db)
            let others = store.collection("pets", of: First.self)
            try others.set(db, key: "a", First(name: "Rex"))
        }
        #expect(try await people.upgradeAll(in: queue, batch: batch) == 2)
        try await queue.read { db throws in
            let rows = try Row.fetchAll(
                db, sql: "SELECT key, version, metadata, object FROM document WHERE collection = 'people' ORDER BY key")
            #expect(rows.map { $0["version"] } == [3, 3, 3])
            #expect(rows.map { $0["metadata"] } == ["1", "2", "3"])
            #expect(rows[0]["object"] == #"{"first":"Ada","last":"Lovelace"}"#)
            #expect(try people.all().orderedByKey().fetchAll(db).map(\.object) == expected)
            #expect(try Int.fetchOne(db, sql: "SELECT version FROM document WHERE collection = 'pets'") == 1)
        }
        #expect(try await people.upgradeAll(in: queue, batch: batch) == 0)
    }

    /// The pages of 1,000 documents, and the statements of one step.
    @Test func bulkInSteps() throws {
        let queue = try makeQueue()
        try queue.write { db in
            for number in 0..<1_000 { try firsts.set(db, key: "\(number)", First(name: "N \(number)")) }
            try firsts.set(db, key: "", First(name: "No Key"))
        }
        #expect(try people.upgradeAll(in: queue, batch: 7) == 1_001)
        try queue.write { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM document WHERE version = 3") == 1_001)
            #expect(try people.get(db, key: "999") == Person(first: "N", last: "999", age: nil))
            #expect(
                try SQLRequest<Row>(
                    sql: """
                        SELECT key, version, CASE WHEN version < 3 THEN object END FROM document \
                        WHERE collection = 'people' AND key > 'a' ORDER BY key LIMIT 7
                        """
                ).explain(db).description
                    == """
                    QUERY PLAN
                    `--SEARCH document USING INDEX sqlite_autoindex_document_1 (collection=? AND key>?)
                    """)
        }
    }

    /// Earlier transactions stay, the failed one is rolled back, and the next run goes on.
    @Test func aBulkThatFails() throws {
        let queue = try makeQueue()
        try queue.write { db in
            try firsts.set(db, key: "a", First(name: "Ada Lovelace"))
            try firsts.set(db, key: "b", First(name: "Plato"))
            try firsts.set(db, key: "c", First(name: "Alan Turing"))
        }
        let pace = IncrementalWritePace(maximumHold: .zero)
        expectError(
            DocumentError.self, "document people/b: could not upgrade the object to Person: it threw NoName"
        ) { try people.upgradeAll(in: queue, batch: 1, pace: pace) }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT version FROM document ORDER BY key") } == [3, 1, 1])
        try queue.write { try firsts.set($0, key: "b", First(name: "Plato Athens")) }
        #expect(try people.upgradeAll(in: queue, batch: 1, pace: pace) == 2)
        expectError(.SQLITE_MISUSE, "a batch has at least one document: 0") {
            try people.upgradeAll(in: queue, batch: 0)
        }
    }

    @Test func aCancelledBulk() async throws {
        let queue = try makeQueue()
        try await queue.write { db in try fill(db) }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await people.upgradeAll(in: queue)
        }
        await expectError(CancellationError.self) { try await task.value }
        #expect(
            try await queue.read { try Int.fetchAll($0, sql: "SELECT version FROM document ORDER BY key") } == [
                1, 2, 3,
            ])
    }

    /// Nested in an access of the same database.
    @Test func aBulkInsideAWrite() throws {
        let queue = try makeQueue()
        try queue.write { db throws in
            try fill(db)
            expectError(.SQLITE_MISUSE) { try people.upgradeAll(in: queue) }
            #expect(try people.get(db, key: "a") == expected[0])
        }
        #expect(try queue.read { try people.count($0) } == 3)
    }
}
