import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct TransactionObserverTests {
    private struct Refusal: Error, Equatable {}

    private func withTables(_ body: (Database, RecordingObserver) throws -> Void) throws {
        let observer = RecordingObserver()
        try withConnection { db in
            try db.makeUniquePlayers(["a": 1, "b": 2])
            try db.execute(sql: "CREATE TABLE log (a)")
            db.add(transactionObserver: observer)
            try body(db, observer)
            db.remove(transactionObserver: observer)
        }
    }

    @Test func eventsComeAfterTheirStatement() throws {
        try withTables { (db, observer) throws in
            try db.execute(sql: "BEGIN; INSERT INTO player VALUES (3, 'c', 3)")
            #expect(observer.takeLog() == ["insert main.player 3"])
            try db.execute(sql: "UPDATE player SET score = 0 WHERE id < 3")
            #expect(observer.takeLog() == ["update main.player 1", "update main.player 2"])
            try db.execute(sql: "DELETE FROM player; COMMIT")
            #expect(
                observer.takeLog() == [
                    "delete main.player 1", "delete main.player 2", "delete main.player 3", "will commit", "did commit",
                ])
            // Outside a transaction they come before the commit of their statement.
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            #expect(observer.takeLog() == ["insert main.log 1", "will commit", "did commit"])
        }
    }

    @Test func everyWayToChangeARow() throws {
        try withTables { (db, observer) throws in
            try db.execute(
                sql: """
                    BEGIN; CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE child (a REFERENCES player ON DELETE CASCADE);
                    INSERT INTO child VALUES (2);
                    CREATE TRIGGER t AFTER INSERT ON log BEGIN UPDATE player SET score = new.a WHERE id = 1; END;
                    CREATE VIRTUAL TABLE ft USING fts5(a); ATTACH ':memory:' AS other; CREATE TABLE other.x (a);
                    CREATE TEMP TABLE y (a); COMMIT
                    """)
            _ = observer.takeLog()
            func expect(_ sql: String, _ events: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
                try db.execute(sql: sql)
                #expect(observer.takeLog().dropLast(2) == events[...], "\(sql)", sourceLocation: sourceLocation)
            }
            try expect("INSERT INTO w VALUES ('k')", "insert main.w 0")
            try expect("DELETE FROM w", "delete main.w 0")
            try expect("REPLACE INTO player VALUES (7, 'a', 5)", "delete main.player 1", "insert main.player 7")
            try expect(
                "UPDATE OR REPLACE player SET name = 'b' WHERE id = 7", "delete main.player 2", "delete main.child 1",
                "update main.player 7")
            try expect(
                "INSERT INTO player VALUES (7, 'q', 1) ON CONFLICT DO UPDATE SET score = 9", "update main.player 7")
            try expect("UPDATE player SET id = 1", "update main.player 1")
            try expect("INSERT INTO log VALUES (5)", "insert main.log 1", "update main.player 1")
            try expect("INSERT INTO other.x VALUES (1)", "insert other.x 1")
            try expect("INSERT INTO y VALUES (1)", "insert temp.y 1")
            try expect(
                "INSERT INTO player (name) SELECT 'z' || value FROM json_each('[1,2]')", "insert main.player 2",
                "insert main.player 3")
            try db.execute(sql: "INSERT INTO ft VALUES ('text')")
            #expect(observer.takeLog().contains { $0.hasPrefix("insert main.ft_content") })
            _ = try Int.fetchAll(db, sql: "UPDATE player SET score = 3 RETURNING id")
            #expect(observer.takeLog().count == 5)
            // Definitions have no events.
            try expect("CREATE TABLE copy AS SELECT * FROM player")
            try expect("DROP TABLE copy")
        }
    }

    @Test func savepointsHoldEventsBack() throws {
        try withTables { (db, observer) throws in
            try db.execute(
                sql: "BEGIN; SAVEPOINT a; INSERT INTO log VALUES (1); SAVEPOINT b; INSERT INTO log VALUES (2)")
            #expect(observer.takeLog() == [])
            try db.execute(sql: "ROLLBACK TO b; INSERT INTO log VALUES (3); RELEASE b")
            #expect(observer.takeLog() == [])
            try db.execute(sql: "RELEASE A")
            #expect(observer.takeLog() == ["insert main.log 1", "insert main.log 2"])
            try db.execute(sql: "SAVEPOINT a; INSERT INTO log VALUES (9); ROLLBACK TO a; ROLLBACK")
            #expect(observer.takeLog() == ["did roll back"])
            // An observer that comes in a savepoint.
            try db.execute(sql: "SAVEPOINT a; SAVEPOINT b")
            let late = RecordingObserver()
            db.add(transactionObserver: late)
            try db.execute(sql: "INSERT INTO log VALUES (4); ROLLBACK TO b; INSERT INTO log VALUES (5); RELEASE a")
            #expect(late.takeLog() == ["insert main.log 1", "will commit", "did commit"])
        }
    }

    @Test func failedStatementsHaveNoEvents() throws {
        try withTables { (db, observer) throws in
            try db.execute(sql: "CREATE TRIGGER t BEFORE INSERT ON player BEGIN INSERT INTO log VALUES (1); END; BEGIN")
            _ = observer.takeLog()
            expectError(.SQLITE_CONSTRAINT) {
                try db.execute(sql: "INSERT INTO player VALUES (5, 'x', 1), (6, 'a', 1)")
            }
            #expect(observer.takeLog() == [])
            expectError(.SQLITE_CONSTRAINT) {
                try db.execute(sql: "INSERT OR FAIL INTO player VALUES (5, 'x', 1), (6, 'a', 1)")
            }
            #expect(observer.takeLog() == ["insert main.log 1", "insert main.player 5", "insert main.log 2"])
            expectError(.SQLITE_CONSTRAINT) {
                try db.execute(sql: "INSERT OR ROLLBACK INTO player VALUES (8, 'y', 1), (9, 'a', 1)")
            }
            #expect(observer.takeLog() == ["did roll back"])
            // Outside a transaction, the statement is one, which only FAIL commits.
            expectError(.SQLITE_CONSTRAINT) {
                try db.execute(sql: "INSERT INTO player VALUES (5, 'x', 1), (6, 'a', 1)")
            }
            #expect(observer.takeLog() == ["did roll back"])
            expectError(.SQLITE_CONSTRAINT) {
                try db.execute(sql: "INSERT OR FAIL INTO player VALUES (5, 'x', 1), (6, 'a', 1)")
            }
            #expect(
                observer.takeLog() == [
                    "insert main.log 1", "insert main.player 5", "insert main.log 2", "will commit", "did commit",
                ])
        }
    }

    @Test func refusedCommits() throws {
        try withTables { (db, observer) throws in
            try db.execute(sql: "CREATE TABLE file (a); INSERT INTO file VALUES (x'00')")
            let listener = RecordingListener()
            try db.listenToCommits(listener)
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
            observer.willCommit = { throw Refusal() }
            func expectRefusal(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
                _ = observer.takeLog()
                do {
                    try body()
                    Issue.record("no refusal", sourceLocation: sourceLocation)
                } catch { #expect(error is Refusal, sourceLocation: sourceLocation) }
                #expect(
                    observer.takeLog().suffix(2) == ["will commit", "did roll back"], sourceLocation: sourceLocation)
                #expect(!db.isInsideTransaction, sourceLocation: sourceLocation)
            }
            let delete = "DELETE FROM player"
            expectRefusal { try db.execute(sql: delete) }
            expectRefusal { try db.execute(sql: "BEGIN; \(delete); COMMIT") }
            expectRefusal { try db.execute(sql: "SAVEPOINT a; \(delete); RELEASE a") }
            expectRefusal {
                try db.inTransaction {
                    try db.execute(sql: delete)
                    return .commit
                }
            }
            expectRefusal { try db.inTransaction(.deferred) { .commit } }
            expectRefusal { try db.inTransaction(.immediate) { .commit } }
            expectRefusal { _ = try Int.fetchAll(db, sql: delete + " RETURNING id") }
            expectRefusal {
                let blob = try db.openBlob(table: "file", column: "a", rowID: 1, readOnly: false)
                try blob.write([1])
                try blob.close()
            }
            observer.willCommit = nil
            // No refusal is left for a later error.
            expectError(.SQLITE_CONSTRAINT) { try db.execute(sql: "INSERT INTO player VALUES (1, 'a', 1)") }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == count)
            #expect(try db.openBlob(table: "file", column: "a", rowID: 1).read() == [0])
            #expect(listener.takeChanges().isEmpty)
            #expect(listener.problems == [])
            try db.listenToCommits(nil)
        }
    }

    @Test func theRefusalOfARawCommitIsNotKept() throws {
        try withTables { (db, observer) throws in
            observer.willCommit = { throw Refusal() }
            #expect(RawSQL.execute("DELETE FROM player", db) != 0)
            observer.willCommit = nil
            expectError(.SQLITE_CONSTRAINT) { try db.execute(sql: "INSERT INTO player VALUES (1, 'a', 1)") }
        }
    }

    @Test func extents() throws {
        try withTables { (db, _) throws in
            weak var weakObserver: RecordingObserver?
            let kept = RecordingObserver()
            do {
                let observer = RecordingObserver()
                weakObserver = observer
                db.add(transactionObserver: observer)
                db.add(transactionObserver: kept, extent: .nextTransaction)
            }
            #expect(weakObserver == nil)
            try db.execute(sql: "SELECT 1; BEGIN; INSERT INTO log VALUES (1); ROLLBACK; INSERT INTO log VALUES (1)")
            #expect(kept.takeLog() == ["insert main.log 1", "did roll back"])
            do {
                let observer = RecordingObserver()
                weakObserver = observer
                db.add(transactionObserver: observer, extent: .databaseLifetime)
            }
            #expect(weakObserver != nil)
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            #expect(weakObserver?.takeLog() == ["insert main.log 2", "will commit", "did commit"])
        }
    }

    @Test func kindsAreAskedForOnceInATransaction() throws {
        try withConnection { (db) throws in
            try db.makeScoredPlayers()
            var asked: [DatabaseEventKind] = []
            let observer = RecordingObserver {
                asked.append($0)
                return $0 == .update(tableName: "player", columnNames: ["score"])
            }
            db.add(transactionObserver: observer)
            try db.execute(
                sql: """
                    BEGIN; INSERT INTO player VALUES (1, 'a', 1); INSERT INTO player VALUES (2, 'b', 2);
                    UPDATE player SET name = 'c'; UPDATE player SET score = 5; UPDATE player SET name = 'd', score = 6
                    """)
            #expect(
                asked == [
                    .insert(tableName: "player"), .update(tableName: "player", columnNames: ["name"]),
                    .update(tableName: "player", columnNames: ["score"]),
                    .update(tableName: "player", columnNames: ["name", "score"]),
                ])
            #expect(observer.takeLog() == ["update main.player 1", "update main.player 2"])
            try db.execute(sql: "COMMIT; INSERT INTO player VALUES (3, 'a', 1)")
            #expect(asked.count == 5)
        }
    }

    @Test func observersThatStop() throws {
        try withTables { (db, observer) throws in
            let other = RecordingObserver()
            db.add(transactionObserver: other)
            observer.didChange = { observer, _ in observer.stopObservingDatabaseChangesUntilNextTransaction() }
            try db.execute(sql: "BEGIN; UPDATE player SET score = 1; INSERT INTO log VALUES (1); COMMIT")
            #expect(observer.takeLog() == ["update main.player 1", "will commit", "did commit"])
            #expect(other.takeLog().count == 5)
            observer.didChange = nil
            // Elsewhere it has no effect.
            observer.willCommit = { [unowned observer] in observer.stopObservingDatabaseChangesUntilNextTransaction() }
            observer.stopObservingDatabaseChangesUntilNextTransaction()
            try db.execute(sql: "BEGIN; UPDATE player SET score = 1; COMMIT; UPDATE player SET score = 2")
            #expect(observer.takeLog().filter { $0.hasPrefix("update") }.count == 4)
        }
    }

    @Test func valuesBeforeAndAfter() throws {
        try withTables { (db, observer) throws in
            var events: [DatabasePreUpdateEvent] = []
            var copies: [DatabasePreUpdateEvent] = []
            observer.willChange = { event in
                events.append(event)
                copies.append(event.copy())
                #expect(event.count == 3)
            }
            try db.execute(sql: "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM player WHERE id = 5; END")
            try db.execute(sql: "INSERT INTO player VALUES (4, 'd', 4); UPDATE player SET id = 5 WHERE id = 4")
            observer.willChange = { if $0.tableName == "player" { events.append($0) } }
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            // The values of kept events stay.
            #expect(events.map(\.kind) == [.insert, .update, .delete])
            #expect(events.map(\.initialRowID) == [nil, 4, 5])
            #expect(events.map(\.finalRowID) == [4, 5, nil])
            #expect(events.map(\.depth) == [0, 0, 1])
            #expect(events[0].initialDatabaseValues == nil)
            #expect(events[0].finalDatabaseValues == [4.databaseValue, "d".databaseValue, 4.databaseValue])
            #expect(events[1].initialDatabaseValue(atIndex: 0) == 4.databaseValue)
            #expect(events[1].finalDatabaseValue(atIndex: 0) == 5.databaseValue)
            #expect(events[1].finalDatabaseValue(atIndex: 3) == nil)
            #expect(events[2].initialDatabaseValues?.count == 3)
            #expect(events[2].finalDatabaseValues == nil)
            #expect(copies[0].finalDatabaseValues == events[0].finalDatabaseValues)
        }
    }

    /// SQLite stores 3.0 as 3 in a column of type REAL, and tells so when the row is inserted.
    @Test(arguments: ["", "WITHOUT ROWID"]) func valuesOfRealColumns(_ options: String) throws {
        try withTables { (db, observer) throws in
            try db.execute(sql: "CREATE TABLE price (k REAL NOT NULL PRIMARY KEY, v DOUBLE, w) \(options)")
            try db.execute(sql: "CREATE TRIGGER t AFTER INSERT ON log BEGIN REPLACE INTO price VALUES (2, 8, 8); END")
            var values: [[DatabaseValue]?] = []
            observer.willChange = { event in
                guard event.tableName == "price" else { return }
                values += [event.initialDatabaseValues, event.finalDatabaseValues].filter { $0 != nil }
            }
            try db.execute(sql: "INSERT INTO price VALUES (1, 3, 4)")
            try db.execute(sql: "UPDATE price SET k = 2, v = 5, w = 6")
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            let expected = [(1.0, 3.0, 4), (1.0, 3.0, 4), (2.0, 5.0, 6), (2.0, 5.0, 6), (2.0, 8.0, 8)]
            #expect(values == expected.map { [$0.databaseValue, $1.databaseValue, $2.databaseValue] })
        }
    }

    /// Where SQLite forbids it, the connection refuses to be used, and works afterwards.
    @Test func callbacksThatUseTheConnection() throws {
        var errors: [String] = []
        try withConnection { (db) throws in
            func use() {
                let error = expectError(.SQLITE_MISUSE) { try db.execute(sql: "DELETE FROM player") }
                errors.append(error?.message ?? "")
            }
            try db.makePlayers("Arthur")
            var asks = true
            let observer = RecordingObserver { _ in
                if asks { use() }
                asks = false
                return true
            }
            observer.willChange = { _ in use() }
            observer.didChange = { _, _ in use() }
            observer.willCommit = { use() }
            db.add(transactionObserver: observer)
            try db.execute(sql: "INSERT INTO player (id) VALUES (2)")
            #expect(errors.count == 4)
            #expect(
                Set(errors) == [
                    "A transaction observer can use the connection in databaseDidCommit and databaseDidRollback only."
                ])
            observer.willChange = nil
            observer.didChange = nil
            observer.willCommit = nil
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM player") == [1, 2])
            try db.execute(sql: "DELETE FROM player")
            #expect(observer.takeLog().last == "did commit")
        }
    }

    @Test func callbacksAfterTheEndUseTheConnection() throws {
        try withTables { (db, observer) throws in
            var isFirst = true
            observer.didCommit = { [unowned observer] db in
                guard isFirst else { return }
                isFirst = false
                do {
                    #expect(!db.isInsideTransaction)
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO log VALUES ('inside')")
                        return .commit
                    }
                    db.remove(transactionObserver: observer)
                } catch { Issue.record(error) }
            }
            let second = RecordingObserver()
            db.add(transactionObserver: second)
            try db.execute(sql: "DELETE FROM player WHERE id = 1")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM log") == 1)
            #expect(second.takeLog().count == 6)
            _ = observer.takeLog()
            try db.execute(sql: "DELETE FROM player")
            #expect(observer.takeLog() == [])
            // A rollback's callback adds an observer, which hears of the next transaction.
            let third = RecordingObserver()
            second.didRollback = { db in db.add(transactionObserver: third) }
            try db.execute(sql: "BEGIN; INSERT INTO log VALUES (2); ROLLBACK; INSERT INTO log VALUES (3)")
            #expect(third.takeLog() == ["insert main.log 2", "will commit", "did commit"])
        }
    }

    @Test func observersOfTwoDatabases() throws {
        let other = try TestConnection()
        let inner = RecordingObserver()
        try other.access { db in
            try db.execute(sql: "CREATE TABLE copy (a)")
            db.add(transactionObserver: inner)
        }
        inner.didChange = { observer, _ in observer.stopObservingDatabaseChangesUntilNextTransaction() }
        try withTables { (db, observer) throws in
            observer.didChange = { _, event in
                do {
                    try other.access { try $0.execute(sql: "INSERT INTO copy VALUES (1), (2)") }
                } catch { Issue.record(error) }
            }
            try db.execute(sql: "UPDATE player SET score = 0")
            #expect(
                observer.takeLog() == ["update main.player 1", "update main.player 2", "will commit", "did commit"])
        }
        #expect(inner.takeLog().count == 6)
    }

    @Test func handlersOfTheNextTransactionComeAfterObservers() throws {
        try withTables { (db, observer) throws in
            let order = Recorded<[String]>([])
            observer.didCommit = { _ in order.update { $0.append("observer") } }
            db.afterNextTransaction { _ in order.update { $0.append("handler") } }
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            #expect(order.value == ["observer", "handler"])
        }
    }

    @Test func cancelledAccessesEndWithACallback() throws {
        let connection = try TestConnection()
        let observer = RecordingObserver()
        var count: Int?
        observer.didRollback = { db in count = try? Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        try connection.access { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            db.add(transactionObserver: observer)
        }
        let token = AccessToken()
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    token.cancel()
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    return .commit
                }
            }
        }
        #expect(observer.takeLog() == ["insert main.t 1", "did roll back"])
        #expect(count == 0)
    }

    @Test func readsHaveNoCallbacks() throws {
        try withTables { (db, observer) throws in
            try db.beginRead(pinned: true)
            _ = try db.finishRead { try Int.fetchAll(db, sql: "SELECT id FROM player") }
            try db.execute(sql: "SELECT 1")
            #expect(observer.takeLog() == [])
        }
    }

    /// The truncate optimisation is lost only where the deleted rows are asked for.
    @Test func deletionOfAllRows() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql:
                    "CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1), (2)"
            )
            let deleteA = try db.cachedStatement(sql: "DELETE FROM a")
            let observer = RecordingObserver { $0.tableName == "a" }
            var seen: [String] = []
            let client = try db.hooks.onPreupdate { seen.append(String(cString: $0.table)) }
            db.hooks.remove(client)
            db.add(transactionObserver: observer)
            let second = try db.hooks.onPreupdate { seen.append(String(cString: $0.table)) }
            try db.execute(sql: "SAVEPOINT s")
            try deleteA.execute()
            #expect(seen == ["a", "a"])
            try db.execute(sql: "ROLLBACK TO s")
            seen = []
            // Prepared now.
            try db.execute(sql: "DELETE FROM a -- all rows")
            try db.execute(sql: "DELETE FROM b -- all rows")
            #expect(seen == ["a", "a"])
            try db.execute(sql: "RELEASE s")
            #expect(observer.takeLog() == ["delete main.a 1", "delete main.a 2", "will commit", "did commit"])
            db.hooks.remove(second)
        }
    }

    /// A list of observers belongs to a statement's columns, not to where its description was in memory.
    @Test func manyStatementsOfOneTransaction() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 0, 0)")
            let observer = RecordingObserver {
                if case .update(_, let columns) = $0 { columns.contains("a") } else { false }
            }
            db.add(transactionObserver: observer)
            try db.inTransaction {
                for number in 0..<500 {
                    try db.execute(
                        sql: "SAVEPOINT s; UPDATE t SET \(number % 2 == 0 ? "a" : "b") = \(number); RELEASE s")
                }
                return .commit
            }
            #expect(observer.takeLog().count == 252)
        }
    }
}
