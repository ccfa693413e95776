import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct QueryPlanTests {
    @Test func aPlanIsATree() throws {
        try withAthletes { db throws in
            let plan = try Athlete.filter { $0.name == "Arthur" }.explain(db)
            #expect(
                plan.description == """
                    QUERY PLAN
                    `--SEARCH athlete USING INDEX sqlite_autoindex_athlete_1 (name=?)
                    """)
            #expect(plan.nodes.count == 1 && plan.nodes[0].parent == 0 && plan.nodes[0].children.isEmpty)
            #expect(plan.contains("USING INDEX") && !plan.contains("SCAN"))
            let ids = Squad.select(Column("id")).filter(Column("bonus") > 5)
            let nested = try Athlete.filter(ids.contains(Column("teamId"))).order(Column("score")).explain(db)
            // Newer versions of SQLite plan a filter for the list.
            let bloomFilter = nested.contains("BLOOM FILTER")
            #expect(
                nested.description == """
                    QUERY PLAN
                    |--SCAN athlete
                    |--LIST SUBQUERY 1
                    |  \(bloomFilter ? "|--SCAN team\n|  `--CREATE BLOOM FILTER" : "`--SCAN team")
                    `--USE TEMP B-TREE FOR ORDER BY
                    """)
            #expect(Set(nested.nodes[1].children.map(\.parent)) == [nested.nodes[1].id])
            #expect(nested.contains("SCAN team"))
        }
    }

    @Test func whatIsExplainedDoesNotRun() throws {
        try withAthletes { db throws in
            let purge = Athlete.filter { $0.id == 1 }.delete()
            #expect(
                try purge.explain(db).description == """
                    QUERY PLAN
                    `--SEARCH athlete USING INTEGER PRIMARY KEY (rowid=?)
                    """)
            #expect(try purge.returning().explain(db).nodes.count == 1)
            #expect(try Athlete.insert(columns: [Column("name")], values: [["x"]]).explain(db).nodes.isEmpty)
            #expect(try Athlete.fetchCount(db) == 4)
            let sql: SQLRequest<Row> = "SELECT * FROM athlete WHERE id = \(1)"
            #expect(try sql.explain(db).contains("PRIMARY KEY"))
            #expect(try sql.sql(db) == "SELECT * FROM athlete WHERE id = 1")
            expectError(.SQLITE_ERROR, "no such table: nothing") { () throws in try Table("nothing").all().explain(db) }
        }
    }

    @Test func plansAreReadInReaders() throws {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE athlete (id INTEGER PRIMARY KEY, name TEXT)") }
        let plan = try queue.read { try Athlete.all().explain($0) }
        #expect(plan.description == "QUERY PLAN\n`--SCAN athlete")
        // A reader prepares no statement that writes.
        expectError(.SQLITE_READONLY) { () throws in try queue.read { try Athlete.all().delete().explain($0) } }
        #expect(try queue.write { try Athlete.all().delete().explain($0) }.description == "QUERY PLAN")
    }

    @Test func valuesAreWrittenAsLiterals() throws {
        try withAthletes { db throws in
            let request = Athlete.filter {
                $0.name == "O'Brien\u{0}?" && $0.score > 0.1 && $0.info == [1, 255].databaseValue
            }
            let text = try request.sql(db)
            #expect(
                text == #"SELECT * FROM "athlete" WHERE ("name" = (CAST(X'4F27427269656E003F' AS TEXT))) "#
                    + #"AND ("score" > 0.1) AND ("info" = X'01FF')"#)
            #expect(try Row.fetchAll(db, sql: text).isEmpty)
        }
    }
}
