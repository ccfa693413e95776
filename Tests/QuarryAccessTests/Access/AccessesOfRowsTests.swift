import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Asynchronous accesses that return rows.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct AccessesOfRowsTests {
    let folder: TemporaryFolder
    let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try folder.offloadedPool()
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x')")
        }
    }

    /// The rows of the table, fetched by a thread of the library: a synchronous access would run on the test's.
    private static func rows(_ db: Database) throws -> [Row] {
        #expect(WorkerThreads.isCurrentThread)
        return try Row.fetchAll(db, sql: "SELECT * FROM t")
    }

    private static func row(_ db: Database) throws -> Row? { try rows(db).first }

    @Test func eachVerbIsAsynchronous() async throws {
        let expected: [Row] = [["a": 1, "b": "x"]]
        #expect(try await pool.read { try Self.rows($0) } == expected)
        #expect(try await pool.read(timeout: .seconds(60)) { try Self.rows($0) } == expected)
        #expect(try await pool.unsafeRead { try Self.rows($0) } == expected)
        #expect(try await pool.write { try Self.rows($0) } == expected)
        #expect(try await pool.write(timeout: .seconds(60)) { try Self.rows($0) } == expected)
        #expect(try await pool.writeWithoutTransaction { try Self.rows($0) } == expected)
        #expect(try await pool.barrierWriteWithoutTransaction { try Self.rows($0) } == expected)
        let readers: [any DatabaseReader] = [pool, AnyDatabaseReader(pool), try pool.makeSnapshotPool()]
        for reader in readers { #expect(try await reader.read { try Self.rows($0) } == expected) }
    }

    @Test func eachContainerOfRows() async throws {
        #expect(try await pool.read { try Self.row($0) }?["a"] == 1)
        #expect(try await pool.read { try #require(try Self.row($0)) }["b"] == "x")
        #expect(try await pool.read { db in Set(try Self.rows(db)) }.count == 1)
        #expect(try await pool.read { db in [[try Self.row(db)], [nil]] }.count == 2)
        #expect(try await pool.read { try Row.fetchOne($0, sql: "SELECT 1 WHERE 0") } == nil)
        let rows = try await pool.write { db in
            try Row.fetchAll(db, sql: "DELETE FROM t RETURNING *")
        }
        #expect(rows == [["a": 1, "b": "x"]])
    }

    /// A function that sends the rows to another actor.
    private func sent() async throws -> sending [Row] { try await pool.read { try Self.rows($0) } }

    @Test func rowsCanBeSent() async throws {
        let rows = try await sent()
        #expect(await Task { @MainActor in rows.map { $0["a"] as Int } }.value == [1])
    }

    @Test func scopesAndPrefetchedRowsLeave() async throws {
        try await pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team, name TEXT);
                    INSERT INTO team VALUES (1, 'Red');
                    INSERT INTO player VALUES (1, 1, 'Arthur'), (2, 1, 'Barbara');
                    """)
        }
        let rows = try await pool.read { db in
            try Row.fetchAll(db, Team.including(all: Team.players.including(required: Player.team)))
        }
        let players = try #require(rows.first?.prefetchedRows["players"])
        #expect(players.map { $0["name"] as String } == ["Arthur", "Barbara"])
        #expect(players.first?.scopes["team"]?["name"] == "Red")
    }

    /// Copied rows are returned as they are; each thread may read them.
    @Test func copiedRowsAreRead() async throws {
        let adapter = ScopeAdapter(["first": RangeRowAdapter(0..<1)])
        let row = try await pool.read { db in try Row.fetchOne(db, sql: "SELECT * FROM t", adapter: adapter) }
        nonisolated(unsafe) let copy = try #require(row)
        #expect(copy.copy() === copy)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        #expect(copy["a"] == 1)
                        #expect(copy["B"] == "x")
                        #expect(copy.scopes["first"]?["a"] == 1)
                        #expect(!copy.hasColumn("c") && copy.description == #"[a:1 b:"x"]"#)
                    }
                }
            }
        }
    }

    @Test func rowsOfCursors() async throws {
        await expectError(.SQLITE_MISUSE, "The row's cursor has ended: copy() a row to keep it.") {
            try await pool.read { db in try Row.fetchCursor(db, sql: "SELECT * FROM t").next() }
        }
        // A write whose result can't leave is rolled back.
        await expectError(.SQLITE_MISUSE, "The row's cursor has ended: copy() a row to keep it.") {
            try await pool.write { db in
                try db.execute(sql: "DELETE FROM t")
                return try Row.fetchCursor(db, sql: "SELECT 1").next()
            }
        }
        #expect(try await pool.read { try Self.rows($0) }.count == 1)
        #expect(
            try await pool.read { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t")
                return try cursor.next()?.copy()
            }?["b"] == "x")
    }

    /// A row that is kept beyond its access has no connection to read.
    @Test func rowsThatEscapeHaveExpired() throws {
        var kept: [Row] = []
        var cursors: [RowCursor] = []
        try pool.unsafeRead { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t")
            if let row = try cursor.next() { kept.append(row) }
            cursors.append(cursor)
        }
        for row in kept {
            expectError(.SQLITE_MISUSE, "The row's cursor has ended: copy() a row to keep it.") {
                try row.decode(Int.self, forColumn: "a")
            }
            #expect(row.description == "[a row whose cursor has ended]")
        }
        #expect(kept.count == 1)
    }

    /// Types that programs return from accesses.
    @Test func valuesThatReadsReturnAreSendable() {
        func check<T: Sendable>(_: T.Type) {}
        check(DatabaseValue.self)
        check([String: DatabaseValue].self)
        check(StatementArguments.self)
        check(ColumnInfo.self)
        check(IndexInfo.self)
        check(PrimaryKeyInfo.self)
        check(ForeignKeyInfo.self)
        check(ForeignKeyViolation.self)
        check(DatabaseRegion.self)
        check(QueryPlan.self)
        check(SQL.self)
        check(SQLRequest<Row>.self)
        check(QueryInterfaceRequest<Row>.self)
        check(CommitNumber.self)
        check(FTS5Pattern.self)
        check(DatabaseDateComponents.self)
        check(RecordError.self)
        check(DatabaseError.self)
    }
}

private struct Team: Codable, FetchableRecord, PersistableRecord {
    static let players = hasMany(Player.self)
    var id: Int64
}

private struct Player: Codable, FetchableRecord, PersistableRecord {
    static let team = belongsTo(Team.self)
    var id: Int64
}
