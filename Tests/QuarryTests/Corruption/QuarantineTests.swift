import Foundation
import QuarryTestSupport
import Testing

@testable import Quarry

/// Copies of damaged files.
@Suite struct QuarantineTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// Each call of the file system fails: there is a whole copy with its log, or none.
    @Test func eachFailingCallLeavesNoTornCopy() throws {
        let file = try DamagedFile(path: folder.file("db"))
        let pool = try DatabasePool(path: file.path)
        try pool.write { db in try db.execute(sql: "INSERT INTO team VALUES (2, 'Blues')") }
        let copy = folder.file("db.corrupt")
        func removeCopy() { for suffix in ["", "-wal"] { FileCopy.remove(copy + suffix) } }
        // SQLite keeps descriptors that it can't close yet for the next use.
        try Quarantine(of: file.path, vfs: nil, FileOperations()).copy(to: copy)
        removeCopy()
        let (bytes, descriptors) = (try folder.bytes, try folder.openFiles)
        #expect(bytes["db-wal"]?.isEmpty == false)
        for number in [EIO, ENOSPC] {
            let count = try FileCalls.eachFails(with: number) { files in
                try Quarantine(of: file.path, vfs: nil, files).copy(to: copy)
                let copies = try folder.bytes
                #expect(copies["db.corrupt"] == bytes["db"] && copies["db.corrupt-wal"] == bytes["db-wal"])
                removeCopy()
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

    @Test func existingFilesAreKept() throws {
        let file = try DamagedFile(path: folder.file("db"))
        let copy = folder.file("db.corrupt")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: copy))
        expectError(.SQLITE_CANTOPEN, "quarantine of \(file.path): could not create \(copy): File exists") {
            try Quarantine(of: file.path, vfs: nil, FileOperations()).copy(to: copy)
        }
        #expect(FileCopy.bytes(copy) == Array("mine".utf8))
        let quarantine = Quarantine(of: file.path, vfs: nil, FileOperations())
        try quarantine.copy(to: quarantine.newPath())
        let copies = try folder.names.filter { $0.hasPrefix("db.corrupt-2") }
        #expect(copies.count == 1)
    }
}
