import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryRecords

/// The user info of a record type's coders: the coders for JSON have it too.
struct CodingUserInfoTests {
    /// A value that may not be sent.
    final class Unit {
        let name: String
        init(_ name: String) { self.name = name }
    }

    static let key = CodingUserInfoKey(rawValue: "unit")!

    /// A property that is stored as JSON, by code that asks its coder.
    struct Lengths: Codable, Equatable {
        var values: [Int]

        init(_ values: [Int]) { self.values = values }

        init(from decoder: any Decoder) throws {
            let unit = try #require(decoder.userInfo[CodingUserInfoTests.key] as? Unit)
            var container = try decoder.unkeyedContainer()
            #expect(try container.decode(String.self) == unit.name)
            values = try container.decode([Int].self)
        }

        func encode(to encoder: any Encoder) throws {
            let unit = try #require(encoder.userInfo[CodingUserInfoTests.key] as? Unit)
            var container = encoder.unkeyedContainer()
            try container.encode(unit.name)
            try container.encode(values)
        }
    }

    struct Plank: Codable, FetchableRecord, EncodableRecord, Equatable {
        static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [CodingUserInfoTests.key: Unit("cm")] }
        static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [CodingUserInfoTests.key: Unit("cm")] }
        var lengths: Lengths
    }

    @Test func codersOfJSONHaveIt() throws {
        let plank = Plank(lengths: Lengths([1, 2]))
        #expect(try plank.databaseDictionary == ["lengths": #"["cm",[1,2]]"#.databaseValue])
        try withConnection { db throws in
            let fetched = try Plank.fetchOne(db, sql: #"SELECT '["cm",[1,2]]' AS lengths"#)
            #expect(fetched == plank)
        }
    }

    /// A property that is one value.
    struct Length: Codable, Equatable {
        var text: String

        init(_ text: String) { self.text = text }

        init(from decoder: any Decoder) throws {
            let unit = try #require(decoder.userInfo[CodingUserInfoTests.key] as? Unit)
            text = try decoder.singleValueContainer().decode(String.self).replacing(unit.name, with: "")
        }

        func encode(to encoder: any Encoder) throws {
            let unit = try #require(encoder.userInfo[CodingUserInfoTests.key] as? Unit)
            var container = encoder.singleValueContainer()
            try container.encode(text + unit.name)
        }
    }

    struct Stick: Codable, FetchableRecord, EncodableRecord, Equatable {
        static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [CodingUserInfoTests.key: Unit("cm")] }
        static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [CodingUserInfoTests.key: Unit("cm")] }
        var length: Length
    }

    @Test func codersOfSingleValuesHaveIt() throws {
        let sticks = [Stick(length: Length("1")), Stick(length: Length("2"))]
        try withConnection { db throws in
            #expect(try sticks.map { try $0.databaseDictionary["length"] } == ["1cm", "2cm"].map(\.databaseValue))
            let fetched = try Stick.fetchAll(db, sql: "SELECT '1cm' AS length UNION ALL SELECT '2cm'")
            #expect(fetched == sticks)
        }
    }

    @Test func encodersOfNestedContainersHaveIt() throws {
        struct Shelf: Encodable, EncodableRecord {
            static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [CodingUserInfoTests.key: Unit("cm")] }
            enum Keys: CodingKey { case outer, inner }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                var outer = container.nestedContainer(keyedBy: Keys.self, forKey: .outer)
                try Length("1").encode(to: outer.superEncoder(forKey: .inner))
            }
        }
        #expect(try Shelf().databaseDictionary == ["outer": #"{"inner":"1cm"}"#.databaseValue])
    }

    @Test func itIsTheSameDictionary() throws {
        let unit = Unit("cm")
        let other = CodingUserInfoKey(rawValue: "other")!
        let none = CodingUserInfoKey(rawValue: "none")!
        let userInfo: [CodingUserInfoKey: Any] = [
            Self.key: unit, other: "text of more than fifteen bytes", none: Int?.none as Any,
        ]
        let sendable = userInfo.asSendable
        #expect(sendable.count == 3)
        #expect(sendable[Self.key] as? Unit === unit)
        #expect(sendable[other] as? String == "text of more than fifteen bytes")
        #expect([CodingUserInfoKey: Any]().asSendable.isEmpty)
    }

    @Test func nothingOfItIsLeft() {
        weak var weakUnit: Unit?
        do {
            let unit = Unit("cm")
            weakUnit = unit
            let decoder = JSONDecoder()
            decoder.userInfo = [Self.key: unit as Any].asSendable
            #expect(decoder.userInfo.count == 1)
        }
        #expect(weakUnit == nil)
    }
}
