import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

// Disks that fail while writes share a transaction.

extension GroupCommitTests {
    /// An operation of the disk that fails, alone or with all that follow.
    struct Fault: CustomTestStringConvertible, Sendable {
        var name: String
        var operations: FaultVFS.Operations
        var code: ResultCode?
        /// The writers whose groups come to this operation.
        var kinds = Kind.allCases
        var isLasting = false
        var testDescription: String { isLasting ? name + " from then on" : name }

        /// Whether the fault may have led to an error of a write.
        func explains(_ error: any Error) -> Bool {
            guard let error = error as? DatabaseError else { return error is Failure }
            let codes = code.map { [$0] } ?? [.SQLITE_IOERR, .SQLITE_CANTOPEN]
            if codes.contains(error.resultCode) { return true }
            // The extended codes of SQLITE_IOERR begin otherwise.
            let reasons = codes.map { "one of them failed (\($0.rawValue)" } + ["disk I/O error"]
            return error.resultCode == .SQLITE_ABORT && reasons.contains { error.message?.contains($0) ?? false }
        }

        static let all = [
            Fault(name: "I/O", operations: [.write, .sync, .truncate], code: .SQLITE_IOERR),
            Fault(name: "disk full", operations: .write, code: .SQLITE_FULL),
            Fault(name: "write", operations: .write),
            Fault(name: "sync", operations: .sync),
            Fault(name: "read", operations: .read),
            Fault(name: "size", operations: .size, kinds: [.fileQueue]),
            // A log is opened and locked with its database, and it is never deleted while the database is open.
            Fault(name: "open", operations: .open, kinds: [.fileQueue]),
            Fault(name: "lock", operations: .lock, kinds: [.fileQueue]),
            Fault(name: "delete", operations: .delete, kinds: [.fileQueue]),
            Fault(name: "access", operations: .access, kinds: [.fileQueue]),
            Fault(name: "shared memory", operations: .sharedMemory, kinds: [.pool, .walQueue]),
            Fault(name: "all", operations: .all),
        ].flatMap { fault in
            var lasting = fault
            lasting.isLasting = true
            return [fault, lasting]
        }
    }

    /// A write whose error is nil is in the file, and no other write is, whichever operation of the disk fails.
    @Test(arguments: Kind.allCases, Fault.all) func faults(_ kind: Kind, _ fault: Fault) async throws {
        let faults = try FaultVFS()
        let writer = try make(kind) { configuration in
            configuration.vfs = faults.name
            configuration.synchronous = .full
            // The last write doesn't fit, so that pages are written before the commit.
            configuration.cacheSize = 10
        }
        let other = try DatabaseQueue(path: folder.file("\(kind).sqlite"))
        try await other.write { db in try db.execute(sql: "CREATE TABLE large (a)") }
        var failureCount = 0
        for nth in 1... {
            // The change of another connection makes the writes read their pages again.
            try await other.write { db in
                try db.execute(sql: "DELETE FROM t; DELETE FROM child; DELETE FROM large; INSERT INTO large VALUES (1)")
            }
            let writes = [
                Self.inserting(1),
                Self.write { db in
                    // Reads a page that the first write hasn't read.
                    try db.execute(sql: "INSERT INTO child VALUES (NULL)")
                    try db.insert(row: 2)
                },
                Self.write { db in
                    try db.insert(row: 3)
                    throw Failure()
                },
                Self.write { db in
                    try db.execute(sql: "INSERT INTO large VALUES (zeroblob(100000))")
                    try db.insert(row: 4)
                },
            ]
            let errors = try await errors(of: writes, in: writer) { _ in
                faults.arm(fault.operations, nth: nth, code: fault.code, andAllAfter: fault.isLasting)
            }
            let hasFailed = faults.failures > 0
            faults.disarm()
            let kept = zip([1, 2, 3, 4], errors).filter { $0.1 == nil }.map(\.0)
            #expect(try await values(writer) == kept, "\(nth): \(errors)")
            #expect(try await other.read { db in try db.values() } == kept, "\(nth): \(errors)")
            let parts = try await other.read { db in
                try Int.fetchAll(db, sql: "SELECT COUNT(*) FROM child UNION ALL SELECT COUNT(*) - 1 FROM large")
            }
            // SQLITE_ABORT names the error of the write that has lost the transaction.
            #expect(errors.allSatisfy { $0.map(fault.explains) ?? true }, "\(nth): \(errors)")
            #expect(parts == [2, 4].map { kept.contains($0) ? 1 : 0 }, "\(nth): \(errors)")
            guard hasFailed else {
                #expect(kept == [1, 2, 4])
                break
            }
            failureCount += 1
        }
        #expect(failureCount > 0 || !fault.kinds.contains(kind))
    }
}
