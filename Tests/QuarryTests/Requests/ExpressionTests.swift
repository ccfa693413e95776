import Foundation
import Quarry
import Testing

@Suite("Expressions in SQL") struct ExpressionTests {
    private typealias Player = Query.Player
    private typealias Team = Query.Team

    private let id = Column("id"), name = Column("name"), score = Column("score"), teamId = Column("teamId")

    /// What the condition of a request becomes, and that SQLite understands it.
    private func condition(_ condition: some SQLSpecificExpressible) throws -> String {
        try withPlayers { (db) throws in
            let sql = try emitted(db) { _ = try Player.filter(condition).fetchAll(db) }
            return String(sql[0].trimmingPrefix(#"SELECT * FROM "player" WHERE "#))
        }
    }

    /// What a selection becomes, and that SQLite understands it.
    private func selection(_ selection: any SQLSelectable) throws -> String {
        try withPlayers { (db) throws in
            let sql = try emitted(db) { _ = try Row.fetchAll(db, Player.select(selection)) }
            return String(sql[0].dropFirst("SELECT ".count).dropLast(#" FROM "player""#.count))
        }
    }

    @Test func comparisons() throws {
        #expect(try condition(name == "Arthur") == #""name" = 'Arthur'"#)
        #expect(try condition("Arthur" == name) == #"'Arthur' = "name""#)
        #expect(try condition(name == nil) == #""name" IS NULL"#)
        #expect(try condition(nil == name) == #""name" IS NULL"#)
        #expect(try condition(name != nil) == #""name" IS NOT NULL"#)
        #expect(try condition(name != "x") == #""name" <> 'x'"#)
        #expect(try condition(name === "x") == #""name" IS 'x'"#)
        #expect(try condition(name === nil) == #""name" IS NULL"#)
        #expect(try condition(name !== "x") == #""name" IS NOT 'x'"#)
        #expect(try condition(name !== nil) == #""name" IS NOT NULL"#)
        #expect(try condition(score == true) == #""score" = 1"#)
        #expect(try condition(score == false) == #""score" = 0"#)
        #expect(try condition(score != true) == #""score" <> 1"#)
        #expect(try condition(score != false) == #""score" <> 0"#)
        #expect(try condition(score === true) == #""score" IS 1"#)
        #expect(try condition(true == score) == #"1 = "score""#)
        #expect(try condition(score == id) == #""score" = "id""#)
        #expect(try condition(score < 1) == #""score" < 1"#)
        #expect(try condition(1 < score) == #"1 < "score""#)
        #expect(try condition(score <= 1.5) == #""score" <= 1.5"#)
        #expect(try condition(score > id) == #""score" > "id""#)
        #expect(try condition(score >= id) == #""score" >= "id""#)
    }

    @Test func negations() throws {
        #expect(try condition(!score) == #"NOT "score""#)
        #expect(try condition(!(score == 1)) == #""score" <> 1"#)
        #expect(try condition(!(score == nil)) == #""score" IS NOT NULL"#)
        #expect(try condition(!(score < 1)) == #"NOT ("score" < 1)"#)
        #expect(try condition(!(score == 1 && id == 2)) == #"NOT (("score" = 1) AND ("id" = 2))"#)
        #expect(try condition(!(!score)) == #"NOT (NOT "score")"#)
        #expect(try condition(!(score === 1)) == #""score" IS NOT 1"#)
        #expect(try condition(!(score > 1)) == #"NOT ("score" > 1)"#)
        #expect(try condition(![1, 2].contains(score)) == #""score" NOT IN (1, 2)"#)
        #expect(try condition(!(1...3).contains(score)) == #""score" NOT BETWEEN 1 AND 3"#)
        #expect(try condition(!name.like("a%")) == #""name" NOT LIKE 'a%'"#)
        #expect(try condition(!(!name.like("a%"))) == #""name" LIKE 'a%'"#)
        #expect(try condition(!(score == true)) == #""score" <> 1"#)
        #expect(try condition(!(score == false)) == #""score" <> 0"#)
        #expect(try condition(!([Int]().contains(score))) == #"1"#)
        #expect(try condition(!Team.select(id).contains(teamId)) == #""teamId" NOT IN (SELECT "id" FROM "team")"#)
        #expect(try condition(!Team.filter(sql: "1").exists()) == #"NOT EXISTS (SELECT * FROM "team" WHERE 1)"#)
    }

    @Test func logic() throws {
        #expect(
            try condition(score == 1 && id == 2 && name == "x") == #"("score" = 1) AND ("id" = 2) AND ("name" = 'x')"#)
        #expect(
            try condition(score == 1 && (id == 2 && name == "x")) == #"("score" = 1) AND ("id" = 2) AND ("name" = 'x')"#
        )
        #expect(
            try condition(score == 1 || id == 2 || name == "x") == #"("score" = 1) OR ("id" = 2) OR ("name" = 'x')"#)
        #expect(
            try condition(score == 1 && (id == 2 || name == "x"))
                == #"("score" = 1) AND (("id" = 2) OR ("name" = 'x'))"#)
        #expect(
            try condition(score == 1 || id == 2 && name == "x") == #"("score" = 1) OR (("id" = 2) AND ("name" = 'x'))"#)
        #expect(try condition(true.databaseValue.sqlExpression && score == 1) == #"1 AND ("score" = 1)"#)
        #expect(try condition([score == 1, id == 2].joined(operator: .and)) == #"("score" = 1) AND ("id" = 2)"#)
        #expect(try condition([SQLExpression]().joined(operator: .and)) == #"1"#)
        #expect(try condition([SQLExpression]().joined(operator: .or)) == #"0"#)
        #expect(try condition([score == 1, id == 2].joined(operator: .or)) == #"("score" = 1) OR ("id" = 2)"#)
        #expect(try condition([SQLExpression]().joined(operator: .add)) == #"0"#)
        #expect(
            try condition([score.sqlExpression, id.sqlExpression].joined(operator: .multiply)) == #""score" * "id""#)
        #expect(try condition([name.sqlExpression, id.sqlExpression].joined(operator: .concat)) == #""name" || "id""#)
        #expect(try condition([score == 1].joined(operator: .and)) == #""score" = 1"#)
        #expect(try condition([SQLExpression]().joined(operator: .concat)) == #"''"#)
        #expect(try condition([SQLExpression]().joined(operator: .multiply)) == #"1"#)
        #expect(try condition([score & id].joined(operator: .bitwiseAnd)) == #""score" & "id""#)
        #expect(
            try condition([score.sqlExpression, id.sqlExpression].joined(operator: .bitwiseOr)) == #""score" | "id""#)
        #expect(
            try condition((name == "a" && name == "b").collating(.nocase))
                == #"("name" = 'a' COLLATE NOCASE) AND ("name" = 'b' COLLATE NOCASE)"#)
    }

    @Test func arithmetic() throws {
        #expect(try selection(score + 1) == #""score" + 1"#)
        #expect(try selection(score + id + 1) == #"("score" + "id") + 1"#)
        #expect(try selection(score + (id + 1)) == #""score" + ("id" + 1)"#)
        #expect(try selection(score - id - 1) == #"("score" - "id") - 1"#)
        #expect(try selection(score - (id - 1)) == #""score" - ("id" - 1)"#)
        #expect(try selection(score * 2 * id) == #"("score" * 2) * "id""#)
        #expect(try selection(score / 2 / 3) == #"("score" / 2) / 3"#)
        #expect(try selection((score + 1) * 2 - id / 3) == #"(("score" + 1) * 2) - ("id" / 3)"#)
        #expect(try selection(-score) == #"-"score""#)
        #expect(try selection(-(-score)) == #"-(-"score")"#)
        #expect(try selection(-(score + 1)) == #"-("score" + 1)"#)
        #expect(try selection(score & 1) == #""score" & 1"#)
        #expect(try selection(score & 1 & id) == #""score" & 1 & "id""#)
        #expect(try selection(score | 2) == #""score" | 2"#)
        #expect(try selection(score << 2) == #""score" << 2"#)
        #expect(try selection(score >> 2) == #""score" >> 2"#)
        #expect(try selection(~score) == #"~"score""#)
        #expect(try selection(~(~score)) == #"~(~"score")"#)
        #expect(try selection(1 + score) == #"1 + "score""#)
        #expect(try selection(1 - score) == #"1 - "score""#)
        #expect(try selection((-1).databaseValue.sqlExpression + score) == #"-1 + "score""#)
        #expect(try selection(score - (-1)) == #""score" - -1"#)
        #expect(try selection(name ?? "x") == #"IFNULL("name", 'x')"#)
        #expect(try selection(name.collating(.nocase)) == #""name" COLLATE NOCASE"#)
        #expect(try selection(1.databaseValue) == #"1"#)
        #expect(try selection("x".databaseValue) == #"'x'"#)
        #expect(try selection(DatabaseValue.null) == #"NULL"#)
        #expect(try selection(1.5.databaseValue) == #"1.5"#)
        #expect(try selection(Data([1, 2]).databaseValue) == #"x'0102'"#)
    }

    @Test func membership() throws {
        #expect(try condition((1...10).contains(score)) == #""score" BETWEEN 1 AND 10"#)
        #expect(try condition((1..<10).contains(score)) == #"("score" >= 1) AND ("score" < 10)"#)
        #expect(try condition(("a"..."z").contains(name)) == #""name" BETWEEN 'a' AND 'z'"#)
        #expect(try condition((1...10).contains(score + 1)) == #"("score" + 1) BETWEEN 1 AND 10"#)
        #expect(try condition([1, 2, 3].contains(score)) == #""score" IN (1, 2, 3)"#)
        #expect(try condition([1].contains(score)) == #""score" = 1"#)
        #expect(try condition([Int]().contains(score)) == #"0"#)
        #expect(try condition(["a", nil].contains(name)) == #""name" IN ('a', NULL)"#)
        #expect(try condition(["a", "b"].contains(name)) == #""name" IN ('a', 'b')"#)
        #expect(try condition([score + 1, id].contains(teamId)) == #""teamId" IN ("score" + 1, "id")"#)
        #expect(try condition(["a"].contains(name.collating(.nocase))) == #""name" = 'a' COLLATE NOCASE"#)
        #expect(
            try condition(["a", "b"].contains(name.collating(.nocase))) == #"("name" COLLATE NOCASE) IN ('a', 'b')"#)
        #expect(
            try condition(("a"..."b").contains(name.collating(.nocase)))
                == #"("name" COLLATE NOCASE) BETWEEN 'a' AND 'b'"#)
        #expect(try condition(Team.select(id).contains(teamId)) == #""teamId" IN (SELECT "id" FROM "team")"#)
    }

    @Test func texts() throws {
        #expect(try condition(name.collating(.nocase) == "arthur") == #""name" = 'arthur' COLLATE NOCASE"#)
        #expect(try condition(name.collating(.nocase).like("a")) == #"("name" COLLATE NOCASE) LIKE 'a'"#)
        #expect(try condition(name.like("%a%")) == #""name" LIKE '%a%'"#)
        #expect(try condition(name.like("%a%", escape: "\\")) == #""name" LIKE '%a%' ESCAPE '\'"#)
    }

    @Test func others() throws {
        #expect(try condition(score == Player.select(max(score))) == #""score" = (SELECT MAX("score") FROM "player")"#)
        #expect(try condition(Team.filter(sql: "1").exists()) == #"EXISTS (SELECT * FROM "team" WHERE 1)"#)
        #expect(try condition(SQL("score > \(5)").sqlExpression) == #"score > 5"#)
    }

    @Test func functions() throws {
        #expect(try selection(abs(score)) == #"ABS("score")"#)
        #expect(try selection(average(score)) == #"AVG("score")"#)
        #expect(try selection(average(score, filter: score > 1)) == #"AVG("score") FILTER (WHERE "score" > 1)"#)
        #expect(try selection(cast(score, as: .text)) == #"CAST("score" AS TEXT)"#)
        #expect(try selection(coalesce([name])) == #""name""#)
        #expect(try selection(count(score)) == #"COUNT("score")"#)
        #expect(try selection(count(distinct: score)) == #"COUNT(DISTINCT "score")"#)
        #expect(try selection(length(name)) == #"LENGTH("name")"#)
        #expect(try selection(max(score)) == #"MAX("score")"#)
        #expect(try selection(min(score)) == #"MIN("score")"#)
        #expect(try selection(min(score, filter: id > 1)) == #"MIN("score") FILTER (WHERE "id" > 1)"#)
        #expect(try selection(sum(score)) == #"SUM("score")"#)
        #expect(try selection(sum(score, filter: id > 1)) == #"SUM("score") FILTER (WHERE "id" > 1)"#)
        #expect(try selection(total(score)) == #"TOTAL("score")"#)
        #expect(try selection(name.uppercased) == #"swiftUppercaseString("name")"#)
        #expect(try selection(name.lowercased) == #"swiftLowercaseString("name")"#)
        #expect(try selection(name.capitalized) == #"swiftCapitalizedString("name")"#)
        #expect(try selection(name.localizedCapitalized) == #"swiftLocalizedCapitalizedString("name")"#)
        #expect(try selection((score + 1).forKey("total")) == #""score" + 1 AS "total""#)
        #expect(try selection(name.forKey("a\"b")) == #""name" AS "a""b""#)
        #expect(try selection(Column.rowID) == #""rowid""#)
    }
}
