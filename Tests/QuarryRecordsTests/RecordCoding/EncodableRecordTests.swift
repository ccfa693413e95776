import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite("Encodable records") struct EncodableRecordTests {
    private static let uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!

    /// The columns of a record as text.
    private func columns(_ record: some EncodableRecord) throws -> [String] {
        try record.databaseDictionary.sorted { $0.key < $1.key }.map { "\($0) \($1)" }
    }

    @Test func propertiesOfManyTypes() throws {
        struct Inner: Encodable {
            var z = 1
            var y = "a/b"
        }
        enum Color: String, Codable { case red }
        struct Name: Encodable {
            var text: String
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(text)
            }
        }
        struct Everything: Encodable, EncodableRecord {
            var date = Date(timeIntervalSince1970: 1.5)
            var none: Int?
            var list = [1, 2]
            var dictionary = ["b": 1, "a": 2]
            var url = URL(string: "http://a.b/c")
            var float: Float = 1.5
            var decimal = Decimal(string: "1.10")!
            var bool = true
            var data = Data([1, 2])
            var uuid = EncodableRecordTests.uuid
            var dates = [Date(timeIntervalSince1970: 1.5)]
            var noList: [Int]?
            var inner = Inner()
            var color = Color.red
            var name = Name(text: "N")
            var small: Int8 = -1
            var unsigned: UInt64 = 7
        }
        #expect(
            try columns(Everything()) == [
                "bool 1", "color \"red\"", "data x'0102'", "date \"1970-01-01 00:00:01.500\"", "dates \"[1500]\"",
                "decimal \"1.1\"", #"dictionary "{\"a\":2,\"b\":1}""#, "float 1.5",
                #"inner "{\"y\":\"a\\/b\",\"z\":1}""#, "list \"[1,2]\"", "name \"N\"", "noList NULL", "none NULL",
                "small -1", "unsigned 7", "url \"http://a.b/c\"", "uuid x'e621e1f8c36c495a93fc0c247a3e6e5f'",
            ])
        // The same into a statement, twice.
        try DatabaseQueue().write { (db) throws in
            let names = try Everything().databaseDictionary.keys.sorted()
            try db.execute(sql: "CREATE TABLE everything (\(names.joined(separator: ", ")))")
            struct Stored: Encodable, PersistableRecord {
                static let databaseTableName = "everything"
                var all = Everything()
                func encode(to encoder: any Encoder) throws { try all.encode(to: encoder) }
            }
            for _ in 0..<3 { try Stored().insert(db) }
            for row in try Row.fetchAll(db, sql: "SELECT * FROM everything") {
                #expect(zip(row.columnNames, row.databaseValues).map { "\($0) \($1)" } == (try columns(Everything())))
            }
        }
    }

    private enum DateStrategy { @TaskLocal static var current = DatabaseDateEncodingStrategy.deferredToDate }

    private struct Dated: Encodable, EncodableRecord {
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            column == "date" ? DateStrategy.current : .deferredToDate
        }
        var date: Date
    }

    @Test func dateStrategies() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy"
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for (strategy, text) in [
            (.deferredToDate, "\"1970-01-01 00:00:01.500\""), (.timeIntervalSince1970, "1.5"),
            (.millisecondsSince1970, "1500"), (.secondsSince1970, "1"), (.iso8601, "\"1970-01-01T00:00:01Z\""),
            (.timeIntervalSinceReferenceDate, "-978307198.5"), (.formatted(formatter), "\"1970\""),
            (.custom { _ in "day" }, "\"day\""), (.custom { _ in nil }, "NULL"),
        ] as [(DatabaseDateEncodingStrategy, String)] {
            try DateStrategy.$current.withValue(strategy) { () throws in
                #expect(try columns(Dated(date: date)) == ["date \(text)"])
                try DatabaseQueue().write { (db) throws in
                    try db.execute(sql: "CREATE TABLE dated (date)")
                    struct Stored: Encodable, PersistableRecord {
                        static let databaseTableName = "dated"
                        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                            DateStrategy.current
                        }
                        var date: Date
                    }
                    for _ in 0..<2 { try Stored(date: date).insert(db) }
                    let stored = try DatabaseValue.fetchAll(db, sql: "SELECT date FROM dated")
                    #expect(stored.map { "\($0)" } == [text, text])
                }
            }
        }
        try DateStrategy.$current.withValue(.secondsSince1970) { () throws in
            #expect(try columns(Dated(date: Date(timeIntervalSince1970: -0.5))) == ["date -1"])
        }
        try DateStrategy.$current.withValue(.iso8601) { () throws in
            #expect(try columns(Dated(date: Date(timeIntervalSince1970: -0.5))) == ["date \"1969-12-31T23:59:59Z\""])
        }
    }

    @Test func dataAndUUIDStrategies() throws {
        struct Texts: Encodable, EncodableRecord {
            static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
                column == "count" ? .custom { $0.count } : .text
            }
            static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
                column == "lower" ? .lowercaseString : .uppercaseString
            }
            var count = Data([1, 2, 3])
            var text = Data("é".utf8)
            var lower = EncodableRecordTests.uuid
            var upper = EncodableRecordTests.uuid
        }
        #expect(
            try columns(Texts()) == [
                "count 3", "lower \"e621e1f8-c36c-495a-93fc-0c247a3e6e5f\"", "text \"é\"",
                "upper \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"",
            ])
        struct Stored: Encodable, PersistableRecord {
            static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
            var text: Data
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE stored (text)")
            expectError(.SQLITE_MISMATCH, "could not bind data of 1 bytes to parameter 1: it isn't UTF-8") {
                try Stored(text: Data([0xFF])).insert(db)
            }
        }
    }

    @Test func columnStrategies() throws {
        struct Snake: Codable, EncodableRecord, FetchableRecord, Equatable {
            static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
            var teamId = 1
            var createdAt = Date(timeIntervalSince1970: 0)
            var name = "a"
        }
        #expect(try columns(Snake()) == ["created_at \"1970-01-01 00:00:00.000\"", "name \"a\"", "team_id 1"])
        struct Stored: Codable, PersistableRecord, FetchableRecord, Equatable {
            static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.custom { "c_" + $0.stringValue }
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.custom {
                AnyKey($0.dropFirst(2))
            }
            var a = 1
            var b: String?
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE stored (c_a, c_b)")
            for _ in 0..<2 { try Stored(a: 2, b: "x").insert(db) }
            #expect(try Stored.fetchAll(db) == [Stored(a: 2, b: "x"), Stored(a: 2, b: "x")])
        }
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(_ name: Substring) { stringValue = String(name) }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Snake case is that of Foundation's encoder of JSON.
    @Test func snakeCase() throws {
        struct Named: EncodableRecord, Encodable {
            static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
            var name: String
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode(1, forKey: AnyKey(stringValue: name))
            }
        }
        var generator = SeededGenerator()
        let json = JSONEncoder()
        json.keyEncodingStrategy = .convertToSnakeCase
        let fixed = ["HTTPRequest", "myURL", "_x", "a1B2", "a", "aB", "AB", "", "urlString", "aURL", "A", "é1É"]
        let random = (0..<500).map { _ in
            String(
                (0..<Int.random(in: 1...10, using: &generator)).map { _ in "aBcD_1é".randomElement(using: &generator)! }
            )
        }
        for name in fixed + random where !name.isEmpty {
            let expected = String(decoding: try json.encode(Named(name: name)), as: UTF8.self)
            let column = try Named(name: name).databaseDictionary.keys.first!
            #expect("{\"\(column)\":1}" == expected, "\(name), seed \(generator.seed)")
        }
    }

    @Test func userInfoAndJSONEncoders() throws {
        struct Configured: Encodable, EncodableRecord {
            static let key = CodingUserInfoKey(rawValue: "unit")!
            static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [key: "cm"] }
            static func databaseJSONEncoder(for column: String) -> JSONEncoder {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .withoutEscapingSlashes
                encoder.dateEncodingStrategy = column == "iso" ? .iso8601 : .secondsSince1970
                return encoder
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode(encoder.userInfo[Self.key] as? String, forKey: AnyKey("unit"))
                try container.encode([Date(timeIntervalSince1970: 0)], forKey: AnyKey("iso"))
                try container.encode([Date(timeIntervalSince1970: 0)], forKey: AnyKey("seconds"))
                try container.encode(["a/b"], forKey: AnyKey("path"))
            }
        }
        #expect(
            try columns(Configured()) == [
                #"iso "[\"1970-01-01T00:00:00Z\"]""#, #"path "[\"a/b\"]""#, #"seconds "[0]""#, #"unit "cm""#,
            ])
    }

    @Test func optionalsAreValuesOrNull() throws {
        struct Maybe: Encodable, EncodableRecord {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encodeNil(forKey: AnyKey("a"))
                try container.encode(Optional.some(Date(timeIntervalSince1970: 0)), forKey: AnyKey("b"))
                try container.encode(Int?.none, forKey: AnyKey("c"))
                try container.encode(Int??.some(.some(1)), forKey: AnyKey("d"))
                try container.encodeIfPresent(String?.none, forKey: AnyKey("e"))
                try container.encodeIfPresent([Int]?.none, forKey: AnyKey("f"))
            }
        }
        #expect(
            try columns(Maybe()) == ["a NULL", "b \"1970-01-01 00:00:00.000\"", "c NULL", "d 1", "e NULL", "f NULL"])
    }

    @Test func nestedContainersAreJSON() throws {
        struct Nested: Encodable, PersistableRecord {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyKey.self)
                var object = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("object"))
                try object.encode(Date(timeIntervalSince1970: 1), forKey: AnyKey("date"))
                try container.encode(1, forKey: AnyKey("number"))
                try object.encodeNil(forKey: AnyKey("null"))
                var inner = object.nestedUnkeyedContainer(forKey: AnyKey("list"))
                try inner.encode(1)
                try inner.encodeNil()
                var deep = inner.nestedContainer(keyedBy: AnyKey.self)
                try deep.encode("x", forKey: AnyKey("y"))
                var list = container.nestedUnkeyedContainer(forKey: AnyKey("list"))
                try list.encode("a")
                try list.encode(contentsOf: [1, 2])
                var single = container.superEncoder(forKey: AnyKey("single")).singleValueContainer()
                try single.encode("s")
                _ = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("empty"))
            }
        }
        let expected = [
            #"empty "{}""#, #"list "[\"a\",1,2]""#, "number 1",
            #"object "{\"date\":1000,\"list\":[1,null,{\"y\":\"x\"}],\"null\":null}""#, #"single "\"s\"""#,
        ]
        #expect(try columns(Nested()) == expected)
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE nested (empty, list, number, object, single)")
            for _ in 0..<3 { try Nested().insert(db) }
            for row in try Row.fetchAll(db, sql: "SELECT * FROM nested") {
                #expect(zip(row.columnNames, row.databaseValues).map { "\($0) \($1)" } == expected)
            }
        }
    }

    @Test func aSuperclassIsTheSameRow() throws {
        class Base: Encodable {
            var a = 1
        }
        final class Derived: Base, EncodableRecord {
            var b = 2
            enum CodingKeys: CodingKey { case b }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(b, forKey: .b)
                try super.encode(to: container.superEncoder())
            }
        }
        #expect(try columns(Derived()) == ["a 1", "b 2"])
    }

    @Test func whatIsNoRow() throws {
        struct List: Encodable, EncodableRecord {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(1)
            }
        }
        struct Single: Encodable, EncodableRecord {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(1)
            }
        }
        #expect(throws: EncodingError.self) { try List().databaseDictionary }
        #expect(throws: EncodingError.self) { try Single().databaseDictionary }
    }

    @Test func numbersThatDoNotFit() throws {
        struct Number: Codable, PersistableRecord {
            var real: Double
            var integer: UInt64
        }
        struct Handmade: PersistableRecord {
            static let databaseTableName = "number"
            var real: Double
            func encode(to container: inout PersistenceContainer) { container["real"] = real }
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE number (real, integer)")
            for _ in 0..<2 {
                expectError(
                    .SQLITE_MISMATCH, "could not bind the number NaN to parameter 1: SQLite would store NULL"
                ) { try Number(real: .nan, integer: 1).insert(db) }
                expectError(.SQLITE_MISMATCH) { try Handmade(real: .nan).insert(db) }
                expectError(.SQLITE_MISMATCH) { try Number(real: 1, integer: .max).insert(db) }
                try Number(real: .infinity, integer: 1).insert(db)
                try Handmade(real: -.infinity).insert(db)
            }
            #expect(try Double.fetchSet(db, sql: "SELECT real FROM number") == [.infinity, -.infinity])
        }
    }

    /// Of each type of a property, and whether a record is bound to a statement or encoded into memory.
    @Test func aNaNOfAnyTypeIsRefused() throws {
        struct Generic<Value: Codable & Sendable>: Codable, PersistableRecord {
            static var databaseTableName: String { "number" }
            var value: Value
        }
        struct Handmade<Value: DatabaseValueConvertible>: PersistableRecord {
            static var databaseTableName: String { "number" }
            var value: Value?
            func encode(to container: inout PersistenceContainer) { container["value"] = value }
        }
        struct Erased: PersistableRecord {
            static let databaseTableName = "number"
            var value: any DatabaseValueConvertible
            func encode(to container: inout PersistenceContainer) { container["value"] = value }
        }
        struct Celsius: RawRepresentable, Codable, DatabaseValueConvertible { var rawValue: Double }
        struct Degrees: RawRepresentable, Codable, DatabaseValueConvertible { var rawValue: Float }
        struct Boxed: RawRepresentable, Codable, DatabaseValueConvertible { var rawValue: Celsius }
        struct Width: Codable {  // a single value
            var value: CGFloat
            init(_ value: CGFloat) { self.value = value }
            init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(CGFloat.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }
        let records: [any PersistableRecord] = [
            Generic(value: Double.nan), Generic<Double?>(value: .nan), Generic<Double??>(value: .nan),
            Generic(value: Float.nan), Generic<Float?>(value: .nan), Generic(value: CGFloat.nan),
            Generic<CGFloat?>(value: .nan), Generic(value: -Double.nan), Generic(value: Double.signalingNaN),
            Generic(value: Celsius(rawValue: .nan)), Generic<Celsius?>(value: Celsius(rawValue: .nan)),
            Generic(value: Degrees(rawValue: .nan)), Generic(value: Boxed(rawValue: Celsius(rawValue: .nan))),
            Generic(value: Width(.nan)), Generic<Width?>(value: Width(.nan)),
            Handmade(value: Double.nan), Handmade(value: Float.nan), Handmade(value: CGFloat.nan),
            Handmade(value: Celsius(rawValue: .nan)), Handmade(value: Degrees(rawValue: .nan)),
            Erased(value: Double.nan), Erased(value: CGFloat.nan), Erased(value: Celsius(rawValue: .nan)),
        ]
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE number (value)")
            let message = "could not bind the number NaN to parameter 1: SQLite would store NULL"
            for record in records {
                for _ in 0..<3 { expectError(.SQLITE_MISMATCH, message) { try record.insert(db) } }
                let stored = try record.databaseDictionary["value"]
                #expect(stored?.isNull == false, "\(record)")
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM number") == 0)
        }
    }

    /// Neither NULL nor another number with the bytes of a NaN is refused, nor a type that itself stores NULL.
    @Test func otherValuesThanNaNsAreStored() throws {
        struct Generic<Value: Codable & Sendable>: Codable, PersistableRecord {
            static var databaseTableName: String { "number" }
            var value: Value
        }
        struct Handmade<Value: DatabaseValueConvertible>: PersistableRecord {
            static var databaseTableName: String { "number" }
            var value: Value?
            func encode(to container: inout PersistenceContainer) { container["value"] = value }
        }
        struct Celsius: RawRepresentable, Codable, DatabaseValueConvertible { var rawValue: Double }
        struct Number: RawRepresentable, Codable, DatabaseValueConvertible { var rawValue: Int }
        struct Unknown: DatabaseValueConvertible {
            var number: Double
            var databaseValue: DatabaseValue { number.databaseValue }
            static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Unknown? { nil }
        }
        let records: [any PersistableRecord] = [
            Generic<Double?>(value: nil), Handmade<Double>(value: nil), Handmade(value: Unknown(number: .nan)),
            Generic(value: -1), Generic(value: Int32(-1)), Generic(value: Number(rawValue: -1)),
            Handmade(value: Int32(-1)), Handmade(value: Number(rawValue: -1)),
            Generic(value: CGFloat(-1)), Generic(value: Celsius(rawValue: -1)), Handmade(value: Celsius(rawValue: -1)),
            Generic(value: Celsius(rawValue: .infinity)), Handmade(value: -CGFloat.infinity),
        ]
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE number (value)")
            for record in records { try record.insert(db) }
            #expect(
                try Double?.fetchAll(db, sql: "SELECT value FROM number") == [
                    nil, nil, nil, -1, -1, -1, -1, -1, -1, -1, -1, .infinity, -.infinity,
                ])
        }
    }

    @Test func whatChangesFromRecordToRecord() throws {
        struct Odd: PersistableRecord {
            static let databaseTableName = "odd"
            var names: [String]
            func encode(to container: inout PersistenceContainer) {
                for name in names { container[name] = name.utf8.count }
                // Reading a column back.
                if names.contains("b"), container["b"] == nil { container["b"] = -1 }
            }
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE odd (a, b, c, dd)")
            for names in [
                ["a"], ["a"], ["a", "c"], ["c", "a"], ["a"], ["a", "b"], ["a", "b"], ["A", "a"], ["a", "a", "dd"],
            ] {
                let sql = try emitted(db) { try Odd(names: names).insert(db) }
                var seen: Set<String> = []
                let columns = names.filter { seen.insert($0.lowercased()).inserted }
                let quoted = columns.map { "\"\($0)\"" }.joined(separator: ", ")
                let values = columns.map { "\($0.utf8.count)" }.joined(separator: ",")
                #expect(sql == ["INSERT INTO \"odd\" (\(quoted)) VALUES (\(values))"])
            }
        }
    }

    @Test func containers() throws {
        var container = PersistenceContainer()
        container["a"] = 1
        container[Column("B")] = "x"
        container["A"] = 2
        container["c"] = nil
        #expect(container.columns == ["a", "B", "c"])
        #expect("\(container)" == "[a:2 B:\"x\" c:NULL]")
        #expect(container["b"]?.databaseValue == "x".databaseValue)
        #expect(container["c"] == nil)
        #expect(container.map(\.0) == ["a", "B", "c"])
    }
}
