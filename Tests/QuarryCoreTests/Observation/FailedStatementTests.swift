import QuarryCore
import QuarryTestSupport
import Testing

/// Statements that fail outside a transaction: each is a transaction of its own, which is rolled back.
@Suite struct FailedStatementTests {
    /// The tables beside that of the players.
    private static let otherTables = """
        CREATE TABLE log (a CHECK (a < 9));
        CREATE TABLE child (a REFERENCES player DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE guarded (a);
        CREATE TRIGGER guard AFTER INSERT ON guarded WHEN new.a > 1 BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
        CREATE TRIGGER fill AFTER INSERT ON guarded WHEN new.a = 0 BEGIN SELECT RAISE(ABORT, 'no'); END;
        """

    /// Each of them changes a row before it fails.
    private static let failures = [
        "INSERT INTO player VALUES (5, 'x', 1), (6, 'a', 1)",
        "INSERT OR ABORT INTO player VALUES (5, 'x', 1), (6, 'a', 1)",
        "INSERT OR ROLLBACK INTO player VALUES (5, 'x', 1), (6, 'a', 1)",
        "UPDATE player SET name = 'c'",
        "UPDATE OR ROLLBACK player SET name = 'c'",
        "INSERT INTO guarded VALUES (1), (2)",
        "INSERT INTO guarded VALUES (1), (0)",
        "INSERT INTO log SELECT value FROM json_each('[1,2,9]')",
        "INSERT INTO child VALUES (77)",
        "INSERT INTO player SELECT value, value, abs(value) FROM json_each('[7, -9223372036854775808]')",
        "INSERT INTO player VALUES (5, 'x', 1), (6, 'a', 1) RETURNING id",
    ]

    private static func makeTables(_ db: Database) throws {
        try db.makeUniquePlayers(["a": 1, "b": 2])
        try db.execute(sql: otherTables)
    }

    private func withTables(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try Self.makeTables(db)
            try body(db)
        }
    }

    @Test(arguments: Self.failures) func observersAreToldOfTheRollback(_ sql: String) throws {
        try withTables { db throws in
            let observer = RecordingObserver()
            let log = Recorded<[String]>([])
            observer.willChange = { _ in log.update { $0.append("will change") } }
            observer.didRollback = { db in
                #expect(!db.isInsideTransaction)
                log.update { $0.append("did roll back") }
            }
            db.add(transactionObserver: observer)
            let once = RecordingObserver()
            db.add(transactionObserver: once, extent: .nextTransaction)
            #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(log.value.first == "will change")
            #expect(log.value.filter { $0 == "did roll back" }.count == 1 && log.value.last == "did roll back")
            #expect(observer.takeLog() == ["did roll back"])
            #expect(once.takeLog() == ["did roll back"])
            // The next transaction begins anew.
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            #expect(observer.takeLog() == ["insert main.log 1", "will commit", "did commit"])
            #expect(once.takeLog() == [])
            db.remove(transactionObserver: observer)
        }
    }

    /// With an observer, with a listener that needs no commit hook, with one that needs it, and with neither.
    @Test(arguments: Self.failures) func handlersAreToldOfTheRollback(_ sql: String) throws {
        for kind in 0..<4 {
            try withTables { db throws in
                let observer = RecordingObserver()
                let listener = RecordingListener(needsWillCommit: kind == 2)
                if kind == 1 || kind == 2 { try db.listenToCommits(listener) }
                if kind == 3 { db.add(transactionObserver: observer) }
                let log = Recorded<[String]>([])
                for number in 1...2 {
                    db.afterNextTransaction { _ in
                        log.update { $0.append("\(number) committed") }
                    } onRollback: { _ in
                        log.update { $0.append("\(number) rolled back") }
                    }
                }
                #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
                #expect(log.value == ["1 rolled back", "2 rolled back"])
                db.afterNextTransaction { _ in log.update { $0.append("3 committed") } }
                try db.execute(sql: "INSERT INTO log VALUES (1)")
                #expect(log.value.last == "3 committed")
                #expect(log.value.count == 3)
                #expect(listener.takeChanges().map(\.description) == (kind == 1 || kind == 2 ? ["log(*)"] : []))
                #expect(listener.problems == [])
                try db.listenToCommits(nil)
            }
        }
    }

    /// No observer is told of a statement that has begun no transaction: a read, or a statement that is not valid.
    @Test func otherFailuresEndNoTransaction() throws {
        try withTables { db throws in
            let observer = RecordingObserver()
            db.add(transactionObserver: observer)
            let ends = Recorded(0)
            db.afterNextTransaction { _ in
                ends.update { $0 += 1 }
            } onRollback: { _ in
                ends.update { $0 += 1 }
            }
            expectError(.SQLITE_ERROR) { try db.execute(sql: "SELECT abs(-9223372036854775807 - 1) FROM player") }
            expectError(.SQLITE_ERROR) { try db.execute(sql: "INSERT INTO nope VALUES (1)") }
            // These write nothing: the lock is taken, and given back.
            try db.withWriteLock {}
            expectError(.SQLITE_ERROR) { try db.execute(sql: "SELECT abs(-9223372036854775807 - 1) FROM player") }
            #expect(observer.takeLog() == [])
            #expect(ends.value == 0)
            db.remove(transactionObserver: observer)
            expectError(.SQLITE_ERROR) { try db.execute(sql: "SELECT abs(-9223372036854775807 - 1) FROM player") }
            try db.withWriteLock {}
            expectError(.SQLITE_ERROR) { try db.execute(sql: "SELECT abs(-9223372036854775807 - 1) FROM player") }
            #expect(ends.value == 0)
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            #expect(ends.value == 1)
        }
    }

    @Test func aStatementThatFindsTheDatabaseLockedHasNotBegun() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/db.sqlite"
            let clock = ManualMonotonicClock(tick: .milliseconds(1))
            let (first, second) = (try TestConnection(path: path, clock), try TestConnection(path: path))
            try first.access { db in
                try Self.makeTables(db)
                let ends = Recorded(0)
                db.afterNextTransaction { _ in
                    ends.update { $0 += 1 }
                } onRollback: { _ in
                    ends.update { $0 += 1 }
                }
                try second.access { other in
                    try other.execute(sql: "BEGIN IMMEDIATE")
                    expectError(.SQLITE_BUSY) { try db.execute(sql: "INSERT INTO log VALUES (1)") }
                    try other.execute(sql: "ROLLBACK")
                }
                #expect(ends.value == 0)
                try db.execute(sql: "INSERT INTO log VALUES (1)")
                #expect(ends.value == 1)
            }
        }
    }

    /// SQLite commits when the last statement that writes has ended.
    @Test func aFailureBesideAnotherChangeIsNoEnd() throws {
        try withTables { db throws in
            let observer = RecordingObserver()
            db.add(transactionObserver: observer)
            let cursor = try Int.fetchCursor(db, sql: "INSERT INTO log VALUES (1), (2) RETURNING a")
            _ = try cursor.next()
            expectError(.SQLITE_CONSTRAINT) {
                try db.execute(sql: "INSERT INTO player VALUES (5, 'x', 1), (6, 'a', 1)")
            }
            expectError(.SQLITE_ERROR) { try db.execute(sql: "SELECT abs(-9223372036854775807 - 1) FROM player") }
            #expect(observer.takeLog() == [])
            while try cursor.next() != nil {}
            #expect(observer.takeLog() == ["insert main.log 1", "insert main.log 2", "will commit", "did commit"])
            db.remove(transactionObserver: observer)
        }
    }

    @Test func interruptedAndFullDatabases() throws {
        try withTables { connection throws in
            // Used on this thread alone, during the access.
            nonisolated(unsafe) unowned let db = connection
            db.add(
                function: DatabaseFunction("interrupted", argumentCount: 1) { values in
                    if values[0] == 2.databaseValue { db.interrupt() }
                    return values[0]
                })
            let observer = RecordingObserver()
            db.add(transactionObserver: observer)
            expectError(.SQLITE_INTERRUPT) {
                try db.execute(
                    sql: """
                        WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000)
                        INSERT INTO player SELECT x + 10, x, interrupted(x) FROM n
                        """)
            }
            #expect(observer.takeLog() == ["did roll back"])
            try db.execute(sql: "PRAGMA max_page_count = 10")
            expectError(.SQLITE_FULL) {
                try db.execute(
                    sql: "INSERT INTO player SELECT 50, zeroblob(10), 1 UNION ALL SELECT 51, zeroblob(90000), 1")
            }
            #expect(observer.takeLog() == ["did roll back"])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 2)
            db.remove(transactionObserver: observer)
        }
    }
}
