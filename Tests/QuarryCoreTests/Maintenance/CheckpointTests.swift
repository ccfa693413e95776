import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct CheckpointTests {
    @Test func takesTheLogIntoTheDatabase() throws {
        try withTemporaryFolder { folder in
            try withConnection(path: folder + "/db") { (db) throws in
                let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
                #expect(mode == "wal")
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                let (frames, taken) = try db.checkpoint()
                #expect(frames > 0)
                #expect(taken == frames)
                let (left, leftTaken) = try db.checkpoint(.truncate)
                #expect(left == 0 && leftTaken == 0)
            }
        }
    }

    @Test func saysWhatIsInTheWay() throws {
        try withTemporaryFolder { folder in
            try withConnection(path: folder + "/db") { (db) throws in
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: "CREATE TABLE t (a)")
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    expectError(.SQLITE_LOCKED) { try db.checkpoint(.full) }
                    return .commit
                }
                expectError(.SQLITE_ERROR, "checkpoint of nowhere in \(db.description): unknown database: nowhere") {
                    try db.checkpoint(.passive, on: "nowhere")
                }
                try db.checkpoint(.full)
            }
        }
    }

    @Test func hasNothingToDoInMemory() throws {
        try withConnection { (db) throws in
            let (frames, taken) = try db.checkpoint()
            #expect(frames == -1 && taken == -1)
        }
    }
}
