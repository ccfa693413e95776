import QuarryCore
import QuarryTestSupport
import Testing

@Suite("The verbs that fetch, from all there is to run")
struct FetchVerbsTests {
    private let sql = "SELECT a FROM t WHERE a > ? ORDER BY a"

    private func withTable(_ body: (Database) throws -> Void) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'x')")
            try body(db)
        }
    }

    @Test func valuesAreFetched() throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: sql)
            let request = SQLRequest<Int>(sql: sql, arguments: [1])
            #expect(try Int.fetchAll(statement, arguments: [1]) == [2, 3])
            #expect(try Int.fetchAll(statement) == [2, 3])
            #expect(try Int.fetchAll(db, sql: sql, arguments: [1]) == [2, 3])
            #expect(try Int.fetchAll(db, request) == [2, 3])
            #expect(try request.fetchAll(db) == [2, 3])

            #expect(try Int.fetchSet(statement, arguments: [1]) == [2, 3])
            #expect(try Int.fetchSet(db, sql: sql, arguments: [1]) == [2, 3])
            #expect(try Int.fetchSet(db, request) == [2, 3])
            #expect(try request.fetchSet(db) == [2, 3])

            #expect(try Int.fetchOne(statement, arguments: [1]) == 2)
            #expect(try Int.fetchOne(db, sql: sql, arguments: [1]) == 2)
            #expect(try Int.fetchOne(db, request) == 2)
            #expect(try request.fetchOne(db) == 2)

            #expect(try Array(Int.fetchCursor(statement, arguments: [1])) == [2, 3])
            #expect(try Array(Int.fetchCursor(db, sql: sql, arguments: [1])) == [2, 3])
            #expect(try Array(Int.fetchCursor(db, request)) == [2, 3])
            #expect(try Array(request.fetchCursor(db)) == [2, 3])
            // Another type than the request's.
            #expect(try Double.fetchAll(db, request) == [2, 3])
        }
    }

    @Test func literalsAreFetched() throws {
        try withTable { db throws in
            let (least, text) = (1, "it's")
            try db.execute(literal: "INSERT INTO t VALUES (4, \(text))")
            #expect(try Int.fetchAll(db, literal: "SELECT a FROM t WHERE a > \(least) ORDER BY a") == [2, 3, 4])
            #expect(try Int.fetchSet(db, literal: "SELECT a FROM t WHERE a IN \([1, 2, 9])") == [1, 2])
            #expect(try Int.fetchOne(db, literal: "SELECT a FROM t WHERE b = \(text)") == 4)
            #expect(try Int.fetchOne(db, literal: "SELECT a FROM t WHERE b IS \(nil as String?)") == 2)
            #expect(try Array(Int.fetchCursor(db, literal: "SELECT a FROM t WHERE a < \(3)")) == [1, 2])
            #expect(try String?.fetchAll(db, literal: "SELECT b FROM t WHERE a <= \(2) ORDER BY a") == ["x", nil])
            let rows = try Row.fetchAll(
                db, literal: "SELECT a, b FROM t WHERE a = \(4)", adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(rows == [["b": "it's"]])
            let query: SQL = "SELECT a FROM t WHERE a = \(least)"
            #expect(try Row.fetchOne(db, literal: query + " OR b = \(text) ORDER BY a DESC")?["a"] == 4)
            // The statement is kept by its text, whatever the values.
            for value in 1...3 {
                #expect(try Int.fetchOne(db, literal: "SELECT a FROM t WHERE a = \(value)") == value)
            }
            expectError(.SQLITE_MISUSE) { () throws in try Int.fetchAll(db, literal: "SELECT a FROM t WHERE a = ?") }
            expectError(.SQLITE_ERROR) { () throws in try Int.fetchAll(db, literal: "SELECT \(1) FROM nowhere") }
        }
    }

    @Test func rowsAreFetched() throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: sql)
            let request = SQLRequest<Row>(sql: sql, arguments: [1])
            let rows: [Row] = [["a": 2], ["a": 3]]
            #expect(try Row.fetchAll(statement, arguments: [1]) == rows)
            #expect(try Row.fetchAll(db, sql: sql, arguments: [1]) == rows)
            #expect(try Row.fetchAll(db, request) == rows)
            #expect(try request.fetchAll(db) == rows)
            #expect(try Row.fetchSet(statement, arguments: [1]) == Set(rows))
            #expect(try Row.fetchSet(db, sql: sql, arguments: [1]) == Set(rows))
            #expect(try Row.fetchSet(db, request) == Set(rows))
            #expect(try request.fetchSet(db) == Set(rows))
            #expect(try Row.fetchOne(statement, arguments: [1]) == rows[0])
            #expect(try Row.fetchOne(db, sql: sql, arguments: [1]) == rows[0])
            #expect(try Row.fetchOne(db, request) == rows[0])
            #expect(try request.fetchOne(db) == rows[0])
            #expect(try Array(Row.fetchCursor(statement, arguments: [1]).map { $0.copy() }) == rows)
            #expect(try Array(Row.fetchCursor(db, sql: sql, arguments: [1]).map { $0.copy() }) == rows)
            #expect(try Array(request.fetchCursor(db).map { $0.copy() }) == rows)
            let cursor = try Row.fetchCursor(db, request)
            let first = try cursor.next()
            #expect(try cursor.next() === first)
        }
    }

    @Test func optionalsAreFetched() throws {
        try withTable { db throws in
            let sql = "SELECT b FROM t"
            let request = SQLRequest<String?>(sql: sql)
            #expect(try String?.fetchAll(db, sql: sql) == ["x", nil, "x"])
            #expect(try String?.fetchAll(db.makeStatement(sql: sql)) == ["x", nil, "x"])
            #expect(try request.fetchAll(db) == ["x", nil, "x"])
            #expect(try String?.fetchSet(db, sql: sql) == ["x", nil])
            #expect(try request.fetchSet(db) == ["x", nil])
            #expect(try Array(String?.fetchCursor(db, sql: sql)) == ["x", nil, "x"])
            let cursor = try request.fetchCursor(db)
            #expect(try cursor.next() == .some("x"))
            #expect(try cursor.next() == .some(nil))
            #expect(try cursor.next() == .some("x"))
            #expect(try cursor.next() == nil)
        }
    }

    @Test func nullForAValueIsAnError() throws {
        try withTable { db throws in
            let message =
                #"could not decode String from database value NULL - column: "b", column index: 0, row: [b:NULL], "#
                + "sql: `SELECT b FROM t`"
            expectError(RowDecodingError.self, message) { try String.fetchAll(db, sql: "SELECT b FROM t") }
            expectError(RowDecodingError.self, message) { try String.fetchSet(db, sql: "SELECT b FROM t") }
            let cursor = try String.fetchCursor(db, sql: "SELECT b FROM t")
            #expect(try cursor.next() == "x")
            expectError(RowDecodingError.self, message) { try cursor.next() }
            // A value that can't be had ends no cursor.
            #expect(try cursor.next() == "x")
            #expect(try cursor.next() == nil)
        }
    }

    @Test func fetchOneIsNilForNoRowAndForNULL() throws {
        try withConnection { db throws in
            let none = "SELECT 1 WHERE 0"
            let null = "SELECT NULL"
            #expect(try Int.fetchOne(db, sql: none) == nil)
            #expect(try Int.fetchOne(db, sql: null) == nil)
            #expect(try Int?.fetchOne(db, sql: none) == nil)
            #expect(try Int?.fetchOne(db, sql: null) == .some(nil))
            #expect(try DatabaseValue.fetchOne(db, sql: none) == nil)
            #expect(try DatabaseValue.fetchOne(db, sql: null) == .some(.null))
            #expect(try Row.fetchOne(db, sql: none) == nil)
            #expect(try Row.fetchOne(db, sql: null) == ["NULL": nil])
            #expect(try Int.fetchAll(db, sql: none) == [] && Row.fetchAll(db, sql: none) == [])
        }
    }

    @Test func fetchOneTakesOneStepAndLeavesTheStatementReady() throws {
        try withConnection { db throws in
            let endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
            #expect(try Int.fetchOne(db, sql: endless) == 1)
            #expect(try Int.fetchOne(db, sql: endless) == 1)
            try db.execute(sql: "CREATE TABLE t (a); DROP TABLE t")
        }
    }

    @Test func statementsWithoutColumnsRunAndFetchNothing() throws {
        try withConnection { db throws in
            #expect(try Row.fetchAll(db, sql: "CREATE TABLE t (a)") == [])
            #expect(try Int.fetchOne(db, sql: "INSERT INTO t VALUES (1)") == nil)
            let cursor = try Row.fetchCursor(db, sql: "INSERT INTO t VALUES (2)")
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
            #expect(try cursor.next() == nil)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2])
        }
    }

    @Test func valuesAreThoseOfTheLeftmostColumn() throws {
        try withTable { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT a, b FROM t") == [1, 2, 3])
            #expect(try String.fetchAll(db, sql: "SELECT b, a FROM t WHERE b NOT NULL") == ["x", "x"])
        }
    }

    @Test func customTypesAreFetchedByTheirConversion() throws {
        struct Length: DatabaseValueConvertible, Hashable {
            var meters: Double
            var databaseValue: DatabaseValue { "\(meters) m".databaseValue }
            static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Length? {
                guard let text = String.fromDatabaseValue(dbValue), text.hasSuffix(" m") else { return nil }
                return Double(text.dropLast(2)).map { Length(meters: $0) }
            }
        }
        try withConnection { db throws in
            #expect(try String.fetchOne(db, sql: "SELECT ?", arguments: [Length(meters: 1.5)]) == "1.5 m")
            #expect(try Length.fetchOne(db, sql: "SELECT '2.5 m'") == Length(meters: 2.5))
            #expect(try Length?.fetchAll(db, sql: "SELECT '1 m' UNION ALL SELECT NULL") == [Length(meters: 1), nil])
            expectError(
                RowDecodingError.self,
                #"could not decode Length from database value TEXT - column: "a", column index: 0, row: [a:TEXT], "#
                    + "sql: `SELECT 'x' AS a`"
            ) { try Length.fetchAll(db, sql: "SELECT 'x' AS a") }
        }
    }
}
