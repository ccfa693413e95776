import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("Named arguments")
struct NamedArgumentsTests {
    @Test func namesAreFoundInAnyOrder() throws {
        try withConnection { db throws in
            var generator = SeededGenerator()
            for count in [1, 2, 3, 10, 16, 17, 40] {
                let names = (0..<count).map { $0 % 3 == 0 ? "a_rather_long_name_\($0)" : "n\($0)" }
                let sql = "SELECT " + names.map { ":\($0)" }.joined(separator: ", ")
                for _ in 0..<5 {
                    let values = Dictionary(
                        uniqueKeysWithValues: names.enumerated().shuffled(using: &generator).map { ($1, $0) })
                    let row = try Row.fetchOne(
                        db, sql: sql, arguments: StatementArguments(values.mapValues { $0 as Int? }))
                    let expected = Array(0..<count).map(\.databaseValue)
                    #expect(row.map { Array($0.databaseValues) } == expected, "seed \(generator.seed)")
                }
            }
        }
    }

    @Test func lastOfANameInALiteralCounts() throws {
        try withConnection { db throws in
            let twice: StatementArguments = ["a": 1, "b": 3, "a": 2]
            let short = try Int.fetchOne(db, sql: "SELECT :a", arguments: twice.dropping("b"))
            #expect(short == 2)
            let long: StatementArguments = ["a_name_of_many_letters": 1, "a_name_of_many_letters": 2]
            #expect(try Int.fetchOne(db, sql: "SELECT :a_name_of_many_letters", arguments: long) == 2)
            let accents: StatementArguments = ["\u{E9}": 1, "e\u{301}": 2]
            #expect(accents.namedValues.count == 1, "canonically equal names are one, as in any dictionary")
        }
    }

    @Test func argumentsAreEqualHoweverTheyWereGiven() {
        let literal: StatementArguments = ["name": "Arthur", "score": nil]
        #expect(literal == StatementArguments(["score": nil, "name": "Arthur"]))
        #expect(literal.hashValue == StatementArguments(["score": nil, "name": "Arthur"]).hashValue)
        #expect(literal != ["name": "Arthur"])
        #expect(literal.description == #"["name": "Arthur", "score": NULL]"#)
    }

    @Test func nameMayBeRepeatedInAStatement() throws {
        try withConnection { db throws in
            let row = try Row.fetchOne(db, sql: "SELECT :b, :a, :b, ?, :a", arguments: ["a": 1, "b": 2] + [3])
            #expect(row.map { Array($0.databaseValues) } == [2, 1, 2, 3, 1].map(\.databaseValue))
        }
    }
}

extension StatementArguments {
    /// Without one of the names.
    fileprivate func dropping(_ name: String) -> StatementArguments {
        StatementArguments(namedValues.filter { $0.key != name }.mapValues { $0 as DatabaseValue? })
    }
}
