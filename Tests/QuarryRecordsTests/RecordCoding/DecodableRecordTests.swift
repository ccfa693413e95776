import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite("Decodable records") struct DecodableRecordTests {
    private struct Player: Decodable, FetchableRecord, TableRecord, Equatable {
        var id: Int64
        var name: String
        var score: Double?
        var isAdmin: Bool
        var createdAt: Date
        var avatar: Data?
        var token: UUID?
    }

    private static let sql = """
        SELECT 1 AS id, 'Arthur' AS name, 1.5 AS score, 1 AS isAdmin, '2024-02-29 12:30:00.125' AS createdAt,
               x'0102' AS avatar, NULL AS token
        UNION ALL
        SELECT 2, 'Barbara', NULL, 0, 0, NULL, x'000102030405060708090A0B0C0D0E0F'
        """

    private static let players = [
        Player(
            id: 1, name: "Arthur", score: 1.5, isAdmin: true,
            createdAt: Date(timeIntervalSince1970: 1_709_209_800.125), avatar: Data([1, 2]), token: nil),
        Player(
            id: 2, name: "Barbara", score: nil, isAdmin: false, createdAt: Date(timeIntervalSince1970: 0), avatar: nil,
            token: UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")),
    ]

    private func read<T>(_ body: (Database) throws -> T) throws -> T { try DatabaseQueue().read(body) }

    @Test func everyVerb() throws {
        try read { db throws in
            #expect(try Player.fetchAll(db, sql: Self.sql) == Self.players)
            #expect(try Player.fetchOne(db, sql: Self.sql) == Self.players[0])
            let cursor: RecordCursor<Player> = try Player.fetchCursor(db, sql: Self.sql)
            #expect(try cursor.next() == Self.players[0])
            #expect(try cursor.next() == Self.players[1])
            #expect(try cursor.next() == nil)
            let statement = try db.makeStatement(sql: Self.sql)
            for _ in 0..<3 { #expect(try Player.fetchAll(statement) == Self.players) }
            let request: SQLRequest<Player> = "SELECT * FROM (\(sql: Self.sql)) WHERE id = \(2)"
            #expect(try request.fetchOne(db) == Self.players[1])
        }
    }

    @Test func rowsOfAnyKind() throws {
        try read { db throws in
            let rows = try Row.fetchAll(db, sql: Self.sql)
            #expect(try rows.map { try Player(row: $0) } == Self.players)
            #expect(try rows.map { try FetchableRecordDecoder().decode(Player.self, from: $0) } == Self.players)
            let adapter = SuffixRowAdapter(fromIndex: 1)
            let adapted = try Player.fetchAll(db, sql: "SELECT 'x' AS id, * FROM (\(Self.sql))", adapter: adapter)
            #expect(adapted == Self.players)
        }
    }

    @Test func columnsInAnyOrderAndCase() throws {
        struct Pair: Decodable, FetchableRecord, Equatable {
            var first: Int
            var second: String
        }
        try read { db throws in
            #expect(
                try Pair.fetchAll(db, sql: "SELECT 'b' AS SECOND, 3 AS other, 1 AS First") == [
                    Pair(first: 1, second: "b")
                ])
        }
    }

    /// A record finds the column that the row itself finds.
    @Test func theLeftmostOfColumnsWithTheSameName() throws {
        struct Value: Decodable, FetchableRecord {
            var a: Int
        }
        struct Named: Decodable, FetchableRecord {
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
            var teamId: Int
        }
        struct Nested: Decodable, FetchableRecord {
            var value: Value
            var other: Value
        }
        try read { db throws in
            for sql in ["SELECT 2 AS A, 3 AS a", "SELECT 2 AS a, 3 AS A", "SELECT 1 AS b, 2 AS A, 3 AS a, 4 AS A"] {
                let row = try #require(try Row.fetchOne(db, sql: sql))
                #expect(row["a"] == 2)
                #expect(try Value.fetchOne(db, sql: sql)?.a == 2, "\(sql)")
                #expect(try Value(row: row).a == 2, "\(sql)")
                let suffix = try Row.fetchOne(
                    db, sql: "SELECT 0 AS a, * FROM (\(sql))", adapter: SuffixRowAdapter(fromIndex: 1))
                #expect(try suffix.map { try Value(row: $0).a } == 2, "\(sql)")
            }
            // So many columns that they are found by their hashes.
            let many = (0..<100).map { "\($0) AS c\($0)" }.joined(separator: ", ")
            #expect(try Value.fetchOne(db, sql: "SELECT \(many), 2 AS A, 3 AS a")?.a == 2)
            #expect(try Named.fetchOne(db, sql: "SELECT 2 AS Team_Id, 3 AS team_id")?.teamId == 2)
            #expect(try Named.fetchOne(db, sql: "SELECT \(many), 2 AS TEAM_ID, 3 AS team_id")?.teamId == 2)
            let adapter = ScopeAdapter([
                "value": RangeRowAdapter(0..<2), "other": ColumnMapping(["a": "B"]),
            ])
            let nested = try Nested.fetchOne(db, sql: "SELECT 2 AS A, 3 AS a, 4 AS b, 5 AS B", adapter: adapter)
            #expect(nested?.value.a == 2)
            #expect(nested?.other.a == 4)
        }
    }

    @Test func anOptionalWithoutAColumnIsNil() throws {
        struct Maybe: Decodable, FetchableRecord, Equatable {
            var a: Int?
            var b: String?
            var c: Date?
        }
        try read { db throws in
            #expect(try Maybe.fetchOne(db, sql: "SELECT 1 AS a") == Maybe(a: 1, b: nil, c: nil))
        }
    }

    @Test func severalTypesFromOneRow() throws {
        struct Name: Decodable, FetchableRecord, Equatable { var name: String }
        struct Score: Decodable, FetchableRecord, Equatable { var score: Double? }
        try read { db throws in
            let cursor = try Row.fetchCursor(db, sql: Self.sql)
            var pairs: [(Name, Score)] = []
            while let row = try cursor.next() { pairs.append((try Name(row: row), try Score(row: row))) }
            #expect(pairs.map(\.0.name) == ["Arthur", "Barbara"])
            #expect(pairs.map(\.1.score) == [1.5, nil])
        }
    }

    // MARK: - Nested values

    private struct Address: Codable, Equatable {
        var street: String
        var numbers: [Int]
    }

    private enum Color: String, Codable { case red, green }

    private struct Email: Codable, Equatable {
        var text: String
        init(_ text: String) { self.text = text }
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    @Test func jsonEnumsAndWrappers() throws {
        struct Person: Decodable, FetchableRecord, Equatable {
            var address: Address
            var other: Address?
            var color: Color
            var email: Email
            var tags: Set<String>
        }
        try read { db throws in
            let sql = """
                SELECT '{"street":"Baker Street","numbers":[2,21]}' AS address, NULL AS other, 'green' AS color,
                       'a@b.c' AS email, '["x","y"]' AS tags
                UNION ALL
                SELECT CAST('{"street":"é","numbers":[]}' AS BLOB), '{"street":"","numbers":[1]}', 'red', '', '[]'
                """
            #expect(
                try Person.fetchAll(db, sql: sql) == [
                    Person(
                        address: Address(street: "Baker Street", numbers: [2, 21]), other: nil, color: .green,
                        email: Email("a@b.c"), tags: ["x", "y"]),
                    Person(
                        address: Address(street: "é", numbers: []), other: Address(street: "", numbers: [1]),
                        color: .red, email: Email(""), tags: []),
                ])
        }
    }

    @Test func scopes() throws {
        struct Team: Decodable, FetchableRecord, Equatable {
            var id: Int64
            var name: String
        }
        struct Color: Decodable, Equatable { var name: String }
        struct Member: Decodable, FetchableRecord, Equatable {
            var id: Int64
            var team: Team?
            var color: Color?
        }
        let adapter = ScopeAdapter(
            base: RangeRowAdapter(0..<1), scopes: ["team": RangeRowAdapter(1..<3), "color": RangeRowAdapter(3..<4)])
        try read { db throws in
            let sql = "SELECT 1 AS id, 2 AS id, 'Red' AS name, 'red' AS name UNION ALL SELECT 3, NULL, NULL, NULL"
            #expect(
                try Member.fetchAll(db, sql: sql, adapter: adapter) == [
                    Member(id: 1, team: Team(id: 2, name: "Red"), color: Color(name: "red")),
                    Member(id: 3, team: nil, color: nil),
                ])
        }
    }

    @Test func theKeyOfTheRowItself() throws {
        struct Name: Decodable, FetchableRecord, Equatable { var name: String }
        struct Extended: Decodable, FetchableRecord, Equatable {
            var player: Name
            var rank: Int
        }
        try read { db throws in
            #expect(
                try Extended.fetchAll(db, sql: "SELECT 'Arthur' AS name, 1 AS rank UNION ALL SELECT 'Barbara', 2") == [
                    Extended(player: Name(name: "Arthur"), rank: 1), Extended(player: Name(name: "Barbara"), rank: 2),
                ])
        }
    }

    // MARK: - Written by hand

    @Test func polymorphicAndNestedContainers() throws {
        class Shape: Decodable, FetchableRecord {
            let name: String
            required init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .name)
            }
            enum Keys: String, CodingKey { case name, kind, radius, size }
            var text: String { name }
        }
        class Circle: Shape {
            let radius: Double
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Keys.self)
                radius = try container.decode(Double.self, forKey: .radius)
                try super.init(from: container.superDecoder())
            }
            override var text: String { "\(name) \(radius)" }
        }
        class Box: Shape {
            let width: Int
            let height: Int
            enum SizeKeys: String, CodingKey { case width, height }
            required init(from decoder: any Decoder) throws {
                let size = try decoder.container(keyedBy: Keys.self)
                    .nestedContainer(keyedBy: SizeKeys.self, forKey: .size)
                width = try size.decode(Int.self, forKey: .width)
                height = try size.decode(Int.self, forKey: .height)
                try super.init(from: decoder)
            }
            override var text: String { "\(name) \(width)x\(height)" }
        }
        struct AnyShape: Decodable, FetchableRecord {
            let shape: Shape
            init(from decoder: any Decoder) throws {
                let kind = try decoder.container(keyedBy: Shape.Keys.self).decode(String.self, forKey: .kind)
                shape = kind == "circle" ? try Circle(from: decoder) : try Box(from: decoder)
            }
        }
        try read { db throws in
            let sql = """
                SELECT 'a' AS name, 'circle' AS kind, 1.5 AS radius, NULL AS size
                UNION ALL SELECT 'b', 'box', NULL, '{"width":2,"height":3}'
                UNION ALL SELECT 'c', 'circle', 2, NULL
                """
            #expect(try AnyShape.fetchAll(db, sql: sql).map(\.shape.text) == ["a 1.5", "b 2x3", "c 2.0"])
        }
    }

    @Test func wrappersOfARow() throws {
        struct Name: Decodable, FetchableRecord { var name: String }
        struct Wrapped: Decodable, FetchableRecord {
            var value: Name
            init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Name.self) }
        }
        struct First: Decodable, FetchableRecord {
            var value: Int
            init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
        }
        try read { db throws in
            #expect(try Wrapped.fetchOne(db, sql: "SELECT 'Arthur' AS name")?.value.name == "Arthur")
            #expect(try First.fetchAll(db, sql: "SELECT 1 UNION SELECT 2").map(\.value) == [1, 2])
        }
    }

    @Test func allKeysAndContains() throws {
        struct Dynamic: Decodable, FetchableRecord {
            struct Key: CodingKey {
                let stringValue: String
                let intValue: Int? = nil
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            var values: [String: Int] = [:]
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for key in container.allKeys where try !container.decodeNil(forKey: key) {
                    values[key.stringValue] = try container.decode(Int.self, forKey: key)
                }
                #expect(container.contains(Key(stringValue: "a")))
                #expect(!container.contains(Key(stringValue: "z")))
            }
        }
        try read { db throws in
            let all = try Dynamic.fetchAll(db, sql: "SELECT 1 AS a, 2 AS b, NULL AS c UNION ALL SELECT 3, NULL, 4")
            #expect(all.map(\.values) == [["a": 1, "b": 2], ["a": 3, "c": 4]])
        }
    }

    // MARK: - Errors

    private func message(_ body: (Database) throws -> Void) throws -> String {
        try read { db in
            do {
                try body(db)
                return "nothing was thrown"
            } catch let error as RowDecodingError {
                return error.description
            }
        }
    }

    @Test func errorsNameTheirPlace() throws {
        #expect(
            try message { db in _ = try Player.fetchAll(db, sql: "SELECT 1 AS id") } == """
                column not found: "name" for key path name of Player, table: "player" - row: [id:INTEGER], sql: \
                `SELECT 1 AS id`
                """)
        #expect(
            try message { db in _ = try Player.fetchAll(db, sql: "SELECT 'x' AS id") } == """
                could not decode Int64 from database value TEXT - column: "id", column index: 0, row: [id:TEXT], \
                sql: `SELECT 'x' AS id`
                """)
        struct House: Decodable, FetchableRecord { var address: Address }
        #expect(
            try message { db in
                _ = try House.fetchAll(db, sql: #"SELECT '{"street":"a","numbers":[1,"x"]}' AS address"#)
            }.hasPrefix(
                #"could not decode Address from database value TEXT for key path "#
                    + "address.numbers"))
        struct Pigment: Decodable, FetchableRecord { var color: Color }
        #expect(
            try message { db in _ = try Pigment.fetchAll(db, sql: "SELECT 'blue' AS color") }
                .hasPrefix(#"could not decode Color from database value TEXT for key path color of Pigment"#))
        #expect(
            try message { db in
                struct List: Decodable, FetchableRecord {
                    init(from decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
                }
                _ = try List.fetchAll(db, sql: "SELECT 1 AS a")
            } == "a row has named columns: List can't be decoded as a list - row: [a:INTEGER], sql: `SELECT 1 AS a`")
    }

    @Test func aDecoderKeptBeyondItsRow() throws {
        // Sendable: one thread uses it.
        final class Box: @unchecked Sendable { var decoder: (any Decoder)? }
        struct Keeper: Decodable, FetchableRecord {
            static let box = Box()
            init(from decoder: any Decoder) throws {
                Self.box.decoder = decoder
                _ = try decoder.container(keyedBy: Key.self)
            }
            enum Key: String, CodingKey { case a }
        }
        try read { db in _ = try Keeper.fetchAll(db, sql: "SELECT 1 AS a") }
        let decoder = try #require(Keeper.box.decoder)
        let error = #expect(throws: (any Error).self) { try decoder.container(keyedBy: Keeper.Key.self) }
        #expect(error.map { "\($0)" } == "a row's decoder has been used after the row")
    }

    /// A decoder and the container that it keeps hold each other, until the statement goes.
    @Test func decodersGoWithTheirRows() throws {
        final class Seen: @unchecked Sendable {
            // Used by this test's thread alone.
            weak var container: AnyObject?
        }
        struct Watched: Decodable, FetchableRecord {
            nonisolated(unsafe) static var seen: [Seen] = []
            var a: Int
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                a = try container.decode(Int.self, forKey: .a)
                let seen = Seen()
                // It is a struct around one object, which the decoder keeps.
                seen.container = unsafeBitCast(container, to: AnyObject.self)
                Self.seen.append(seen)
            }
            enum Key: String, CodingKey { case a }
        }
        do {
            let queue = try DatabaseQueue()
            try queue.read { db in
                let sql = "SELECT 1 AS a UNION ALL SELECT 2"
                _ = try Watched.fetchAll(db, sql: sql)
                for row in try Row.fetchAll(db, sql: sql) { _ = try Watched(row: row) }
                let adapter = ColumnMapping(["a": "b"])
                _ = try Watched.fetchAll(db, sql: "SELECT 1 AS b UNION ALL SELECT 2", adapter: adapter)
            }
            try queue.close()
        }
        #expect(Watched.seen.count == 6)
        #expect(Watched.seen.allSatisfy { $0.container == nil })
        Watched.seen = []
    }

    @Test func nothingIsLeftOfADecoder() throws {
        final class Token {}
        weak var token: Token?
        struct Counted: Decodable, FetchableRecord {
            // This test alone uses it.
            nonisolated(unsafe) static var current: Token?
            static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] {
                [CodingUserInfoKey(rawValue: "token")!: current as Any]
            }
            var a: Int
        }
        do {
            let strong = Token()
            token = strong
            Counted.current = strong
            try read { db in _ = try Counted.fetchAll(db, sql: "SELECT 1 AS a UNION ALL SELECT 2") }
            Counted.current = nil
        }
        #expect(token == nil)
    }
}
