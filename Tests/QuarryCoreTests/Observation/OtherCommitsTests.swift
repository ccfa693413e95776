import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The commits of other connections, as a connection notices them.
@Suite struct OtherCommitsTests {
    private let folder = try! TemporaryFolder()

    /// Two connections to a file with a table: one that listens, and another.
    private func connections(_ mode: String, needsWillCommit: Bool = false) throws -> Pair {
        let path = folder.file("\(mode).db")
        let own = try TestConnection(path: path)
        try own.access { db in try db.execute(sql: "PRAGMA journal_mode = \(mode); CREATE TABLE t (a)") }
        let pair = Pair(
            own: own, other: try TestConnection(path: path),
            listener: RecordingListener(needsWillCommit: needsWillCommit))
        try own.access { db in try db.listenToCommits(pair.listener, seesOthers: true) }
        return pair
    }

    private struct Pair {
        let own: TestConnection
        let other: TestConnection
        let listener: RecordingListener

        func write(_ connection: TestConnection, _ sql: String = "INSERT INTO t VALUES (1)") throws {
            try connection.access { db in try db.execute(sql: sql) }
        }

        func look() throws -> Bool? { try own.access { db in db.noteOtherCommits() } }
    }

    @Test(arguments: ["wal", "delete", "persist", "truncate"], [false, true])
    func ownCommitsAreNoOthers(_ mode: String, _ needsWillCommit: Bool) throws {
        let pair = try connections(mode, needsWillCommit: needsWillCommit)
        for sql in [
            "INSERT INTO t VALUES (1)", "BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT", "BEGIN IMMEDIATE; COMMIT",
            "BEGIN; INSERT INTO t VALUES (3); COMMIT", "BEGIN; SELECT * FROM t; COMMIT",
            "BEGIN EXCLUSIVE; INSERT INTO t VALUES (4); ROLLBACK", "UPDATE t SET a = 1 WHERE a = 99",
            "SAVEPOINT s; INSERT INTO t VALUES (5); ROLLBACK TO s; RELEASE s",
            "SAVEPOINT s; INSERT INTO t VALUES (5); RELEASE s", "CREATE TABLE u (a)", "PRAGMA user_version = 3",
            "VACUUM",
            "CREATE TEMP TABLE x (a); INSERT INTO x VALUES (1)", "PRAGMA wal_checkpoint(TRUNCATE)",
            "INSERT INTO t VALUES (6); DROP TABLE u",
        ] {
            try pair.write(pair.own, sql)
            #expect(pair.listener.otherCommits == 0, "\(sql)")
        }
        #expect(try pair.look() == false)
        #expect(pair.listener.problems.isEmpty)
    }

    @Test(arguments: ["wal", "delete"]) func aLookNoticesThem(_ mode: String) throws {
        let pair = try connections(mode)
        #expect(try pair.look() == false)
        try pair.write(pair.other)
        #expect(try pair.look() == true)
        #expect(try pair.look() == false)
        // Several commits between two looks are one.
        try pair.write(pair.other)
        try pair.write(pair.other)
        #expect(try pair.look() == true)
        // Nothing was changed.
        try pair.write(pair.other, "BEGIN IMMEDIATE; INSERT INTO t VALUES (2); ROLLBACK")
        try pair.write(pair.other, "BEGIN IMMEDIATE; COMMIT")
        #expect(try pair.look() == false)
        #expect(pair.listener.otherCommits == 2)
    }

    /// Also without a look before.
    @Test(arguments: ["wal", "delete"]) func aCommitBeforeTheFirstLookIsNoticed(_ mode: String) throws {
        let pair = try connections(mode)
        try pair.write(pair.other)
        #expect(try pair.look() == true)
    }

    @Test(
        arguments: ["wal", "delete"],
        [
            "BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT", "BEGIN; INSERT INTO t VALUES (3); COMMIT",
            "INSERT INTO t VALUES (4)", "SAVEPOINT s; INSERT INTO t VALUES (5); RELEASE s", "CREATE TABLE u (a)",
            "BEGIN EXCLUSIVE; DELETE FROM t; COMMIT",
        ])
    func aWriteNoticesThemFirst(_ mode: String, _ sql: String) throws {
        let pair = try connections(mode)
        for count in 1...3 {
            try pair.write(pair.other)
            try pair.write(pair.own, sql.replacing("TABLE u", with: "TABLE u\(count)"))
            #expect(pair.listener.otherCommits == count)
        }
        #expect(pair.listener.otherCommitsBefore == [1, 2, 3])
        #expect(try pair.look() == false)
    }

    /// A transaction that is rolled back has noticed them at its beginning.
    @Test(arguments: ["wal", "delete"]) func aRollbackKeepsWhatWasNoticed(_ mode: String) throws {
        let pair = try connections(mode)
        try pair.write(pair.other)
        try pair.write(pair.own, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1); ROLLBACK")
        #expect(pair.listener.otherCommits == 1)
        try pair.write(pair.own)
        #expect(try pair.look() == false)
        #expect(pair.listener.otherCommits == 1)
    }

    /// Reads of the connection see others' commits before they are noticed.
    @Test(arguments: ["wal", "delete"]) func aReadHidesNothing(_ mode: String) throws {
        let pair = try connections(mode)
        #expect(try pair.look() == false)
        try pair.write(pair.other)
        try pair.write(pair.own, "SELECT * FROM t")
        #expect(try pair.look() == true)
        try pair.write(pair.other)
        // The end of a transaction notices them, too.
        try pair.write(pair.own, "BEGIN; SELECT * FROM t; COMMIT")
        #expect(try pair.look() == false)
        #expect(pair.listener.otherCommits == 2)
    }

    @Test(arguments: ["wal", "delete"]) func cFunctionsHideNothing(_ mode: String) throws {
        let pair = try connections(mode)
        #expect(try pair.look() == false)
        try pair.own.access { db in
            try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
            RawSQL.execute("COMMIT", db)
            try pair.write(pair.other)
            RawSQL.execute("INSERT INTO t VALUES (2)", db)
        }
        try pair.write(pair.own)
        #expect(try pair.look() == false)
        #expect(pair.listener.otherCommits == 1)
    }

    /// Transactions that SQLite's C functions end don't hide the commits that follow.
    @Test(arguments: ["wal", "delete"], [false, true])
    func transactionsEndBehindTheLibrary(_ mode: String, _ needsWillCommit: Bool) throws {
        let pair = try connections(mode, needsWillCommit: needsWillCommit)
        for round in 1...3 {
            #expect(throws: DatabaseError.self) {
                try pair.own.access { db in
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO t VALUES (1)")
                        RawSQL.execute("ROLLBACK", db)
                        try db.execute(sql: "INSERT INTO t VALUES (2)")
                        return .commit
                    }
                }
            }
            #expect(pair.listener.takeChanges().isEmpty)
            try pair.write(pair.other)
            try pair.own.access { db in
                RawSQL.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (3); COMMIT", db)
                try db.execute(sql: "INSERT INTO t VALUES (4)")
            }
            #expect(pair.listener.takeChanges().last?.description == "t(*)", "\(round)")
            try pair.own.access { db in
                try db.beginTransaction()
                try db.execute(sql: "SAVEPOINT s; INSERT INTO t VALUES (5)")
                RawSQL.execute("ROLLBACK", db)
                try db.execute(sql: "INSERT INTO t VALUES (6)")
            }
            #expect(pair.listener.takeChanges().last?.description == "t(*)", "\(round)")
            #expect(pair.listener.otherCommits == round)
        }
        #expect(pair.listener.problems.isEmpty)
    }

    @Test func whatChangesNoRowMayCount() throws {
        let pair = try connections("wal")
        #expect(try pair.look() == false)
        try pair.write(pair.other, "PRAGMA wal_checkpoint(PASSIVE)")
        #expect(try pair.look() == false)
        // SQLite begins the log anew, and doesn't say whether something was written.
        try pair.write(pair.own)
        try pair.write(pair.other, "PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try pair.look() == true)
        try pair.write(pair.other, "VACUUM")
        #expect(try pair.look() == true)
    }

    /// A lock isn't waited for.
    @Test func aLockedFileCannotBeLookedAt() throws {
        let pair = try connections("delete")
        #expect(try pair.look() == false)
        try pair.other.access { db in
            try db.inTransaction(.exclusive) {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                #expect(try pair.look() == nil)
                return .commit
            }
        }
        #expect(try pair.look() == true)
    }

    @Test func memoryHasNoOthers() throws {
        let own = try TestConnection()
        try own.access { db in
            try db.listenToCommits(RecordingListener(), seesOthers: true)
            #expect(db.otherCommits == nil && db.noteOtherCommits() == nil && db.mainFilePath == nil)
        }
    }

    @Test func theyAreNotAskedFor() throws {
        let pair = try connections("wal")
        try pair.own.access { db in try db.listenToCommits(pair.listener) }
        try pair.write(pair.other)
        try pair.write(pair.own)
        #expect(try pair.look() == nil)
        #expect(pair.listener.otherCommits == 0)
    }

    // MARK: - The value

    @Test func valueOfSeenCommits() {
        var seen = SeenCommits(control: 5)
        #expect(seen.isUncertain(control: 5))
        #expect(seen.note(version: 2, control: 5) == false)
        #expect(!seen.isUncertain(control: 5) && seen.isUncertain(control: 6))
        seen.ownCommitDidGrowLog()
        #expect(!seen.isUncertain(control: 6))
        // The control has changed, but not through others.
        #expect(seen.note(version: 2, control: 9) == false)
        #expect(seen.note(version: 3, control: 10) == true)
        seen.ownTransactionDidEnd(control: 11)
        #expect(!seen.isUncertain(control: 11))
        seen.ownTransactionDidEnd(control: nil)
        #expect(seen.isUncertain(control: nil) && seen.isUncertain(control: 11))
        var new = SeenCommits(control: 5)
        #expect(new.note(version: 2, control: 6) == true)
    }
}
