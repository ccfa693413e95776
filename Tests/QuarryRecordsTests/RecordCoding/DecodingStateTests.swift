import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

/// The state that decoders keep between the rows of a cursor, and don't keep with rows that last.
@Suite("Decoding state") struct DecodingStateTests {
    private struct Player: Decodable, FetchableRecord, Equatable {
        var id: Int
        var name: String
        var team: Team
    }

    private struct Team: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: Int
        var title: String

        static let members = hasMany(Member.self)
    }

    private struct Member: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: Int
        var teamId: Int

        static let team = belongsTo(Team.self)
    }

    private static let sql = "SELECT 0, 1 AS id, 'Arthur' AS name, 7 AS id, 'Reds' AS title"

    private static var adapter: any RowAdapter {
        RangeRowAdapter(1..<3).addingScopes(["team": RangeRowAdapter(3..<5)])
    }

    private static let arthur = Player(id: 1, name: "Arthur", team: Team(id: 7, title: "Reds"))

    private func lastingRows() throws -> [Row] {
        try DatabaseQueue().read { db throws in
            let one = try Row.fetchOne(db, sql: Self.sql, adapter: Self.adapter)
            let cursor = try Row.fetchCursor(db, sql: Self.sql, adapter: Self.adapter)
            let row = try #require(try cursor.next())
            return [try #require(one), row.copy()]
        }
    }

    @Test func aRowThatLastsKeepsNone() throws {
        for row in try lastingRows() {
            for _ in 0..<2 { #expect(try Player(row: row) == Self.arthur) }
            let scope = try #require(row.scopes["team"])
            #expect(try Team(row: scope) == Self.arthur.team)
            #expect(row.attachment == nil && scope.attachment == nil)
            row.keepAttachment(.passRetained(scope))
            #expect(row.attachment == nil && row.takeAttachment(Row.self).object == nil)
        }
    }

    /// The thread sanitizer sees it where a row is changed.
    @Test func severalThreadsDecodeARowThatLasts() async throws {
        for lasting in try lastingRows() {
            // Nobody changes it: that is what is tested.
            nonisolated(unsafe) let row = lasting
            let threads = (0..<4).map { _ in
                OwnThread { try (0..<200).allSatisfy { _ in try Player(row: row) == Self.arthur } }
            }
            for thread in threads { #expect(try await thread.value) }
        }
    }

    @Test func aCursorsRowKeepsOne() throws {
        try DatabaseQueue().read { db throws in
            let cursor = try Row.fetchCursor(db, sql: Self.sql, adapter: Self.adapter)
            let row = try #require(try cursor.next())
            #expect(try Player(row: row) == Self.arthur)
            #expect(row.attachment != nil)
            #expect(try cursor.next() == nil)
            #expect(row.attachment == nil)
        }
    }

    private func withTeams(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, title TEXT);
                    CREATE TABLE member (id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team(id));
                    INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues'), (3, 'Greens');
                    INSERT INTO member VALUES (1, 1), (2, 1), (3, 2);
                    """)
            try body(db)
        }
    }

    @Test func rowsThatAreReadBeforeHandItOn() throws {
        try withTeams { db throws in
            let cursor = try Row.fetchCursor(db, Team.including(all: Team.members))
            let first = try #require(try cursor.next())
            #expect(try Team(row: first) == Team(id: 1, title: "Reds"))
            let state = try #require(first.attachment)
            let second = try #require(try cursor.next())
            #expect(first !== second && second.attachment === state)
            // A row that the test has kept doesn't keep it any more.
            #expect(first.attachment == nil)
            #expect(try Team(row: second) == Team(id: 2, title: "Blues"))
            #expect(try Team(row: first) == Team(id: 1, title: "Reds"))
            #expect(first.attachment == nil && second.attachment === state)
            let third = try #require(try cursor.next())
            #expect(try Team(row: third) == Team(id: 3, title: "Greens"))
            #expect(try cursor.next() == nil)
            #expect(third.attachment == nil)
        }
    }

    @Test func aCursorThatIsLeftTakesItWithIt() throws {
        try withTeams { db throws in
            let row = try Row.fetchCursor(db, Team.including(all: Team.members)).next()
            let kept = try #require(row)
            #expect(try Team(row: kept) == Team(id: 1, title: "Reds"))
            #expect(kept.attachment == nil)
        }
    }

    // MARK: - While a record is decoded

    /// Calls a closure between its two columns.
    private struct Interrupted: Decodable, FetchableRecord, Equatable {
        // This suite's tests set it for the time of a record.
        @TaskLocal static var between: (@Sendable () throws -> Void)?

        let id: Int
        let title: String

        enum CodingKeys: CodingKey { case id, title }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            try Self.between?()
            title = try container.decode(String.self, forKey: .title)
        }
    }

    /// A value that the closure changes; one thread uses it.
    private final class Box<Value>: @unchecked Sendable {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private static let interruptedSQL = "SELECT 1 AS id, 'a' AS title UNION ALL SELECT 2, 'b' UNION ALL SELECT 3, 'c'"

    @Test(arguments: 0..<3)
    func aRecordsCodeLetsGoOfItsCursor(rowsBefore: Int) throws {
        try DatabaseQueue().read { db throws in
            // Nobody else has the statement.
            let cursor = Box<RowCursor?>(try Row.fetchCursor(db.makeStatement(sql: Self.interruptedSQL)))
            for _ in 0..<rowsBefore { _ = try Interrupted(row: try #require(try cursor.value?.next())) }
            let row = try #require(try cursor.value?.next())
            let error = #expect(throws: DatabaseError.self) {
                try Interrupted.$between.withValue({ cursor.value = nil }) { _ = try Interrupted(row: row) }
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message == "The row's cursor has ended: copy() a row to keep it.")
            #expect(row.attachment == nil)
        }
    }

    @Test func itIsTakenMeanwhileAndHandedBack() throws {
        struct Failure: Error {}
        try DatabaseQueue().read { db throws in
            let cursor = try Row.fetchCursor(db, sql: Self.interruptedSQL)
            let row = try #require(try cursor.next())
            #expect(try Interrupted(row: row).title == "a")
            let state = try #require(row.attachment)
            _ = try cursor.next()
            let box = Box((row: row, seen: [AnyObject?](), inner: [Interrupted]()))
            try Interrupted.$between.withValue({
                box.value.seen.append(box.value.row.attachment)
                try Interrupted.$between.withValue(nil) { box.value.inner.append(try Interrupted(row: box.value.row)) }
            }) {
                let outer = try Interrupted(row: row)
                // The record inside has a decoder of its own.
                #expect(box.value.seen.count == 1 && box.value.seen[0] == nil && box.value.inner == [outer])
            }
            #expect(row.attachment === state)
            #expect(throws: Failure.self) {
                try Interrupted.$between.withValue({ throw Failure() }) { _ = try Interrupted(row: row) }
            }
            #expect(row.attachment === state)
            _ = try cursor.next()
            #expect(try Interrupted(row: row).title == "c")
            #expect(row.attachment === state)
        }
    }

    @Test func aRecordOfAnotherTypeTakesItsPlace() throws {
        try DatabaseQueue().read { db throws in
            let cursor = try Row.fetchCursor(db, sql: Self.interruptedSQL)
            var titles: [String] = []
            while let row = try cursor.next() {
                titles.append(try Interrupted(row: row).title)
                let state = try #require(row.attachment)
                titles.append(try Team(row: row).title)
                #expect(row.attachment !== state)
            }
            #expect(titles == ["a", "a", "b", "b", "c", "c"])
        }
    }

    /// Its row is a copy, and goes on; the cursor has left it with nothing.
    @Test(arguments: [1, 2, 3])
    func aRecordsCodeMovesItsCursorOn(steps: Int) throws {
        try withTeams { db throws in
            let cursor = Box(try Row.fetchCursor(db, Team.including(all: Team.members)))
            let first = try #require(try cursor.value.next())
            _ = try Team(row: first)
            let interrupted = try Interrupted.$between.withValue({
                for _ in 0..<steps { _ = try cursor.value.next() }
            }) { try Interrupted(row: first) }
            #expect(interrupted.title == "Reds")
            #expect(first.attachment == nil)
            while let row = try cursor.value.next() { #expect(try Team(row: row).id > 1) }
        }
    }

    /// A container that user code has kept isn't given to the next row.
    @Test func aContainerKeptBeyondItsRow() throws {
        struct Keeper: Decodable, FetchableRecord {
            // This test alone uses it.
            nonisolated(unsafe) static var kept: [KeyedDecodingContainer<CodingKeys>] = []

            let id: Int

            enum CodingKeys: CodingKey { case id }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                id = try container.decode(Int.self, forKey: .id)
                if id != 2 { Self.kept.append(container) }
            }
        }
        try DatabaseQueue().read { db throws in
            let cursor = try Row.fetchCursor(db, sql: Self.interruptedSQL)
            var ids: [Int] = []
            while let row = try cursor.next() {
                ids.append(try Keeper(row: row).id)
                #expect((row.attachment == nil) == (ids.last != 2))
                for container in Keeper.kept {
                    let error = #expect(throws: (any Error).self) { try container.decode(Int.self, forKey: .id) }
                    #expect(error.map { "\($0)" } == "a row's decoder has been used after the row")
                }
            }
            #expect(ids == [1, 2, 3])
        }
        Keeper.kept = []
    }

    // MARK: - Names

    /// In Swift both names are equal, in SQLite they are not.
    private struct Accents: Decodable, FetchableRecord {
        let composed: Int
        let decomposed: Int

        private struct Name: CodingKey {
            let stringValue: String
            init(stringValue: String) { self.stringValue = stringValue }
            var intValue: Int? { nil }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            decomposed = try container.decode(Int.self, forKey: Name(stringValue: "e\u{301}"))
            composed = try container.decode(Int.self, forKey: Name(stringValue: "\u{E9}"))
        }
    }

    private struct Renamed: Decodable, FetchableRecord {
        static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
        let accents: Accents

        init(from decoder: any Decoder) throws { accents = try Accents(from: decoder) }
    }

    @Test(arguments: [0, 100])
    func columnsAreTheirBytes(others: Int) throws {
        let columns = (0..<others).map { ", \($0) AS c\($0)" }.joined()
        try DatabaseQueue().read { db throws in
            for (composed, decomposed) in [("1", "2"), ("2", "1")] {
                let sql =
                    composed == "1"
                    ? "SELECT 1 AS \"\u{E9}\", 2 AS \"e\u{301}\"\(columns)"
                    : "SELECT 1 AS \"e\u{301}\", 2 AS \"\u{E9}\"\(columns)"
                let accents = try #require(try Accents.fetchOne(db, sql: sql))
                #expect(["\(accents.composed)", "\(accents.decomposed)"] == [composed, decomposed])
                let renamed = try #require(try Renamed.fetchOne(db, sql: sql)).accents
                #expect(["\(renamed.composed)", "\(renamed.decomposed)"] == [composed, decomposed])
            }
            let missing = #expect(throws: RowDecodingError.self) {
                _ = try Accents.fetchOne(db, sql: "SELECT 1 AS \"\u{E9}\"\(columns)")
            }
            #expect(missing?.description.contains("column not found: \"e\u{301}\"") ?? false)
        }
    }
}
