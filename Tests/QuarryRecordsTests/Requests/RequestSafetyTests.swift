import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Requests that must be SQL, and SQL that must find the right rows.
@Suite struct RequestSafetyTests {
    private func sql(_ db: Database, _ request: some FetchRequest) throws -> String {
        try request.makePreparedRequest(db, forSingleResult: false).statement.sql
    }

    // MARK: - Operators

    @Test func comparedColumnsAreSQLWhereBooleansAreTaken() throws {
        try withAthletes { (db) throws in
            let (a, b) = (Column("score"), Column("teamId"))
            let (json, other) = (JSONColumn("info"), JSONColumn("name"))
            let comparisons: [(any SQLExpressible, String)] = [
                (a == b, "\"score\" = \"teamId\""), (a != b, "\"score\" <> \"teamId\""),
                (a === b, "\"score\" IS \"teamId\""), (a !== b, "\"score\" IS NOT \"teamId\""),
                (a < b, "\"score\" < \"teamId\""), (a <= b, "\"score\" <= \"teamId\""),
                (a > b, "\"score\" > \"teamId\""), (a >= b, "\"score\" >= \"teamId\""),
                (a && b, "\"score\" AND \"teamId\""), (a || b, "\"score\" OR \"teamId\""), (!a, "NOT \"score\""),
                (json == other, "\"info\" = \"name\""), (json != other, "\"info\" <> \"name\""),
                (a == nil, "\"score\" IS NULL"), (true == a, "1 = \"score\""), (a == "x", "\"score\" = 'x'"),
            ]
            for (condition, expected) in comparisons {
                let text = try Athlete.filter(condition.sqlExpression).sql(db)
                #expect(text == "SELECT * FROM \"athlete\" WHERE \(expected)")
            }
            let group = "SELECT * FROM \"athlete\" GROUP BY \"id\" HAVING \"score\" = \"teamId\""
            #expect(try sql(db, Athlete.group(Column("id")).having(a == b)) == group)
            let joined = "SELECT * FROM \"athlete\" WHERE (\"score\" = \"teamId\") AND (\"info\" <> \"name\")"
            #expect(try sql(db, Athlete.filter([a == b, json != other].joined(operator: .and))) == joined)
            let interpolated: SQLRequest<Row> = "SELECT \(a == b) FROM athlete"
            #expect(try sql(db, interpolated) == "SELECT \"score\" = \"teamId\" FROM athlete")
            let annotated = "SELECT *, \"score\" = \"teamId\" FROM \"athlete\""
            #expect(try sql(db, Athlete.annotated(with: a == b)) == annotated)
            let counted = "SELECT COUNT(*) FILTER (WHERE \"score\" = \"teamId\") FROM \"athlete\""
            #expect(try sql(db, Athlete.select(count(.allColumns, filter: a == b))) == counted)
            #expect(try Athlete.updateAll(db, a.set(to: a == b)) == 4)
            #expect(try Int?.fetchAll(db, sql: "SELECT score FROM athlete ORDER BY id") == [0, 0, 0, nil])
            try db.create(table: "t") { t in
                t.column("d")
                t.column("e").check { $0 != Column("d") }
            }
            let text = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 't'")
            #expect(text?.contains("CHECK (\"e\" <> \"d\")") == true)
        }
    }

    @Test func negatedComparisonsDeleteOnlyTheirRows() throws {
        try withAthletes { (db) throws in
            let same = [Column("id") == Column("teamId")].joined(operator: .and)
            #expect(try Athlete.filter(!same).deleteAll(db) == 2)
            #expect(try Athlete.fetchCount(db) == 2)
        }
    }

    /// No type that builds SQL has Swift's `==`.
    @Test func typesThatBuildSQLAreNotEquatable() {
        let values: [any SQLSpecificExpressible] = [
            Column("a"), JSONColumn("a"), Column("a").sqlExpression, SQL("a"), SQLRequest<Row>(sql: "a"),
            Athlete.all(), SQLDateModifier.utc, ValueList([1]), Column("a").asJSON, Athlete.all().sqlSubquery,
        ]
        for value in values { #expect(!(value is any Equatable), "\(type(of: value))") }
    }

    // MARK: - Depth

    @Test(arguments: [1_100, 100_000])
    func expressionsNestedDeepThrow(depth: Int) throws {
        try withAthletes { (db) throws in
            func expectTooDeep(_ request: QueryInterfaceRequest<Athlete>, line: Int = #line) {
                let error = expectError(DatabaseError.self) { () throws in _ = try request.fetchCount(db) }
                #expect(error?.message?.contains("nested too deep") == true, "line \(line)")
            }
            var difference = Column("id").sqlExpression
            var call = difference
            var literal = difference
            var condition = Column("id") < 3
            var subquery = Athlete.select(Column("id"))
            for number in 1...depth {
                difference = difference - number
                call = abs(call)
                literal = SQL("\(literal) + 1").sqlExpression
                condition = !(condition == 1)
                subquery = Athlete.select(Column("id")).filter(subquery.contains(Column("id")))
            }
            expectTooDeep(Athlete.filter(difference == 0))
            expectTooDeep(Athlete.filter(call == 0))
            expectTooDeep(Athlete.filter(literal == 0))
            expectTooDeep(Athlete.filter(condition))
            expectTooDeep(Athlete.filter(subquery.contains(1)))
            let alias = TableAlias<Athlete>()
            expectTooDeep(Athlete.aliased(alias).filter(alias[difference] == 0))
            expectTooDeep(Athlete.order(difference).limit(1).select(difference))
        }
    }

    @Test func conditionsThatGrowInALoopStayFlat() throws {
        try withAthletes { (db) throws in
            var condition = Column("id") == 1
            var reversed = Column("id") == 1
            for number in 2...100 {
                condition = condition || Column("id") == number
                reversed = Column("id") == number || reversed
            }
            let text = try Athlete.filter(condition).sql(db)
            #expect(!text.contains("(("))
            #expect(text.hasSuffix("(\"id\" = 99) OR (\"id\" = 100)"))
            #expect(try Athlete.filter(condition && reversed).fetchCount(db) == 4)
            let alias = TableAlias<Athlete>(name: "a")
            #expect(try Athlete.aliased(alias).filter(alias[condition]).fetchCount(db) == 4)
            for number in 1...100_000 { condition = condition || Column("id") == number }
            expectError(DatabaseError.self) { () throws in _ = try Athlete.filter(condition).fetchCount(db) }
        }
    }

    // MARK: - Rows

    @Test func collationsBehindMembershipAreThoseOfTheLeftSide() throws {
        try withAthletes { (db) throws in
            let name = Column("name")
            try expectQuery(
                db, Athlete.select(name).filter(["arthur", "CRAIG"].contains(name).collating(.nocase)),
                sql: "SELECT \"name\" FROM \"athlete\" WHERE (\"name\" COLLATE NOCASE) IN ('arthur', 'CRAIG')",
                rows: ["Arthur", "Craig"])
            try expectQuery(
                db, Athlete.select(name).filter(!["arthur", "CRAIG"].contains(name).collating(.nocase)),
                sql: "SELECT \"name\" FROM \"athlete\" WHERE (\"name\" COLLATE NOCASE) NOT IN ('arthur', 'CRAIG')",
                rows: ["Barbara", "Diane"])
            try expectQuery(
                db, Athlete.select(name).filter(("a"..."c").contains(name).collating(.nocase)),
                sql: "SELECT \"name\" FROM \"athlete\" WHERE (\"name\" COLLATE NOCASE) BETWEEN 'a' AND 'c'",
                rows: ["Arthur", "Barbara"])
        }
    }

    @Test func changesOfViewsAreCounted() throws {
        try withAthletes { (db) throws in
            try db.execute(
                sql: """
                    CREATE VIEW roster AS SELECT id, name FROM athlete;
                    CREATE TRIGGER d INSTEAD OF DELETE ON roster BEGIN DELETE FROM athlete WHERE id = old.id; END;
                    CREATE TRIGGER u INSTEAD OF UPDATE ON roster BEGIN
                        UPDATE athlete SET name = new.name WHERE id = old.id;
                    END;
                    """)
            let roster = Table<Row>("roster")
            #expect(try roster.filter(Column("id") == 1).updateAll(db, Column("name").set(to: "x")) == 1)
            #expect(try roster.filter(Column("id") == 1).deleteAll(db) == 1)
            #expect(try roster.filter(Column("id") == 1).deleteAll(db) == 0)
            #expect(try roster.deleteAll(db) == 3)
        }
    }

    @Test func countsSeeTheAnnotationsThatConditionsName() throws {
        try withAthletes { (db) throws in
            let request = Athlete.annotated(with: Column("score").forKey("alt")).filter(Column("alt").detached > 10)
            #expect(try request.fetchCount(db) == 2)
            #expect(try Athlete.select([40, 3].contains(max(Column("id")))).fetchCount(db) == 1)
        }
    }

    @Test func requestsInLiteralsAreStatementsWhereOneBegins() throws {
        try withAthletes { (db) throws in
            let ids = Squad.select(Column("id"))
            let cte = CommonTableExpression<Row>(named: "c", columns: [], request: ids)
            let named: SQLRequest<Int> = "WITH \(definitionFor: cte) \(cte.all())"
            #expect(try named.fetchAll(db) == [1, 2, 3])
            let both: SQLRequest<Int> = "\(ids) UNION ALL \(ids)"
            #expect(try both.fetchAll(db).count == 6)
            let value: SQLRequest<Int> = "SELECT \(Squad.select(count(Column("id")))) + 1"
            #expect(try value.fetchOne(db) == 4)
            try db.execute(literal: "CREATE TABLE copy AS \(ids)")
            try db.execute(literal: "INSERT INTO copy \(ids)")
            try db.execute(literal: "INSERT INTO copy (id) \(ids)")
            #expect(try Table("copy").fetchCount(db) == 9)
        }
    }

    @Test func groupsByThePrimaryKeyCanBeChanged() throws {
        try withAthletes { (db) throws in
            #expect(try Athlete.group(Column("id")).updateAll(db, Column("score").set(to: 1)) == 4)
            #expect(try Athlete.group(Column.rowID).updateAll(db, Column("score").set(to: 1)) == 4)
            expectError(.SQLITE_MISUSE) { () throws in try Athlete.group(Column("teamId")).deleteAll(db) }
        }
    }

    @Test func changedRecordsAreReturnedWhole() throws {
        try withAthletes { (db) throws in
            let one = Athlete.filter(Column("id") == 1)
            #expect(try one.select(Column("name")).deleteAndFetchAll(db).map(\.score) == [10])
            let names = Athlete.filter(Column("id") == 2).select(Column("name"), as: String.self)
            #expect(try names.deleteAndFetchAll(db) == ["Barbara"])
        }
    }

    @Test func joinedTablesOfChangesAreNotSelected() throws {
        try withAthletes { (db) throws in
            let team = Athlete.belongsTo(Squad.self, using: ForeignKey(["teamId"]))
            #expect(try Athlete.including(required: team).updateAll(db, Column("score").set(to: 1)) == 3)
        }
    }

    @Test func tablesOfOneNameInWITHMustBeTheSame() throws {
        try withAthletes { (db) throws in
            let team = Athlete.belongsTo(Squad.self, using: ForeignKey(["teamId"]))
            let first = CommonTableExpression<Row>(named: "c", sql: "SELECT 1 AS x")
            let other = CommonTableExpression<Row>(named: "C", sql: "SELECT 2 AS x")
            #expect(try Athlete.with(first).joining(optional: team.with(first)).fetchCount(db) == 4)
            expectError(.SQLITE_MISUSE, "a request defines two different tables in WITH with the name C") { () throws in
                _ = try Athlete.with(first).joining(optional: team.with(other)).fetchCount(db)
            }
        }
    }

    // MARK: - Arguments

    @Test func namedArgumentsBelongToTheirPartOfARequest() throws {
        try withAthletes { (db) throws in
            let request =
                Athlete
                .filter(sql: "id <> :id AND name <> ':id' /* :id */ AND id > :id - 5", arguments: ["id": 1])
                .filter(sql: "\"id\" < @id", arguments: ["id": 4]).filter(Column("id") > 0)
            #expect(
                try sql(db, request) == """
                    SELECT * FROM "athlete" WHERE (id <> ? AND name <> ':id' /* :id */ AND id > ? - 5) \
                    AND ("id" < ?) AND ("id" > ?)
                    """)
            #expect(try request.fetchAll(db).map(\.id) == [2, 3])
            #expect(try Athlete.filter(sql: "id = ?2 OR id = ?1 OR id = ?2", arguments: [1, 2]).fetchCount(db) == 2)
            expectError(.SQLITE_MISUSE, "no parameter has the name of the argument x") {
                try Row.fetchAll(db, Athlete.filter(sql: "id = :id", arguments: ["id": 1, "x": 2]))
            }
            expectError(.SQLITE_MISUSE, "missing argument for parameter :y") {
                try Row.fetchAll(db, Athlete.filter(sql: "id = :id AND :y", arguments: ["id": 1]))
            }
        }
    }

    // MARK: - Literals

    @Test func literalsTakeExpressionsOfAnyKind() throws {
        func upper(_ value: any SQLExpressible) -> SQLExpression { SQL("UPPER(\(value))").sqlExpression }
        try withAthletes { (db) throws in
            let selected = "SELECT UPPER(?), UPPER(\"name\") FROM \"athlete\""
            #expect(try sql(db, Athlete.select(upper("a"), upper(Column("name")))) == selected)
            let all: SQLRequest<Row> = "SELECT \(.allColumns) FROM athlete ORDER BY name COLLATE \(.localizedCompare)"
            #expect(try sql(db, all) == "SELECT * FROM athlete ORDER BY name COLLATE \"swiftLocalizedCompare\"")
            let list = Athlete.filter(literal: "1 IN \([Column("id"), Column("teamId")])")
            #expect(try sql(db, list) == "SELECT * FROM \"athlete\" WHERE 1 IN (\"id\", \"teamId\")")
            #expect(try Row.fetchOne(db, sql: "SELECT 7 AS rowid")?[.rowID] == 7)
            #expect(try Athlete.aliased(TableAlias()).fetchCount(db) == 4)
            let named = Table("athlete").aliased(TableAlias(name: "p")).filter(Column("id") == 1)
            #expect(try sql(db, named) == "SELECT \"p\".* FROM \"athlete\" \"p\" WHERE \"p\".\"id\" = ?")
            #expect(try Row.fetchAll(db, named).count == 1)
            let typed = Table<Athlete>("archive").aliased(TableAlias(name: "p"))
            #expect(try typed.fetchAll(db) == [])
            #expect(try String.fetchOne(db, Athlete.select(Database.jsonArray(1...4))) == "[1,2,3,4]")
        }
    }

    @Test func functionsOfAggregatesAreAggregates() throws {
        try withAthletes { (db) throws in
            let athletes = Squad.hasMany(Athlete.self, using: ForeignKey(["teamId"]))
            let request = Squad.select(Column("id"))
                .annotated(with: abs(-athletes.max(Column("score"))), length(athletes.min(Column("name"))))
                .annotated(with: cast(athletes.count, as: .text)).order(Column("id"))
            #expect(try rows(db, request) == ["1|30|6|2", "2|20|5|1", "3|NULL|NULL|0"])
        }
    }
}
