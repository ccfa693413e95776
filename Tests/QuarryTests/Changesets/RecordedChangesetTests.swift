import QuarryTestSupport
import Testing

@testable import QuarryChangesets
@testable import QuarryCore

/// Recording changesets, and comparing schemas.
@Suite struct RecordedChangesetTests {
    @Test func theResultHasValueAndChanges() throws {
        try withPlayers { (db, _) throws in
            let recorded = try db.recordChangeset(of: ["PLAYER"], schema: "main") {
                try db.execute(sql: "UPDATE player SET score = score + 1")
                return db.changesCount
            }
            #expect(recorded.value == 2)
            #expect(Array(recorded.changeset).count == 2)
            #expect(recorded.unrecordedTables.isEmpty)
            #expect(!db.isInsideTransaction)
        }
    }

    @Test func otherTablesAreLeftOut() throws {
        try withPlayers("CREATE TABLE team (id INTEGER PRIMARY KEY)") { (db, _) throws in
            let sql = "INSERT INTO team VALUES (1); INSERT INTO player VALUES (3, 'c', 1)"
            #expect(try db.recorded(sql, of: ["player"]).map(\.table) == ["player"])
        }
    }

    @Test func netChangesAreRecorded() throws {
        try withPlayers { (db, _) throws in
            let changeset = try db.recorded(
                """
                INSERT INTO player VALUES (3, 'c', 1); DELETE FROM player WHERE id = 3;
                UPDATE player SET score = 11 WHERE id = 1; UPDATE player SET score = 10 WHERE id = 1;
                UPDATE player SET id = 9 WHERE id = 2;
                """)
            #expect(
                Set(changeset.map(\.description)) == ["delete player(2, \"b\", 20)", "insert player(9, \"b\", 20)"])
        }
    }

    @Test func replaceAndUpsert() throws {
        try withPlayers { (db, _) throws in
            let changeset = try db.recorded(
                "REPLACE INTO player VALUES (3, 'a', 1); INSERT INTO player VALUES (2, 'x', 1) ON CONFLICT DO UPDATE SET score = 7"
            )
            #expect(
                Set(changeset.map(\.description)) == [
                    "delete player(1, \"a\", 10)", "insert player(3, \"a\", 1)", "update player(2, _, 20) to (_, _, 7)",
                ])
        }
    }

    @Test func triggersAndCascadesAreIndirect() throws {
        try withPlayers(
            """
            CREATE TABLE child (id INTEGER PRIMARY KEY, player REFERENCES player ON DELETE CASCADE);
            CREATE TABLE log (id INTEGER PRIMARY KEY, name);
            CREATE TRIGGER logging AFTER DELETE ON player BEGIN INSERT INTO log (name) VALUES (old.name); END;
            INSERT INTO child VALUES (7, 1);
            """
        ) { (db, _) throws in
            let changeset = try db.recorded("DELETE FROM player WHERE id = 1")
            #expect(
                Set(changeset.map { "\($0.isIndirect) \($0)" }) == [
                    "false delete player(1, \"a\", 10)", "true delete child(7, 1)", "true insert log(1, \"a\")",
                ])
        }
    }

    /// A statement that was prepared before the recording may delete all rows at once.
    @Test(arguments: [false, true]) func deletionOfAllRowsThatWasPreparedBefore(_ isObserved: Bool) throws {
        try withPlayers { (db, _) throws in
            if isObserved { try db.listenToCommits(RecordingListener()) }
            let delete = try db.cachedStatement(sql: "DELETE FROM player")
            try db.inTransaction {
                try delete.execute()
                return .rollback
            }
            let changeset = try db.recordChangeset { try delete.execute() }.changeset
            #expect(Array(changeset).count == 2)
            try db.apply(changeset.inverted())
            #expect(try db.recorded("DELETE FROM player") == changeset)
        }
    }

    @Test func writesOfBlobsAreRecorded() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content); INSERT INTO file VALUES (1, x'0102')")
            let changeset = try db.recordChangeset {
                try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false).write([3])
            }.changeset
            #expect(changeset.map(\.description) == ["update file(1, x'0102') to (_, x'0302')"])
        }
    }

    // MARK: - Tables that can't be recorded

    @Test func unrecordedTablesAreListed() throws {
        try withPlayers(
            """
            CREATE TABLE list (a); CREATE VIRTUAL TABLE text USING fts5(a); CREATE TABLE unchanged (a);
            CREATE TABLE key (a TEXT PRIMARY KEY);
            """
        ) { (db, _) throws in
            let recorded = try db.recordChangeset {
                try db.execute(
                    sql: """
                        INSERT INTO list VALUES (1), (2); INSERT INTO text VALUES ('x');
                        DELETE FROM player WHERE id = 1;
                        INSERT INTO key VALUES (NULL); ANALYZE;
                        """)
            }
            #expect(recorded.changeset.map(\.table) == ["player"])
            #expect(recorded.unrecordedTables.first == "list")
            #expect(Set(recorded.unrecordedTables.dropFirst()).isSuperset(of: ["text_content", "text_data"]))
            #expect(!recorded.unrecordedTables.contains("unchanged"))
        }
    }

    /// A row that comes and goes leaves nothing: a table whose rows would stay isn't recorded.
    @Test(arguments: ["", "WITHOUT ROWID", "STRICT"]) func realKeysAreRightOrUnrecorded(_ options: String) throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE price (k REAL NOT NULL PRIMARY KEY, v REAL) \(options)")
            let recorded = try db.recordChangeset {
                try db.execute(sql: "INSERT INTO price VALUES (5, 1); DELETE FROM price")
            }
            #expect(recorded.changeset.isEmpty)
            #expect(recorded.unrecordedTables == (SessionHandle.notesRealKeys ? [] : ["price"]))
            // A comparison reads the keys as they are.
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS old; CREATE TABLE old.price (k REAL NOT NULL PRIMARY KEY, v REAL) \(options);
                    INSERT INTO price VALUES (1, 1); INSERT INTO old.price VALUES (1, 2), (3, 3);
                    """)
            let difference = try db.changeset(from: "old", to: "main", tables: ["price"])
            #expect(
                Set(difference.map(\.description)) == ["update price(1.0, 2.0) to (_, 1.0)", "delete price(3.0, 3.0)"])
        }
    }

    @Test(arguments: [
        ("list", "it has no primary key"), ("seen", "it is a view"), ("text", "it is a virtual table"),
        ("nothing", "there is no such table"),
        ("price", "its primary key has a column of type REAL, whose values SQLite doesn't recognize again"),
        ("part", "its primary key has a column of type REAL, whose values SQLite doesn't recognize again"),
    ]) func namedTablesThatCannotBeRecordedThrow(_ table: String, _ reason: String) throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE list (a); CREATE VIEW seen AS SELECT 1; CREATE VIRTUAL TABLE text USING fts5(a);
                    CREATE TABLE price (k DOUBLE PRIMARY KEY, v);
                    CREATE TABLE part (a, b REAL, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    """)
            if SessionHandle.notesRealKeys, ["price", "part"].contains(table) { return }
            var isRun = false
            expectError(.SQLITE_MISUSE, "no changeset can be made of main.\(table): \(reason)") {
                try db.recordChangeset(of: [table], schema: "main") { isRun = true }
            }
            #expect(!isRun)
        }
    }

    /// Older versions of SQLite don't record tables with generated columns.
    @Test func generatedColumns() throws {
        try withPlayers("CREATE TABLE sum (id INTEGER PRIMARY KEY, a, b AS (a + 1), c AS (a + 2) STORED, d)") {
            (db, other) throws in
            let recorded = try db.recordChangeset {
                try db.execute(sql: "INSERT INTO sum (a, d) VALUES (1, 2); DELETE FROM player WHERE id = 1")
            }
            if SessionHandle.notesGeneratedColumns {
                #expect(recorded.unrecordedTables.isEmpty)
                #expect(Set(recorded.changeset.map(\.table)) == ["sum", "player"])
                try other.apply(recorded.changeset)
                #expect(try other.rows("sum") == "1|1|2|3|2")
            } else {
                #expect(recorded.unrecordedTables == ["sum"])
                #expect(recorded.changeset.map(\.table) == ["player"])
                expectError(
                    .SQLITE_MISUSE,
                    "no changeset can be made of main.sum: it has generated columns, which this version of SQLite can't note"
                ) { try db.recorded("", of: ["sum"]) }
            }
        }
    }

    @Test func aSchemaThatDoesNotExistThrows() throws {
        try withConnection { (db) throws in
            expectError(.SQLITE_ERROR, "could not make a changeset: there is no schema other") {
                try db.recordChangeset(of: nil, schema: "other") {}
            }
            expectError(.SQLITE_MISUSE) { try db.recordChangeset(of: nil, schema: "a\0b") {} }
            expectError(.SQLITE_MISUSE) { try db.recordChangeset(of: ["a\0b"], schema: "main") {} }
        }
    }

    @Test func attachedSchemas() throws {
        try withPlayers("ATTACH ':memory:' AS other; CREATE TABLE other.item (id INTEGER PRIMARY KEY)") {
            (db, _) throws in
            let sql = "INSERT INTO other.item VALUES (1); DELETE FROM player"
            let recorded = try db.recordChangeset(of: nil, schema: "other") { try db.execute(sql: sql) }
            #expect(recorded.changeset.map(\.description) == ["insert item(1)"])
            let temporary = try db.recordChangeset(of: nil, schema: "temp") {
                try db.execute(sql: "CREATE TEMP TABLE t (a PRIMARY KEY); INSERT INTO t VALUES (1)")
            }
            #expect(temporary.changeset.map(\.description) == ["insert t(1)"])
        }
    }

    @Test func tablesThatAreCreatedMeanwhile() throws {
        try withConnection { (db) throws in
            let changeset = try db.recorded("CREATE TABLE t (a PRIMARY KEY); INSERT INTO t VALUES (1)")
            #expect(changeset.map(\.description) == ["insert t(1)"])
        }
    }

    @Test func tablesThatAreAlteredMeanwhileThrow() throws {
        try withPlayers { (db, _) throws in
            expectError(.SQLITE_SCHEMA) {
                try db.recorded("DELETE FROM player; DROP TABLE player; CREATE TABLE player (a, b PRIMARY KEY)")
            }
            #expect(try db.rows() == "1|a|10,2|b|20")
        }
    }

    // MARK: - Transactions

    @Test func anErrorRollsBack() throws {
        struct Stop: Error {}
        try withPlayers { (db, _) throws in
            for isInside in [false, true] {
                if isInside { try db.beginTransaction() }
                #expect(throws: Stop.self) {
                    try db.recordChangeset {
                        try db.execute(sql: "DELETE FROM player")
                        throw Stop()
                    }
                }
                #expect(db.isInsideTransaction == isInside)
                #expect(try db.rows() == "1|a|10,2|b|20")
                #expect(!db.hooks.hasSessions)
                #expect(try db.recorded("DELETE FROM player WHERE id = 99").isEmpty)
                try db.rollback()
            }
        }
    }

    @Test func whatIsRolledBackIsNotRecorded() throws {
        try withPlayers { (db, _) throws in
            let changeset = try db.recorded(
                """
                SAVEPOINT a; DELETE FROM player; INSERT INTO player VALUES (1, 'x', 1); ROLLBACK TO a; RELEASE a;
                DELETE FROM player WHERE id = 2;
                """)
            #expect(changeset.map(\.description) == ["delete player(2, \"b\", 20)"])
        }
    }

    @Test(arguments: ["ROLLBACK", "COMMIT"]) func aTransactionThatEndsInsideThrows(_ end: String) throws {
        try withPlayers { (db, _) throws in
            let listener = RecordingListener()
            try db.listenToCommits(listener)
            expectError(.SQLITE_ABORT, "Transaction was aborted") {
                try db.recorded("DELETE FROM player WHERE id = 1; \(end)")
            }
            #expect(!db.hooks.hasSessions && !db.isInsideTransaction)
            #expect(listener.problems.isEmpty)
            #expect(try db.rows() == (end == "COMMIT" ? "2|b|20" : "1|a|10,2|b|20"))
            let rest = try db.recorded("DELETE FROM player")
            #expect(Array(rest).count == (end == "COMMIT" ? 1 : 2))
        }
    }

    @Test func recordingsNest() throws {
        try withPlayers { (db, _) throws in
            var inner = Changeset()
            var last = Changeset()
            let outer = try db.recordChangeset {
                try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 1")
                inner = try db.recorded("UPDATE player SET score = 2 WHERE id = 1")
                last = try db.recorded("DELETE FROM player WHERE id = 2")
                try db.execute(sql: "INSERT INTO player VALUES (3, 'c', 3)")
            }.changeset
            #expect(inner.map(\.description) == ["update player(1, _, 1) to (_, _, 2)"])
            #expect(last.map(\.description) == ["delete player(2, \"b\", 20)"])
            #expect(
                Set(outer.map(\.description)) == [
                    "update player(1, _, 10) to (_, _, 2)", "delete player(2, \"b\", 20)", "insert player(3, \"c\", 3)",
                ])
        }
    }

    @Test func aCancelledRecordingThrows() throws {
        try withTemporaryFolder { folder in
            let connection = try TestConnection(path: folder + "/a.sqlite")
            try connection.access { db in try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY)") }
            let token = AccessToken()
            #expect(throws: CancellationError.self) {
                try connection.access(token) { (db) throws in
                    try db.recordChangeset {
                        try db.execute(sql: "INSERT INTO t VALUES (1)")
                        token.cancel()
                    }
                }
            }
            try connection.access { (db) throws in
                #expect(try db.rows("t") == "")
                #expect(!db.hooks.hasSessions)
            }
        }
    }

    @Test func aReadOnlyConnectionRecordsNothing() throws {
        try withTemporaryFolder { folder in
            try withConnection(path: folder + "/a.sqlite") { db in try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY)")
            }
            var options = ConnectionOptions()
            options.readonly = true
            try TestConnection(path: folder + "/a.sqlite", options: options).access { (db) throws in
                #expect(try db.recorded("SELECT * FROM t").isEmpty)
                expectError(.SQLITE_READONLY) { try db.recorded("INSERT INTO t VALUES (1)") }
                expectError(.SQLITE_READONLY, "could not apply a changeset: attempt to write a readonly database") {
                    try db.apply(Changeset())
                }
            }
        }
    }

    @Test func useOutsideAnAccessThrows() throws {
        let connection = try TestConnection()
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.") {
            try connection.database.recordChangeset {}
        }
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.") {
            try connection.database.apply(Changeset())
        }
    }

    @Test func theConnectionStaysOpenWhileRecording() throws {
        try withPlayers { (db, _) throws in
            let changeset = try db.recordChangeset {
                expectError(.SQLITE_BUSY, "unable to close the connection while a changeset is made") {
                    try db.close()
                }
                try db.execute(sql: "DELETE FROM player WHERE id = 1")
            }.changeset
            #expect(changeset.map(\.description) == ["delete player(1, \"a\", 10)"])
            try db.close()
        }
    }

    // MARK: - Comparing

    @Test func schemasAreCompared() throws {
        try withPlayers(
            """
            ATTACH ':memory:' AS old;
            CREATE TABLE old.player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER);
            INSERT INTO old.player VALUES (1, 'a', 5), (3, 'c', 3);
            """
        ) { (db, _) throws in
            let changeset = try db.changeset(from: "old", tables: ["player"])
            #expect(
                Set(changeset.map(\.description)) == [
                    "update player(1, _, 5) to (_, _, 10)", "insert player(2, \"b\", 20)", "delete player(3, \"c\", 3)",
                ])
            let back = try db.changeset(from: "main", to: "old", tables: ["player"])
            let inverted = try changeset.inverted()
            #expect(Set(back.map(\.description)) == Set(inverted.map(\.description)))
            try db.apply(back)
            let expected = try db.rows("old.player")
            #expect(try db.rows() == expected)
            #expect(try db.changeset(from: "old", tables: ["player"]).isEmpty)
        }
    }

    @Test func tablesThatCannotBeComparedThrow() throws {
        try withPlayers(
            "ATTACH ':memory:' AS old; CREATE TABLE old.player (id INTEGER PRIMARY KEY); CREATE TABLE list (a)"
        ) { (db, _) throws in
            expectError(
                .SQLITE_SCHEMA, "could not compare old.player with main.player: table schemas do not match"
            ) { try db.changeset(from: "old", tables: ["player"]) }
            expectError(.SQLITE_MISUSE, "no changeset can be made of main.list: it has no primary key") {
                try db.changeset(from: "old", tables: ["list"])
            }
            expectError(.SQLITE_MISUSE, "no changeset can be made of old.list: there is no such table") {
                try db.execute(sql: "DROP TABLE list; CREATE TABLE list (a PRIMARY KEY)")
                return try db.changeset(from: "old", tables: ["list"])
            }
            #expect(!db.hooks.hasSessions && !db.isInsideTransaction)
        }
    }
}
