import QuarryCore
import QuarryExpectations
import QuarrySQL
import Testing

/// Functions that an older SQLite lacks throw when they are rendered for it.
@Suite struct SQLiteAbilityTests {
    private func rendered(_ expression: SQLExpression, version: CInt, hasMathFunctions: Bool) throws -> String {
        var writer = QueryWriter(schema: sport)
        (writer.abilities.version, writer.abilities.hasMathFunctions) = (version, hasMathFunctions)
        try writer.write(expression)
        return writer.sql()
    }

    @Test func missingFunctionsThrow() throws {
        let x = Column("x")
        let expressions: [(SQLExpression, String, String)] = [
            (sin(x), #"SIN("x")"#, "SIN needs an SQLite built with SQLITE_ENABLE_MATH_FUNCTIONS"),
            (unhex(x), #"UNHEX("x")"#, "UNHEX needs SQLite 3.41.0, and this is 3.40.1"),
            (timeDiff(x, x), #"TIMEDIFF("x", "x")"#, "TIMEDIFF needs SQLite 3.43.0, and this is 3.40.1"),
            (dateTime(x, .subsecond), #"DATETIME("x", ?)"#, "DATETIME needs SQLite 3.42.0, and this is 3.40.1"),
            (
                sum(x, orderBy: x.desc), #"SUM("x" ORDER BY "x" DESC)"#,
                "ORDER BY inside of SUM needs SQLite 3.44.0, and this is 3.40.1"
            ),
        ]
        for (expression, sql, message) in expressions {
            expectError(.SQLITE_MISUSE, message) {
                try rendered(expression, version: 3_040_001, hasMathFunctions: false)
            }
            #expect(try rendered(expression, version: 3_050_000, hasMathFunctions: true) == sql)
        }
    }
}
