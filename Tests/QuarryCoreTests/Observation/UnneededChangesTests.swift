import QuarryCore
import QuarryTestSupport
import Testing

/// Changes that the listener has said it doesn't need, and statements that run alone.
@Suite struct UnneededChangesTests {
    private static let raise = "UPDATE player SET score = score + 1"
    private static let rename = "UPDATE team SET name = name || 'x'"

    /// Runs `body` while the listener needs the changes of neither statement.
    private func withUnneeded(
        _ body: (Database, RecordingListener, _ told: (String) throws -> [String]) throws -> Void
    ) throws {
        try withObservedTables { db in
            let listener = RecordingListener(needsWillCommit: false)
            try db.listenToCommits(listener)
            listener.setUnneeded(true)
            func told(_ sql: String) throws -> [String] {
                for statement in sql.split(separator: "; ") {
                    try db.cachedStatement(sql: String(statement)).execute()
                }
                return listener.takeChanges().map(\.description)
            }
            #expect(try told(Self.raise) == ["player(score)"])
            #expect(try told(Self.rename) == ["team(name)"])
            #expect(try told("\(Self.raise); \(Self.rename)") == [])
            try body(db, listener, told)
            #expect(listener.problems == [])
            try db.listenToCommits(nil)
        }
    }

    @Test func needsThatChangeInsideTheTransaction() throws {
        try withUnneeded { (_, listener, told) throws in
            #expect(try told("BEGIN; \(Self.raise); \(Self.rename); \(Self.raise)") == [])
            listener.setUnneeded(false)
            #expect(try told("COMMIT") == ["player(score),team(name)"])
            #expect(try told("BEGIN; \(Self.raise)") == [])
            listener.setUnneeded(true)
            #expect(try told("ROLLBACK") == [])
            listener.setUnneeded(false)
            #expect(try told("BEGIN; \(Self.rename); COMMIT") == ["team(name)"])
        }
    }

    @Test func needsThatChangeAreNotForgottenWithARollback() throws {
        try withUnneeded { (_, listener, told) throws in
            #expect(try told("BEGIN; \(Self.raise); ROLLBACK") == [])
            listener.setUnneeded(false)
            #expect(try told("BEGIN; \(Self.rename); COMMIT") == ["team(name)"])
        }
    }

    @Test func savepoints() throws {
        try withUnneeded { (_, listener, told) throws in
            #expect(try told("BEGIN; \(Self.raise); SAVEPOINT a; \(Self.rename); RELEASE a; COMMIT") == [])
            #expect(try told("BEGIN; \(Self.raise); SAVEPOINT a; \(Self.rename); ROLLBACK TO a") == [])
            listener.setUnneeded(false)
            #expect(try told("RELEASE a; COMMIT") == ["player(score)"])
            listener.setUnneeded(true)
            #expect(try told(Self.rename) == ["team(name)"])
            #expect(try told("BEGIN; SAVEPOINT a; \(Self.rename); ROLLBACK TO a; RELEASE a; \(Self.rename)") == [])
            listener.setUnneeded(false)
            #expect(try told("COMMIT") == ["team(name)"])
        }
    }

    @Test func otherChangesOfTheSameTransaction() throws {
        try withUnneeded { (db, _, told) throws in
            #expect(
                try told("BEGIN; \(Self.raise); DELETE FROM team WHERE id = 2; COMMIT") == ["player(score),team(*)"])
            #expect(try told("BEGIN; \(Self.raise)") == [])
            try db.notifyChanges(in: DatabaseRegion(TableName(schema: "main", name: "team")))
            #expect(try told("COMMIT") == ["player(score),team(*)"])
            #expect(try told(Self.raise) == [])
        }
    }

    @Test func keysAndRowsAskedForInsideTheTransaction() throws {
        let player = TableName(schema: "main", name: "player")
        try withUnneeded { (db, listener, told) throws in
            #expect(try told("BEGIN; \(Self.raise)") == [])
            try db.listenToCommits(listener, keys: .all)
            try db.cachedStatement(sql: "UPDATE player SET name = 'z' WHERE id = 1").execute()
            try db.execute(sql: "COMMIT")
            #expect(listener.keys.map { $0[player] } == [.unknown])
            #expect(listener.takeChanges().map(\.description) == ["player(name,score)"])
        }
        try withUnneeded { (db, listener, told) throws in
            #expect(try told("BEGIN; \(Self.raise)") == [])
            try db.listenToCommits(listener, rowTables: [player])
            #expect(try told("UPDATE player SET name = 'z' WHERE id = 1; COMMIT") == ["player(name,score)"])
        }
    }

    /// More statements than are kept.
    @Test func manyStatements() throws {
        try withUnneeded { (_, listener, told) throws in
            let statements = (0..<20).map { "UPDATE player SET name = name || '\($0)'" }
            for sql in statements { #expect(try told(sql) == ["player(name)"]) }
            #expect(try told("BEGIN; \(statements[17]); \(statements[18]); COMMIT") == [])
            #expect(try told("BEGIN; \(statements[3]); \(statements[18]); \(Self.rename)") == [])
            listener.setUnneeded(false)
            #expect(try told("COMMIT") == ["player(name),team(name)"])
        }
    }

    /// A function of a statement that has run alone until then changes other tables, and adds an observer.
    @Test func functionsInsideAStatement() throws {
        try withUnneeded { (db, listener, told) throws in
            let observer = RecordingObserver()
            nonisolated(unsafe) weak let weakDb = db
            db.add(
                function: DatabaseFunction("rename", argumentCount: 0) { _ in
                    try weakDb?.cachedStatement(sql: Self.rename).execute()
                    return 1
                })
            db.add(
                function: DatabaseFunction("watch", argumentCount: 0) { _ in
                    weakDb?.add(transactionObserver: observer)
                    return 1
                })
            #expect(try told("UPDATE player SET score = rename() WHERE id = 1") == ["player(score),team(name)"])
            // The outer statement changes no row, and the changes of the inner one aren't needed.
            let unchanging = "UPDATE player SET score = 1 WHERE rename() = 2"
            #expect(try told(unchanging) == [])
            #expect(try told("BEGIN; \(unchanging)") == [])
            listener.setUnneeded(false)
            #expect(try told("COMMIT") == ["team(name)"])
            listener.setUnneeded(false)
            #expect(try told("UPDATE player SET score = watch()") == ["player(score)"])
            #expect(try told("UPDATE player SET score = 5") == ["player(score)"])
            #expect(observer.takeLog().contains { $0.contains("player") })
            db.remove(transactionObserver: observer)
        }
    }

    /// A cursor that changes rows in its first step, and other statements before its end.
    @Test func cursorsThatWrite() throws {
        try withUnneeded { (db, listener, told) throws in
            let sql = "UPDATE player SET score = score + 1 RETURNING id"
            try db.execute(sql: "BEGIN")
            do {
                let cursor = try Int.fetchCursor(db, sql: sql)
                _ = try cursor.next()
                #expect(try told(Self.rename) == [])
                while try cursor.next() != nil {}
            }
            #expect(try told("COMMIT") == ["player(score),team(name)"])
            // Outside a transaction, the commit comes with the end of the cursor.
            do {
                let cursor = try Int.fetchCursor(db, sql: sql)
                _ = try cursor.next()
                #expect(try told("SELECT 1") == [])
            }
            #expect(listener.takeChanges().map(\.description) == ["player(score)"])
            // A rollback to a savepoint between two steps takes its changes back.
            try db.execute(sql: "BEGIN; \(Self.rename); SAVEPOINT a")
            do {
                let cursor = try Int.fetchCursor(db, sql: sql)
                _ = try cursor.next()
                try db.execute(sql: "ROLLBACK TO a")
                do { while try cursor.next() != nil {} } catch {}
            }
            listener.setUnneeded(false)
            #expect(try told("COMMIT") == ["team(name)"])
        }
    }

    /// Its changes of rows before the failing one stay.
    @Test func aStatementThatFails() throws {
        try withUnneeded { (db, listener, _) throws in
            expectError(.SQLITE_CONSTRAINT_UNIQUE) {
                try db.cachedStatement(sql: "INSERT OR FAIL INTO team VALUES (8, 'new'), (9, 'new')").execute()
            }
            #expect(listener.takeChanges().map(\.description) == ["team(*)"])
            expectError(.SQLITE_CONSTRAINT_UNIQUE) {
                try db.cachedStatement(sql: "INSERT INTO team VALUES (10, 'newer'), (11, 'newer')").execute()
            }
            #expect(listener.takeChanges() == [])
        }
    }
}
