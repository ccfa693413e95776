import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Closing after an interruption that reached an idle writer.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct InterruptedClosingTests {
    /// SQLite remembers an interruption until its next statement; the checkpoint of closing must not stop at it.
    @Test func logIsDeletedAfterAnInterruptionOfIdleConnections() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("interrupted.sqlite")
        let pool = try DatabasePool(path: path)
        try pool.write { db in try db.makePlayers() }
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        pool.interrupt()
        try pool.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    /// The end of the grace period interrupts a read, and the writer, which is idle.
    @Test func logIsDeletedAfterAnInterruptedRead() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("interrupted.sqlite")
        let pool = try DatabasePool(path: path)
        try await pool.write { db in try db.makePlayers() }
        let hasBegun = Step("the read has begun")
        let read = OwnThread {
            try pool.read { db in
                hasBegun.reach()
                return try Int.fetchOne(
                    db, sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
            }
        }
        try await hasBegun.reached(by: read)
        try await pool.close(gracePeriod: .zero, interruptionTimeout: .seconds(60))
        await #expect(throws: DatabaseError.self) { try await read.value }
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
}
