import QuarryCore
import Testing

@testable import QuarrySQL

@Suite struct SQLLiteralTests {
    private func inlined(_ sql: String, _ arguments: StatementArguments) throws -> String {
        try SQLLiteral.inlining(arguments, into: sql) { value in
            try SQLLiteral.text(of: value, readsExactly: { _, _ in true }, isUTF8: { true })
        }
    }

    @Test(arguments: [
        ("a = ? AND b = ?", "a = 1 AND b = 2"),
        ("'?' || ? || \"?\" || `?` || [?] || ?", "'?' || 1 || \"?\" || `?` || [?] || 2"),
        ("'it''s ?' ? ?", "'it''s ?' 1 2"),
        ("? -- a ?\n?", "1 -- a ?\n2"),
        ("? /* ? * ? / */ ?", "1 /* ? * ? / */ 2"),
        ("? /*/ ? */ ?", "1 /*/ ? */ 2"),
        ("? ? -- ?", "1 2 -- ?"),
        ("? ? /* ?", "1 2 /* ?"),
        ("? ? '?", "1 2 '?"),
        ("a$b ? x'00' é? ", "a$b 1 x'00' é2 "),
        ("?1 ?22", "1 2"),
        ("\u{FEFF}$a, \u{FEFF}?", "\u{FEFF}1, \u{FEFF}2"),
        (":a @b", "1 2"),
    ])
    func positionalArguments(sql: String, expected: String) throws {
        #expect(try inlined(sql, [1, 2]) == expected)
    }

    @Test func namedArguments() throws {
        #expect(try inlined(":a @b $a ::c", ["a": 1, "b": "x'y", "c": 3]) == "1 'x''y' 1 :3")
        #expect(try inlined("a - b * c / :a", ["a": 1]) == "a - b * c / 1")
    }

    @Test func aNegativeLiteralAfterAMinusHasParentheses() throws {
        let sql = "a > -? OR b - ? OR -:c OR -? OR ~?"
        #expect(
            try inlined(sql, [-1, -2, -3.5, 4, -5]) == "a > -(-1) OR b - -2 OR -(-3.5) OR -4 OR ~-5")
        #expect(try inlined("-?", [-Double.infinity]) == "-(-9e999)")
    }

    /// SQLite takes an integer for the index of a column, also with signs, parentheses, a collation or a direction.
    @Test(arguments: [
        ("ORDER BY ?", "ORDER BY (0 + 1)"),
        ("order /* ? */ by\n-- ?\n\u{FEFF}? DESC", "order /* ? */ by\n-- ?\n\u{FEFF}(0 + 1) DESC"),
        ("GROUP BY -?, +(?) COLLATE NOCASE", "GROUP BY -(0 + 1), +((0 + 2)) COLLATE NOCASE"),
        ("ORDER BY a, ?, max(?, b), (?)", "ORDER BY a, (0 + 1), max(2, b), ((0 + 3))"),
        ("ORDER BY (SELECT ?, ? ORDER BY ?), ?", "ORDER BY (SELECT 1, 2 ORDER BY (0 + 3)), (0 + 4)"),
        ("(SELECT a ORDER BY ?), ?", "(SELECT a ORDER BY (0 + 1)), 2"),
        ("GROUP BY a, ? HAVING b > ? ORDER BY a LIMIT ?, ?", "GROUP BY a, (0 + 1) HAVING b > 2 ORDER BY a LIMIT 3, 4"),
        ("GROUP BY a UNION SELECT ?, ?", "GROUP BY a UNION SELECT 1, 2"),
        ("ORDER BY a + ?, ? + a, a IN (?, ?)", "ORDER BY a + 1, (0 + 2) + a, a IN (3, 4)"),
        ("\"order\" by ?, \"BY\" ?", "\"order\" by 1, \"BY\" 2"),
        ("ORDER BY CASE ? WHEN ? THEN ? END", "ORDER BY CASE 1 WHEN 2 THEN 3 END"),
    ])
    func integersThatBeginATerm(sql: String, expected: String) throws {
        let count = sql.replacing("/* ? */", with: "").replacing("-- ?", with: "").count { $0 == "?" }
        let values = StatementArguments(1...count)
        #expect(try inlined(sql, values) == expected)
    }

    @Test func otherValuesThatBeginATerm() throws {
        let sql = "ORDER BY ?, ?, ?, ?, :a"
        #expect(try inlined(sql, ["a", 1.5, nil, -2] + ["a": 3]) == "ORDER BY 'a', 1.5, NULL, (0 + -2), (0 + 3)")
    }

    @Test func argumentsThatDoNotFit() {
        let missing = #expect(throws: DatabaseError.self) { try inlined("? :b", [1]) }
        #expect(missing?.message == "missing argument for parameter :b")
        #expect(missing?.resultCode == .SQLITE_MISUSE)
        let left = #expect(throws: DatabaseError.self) { try inlined("?", [1, 2]) }
        #expect(left?.message == "more arguments than parameters: 2")
    }

    @Test func SQLWithoutArgumentsIsLeftAlone() throws {
        #expect(try inlined("a = ? '", StatementArguments()) == "a = ? '")
    }

    @Test func realsWhoseDigitsAreMisread() throws {
        func text(_ value: Double, _ reads: @escaping (String) -> Bool) throws -> String {
            try SQLLiteral.text(of: value.databaseValue, readsExactly: { text, _ in reads(text) }, isUTF8: { true })
        }
        #expect(try text(0.1) { _ in true } == "0.1")
        #expect(try text(1.5e-300) { $0 != "1.5e-300" } == "1.5000000000000001e-300")
        #expect(try text(-0.0123) { $0.hasSuffix("98e-2") } == "-1.2299999999999998e-2")
        #expect(try text(123456.7) { $0.hasSuffix("e5") } == "1.2345670000000001e5")
        #expect(try text(1e-5) { $0.hasSuffix("9e-6") } == "9.999999999999999e-6")
        #expect(try text(0.75) { _ in false } == "0.75")
        #expect(try text(-0.1) { _ in false } == "(-7205759403792794.0 / 4503599627370496.0 / 16.0)")
        let large = try text(1e300) { _ in false }
        #expect(large.hasPrefix("(6724873095247260.0 * 4503599627370496.0 * 4503599627370496.0 * "), "\(large)")
    }

    @Test func textsWithNULs() throws {
        func text(_ value: String, isUTF8: Bool) throws -> String {
            try SQLLiteral.text(of: value.databaseValue, readsExactly: { _, _ in true }, isUTF8: { isUTF8 })
        }
        #expect(try text("a\0'", isUTF8: true) == "(CAST(X'610027' AS TEXT))")
        #expect(try text("a\0'", isUTF8: false) == "('a' || char(0) || '''')")
        #expect(try text("\0", isUTF8: false) == "('' || char(0) || '')")
    }

    @Test func words() {
        #expect(SQLWords.contains("AUTOINCREMENT", in: "a INTEGER PRIMARY KEY Autoincrement)"))
        #expect(!SQLWords.contains("AUTOINCREMENT", in: "a 'autoincrement' \"autoincrement\" /* autoincrement */ x"))
        #expect(!SQLWords.contains("AUTOINCREMENT", in: "autoincrements"))
    }
}
