import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// The sequence of commits.
@Suite struct DatabaseCommitsTests {
    let folder = try! TemporaryFolder()

    /// The tables beside that of the players.
    private static let otherTables = """
        CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE pair (a, b, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE log (text);
        """

    private func make(_ kind: WriterKind) throws -> any DatabaseWriter {
        let writer = try kind.make(folder)
        try writer.write { db in
            try db.makeScoredPlayers()
            try db.execute(sql: Self.otherTables)
        }
        return writer
    }

    @Test(arguments: WriterKind.allCases) func commitsAreNumberedInOrder(_ kind: WriterKind) async throws {
        let writer = try make(kind)
        var commits = writer.commits.makeAsyncIterator()
        let number = writer.lastCommitNumber.rawValue
        try await writer.write { db in
            db.commitOrigin = "import"
            db.commitUserInfo = 7
            try db.execute(sql: "INSERT INTO player VALUES (1, 'a', 1)")
            try db.execute(sql: "UPDATE country SET name = 'x'")
        }
        try await writer.write { db in try db.execute(sql: "UPDATE player SET score = 2") }
        // Nothing changes.
        try await writer.write { db in try db.execute(sql: "UPDATE player SET score = 2 WHERE id = 99") }
        try? await writer.write { db in
            db.commitOrigin = "undone"
            try db.execute(sql: "DELETE FROM player")
            throw CancellationError()
        }
        try await writer.writeWithoutTransaction { db in try db.execute(sql: "DELETE FROM player") }
        let first = try #require(await commits.next())
        #expect(first.number.rawValue == number + 1 && first.changes.description == "player(*)")
        #expect(first.origin == "import" && first.userInfo as? Int == 7 && first.source == .database)
        #expect(first.changes.containsChange(in: "PLAYER") && !first.changes.containsChange(in: "country"))
        #expect(first.changes.didClear("player") && !first.changes.didClear("country"))
        let second = try #require(await commits.next())
        #expect(second.number.rawValue == number + 2 && second.changes.description == "player(score)")
        #expect(second.origin == nil && second.userInfo == nil)
        let third = try #require(await commits.next())
        #expect(third.number.rawValue == number + 3 && third.origin == nil)
        #expect(writer.lastCommitNumber == third.number)
    }

    /// The connection finds the key of a table after an interruption that has kept it from doing so.
    @Test(arguments: WriterKind.allCases) func changedKeysAfterAnInterruption(_ kind: WriterKind) async throws {
        let writer = try make(kind)
        var commits = writer.commits(keys: true).makeAsyncIterator()
        try await writer.writeWithoutTransaction { db in
            let insertion = try db.makeStatement(sql: "INSERT INTO country VALUES ('FR', 'France')")
            try withLastingInterruption(db) { expectError(.SQLITE_INTERRUPT) { try insertion.execute() } }
            try insertion.execute()
        }
        let commit = try #require(await commits.next())
        #expect(commit.changes.changedKeys(in: "country") == ["FR": .inserted])
    }

    /// A key of type REAL is told as it is read, whatever the kind of the change.
    @Test(arguments: WriterKind.allCases, ["", "WITHOUT ROWID"])
    func changedKeysOfTypeREAL(_ kind: WriterKind, _ options: String) async throws {
        let writer = try make(kind)
        try await writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE price (k REAL NOT NULL PRIMARY KEY, v) \(options);
                    CREATE TABLE part (a, k DOUBLE, PRIMARY KEY (a, k));
                    """)
        }
        var commits = writer.commits(keys: true).makeAsyncIterator()
        func changes(_ sql: String) async throws -> DatabaseChanges {
            try await writer.write { db in try db.execute(sql: sql) }
            return try #require(await commits.next()).changes
        }
        let (one, two) = (RowKey(1.0), RowKey(2.0))
        var found = try await changes("INSERT INTO price VALUES (1, 1); INSERT INTO part VALUES (1, 1)")
        #expect(found.changedKeys(in: "price") == [one: .inserted])
        #expect(found.changedKeys(in: "part") == [[1, 1.0]: .inserted])
        found = try await changes("UPDATE price SET v = 2")
        #expect(found.changedKeys(in: "price") == [one: .updated(columns: ["v"])])
        found = try await changes("REPLACE INTO price VALUES (1, 3)")
        #expect(found.changedKeys(in: "price") == [one: .updated(columns: nil)])
        found = try await changes("UPDATE price SET k = 2")
        #expect(found.changedKeys(in: "price") == [one: .deleted, two: .inserted])
        found = try await changes("DELETE FROM price WHERE k = 2; INSERT INTO price VALUES (1, 4); DELETE FROM price")
        #expect(found.changedKeys(in: "price") == [two: .deleted])
    }

    @Test(arguments: WriterKind.allCases) func changedKeys(_ kind: WriterKind) async throws {
        let writer = try make(kind)
        var commits = writer.commits(keys: true).makeAsyncIterator()
        func changes(_ sql: String) async throws -> DatabaseChanges {
            try await writer.write { db in try db.execute(sql: sql) }
            return try #require(await commits.next()).changes
        }
        var found = try await changes("INSERT INTO player VALUES (1, 'a', 1), (2, 'b', 2)")
        #expect(found.changedKeys(in: "player") == [1: .inserted, 2: .inserted])
        #expect(found.changedKeys(in: "country") == [:])
        #expect(found.containsChange(in: "player", key: 1) && !found.containsChange(in: "player", key: 3))
        found = try await changes("UPDATE player SET score = 5 WHERE id = 2")
        #expect(found.changedKeys(in: "player") == [2: .updated(columns: ["score"])])
        found = try await changes("UPDATE player SET id = 7 WHERE id = 2")
        #expect(found.changedKeys(in: "player") == [2: .deleted, 7: .inserted])
        // Several statements, and a savepoint that is rolled back.
        found = try await changes(
            """
            INSERT INTO player VALUES (8, 'c', 3); UPDATE player SET name = 'd' WHERE id = 8;
            UPDATE player SET name = 'e' WHERE id = 7; UPDATE player SET score = 1 WHERE id = 7;
            SAVEPOINT a; DELETE FROM player; ROLLBACK TO a; RELEASE a;
            SAVEPOINT b; INSERT INTO player VALUES (9, 'f', 4); RELEASE b;
            INSERT INTO player VALUES (10, 'g', 5); DELETE FROM player WHERE id = 10;
            """)
        #expect(
            found.changedKeys(in: "player")
                == [8: .inserted, 7: .updated(columns: ["name", "score"]), 9: .inserted])
        found = try await changes("REPLACE INTO player VALUES (8, 'z', 0)")
        #expect(found.changedKeys(in: "player") == [8: .updated(columns: nil)])
        found = try await changes("DELETE FROM player")
        #expect(found.changedKeys(in: "player") == [1: .deleted, 7: .deleted, 8: .deleted, 9: .deleted])
        // Keys that aren't the rowid.
        found = try await changes("INSERT INTO country VALUES ('FR', 'France'); INSERT INTO log VALUES ('x')")
        #expect(found.changedKeys(in: "country") == ["FR": .inserted])
        #expect(found.changedKeys(in: "log") == [1: .inserted])
        found = try await changes("UPDATE country SET code = 'DE'")
        #expect(found.changedKeys(in: "country") == ["FR": .deleted, "DE": .inserted])
        found = try await changes("INSERT INTO pair VALUES (1, 'x', 0), (2, 'y', 0)")
        #expect(found.changedKeys(in: "pair") == [["x", 1]: .inserted, ["y", 2]: .inserted])
        found = try await changes("UPDATE pair SET c = 1 WHERE a = 1")
        #expect(found.changedKeys(in: "pair") == [["x", 1]: .updated(columns: ["c"])])
        found = try await changes("UPDATE pair SET a = 3 WHERE a = 1")
        #expect(found.changedKeys(in: "pair") == [["x", 1]: .deleted, ["x", 3]: .inserted])
        found = try await changes("DELETE FROM pair WHERE a = 2")
        #expect(found.changedKeys(in: "pair") == [["y", 2]: .deleted])
        // Keys that can't be known.
        found = try await changes("INSERT INTO country VALUES (NULL, 'nowhere')")
        #expect(found.changedKeys(in: "country") == nil && found.containsChange(in: "country", key: "FR"))
        found = try await changes("ALTER TABLE player ADD COLUMN x; UPDATE log SET text = 'y'")
        #expect(found.didClear("player") && found.changedKeys(in: "log") == [1: .updated(columns: ["text"])])
        found = try await changes("DROP TABLE player")
        #expect(found.didClear("player"))
    }

    @Test func manyKeysAreNotKept() async throws {
        let writer = try make(.fileQueue)
        var commits = writer.commits(keys: true).makeAsyncIterator()
        let insert = """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            INSERT INTO player SELECT i, 'x', i FROM n
            """
        for (count, isKnown) in [(10_000, true), (10_001, false)] {
            try await writer.write { db in
                try db.execute(sql: "DELETE FROM player")
                try db.execute(sql: insert, arguments: [count])
            }
            #expect(await commits.next()?.changes.didClear("player") == !isKnown)
        }
    }

    @Test func changesOfSeveralCommits() async throws {
        let writer = try make(.pool)
        var iterator = writer.commits(keys: true).makeAsyncIterator()
        var commits: [DatabaseCommit] = []
        for sql in [
            "INSERT INTO player VALUES (1, 'a', 1), (2, 'b', 2)", "UPDATE player SET score = 5 WHERE id = 2",
            "DELETE FROM player WHERE id = 1", "INSERT INTO log VALUES ('x')", "DROP TABLE country",
        ] {
            try await writer.write { db in try db.execute(sql: sql) }
            commits.append(try #require(await iterator.next()))
        }
        #expect(commits.changes.changedKeys(in: "player") == [2: .inserted])
        #expect(commits.changes.changedKeys(in: "log") == [1: .inserted])
        #expect(commits.changes.didClear("country") && !commits.changes.isUnknown)
        #expect([DatabaseCommit]().changes.isEmpty)
        #expect((commits + [.missed(upTo: CommitNumber(rawValue: 9))]).changes.isUnknown)
    }

    @Test(arguments: WriterKind.allCases) func aSlowLoopMissesCommits(_ kind: WriterKind) async throws {
        let writer = try make(kind)
        var commits = writer.commits(bufferingAtMost: 2).makeAsyncIterator()
        for _ in 0..<5 { try await writer.write { db in try db.execute(sql: "INSERT INTO log VALUES ('x')") } }
        let first = try #require(await commits.next())
        #expect(first.source == .missed && first.changes.isUnknown && first.changes.didClear("any"))
        #expect(await commits.next()?.source == .database)
        #expect(await commits.next()?.number == writer.lastCommitNumber)
    }

    @Test(arguments: WriterKind.allCases) func theEnd(_ kind: WriterKind) async throws {
        let writer = try make(kind)
        var commits = writer.commits.makeAsyncIterator()
        try await writer.write { db in try db.execute(sql: "INSERT INTO log VALUES ('x')") }
        let waiting = Task { [commits = writer.commits] in
            var count = 0
            for await _ in commits { count += 1 }
            return count
        }
        try await until("a task waits") { writer.journal.waiterCount == 1 }
        try writer.close()
        #expect(await waiting.value == 0)
        // The commits before the end are read.
        #expect(await commits.next() != nil)
        #expect(await commits.next() == nil)
        var late = writer.commits.makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    @Test func cancellationEndsTheSequence() async throws {
        let writer = try make(.pool)
        let task = Task { [commits = writer.commits] in
            for await _ in commits {}
            return Task.isCancelled
        }
        try await until("the task waits") { writer.journal.waiterCount == 1 }
        task.cancel()
        #expect(await task.value)
        #expect(writer.journal.waiterCount == 0 && writer.journal.keptCount == 0)
    }

    @Test func aTaskReadsWhatAnotherHasWritten() async throws {
        let writer = try make(.pool)
        let next = CommitNumber(rawValue: writer.lastCommitNumber.rawValue + 1)
        let reading = Task {
            try await writer.waitForCommit(next)
            return try await writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM log") }
        }
        try await until("the task waits") { writer.journal.waiterCount == 1 }
        let (value, number) = try await writer.writeWithCommitNumber { db in
            try db.execute(sql: "INSERT INTO log VALUES ('x')")
            return 5
        }
        #expect(value == 5 && number == next)
        #expect(try await reading.value == 1)
        // Nothing changes.
        #expect(try await writer.writeWithCommitNumber { _ in }.commitNumber == next)
        let cancelled = Task { try await writer.waitForCommit(CommitNumber(rawValue: 1_000)) }
        try await until("the task waits") { writer.journal.waiterCount == 1 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
}

extension DatabaseReader {
    var journal: CommitJournal { groupReader!.core.journal }
}
