import QuarryCore
import QuarrySQL
import Testing

/// Expressions, and the SQL that they become.
///
/// The tests of the query interface render them. The tests of `Quarry` have this file by a link, and let SQLite run
/// them.
struct ExpressionCases {
    private struct Player: TableRecord {}
    private struct Team: TableRecord {}

    /// Checks the condition of a request.
    private let checkCondition: (SQLExpression, String, SourceLocation) throws -> Void

    /// Checks what a request selects.
    private let checkSelection: (SQLSelection, String, SourceLocation) throws -> Void

    init(
        condition: @escaping (SQLExpression, String, SourceLocation) throws -> Void,
        selection: @escaping (SQLSelection, String, SourceLocation) throws -> Void
    ) {
        checkCondition = condition
        checkSelection = selection
    }

    private let id = Column("id"), name = Column("name"), score = Column("score"), teamId = Column("teamId")

    private func condition(
        _ condition: some SQLSpecificExpressible, _ sql: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        try checkCondition(condition.sqlExpression, sql, location)
    }

    private func selection(
        _ selection: any SQLSelectable, _ sql: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        try checkSelection(selection.sqlSelection, sql, location)
    }

    func comparisons() throws {
        try condition(name == "Arthur", #""name" = 'Arthur'"#)
        try condition("Arthur" == name, #"'Arthur' = "name""#)
        try condition(name == nil, #""name" IS NULL"#)
        try condition(nil == name, #""name" IS NULL"#)
        try condition(name != nil, #""name" IS NOT NULL"#)
        try condition(name != "x", #""name" <> 'x'"#)
        try condition(name === "x", #""name" IS 'x'"#)
        try condition(name === nil, #""name" IS NULL"#)
        try condition(name !== "x", #""name" IS NOT 'x'"#)
        try condition(name !== nil, #""name" IS NOT NULL"#)
        try condition(score == true, #""score" = 1"#)
        try condition(score == false, #""score" = 0"#)
        try condition(score != true, #""score" <> 1"#)
        try condition(score != false, #""score" <> 0"#)
        try condition(score === true, #""score" IS 1"#)
        try condition(true == score, #"1 = "score""#)
        try condition(score == id, #""score" = "id""#)
        try condition(score < 1, #""score" < 1"#)
        try condition(1 < score, #"1 < "score""#)
        try condition(score <= 1.5, #""score" <= 1.5"#)
        try condition(score > id, #""score" > "id""#)
        try condition(score >= id, #""score" >= "id""#)
    }

    func negations() throws {
        try condition(!score, #"NOT "score""#)
        try condition(!(score == 1), #""score" <> 1"#)
        try condition(!(score == nil), #""score" IS NOT NULL"#)
        try condition(!(score < 1), #"NOT ("score" < 1)"#)
        try condition(!(score == 1 && id == 2), #"NOT (("score" = 1) AND ("id" = 2))"#)
        try condition(!(!score), #"NOT (NOT "score")"#)
        try condition(!(score === 1), #""score" IS NOT 1"#)
        try condition(!(score > 1), #"NOT ("score" > 1)"#)
        try condition(![1, 2].contains(score), #""score" NOT IN (1, 2)"#)
        try condition(!(1...3).contains(score), #""score" NOT BETWEEN 1 AND 3"#)
        try condition(!name.like("a%"), #""name" NOT LIKE 'a%'"#)
        try condition(!(!name.like("a%")), #""name" LIKE 'a%'"#)
        try condition(!(score == true), #""score" <> 1"#)
        try condition(!(score == false), #""score" <> 0"#)
        try condition(!([Int]().contains(score)), #"1"#)
        try condition(!Team.select(id).contains(teamId), #""teamId" NOT IN (SELECT "id" FROM "team")"#)
        try condition(!Team.filter(sql: "1").exists(), #"NOT EXISTS (SELECT * FROM "team" WHERE 1)"#)
    }

    func logic() throws {
        try condition(score == 1 && id == 2 && name == "x", #"("score" = 1) AND ("id" = 2) AND ("name" = 'x')"#)
        try condition(score == 1 && (id == 2 && name == "x"), #"("score" = 1) AND ("id" = 2) AND ("name" = 'x')"#)
        try condition(score == 1 || id == 2 || name == "x", #"("score" = 1) OR ("id" = 2) OR ("name" = 'x')"#)
        try condition(score == 1 && (id == 2 || name == "x"), #"("score" = 1) AND (("id" = 2) OR ("name" = 'x'))"#)
        try condition(score == 1 || id == 2 && name == "x", #"("score" = 1) OR (("id" = 2) AND ("name" = 'x'))"#)
        try condition(true.databaseValue.sqlExpression && score == 1, #"1 AND ("score" = 1)"#)
        try condition([score == 1, id == 2].joined(operator: .and), #"("score" = 1) AND ("id" = 2)"#)
        try condition([SQLExpression]().joined(operator: .and), #"1"#)
        try condition([SQLExpression]().joined(operator: .or), #"0"#)
        try condition([score == 1, id == 2].joined(operator: .or), #"("score" = 1) OR ("id" = 2)"#)
        try condition([SQLExpression]().joined(operator: .add), #"0"#)
        try condition([score.sqlExpression, id.sqlExpression].joined(operator: .multiply), #""score" * "id""#)
        try condition([name.sqlExpression, id.sqlExpression].joined(operator: .concat), #""name" || "id""#)
        try condition([score == 1].joined(operator: .and), #""score" = 1"#)
        try condition([SQLExpression]().joined(operator: .concat), #"''"#)
        try condition([SQLExpression]().joined(operator: .multiply), #"1"#)
        try condition([score & id].joined(operator: .bitwiseAnd), #""score" & "id""#)
        try condition([score.sqlExpression, id.sqlExpression].joined(operator: .bitwiseOr), #""score" | "id""#)
        try condition(
            (name == "a" && name == "b").collating(.nocase),
            #"("name" = 'a' COLLATE NOCASE) AND ("name" = 'b' COLLATE NOCASE)"#)
    }

    func arithmetic() throws {
        try selection(score + 1, #""score" + 1"#)
        try selection(score + id + 1, #"("score" + "id") + 1"#)
        try selection(score + (id + 1), #""score" + ("id" + 1)"#)
        try selection(score - id - 1, #"("score" - "id") - 1"#)
        try selection(score - (id - 1), #""score" - ("id" - 1)"#)
        try selection(score * 2 * id, #"("score" * 2) * "id""#)
        try selection(score / 2 / 3, #"("score" / 2) / 3"#)
        try selection((score + 1) * 2 - id / 3, #"(("score" + 1) * 2) - ("id" / 3)"#)
        try selection(-score, #"-"score""#)
        try selection(-(-score), #"-(-"score")"#)
        try selection(-(score + 1), #"-("score" + 1)"#)
        try selection(score & 1, #""score" & 1"#)
        try selection(score & 1 & id, #""score" & 1 & "id""#)
        try selection(score | 2, #""score" | 2"#)
        try selection(score << 2, #""score" << 2"#)
        try selection(score >> 2, #""score" >> 2"#)
        try selection(~score, #"~"score""#)
        try selection(~(~score), #"~(~"score")"#)
        try selection(1 + score, #"1 + "score""#)
        try selection(1 - score, #"1 - "score""#)
        try selection((-1).databaseValue.sqlExpression + score, #"-1 + "score""#)
        try selection(score - (-1), #""score" - -1"#)
        try selection(name ?? "x", #"IFNULL("name", 'x')"#)
        try selection(name.collating(.nocase), #""name" COLLATE NOCASE"#)
        try selection(1.databaseValue, #"1"#)
        try selection("x".databaseValue, #"'x'"#)
        try selection(DatabaseValue.null, #"NULL"#)
        try selection(1.5.databaseValue, #"1.5"#)
    }

    func membership() throws {
        try condition((1...10).contains(score), #""score" BETWEEN 1 AND 10"#)
        try condition((1..<10).contains(score), #"("score" >= 1) AND ("score" < 10)"#)
        try condition(("a"..."z").contains(name), #""name" BETWEEN 'a' AND 'z'"#)
        try condition((1...10).contains(score + 1), #"("score" + 1) BETWEEN 1 AND 10"#)
        try condition([1, 2, 3].contains(score), #""score" IN (1, 2, 3)"#)
        try condition([1].contains(score), #""score" = 1"#)
        try condition([Int]().contains(score), #"0"#)
        try condition(["a", nil].contains(name), #""name" IN ('a', NULL)"#)
        try condition(["a", "b"].contains(name), #""name" IN ('a', 'b')"#)
        try condition([score + 1, id].contains(teamId), #""teamId" IN ("score" + 1, "id")"#)
        try condition(["a"].contains(name.collating(.nocase)), #""name" = 'a' COLLATE NOCASE"#)
        try condition(["a", "b"].contains(name.collating(.nocase)), #"("name" COLLATE NOCASE) IN ('a', 'b')"#)
        try condition(("a"..."b").contains(name.collating(.nocase)), #"("name" COLLATE NOCASE) BETWEEN 'a' AND 'b'"#)
        try condition(Team.select(id).contains(teamId), #""teamId" IN (SELECT "id" FROM "team")"#)
    }

    func texts() throws {
        try condition(name.collating(.nocase) == "arthur", #""name" = 'arthur' COLLATE NOCASE"#)
        try condition(name.collating(.nocase).like("a"), #"("name" COLLATE NOCASE) LIKE 'a'"#)
        try condition(name.like("%a%"), #""name" LIKE '%a%'"#)
        try condition(name.like("%a%", escape: "\\"), #""name" LIKE '%a%' ESCAPE '\'"#)
    }

    func others() throws {
        try condition(score == Player.select(max(score)), #""score" = (SELECT MAX("score") FROM "player")"#)
        try condition(Team.filter(sql: "1").exists(), #"EXISTS (SELECT * FROM "team" WHERE 1)"#)
        try condition(SQL("score > \(5)").sqlExpression, #"score > 5"#)
    }

    func functions() throws {
        try selection(abs(score), #"ABS("score")"#)
        try selection(average(score), #"AVG("score")"#)
        try selection(average(score, filter: score > 1), #"AVG("score") FILTER (WHERE "score" > 1)"#)
        try selection(cast(score, as: .text), #"CAST("score" AS TEXT)"#)
        try selection(coalesce([name]), #""name""#)
        try selection(count(score), #"COUNT("score")"#)
        try selection(count(distinct: score), #"COUNT(DISTINCT "score")"#)
        try selection(length(name), #"LENGTH("name")"#)
        try selection(max(score), #"MAX("score")"#)
        try selection(min(score), #"MIN("score")"#)
        try selection(min(score, filter: id > 1), #"MIN("score") FILTER (WHERE "id" > 1)"#)
        try selection(sum(score), #"SUM("score")"#)
        try selection(sum(score, filter: id > 1), #"SUM("score") FILTER (WHERE "id" > 1)"#)
        try selection(total(score), #"TOTAL("score")"#)
        try selection(name.uppercased, #"swiftUppercaseString("name")"#)
        try selection(name.lowercased, #"swiftLowercaseString("name")"#)
        try selection(name.capitalized, #"swiftCapitalizedString("name")"#)
        try selection(name.localizedCapitalized, #"swiftLocalizedCapitalizedString("name")"#)
        try selection((score + 1).forKey("total"), #""score" + 1 AS "total""#)
        try selection(name.forKey("a\"b"), #""name" AS "a""b""#)
        try selection(Column.rowID, #""rowid""#)
    }
}
