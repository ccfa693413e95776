import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// SQLite understands the expressions of `ExpressionCases`.
@Suite("Expressions in SQL") struct ExpressionTests {
    private typealias Player = Sport.Player

    private let cases = ExpressionCases { condition, expected, location in
        try withSport { (db) throws in
            let sql = try emitted(db) { _ = try Player.filter(condition).fetchAll(db) }
            #expect(sql == [#"SELECT * FROM "player" WHERE "# + expected], sourceLocation: location)
        }
    } selection: { selection, expected, location in
        try withSport { (db) throws in
            let sql = try emitted(db) { _ = try Row.fetchAll(db, Player.select(selection)) }
            #expect(sql == ["SELECT \(expected) FROM \"player\""], sourceLocation: location)
        }
    }

    @Test func blobs() throws {
        try withSport { (db) throws in
            let sql = try emitted(db) { _ = try Row.fetchAll(db, Player.select(([1, 2] as [UInt8]).databaseValue)) }
            #expect(sql == [#"SELECT x'0102' FROM "player""#])
        }
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
