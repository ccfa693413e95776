import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// How keys find their columns, row after row: by their names at first, then by what they are.
@Suite("Keys of Decodable records") struct DecodableKeyTests {
    private func read<T>(_ body: (Database) throws -> T) throws -> T { try DatabaseQueue().read(body) }

    private enum Keys: String, CodingKey, CaseIterable { case a, b, c, d, e }

    /// Asks for its keys in another order each time.
    private struct Shuffled: Decodable, FetchableRecord {
        var values: [Keys: String] = [:]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            var generator = SeededGenerator(seed: UInt64(try container.decode(Int.self, forKey: .a)))
            for key in Keys.allCases.shuffled(using: &generator) {
                values[key] =
                    switch key {
                    case .a: "\(try container.decode(Int.self, forKey: key))"
                    case .b: try container.decode(String.self, forKey: key)
                    case .c: "\(try container.decodeIfPresent(Double.self, forKey: key) ?? -1)"
                    case .d: "\(try container.decode(Date.self, forKey: key).timeIntervalSince1970)"
                    case .e: "\(try container.decodeIfPresent(Data.self, forKey: key)?.count ?? -1)"
                    }
            }
        }
    }

    @Test func inAnotherOrderForEachRow() throws {
        try read { db throws in
            let sql = """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                SELECT zeroblob(i) AS e, i AS a, i * 10 AS d, 'b' || i AS b, CASE WHEN i % 2 THEN i + 0.5 END AS c
                FROM n
                """
            for _ in 0..<2 {
                let records = try Shuffled.fetchAll(db, sql: sql)
                #expect(records.count == 200)
                for (index, record) in records.enumerated() {
                    let i = index + 1
                    let c = i % 2 == 1 ? Double(i) + 0.5 : -1
                    #expect(
                        record.values == [.a: "\(i)", .b: "b\(i)", .c: "\(c)", .d: "\(Double(i * 10))", .e: "\(i)"])
                }
            }
        }
    }

    /// Decodes itself from the row it is decoded from, and from another cursor's.
    private struct Nested: Decodable, FetchableRecord, Equatable {
        var a = 0
        var b = ""
        var inner: [String] = []

        /// Sendable: the thread that sets it uses it.
        struct Other: @unchecked Sendable { let cursor: RecordCursor<Nested> }

        @TaskLocal static var other: Other?
        @TaskLocal static var depth = 0

        enum Keys: String, CodingKey { case a, b, itself }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            a = try container.decode(Int.self, forKey: .a)
            if Self.depth > 0 {
                try Self.$depth.withValue(Self.depth - 1) {
                    inner.append(try container.decode(Nested.self, forKey: .itself).b)
                }
            }
            if let other = Self.other {
                try Self.$other.withValue(nil) { inner += try other.cursor.next().map { ["\($0.a)\($0.b)"] } ?? [] }
            }
            b = try container.decode(String.self, forKey: .b)
        }
    }

    @Test func severalDecodersOfOneTypeAtOnce() throws {
        try read { db throws in
            let sql = "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y' UNION ALL SELECT 3, 'z' UNION ALL SELECT 4, 'w'"
            let other = try Nested.fetchCursor(db, sql: "SELECT b, a FROM (\(sql)) ORDER BY a DESC")
            let interleaved = try Nested.$other.withValue(Nested.Other(cursor: other)) {
                try Nested.fetchAll(db, sql: sql)
            }
            #expect(interleaved.map(\.inner) == [["4w"], ["3z"], ["2y"], ["1x"]])
            #expect(interleaved.map(\.a) == [1, 2, 3, 4] && interleaved.map(\.b) == ["x", "y", "z", "w"])
            let recursive = try Nested.$depth.withValue(2) { try Nested.fetchAll(db, sql: sql) }
            #expect(recursive.map(\.inner) == [["x"], ["y"], ["z"], ["w"]])
            // Two cursors in turns.
            let first = try Nested.fetchCursor(db, sql: sql)
            let second = try Nested.fetchCursor(db, sql: "SELECT b, a FROM (\(sql))")
            for n in 1...4 { #expect(try first.next()?.a == n && second.next()?.a == n) }
        }
    }

    /// Two types of keys for one row, both of one byte, and one that isn't.
    private struct TwoContainers: Decodable, FetchableRecord {
        enum Others: String, CodingKey {
            // In another order, so that equal bytes mean other columns.
            case e, d, c, b, a
        }

        struct Name: CodingKey {
            let stringValue: String
            init(stringValue: String) { self.stringValue = stringValue }
            var intValue: Int? { nil }
            init?(intValue: Int) { nil }
        }

        let values: [Int]

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: Keys.self)
            let others = try decoder.container(keyedBy: Others.self)
            let names = try decoder.container(keyedBy: Name.self)
            values = [
                try keys.decode(Int.self, forKey: .a), try others.decode(Int.self, forKey: .b),
                try keys.decode(Int.self, forKey: .c), try names.decode(Int.self, forKey: Name(stringValue: "d")),
                try others.decode(Int.self, forKey: .e),
            ]
        }
    }

    @Test func keysOfSeveralTypes() throws {
        try read { db throws in
            let rows = (0..<6).map {
                "SELECT \($0) AS a, \($0 + 1) AS b, \($0 + 2) AS c, \($0 + 3) AS d, \($0 + 4) AS e"
            }
            let records = try TwoContainers.fetchAll(db, sql: rows.joined(separator: " UNION ALL "))
            #expect(records.map(\.values) == (0..<6).map { n in (0..<5).map { $0 + n } })
        }
    }

    /// A type whose names depend on something else.
    private struct Localized: Decodable, FetchableRecord {
        @TaskLocal static var language = "en"

        enum Keys: CodingKey {
            case name, score

            var stringValue: String {
                switch (self, Localized.language) {
                case (.name, "en"): "name"
                case (.name, _): "nom"
                case (.score, _): "score"
                }
            }
        }

        let name: String
        let score: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            name = try container.decode(String.self, forKey: .name)
            score = try container.decode(Int.self, forKey: .score)
        }
    }

    @Test func namesAreAskedForInEachExecution() throws {
        try read { db throws in
            let statement = try db.makeStatement(
                sql:
                    "SELECT 'a' AS name, 'b' AS nom, 1 AS score UNION ALL SELECT 'c', 'd', 2 UNION ALL SELECT 'e', 'f', 3"
            )
            for _ in 0..<2 {
                #expect(try Localized.fetchAll(statement).map(\.name) == ["a", "c", "e"])
                let french = try Localized.$language.withValue("fr") { try Localized.fetchAll(statement) }
                #expect(french.map(\.name) == ["b", "d", "f"])
                #expect(french.map(\.score) == [1, 2, 3])
            }
        }
    }

    /// A type of one key, one that has 300, and one that is a byte but no enum.
    private struct Only: Decodable, FetchableRecord { let a: Int }

    private struct Wide: Decodable, FetchableRecord {
        struct Number: CodingKey {
            let number: UInt16
            var stringValue: String { "c\(number)" }
            init(_ number: UInt16) { self.number = number }
            init?(stringValue: String) { nil }
            var intValue: Int? { nil }
            init?(intValue: Int) { nil }
        }

        struct Byte: CodingKey {
            let number: UInt8
            var stringValue: String { "c\(number)" }
            init(_ number: UInt8) { self.number = number }
            init?(stringValue: String) { nil }
            var intValue: Int? { nil }
            init?(intValue: Int) { nil }
        }

        let values: [Int]
        let bytes: [Int]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Number.self)
            values = try (0..<300).map { try container.decode(Int.self, forKey: Number($0)) }
            let small = try decoder.container(keyedBy: Byte.self)
            bytes = try (0...255).map { try small.decode(Int.self, forKey: Byte($0)) }
        }
    }

    @Test func oneKeyAndMany() throws {
        try read { db throws in
            #expect(
                try Only.fetchAll(db, sql: "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3").map(\.a) == [1, 2, 3])
            let columns = (0..<300).reversed().map { "n + \($0) AS c\($0)" }.joined(separator: ", ")
            let wide = try Wide.fetchAll(
                db, sql: "SELECT \(columns) FROM (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2)")
            for (n, record) in wide.enumerated() {
                #expect(record.values == (0..<300).map { $0 + n })
                #expect(record.bytes == (0...255).map { $0 + n })
            }
            #expect(wide.count == 3)
        }
    }

    private struct Mixed: Decodable, FetchableRecord, Equatable {
        var int: Int
        var small: Int8?
        var double: Double
        var float: Float
        var bool: Bool
        var text: String?
        var date: Date
        var maybeDate: Date?
        var data: Data?
        var missing: String?
    }

    @Test func valuesOfEveryKindInEachRow() throws {
        try read { db throws in
            let columns = "int, small, double, float, bool, text, date, maybeDate, data"
            let rows = [
                "1, 2, 1.5, 2.5, 1, 'a', '2024-02-29 12:30:00.125', '1970-01-01', x'0102'",
                "2.0, NULL, 3, 4, 0, NULL, 0, NULL, NULL", "3, -4.0, -1e300, 0.25, 2.5, x'62', 1.5, 2, 'ab'",
                "4, NULL, 0.1, 1, 1, '', '2024-02-29', '2024-02-29 00:00', zeroblob(0)",
            ]
            let sql = "WITH t(\(columns)) AS (VALUES \(rows.map { "(\($0))" }.joined(separator: ", "))) SELECT * FROM t"
            let epoch = { Date(timeIntervalSince1970: $0) }
            let expected = [
                Mixed(
                    int: 1, small: 2, double: 1.5, float: 2.5, bool: true, text: "a", date: epoch(1_709_209_800.125),
                    maybeDate: epoch(0), data: Data([1, 2])),
                Mixed(int: 2, small: nil, double: 3, float: 4, bool: false, text: nil, date: epoch(0)),
                Mixed(
                    int: 3, small: -4, double: -1e300, float: 0.25, bool: true, text: "b", date: epoch(1.5),
                    maybeDate: epoch(2), data: Data("ab".utf8)),
                Mixed(
                    int: 4, small: nil, double: 0.1, float: 1, bool: true, text: "", date: epoch(1_709_164_800),
                    maybeDate: epoch(1_709_164_800), data: Data()),
            ]
            #expect(try Mixed.fetchAll(db, sql: sql) == expected)
            // As rows that last, one by one.
            #expect(try Row.fetchAll(db, sql: sql).map { try Mixed(row: $0) } == expected)
        }
    }

    @Test(arguments: [
        ("NULL, 0, 0", "could not decode Int from database value NULL - column: \"int\""),
        ("'x', 0, 0", "could not decode Int from database value TEXT - column: \"int\""),
        ("1, 'x', 0", "could not decode Double from database value TEXT - column: \"double\""),
        ("1, NULL, 0", "could not decode Double from database value NULL - column: \"double\""),
        ("1, 1, 'x'", "could not decode Date from database value TEXT - column: \"date\""),
        ("1, 1, NULL", "could not decode Date from database value NULL - column: \"date\""),
    ])
    func wrongValuesOfLaterRows(values: String, message: String) throws {
        struct Record: Decodable, FetchableRecord {
            var int: Int
            var double: Double
            var date: Date
        }
        try read { db throws in
            for rowsBefore in 0...3 {
                let rows = Array(repeating: "(1, 1, 0)", count: rowsBefore) + ["(\(values))"]
                let sql =
                    "WITH t(int, double, date) AS (VALUES \(rows.joined(separator: ", "))) SELECT * FROM t"
                let error = #expect(throws: RowDecodingError.self) { _ = try Record.fetchAll(db, sql: sql) }
                let description = error?.description ?? ""
                #expect(description.contains(message), "\(description)")
            }
        }
    }

    private struct Optionals: Decodable, FetchableRecord, Equatable {
        var text: String?
        var date: Date?
        var data: Data?
    }

    /// How a column converts is found out with its first value.
    @Test(arguments: 0...4)
    func valuesAfterNulls(nulls: Int) throws {
        try read { db throws in
            let rows = Array(repeating: "(NULL, NULL, NULL)", count: nulls)
            let values = ["('a', '1970-01-01', x'01')", "(NULL, NULL, NULL)", "(x'62', 2, 'ab')"]
            let sql = "WITH t(text, date, data) AS (VALUES \((rows + values).joined(separator: ", "))) SELECT * FROM t"
            let expected =
                Array(repeating: Optionals(), count: nulls) + [
                    Optionals(text: "a", date: Date(timeIntervalSince1970: 0), data: Data([1])), Optionals(),
                    Optionals(text: "b", date: Date(timeIntervalSince1970: 2), data: Data("ab".utf8)),
                ]
            #expect(try Optionals.fetchAll(db, sql: sql) == expected)
            let cursor = try Row.fetchCursor(db, sql: sql)
            var ofCursor: [Optionals] = []
            while let row = try cursor.next() { ofCursor.append(try Optionals(row: row)) }
            #expect(ofCursor == expected)
        }
    }

    @Test(arguments: [
        ("x'ff', NULL, NULL", "could not decode Optional<String> from database value BLOB - column: \"text\""),
        ("NULL, 'x', NULL", "could not decode Date from database value TEXT - column: \"date\""),
        ("NULL, NULL, 1.5", "could not decode Data from database value REAL - column: \"data\""),
    ])
    func wrongOptionalsOfLaterRows(values: String, message: String) throws {
        try read { db throws in
            for rowsBefore in 0...3 {
                let rows = Array(repeating: "('a', 0, x'01')", count: rowsBefore) + ["(\(values))"]
                let sql = "WITH t(text, date, data) AS (VALUES \(rows.joined(separator: ", "))) SELECT * FROM t"
                let error = #expect(throws: RowDecodingError.self) { _ = try Optionals.fetchAll(db, sql: sql) }
                let description = error?.description ?? ""
                #expect(description.contains(message), "\(rowsBefore) rows before: \(description)")
            }
        }
    }
}
