import QuarryCore
import QuarryTestSupport
import Testing

/// The regions of commits where something fails, or happens past the library.
@Suite struct FailedCommitTests {
    @Test(arguments: [true, false]) func statementsThatFail(withCommitHook: Bool) throws {
        try withObservedTables { (db) throws in
            try db.execute(
                sql:
                    "CREATE TABLE log (a); CREATE TRIGGER tr BEFORE INSERT ON team BEGIN INSERT INTO log VALUES (1); END"
            )
            func fails(
                _ sql: String, _ regions: String..., after: String = "",
                sourceLocation: SourceLocation = #_sourceLocation
            ) throws {
                let found = try db.changes(needsWillCommit: withCommitHook, sourceLocation: sourceLocation) {
                    #expect(throws: (any Error).self) { try db.execute(sql: sql) }
                    if !after.isEmpty { try db.execute(sql: after) }
                }
                #expect(found == regions, "\(sql)", sourceLocation: sourceLocation)
            }
            try fails("INSERT INTO team VALUES (7, 'x'), (8, 'red')")
            try fails("BEGIN; INSERT INTO team VALUES (7, 'x'), (8, 'red')", after: "COMMIT")
            try fails("INSERT OR FAIL INTO team VALUES (7, 'x'), (8, 'red')", "log(*),team(*)")
            try fails("BEGIN; INSERT OR FAIL INTO team VALUES (9, 'y'), (10, 'red')", "log(*),team(*)", after: "COMMIT")
            // The row of the trigger alone is kept.
            try fails("INSERT OR FAIL INTO team VALUES (8, 'red')", "log(*),team(*)")
            try fails("BEGIN; UPDATE player SET score = 1; INSERT OR ROLLBACK INTO team VALUES (8, 'red')")
            try fails(
                "BEGIN; UPDATE player SET score = 1; INSERT INTO team VALUES (8, 'red')", "player(score)",
                after: "COMMIT")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team") == 4)
        }
    }

    /// A listener without the commit hook is told of no failure, and of nothing that is taken back.
    @Test func commitsThatFailWithoutTheHook() throws {
        try withObservedTables { (db) throws in
            try db.execute(sql: "CREATE TABLE child (a REFERENCES team DEFERRABLE INITIALLY DEFERRED)")
            let listener = RecordingListener(needsWillCommit: false)
            try db.listenToCommits(listener)
            try db.execute(sql: "BEGIN; INSERT INTO child VALUES (77)")
            #expect(throws: DatabaseError.self) { try db.commit() }
            try db.rollback()
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO child VALUES (78)") }
            let veto = db.hooks.onCommit { false }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM player") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "BEGIN; DELETE FROM player; COMMIT") }
            db.hooks.remove(veto)
            #expect(listener.takeChanges().isEmpty)
            try db.execute(sql: "DELETE FROM player")
            #expect(listener.takeChanges().map(\.description) == ["player(*)"])
            #expect(listener.failedCommits == 0)
            #expect(listener.problems == [])
            try db.listenToCommits(nil)
        }
    }

    @Test func commitsThatFail() throws {
        try withObservedTables { (db) throws in
            try db.execute(sql: "CREATE TABLE child (a REFERENCES team DEFERRABLE INITIALLY DEFERRED)")
            let listener = RecordingListener()
            try db.listenToCommits(listener)
            try db.execute(sql: "BEGIN; INSERT INTO child VALUES (77)")
            #expect(throws: DatabaseError.self) { try db.commit() }
            #expect(listener.takeChanges().isEmpty)
            try db.execute(sql: "INSERT INTO team VALUES (77, 'z')")
            try db.commit()
            #expect(listener.takeChanges().map(\.description) == ["child(*),team(*)"])
            // Outside a transaction.
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO child VALUES (78)") }
            let veto = db.hooks.onCommit { false }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM player") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "BEGIN; DELETE FROM player; COMMIT") }
            db.hooks.remove(veto)
            #expect(listener.takeChanges().isEmpty)
            #expect(listener.failedCommits == 2)
            #expect(listener.problems == [])
            try db.listenToCommits(nil)
        }
    }

    @Test func busyCommitsAreTriedAgain() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/db.sqlite"
            let writer = try TestConnection(path: path, ManualMonotonicClock(tick: .milliseconds(1)))
            let reader = try TestConnection(path: path)
            try writer.access { db in
                try db.execute(sql: "CREATE TABLE t (a)")
                let listener = RecordingListener()
                try db.listenToCommits(listener)
                try db.execute(sql: "BEGIN; INSERT INTO t VALUES (1)")
                try reader.access { other in
                    try other.execute(sql: "BEGIN; SELECT * FROM t")
                    let error = #expect(throws: DatabaseError.self) { try db.commit() }
                    #expect(error?.resultCode == .SQLITE_BUSY)
                    try other.rollback()
                }
                try db.commit()
                #expect(listener.takeChanges().map(\.description) == ["t(*)"])
                #expect(listener.problems == [])
                try db.listenToCommits(nil)
            }
        }
    }

    @Test func transactionsThatSQLEnds() throws {
        try withObservedTables { (db) throws in
            #expect(
                try db.changes {
                    #expect(throws: DatabaseError.self) {
                        try db.inTransaction {
                            try db.execute(sql: "UPDATE player SET score = 1; COMMIT")
                            return .commit
                        }
                    }
                } == ["player(score)"])
            #expect(
                try db.changes {
                    #expect(throws: DatabaseError.self) {
                        try db.inTransaction {
                            try db.execute(sql: "UPDATE player SET score = 1; ROLLBACK")
                            return .commit
                        }
                    }
                    try db.execute(sql: "DELETE FROM team WHERE id = 1")
                } == ["team(*)"])
            #expect(
                try db.changes {
                    try db.inTransaction {
                        try db.inSavepoint {
                            try db.execute(
                                sql:
                                    "UPDATE player SET score = 1; SAVEPOINT quarry; DELETE FROM team; ROLLBACK TO quarry; RELEASE quarry"
                            )
                            return .commit
                        }
                        return .commit
                    }
                } == ["player(score)"])
        }
    }

    /// Through SQLite's C functions, which no statement of the connection accounts for.
    @Test(arguments: [true, false]) func writesThatNobodyAccountsFor(inTransaction: Bool) throws {
        try withTemporaryFolder { folder in
            let connection = try TestConnection(path: folder + "/db.sqlite")
            let listener = RecordingListener()
            try connection.access { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
                try db.listenToCommits(listener)
                if inTransaction { try db.beginTransaction() }
                RawSQL.execute("INSERT INTO t VALUES (1)", db)
                if inTransaction { try db.commit() }
            }
            #expect(listener.takeChanges() == [.fullDatabase])
            #expect(listener.problems == [])
            // These write to the log, too.
            try connection.access { db in
                try db.execute(sql: "PRAGMA user_version = 7; CREATE INDEX i ON t (a)")
                try db.execute(sql: "BEGIN; SAVEPOINT a; INSERT INTO t VALUES (2); ROLLBACK TO a; COMMIT")
            }
            #expect(listener.takeChanges().allSatisfy { $0.description == "sqlite_master(*)" })
        }
    }
}
