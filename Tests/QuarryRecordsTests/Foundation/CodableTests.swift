import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct CodableTests {
    // MARK: - JSON

    private struct Player: Codable, Equatable, DatabaseValueConvertible {
        var name = "é/\"\u{1}"
        var born = Date(timeIntervalSince1970: 1.5)
        var badge = Data([1, 2])
        var team: Int?
        var score = 0.1
        var tags: [String] = []
    }

    private static let json = #"{"badge":"AQI=","born":1500,"name":"é\/\"\u0001","score":0.1,"tags":[]}"#

    @Test func severalValuesAreJSON() throws {
        try withConnection { db throws in
            #expect(try stored(Player(), in: db) == Self.json.databaseValue)
            #expect(try read(Player.self, from: Self.json.databaseValue, in: db) == Player())
            #expect(try read(Player.self, from: Array(Self.json.utf8).databaseValue, in: db) == Player())
            #expect(try String.fetchOne(db, sql: "SELECT json_extract(?, '$.badge')", arguments: [Player()]) == "AQI=")
        }
    }

    @Test func readsNoOtherValues() throws {
        try withConnection { db throws in
            for value in [
                .null, 1.databaseValue, "".databaseValue, "{}".databaseValue, "[]".databaseValue, "a".databaseValue,
                ([0xFF] as [UInt8]).databaseValue,
            ] as [DatabaseValue] {
                #expect(try read(Player.self, from: value, in: db) == nil)
            }
        }
    }

    private enum Shape: Codable, Equatable, DatabaseValueConvertible {
        case point
        case circle(radius: Int)
    }

    private struct Pair: Codable, Equatable, DatabaseValueConvertible {
        var a: Int
        var b: Int

        init(a: Int, b: Int) {
            self.a = a
            self.b = b
        }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            a = try container.decode(Int.self)
            b = try container.decode(Int.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(a)
            try container.encode(b)
        }
    }

    private struct Empty: Codable, Equatable, DatabaseValueConvertible {}

    @Test func enumsArraysAndEmptyTypesAreJSON() throws {
        try withConnection { db throws in
            #expect(try stored(Shape.circle(radius: 1), in: db) == #"{"circle":{"radius":1}}"#.databaseValue)
            #expect(try read(Shape.self, from: #"{"point":{}}"#.databaseValue, in: db) == .point)
            #expect(try stored(Pair(a: 1, b: 2), in: db) == "[1,2]".databaseValue)
            #expect(try read(Pair.self, from: "[1,2]".databaseValue, in: db) == Pair(a: 1, b: 2))
            #expect(try stored(Empty(), in: db) == "{}".databaseValue)
            #expect(try read(Empty.self, from: "{}".databaseValue, in: db) == Empty())
        }
    }

    // MARK: - One value

    private struct Wrapper<Value: Codable & Equatable>: Codable, Equatable, DatabaseValueConvertible {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }

        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private enum Suit: String, Codable {
        case clubs, hearts
    }

    private func comesBack<Value: Codable & Equatable>(
        _ value: Value, as expected: DatabaseValue, in db: Database, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try stored(Wrapper(value), in: db) == expected, sourceLocation: sourceLocation)
        let read = try read(Wrapper<Value>.self, from: expected, in: db, sourceLocation: sourceLocation)
        #expect(read == Wrapper(value), sourceLocation: sourceLocation)
    }

    @Test func oneValueIsThatValue() throws {
        try withConnection { db throws in
            try comesBack(1, as: 1.databaseValue, in: db)
            try comesBack(Int8(-1), as: (-1).databaseValue, in: db)
            try comesBack(UInt64(1), as: 1.databaseValue, in: db)
            try comesBack(true, as: 1.databaseValue, in: db)
            try comesBack(1.5, as: 1.5.databaseValue, in: db)
            try comesBack(Float(1.5), as: 1.5.databaseValue, in: db)
            try comesBack("foo", as: "foo".databaseValue, in: db)
            try comesBack(Date(timeIntervalSince1970: 1.5), as: "1970-01-01 00:00:01.500".databaseValue, in: db)
            try comesBack(Data([1]), as: ([1] as [UInt8]).databaseValue, in: db)
            let url = try #require(URL(string: "http://example.com"))
            try comesBack(url, as: "http://example.com".databaseValue, in: db)
            try comesBack(Decimal(5), as: "5".databaseValue, in: db)
            let uuid = UUID()
            try comesBack(uuid, as: uuid.databaseValue, in: db)
            try comesBack(Int?.none, as: .null, in: db)
            try comesBack(Int?.some(3), as: 3.databaseValue, in: db)
            try comesBack(Suit.hearts, as: "hearts".databaseValue, in: db)
            try comesBack(Wrapper(Wrapper(1)), as: 1.databaseValue, in: db)
        }
    }

    @Test func oneValueOfSeveralIsJSON() throws {
        try withConnection { db throws in
            try comesBack([1, 2], as: "[1,2]".databaseValue, in: db)
            try comesBack(["a": 1], as: #"{"a":1}"#.databaseValue, in: db)
            try comesBack(Player(), as: Self.json.databaseValue, in: db)
            try comesBack(UInt128(5), as: "5".databaseValue, in: db)
        }
    }

    @Test func oneValueReadsAsItsType() throws {
        try withConnection { db throws in
            #expect(try read(Wrapper<Int>.self, from: 1.0.databaseValue, in: db) == Wrapper(1))
            #expect(try read(Wrapper<Int>.self, from: "1".databaseValue, in: db) == nil)
            #expect(try read(Wrapper<Int>.self, from: .null, in: db) == nil)
            #expect(try read(Wrapper<Int8>.self, from: 300.databaseValue, in: db) == nil)
            #expect(try read(Wrapper<String>.self, from: 1.databaseValue, in: db) == Wrapper("1"))
            #expect(try read(Wrapper<String>.self, from: #""a""#.databaseValue, in: db) == Wrapper(#""a""#))
            #expect(try read(Wrapper<[Int]>.self, from: "1".databaseValue, in: db) == nil)
        }
    }

    private enum Color: String, Codable, DatabaseValueConvertible {
        case red, green
    }

    private struct Identifier: RawRepresentable, Codable, Equatable, DatabaseValueConvertible {
        var rawValue: Int64
    }

    @Test func rawValuesAreStoredAsSuch() throws {
        try withConnection { db throws in
            #expect(try stored(Color.red, in: db) == "red".databaseValue)
            #expect(try read(Color.self, from: "green".databaseValue, in: db) == .green)
            #expect(try read(Color.self, from: #""green""#.databaseValue, in: db) == nil)
            #expect(try stored(Identifier(rawValue: 1), in: db) == 1.databaseValue)
            #expect(try read(Identifier.self, from: 1.databaseValue, in: db) == Identifier(rawValue: 1))
        }
    }

    /// Writes its own conversion, which nothing passes by.
    private enum Level: String, Codable, DatabaseValueConvertible {
        case low, high

        var databaseValue: DatabaseValue { (self == .low ? 1 : 2).databaseValue }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Level? {
            switch Int.fromDatabaseValue(dbValue) {
            case 1: .low
            case 2: .high
            default: nil
            }
        }
    }

    @Test func ownConversionsCount() throws {
        try withConnection { db throws in
            #expect(try stored(Level.high, in: db) == 2.databaseValue)
            #expect(try read(Level.self, from: 2.databaseValue, in: db) == .high)
            #expect(try read(Level.self, from: "high".databaseValue, in: db) == nil)
        }
    }

    // MARK: - Coders

    private struct Visit: Codable, Equatable, DatabaseValueConvertible {
        var date = Date(timeIntervalSince1970: 1)

        static func databaseJSONEncoder() -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            return encoder
        }

        static func databaseJSONDecoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
    }

    @Test func aTypeChoosesItsCoders() throws {
        try withConnection { db throws in
            let json = #"{"date":"1970-01-01T00:00:01Z"}"#.databaseValue
            #expect(try stored(Visit(), in: db) == json)
            #expect(try read(Visit.self, from: json, in: db) == Visit())
            let visits: [(any DatabaseValueConvertible)?] = [Visit()]
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT ?", arguments: StatementArguments(visits)) == json)
            #expect(try stored(Visit() as Visit?, in: db) == json)
        }
    }

    private struct NotACoder: Codable, DatabaseValueConvertible {
        var a = 1
        static func databaseJSONEncoder() -> String { "" }
        static func databaseJSONDecoder() -> String { "" }
    }

    @Test func anythingElseIsNoCoder() throws {
        try withConnection { db throws in
            #expect(
                try bindingError(NotACoder(), in: db) == """
                    could not bind a value of type NotACoder to parameter 1: encoding it failed: \
                    databaseJSONEncoder() must return Foundation's type of that name
                    """)
            #expect(NotACoder.fromDatabaseValue(#"{"a":1}"#.databaseValue) == nil)
        }
    }

    // MARK: - Errors

    private struct Failing: Codable, DatabaseValueConvertible {
        var a = 1

        func encode(to encoder: any Encoder) throws {
            throw CocoaError(.fileNoSuchFile)
        }
    }

    @Test func whatFailsToEncodeThrows() throws {
        struct Measure: Codable, DatabaseValueConvertible { var value: Double }
        try withConnection { db throws in
            let notFinite = try #require(try bindingError(Measure(value: .nan), in: db))
            #expect(notFinite.hasPrefix("could not bind a value of type Measure to parameter 1: encoding it failed: "))
            #expect(try bindingError(Failing(), in: db) != nil)
            #expect(
                try bindingError(Wrapper(UInt64.max), in: db) == """
                    could not bind 18446744073709551615 to parameter 1: it doesn't fit in a signed integer of 64 bits
                    """)
        }
    }

    /// A string, or several values: it tries one after the other.
    private enum Either: Codable, Equatable, DatabaseValueConvertible {
        case text(String)
        case player(name: String)

        private enum Keys: CodingKey { case name }

        init(from decoder: any Decoder) throws {
            if let container = try? decoder.container(keyedBy: Keys.self) {
                self = .player(name: try container.decode(String.self, forKey: .name))
            } else {
                self = .text(try decoder.singleValueContainer().decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .text(let text):
                var container = encoder.singleValueContainer()
                try container.encode(text)
            case .player(let name):
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(name, forKey: .name)
            }
        }
    }

    @Test func oneValueOrSeveral() throws {
        try withConnection { db throws in
            #expect(try stored(Either.text("a"), in: db) == "a".databaseValue)
            #expect(try read(Either.self, from: "a".databaseValue, in: db) == .text("a"))
            #expect(try stored(Either.player(name: "a"), in: db) == #"{"name":"a"}"#.databaseValue)
            #expect(try read(Either.self, from: #"{"name":"a"}"#.databaseValue, in: db) == .player(name: "a"))
        }
    }

    /// Nested values in containers are JSON as well.
    private struct Nested: Codable, Equatable, DatabaseValueConvertible {
        var a = 1

        private enum Keys: CodingKey { case outer, a }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            a = try container.nestedContainer(keyedBy: Keys.self, forKey: .outer).decode(Int.self, forKey: .a)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .outer)
            try nested.encode(a, forKey: .a)
        }
    }

    @Test func nestedContainersAreJSON() throws {
        try withConnection { db throws in
            let json = #"{"outer":{"a":1}}"#.databaseValue
            #expect(try stored(Nested(), in: db) == json)
            #expect(try read(Nested.self, from: json, in: db) == Nested())
        }
    }
}
