import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct TupleTests {
    @Test func columnsAreFetchedAsTuples() throws {
        try withAthletes { db throws in
            let scores: [(String, Int?)] = try Athlete.select { ($0.name, $0.score) }.fetchAll(db)
            #expect(scores.map(\.0) == ["Arthur", "Barbara", "Craig", "Diane"])
            #expect(scores.map(\.1) == [10, 30, 20, nil])
            let request = Athlete.select({ ($0.teamId, max($0.score), count(.allColumns)) }, as: (Int?, Int?, Int).self)
                .group(Column("teamId")).order(Column("teamId"))
            #expect(
                try request.sql(db)
                    == #"SELECT "teamId", MAX("score"), COUNT(*) FROM "athlete" GROUP BY "teamId" ORDER BY "teamId""#)
            let teams = try request.fetchAll(db)
            #expect(teams.map(\.0) == [nil, 1, 2] && teams.map(\.1) == [nil, 30, 20] && teams.map(\.2) == [1, 2, 1])
            let best = try #require(
                try Athlete.all().order(Column("score").desc).select({ ($0.id, $0.name) }, as: (Int64, String).self)
                    .fetchOne(db))
            #expect(best == (2, "Barbara"))
            #expect(try request.none().fetchOne(db) == nil)
            #expect(try request.fetchCount(db) == 3)
        }
    }

    @Test func tuplesComeFromAnySelectionAndCursor() throws {
        try withAthletes { db throws in
            let pairs = try Table("team").all()
                .select((Column("name"), (Column("bonus") * 2).forKey("double")), as: (String, Double).self)
                .filter(Column("id") < 3).fetchCursor(db)
            var found: [String] = []
            while let (name, bonus) = try pairs.next() { found.append("\(name) \(bonus)") }
            #expect(found == ["Red 10.0", "Blue 14.0"])
            let squads: QueryInterfaceRequest<(Int64, String)> = Table<Squad>("team").select { ($0.id, $0.name) }
            #expect(try squads.fetchAll(db).map(\.1) == ["Red", "Blue", "Green"])
            let sql: SQLRequest<(Int, String)> = "SELECT 1, 'a'"
            #expect(try sql.fetchAll(db).first ?? (0, "") == (1, "a"))
        }
    }

    @Test func oneColumnIsFetchedAsAValue() throws {
        try withAthletes { db throws in
            let names = try Athlete.select(\.name, as: String.self).fetchAll(db)
            #expect(names == ["Arthur", "Barbara", "Craig", "Diane"])
            let ids = try Athlete.select({ $0.id }, as: Int64.self).fetchSet(db)
            #expect(ids == [1, 2, 3, 4])
        }
    }

    @Test func valuesThatDoNotFitThrow() throws {
        try withAthletes { db throws in
            let request = Athlete.select({ ($0.name, $0.score) }, as: (String, Int).self)
            let error = #expect(throws: RowDecodingError.self) { () throws in _ = try request.fetchAll(db) }
            #expect(error?.description.contains("NULL") == true)
            let three = Athlete.select({ ($0.name, $0.score, $0.id) }, as: (String, Int).self)
            expectError(.SQLITE_MISUSE, "3 columns are selected for tuples of 2 values") { try Row.fetchAll(db, three) }
        }
    }
}
