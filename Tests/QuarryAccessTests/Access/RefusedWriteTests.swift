import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Writes that call back and are refused: their closures get a connection that no other access has.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct RefusedWriteTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .pool])
    func theConnectionIsNoOneElses(_ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.maximumWaiters = 0
        let writer = try kind.make(folder, configuration)
        let hasBegun = Step("the write has begun")
        let mayEnd = Step("the write may end")
        let identity: Recorded<ObjectIdentifier?> = Recorded(nil)
        let holder = OwnThread {
            try writer.write { db in
                let id = ObjectIdentifier(db)
                identity.update { $0 = id }
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let message: @Sendable (DatabaseError?) -> Bool = { error in
            error?.resultCode == .SQLITE_BUSY && error?.message?.hasSuffix("(Configuration.maximumWaiters)") ?? false
        }
        await withCheckedContinuation { continuation in
            writer.asyncWrite { _ in
                Issue.record("it has run")
            } completion: { db, result in
                #expect(message(expectError(DatabaseError.self) { try result.get() }))
                #expect(ObjectIdentifier(db) != identity.value)
                self.expectRefusal(db, message)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            writer.asyncWriteWithoutTransaction { db in
                #expect(ObjectIdentifier(db) != identity.value)
                self.expectRefusal(db, message)
                continuation.resume()
            }
        }
        mayEnd.reach()
        try await holder.value
    }

    /// Each use throws why there is no connection; what can't throw does nothing.
    private func expectRefusal(_ db: Database, _ isRefusal: (DatabaseError?) -> Bool) {
        #expect(isRefusal(expectError(DatabaseError.self) { try db.execute(sql: "SELECT 1") }))
        #expect(isRefusal(expectError(DatabaseError.self) { _ = try Int.fetchOne(db, sql: "SELECT 1") }))
        #expect(isRefusal(expectError(DatabaseError.self) { _ = try db.makeStatement(sql: "SELECT 1") }))
        #expect(isRefusal(expectError(DatabaseError.self) { try db.inTransaction { .commit } }))
        #expect(isRefusal(expectError(DatabaseError.self) { _ = try db.tableExists("t") }))
        #expect(db.sqliteConnection == nil)
        #expect(db.changesCount == 0)
        #expect(db.lastInsertedRowID == 0)
        #expect(!db.isInsideTransaction)
        #expect(db.description == "no connection")
        db.releaseMemory()
        db.interrupt()
        db.trace { _ in }
        db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 1 })
        db.afterNextTransaction { _ in }
    }
}
