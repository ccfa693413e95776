import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("Names, as SQLite compares them")
struct NameComparisonTests {
    static let names = [
        "", "a", "A", "ab", "AB", "aB", "z", "Z", "@", "`", "[", "{", "é", "e\u{301}", "É", "ä_A", "Ä_a", "a\u{0}",
        "A\u{0}",
    ]

    @Test func namesAreComparedAsSQLiteDoes() throws {
        try withConnection { db in
            for lhs in Self.names where !lhs.utf8.contains(0) && !lhs.isEmpty {
                for rhs in Self.names where !rhs.utf8.contains(0) && !rhs.isEmpty {
                    let column = lhs.quotedDatabaseIdentifier
                    let found = rhs.quotedDatabaseIdentifier
                    let isFound = (try? db.makeStatement(sql: "SELECT \(found) FROM (SELECT 1 AS \(column))")) != nil
                    #expect(lhs.isSameName(as: rhs) == isFound, "\(lhs) and \(rhs)")
                }
            }
        }
    }

    @Test func namesAreComparedInLowerCaseByTheirBytes() {
        for lhs in Self.names {
            for rhs in Self.names {
                let isEqual = lhs.lowercasedASCII.utf8.elementsEqual(rhs.lowercasedASCII.utf8)
                #expect(lhs.isSameName(as: rhs) == isEqual, "\(lhs) and \(rhs)")
            }
        }
        #expect("aZ@[`{É".lowercasedASCII == "az@[`{É")
    }
}
