import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

/// What decoders keep between the rows of a cursor, and don't keep with rows that last.
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
            #expect(row.decodingState == nil && scope.decodingState == nil)
            row.decodingState = scope
            #expect(row.decodingState == nil)
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
            #expect(row.decodingState != nil)
            #expect(try cursor.next() == nil)
            #expect(row.decodingState == nil)
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
            let state = try #require(first.decodingState)
            let second = try #require(try cursor.next())
            #expect(first !== second && second.decodingState === state)
            // It is kept no more by a row that somebody has kept.
            #expect(first.decodingState == nil)
            #expect(try Team(row: second) == Team(id: 2, title: "Blues"))
            #expect(try Team(row: first) == Team(id: 1, title: "Reds"))
            #expect(first.decodingState == nil && second.decodingState === state)
            let third = try #require(try cursor.next())
            #expect(try Team(row: third) == Team(id: 3, title: "Greens"))
            #expect(try cursor.next() == nil)
            #expect(third.decodingState == nil)
        }
    }

    @Test func aCursorThatIsLeftTakesItWithIt() throws {
        try withTeams { db throws in
            let row = try Row.fetchCursor(db, Team.including(all: Team.members)).next()
            let kept = try #require(row)
            #expect(try Team(row: kept) == Team(id: 1, title: "Reds"))
            #expect(kept.decodingState == nil)
        }
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
            #expect(missing?.description.contains("column not found: \"e\u{301}\"") == true)
        }
    }
}
