import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Writes whose closure ends their transaction by itself, in tasks and with completions.
@Suite("Writes that end their own transaction", .timeLimit(.minutes(2 * TestTime.factor))) struct AbortedWriteTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let kinds: [WriterKind] = [.memoryQueue, .fileQueue, .walQueue, .pool]
    static let ends = ["ROLLBACK", "COMMIT", "END", "ROLLBACK; BEGIN", "COMMIT; BEGIN"]

    /// Inserts a row, ends the transaction, and inserts another one, which must not stay in any mode.
    private static func run(_ db: Database, _ end: String) throws {
        try db.execute(sql: "INSERT INTO t VALUES (1)")
        for sql in end.split(separator: ";") { try? db.execute(sql: String(sql)) }
        try? db.execute(sql: "INSERT INTO t VALUES (2)")
    }

    private static func rows(after end: String) -> [Int] { end.hasPrefix("ROLLBACK") ? [] : [1] }

    private func isAborted(_ error: (any Error)?) -> Bool { (error as? DatabaseError)?.resultCode == .SQLITE_ABORT }

    @Test(arguments: kinds, ends) func inATask(_ kind: WriterKind, _ end: String) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let error = await expectError(DatabaseError.self) { try await writer.write { db in try Self.run(db, end) } }
        #expect(isAborted(error))
        #expect(try await writer.read { db in try db.values() } == Self.rows(after: end))
        try await writer.write { db in try db.insert(3) }
        #expect(try await writer.read { db in try db.values() } == Self.rows(after: end) + [3])
    }

    /// The completion is told, and has a connection outside a transaction.
    @Test(arguments: kinds, ends) func withACompletion(_ kind: WriterKind, _ end: String) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        await withCheckedContinuation { continuation in
            writer.asyncWrite {
                db in
                try Self.run(db, end)
            } completion: { db, result in
                #expect(isAborted(expectError(DatabaseError.self) { try result.get() }))
                #expect(!db.isInsideTransaction)
                #expect(throws: Never.self) { try db.execute(sql: "INSERT INTO t VALUES (4)") }
                continuation.resume()
            }
        }
        #expect(try await writer.read { db in try db.values() } == Self.rows(after: end) + [4])
    }

    @Test(arguments: kinds, ends) func inATransactionOfItsOwn(_ kind: WriterKind, _ end: String) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let error = await expectError(DatabaseError.self) {
            try await writer.barrierWriteWithoutTransaction { db in
                try db.inTransaction {
                    try Self.run(db, end)
                    return .commit
                }
            }
        }
        #expect(isAborted(error))
        #expect(try await writer.read { db in try db.values() } == Self.rows(after: end))
    }
}
