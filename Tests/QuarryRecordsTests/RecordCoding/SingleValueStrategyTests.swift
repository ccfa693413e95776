import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// A type around one value, which it encodes and decodes in a single value container.
private struct Wrapped<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

@propertyWrapper private struct Tagged<Value: Codable & Equatable>: Codable, Equatable {
    var wrappedValue: Value

    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// Some number, text or object.
private enum Anything: Codable, Equatable {
    case number(Int)
    case text(String)
    case object([String: Int])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let object = try? container.decode([String: Int].self) {
            self = .object(object)
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .object(let object): try container.encode(object)
        }
    }
}

@Suite("Strategies in single values") struct SingleValueStrategyTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 1000)
    private static let uuid = UUID(uuid: (0xE6, 0x21, 0xE1, 0xF8, 0xC3, 6, 9, 0x5A, 0x93, 0xFC, 0, 1, 2, 3, 4, 5))

    private struct Event: Codable, PersistableRecord, FetchableRecord, Equatable {
        static let databaseTableName = "event"

        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            column == "text" ? .deferredToDate : .timeIntervalSinceReferenceDate
        }
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            column == "text" ? .deferredToDate : .timeIntervalSinceReferenceDate
        }
        static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
            .custom { value in String.fromDatabaseValue(value).map { Data($0.dropFirst().utf8) } }
        }
        static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
            .custom { "x" + String(decoding: $0, as: UTF8.self) }
        }
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .lowercaseString
        }

        var plain = SingleValueStrategyTests.date
        var one = Wrapped(SingleValueStrategyTests.date)
        var two = Wrapped(Wrapped(SingleValueStrategyTests.date))
        var text = Wrapped(SingleValueStrategyTests.date)
        var inner = Wrapped<Date?>(SingleValueStrategyTests.date)
        var none = Wrapped<Date??>(nil)
        var outer: Wrapped<Date>? = Wrapped(SingleValueStrategyTests.date)
        @Tagged var tagged = SingleValueStrategyTests.date
        var data = Wrapped(Data("ab".utf8))
        var uuid = Wrapped(SingleValueStrategyTests.uuid)
        var list = [SingleValueStrategyTests.date]
    }

    private func withEvents(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: "CREATE TABLE event (plain, one, two, text, inner, none, outer, tagged, data, uuid, list)")
            try body(db)
        }
    }

    @Test func theColumnsStrategiesAreUsed() throws {
        try withEvents { (db) throws in
            // The second record goes straight into a statement.
            for _ in 0..<3 { try Event().insert(db) }
            let stored: Row = [
                "plain": 1000.0, "one": 1000.0, "two": 1000.0, "text": "2001-01-01 00:16:40.000", "inner": 1000.0,
                "none": nil, "outer": 1000.0, "tagged": 1000.0, "data": "xab",
                "uuid": "e621e1f8-c306-095a-93fc-000102030405", "list": "[978308200000]",
            ]
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM event") == [stored, stored, stored])
            #expect(try Event.fetchAll(db) == [Event(), Event(), Event()])
        }
    }

    @Test func theStrategiesAreAskedForOnce() throws {
        struct Asked: Codable, PersistableRecord, FetchableRecord {
            static let databaseTableName = "asked"
            static let count = Lock(0)
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                count.withLock { $0 += 1 }
                return .timeIntervalSinceReferenceDate
            }
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                count.withLock { $0 += 1 }
                return .timeIntervalSinceReferenceDate
            }
            var date = Wrapped(SingleValueStrategyTests.date)
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE asked (date)")
            for _ in 0..<20 { try Asked().insert(db) }
            let encoded = Asked.count.withLock { $0 }
            #expect(encoded <= 2)
            #expect(try Asked.fetchAll(db).allSatisfy { $0.date.value == Self.date })
            #expect(Asked.count.withLock { $0 } == encoded + 1)
        }
    }

    @Test func theLeftmostColumnOfATypeAroundOne() throws {
        struct Moment: Decodable, FetchableRecord {
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                column == "at" ? .timeIntervalSinceReferenceDate : .deferredToDate
            }
            var date: Date?
            init(from decoder: any Decoder) throws { date = try decoder.singleValueContainer().decode(Date?.self) }
        }
        try DatabaseQueue().read { (db) throws in
            #expect(try Moment.fetchOne(db, sql: "SELECT 1000 AS at")?.date == Self.date)
            #expect(try Moment.fetchOne(db, sql: "SELECT NULL AS at")?.date == nil)
        }
    }

    @Test func aNaNIsRefused() throws {
        struct Number: Encodable, PersistableRecord {
            var value: Wrapped<Double>
        }
        struct Moment: Encodable, PersistableRecord {
            static let databaseTableName = "number"
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .timeIntervalSince1970
            }
            var value: Date
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE number (value)")
            let message = "could not bind the number NaN to parameter 1: SQLite would store NULL"
            expectError(.SQLITE_MISMATCH, message) { try Number(value: Wrapped(.nan)).insert(db) }
            expectError(.SQLITE_MISMATCH, message) {
                try Moment(value: Date(timeIntervalSince1970: .nan)).insert(db)
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM number") == 0)
        }
    }

    // MARK: - Values that are one, or several

    @Test func aTypeMayEncodeOneValueOrSeveral() throws {
        struct Item: Codable, PersistableRecord, FetchableRecord, Equatable { var value: Anything }
        /// Tries several values first.
        struct SeveralFirst: Decodable {
            var value: Anything

            init(from decoder: any Decoder) throws {
                value = try (try? [String: Int](from: decoder)).map { .object($0) } ?? Anything(from: decoder)
            }
        }
        struct OtherItem: Decodable, FetchableRecord { var value: SeveralFirst }
        let values: [Anything] = [
            .number(1), .object(["a": 1]), .number(2), .text("x"), .object(["b": 2]), .text("5"), .text("[draft]"),
        ]
        for start in values.indices {
            try DatabaseQueue().write { (db) throws in
                try db.execute(sql: "CREATE TABLE item (value)")
                // Whichever comes first.
                let values = Array(values[start...] + values[..<start])
                for value in values { try Item(value: value).insert(db) }
                let stored: [DatabaseValue] = values.map { value in
                    switch value {
                    case .number(let number): number.databaseValue
                    case .text(let text): text.databaseValue
                    case .object(let object): #"{"\#(object.keys.first!)":\#(object.values.first!)}"#.databaseValue
                    }
                }
                #expect(try DatabaseValue.fetchAll(db, sql: "SELECT value FROM item") == stored)
                #expect(try Item.fetchAll(db).map(\.value) == values)
                #expect(try OtherItem.fetchAll(db, sql: "SELECT value FROM item").map(\.value.value) == values)
            }
        }
    }

    @Test func aConvertibleTypeThatIsATextLikeANumber() throws {
        struct Value: Codable, DatabaseValueConvertible, Equatable {
            var value: Anything
            init(_ value: Anything) { self.value = value }
            init(from decoder: any Decoder) throws { value = try Anything(from: decoder) }
            func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
        }
        for value in [Anything.text("5"), .text("null"), .number(5), .object(["a": 1])] {
            #expect(Value.fromDatabaseValue(Value(value).databaseValue) == Value(value))
        }
    }

    // MARK: - Paths and errors

    @Test func codingPathsNameTheColumn() throws {
        struct Spy: Codable {
            static let paths = Lock<[String]>([])
            init() {}
            init(from decoder: any Decoder) throws { Self.note(decoder.codingPath) }
            func encode(to encoder: any Encoder) throws {
                Self.note(encoder.codingPath)
                var container = encoder.singleValueContainer()
                Self.note(container.codingPath)
                try container.encode(1)
            }
            static func note(_ path: [any CodingKey]) {
                paths.withLock { $0.append(path.map(\.stringValue).joined(separator: ".")) }
            }
        }
        struct Item: Codable, PersistableRecord, FetchableRecord { var spy = Spy() }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE item (spy)")
            try Item().insert(db)
            _ = try Item.fetchAll(db)
        }
        #expect(Set(Spy.paths.withLock { $0 }) == ["spy"])
    }

    // MARK: - Missing columns

    /// A single value, whatever it is.
    private struct OneNumber: Decodable, Equatable {
        var value: Int

        init(_ value: Int) { self.value = value }
        init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
    }

    private enum Hue: String, Decodable { case red }

    /// The leftmost column is no stand-in for a missing one.
    @Test func aMissingColumnOfAValue() throws {
        struct Numbers: Decodable, FetchableRecord { var id: Int, name: Int }
        struct Dates: Decodable, FetchableRecord { var name: Date }
        struct Bytes: Decodable, FetchableRecord { var name: Data }
        struct Identifiers: Decodable, FetchableRecord { var name: UUID }
        struct Wrappers: Decodable, FetchableRecord { var name: OneNumber }
        struct Hues: Decodable, FetchableRecord { var name: Hue }
        let types: [any (FetchableRecord & Decodable).Type] = [
            Numbers.self, Dates.self, Bytes.self, Identifiers.self, Wrappers.self, Hues.self,
        ]
        try DatabaseQueue().read { (db) throws in
            for (type, id) in types.flatMap({ [($0, "1"), ($0, "'red'"), ($0, "'2024-02-29'")] })
            where type != Numbers.self || id == "1" {
                let row = try #require(try Row.fetchOne(db, sql: "SELECT \(id) AS id"))
                let error = #expect(throws: RowDecodingError.self, "\(type) of \(id)") { _ = try type.init(row: row) }
                #expect(
                    error?.description.hasPrefix("column not found: \"name\" for key path name of \(type)") ?? false)
            }
            let found = try Wrappers.fetchOne(db, sql: "SELECT 1 AS id, 2 AS name")
            #expect(found?.name == OneNumber(2))
        }
    }

    /// A property that could be a scope or a list has no column of its own.
    @Test func aMissingScopeOrList() throws {
        struct Part: Decodable, FetchableRecord, Hashable { var id: Int }
        struct Parts: Decodable, FetchableRecord { var first: Part, second: Part }
        struct Lists: Decodable, FetchableRecord { var second: [Part] }
        struct Sets: Decodable, FetchableRecord { var second: Set<Part> }
        struct Texts: Decodable, FetchableRecord { var second: [String] }
        let types: [any (FetchableRecord & Decodable).Type] = [Parts.self, Lists.self, Sets.self, Texts.self]
        try DatabaseQueue().read { (db) throws in
            for type in types {
                do {
                    _ = try type.fetchAll(db, sql: "SELECT 1 AS id")
                    Issue.record("nothing was thrown")
                } catch DecodingError.keyNotFound(let key, let context) {
                    #expect(key.stringValue == "second")
                    let problem = "no column, scope or list \"second\" for key path second of \(type)"
                    #expect(context.debugDescription.hasPrefix("\(problem): request a"))
                    let cause = context.underlyingError as? RowDecodingError
                    #expect(cause?.description == "decoding \(type) - row: [id:INTEGER], sql: `SELECT 1 AS id`")
                }
            }
            struct Whole: Decodable, FetchableRecord { var part: Part }
            #expect(try Whole.fetchOne(db, sql: "SELECT 1 AS id")?.part == Part(id: 1))
            let error = #expect(throws: RowDecodingError.self) { _ = try Whole.fetchOne(db, sql: "SELECT 1 AS x") }
            #expect(
                error?.description
                    == "column not found: \"id\" for key path id of Part - row: [x:INTEGER], sql: `SELECT 1 AS x`")
        }
    }

    // MARK: - Records in single value containers

    /// A record that encodes and decodes other columns than its keys.
    private struct Inner: Codable, EncodableRecord, FetchableRecord, Equatable {
        var number: Int

        init(number: Int) { self.number = number }
        init(row: Row) throws { number = try row.decode(Int.self, forColumn: "hundred") / 100 }
        func encode(to container: inout PersistenceContainer) throws { container["hundred"] = number * 100 }
    }

    private struct Outer: Codable, PersistableRecord, FetchableRecord, Equatable {
        static let databaseTableName = "item"
        var inner: Inner

        init(inner: Inner) { self.inner = inner }
        init(from decoder: any Decoder) throws { inner = try decoder.singleValueContainer().decode(Inner.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(inner)
        }
    }

    @Test func aRecordEncodesAndDecodesItself() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE item (hundred)")
            for number in 1...3 { try Outer(inner: Inner(number: number)).insert(db) }
            #expect(try Int.fetchAll(db, sql: "SELECT hundred FROM item") == [100, 200, 300])
            #expect(try Outer.fetchAll(db).map(\.inner.number) == [1, 2, 3])
        }
    }
}
