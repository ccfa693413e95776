import QuarryCore
import QuarryTestSupport
import Testing

/// The two roads to a Swift value, straight from the statement and through `DatabaseValue`, lead to the same place.
@Suite("Conversions agree")
struct ConversionAgreementTests {
    /// SQL that makes any stored value, invalid text too.
    private enum Stored {
        static let edges: [DatabaseValue] = [
            .null, 0.databaseValue, 1.databaseValue, (-1).databaseValue, Int64.min.databaseValue,
            Int64.max.databaseValue,
            127.databaseValue, 128.databaseValue, (-128).databaseValue, (-129).databaseValue, 255.databaseValue,
            256.databaseValue, 65_535.databaseValue, 65_536.databaseValue, 2_147_483_648.databaseValue,
            4_294_967_295.databaseValue, 4_294_967_296.databaseValue,
            0.5.databaseValue, (-0.0).databaseValue, 1.0.databaseValue, 255.0.databaseValue, 1e10.databaseValue,
            9_223_372_036_854_775_807.0.databaseValue, (-9_223_372_036_854_775_808.0).databaseValue,
            1e19.databaseValue, 18_446_744_073_709_551_615.0.databaseValue, 1e300.databaseValue,
            Double.infinity.databaseValue, (-Double.infinity).databaseValue, Double.leastNonzeroMagnitude.databaseValue,
            Double.pi.databaseValue, Double(Float.greatestFiniteMagnitude).databaseValue,
            "".databaseValue, "1".databaseValue, "true".databaseValue, "a\0b".databaseValue, "😀".databaseValue,
            "e\u{301}".databaseValue, [UInt8]().databaseValue, [0xFF, 0xFE].databaseValue, [0x61].databaseValue,
            [0xF0, 0x9F, 0x98].databaseValue,
        ]

        static func random(using random: inout SeededGenerator) -> DatabaseValue {
            switch Int.random(in: 0..<9, using: &random) {
            case 0: return edges.randomElement(using: &random)!
            case 1: return Int64.random(in: .min ... .max, using: &random).databaseValue
            case 2: return Int64.random(in: -70_000...70_000, using: &random).databaseValue
            case 3: return Double(bitPattern: random.next()).databaseValue
            case 4: return Double(Int64.random(in: -70_000...70_000, using: &random)).databaseValue
            case 5: return (Double(random.next()) * 4).databaseValue
            case 6:
                return String(
                    (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                        Character(Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) ?? "\0")
                    }
                ).databaseValue
            default:
                return (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }.databaseValue
            }
        }
    }

    private enum Level: Int, DatabaseValueConvertible {
        case low = 0
        case high = 1
    }
    private enum FastLevel: Int, DatabaseValueConvertible, StatementColumnConvertible {
        case low = 0
        case high = 1
    }
    private enum FastName: String, DatabaseValueConvertible, StatementColumnConvertible {
        case empty = ""
        case one = "1"
    }
    private enum Name: String, DatabaseValueConvertible {
        case empty = ""
        case one = "1"
        case a
    }

    /// Compares the conversions of the first column of a row, of all types.
    private func check(_ row: Row, of statement: Statement, _ step: Int, _ seed: UInt64) throws {
        let value = try DatabaseValue.decoded(from: row)
        let copy = row.copy()
        #expect(copy[0] as DatabaseValue == value, "seed \(seed)")
        func agree<T: DatabaseValueConvertible & Equatable>(_ type: T.Type) throws {
            let converted = T.fromDatabaseValue(value)
            // A call of `#expect` for each, and the error of each value that can't be had, would take most of the time.
            if converted != T.fromStatement(statement.sqliteStatement, atUncheckedIndex: 0) {
                Issue.record("\(T.self) of \(value), seed \(seed)")
            }
            guard step % 20 == 0 else { return }
            #expect(converted == (try? row.decode(T.self, atIndex: 0)), "\(T.self) of \(value), seed \(seed)")
            #expect(
                converted == (try? copy.decode(T.self, atIndex: 0)), "\(T.self) of a copy of \(value), seed \(seed)")
        }
        try agree(Bool.self)
        try agree(Int.self)
        try agree(Int8.self)
        try agree(Int16.self)
        try agree(Int32.self)
        try agree(Int64.self)
        try agree(UInt.self)
        try agree(UInt8.self)
        try agree(UInt16.self)
        try agree(UInt32.self)
        try agree(UInt64.self)
        try agree(Double.self)
        try agree(Float.self)
        try agree(String.self)
        try agree(Substring.self)
        try agree(Character.self)
        try agree([UInt8].self)
        try agree(DatabaseValue.self)
        try agree(Level.self)
        try agree(Name.self)
        try agree(FastLevel.self)
        try agree(FastName.self)
        try agree(FastName?.self)
        try agree(Int?.self)
        try agree(String?.self)
        try agree(Level?.self)
        try agree(Int??.self)
    }

    @Test func storedValuesAreReadBack() throws {
        var random = SeededGenerator()
        print("ConversionAgreementTests.agreement seed: \(random.seed)")
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT ?")
            for step in 0..<12_000 {
                let value = step < Stored.edges.count ? Stored.edges[step] : Stored.random(using: &random)
                let cursor = try Row.fetchCursor(statement, arguments: [value])
                let row = try #require(try cursor.next())
                #expect(row[0] as DatabaseValue == value, "seed \(random.seed)")
                try check(row, of: statement, step, random.seed)
            }
        }
    }

    @Test func bytesAsTextAgree() throws {
        var random = SeededGenerator()
        print("ConversionAgreementTests.bytesAsText seed: \(random.seed)")
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT CAST(? AS TEXT), typeof(CAST(?1 AS TEXT))")
            for step in 0..<3000 {
                let length = Int.random(in: 0..<6, using: &random)
                let bytes = (0..<length).map { _ -> UInt8 in
                    [0x00, 0x61, 0x80, 0xBF, 0xC3, 0xE2, 0xED, 0xA0, 0xF0, 0x9F, 0xFF].randomElement(using: &random)!
                }
                let cursor = try Row.fetchCursor(statement, arguments: [bytes])
                let row = try #require(try cursor.next())
                #expect(row[1] == "text")
                // Nothing is lost: text that is no UTF-8 comes as its bytes.
                let text = String(validating: bytes, as: UTF8.self)
                #expect(row[0] as DatabaseValue == text?.databaseValue ?? bytes.databaseValue)
                #expect(row[0] as [UInt8] == bytes)
                #expect((try? row.decode(String.self, atIndex: 0)) == text)
                try check(row, of: statement, step, random.seed)
            }
        }
    }

    /// Most texts are ASCII, which is looked at eight bytes at a time; others are compared with what they were.
    @Test func textsWithOneOddPlaceAgree() throws {
        try withConnection { db throws in
            let statement = try db.makeStatement(sql: "SELECT CAST(? AS TEXT)")
            // A letter, a character, and what is repaired with as many bytes, or more.
            let pieces: [[UInt8]] = [[0x62], [0xC3, 0xA9], [0xF0, 0x9F, 0x98], [0x80], [0xFF], [0x00]]
            for count in 0...34 {
                for place in 0...count {
                    for piece in pieces {
                        var bytes = [UInt8](repeating: 0x61, count: count)
                        bytes.insert(contentsOf: piece, at: place)
                        let value = try DatabaseValue.fetchOne(statement, arguments: [bytes.databaseValue])
                        let text = String(validating: bytes, as: UTF8.self)
                        let cursor = try Row.fetchCursor(statement, arguments: [bytes.databaseValue])
                        let read = try cursor.next().flatMap { try? $0.decode(String.self, atIndex: 0) }
                        guard
                            value == (text?.databaseValue ?? bytes.databaseValue),
                            read.map({ Array($0.utf8) }) == text.map({ Array($0.utf8) })
                        else {
                            Issue.record("\(bytes) reads as \(String(describing: read)), \(String(describing: value))")
                            return
                        }
                    }
                }
            }
        }
    }
}
