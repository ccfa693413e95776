import Quarry
import QuarryDocuments
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess

/// Changes by collection and key, from the stream of commits.
@Suite(.timeLimit(.minutes(1 * TestTime.factor))) struct DocumentChangesTests {
    private let films = store.collection("films", of: String.self)

    /// The commits of writes, one for each.
    private func commits(
        keys: Bool = true, _ writer: (any DatabaseWriter)? = nil, _ writes: (@Sendable (Database) throws -> Void)...
    ) async throws -> [DatabaseCommit] {
        let writer = try writer ?? makeQueue()
        var iterator = writer.commits(keys: keys).makeAsyncIterator()
        var commits: [DatabaseCommit] = []
        for write in writes {
            try await writer.write { db in try write(db) }
            commits.append(try #require(await iterator.next(isolation: nil)))
        }
        return commits
    }

    @Test(arguments: [false, true]) func changesOfEachVerb(isPool: Bool) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("a.sqlite")
        let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        try await writer.write { db in try store.create(in: db) }
        let commits = try await commits(
            writer,
            { try books.set($0, key: "emma", emma) },
            { try books.set($0, key: "emma", typee) },
            { try books.replaceMetadata($0, key: "emma", Reading(page: 1)) },
            { try books.replace($0, key: "emma", emma) },
            { try books.touch($0, key: "emma", .metadata) },
            { try books.touch($0, key: "emma", .object) },
            { try books.touch($0, key: "emma") },
            { try $0.execute(sql: "UPDATE document SET key = 'emma 2'") },
            { try $0.execute(sql: "INSERT OR REPLACE INTO document SELECT * FROM document") },
            { _ = try books.removeAll($0) })
        let changes = commits.map { store.changes(in: $0).changedKeys(in: "books") }
        let expected: [[String: DocumentChange]] = [
            ["emma": .inserted], ["emma": .updated([.object, .metadata])], ["emma": .updated([.metadata])],
            ["emma": .updated([.object])], ["emma": .updated([.metadata])], ["emma": .updated([.object])],
            ["emma": .updated([.object, .metadata])], ["emma": .removed, "emma 2": .inserted],
            ["emma 2": .updated([.object, .metadata])], ["emma 2": .removed],
        ]
        #expect(changes == expected)
        #expect(books.changes(in: commits) == [:])
        #expect(books.changes(in: commits[2]) == ["emma": .updated([.metadata])])
        #expect(books.changes(in: commits[2...5]) == ["emma": .updated([.object, .metadata])])
    }

    @Test func questionsAboutCollectionsAndKeys() async throws {
        let commits = try await commits(
            nil, { try books.set($0, key: "emma", emma, metadata: Reading(page: 1)) },
            { db in
                try books.replaceMetadata(db, key: "emma", Reading(page: 2))
                try films.set(db, key: "jaws", "Jaws")
            }, { _ = try books.remove($0, key: "emma") })
        let update = store.changes(in: commits[1])
        #expect(update.containsChange(in: "books") && update.containsChange(in: "films"))
        #expect(!update.containsChange(in: "Books") && !update.containsChange(in: ""))
        #expect(update.containsChange(of: .metadata, in: "books"))
        #expect(!update.containsChange(of: .object, in: "books"))
        #expect(update.containsChange(of: .object, in: "films"))

        #expect(update.containsChange(in: "books", key: "emma"))
        #expect(update.containsChange(of: .metadata, in: "books", key: "emma"))
        #expect(!update.containsChange(of: .object, in: "books", key: "emma"))
        #expect(!update.containsChange(in: "films", key: "emma"))

        #expect(update.containsChange(in: "books", anyOf: ["typee", "emma"]))
        #expect(!update.containsChange(of: .object, in: "books", anyOf: ["typee", "emma"]))
        #expect(!update.containsChange(in: "books", anyOf: ["typee"]))
        #expect(!update.containsChange(in: "books", anyOf: []))
        #expect(
            update.changedKeys() == ["books": ["emma": .updated([.metadata])], "films": ["jaws": .inserted]])
        #expect(!update.didClear("books") && !update.didClearAll && !update.isEmpty)

        // A removal changes both parts.
        let removal = store.changes(in: commits[2])
        #expect(removal.containsChange(of: .object, in: "books", key: "emma"))
        #expect(removal.containsChange(of: .metadata, in: "books", key: "emma"))
    }

    @Test func otherTablesAndStoresChangeNothing() async throws {
        let other = DocumentStore("other")
        let commits = try await commits(
            makeQueue(store, other), { try $0.makePlayers() },
            { try $0.execute(sql: "INSERT INTO player DEFAULT VALUES") },
            { try other.collection("books", of: Int.self).set($0, key: "emma", 1) })
        for commit in commits {
            let changes = store.changes(in: commit)
            #expect(changes.isEmpty && !changes.containsChange(in: "books") && changes.changedKeys() == [:])
        }
        #expect(other.changes(in: commits[2]).containsChange(in: "books", key: "emma"))
    }

    /// Without keys, each question is answered by yes, except that of no keys.
    @Test func changesWithoutKeys() async throws {
        let commits = try await commits(keys: false, nil, { try books.set($0, key: "emma", emma) })
        let changes = store.changes(in: commits)
        #expect(changes.didClearAll && changes.didClear("books") && changes.didClear("films"))
        #expect(changes.containsChange(in: "films") && changes.containsChange(of: .object, in: "films", key: "a"))
        #expect(changes.containsChange(in: "films", anyOf: ["a"]))
        #expect(!changes.containsChange(in: "films", anyOf: []))
        #expect(changes.changedKeys() == nil && changes.changedKeys(in: "books") == nil && !changes.isEmpty)
        #expect(books.changes(in: commits) == nil)
    }

    @Test func moreKeysThanAreKept() async throws {
        let commits = try await commits(
            nil, { db in for number in 0..<10_000 { try films.set(db, key: "\(number)", "") } },
            { db in for number in 0..<10_001 { try films.set(db, key: "\(number)", "") } })
        #expect(store.changes(in: commits[0]).changedKeys(in: "films")?.count == 10_000)
        #expect(!store.changes(in: commits[0]).containsChange(in: "books"))
        #expect(store.changes(in: commits[1]).didClear("books"))
        #expect(store.changes(in: commits).didClearAll)
    }

    @Test func aTableThatIsDropped() async throws {
        let commits = try await commits(
            nil, { try books.set($0, key: "emma", emma) }, { try store.drop(in: $0) })
        #expect(store.changes(in: commits[1]).didClearAll)
    }

    /// Swift regards the keys as equal, SQLite doesn't.
    @Test func keysThatSwiftRegardsAsEqual() async throws {
        let commits = try await commits(
            nil,
            { db in
                try films.set(db, key: "\u{e9}", "")
                try films.set(db, key: "e\u{301}", "")
            },
            { db in
                try films.remove(db, key: "\u{e9}")
                try films.touch(db, key: "e\u{301}", .object)
            })
        #expect(store.changes(in: commits[0]).changedKeys(in: "films") == ["\u{e9}": .inserted])
        let changes = store.changes(in: commits[1])
        #expect(changes.changedKeys(in: "films") == ["\u{e9}": .updated([.object, .metadata])])
        #expect(changes.containsChange(of: .metadata, in: "films", key: "\u{e9}"))
        #expect(!changes.containsChange(of: .metadata, in: "films", key: "e\u{301}"))
    }

    @Test func theCommitsThatAStableReaderSkips() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        // On a busy machine the connection that writes may not answer in time; the commit would count as one of others.
        pool.core.journal.settlingTime.store(60_000_000_000, ordering: .relaxed)
        try await pool.write { db throws in
            try store.create(in: db)
            try books.set(db, key: "emma", emma)
        }
        let reader = try await pool.makeStableReader(keys: true)
        try await pool.write { db in _ = try books.replaceMetadata(db, key: "emma", Reading(page: 5)) }
        try await pool.write { db in try books.set(db, key: "typee", typee) }
        #expect(try await reader.read { db in try books.getMetadata(db, key: "emma") } == nil)
        let commits = try await reader.advance()
        #expect(books.changes(in: commits) == ["emma": .updated([.metadata]), "typee": .inserted])
        #expect(try await reader.read { db in try books.getMetadata(db, key: "emma") } == Reading(page: 5))
    }

    /// Another pool on the file, as another process would be: anything may have changed.
    @Test func commitsOfOthers() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try store.create(in: db) }
        var iterator = pool.commits(keys: true).makeAsyncIterator()
        let other = try DatabasePool(path: folder.file("a.sqlite"))
        try await other.write { db in try books.set(db, key: "emma", emma) }
        let commit = try #require(await iterator.next(isolation: nil))
        #expect(commit.source == .other)
        #expect(store.changes(in: commit).didClearAll)
        #expect(books.changes(in: commit) == nil)
    }

    /// A touch wakes an observation of the collection.
    @Test func aTouchIsObserved() async throws {
        let queue = try makeQueue()
        try await queue.write { db in try books.set(db, key: "emma", emma) }
        let fetches = Recorded(0)
        let observation = ValueObservation.tracking { db in
            fetches.update { $0 += 1 }
            return try books.get(db, key: "emma")
        }
        var values = observation.values(in: queue).makeAsyncIterator()
        _ = try await values.next()
        try await queue.write { db in _ = try books.touch(db, key: "emma", .object) }
        #expect(try await values.next() == emma)
        #expect(fetches.value == 2)
    }
}
