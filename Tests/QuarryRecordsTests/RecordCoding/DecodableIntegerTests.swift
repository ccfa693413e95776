import Quarry
import QuarryTestSupport
import Testing

/// Integers of `Decodable` records are read in place where a statement has them: that must agree with all other roads.
@Suite("Integers of Decodable records") struct DecodableIntegerTests {
    private struct Numbers: Decodable, FetchableRecord, Equatable {
        var a: Int
        var b: Int8
        var c: UInt64
        var d: Int64?
        var e: UInt16?
    }

    private struct Pair: Decodable, FetchableRecord, Equatable {
        enum First: String, CodingKey { case a }
        enum Second: String, CodingKey { case d }

        var a: Int
        var d: Int?

        init(a: Int, d: Int?) { (self.a, self.d) = (a, d) }

        init(from decoder: any Decoder) throws {
            a = try decoder.container(keyedBy: First.self).decode(Int.self, forKey: .a)
            d = try decoder.container(keyedBy: Second.self).decodeIfPresent(Int.self, forKey: .d)
        }
    }

    private static let sql = """
        SELECT 1 AS a, -128 AS b, 9223372036854775807 AS c, -9223372036854775808 AS d, 65535 AS e
        UNION ALL SELECT 2.0, 127.0, 3.0, NULL, NULL
        UNION ALL SELECT 3, 0, 4, 5.0, 6.0
        """

    private static let numbers = [
        Numbers(a: 1, b: -128, c: 9_223_372_036_854_775_807, d: .min, e: 65535),
        Numbers(a: 2, b: 127, c: 3, d: nil, e: nil),
        Numbers(a: 3, b: 0, c: 4, d: 5, e: 6),
    ]

    private func read<T>(_ body: (Database) throws -> T) throws -> T { try DatabaseQueue().read(body) }

    @Test func integersRealsAndNULL() throws {
        try read { db throws in
            #expect(try Numbers.fetchAll(db, sql: Self.sql) == Self.numbers)
            let rows = try Row.fetchAll(db, sql: Self.sql)
            #expect(try rows.map { try Numbers(row: $0) } == Self.numbers)
            // Columns that aren't side by side have no statement to be read from.
            let mapping = ColumnMapping(["a": "e1", "b": "d1", "c": "c1", "d": "b1", "e": "a1"])
            let mapped = try Numbers.fetchAll(
                db, sql: "SELECT e AS a1, d AS b1, c AS c1, b AS d1, a AS e1 FROM (\(Self.sql))", adapter: mapping)
            #expect(mapped == Self.numbers)
            let prefixed = try Numbers.fetchAll(
                db, sql: "SELECT 'x' AS a, * FROM (\(Self.sql))", adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(prefixed == Self.numbers)
            // A missing column.
            let short = try Numbers.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c")
            #expect(short == Numbers(a: 1, b: 2, c: 3, d: nil, e: nil))
        }
    }

    @Test(arguments: [
        ("NULL AS a, 1 AS b, 1 AS c, 1 AS d, 1 AS e", "could not decode Int from database value NULL"),
        ("1.5 AS a, 1 AS b, 1 AS c, 1 AS d, 1 AS e", "could not decode Int from database value REAL"),
        ("1 AS a, 128 AS b, 1 AS c, 1 AS d, 1 AS e", "could not decode Int8 from database value INTEGER"),
        ("1 AS a, 1 AS b, -1 AS c, 1 AS d, 1 AS e", "could not decode UInt64 from database value INTEGER"),
        ("1 AS a, 1 AS b, 1 AS c, 'x' AS d, 1 AS e", "could not decode Optional<Int64> from database value TEXT"),
        ("1 AS a, 1 AS b, 1 AS c, 1 AS d, 65536 AS e", "could not decode Optional<UInt16> from database value INTEGER"),
        ("1 AS b, 1 AS c, 1 AS d, 1 AS e", "column not found: \"a\""),
    ])
    func valuesThatAreNone(columns: String, message: String) throws {
        let found = expectError(RowDecodingError.self) {
            try read { db in try Numbers.fetchAll(db, sql: "SELECT \(columns)") }
        }
        let error = try #require(found)
        #expect("\(error)".contains(message), "\(error)")
    }

    /// Only the first container of a record has its type kept; all are kept.
    @Test func containersOfSeveralTypesOfKeys() throws {
        try read { db throws in
            let pairs = try Pair.fetchAll(db, sql: Self.sql)
            #expect(pairs == [Pair(a: 1, d: .min), Pair(a: 2, d: nil), Pair(a: 3, d: 5)])
        }
    }
}
