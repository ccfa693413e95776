import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// How keys find the parameters of a statement, record after record: by their names at first, then by what they are.
@Suite("Keys of Encodable records") struct EncodableKeyTests {
    private enum Keys: String, CodingKey, CaseIterable { case a, b, c, d }

    /// Their bytes are those of `Keys`.
    private enum OtherKeys: String, CodingKey, CaseIterable { case e, f, g, h }

    /// Sets its columns in an order of its own, and not all of them.
    private struct Shuffled: Encodable, PersistableRecord {
        static let databaseTableName = "t"
        var order: [Int]
        var a: Int
        var numbers: [Int?]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var others = encoder.container(keyedBy: OtherKeys.self)
            for place in order {
                let number = numbers[place]
                switch place {
                case 0: try container.encode(a, forKey: .a)
                case 1: try container.encodeIfPresent(number.map { "b\($0)" }, forKey: .b)
                case 2: try container.encodeIfPresent(number.map { Double($0) + 0.5 }, forKey: .c)
                case 3: try container.encodeIfPresent(number, forKey: .d)
                case 4: try others.encodeIfPresent(number, forKey: .e)
                case 5: try others.encodeIfPresent(number.map { Data([UInt8($0)]) }, forKey: .f)
                case 6:
                    if let number {
                        try others.encode("g\(number)", forKey: .g)
                    } else {
                        try others.encodeNil(forKey: .g)
                    }
                default: try others.encodeIfPresent(number.map { Int8($0) }, forKey: .h)
                }
            }
        }

        /// The row that it becomes: what it doesn't set keeps its value.
        func row(_ before: [String]? = nil, columns: Set<Int> = Set(0..<8)) -> [String] {
            (0..<8).map { place in
                guard order.contains(place), columns.contains(place) else { return before?[place] ?? "NULL" }
                guard place > 0 else { return "\(a)" }
                guard let number = numbers[place] else { return "NULL" }
                return switch place {
                case 1: "'b\(number)'"
                case 2: "\(number).5"
                case 5: "X'" + String(format: "%02X", number) + "'"
                case 6: "'g\(number)'"
                default: "\(number)"
                }
            }
        }
    }

    private func rows(_ db: Database) throws -> [[String]] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT quote(a), quote(b), quote(c), quote(d), quote(e), quote(f), quote(g), quote(h) FROM t ORDER BY a
                """
        ).map { row in row.databaseValues.compactMap { String.fromDatabaseValue($0) } }
    }

    @Test func inAnotherOrderNowAndThen() throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b, c REAL, d, e, f, g, h)")
            var expected: [[String]] = []
            var order = Array(0..<8)
            for a in 1...300 {
                if Int.random(in: 0..<6, using: &generator) == 0 { order.shuffle(using: &generator) }
                var set = order
                // The key is always there.
                if Int.random(in: 0..<10, using: &generator) == 0 { set.removeAll { $0 > 0 && $0 % 3 == a % 3 } }
                let numbers = (0..<8).map { _ in
                    Bool.random(using: &generator) ? nil : Int.random(in: 0...99, using: &generator)
                }
                var record = Shuffled(order: set, a: a, numbers: numbers)
                try record.insert(db)
                var row = record.row()
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    record.numbers.shuffle(using: &generator)
                    try record.update(db)
                    row = record.row(row)
                    record.numbers.shuffle(using: &generator)
                    try record.update(db, columns: ["b", "g", "d"].filter { _ in record.order.count == 8 })
                    if record.order.count == 8 { row = record.row(row, columns: [1, 3, 6]) }
                }
                expected.append(row)
            }
            #expect(try rows(db) == expected, "seed \(seed)")
        }
    }

    @Test func valuesThatCannotBeStoredAreRefusedWhereTheirKeysAreKnown() throws {
        struct Measure: Encodable, PersistableRecord {
            static let databaseTableName = "measure"
            var number: Double
            var count: UInt64
        }
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE measure (number, count)")
            for count in 1...3 { try Measure(number: 0.5, count: UInt64(count)).insert(db) }
            #expect(throws: DatabaseError.self) { try Measure(number: .nan, count: 4).insert(db) }
            #expect(throws: DatabaseError.self) { try Measure(number: 0.5, count: .max).insert(db) }
            try Measure(number: .infinity, count: 5).insert(db)
            let texts = try String.fetchAll(db, sql: "SELECT number || ' ' || count FROM measure")
            #expect(texts == ["0.5 1", "0.5 2", "0.5 3", "Inf 5"])
        }
    }

    private class Base: Encodable {
        var x: Int
        var y: String
        init(_ x: Int) { (self.x, y) = (x, "y\(x)") }
    }

    private final class Derived: Base, PersistableRecord {
        static let databaseTableName = "derived"
        var z: Int
        var w: String
        override init(_ x: Int) {
            (z, w) = (-x, "w\(x)")
            super.init(x)
        }

        enum Keys: String, CodingKey { case z, w }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(z, forKey: .z)
            try super.encode(to: encoder)
            try container.encode(w, forKey: .w)
        }
    }

    @Test func ofAClassAndOfTheOneItDerivesFrom() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE derived (x, y, z, w)")
            for x in 1...4 { try Derived(x).insert(db) }
            let texts = try String.fetchAll(db, sql: "SELECT x || y || z || w FROM derived ORDER BY x")
            #expect(texts == ["1y1-1w1", "2y2-2w2", "3y3-3w3", "4y4-4w4"])
        }
    }

    /// A type whose keys are a byte that says nothing of the column's name but through the strategy.
    @Test func thatBecomeOtherNames() throws {
        struct Player: Encodable, PersistableRecord {
            static let databaseTableName = "named"
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
            var firstName: String
            var lastName: String
            var highScore: Int
        }
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE named (high_score, last_name, first_name)")
            for score in 1...4 {
                try Player(firstName: "A\(score)", lastName: "B\(score)", highScore: score).insert(db)
            }
            let texts = try String.fetchAll(db, sql: "SELECT first_name || last_name || high_score FROM named")
            #expect(texts == ["A1B11", "A2B22", "A3B33", "A4B44"])
        }
    }
    /// 300 keys, which is more than a session remembers. Each third value becomes JSON.
    private struct Wide: Encodable, PersistableRecord {
        struct Number: CodingKey {
            let number: Int
            var stringValue: String { "columnOf\(number)" }
            init(_ number: Int) { self.number = number }
            init?(stringValue: String) { nil }
            var intValue: Int? { nil }
            init?(intValue: Int) { nil }
        }

        static let databaseTableName = "wide"
        static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
        var first: Int
        /// Encoded inside one of the values, with the same keys.
        var other: [Int] = []

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Number.self)
            for number in 0..<300 {
                let value = first + number
                switch number % 3 {
                case 0: try container.encode(value, forKey: Number(number))
                case 1: try container.encode(Inner(others: other, value: value), forKey: Number(number))
                default: try container.encode(Date(timeIntervalSinceReferenceDate: 0), forKey: Number(number))
                }
            }
        }
    }

    private struct Inner: Encodable {
        var others: [Int]
        var value: Int

        func encode(to encoder: any Encoder) throws {
            for other in others { _ = try Wide(first: other).databaseDictionary }
            var container = encoder.unkeyedContainer()
            try container.encode(value)
        }
    }

    @Test(arguments: [[], [1000]]) func moreThanAreRemembered(inside: [Int]) throws {
        let columns = (0..<300).map { "column_of\($0)" }
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE wide (\(columns.joined(separator: ", ")))")
            for first in [0, 7, 14] { try Wide(first: first, other: inside).insert(db) }
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM wide ORDER BY rowid")
            #expect(rows.count == 3)
            for (first, row) in zip([0, 7, 14], rows) {
                for number in 0..<300 {
                    let expected: DatabaseValue =
                        switch number % 3 {
                        case 0: (first + number).databaseValue
                        case 1: "[\(first + number)]".databaseValue
                        default: "2001-01-01 00:00:00.000".databaseValue
                        }
                    #expect(row[number] as DatabaseValue == expected, "\(number)")
                }
            }
        }
    }
}
