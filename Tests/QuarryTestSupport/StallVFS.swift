import CTestVFS
import Foundation
import QuarryCore

/// A file system whose syncs wait on demand, as those of a disk that is slow.
///
/// ```swift
/// let disk = try StallVFS()
/// configuration.vfs = disk.name
/// disk.stall()
/// … // writes wait
/// disk.resume()
/// ```
///
/// It stays registered for good: connections that use it may outlive it.
public final class StallVFS: @unchecked Sendable {
    // Sendable: the C code locks.

    /// The name to open connections with.
    public let name: String

    private let vfs: OpaquePointer

    /// Registers a file system with a name of its own.
    public init() throws {
        name = "stall-\(UUID().uuidString)"
        guard FirstConnection.isOpened, let vfs = stall_vfs_register(name) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        self.vfs = vfs
    }

    deinit { resume() }

    /// Makes syncs wait.
    public func stall() { stall_vfs_stall(vfs) }

    /// Lets syncs go on.
    public func resume() { stall_vfs_resume(vfs) }

    /// The number of syncs that wait.
    public var waitingCount: Int { Int(stall_vfs_waiting(vfs)) }
}
