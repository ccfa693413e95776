import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

@testable import QuarryRecords

/// Pages beside raw SQL, other schemas, failing closures, values at the edge, and the end of the database.
@Suite struct PageSeamTests {
    private typealias Player = Sport.Player

    private func ids(_ page: RecordPage<Player>) -> [Int64] { page.items.map(\.id) }

    // MARK: - Raw SQL

    @Test func definitionsMayChangeBetweenPages() throws {
        try withSport { db throws in
            try db.execute(sql: "CREATE INDEX byScore ON player (score)")
            let request = Player.order(\.score)
            let token = try request.page(size: 2).fetch(db).next
            try db.execute(sql: "DROP INDEX byScore")
            #expect(try ids(request.page(size: 2, after: token).fetch(db)) == [3, 5])
            try db.execute(sql: "ALTER TABLE player ADD COLUMN note TEXT; CREATE INDEX b ON player (score DESC, id)")
            #expect(try ids(request.page(size: 2, after: token).fetch(db)) == [3, 5])
            try db.execute(sql: "ALTER TABLE player RENAME COLUMN score TO points")
            expectError(.SQLITE_ERROR) { () throws in
                try request.page(size: 2, after: token).fetch(db)
            }
            let renamed = Player.select(Column("id")).order(Column("points")).asRequest(of: Int64.self)
            #expect(throws: PageTokenError.otherOrder) { try renamed.page(size: 2, after: token).fetch(db) }
            #expect(try renamed.page(size: 2).fetch(db).items == [4, 1])
        }
    }

    @Test func transactionsMayEndBetweenPages() throws {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(
                sql:
                    "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO player VALUES (1, 'a'), (2, 'b')"
            )
            let request = Table("player").order(Column("name").desc)
            try db.execute(sql: "BEGIN; INSERT INTO player VALUES (3, 'c')")
            let page = try request.page(size: 1).fetch(db)
            #expect(page.items.map { $0["id"] as Int } == [3] && db.isInsideTransaction)
            try db.execute(sql: "ROLLBACK")
            #expect(try request.page(size: 1, after: page.next).fetch(db).items.map { $0["id"] as Int } == [2])
            #expect(!db.isInsideTransaction)
        }
        expectError(.SQLITE_ABORT) { () throws in
            try queue.write { db throws in
                try db.execute(sql: "ROLLBACK")
                _ = try Table("player").page(size: 1).fetch(db)
            }
        }
        #expect(try queue.read { try Table("player").page(size: 1).fetch($0) }.items.count == 1)
    }

    @Test func tablesOfOtherSchemasHaveTheirOwnKeys() throws {
        try DatabaseQueue().writeWithoutTransaction { db throws in
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS other;
                    CREATE TABLE other.note (code TEXT PRIMARY KEY NOT NULL, a INTEGER) WITHOUT ROWID;
                    INSERT INTO other.note VALUES ('x', 1), ('y', 1), ('z', 1);
                    """)
            let request = Table("note").order(Column("a"))
            let page = try request.page(size: 2).fetch(db)
            #expect(page.items.map { $0["code"] as String } == ["x", "y"])
            #expect(try request.page(size: 2, after: page.next).fetch(db).items.map { $0["code"] as String } == ["z"])
            // A table of temp hides it: the token has the key of another table.
            try db.execute(
                sql:
                    "CREATE TEMP TABLE note (id INTEGER PRIMARY KEY, code TEXT, a); INSERT INTO note VALUES (7, 'w', 1)"
            )
            #expect(throws: PageTokenError.otherOrder) { try request.page(size: 2, after: page.next).fetch(db) }
            #expect(try request.page(size: 2).fetch(db).items.map { $0["id"] as Int } == [7])
        }
    }

    // MARK: - Closures

    private struct Picky: FetchableRecord, TableRecord {
        struct Refusal: Error {}
        static let databaseTableName = "player"
        static let refused = Recorded<Set<Int64>>([])
        let id: Int64

        init(row: Row) throws {
            id = row["id"]
            if Self.refused.value.contains(id) { throw Refusal() }
        }
    }

    @Test func recordsThatThrowEndThePageAlone() throws {
        try withSport { db throws in
            Picky.refused.update { $0 = [2] }
            #expect(throws: Picky.Refusal.self) { try Picky.page(size: 2).fetch(db) }
            #expect(db.isInsideTransaction)
            // The row after the page tells that there is one, and isn't decoded.
            #expect(try Picky.page(size: 1).fetch(db).items.map(\.id) == [1])
            #expect(throws: Picky.Refusal.self) { try Picky.page(number: 1, size: 2).fetch(db) }
        }
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY); INSERT INTO player VALUES (2)")
            #expect(throws: Picky.Refusal.self) { try Picky.page(size: 2).fetch(db) }
            #expect(!db.isInsideTransaction)
        }
    }

    @Test func functionsOfTheOrderMayThrow() throws {
        try withSport { db throws in
            let fails = Recorded(false)
            db.add(
                function: DatabaseFunction("rating", argumentCount: 1, pure: true) { values in
                    if fails.value { throw DatabaseError(message: "no rating") }
                    return -(Int.fromDatabaseValue(values[0]) ?? 0)
                })
            let request = Player.order(SQL("rating(id)").sqlExpression)
            let page = try request.page(size: 2).fetch(db)
            #expect(ids(page) == [5, 4])
            fails.update { $0 = true }
            expectError(.SQLITE_ERROR, "no rating") { () throws in try request.page(size: 2, after: page.next).fetch(db)
            }
            fails.update { $0 = false }
            #expect(try ids(request.page(size: 2, after: page.next).fetch(db)) == [3, 2])
        }
    }

    // MARK: - Accesses

    @Test func pagesAreReadInEachAccess() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.makeScoredPlayers(["Arthur": 1, "Barbara": 2, "Craig": 3]) }
        let fetch = { @Sendable (db: Database) throws -> [String] in
            try Table("player").order(Column("score")).page(size: 2).fetch(db).items.map { $0["name"] }
        }
        let expected = ["Arthur", "Barbara"]
        #expect(try await pool.read(fetch) == expected)
        #expect(try await pool.unsafeRead(fetch) == expected)
        #expect(try await pool.write(fetch) == expected)
        #expect(try await pool.writeWithoutTransaction(fetch) == expected)
        #expect(try await pool.barrierWriteWithoutTransaction(fetch) == expected)
        let snapshot = try await pool.makeSnapshotAsync()
        try await pool.write { db in try db.execute(sql: "DELETE FROM player") }
        #expect(try await snapshot.read(fetch) == expected)
        #expect(try await pool.read(fetch) == [])
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pool.read(fetch)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await pool.closeAsync()
        await expectError(.SQLITE_MISUSE, "Connection is closed") { _ = try await pool.read(fetch) }
    }

    @Test func pagesAreObservedWithTheirRows() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.makeScoredPlayers(["Arthur": 1]) }
        let observation = ValueObservation.tracking { db in
            try Table("player").order(Column("score")).page(size: 2).fetch(db).items.map { $0["name"] as String }
        }
        var values = observation.values(in: queue).makeAsyncIterator()
        #expect(try await values.next() == ["Arthur"])
        try await queue.write { db in try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Barbara', 0)") }
        #expect(try await values.next() == ["Barbara", "Arthur"])
    }

    // MARK: - Values

    @Test func keysMayBeOfAnyType() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE t (k PRIMARY KEY NOT NULL, a) WITHOUT ROWID")
            let keys: [any DatabaseValueConvertible] = [
                -Double.infinity, Int64.min, -1, 0, 0.5, 1, Int64.max, Double.infinity, "", "\u{0}", "a", "é",
                String(repeating: "long", count: 50_000), [UInt8](), [UInt8]([0]), [UInt8](repeating: 255, count: 9),
            ]
            for key in keys.reversed() { try db.execute(sql: "INSERT INTO t VALUES (?, NULL)", arguments: [key]) }
            for request in [Table("t").all(), Table("t").order(Column("a").desc), Table("t").order(Column("k").desc)] {
                let all = try request.page(size: .max).fetch(db).items
                #expect(all.count == keys.count)
                #expect(try request.allPages(db, size: 3).flatMap(\.items) == all)
            }
        }
    }

    /// A token with values of other types, as a client may make one, finds other rows of the request, or none.
    @Test func valuesOfForgedTokensAreParameters() throws {
        try withSport { db throws in
            let token = try #require(try Player.order(\.score).page(size: 1).fetch(db).next)
            for (value, expected) in [
                (DatabaseValue.null, [4, 1, 3, 5, 2]), (250.5.databaseValue, [5, 2]), ("x".databaseValue, []),
                ("100".databaseValue, [3, 5, 2]), ([UInt8]([1]).databaseValue, []),
                (Double.nan.databaseValue, [4, 1, 3, 5, 2]),
            ] as [(DatabaseValue, [Int64])] {
                let forged = PageToken(
                    token.orderIdentifier, PageOrder.Position(values: [value, Int64.max.databaseValue]))
                let page = try Player.order(\.score).page(size: 9, after: PageToken(forged.text)).fetch(db)
                #expect(ids(page) == expected, "\(value)")
            }
            let short = PageToken(token.orderIdentifier, PageOrder.Position(values: [.null]))
            #expect(throws: PageTokenError.otherOrder) {
                try Player.order(\.score).page(size: 9, after: short).fetch(db)
            }
            #expect(try Player.fetchCount(db) == 5)
        }
    }
}
