import Quarry
import QuarryCore

/// A file of a damaged database, which is only read.
final class SourceFile {
    private var handle: DatabaseFileHandle
    let path: String
    let size: Int64
    /// Whether bytes that the file has couldn't be read.
    private(set) var hasFailed = false

    /// - throws: `SQLITE_CANTOPEN`; `SQLITE_BUSY` if a connection is just writing the database.
    init(path: String, kind: DatabaseFileHandle.Kind, vfs: String?) throws {
        var handle = try DatabaseFileHandle(path: path, kind: kind, vfs: vfs)
        if kind == .database { try handle.lockShared() }
        size = try handle.size()
        self.path = path
        self.handle = handle
    }

    /// Bytes of the file; nil if they can't be read, or if the file ends before.
    func bytes(_ count: Int, at offset: Int64) -> [UInt8]? {
        do {
            return try handle.bytes(count, at: offset)
        } catch {
            if error.extendedResultCode != .SQLITE_IOERR_SHORT_READ { hasFailed = true }
            return nil
        }
    }
}
