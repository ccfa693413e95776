import QuarryTestSupport
import Testing

@testable import QuarryChangesets
@testable import QuarryCore

/// Applying changesets.
@Suite struct AppliedChangesetTests {
    private struct Stop: Error {}

    @Test func changesAreApplied() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded(
                "INSERT INTO player VALUES (3, 'c', 30); UPDATE player SET name = 'A' WHERE id = 1; DELETE FROM player WHERE id = 2"
            )
            let applied = try second.apply(changeset)
            #expect(applied.conflictCount == 0 && applied.rebaseInformation.isEmpty)
            let expected = try first.rows()
            #expect(try second.rows() == expected)
            #expect(!second.isInsideTransaction)
        }
    }

    @Test func tablesAreChosen() throws {
        try withPlayers("CREATE TABLE team (id INTEGER PRIMARY KEY)") { (first, second) throws in
            let changeset = try first.recorded("DELETE FROM player; INSERT INTO team VALUES (1)")
            try second.apply(changeset, toTables: ["TEAM"])
            #expect(try second.rows("team") == "1")
            #expect(try second.rows() == "1|a|10,2|b|20")
        }
    }

    // MARK: - Conflicts

    /// The conflict that applying a changeset meets after some SQL, and the rows after each resolution.
    @Test(
        arguments: [
            (
                "UPDATE player SET score = 11 WHERE id = 1", "UPDATE player SET score = 12 WHERE id = 1",
                "data: update player(1, _, 10) to (_, _, 11)", "1|a|12,2|b|20", "1|a|11,2|b|20"
            ),
            (
                "DELETE FROM player WHERE id = 1", "UPDATE player SET score = 12 WHERE id = 1",
                "data: delete player(1, \"a\", 10)", "1|a|12,2|b|20", "2|b|20"
            ),
            (
                "UPDATE player SET score = 11 WHERE id = 1", "DELETE FROM player WHERE id = 1",
                "notFound: update player(1, _, 10) to (_, _, 11)", "2|b|20", nil
            ),
            (
                "INSERT INTO player VALUES (3, 'c', 1)", "INSERT INTO player VALUES (3, 'd', 2)",
                "conflict: insert player(3, \"c\", 1)", "1|a|10,2|b|20,3|d|2", "1|a|10,2|b|20,3|c|1"
            ),
            (
                "INSERT INTO player VALUES (3, 'c', 1)", "INSERT INTO player VALUES (4, 'c', 2)",
                "constraint: insert player(3, \"c\", 1)", "1|a|10,2|b|20,4|c|2", nil
            ),
        ] as [(String, String, String, String, String?)])
    func conflictsAreResolved(
        _ change: String, _ obstacle: String, _ conflict: String, _ omitted: String, _ replaced: String?
    ) throws {
        for resolution in [Changeset.Conflict.Resolution.omit, .replace, .abort] {
            try withPlayers { (first, second) throws in
                let changeset = try first.recorded(change)
                try second.execute(sql: obstacle)
                let before = try second.rows()
                var conflicts: [String] = []
                let apply = {
                    try second.apply(changeset) { conflict in
                        conflicts.append(conflict.description)
                        return resolution
                    }
                }
                switch resolution {
                case .omit:
                    #expect(try apply().conflictCount == 1)
                    #expect(try second.rows() == omitted)
                case .replace:
                    if let replaced {
                        #expect(try apply().conflictCount == 1)
                        #expect(try second.rows() == replaced)
                    } else {
                        let kind = conflict.prefix { $0 != ":" }
                        expectError(
                            .SQLITE_MISUSE,
                            "a conflict of kind \(kind) can't be resolved by replacing: \(conflict)", apply)
                        #expect(try second.rows() == before)
                    }
                case .abort:
                    expectError(.SQLITE_ABORT, "could not apply a changeset: conflict of kind \(conflict)", apply)
                    #expect(try second.rows() == before)
                }
                #expect(conflicts == [conflict])
                #expect(!second.isInsideTransaction)
            }
        }
    }

    @Test func aConflictHasTheExistingRow() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("UPDATE player SET score = 11 WHERE id = 1")
            try second.execute(sql: "UPDATE player SET score = NULL WHERE id = 1")
            var row: [DatabaseValue]?
            try second.apply(changeset) { conflict in
                row = conflict.existingRow
                #expect(conflict.change == changeset.first { _ in true })
                return .omit
            }
            #expect(row == [1.databaseValue, "a".databaseValue, .null])
        }
    }

    @Test func conflictsThrowWithoutAClosure() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO player VALUES (5, 'e', 1); DELETE FROM player WHERE id = 1")
            try second.execute(sql: "DELETE FROM player WHERE id = 1")
            expectError(.SQLITE_ABORT) { try second.apply(changeset) }
            #expect(try second.rows() == "2|b|20")
        }
    }

    @Test(arguments: [false, true]) func theErrorOfTheClosureIsThrown(_ isInside: Bool) throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO player VALUES (5, 'e', 1); DELETE FROM player WHERE id = 1")
            if isInside { try second.beginTransaction() }
            try second.execute(sql: "DELETE FROM player WHERE id = 1")
            var calls = 0
            #expect(throws: Stop.self) {
                try second.apply(changeset) { _ in
                    calls += 1
                    throw Stop()
                }
            }
            #expect(calls == 1)
            #expect(try second.rows() == "2|b|20")
            #expect(second.isInsideTransaction == isInside)
            try second.rollback()
        }
    }

    @Test func theClosureCannotUseTheConnection() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("DELETE FROM player WHERE id = 1")
            try second.execute(sql: "DELETE FROM player WHERE id = 1")
            let message = "A closure that resolves the conflicts of a changeset can't use the connection."
            expectError(.SQLITE_MISUSE, message) {
                try second.apply(changeset) { _ in
                    try second.execute(sql: "DELETE FROM player")
                    return .omit
                }
            }
            try second.apply(changeset) { _ in
                expectError(.SQLITE_MISUSE, message) { try second.apply(changeset) }
                expectError(.SQLITE_MISUSE, message) { try Row.fetchAll(second, sql: "SELECT 1") }
                return .omit
            }
            #expect(try second.rows() == "2|b|20")
        }
    }

    @Test func patchsetsDoNotCompareOldValues() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("UPDATE player SET score = 11; DELETE FROM player WHERE id = 2")
            try second.execute(sql: "UPDATE player SET score = score + 5")
            try second.apply(changeset.patchset)
            #expect(try second.rows() == "1|a|11")
        }
    }

    // MARK: - Foreign keys

    private static let children = """
        CREATE TABLE child (id INTEGER PRIMARY KEY, player REFERENCES player);
        INSERT INTO child VALUES (7, 1);
        """

    @Test func violatedForeignKeysAreAConflict() throws {
        try withPlayers(Self.children) { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO child VALUES (8, 2)")
            try second.execute(sql: "DELETE FROM player WHERE id = 2")
            expectError(
                .SQLITE_CONSTRAINT_FOREIGNKEY, "could not apply a changeset: 1 foreign keys are violated"
            ) { try second.apply(changeset) }
            expectError(.SQLITE_MISUSE) { try second.apply(changeset) { _ in .replace } }
            #expect(try second.rows("child") == "7|1")
            // SQLite forgets the violation.
            try second.apply(changeset) { conflict in
                #expect(conflict.kind == .foreignKey && conflict.foreignKeyViolationCount == 1)
                #expect(conflict.change == nil && conflict.existingRow == nil)
                return .omit
            }
            #expect(try second.rows("child") == "7|1,8|2")
            #expect(try Row.fetchAll(second, sql: "PRAGMA foreign_key_check").count == 1)
        }
    }

    @Test func theOrderOfTablesDoesNotMatter() throws {
        try withPlayers(Self.children) { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO player VALUES (3, 'c', 1); INSERT INTO child VALUES (8, 3)")
            try second.apply(changeset)
            try second.apply(changeset.inverted())
            #expect(try second.rows("child") == "7|1")
        }
    }

    @Test(arguments: [false, true]) func deferredForeignKeysStayDeferred(_ fails: Bool) throws {
        try withPlayers(Self.children) { (first, second) throws in
            let changeset = try first.recorded("UPDATE player SET score = 1 WHERE id = 2")
            if fails { try second.execute(sql: "DELETE FROM player WHERE id = 2") }
            try second.inTransaction {
                try second.execute(sql: "PRAGMA defer_foreign_keys = ON")
                if fails {
                    expectError(.SQLITE_ABORT) { try second.apply(changeset) }
                } else {
                    try second.apply(changeset)
                }
                try second.execute(sql: "INSERT INTO child VALUES (9, 9); INSERT INTO player VALUES (9, 'i', 1)")
                return .commit
            }
            #expect(try second.rows("child") == "7|1,9|9")
        }
    }

    /// The trigger and the foreign key have done the work of the indirect changes.
    @Test func indirectChangesMayBeOmitted() throws {
        try withPlayers(
            """
            CREATE TABLE child (id INTEGER PRIMARY KEY, player REFERENCES player ON DELETE CASCADE);
            INSERT INTO child VALUES (7, 1);
            """
        ) { (first, second) throws in
            let changeset = try first.recorded("DELETE FROM player WHERE id = 1")
            try second.apply(changeset) { conflict in
                conflict.kind == .notFound && conflict.change?.isIndirect == true ? .omit : .abort
            }
            #expect(try second.rows("child") == "")
            #expect(try second.rows() == "2|b|20")
        }
    }

    // MARK: - Tables that differ

    @Test(arguments: [
        ("DROP TABLE player", "doesn't exist"),
        (
            "DROP TABLE player; CREATE VIEW player AS SELECT 1 AS id, 2, 3",
            "has another primary key than in the changeset"
        ),
        (
            "DROP TABLE player; CREATE TABLE player (id INTEGER PRIMARY KEY)",
            "has 1 columns, and the changeset has 3"
        ),
        (
            "DROP TABLE player; CREATE TABLE player (id, name PRIMARY KEY, score)",
            "has another primary key than in the changeset"
        ),
        (
            "DROP TABLE player; CREATE VIRTUAL TABLE player USING fts5(a, b, c)",
            "has another primary key than in the changeset"
        ),
    ]) func tablesThatDifferThrow(_ sql: String, _ reason: String) throws {
        try withPlayers("CREATE TABLE team (id INTEGER PRIMARY KEY)") { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO team VALUES (1); INSERT INTO player VALUES (3, 'c', 30)")
            try second.execute(sql: sql)
            expectError(.SQLITE_SCHEMA, "could not apply a changeset: the table player \(reason)") {
                try second.apply(changeset)
            }
            #expect(try second.rows("team") == "")
            try second.apply(changeset, toTables: ["team"])
            #expect(try second.rows("team") == "1")
        }
    }

    @Test func theOrderOfAKeyMatters() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a, b, PRIMARY KEY (a, b))")
            let changeset = try db.recorded("INSERT INTO t VALUES (1, 2)")
            try db.execute(sql: "DELETE FROM t")
            try db.apply(changeset)
            try db.execute(sql: "DROP TABLE t; CREATE TABLE t (a, b, PRIMARY KEY (b, a))")
            expectError(.SQLITE_SCHEMA) { try db.apply(changeset) }
        }
    }

    @Test func moreColumnsGetTheirDefaults() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO player VALUES (3, 'c', 30)")
            try second.execute(sql: "ALTER TABLE player ADD COLUMN level DEFAULT 7")
            try second.apply(changeset)
            #expect(try second.rows() == "1|a|10|7,2|b|20|7,3|c|30|7")
        }
    }

    @Test func tablesWithoutRowid() throws {
        try withPlayers("CREATE TABLE pair (a, b, c, PRIMARY KEY (b, a)) WITHOUT ROWID") { (first, second) throws in
            let changeset = try first.recorded(
                "INSERT INTO pair VALUES (1, 2, 3), (4, 5, 6); DELETE FROM pair WHERE a = 4")
            try second.apply(changeset)
            #expect(try second.rows("pair") == "1|2|3")
            try second.apply(changeset.inverted())
            #expect(try second.rows("pair") == "")
        }
    }

    // MARK: - Transactions

    /// SQLite goes on after such a trigger, outside the transaction.
    @Test func aTriggerThatRollsBackLeavesNothing() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO player VALUES (3, 'c', 1), (4, 'd', 1), (5, 'e', 1)")
            try second.execute(
                sql: "CREATE TRIGGER t AFTER INSERT ON player WHEN new.id = 3 BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
            for isObserved in [false, true] {
                let listener = RecordingListener()
                if isObserved { try second.listenToCommits(listener) }
                expectError(.SQLITE_ABORT) { try second.apply(changeset) { _ in .omit } }
                #expect(try second.rows() == "1|a|10,2|b|20")
                #expect(!second.isInsideTransaction)
                #expect(listener.problems.isEmpty && listener.takeChanges().isEmpty)
                expectError(.SQLITE_ABORT) {
                    try second.inTransaction {
                        try second.apply(changeset) { _ in .omit }
                        return .commit
                    }
                }
                try second.execute(sql: "UPDATE player SET score = score")
            }
        }
    }

    @Test func anApplicationMayBeRolledBack() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("DELETE FROM player")
            try second.inTransaction {
                try second.inSavepoint {
                    try second.apply(changeset)
                    return .rollback
                }
                return .commit
            }
            #expect(try second.rows() == "1|a|10,2|b|20")
        }
    }

    @Test func anApplicationIsRecorded() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("DELETE FROM player WHERE id = 1")
            let recorded = try second.recordChangeset { try second.apply(changeset) }
            #expect(recorded.changeset == changeset)
        }
    }

    @Test func functionsOfTriggersMayUseTheConnection() throws {
        try withPlayers("CREATE TABLE log (n)") { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO player VALUES (3, 'c', 1)")
            // Used on this thread alone.
            nonisolated(unsafe) unowned let db = second
            let function = DatabaseFunction("counted", argumentCount: 0) { _ in
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player WHERE id > 0")
            }
            second.add(function: function)
            try second.execute(
                sql: "CREATE TEMP TRIGGER t AFTER INSERT ON player BEGIN INSERT INTO log VALUES (counted()); END")
            #expect(try second.changes { try second.apply(changeset) } == ["log(*),player(*)"])
            #expect(try second.rows("log") == "3")
            #expect(try second.changes { try second.execute(sql: "UPDATE log SET n = 1") } == ["log(n)"])
        }
    }

    // MARK: - Rebasing

    /// The example of https://www.sqlite.org/session/rebaser.html: both ends have the same rows.
    @Test(arguments: [Changeset.Conflict.Resolution.omit, .replace])
    func rebasedChangesApplyAfterTheOthers(_ resolution: Changeset.Conflict.Resolution) throws {
        try withPlayers { (local, remote) throws in
            let localChanges = try local.recorded(
                "UPDATE player SET score = 11 WHERE id = 1; INSERT INTO player VALUES (5, 'l', 1)")
            let remoteChanges = try remote.recorded(
                "UPDATE player SET score = 12 WHERE id = 1; INSERT INTO player VALUES (6, 'r', 1)")
            let applied = try local.apply(remoteChanges) { _ in resolution }
            #expect(applied.conflictCount == 1)
            let information = try Changeset.RebaseInformation(bytes: applied.rebaseInformation.bytes)
            #expect(information == applied.rebaseInformation)
            let rebased = try localChanges.rebased(on: information)
            #expect(try localChanges.rebased(on: Changeset.RebaseInformation()) == localChanges)
            try remote.apply(rebased)
            let rows = try local.rows()
            #expect(try remote.rows() == rows)
            #expect(rows.hasPrefix(resolution == .omit ? "1|a|11" : "1|a|12"))
        }
    }

    /// SQLite itself would read beyond the end of the values.
    @Test(
        arguments: [
            [0x54, 1, 1, 0x50, 0x6C, 0x61, 0x79, 0x65, 0x72, 0, 18, 0, 3, 0],
            [
                0x54, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x70, 0x6C, 0x61, 0x79, 0x65, 0x72, 0, 18, 0, 3, 0, 5, 5, 5, 5, 5,
                5, 5, 5,
            ],
            [0x54, 3, 1, 2, 0, 0x70, 0x6C, 0x61, 0x79, 0x65, 0x72, 0, 18, 0, 3, 0, 3, 0, 5],
        ] as [[UInt8]])
    func rebasingOnOtherColumnsThrows(_ bytes: [UInt8]) throws {
        try withPlayers { (local, _) throws in
            let changes = try local.recorded("INSERT INTO player VALUES (5, 'l', 1)")
            let information = try Changeset.RebaseInformation(bytes: bytes)
            let error = #expect(throws: DatabaseError.self) { try changes.rebased(on: information) }
            #expect(error?.resultCode == .SQLITE_SCHEMA)
            #expect(
                error?.message
                    == "could not rebase a changeset: a table has other columns or another primary key")
        }
    }

    /// Two changesets that were applied have other columns for a table that the local changes don't have.
    @Test func rebasingOnInformationThatDisagreesThrows() throws {
        try withPlayers { (local, _) throws in
            let changes = try local.recorded("INSERT INTO player VALUES (5, 'l', 1)")
            let one = try Changeset.RebaseInformation(bytes: [0x54, 1, 1, 0x74, 0, 18, 0, 3, 0])
            let two = try Changeset.RebaseInformation(bytes: [0x54, 2, 1, 0, 0x74, 0, 18, 0, 3, 0, 5])
            expectError(
                .SQLITE_SCHEMA, "could not rebase a changeset: a table has other columns or another primary key"
            ) { try changes.rebased(on: one, two) }
            #expect(try changes.rebased(on: one).map(\.description) == changes.map(\.description))
        }
    }

    /// Repeated headers of a table are harmless.
    @Test func aTableMayComeTwice() throws {
        try withPlayers { (first, second) throws in
            let one = try first.recorded("INSERT INTO player VALUES (5, 'l', 1)")
            let two = try first.recorded("INSERT INTO player VALUES (6, 'm', 2)")
            let both = try Changeset(bytes: one.bytes + two.bytes)
            #expect(try both.concatenated(with: Changeset()).map(\.description) == both.map(\.description))
            #expect(try second.apply(both).conflictCount == 0)
            #expect(try second.rows() == first.rows())
        }
    }
}
