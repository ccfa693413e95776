import Testing

@testable import Quarry
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
