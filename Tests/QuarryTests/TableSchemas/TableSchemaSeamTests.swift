import Quarry
import QuarryTableSchemas
import QuarryTestSupport
import QuarryUntrustedSQL
import Testing

/// Declared tables where other accesses wait, and under a policy for untrusted SQL.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct TableSchemaSeamTests {
    struct Player: Codable, PersistableRecord, TableSchemaProviding {
        var id: Int64?
        var name: String
        var score: Int

        static var databaseSchema: TableSchema {
            TableSchema { t in
                t.column("id").primaryKey()
                t.column("score").defaults(to: 7)
            }
        }
    }

    private static let oldTable = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        INSERT INTO player (name) VALUES ('Arthur')
        """

    /// The declaration is read in a database of its own, which the policy doesn't concern; the table is the program's.
    @Test func aPolicyForUntrustedSQL() throws {
        var policy = UntrustedSQLPolicy()
        policy.allowTable("player")
        try DatabaseQueue().write { db in
            try db.execute(sql: Self.oldTable)
            try db.withUntrustedSQL(policy) {
                expectError(.SQLITE_AUTH) { try db.synchronizeSchema(of: Player.self) }
                expectError(.SQLITE_AUTH) { try db.create(tableFor: Player.self, named: "other") }
                let names = try String.fetchAll(db, sql: "SELECT name FROM player")
                #expect(names == ["Arthur"])
            }
            #expect(try db.schemaMismatches(for: Player.self).map(\.kind) == [.missingColumn])
            #expect(try db.synchronizeSchema(of: Player.self).impossible.isEmpty)
            try db.withUntrustedSQL(policy) {
                let scores = try Int.fetchAll(db, sql: "SELECT score FROM player")
                #expect(scores == [7])
            }
            #expect(try db.schemaMismatches(for: Player.self) == [])
        }
    }

    /// A barrier waits for the reads that run. A read that waits for it sees the new column.
    @Test func aBarrier() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: Self.oldTable) }
        let (isReading, mayEnd) = (Step("a read has begun"), Step("the read may end"))
        let read = OwnThread {
            try pool.read { db in
                isReading.reach()
                try mayEnd.wait()
                return try Row.fetchAll(db, sql: "SELECT * FROM player").map(\.count)
            }
        }
        try await isReading.reached(by: read)
        let change = Task {
            try await pool.barrierWriteWithoutTransaction { db in
                try db.synchronizeSchema(of: Player.self).isUpToDate
            }
        }
        try await until("the barrier waits", by: change) { pool.statistics.readers.waiters == 1 }
        let later = Task {
            try await pool.read { db in try Int.fetchAll(db, sql: "SELECT score FROM player") }
        }
        try await until("a read waits behind it", by: later) { pool.statistics.readers.waiters == 2 }
        mayEnd.reach()
        #expect(try await read.value == [2])
        #expect(try await !change.value)
        #expect(try await later.value == [7])
    }
}
