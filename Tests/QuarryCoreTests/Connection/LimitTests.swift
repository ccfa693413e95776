import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct LimitTests {
    @Test func setAndRead() throws {
        try withConnection { (db) throws in
            let before = db.limit(.sqlLength)
            #expect(try db.setLimit(.sqlLength, to: 100) == before)
            #expect(db.limit(.sqlLength) == 100)
            #expect(try db.setLimit(.sqlLength, to: before) == 100)
            #expect(db.maximumStatementArgumentCount == db.limit(.variableNumber))
        }
    }

    /// The number of each limit is SQLite's: lowering it refuses what it names.
    @Test(arguments: [
        (Database.Limit.length, 1000, "SELECT zeroblob(1001)", ResultCode.SQLITE_TOOBIG),
        (.sqlLength, 20, "SELECT 1 /* more than twenty bytes */", .SQLITE_TOOBIG),
        (.column, 2, "SELECT 1, 2, 3", .SQLITE_ERROR),
        (.expressionDepth, 3, "SELECT 1 + (2 + (3 + (4 + (5 + 6))))", .SQLITE_ERROR),
        (.compoundSelect, 2, "SELECT 1 UNION SELECT 2 UNION SELECT 3", .SQLITE_ERROR),
        (.virtualMachineInstructions, 5, "SELECT 1 + 2 * abs(random()), abs(random()), abs(random())", .SQLITE_NOMEM),
        (.functionArgument, 2, "SELECT coalesce(1, 2, 3)", .SQLITE_ERROR),
        (.attached, 0, "ATTACH ':memory:' AS other", .SQLITE_ERROR),
        (.likePatternLength, 2, "SELECT 'a' LIKE 'abc'", .SQLITE_ERROR),
        (.variableNumber, 2, "SELECT ?3", .SQLITE_ERROR),
    ])
    func loweredLimitsRefuseTheirSQL(_ limit: Database.Limit, _ value: Int, _ sql: String, _ code: ResultCode) throws {
        try withConnection { db in
            // Without the limit the same SQL runs.
            _ = try Row.fetchAll(db, sql: sql.replacing("?3", with: "3"))
            try db.setLimit(limit, to: value)
            expectError(code) { try db.makeStatement(sql: sql).execute() }
        }
    }

    @Test func triggerDepthIsLimited() throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    PRAGMA recursive_triggers = ON;
                    CREATE TABLE t (a);
                    CREATE TRIGGER r AFTER INSERT ON t WHEN new.a > 0 BEGIN INSERT INTO t VALUES (new.a - 1); END;
                    INSERT INTO t VALUES (5);
                    """)
            try db.setLimit(.triggerDepth, to: 3)
            let error = expectError(DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (5)") }
            #expect(["too many levels of trigger recursion", "triggers nested too deep"].contains(error?.message))
        }
    }

    @Test func staysBelowTheBuildsOwn() throws {
        try withConnection { (db) throws in
            let maximum = db.limit(.attached)
            try db.setLimit(.attached, to: maximum + 1)
            #expect(db.limit(.attached) == maximum)
            try db.setLimit(.workerThreads, to: 0)
            #expect(db.limit(.workerThreads) == 0)
        }
    }

    @Test(arguments: [-1, Int.max, Int.min]) func badLimitsAreRefused(_ value: Int) throws {
        try withConnection { db in
            expectError(.SQLITE_MISUSE, "a limit is a number from 0 to 2147483647, not \(value)") {
                try db.setLimit(.sqlLength, to: value)
            }
        }
    }

    @Test func outsideAnAccess() throws {
        let connection = try TestConnection()
        expectError(.SQLITE_MISUSE) { try connection.database.setLimit(.sqlLength, to: 1) }
        try connection.access { db in try db.close() }
        #expect(connection.database.limit(.sqlLength) == 0)
    }
}
