import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// Copies of damaged files.
@Suite struct QuarantineTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// Each call of the file system fails: there is a whole copy with its log, or none.
    @Test func eachFailingCallLeavesNoTornCopy() throws {
        let file = try DamagedFile(path: folder.file("db"))
        let pool = try DatabasePool(path: file.path)
        try pool.write { db in try db.execute(sql: "INSERT INTO team VALUES (2, 'Blues')") }
        func remove(_ copy: String) { for suffix in ["", "-wal"] { FileCopy.remove(copy + suffix) } }
        // SQLite keeps descriptors that it can't close yet for the next use.
        remove(try Quarantine.copy(file.path, vfs: nil))
        let (bytes, descriptors) = (try folder.bytes, try folder.openFiles)
        #expect(bytes["db-wal"]?.isEmpty == false)
        for number in [EIO, ENOSPC] {
            let count = try FileCalls.eachFails(with: number) { files in
                let copy = try Quarantine.copy(file.path, vfs: nil, files)
                #expect(
                    FileCopy.bytes(copy) == bytes["db"].map(Array.init)
                        && FileCopy.bytes(copy + "-wal") == bytes["db-wal"].map(Array.init))
                remove(copy)
            } check: { call, failure throws in
                let error = failure as? DatabaseError
                let verb = call.kind == .create ? "create" : call.kind == .write ? "write" : "sync"
                let reason = number == EIO ? "Input/output error" : "No space left on device"
                #expect(error?.message == "quarantine of \(file.path): could not \(verb) \(call.path): \(reason)")
                if number == ENOSPC { #expect(error?.resultCode == .SQLITE_FULL) }
                #expect(try folder.bytes == bytes && folder.openFiles == descriptors, "\(call)")
            }
            #expect(count == 8)
        }
        // SQLite's locks are still held.
        try pool.write { db in try db.execute(sql: "INSERT INTO team VALUES (3, 'Greens')") }
        try pool.close()
    }

    /// Two copies in one second have different names.
    @Test func existingCopiesAreKept() throws {
        let file = try DamagedFile(path: folder.file("db"))
        let copies = try (0..<3).map { _ in try Quarantine.copy(file.path, vfs: nil) }
        #expect(Set(copies).count == 3)
        for copy in copies { #expect(FileCopy.bytes(copy) == FileCopy.bytes(file.path)) }
    }
}
