import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryDocuments
import QuarryIncrementalWrites
import QuarryOutbox
import QuarryTables
import QuarryTestSupport
import Synchronization
import Testing

/// Features that take any writer have the same results on a pool and on a cluster.
@Suite("A cluster as any writer", .timeLimit(.minutes(5 * TestTime.factor))) struct ClusterWriterTests {
    private func expectSame(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: (any DatabaseWriter) async throws -> String
    ) async throws {
        let (pool, fixture) = (try temporaryPool(), try ClusterFixture())
        let local = await outcome(pool.pool, body)
        let remote = await outcome(fixture.cluster, body)
        #expect(remote == local, sourceLocation: sourceLocation)
        let sql = "SELECT * FROM player ORDER BY id"
        #expect(
            try await fixture.cluster.read { db in rows(db, sql) } == pool.pool.read { db in rows(db, sql) },
            sourceLocation: sourceLocation)
        #expect(fixture.nodes.aborts == [], sourceLocation: sourceLocation)
    }

    private func outcome(
        _ writer: any DatabaseWriter, _ body: (any DatabaseWriter) async throws -> String
    ) async -> String {
        do {
            return try await body(writer)
        } catch {
            return "error \(error)"
        }
    }

    private static let players = (1...50).map { (number: Int) in
        Player(id: nil, name: "Player \(number)", score: number)
    }

    @Test func boundTables() async throws {
        try await expectSame { writer in
            let players = writer.table(of: Player.self)
            let results = Lines()
            var arthur = Player(id: nil, name: "Arthur", score: 1)
            try await players.insert(&arthur)
            results.append("\(arthur)")
            try await players.insertAll(Self.players)
            results.append("\(try await players.fetchCount())")
            results.append("\(try await players.fetchAll { $0.filter(Player.Columns.score > 48) })")
            results.append("\(try await players.exists(key: 3))")
            results.append("\(try await players.deleteOne(key: 3))")
            results.append("\(try await players.deleteAll { $0.filter(Player.Columns.score < 40) })")
            results.append("\(try await players.updateAll([Player.Columns.score.set(to: 7)]))")
            try await players.upsert(Player(id: nil, name: "Arthur", score: 2))
            try await writer.write { db in
                try players.update(Player(id: 45, name: "Barbara", score: 3))
                results.append("\(try players.fetchCount())")
                results.append("\(db.changesCount)")
            }
            return results.text
        }
    }

    @Test func incrementalWrites() async throws {
        try await expectSame { writer in
            let results = Lines()
            let names = AsyncStream<Player> { continuation in
                for player in Self.players { continuation.yield(player) }
                continuation.finish()
            }
            results.append("\(try await writer.insertIncrementally(names, chunkSize: 7).elementCount)")
            results.append("\(try await writer.upsertIncrementally(Self.players).elementCount)")
            let updated = try await writer.writeIncrementally(1...20) { db, id in
                try db.execute(sql: "UPDATE player SET score = -score WHERE id = ?", arguments: [id])
            }
            results.append("\(updated.elementCount)")
            do {
                _ = try await writer.writeIncrementally(30...40) { db, id in
                    try db.execute(sql: "UPDATE player SET name = 'x' WHERE id = ?", arguments: [id])
                }
            } catch {
                results.append("\(error)")
            }
            return results.text
        }
    }

    @Test func commits() async throws {
        try await expectSame { writer in
            let results = Lines()
            var commits = writer.commits.makeAsyncIterator()
            let first = try await writer.writeWithCommitNumber { db in
                db.commitOrigin = "import"
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            }
            results.append("\(first.commitNumber == writer.lastCommitNumber)")
            try await writer.waitForCommit(first.commitNumber)
            try await writer.write { db in try db.execute(sql: "UPDATE player SET score = 1") }
            results.append("\(writer.lastCommitNumber > first.commitNumber)")
            try await writer.write { db in try db.create(table: "team") { t in t.primaryKey("id", .integer) } }
            for _ in 1...3 {
                let commit = await commits.next()
                results.append(
                    "\(commit?.origin ?? "nil") \(commit?.changes.containsChange(in: "player") ?? false)")
            }
            return results.text
        }
    }

    @Test func observations() async throws {
        try await expectSame { writer in
            let results = Lines()
            let shared = ValueObservation.tracking { db in try Player.fetchCount(db) }.shared(in: writer)
            var counts = shared.values().makeAsyncIterator()
            results.append("\(try await counts.next() ?? -1)")
            let changes = Mutex(0)
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            let observation = DatabaseRegionObservation(tracking: Player.all()).start(in: writer) { _ in
            } onChange: { db in
                changes.withLock { $0 += 1 }
                continuation.yield()
            }
            var told = stream.makeAsyncIterator()
            try await writer.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
            results.append("\(try await counts.next() ?? -1)")
            await told.next()
            _ = try? await writer.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
            }
            try await writer.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara'), ('Craig')")
            }
            results.append("\(try await counts.next() ?? -1)")
            await told.next()
            observation.cancel()
            results.append("\(changes.withLock { $0 })")
            return results.text
        }
    }

    @Test func outboxes() async throws {
        struct Failure: Error {}
        try await expectSame { writer in
            let results = Lines()
            let outbox = Outbox<String>("email")
            try await writer.write { db in
                try outbox.createTables(db)
                for name in ["a", "b", "c"] { _ = try outbox.append(name, db) }
            }
            var options = OutboxOptions(backoff: { _ in .zero })
            options.batch = 2
            options.maximumAttempts = 1
            do {
                _ = try await outbox.deliverNext(from: writer, options: options) { _ in throw Failure() }
            } catch {
                results.append("\(error)")
            }
            results.append("\(try await writer.read { db in try outbox.failedMessages(db).map(\.payload) })")
            try await writer.write { db in try outbox.retryFailedMessages(db) }
            let received = Mutex<[String]>([])
            while try await outbox.deliverNext(
                from: writer, options: options,
                { messages in
                    received.withLock { $0 += messages.map(\.payload) }
                }) > 0
            {}
            results.append("\(received.withLock { $0.sorted() })")
            results.append("\(try await writer.read { db in try outbox.pendingCount(db) })")
            return results.text
        }
    }

    struct Book: Codable, Equatable, Sendable {
        var title: String
        var author: String
        var year: Int
    }

    @Test func documents() async throws {
        try await expectSame { writer in
            let results = Lines()
            let store = DocumentStore("document")
            let books = store.collection("books", of: Book.self, metadata: [String: Int].self)
            let title = books.path("title", as: String.self)
            let author = books.path("author", as: String.self)
            try await writer.write { db in
                try store.create(in: db)
                try store.create(in: db)
                results.append("\(try books.createIndex(db, "author", on: author))")
                results.append("\(try books.createIndex(db, "author", on: author))")
                results.append("\(try books.createTextIndex(db, "title", on: title))")
            }
            try await writer.write { db in
                for year in 1...5 {
                    let book = Book(title: "The whale \(year)", author: "Melville \(year % 2)", year: year)
                    try books.set(db, key: "book \(year)", book, metadata: year == 2 ? nil : ["read": year])
                }
                results.append("\(try books.replace(db, key: "nope", Book(title: "", author: "", year: 0)))")
                results.append("\(try books.replaceMetadata(db, key: "book 1", ["read": 9]))")
                results.append("\(try books.touch(db, key: "book 1"))")
                results.append("\(try books.remove(db, key: "book 5"))")
                results.append("\(try books.remove(db, keys: ["book 4", "nope"]))")
            }
            try await writer.read { db in
                results.append("\(try books.getDocument(db, key: "book 1").map { "\($0)" } ?? "nil")")
                results.append("\(try books.get(db, key: "book 4").map { "\($0)" } ?? "nil")")
                results.append("\(try books.keys(db)) \(try books.count(db)) \(try store.collectionNames(db))")
                results.append("\(try books.getDocuments(db, keys: ["book 2", "book 3"]))")
                results.append("\(try books.all().filter(author == "Melville 1").fetchKeys(db))")
                results.append(
                    "\(try books.matching(FTS5Pattern(matchingAllTokensIn: "whale 2")!, in: "title").fetchKeys(db))")
                results.append("\(try books.indexNames(db)) \(try books.textIndexNames(db))")
            }
            let bound = books.bound(to: writer)
            try await bound.set(key: "book 6", Book(title: "x", author: "y", year: 6))
            results.append("\(try await bound.count()) \(try await bound.keys())")
            results.append("\(try await bound.removeAll { $0.filter(author == "y") })")
            results.append(try await writer.read { db in rows(db, "SELECT * FROM document ORDER BY key") })
            try await writer.write { db in
                try books.dropTextIndex(db, "title")
                try store.drop(in: db)
                results.append("\(try store.exists(in: db))")
            }
            return results.text
        }
    }

    @Test func dumps() async throws {
        try await expectSame { writer in
            try await writer.write { db in
                try db.execute(sql: "INSERT INTO player (name, photo) VALUES ('Arthur', x'0102'), ('é''', NULL)")
                try db.create(index: "scores", on: "player", columns: ["score"])
            }
            let text = Mutex("")
            struct Stream: TextOutputStream, Sendable {
                let body: @Sendable (String) -> Void
                mutating func write(_ string: String) { body(string) }
            }
            let stream = Stream { string in text.withLock { $0 += string } }
            try await writer.dumpTables(["player"], to: stream)
            try await writer.dumpSQL("SELECT name FROM player", to: stream)
            try await writer.dumpRequest(Player.all(), to: stream)
            return text.withLock { $0 }
        }
    }

    @Test func manyRecordsAtOnce() async throws {
        try await expectSame { writer in
            let results = Lines()
            try await writer.write { db in
                try Player.insertAll(db, Self.players)
                let again = Self.players.map { Player(id: nil, name: $0.name, score: ($0.score ?? 0) * 2) }
                try Player.upsertAll(db, again)
                results.append("\(try Player.fetchCount(db)) \(db.changesCount)")
                results.append("\(try Player.fetchAll(db, keys: [1, 2, 3]))")
                results.append("\(try Player.deleteAll(db, keys: [1, 2, 3]))")
                let request = Player.filter(Player.Columns.score > 90)
                results.append("\(try request.updateAndFetchAll(db, [Player.Columns.score.set(to: 0)]))")
            }
            return results.text
        }
    }
}

/// Lines of a result.
private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}
