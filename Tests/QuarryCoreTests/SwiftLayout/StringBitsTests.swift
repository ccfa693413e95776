import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The assumptions about Swift's memory layout hold with this compiler, so the fast ways are in use.
@Suite("Memory layouts") struct StringBitsTests {
    @Test func equalBitsMeanTheSameText() {
        let texts = ["", "a", "b", "fifteen bytes .", "a text of more than fifteen bytes", "é", "e\u{301}"]
        for lhs in texts {
            #expect(StringBits(lhs) == StringBits(lhs))
            for rhs in texts where lhs.utf8.elementsEqual(rhs.utf8) == false {
                #expect(StringBits(lhs) != StringBits(rhs), "\(lhs) \(rhs)")
            }
        }
    }

    @Test func shortASCIIIsKnownByItsBits() {
        for text in ["", "a", "name", "fifteen bytes .", String("name".reversed())] {
            #expect(StringBits(text).isShortASCII, "\(text)")
        }
        for text in ["sixteen bytes ..", "é", "🎉", "a literal of more than fifteen bytes"] {
            #expect(!StringBits(text).isShortASCII, "\(text)")
        }
    }

    @Test func namedIntegersHaveTheLayoutOfPairs() {
        #expect(NamedInteger.isLayoutOfPairs)
    }

    @Test func equalNamesWithOtherBitsAreTheSameArgument() throws {
        let connection = try TestConnection()
        let name = "aNameOfMoreThanFifteenBytes"
        let copy = String(Array(name))
        #expect(StringBits(name) != StringBits(copy))
        try connection.access { db in
            let arguments = StatementArguments([(name, 1), ("other", 2)])
            #expect(try Int.fetchOne(db, sql: "SELECT :\(copy) + :other", arguments: arguments) == 3)
            let statement = try db.makeStatement(sql: "SELECT 10 * :\(copy) + :other")
            try statement.execute(arguments: [copy: 1, "other": 2])
        }
    }
}
