import Foundation
import Quarry
import QuarryFixtures
import Testing

/// Importing Quarry leaves operators and functions of plain Swift as they are: the types are written down here, and
/// what would be ambiguous doesn't compile.
@Suite struct PlainSwiftTests {
    func type<T>(of value: T) -> String { "\(T.self)" }

    @Test func operatorsOfLiteralsAreSwift() {
        #expect(type(of: "a" == "b") == "Bool")
        #expect(type(of: "a" != "b") == "Bool")
        #expect(type(of: "a" < "b") == "Bool")
        #expect(type(of: "a" + "b") == "String")
        #expect(type(of: 1 == 2) == "Bool")
        #expect(type(of: 1 == 1.5) == "Bool")
        #expect(type(of: 1 < 2 && 2 >= 1 || !(3 > 4)) == "Bool")
        #expect(type(of: 1 + 2 * 3 - 4 / 5 % 6) == "Int")
        #expect(type(of: 1.5 + 2) == "Double")
        #expect(type(of: 1 << 2 | 3 & ~4) == "Int")
        #expect(type(of: -1) == "Int")
        #expect(type(of: true && false || true) == "Bool")
        #expect(type(of: [1] == [2]) == "Bool")
        #expect(type(of: ["a": 1] == [:]) == "Bool")
    }

    @Test func operatorsOfVariablesAreSwift() {
        let (x, y): (Int?, Int) = (nil, 1)
        let name: String? = "a"
        #expect(type(of: x ?? y) == "Int")
        #expect(type(of: x ?? nil) == "Optional<Int>")
        #expect(type(of: name ?? "b") == "String")
        #expect(type(of: x == nil) == "Bool")
        #expect(type(of: x == 1) == "Bool")
        #expect(type(of: name != "a") == "Bool")
        #expect(type(of: Date() < Date()) == "Bool")
        #expect(type(of: Date() + 1) == "Date")
        #expect(type(of: UUID() == UUID()) == "Bool")
        #expect(type(of: y.databaseValue == 1.databaseValue) == "Bool")
        #expect(type(of: Column("a") == Column("b")) == "SQLExpression")
        final class Box {}
        let box = Box()
        #expect(type(of: box === box) == "Bool")
        #expect(type(of: box !== box) == "Bool")
        var total = 1
        total += 1
        total *= 3
        total |= 8
        #expect(total == 14)
    }

    @Test func functionsOfSwiftAreSwift() {
        #expect(type(of: [1].contains(1)) == "Bool")
        #expect(type(of: ["a", "b"].contains("a")) == "Bool")
        #expect(type(of: (1...3).contains(2)) == "Bool")
        #expect(type(of: (1..<3).contains(2)) == "Bool")
        #expect(type(of: "abc".contains("b")) == "Bool")
        #expect(type(of: min(1, 2)) == "Int")
        #expect(type(of: min(1, 2, 3)) == "Int")
        #expect(type(of: max(1.5, 2)) == "Double")
        #expect(type(of: max("a", "b")) == "String")
        #expect(type(of: [3, 1].min()) == "Optional<Int>")
        #expect(type(of: [3, 1].max()) == "Optional<Int>")
        #expect(type(of: abs(-1)) == "Int")
        #expect(type(of: abs(-1.5)) == "Double")
        #expect(type(of: [1, 2].count) == "Int")
        #expect(type(of: [1, 2].count { $0 > 1 }) == "Int")
        #expect(type(of: [1, 2].filter { $0 > 1 && $0 != 2 || $0 == 1 }) == "Array<Int>")
        #expect(type(of: [1, 2].reduce(0, +)) == "Int")
        #expect(type(of: [1, 2].map { $0 * 2 }) == "Array<Int>")
        #expect(type(of: ["b", "a"].sorted(by: <)) == "Array<String>")
        #expect(type(of: ["a"].joined(separator: ",")) == "String")
        #expect(type(of: floor(1.5)) == "Double")
        #expect(type(of: ceil(1.5)) == "Double")
        #expect(type(of: round(1.5)) == "Double")
        #expect(type(of: sqrt(4.0)) == "Double")
        #expect(type(of: pow(2.0, 3.0)) == "Double")
        #expect(type(of: log(1.0)) == "Double")
        #expect(type(of: sin(0.0)) == "Double")
        #expect(type(of: atan2(1.0, 1.0)) == "Double")
    }

    @Test func expressionsAreSQL() {
        let (a, b) = (Column("a"), Column("b"))
        #expect(type(of: a == 1) == "SQLExpression")
        #expect(type(of: 1 == a) == "SQLExpression")
        #expect(type(of: a == nil) == "SQLExpression")
        #expect(type(of: a < b) == "SQLExpression")
        #expect(type(of: a + 1 > 2 && b == "x" || !a) == "SQLExpression")
        #expect(type(of: a ?? 1) == "SQLExpression")
        #expect(type(of: [1, 2].contains(a)) == "SQLExpression")
        #expect(type(of: (1...2).contains(a)) == "SQLExpression")
        #expect(type(of: min(a)) == "SQLExpression")
        #expect(type(of: max(a, 1)) == "SQLExpression")
        #expect(type(of: abs(a)) == "SQLExpression")
        #expect(type(of: floor(a)) == "SQLExpression")
        #expect(type(of: -a) == "SQLExpression")
    }

    @Test func columnsAreComparedBySQLWhereSQLIsMeant() throws {
        try withAthletes { db throws in
            let (a, b) = (Column("id"), Column("teamId"))
            func text(_ request: QueryInterfaceRequest<Athlete>) throws -> String {
                String(try request.sql(db).dropFirst(#"SELECT * FROM "athlete" WHERE "#.count))
            }
            #expect(try text(Athlete.filter(a == b)) == #""id" = "teamId""#)
            #expect(try text(Athlete.filter { $0.id == $0.teamId }) == #""id" = "teamId""#)
            #expect(
                try text(Athlete.filter { $0.id == $0.teamId && $0.id > 1 }) == #"("id" = "teamId") AND ("id" > 1)"#)
            #expect(
                try text(Athlete.filter { $0.id > 1 && $0.id != $0.teamId }) == #"("id" > 1) AND ("id" <> "teamId")"#)
            #expect(
                try text(Athlete.filter { $0.id == $0.teamId || $0.id != $0.score })
                    == #"("id" = "teamId") OR ("id" <> "score")"#)
            #expect(try text(Athlete.filter(!(a == b))) == #""id" <> "teamId""#)
        }
    }
}
