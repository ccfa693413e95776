import QuarryTestSupport
import Testing

@testable import QuarryChangesets
@testable import QuarryCore

/// Changesets and observers of one connection: the session and the preupdate hook never share it.
@Suite struct ObservedChangesetTests {
    private static let players = TableName(schema: "main", name: "player")

    // MARK: - Applying

    @Test func appliedTablesCountAsChanged() throws {
        try withPlayers("CREATE TABLE team (id INTEGER PRIMARY KEY); CREATE TABLE other (id INTEGER PRIMARY KEY)") {
            (first, second) throws in
            let update = try first.recorded("UPDATE player SET score = 1")
            let insertion = try first.recorded("INSERT INTO team VALUES (1)")
            #expect(try second.changes { try second.apply(update) } == ["player(score)"])
            #expect(try second.changes { try second.apply(insertion) } == ["team(*)"])
            #expect(try second.changes { try second.apply(insertion) { _ in .omit } } == [])
            #expect(try second.changes { _ = try? second.apply(insertion) } == [])
            #expect(
                try second.changes(rowTables: ["player"]) { try second.apply(update.inverted()) } == [
                    "player(score)[1,2]"
                ])
        }
    }

    @Test func triggersCascadesAndShadowTablesCount() throws {
        try withPlayers(
            """
            CREATE TABLE child (id INTEGER PRIMARY KEY, player REFERENCES player ON DELETE CASCADE);
            CREATE TABLE log (name);
            CREATE TRIGGER logging AFTER DELETE ON player BEGIN INSERT INTO log VALUES (old.name); END;
            INSERT INTO child VALUES (7, 1);
            """
        ) { (first, second) throws in
            let deletion = try first.recorded("DELETE FROM player WHERE id = 1", of: ["player"])
            #expect(
                try second.changes(rowTables: ["player", "child"]) { try second.apply(deletion) }
                    == ["child(*)[7],log(*),player(*)[1]"])
        }
    }

    @Test func savepointsTakeAppliedChangesBack() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("DELETE FROM player")
            let found = try second.changes {
                try second.inTransaction {
                    try second.inSavepoint {
                        try second.apply(changeset)
                        return .rollback
                    }
                    return .commit
                }
            }
            #expect(found == [])
        }
    }

    @Test func observersReceiveAppliedRows() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded(
                "INSERT INTO player VALUES (3, 'c', 1); UPDATE player SET score = 5 WHERE id = 1; DELETE FROM player WHERE id = 2"
            )
            let observer = RecordingObserver { $0.tableName == "player" }
            var scores: [DatabaseValue?] = []
            observer.willChange = { event in scores.append(event.finalDatabaseValue(atIndex: 2)) }
            second.add(transactionObserver: observer)
            try second.inTransaction {
                try second.inSavepoint {
                    try second.apply(changeset)
                    // They wait for the outermost savepoint.
                    #expect(observer.takeLog() == [])
                    return .commit
                }
                #expect(
                    Set(observer.takeLog()) == ["insert main.player 3", "update main.player 1", "delete main.player 2"])
                return .commit
            }
            #expect(observer.takeLog() == ["will commit", "did commit"])
            #expect(scores.count == 3)
            _ = try? second.apply(changeset)
            #expect(observer.takeLog() == ["did roll back"])
        }
    }

    @Test func replacedRowsAreReported() throws {
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("INSERT INTO player VALUES (3, 'c', 1)")
            try second.execute(sql: "INSERT INTO player VALUES (3, 'd', 2)")
            let observer = RecordingObserver { $0.tableName == "player" }
            second.add(transactionObserver: observer)
            try second.apply(changeset) { _ in .replace }
            #expect(
                observer.takeLog() == ["delete main.player 3", "insert main.player 3", "will commit", "did commit"])
        }
    }

    @Test func observersChooseKindsAndColumns() throws {
        try withPlayers { (first, second) throws in
            let update = try first.recorded("UPDATE player SET score = 5 WHERE id = 1")
            let names = RecordingObserver { kind in
                if case .update("player", let columns) = kind { columns.contains("name") } else { false }
            }
            let scores = RecordingObserver { kind in
                if case .update("player", let columns) = kind { columns == ["score"] } else { false }
            }
            second.add(transactionObserver: names)
            second.add(transactionObserver: scores)
            try second.apply(update)
            #expect(names.takeLog() == ["will commit", "did commit"])
            #expect(scores.takeLog() == ["update main.player 1", "will commit", "did commit"])
        }
    }

    @Test func anObserverMayRefuseAnApplication() throws {
        struct Refused: Error {}
        try withPlayers { (first, second) throws in
            let changeset = try first.recorded("DELETE FROM player")
            let observer = RecordingObserver()
            observer.willCommit = { throw Refused() }
            second.add(transactionObserver: observer)
            #expect(throws: Refused.self) { try second.apply(changeset) }
            #expect(try second.rows() == "1|a|10,2|b|20")
        }
    }

    // MARK: - Recording

    @Test func aTransactionObserverExcludesRecordings() throws {
        try withPlayers { (db, _) throws in
            var observer: RecordingObserver? = RecordingObserver()
            db.add(transactionObserver: observer!)
            expectError(
                .SQLITE_MISUSE,
                "no changeset can be made while a transaction observer observes the connection: SQLite has one preupdate hook for both"
            ) { try db.recorded("DELETE FROM player") }
            try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 1")
            #expect(observer?.takeLog() == ["update main.player 1", "will commit", "did commit"])
            db.remove(transactionObserver: observer!)
            #expect(try db.recorded("UPDATE player SET score = 2 WHERE id = 1").count { _ in true } == 1)
            // A released observer that isn't forgotten yet.
            db.add(transactionObserver: observer!)
            observer = nil
            #expect(try db.recorded("UPDATE player SET score = 3 WHERE id = 1").count { _ in true } == 1)
        }
    }

    @Test func noTransactionObserverIsAddedWhileRecording() throws {
        let connection = try TestConnection()
        let observer = RecordingObserver()
        expectError(.SQLITE_MISUSE, "a transaction observer can't be added while a changeset is made") {
            try connection.access { (db) throws in
                try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY)")
                let changeset = try db.recordChangeset {
                    db.add(transactionObserver: observer)
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                }.changeset
                #expect(Array(changeset).count == 1)
            }
        }
        try connection.access { (db) throws in
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            #expect(observer.takeLog() == [])
            db.add(transactionObserver: observer)
            try db.execute(sql: "INSERT INTO t VALUES (3)")
            #expect(observer.takeLog() == ["insert main.t 3", "will commit", "did commit"])
        }
    }

    /// The rows of a recording aren't known, so that all rows count. Before and after it they are.
    @Test func observedRowsFallBackToTables() throws {
        try withPlayers("CREATE TABLE other (id INTEGER PRIMARY KEY)") { (db, _) throws in
            let found = try db.changes(rowTables: ["player"]) {
                try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 1")
                #expect(try db.recorded("UPDATE player SET score = 2 WHERE id = 2").count { _ in true } == 1)
                try db.execute(sql: "UPDATE player SET score = 3 WHERE id = 2")
                try db.inTransaction {
                    try db.execute(sql: "UPDATE player SET score = 4 WHERE id = 1")
                    _ = try db.recorded("INSERT INTO other VALUES (1)")
                    return .commit
                }
                try db.inTransaction {
                    try db.execute(sql: "UPDATE player SET score = 5 WHERE id = 1")
                    _ = try? db.recordChangeset {
                        try db.execute(sql: "UPDATE player SET score = 6")
                        throw CancellationError()
                    }
                    return .commit
                }
            }
            #expect(
                found == [
                    "player(score)[1]", "player(score)", "player(score)[2]", "other(*),player(score)[1]",
                    "player(score)[1]",
                ])
        }
    }

    /// A statement that begins before the recording, and takes its first step in it.
    @Test func aStatementThatRunsAcrossTheBorder() throws {
        try withPlayers { (db, _) throws in
            let found = try db.changes(rowTables: ["player"]) {
                try db.inTransaction {
                    let cursor = try Row.fetchCursor(db, sql: "UPDATE player SET score = 1 WHERE id = 1 RETURNING id")
                    let changeset = try db.recordChangeset {
                        while try cursor.next() != nil {}
                    }.changeset
                    #expect(changeset.count { _ in true } == 1)
                    return .commit
                }
            }
            #expect(found == ["player(score)"])
        }
    }

    @Test func rowsAreAskedForWhileRecording() throws {
        try withPlayers { (db, _) throws in
            let listener = RecordingListener()
            let changeset = try db.recordChangeset {
                try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 1")
                try db.listenToCommits(listener, rowTables: [Self.players])
                try db.execute(sql: "UPDATE player SET score = 2 WHERE id = 2")
            }.changeset
            #expect(Array(changeset).count == 2)
            try db.execute(sql: "UPDATE player SET score = 3 WHERE id = 2")
            // Outside any recording, with the hook.
            #expect(listener.takeChanges().map(\.description) == ["player(score)", "player(score)[2]"])
            _ = try db.recordChangeset {
                try db.listenToCommits(nil)
                try db.execute(sql: "UPDATE player SET score = 4 WHERE id = 2")
            }
            try db.execute(sql: "UPDATE player SET score = 5 WHERE id = 2")
            #expect(listener.problems.isEmpty)
        }
    }

    @Test func observersOfRegionsBeginWhileRecording() throws {
        try withPlayers { (db, _) throws in
            let commits = Recorded(0)
            let observer = RegionObserver(DatabaseRegion(Self.players, rowIDs: [2])) { _ in commits.update { $0 += 1 } }
            _ = try db.recordChangeset {
                try db.add(regionObserver: observer)
                try db.execute(sql: "UPDATE player SET score = 2 WHERE id = 1")
            }
            #expect(commits.value == 1)
            try db.execute(sql: "UPDATE player SET score = 3 WHERE id = 1")
            #expect(commits.value == 1)
            try db.execute(sql: "UPDATE player SET score = 3 WHERE id = 2")
            #expect(commits.value == 2)
            // The observer ends inside a recording.
            _ = try db.recordChangeset {
                observer.cancel()
                try db.execute(sql: "UPDATE player SET score = 4 WHERE id = 2")
            }
            try db.execute(sql: "UPDATE player SET score = 5 WHERE id = 2")
            #expect(commits.value == 2)
        }
    }

    @Test func comparisonsLeaveTheHook() throws {
        try withPlayers("ATTACH ':memory:' AS old; CREATE TABLE old.player (id INTEGER PRIMARY KEY, name, score)") {
            (db, _) throws in
            let observer = RecordingObserver { $0.tableName == "player" }
            db.add(transactionObserver: observer)
            #expect(try db.changeset(from: "old", tables: ["player"]).count { _ in true } == 2)
            try db.execute(sql: "UPDATE player SET score = 3 WHERE id = 1")
            #expect(observer.takeLog().contains("update main.player 1"))
        }
    }

    @Test func aClientOfTheHookIsCalledAgainAfterwards() throws {
        try withPlayers { (db, _) throws in
            var events = 0
            let client = try db.hooks.onPreupdate { _ in events += 1 }
            var second: HookSlots.Client?
            _ = try db.recordChangeset {
                try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 1")
                second = try db.hooks.onPreupdate { _ in events += 10 }
                db.hooks.remove(client)
                _ = try db.recorded("UPDATE player SET score = 2 WHERE id = 1")
                // Preparing statements leaves the slot to the session.
                try db.listenToCommits(RecordingListener())
                try db.execute(sql: "UPDATE player SET score = 3 WHERE id = 2")
            }
            #expect(events == 0)
            try db.execute(sql: "UPDATE player SET score = 4 WHERE id = 1")
            #expect(events == 10)
            if let second { db.hooks.remove(second) }
        }
    }

    @Test func aDatabaseReleasedAfterARecordingKeepsItsObservers() throws {
        let observer = RecordingObserver()
        try withPlayers { (db, _) throws in
            _ = try db.recorded("DELETE FROM player WHERE id = 1")
            db.add(transactionObserver: observer, extent: .databaseLifetime)
            try db.execute(sql: "DELETE FROM player WHERE id = 2")
        }
        #expect(observer.takeLog() == ["delete main.player 2", "will commit", "did commit"])
    }
}
