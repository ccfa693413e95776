import CTestVFS
import Foundation
import QuarryCore

/// A file system that records what is written and what is synced: `PowerLoss` makes of it what a disk may have when
/// the power goes.
///
/// Databases must be created with it, all in one folder.
public final class RecordingVFS: @unchecked Sendable {
    // Sendable: the C code locks.

    /// The name to open connections with.
    public let name: String

    private let vfs: OpaquePointer

    /// Registers a file system with a name of its own.
    public init() throws {
        name = "recording-\(UUID().uuidString)"
        guard FirstConnection.isOpened, let vfs = recording_vfs_register(name) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        self.vfs = vfs
    }

    deinit { recording_vfs_forget(vfs) }

    /// Records that the test has come to some point, such as a commit that was acknowledged.
    public func mark(_ number: Int) { recording_vfs_mark(vfs, Int64(number)) }

    /// How much has been recorded.
    public var count: Int { Int(recording_vfs_count(vfs)) }

    /// The event of a moment.
    func event(_ index: Int) -> PowerLoss.Event {
        let record = recording_vfs_record(vfs, Int64(index))
        let file = Int(record.file)
        switch record.kind {
        case RECORD_CREATE: return .create(file, String(cString: record.name))
        case RECORD_DELETE: return .delete(String(cString: record.name))
        case RECORD_WRITE:
            return .change(
                file, .write(UnsafeRawBufferPointer(start: record.bytes, count: Int(record.count)), Int(record.offset)))
        case RECORD_TRUNCATE: return .change(file, .truncate(Int(record.offset)))
        case RECORD_SYNC: return .sync(file)
        case RECORD_SYNC_FOLDER: return .syncFolder
        default: return .mark(file)
        }
    }
}
