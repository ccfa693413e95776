import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct DecimalTests {
    @Test(arguments: [
        ("0", "0"), ("1", "1"), ("-1", "-1"), ("+1", "1"), ("-0", "0"), ("007", "7"), ("1.5", "1.5"), ("1.50", "1.5"),
        ("-0.001", "-0.001"), (".5", "0.5"), ("5.", "5"), ("1500", "1500"), ("1e5", "100000"), ("1E-5", "0.00001"),
        ("1.5e+3", "1500"), ("120e-1", "12"), ("0e999999999999999999999", "0"), ("0.000", "0"),
        ("18446744073709551615", "18446744073709551615"), ("18446744073709551616", "18446744073709551616"),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
        ("0.12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678"),
        ("-12345678901234567890.123456789012345678", "-12345678901234567890.123456789012345678"),
        ("10000000000000000000000000000000000000000000.000", "10000000000000000000000000000000000000000000"),
    ])
    func readsText(text: String, written: String) throws {
        try withConnection { db throws in
            let decimal = try #require(try read(Decimal.self, from: text.databaseValue, in: db))
            #expect(decimal == Decimal(string: written))
            #expect(try stored(decimal, in: db) == written.databaseValue)
        }
    }

    @Test func readsTheLargestAndTheSmallest() throws {
        let zeros = String(repeating: "0", count: 127)
        try withConnection { db throws in
            for (text, decimal) in [
                ("340282366920938463463374607431768211455\(zeros)", Decimal.greatestFiniteMagnitude),
                ("-340282366920938463463374607431768211455e127", -Decimal.greatestFiniteMagnitude),
                ("0.\(zeros.dropLast())1", Decimal.leastNonzeroMagnitude),
                ("1e127", Decimal(sign: .plus, exponent: 127, significand: 1)),
                // 10 × 10¹²⁷, and 10³⁸ × 10¹²⁷.
                ("1e128", try #require(Decimal(string: "10e127"))),
                ("1e165", try #require(Decimal(string: "1\(String(repeating: "0", count: 38))e127"))),
                ("1e-128", Decimal(sign: .plus, exponent: -128, significand: 1)),
                ("10e-129", Decimal(sign: .plus, exponent: -128, significand: 1)),
            ] {
                let value = try #require(try read(Decimal.self, from: text.databaseValue, in: db))
                #expect(value == decimal)
                #expect(Decimal.fromDatabaseValue(value.databaseValue) == decimal)
            }
        }
    }

    @Test(arguments: [
        "", " ", "-", "+", ".", "-.", "e5", ".e5", "abc", "12abc", "1,5", "1.2.3", "--1", "+-1", "1e", "1e+", "1e5.5",
        "1_000", " 12", "12 ", "0x10", "NaN", "nan", "inf", "-inf", "1\0", "１",
        // More digits or orders of magnitude than there are.
        "340282366920938463463374607431768211456", "1234567890123456789012345678901234567890.5",
        "0.1234567890123456789012345678901234567891", "1e166", "4e165", "1e-129", "1.5e-128", "1e99999999999999999999",
        "1e-99999999999999999999",
    ])
    func readsNoOtherText(text: String) throws {
        try withConnection { db throws in
            #expect(try read(Decimal.self, from: text.databaseValue, in: db) == nil)
        }
    }

    @Test func readsNumbers() throws {
        try withConnection { db throws in
            for integer in [0, 1, -1, .max, .min] as [Int64] {
                #expect(try read(Decimal.self, from: integer.databaseValue, in: db) == Decimal(integer))
            }
            for (real, text) in [
                (0.1, "0.1"), (-0.5, "-0.5"), (3.0000000000000004, "3.0000000000000004"),
                (1 / 3, "0.3333333333333333"), (1e22, "10000000000000000000000"), (1e-100, "1e-100"), (1e100, "1e100"),
                (123456789.123456789, "123456789.12345679"), (-0.0, "0"),
            ] {
                #expect(try read(Decimal.self, from: real.databaseValue, in: db) == Decimal(string: text))
            }
            for real in [.infinity, -.infinity, 1e300, 1e-300] as [Double] {
                #expect(try read(Decimal.self, from: real.databaseValue, in: db) == nil)
            }
        }
    }

    @Test func readsNoOtherValues() throws {
        try withConnection { db throws in
            #expect(try read(Decimal.self, from: .null, in: db) == nil)
            #expect(try read(Decimal.self, from: Array("1".utf8).databaseValue, in: db) == nil)
        }
    }

    @Test func throwsForNotANumber() throws {
        try withConnection { db throws in
            #expect(
                try bindingError(Decimal.nan, in: db)
                    == "could not bind Decimal.nan to parameter 1: it isn't a number")
        }
    }

    @Test func randomDecimalsComeBack() {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...38, using: &generator)
            let digits = (0..<count).map { _ in String(Int.random(in: 0...9, using: &generator)) }.joined()
            let exponent = Int.random(in: -128...127, using: &generator)
            let sign = Bool.random(using: &generator) ? "-" : ""
            guard let decimal = Decimal(string: "\(sign)\(digits)e\(exponent)") else { continue }
            guard
                Decimal.fromDatabaseValue("\(sign)\(digits)e\(exponent)".databaseValue) == decimal,
                Decimal.fromDatabaseValue(decimal.databaseValue) == decimal
            else {
                Issue.record("\(sign)\(digits)e\(exponent), seed \(generator.seed)")
                return
            }
        }
    }
}
