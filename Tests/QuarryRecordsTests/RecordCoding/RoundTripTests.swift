import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Whatever a record encodes, it decodes: random values through inserts, updates and upserts.
@Suite("Random round trips") struct RoundTripTests {
    struct Everything: Codable, FetchableRecord, PersistableRecord, Equatable {
        struct Inner: Codable, Equatable {
            var text: String
            var numbers: [Double]
            var date: Date?
        }

        enum Kind: String, Codable, CaseIterable { case one, two, three }

        var id: Int64
        var bool: Bool
        var int: Int
        var small: Int8
        var unsigned: UInt32
        var real: Double
        var float: Float
        var text: String
        var data: Data
        var date: Date
        var uuid: UUID
        var kind: Kind
        var inner: Inner
        var list: [String]
        var maybeInt: Int?
        var maybeText: String?
        var maybeData: Data?
        var maybeDate: Date?
        var maybeInner: Inner?
    }

    /// The same columns under other names, dates and identifiers.
    struct Styled: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            column == "first_date" ? .millisecondsSince1970 : .timeIntervalSinceReferenceDate
        }
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            column == "first_date" ? .millisecondsSince1970 : .timeIntervalSinceReferenceDate
        }
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .lowercaseString
        }
        static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }

        var firstDate: Date
        var secondDate: Date?
        var someText: Data
        var theUuid: UUID
    }

    struct Values {
        var generator: SeededGenerator

        mutating func int() -> Int {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: [Int.min, .max, 0, -1, 1 << 53, -(1 << 53) - 1].randomElement(using: &generator)!
            case 1: Int.random(in: .min ... .max, using: &generator)
            default: Int.random(in: -100...100, using: &generator)
            }
        }

        mutating func real() -> Double {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                [
                    Double.greatestFiniteMagnitude, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, .infinity,
                    -.infinity, 0, 1e300, 0.1,
                ].randomElement(using: &generator)!
            case 1:
                {
                    let real = Double(bitPattern: generator.next())
                    return real.isNaN ? 1 : real
                }()
            default: Double.random(in: -1e6...1e6, using: &generator)
            }
        }

        mutating func text() -> String {
            let pieces = ["", "a", "é", "e\u{301}", "👩‍👩‍👧‍👦", "\0", "'", "\"", "\u{FEFF}", "\n", "漢字", "x'00'", "123"]
            let count = Int.random(in: 0...8, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator)! }.joined()
            // Longer than what is lent to SQLite, now and then.
            return Int.random(in: 0..<20, using: &generator) == 0 ? String(repeating: text + "long", count: 600) : text
        }

        mutating func data() -> Data {
            let count = [0, 0, 1, 5, 100, 1024, 1025, 5000].randomElement(using: &generator)!
            return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }

        /// A date of a whole millisecond, of years 0 to 9999.
        mutating func date() -> Date {
            let milliseconds = [
                Int.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator), -62_167_219_200_000,
                253_402_300_799_999, 0, Int.random(in: 0...1_800_000_000_000, using: &generator),
            ].randomElement(using: &generator)!
            return Date(timeIntervalSinceReferenceDate: Double(milliseconds - 978_307_200_000) / 1000)
        }

        mutating func maybe<T>(_ value: (inout Values) -> T) -> T? {
            Bool.random(using: &generator) ? value(&self) : nil
        }

        mutating func inner() -> Everything.Inner {
            Everything.Inner(
                text: text(), numbers: (0..<3).map { _ in Double(int() % 1_000_000) / 8 },
                date: maybe { Date(timeIntervalSince1970: Double($0.int() % 1_000_000_000)) })
        }

        mutating func uuid() -> UUID {
            var bytes = (generator.next(), generator.next())
            return withUnsafeBytes(of: &bytes) { UUID(uuid: $0.load(as: uuid_t.self)) }
        }

        mutating func everything(_ id: Int64) -> Everything {
            Everything(
                id: id, bool: Bool.random(using: &generator), int: int(),
                small: Int8.random(in: .min ... .max, using: &generator),
                unsigned: UInt32.random(in: .min ... .max, using: &generator), real: real(),
                float: Float(int() % 1_000_000) / 4, text: text(), data: data(), date: date(), uuid: uuid(),
                kind: Everything.Kind.allCases.randomElement(using: &generator)!, inner: inner(),
                list: (0..<3).map { _ in text() }, maybeInt: maybe { $0.int() }, maybeText: maybe { $0.text() },
                maybeData: maybe { $0.data() }, maybeDate: maybe { $0.date() }, maybeInner: maybe { $0.inner() })
        }
    }

    @Test func everyColumnComesBack() throws {
        var values = Values(generator: SeededGenerator())
        let seed = values.generator.seed
        try DatabaseQueue().write { (db) throws in
            // The columns in a random order, with others between them.
            let names = try values.everything(1).databaseDictionary.keys.sorted().shuffled(using: &values.generator)
            let columns = names.map { $0 == "id" ? "id INTEGER PRIMARY KEY" : $0 } + ["other DEFAULT 1"]
            try db.execute(
                sql: "CREATE TABLE everything (\(columns.shuffled(using: &values.generator).joined(separator: ", ")))")
            var expected: [Everything] = []
            for id in 1...200 as ClosedRange<Int64> {
                let record = values.everything(id)
                try record.insert(db)
                expected.append(record)
            }
            #expect(try Everything.fetchAll(db) == expected, "seed \(seed)")
            for index in expected.indices {
                let old = expected[index]
                expected[index] = values.everything(old.id)
                switch Int.random(in: 0..<4, using: &values.generator) {
                case 0: try expected[index].update(db)
                case 1: try expected[index].updateChanges(db, from: old)
                case 2: try expected[index].upsert(db)
                default: #expect(try expected[index].saveAndFetch(db) == expected[index], "seed \(seed)")
                }
                #expect(try Everything.fetchOne(db, key: old.id) == expected[index], "seed \(seed)")
            }
            #expect(try Everything.fetchAll(db) == expected, "seed \(seed)")
        }
    }

    @Test func withStrategies() throws {
        var values = Values(generator: SeededGenerator())
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE styled (first_date, second_date, some_text, the_uuid)")
            let records = (0..<200).map { _ in
                Styled(
                    firstDate: values.date(), secondDate: values.maybe { $0.date() },
                    someText: Data(values.text().utf8), theUuid: values.uuid())
            }
            try Styled.insertAll(db, records)
            #expect(try Styled.fetchAll(db) == records, "seed \(values.generator.seed)")
        }
    }
}
