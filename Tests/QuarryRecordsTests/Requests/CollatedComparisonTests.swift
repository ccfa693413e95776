import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

/// Comparisons with a collation as operands of other expressions.
@Suite struct CollatedComparisonTests {
    private let table = Table("person")
    private let id = Column("id")
    private let name = Column("name")
    private let flag = Column("flag")

    private func withPeople(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, flag INTEGER);
                    INSERT INTO person VALUES
                        (1, 'Arthur', 1), (2, 'Bob', 0), (3, 'ARTHUR', 0), (4, NULL, 1), (5, 'bob', 1);
                    """)
            try body(db)
        }
    }

    /// Compares an expression with SQL: its values, and the rows for which it is true.
    private func expect(
        _ db: Database, _ expression: SQLExpression, _ sql: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let request = table.select(id).filter(expression).order(id)
        let found = try Int.fetchAll(db, request)
        let expected = try Int.fetchAll(db, sql: "SELECT id FROM person WHERE \(sql) ORDER BY id")
        let text = try request.sql(db)
        #expect(found == expected, "\(text)", sourceLocation: sourceLocation)
        let values = try Int?.fetchAll(db, table.select(expression).order(id))
        let expectedValues = try Int?.fetchAll(db, sql: "SELECT \(sql) FROM person ORDER BY id")
        #expect(values == expectedValues, "\(text)", sourceLocation: sourceLocation)
    }

    @Test func aComparisonKeepsItsCollationInsideOfOthers() throws {
        try withPeople { (db) throws in
            let isArthur = name.collating(.nocase) == "ARTHUR"
            let isBob = name.collating(.nocase) == "BOB"
            let (sql, other) = ("(name = 'ARTHUR' COLLATE NOCASE)", "(name = 'BOB' COLLATE NOCASE)")
            try expect(db, isArthur, sql)
            try expect(db, isArthur == true, "\(sql) = 1")
            try expect(db, isArthur == false, "\(sql) = 0")
            try expect(db, isArthur != true, "\(sql) <> 1")
            try expect(db, true == isArthur, "1 = \(sql)")
            try expect(db, isArthur === true, "\(sql) IS 1")
            try expect(db, isArthur !== true, "\(sql) IS NOT 1")
            try expect(db, isArthur == nil, "\(sql) IS NULL")
            try expect(db, isArthur != nil, "\(sql) IS NOT NULL")
            try expect(db, isArthur > 0, "\(sql) > 0")
            try expect(db, isArthur >= 1, "\(sql) >= 1")
            try expect(db, isArthur < 1, "\(sql) < 1")
            try expect(db, isArthur <= 0, "\(sql) <= 0")
            try expect(db, 0 < isArthur, "0 < \(sql)")
            try expect(db, isArthur == flag, "\(sql) = flag")
            try expect(db, flag == isArthur, "flag = \(sql)")
            try expect(db, flag != isArthur, "flag <> \(sql)")
            try expect(db, flag === isArthur, "flag IS \(sql)")
            try expect(db, isArthur == isBob, "\(sql) = \(other)")
            try expect(db, (isArthur == true) == false, "(\(sql) = 1) = 0")
            try expect(db, !(isArthur == true), "NOT (\(sql) = 1)")
            try expect(db, !isArthur == true, "(NOT \(sql)) = 1")
            try expect(db, [1, 2].contains(isArthur), "\(sql) IN (1, 2)")
            try expect(db, [1].contains(isArthur), "\(sql) IN (1)")
            try expect(db, [isArthur, isBob].contains(flag), "flag IN (\(sql), \(other))")
            try expect(db, [isArthur].contains(flag), "flag IN (\(sql))")
            try expect(db, (1...2).contains(isArthur), "\(sql) BETWEEN 1 AND 2")
            try expect(db, (1..<2).contains(isArthur), "\(sql) = 1")
            try expect(db, table.select(max(flag)).contains(isArthur), "\(sql) IN (SELECT MAX(flag) FROM person)")
            try expect(db, isArthur.like("1"), "\(sql) LIKE '1'")
            try expect(db, isArthur && flag, "\(sql) AND flag")
            try expect(db, (isArthur || isBob) == flag, "(\(sql) OR \(other)) = flag")
            try expect(db, (isArthur ?? false) == true, "IFNULL(\(sql), 0) = 1")
            try expect(db, isArthur + isBob == 1, "(\(sql) + \(other)) = 1")
        }
    }

    /// A collation of a condition applies to the comparisons inside.
    @Test func aConditionKeepsItsCollationInsideOfOthers() throws {
        try withPeople { (db) throws in
            let isArthur = name == "ARTHUR"
            let sql = "(name = 'ARTHUR' COLLATE NOCASE)"
            try expect(db, isArthur.collating(.nocase) == false, "\(sql) = 0")
            try expect(db, (!isArthur).collating(.nocase) == true, "(NOT \(sql)) = 1")
            try expect(
                db, (isArthur || name == "BOB").collating(.nocase) == false,
                "(\(sql) OR (name = 'BOB' COLLATE NOCASE)) = 0")
            try expect(
                db, (isArthur && flag == 1).collating(.nocase) != flag, "(\(sql) AND flag = 1) <> flag")
            try expect(
                db, ["ARTHUR", "BOB"].contains(name).collating(.nocase) == false,
                "(name COLLATE NOCASE IN ('ARTHUR', 'BOB')) = 0")
            try expect(
                db, ("ARTHUR"..."BOB").contains(name).collating(.nocase) == true,
                "(name COLLATE NOCASE BETWEEN 'ARTHUR' AND 'BOB') = 1")
            try expect(
                db, flag == table.select(name).filter(id == 3).contains(name).collating(.nocase),
                "flag = (name COLLATE NOCASE IN (SELECT name FROM person WHERE id = 3))")
            let deferred = SQLExpression.deferred { _ in isArthur }
            try expect(db, deferred.collating(.nocase) == false, "\(sql) = 0")
            try expect(
                db, SQLExpression.deferred { [name] _ in name.sqlExpression }.collating(.nocase) == "ARTHUR", sql)
        }
    }

    @Test func theCollationOfAValueBelongsToItsComparison() throws {
        try withPeople { (db) throws in
            try expectQuery(
                db, table.select(id).filter(name.collating(.nocase) == "ARTHUR"),
                sql: #"SELECT "id" FROM "person" WHERE "name" = 'ARTHUR' COLLATE NOCASE"#, rows: ["1", "3"])
            try expectQuery(
                db, table.select(id).filter("ARTHUR" == name.collating(.nocase)),
                sql: #"SELECT "id" FROM "person" WHERE 'ARTHUR' = "name" COLLATE NOCASE"#, rows: ["1", "3"])
            try expectQuery(
                db, table.select(id).filter((name.collating(.nocase) == "ARTHUR") == true),
                sql: #"SELECT "id" FROM "person" WHERE ("name" = 'ARTHUR' COLLATE NOCASE) = 1"#, rows: ["1", "3"])
        }
    }
}
