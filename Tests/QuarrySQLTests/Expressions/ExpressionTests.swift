import QuarryCore
import QuarrySQL
import Testing

@Suite("Expressions in SQL") struct ExpressionTests {
    private let cases = ExpressionCases { condition, expected, location in
        try expectSQL(
            Table("player").filter(condition), #"SELECT * FROM "player" WHERE "# + expected, sourceLocation: location)
    } selection: { selection, expected, location in
        try expectSQL(
            Table("player").select(selection), "SELECT \(expected) FROM \"player\"", sourceLocation: location)
    }

    @Test func blobs() throws {
        try expectSQL(Table("player").select(([1, 2] as [UInt8]).databaseValue), #"SELECT X'0102' FROM "player""#)
    }

    @Test func comparisons() throws { try cases.comparisons() }

    @Test func negations() throws { try cases.negations() }

    @Test func logic() throws { try cases.logic() }

    @Test func arithmetic() throws { try cases.arithmetic() }

    @Test func membership() throws { try cases.membership() }

    @Test func texts() throws { try cases.texts() }

    @Test func others() throws { try cases.others() }

    @Test func functions() throws { try cases.functions() }
}
