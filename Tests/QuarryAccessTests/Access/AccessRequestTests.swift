import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// How accesses begin and end, and where they run.
@Suite struct AccessRequestTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    @Test(arguments: [(AccessRequest.Kind.bare, false), (.read, true), (.pinnedRead, true)])
    func transactions(_ kind: AccessRequest.Kind, _ hasTransaction: Bool) throws {
        try queue.inDatabase { db in
            let isInside = try kind.run(db) { db in db.isInsideTransaction }
            #expect(isInside == hasTransaction)
            #expect(!db.isInsideTransaction)
        }
    }

    @Test func aWriteIsATransaction() throws {
        struct Refusal: Error {}
        var configuration = Configuration()
        let trace = SQLTrace()
        trace.install(in: &configuration)
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            _ = trace.take()
            try AccessRequest.Kind.write.run(db) { db in try db.execute(sql: "CREATE TABLE t (a)") }
            #expect(
                trace.take() == ["BEGIN IMMEDIATE TRANSACTION", "CREATE TABLE t (a)", "COMMIT TRANSACTION"])
            #expect(throws: Refusal.self) {
                try AccessRequest.Kind.write.run(db) { db in
                    try db.execute(sql: "DELETE FROM t")
                    throw Refusal()
                }
            }
            #expect(trace.take() == ["BEGIN IMMEDIATE TRANSACTION", "DELETE FROM t", "ROLLBACK TRANSACTION"])
        }
    }

    /// A group tells writes that may share a commit from accesses that may not.
    @Test(arguments: WriterKind.allCases) func writersAskForWrites(_ kind: WriterKind) throws {
        let folder = try TemporaryFolder()
        let writer = try #require(try kind.make(folder).groupReader as? any GroupWriter)
        guard case .write = writer.transactionRequest.kind else {
            Issue.record("not a write: \(writer.transactionRequest.kind)")
            return
        }
        guard case .bare = writer.writeRequest.kind else {
            Issue.record("not bare: \(writer.writeRequest.kind)")
            return
        }
        #expect(writer.transactionRequest.placement == writer.writeRequest.placement)
    }

    @Test func aBegunReadIsEnded() throws {
        try queue.inDatabase { db in
            try db.beginRead(pinned: true)
            #expect(try AccessRequest.Kind.begunRead.run(db) { db in db.isInsideTransaction })
            #expect(!db.isInsideTransaction)
        }
    }

    @Test func aSnapshotKeepsItsTransaction() throws {
        try queue.inDatabase { db in
            try db.beginRead(pinned: true)
            #expect(try AccessRequest.Kind.snapshotRead.run(db) { db in db.isInsideTransaction })
            #expect(db.isInsideTransaction)
            try db.finishRead {}
            let error = #expect(throws: DatabaseError.self) { try AccessRequest.Kind.snapshotRead.run(db) { _ in } }
            #expect(error?.resultCode == .SQLITE_ABORT)
            #expect(error?.message == "Snapshot is lost.")
        }
    }

    /// It has a connection while it waits for others.
    @Test func anAccessWithABarrierIsOffloaded() {
        let group = queue.runner.group
        let request = AccessRequest(barrier: group)
        #expect(request.placement == .offloaded)
        #expect(request.barrier === group)
        #expect(AccessRequest(.bare, .inline).barrier == nil)
    }
}
