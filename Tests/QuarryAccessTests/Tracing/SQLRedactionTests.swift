import Quarry
import Testing

@testable import QuarryAccess

/// SQL texts without their literals.
@Suite struct SQLRedactionTests {
    @Test(
        arguments: [
            ("SELECT 'a''b', \"c'd\", `e'f`, [g'h]", "SELECT ?, \"c'd\", `e'f`, [g'h]"),
            ("SELECT 1, -1.5, .5, 1e-3, 1.5E+3, 0xFF, 0xFE+1, 1_000", "SELECT ?, -?, ?, ?, ?, ?, ?+?, ?"),
            ("SELECT x'00', X'AB', max", "SELECT ?, ?, max"),
            ("SELECT t1.a2, b_3 FROM t1", "SELECT t1.a2, b_3 FROM t1"),
            ("SELECT ?, ?1, :name, @name2, $name3", "SELECT ?, ?1, :name, @name2, $name3"),
            ("SELECT 1 -- it's secret\nFROM t", "SELECT ? \nFROM t"),
            ("SELECT/* it's secret */1", "SELECT ?"), ("SELECT 1 /* secret", "SELECT ?"),
            ("SELECT 1 /*/ 2 */", "SELECT ?"),
            ("SELECT 'never ends", "SELECT ?"), ("SELECT [never ends 1", "SELECT [never ends 1"), ("", ""),
            ("SELECT \"größe 1\", größe1 = 'Ä'", "SELECT \"größe 1\", größe1 = ?"),
            ("SELECT a->>'$.b', a-1", "SELECT a->>?, a-?"), ("\u{FEFF}SELECT\u{FEFF}1,\u{FEFF}1", "SELECT\u{FEFF}1, ?"),
        ])
    func literals(sql: String, expected: String) { #expect(SQLRedaction.literals(sql) == expected) }

    @Test func otherRedactions() {
        #expect(SQLRedaction.none("SELECT 1 -- a") == "SELECT 1 -- a")
        #expect(SQLRedaction.custom { $0.uppercased() }("select 1") == "SELECT 1")
    }
}
