import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Requests")
struct FetchRequestTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'x')")
            try body(db)
        }
    }

    @Test func literalsAndSQLRequestsFetch() throws {
        try withTable { db throws in
            let literal: SQLRequest<Int> = "SELECT a FROM t WHERE a >= \(2)"
            #expect(try literal.fetchAll(db) == [2, 3])
            let plain: SQLRequest<Int> = "SELECT a FROM t"
            #expect(try plain.fetchAll(db) == [1, 2, 3])
            #expect(try SQLRequest<Int>(sql: "SELECT a FROM t WHERE a = :a", arguments: ["a": 2]).fetchAll(db) == [2])
            let cached = SQLRequest<Int>(literal: "PRAGMA user_version", cached: true)
            for _ in 0..<2 { #expect(try cached.fetchOne(db) == 0) }
            let prepared = try literal.makePreparedRequest(db)
            #expect(prepared.statement.sql == "SELECT a FROM t WHERE a >= ?")
            #expect(prepared.statement.arguments == [2] && prepared.adapter == nil)
        }
    }

    @Test func requestInItsOwnLoopHasItsOwnStatement() throws {
        try withTable { db throws in
            let request: SQLRequest<Int> = "SELECT a FROM t WHERE a > \(0)"
            let cursor = try request.fetchCursor(db)
            var sums: [Int] = []
            while let a = try cursor.next() { sums.append(a + (try request.fetchAll(db).reduce(0, +))) }
            #expect(sums == [7, 8, 9])
        }
    }

    @Test func fetchCountCountsRowsInSQL() throws {
        try withTable { db throws in
            let request: SQLRequest<Row> = "SELECT a, b FROM t WHERE a >= \(2)"
            let sql = try emitted(db) { () throws in #expect(try request.fetchCount(db) == 2) }
            #expect(sql.contains("SELECT COUNT(*) FROM (SELECT a, b FROM t WHERE a >= 2)"))
            #expect(try SQLRequest<Row>(sql: "SELECT a FROM t;").fetchCount(db) == 3)
            #expect(try SQLRequest<Row>(sql: "SELECT a FROM t LIMIT 1").fetchCount(db) == 1)
            #expect(try SQLRequest<Row>(sql: "SELECT a FROM t -- all of them").fetchCount(db) == 3)
            #expect(try SQLRequest<Row>(sql: "SELECT a FROM t WHERE 0").fetchCount(db) == 0)
            #expect(try SQLRequest<Row>(sql: "SELECT a FROM t WHERE a = :a", arguments: ["a": 1]).fetchCount(db) == 1)
        }
    }

    @Test func requestsAreErasedAndAdapted() throws {
        try withTable { db throws in
            let any = AnyFetchRequest(SQLRequest<Int>("SELECT a FROM t WHERE a >= \(2)"))
            #expect(try any.fetchAll(db) == [2, 3])
            #expect(try any.fetchCount(db) == 2)
            #expect(try any.asRequest(of: Row.self).fetchAll(db) == [["a": 2], ["a": 3]])
            #expect(try any.asRequest(of: String?.self).fetchCount(db) == 2)
            #expect(try any.makePreparedRequest(db).statement.sql == "SELECT a FROM t WHERE a >= ?")
        }
    }

    @Test func customRequestHasAllVerbs() throws {
        struct Greater: FetchRequest {
            typealias RowDecoder = Int
            var bound: Int
            func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest {
                let sql = "SELECT a FROM t WHERE a > ?" + (singleResult ? " LIMIT 1" : "")
                let statement = try db.cachedStatement(sql: sql)
                try statement.setArguments([bound])
                return PreparedRequest(statement: statement)
            }
        }
        try withTable { db throws in
            let request = Greater(bound: 1)
            #expect(try request.fetchAll(db) == [2, 3])
            #expect(try request.fetchSet(db) == [2, 3])
            #expect(try Array(request.fetchCursor(db)) == [2, 3])
            #expect(try request.fetchCount(db) == 2)
            let sql = try emitted(db) { () throws in #expect(try request.fetchOne(db) == 2) }
            #expect(sql == ["SELECT a FROM t WHERE a > 1 LIMIT 1"])
            #expect(try Row.fetchAll(db, request) == [["a": 2], ["a": 3]])
        }
    }

    @Test func errorOfAPreparingRequestReachesTheVerb() throws {
        struct Failure: Error {}
        struct Failing: FetchRequest {
            typealias RowDecoder = Row
            func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest {
                throw Failure()
            }
        }
        try withConnection { db throws in
            #expect(throws: Failure.self) { try Failing().fetchAll(db) }
            #expect(throws: Failure.self) { try Failing().fetchOne(db) }
            #expect(throws: Failure.self) { try Failing().fetchCursor(db) }
            #expect(throws: Failure.self) { try Failing().fetchCount(db) }
            #expect(throws: Failure.self) { try AnyFetchRequest(Failing()).fetchSet(db) }
        }
    }
}
