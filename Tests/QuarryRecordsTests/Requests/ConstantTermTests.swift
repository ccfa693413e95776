import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

/// Constants in ORDER BY and GROUP BY, where SQLite takes a number for the index of a column.
@Suite struct ConstantTermTests {
    private let table = Table("t")
    private let a = Column("a")
    private let b = Column("b")
    private let alias = TableAlias(name: "t")

    private func withNumbers(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 3), (2, 2), (3, 1)")
            try body(db)
        }
    }

    /// Conditions that SQLite replaces by constants.
    private var conditions: [SQLExpression] {
        let none = [Int]().contains(a)
        var conditions = [none, !none, -none, alias[none], none.collating(.nocase), none == false]
        conditions.append(none && a == 1)
        conditions.append([a == 1, none, b == 1].joined(operator: .and))
        conditions.append(none || none)
        conditions.append(.deferred { _ in none })
        return conditions
    }

    private var constants: [SQLExpression] {
        let numbers = [true.sqlExpression, 1.sqlExpression, 0.sqlExpression, (-1).sqlExpression, 9.sqlExpression]
        var constants = conditions + numbers + numbers.map { -$0 }
        constants.append([true.sqlExpression, false.sqlExpression].joined(operator: .and))
        constants.append([SQLExpression]().joined(operator: .and))
        constants.append(1.sqlExpression.collating(.nocase))
        constants.append(.deferred { _ in 1.sqlExpression })
        constants.append(1.5.sqlExpression)
        constants.append("1".sqlExpression)
        return constants
    }

    /// Expects rows in the order of `b`, also with values as literals.
    private func expectOrder(_ db: Database, _ order: [any SQLOrderingTerm]) throws {
        let request = table.aliased(alias).select(a).order(order)
        let sql = try request.sql(db)
        #expect(try Int.fetchAll(db, request) == [3, 2, 1], "\(sql)")
        #expect(try Int.fetchAll(db, sql: sql) == [3, 2, 1], "\(sql)")
        try db.create(view: "v", as: request)
        #expect(try Int.fetchAll(db, sql: "SELECT * FROM v") == [3, 2, 1], "\(sql)")
        try db.drop(view: "v")
    }

    @Test func aConstantOrdersNothing() throws {
        try withNumbers { (db) throws in
            for constant in constants {
                try expectOrder(db, [constant, b])
                try expectOrder(db, [constant.desc, b])
                try expectOrder(db, [constant.asc, b])
                try expectOrder(db, [b, constant.ascNullsLast])
            }
            for condition in conditions { try expectOrder(db, ["\(condition) DESC" as SQL, b]) }
            let favourites: [Int] = []
            let interpolated: SQLRequest<Int> = "SELECT a FROM t ORDER BY \(!favourites.contains(a)) DESC, b"
            #expect(try interpolated.fetchAll(db) == [3, 2, 1])
        }
    }

    /// The value of a literal is written as a literal in the definition of a view.
    @Test func aValueInALiteralOrdersNothing() throws {
        try withNumbers { (db) throws in
            for order in ["\(1) DESC, b", "-\(1), b", "(\(9)) COLLATE NOCASE, b", "\(Int64.min), b", "b, \(1)"] as [SQL]
            {
                try expectOrder(db, [order])
            }
            let grouped: SQLRequest<Int> = "SELECT count(*) FROM t GROUP BY \(1), \(-1)"
            try db.create(view: "v", as: grouped)
            #expect(try Int.fetchAll(db, sql: "SELECT * FROM v") == [3])
        }
    }

    @Test func aConstantMakesOneGroup() throws {
        try withNumbers { (db) throws in
            for constant in constants {
                let request = table.aliased(alias).select(count(.allColumns)).group(constant)
                let sql = try request.sql(db)
                #expect(try Int.fetchAll(db, request) == [3], "\(sql)")
                #expect(try Int.fetchAll(db, sql: sql) == [3], "\(sql)")
                let window = table.aliased(alias).select(sum(b).over(partitionBy: [constant], orderBy: [constant.desc]))
                #expect(try Int.fetchAll(db, window) == [6, 6, 6])
            }
        }
    }

    @Test func onlyTermsAreKeptFromBeingNumbers() throws {
        try withNumbers { (db) throws in
            let none = [Int]().contains(a)
            #expect(try table.filter(none).sql(db) == #"SELECT * FROM "t" WHERE 0"#)
            #expect(try table.order(none.desc).sql(db) == #"SELECT * FROM "t" ORDER BY 0 + 0 DESC"#)
            #expect(try table.order((!none).desc).sql(db) == #"SELECT * FROM "t" ORDER BY 0 + 1 DESC"#)
            #expect(
                try table.order(a + 1, [1, 2].contains(b)).sql(db)
                    == #"SELECT * FROM "t" ORDER BY "a" + 1, "b" IN (1, 2)"#)
        }
    }

    @Test func aMinusBeforeANegativeLiteralIsNoComment() throws {
        try withNumbers { (db) throws in
            let one = -((-1).sqlExpression)
            try db.create(table: "u") { t in
                t.column("a").check { $0 > one }
                t.column("b").generatedAs(a + one)
                t.constraint(literal: "CHECK (a < -\(-9.5))")
            }
            try db.create(index: "i", on: "u", expressions: [a - one], options: .unique)
            try db.create(view: "v", columns: ["x", "y"], as: table.select(a + one, -((-9.5).sqlExpression)))
            try db.execute(sql: "INSERT INTO u (a) VALUES (2)")
            expectError(.SQLITE_CONSTRAINT) { try db.execute(sql: "INSERT INTO u (a) VALUES (1)") }
            expectError(.SQLITE_CONSTRAINT) { try db.execute(sql: "INSERT INTO u (a) VALUES (10)") }
            expectError(.SQLITE_CONSTRAINT) { try db.execute(sql: "INSERT INTO u (a) VALUES (2)") }
            #expect(try Int.fetchAll(db, sql: "SELECT b FROM u") == [3])
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM v WHERE x > 1 AND y = 9.5") == 3)
        }
    }
}
