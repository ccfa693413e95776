import QuarryCore
import QuarryTestSupport
import Synchronization
import Testing

/// Counts its own values, and throws where its argument says so.
private struct Probe: DatabaseAggregate {
    final class Life: Sendable {
        static let count = Atomic<Int>(0)
        init() { Self.count.add(1, ordering: .relaxed) }
        deinit { Self.count.subtract(1, ordering: .relaxed) }
    }

    static var alive: Int { Life.count.load(ordering: .relaxed) }

    private let life = Life()
    private var texts: [String] = []

    mutating func step(_ dbValues: [DatabaseValue]) throws {
        let text = String.fromDatabaseValue(dbValues[0]) ?? "NULL"
        if text == "step" { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "step failed") }
        texts.append(text)
    }

    func finalize() throws -> (any DatabaseValueConvertible)? {
        if texts.contains("finalize") { throw PlainError(description: "finalize failed") }
        return texts.joined(separator: ",")
    }
}

private struct Sum: DatabaseWindowAggregate {
    private var sum = 0
    private var count = 0

    mutating func step(_ dbValues: [DatabaseValue]) throws {
        sum += Int.fromDatabaseValue(dbValues[0]) ?? 0
        count += 1
    }

    mutating func inverse(_ dbValues: [DatabaseValue]) throws {
        if dbValues[0] == 13.databaseValue { throw PlainError(description: "13 doesn't go back") }
        sum -= Int.fromDatabaseValue(dbValues[0]) ?? 0
        count -= 1
    }

    func value() throws -> (any DatabaseValueConvertible)? {
        if sum == -666 { throw DatabaseError(resultCode: .SQLITE_ABORT_ROLLBACK, message: "no value") }
        return count == 0 ? nil : sum
    }
}

private struct Arguments: DatabaseAggregate {
    private var counts: [Int] = []
    mutating func step(_ dbValues: [DatabaseValue]) { counts.append(dbValues.count) }
    func finalize() -> (any DatabaseValueConvertible)? { counts.map(String.init).joined(separator: " ") }
}

// Serialized: `Probe` counts what is alive in the process.
@Suite(.serialized) struct AggregateTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("probe", argumentCount: 1, aggregate: Probe.self))
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, g TEXT, a TEXT);
                    INSERT INTO t (g, a) VALUES ('x', 'a'), ('y', 'b'), ('x', 'c'), ('y', NULL);
                    """)
            try body(db)
        }
        #expect(Probe.alive == 0)
    }

    @Test func aggregatesGroups() throws {
        try withTable { (db) throws in
            #expect(try String.fetchOne(db, sql: "SELECT probe(a) FROM t") == "a,b,c,NULL")
            #expect(try String.fetchAll(db, sql: "SELECT probe(a) FROM t GROUP BY g ORDER BY g") == ["a,c", "b,NULL"])
            #expect(Probe.alive == 0)
        }
    }

    @Test func noRowGivesTheResultOfANewAggregate() throws {
        try withTable { (db) throws in
            #expect(try String.fetchAll(db, sql: "SELECT probe(a) FROM t WHERE 0") == [""])
            #expect(Probe.alive == 0)
        }
    }

    @Test func variadicAggregate() throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("counts", aggregate: Arguments.self))
            let row = try Row.fetchOne(db, sql: "SELECT counts() AS a, counts(1, 2, 3) AS b FROM (VALUES (1), (2))")
            #expect(row == ["a": "0 0", "b": "3 3"])
        }
    }

    @Test func stepErrorEndsTheQueryAndFreesTheState() throws {
        try withTable { (db) throws in
            try db.execute(sql: "INSERT INTO t (g, a) VALUES ('x', 'step')")
            expectError(.SQLITE_CONSTRAINT_CHECK, "step failed") {
                try Row.fetchAll(db, sql: "SELECT probe(a) FROM t GROUP BY g")
            }
            #expect(Probe.alive == 0)
        }
    }

    @Test func finalizeErrorEndsTheQueryAndFreesTheState() throws {
        try withTable { (db) throws in
            try db.execute(sql: "INSERT INTO t (g, a) VALUES ('x', 'finalize')")
            expectError(.SQLITE_ERROR, "finalize failed") { try Row.fetchAll(db, sql: "SELECT probe(a) FROM t") }
            #expect(Probe.alive == 0)
        }
    }

    /// The query stops in the middle of a group: another function throws.
    @Test func abandonedGroupFreesTheState() throws {
        try withTable { (db) throws in
            db.add(
                function: DatabaseFunction("stop", argumentCount: 1) { values in
                    if values[0] == 3.databaseValue {
                        #expect(Probe.alive > 0)
                        throw PlainError(description: "stop")
                    }
                    return values[0]
                })
            expectError(.SQLITE_ERROR, "stop") { try Row.fetchAll(db, sql: "SELECT probe(a), max(stop(id)) FROM t") }
            #expect(Probe.alive == 0)
        }
    }

    @Test func abandonedCursorFreesTheState() throws {
        try withTable { (db) throws in
            do {
                let cursor = try String.fetchCursor(db, sql: "SELECT probe(a) FROM t GROUP BY g")
                #expect(try cursor.next() == "a,c")
            }
            #expect(Probe.alive == 0)
        }
    }

    @Test func plainAggregateIsNoWindowFunction() throws {
        try withTable { (db) throws in
            expectError(.SQLITE_ERROR, "probe() may not be used as a window function") {
                try db.execute(sql: "SELECT probe(a) OVER () FROM t")
            }
        }
    }

    // MARK: - Windows

    @Test func windowsAgreeWithSQLite() throws {
        var generator = SeededGenerator()
        print("windowsAgreeWithSQLite: seed \(generator.seed)")
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("mySum", argumentCount: 1, aggregate: Sum.self))
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, g INTEGER, a INTEGER)")
            for _ in 0..<200 {
                let values: StatementArguments = [
                    Int.random(in: 0..<5, using: &generator), Int.random(in: 100..<200, using: &generator),
                ]
                try db.execute(sql: "INSERT INTO t (g, a) VALUES (?, ?)", arguments: values)
            }
            let frames = [
                "", "ORDER BY id", "PARTITION BY g", "PARTITION BY g ORDER BY id",
                "ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
                "PARTITION BY g ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
                "ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
                "ORDER BY a RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING",
                "ORDER BY a GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES",
            ]
            for frame in frames {
                let sql = "SELECT mySum(a) OVER (\(frame)) AS s FROM t ORDER BY id"
                let expected = try Int?.fetchAll(db, sql: sql.replacing("mySum", with: "sum"))
                #expect(try Int?.fetchAll(db, sql: sql) == expected, "\(frame)")
            }
            #expect(
                try Int?.fetchAll(db, sql: "SELECT mySum(a) FROM t GROUP BY g")
                    == Int?.fetchAll(db, sql: "SELECT sum(a) FROM t GROUP BY g"))
            #expect(try Int?.fetchAll(db, sql: "SELECT mySum(a) FROM t WHERE 0") == [nil])
        }
    }

    @Test(arguments: [
        (13, "13 doesn't go back", ResultCode.SQLITE_ERROR), (-666, "no value", .SQLITE_ABORT_ROLLBACK),
    ])
    func windowErrors(_ value: Int, _ message: String, _ code: ResultCode) throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("mySum", argumentCount: 1, aggregate: Sum.self))
            let sql = """
                SELECT mySum(column1) OVER (ROWS BETWEEN CURRENT ROW AND CURRENT ROW) FROM (VALUES (1), (?), (2))
                """
            expectError(code, message) { try Row.fetchAll(db, sql: sql, arguments: [value]) }
        }
    }
}
