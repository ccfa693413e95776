import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct RegularExpressionTests {
    @Test func textsMatchPatterns() throws {
        try withAthletes { db throws in
            // The first request gives the connection the function.
            let none = try Athlete.filter(Column("name").regexp("x")).fetchCount(db)
            #expect(none == 0)
            try expectQuery(
                db, Athlete.filter { $0.name.regexp("^[AB].*r") }.select(Column("name")),
                sql: #"SELECT "name" FROM "athlete" WHERE "name" REGEXP '^[AB].*r'"#, rows: ["Arthur", "Barbara"])
            try expectQuery(
                db, Athlete.filter { !$0.name.regexp("a$") && $0.score.regexp("0$") }.select(Column("name")),
                sql: #"SELECT "name" FROM "athlete" WHERE (NOT ("name" REGEXP 'a$')) AND ("score" REGEXP '0$')"#,
                rows: ["Arthur", "Craig"])
            // NULL matches nothing, and is no mismatch either.
            let known = try Athlete.filter { $0.score.regexp("1") || !$0.score.regexp("1") }.fetchCount(db)
            #expect(known == 3)
            // A pattern of each row.
            #expect(try Athlete.filter { $0.name.regexp(substr($0.name, 1, 1)) }.fetchCount(db) == 4)
            try db.execute(sql: "UPDATE athlete SET info = ? WHERE id = 1", arguments: [Array("Ünïcode".utf8)])
            #expect(try Athlete.filter { $0.info.regexp("ï") }.select(Column("id"), as: Int.self).fetchAll(db) == [1])
        }
    }

    @Test func aPatternThatIsNotValidThrows() throws {
        try withAthletes { db throws in
            let error = expectError(.SQLITE_ERROR) { try Athlete.filter { $0.name.regexp("(") }.fetchAll(db) }
            #expect(error?.message?.hasPrefix(#"invalid regular expression "(": "#) == true)
            // Also where there is no row that it could be compared with.
            let other = expectError(.SQLITE_ERROR) {
                try Row.fetchAll(db, Athlete.none().select(Column("name").regexp("[")))
            }
            #expect(other?.message?.hasPrefix("invalid") == true)
        }
    }

    @Test func eachConnectionIsGivenTheFunctionOnce() throws {
        try withTemporaryFolder { folder in
            let pool = try DatabasePool(path: folder + "/regexp.sqlite")
            try pool.write { db in
                try db.execute(sql: "CREATE TABLE athlete (id INTEGER PRIMARY KEY, name TEXT)")
                try db.execute(sql: "INSERT INTO athlete (name) VALUES ('Arthur'), ('Barbara')")
            }
            let request = Athlete.select(Column("name"), as: String.self).filter(Column("name").regexp("^B"))
            for _ in 0..<2 { #expect(try pool.read { try request.fetchAll($0) } == ["Barbara"]) }
            // While another statement runs.
            try pool.write { db in
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM athlete")
                _ = try cursor.next()
                #expect(try request.fetchAll(db) == ["Barbara"])
                #expect(try cursor.next() == "Barbara")
            }
        }
    }

    @Test func aFunctionOfTheConnectionIsKept() throws {
        try withAthletes { db throws in
            db.add(function: DatabaseFunction("REGEXP", argumentCount: 2) { $0[0] == "all".databaseValue })
            #expect(try Athlete.filter(Column("name").regexp("all")).fetchCount(db) == 4)
            #expect(try Athlete.filter(Column("name").regexp("A")).fetchCount(db) == 0)
        }
    }
}
