import CTestVFS
import Foundation
public import QuarryCore

/// A file system whose operations fail on demand.
///
/// ```swift
/// let faults = try FaultVFS()
/// var options = ConnectionOptions()
/// options.vfs = faults.name
/// let connection = try TestConnection(path: path, options: options)
/// faults.arm(.all, nth: 3)
/// … // the third operation fails
/// faults.disarm()
/// ```
///
/// It stays registered for good: connections that use it may outlive it.
public final class FaultVFS: @unchecked Sendable {
    // Sendable: the C code locks.

    /// Kinds of operations.
    public struct Operations: OptionSet, Sendable {
        /// The flags of the C code.
        public let rawValue: UInt32

        /// Operations with those flags.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        private init(_ flag: Int) { rawValue = UInt32(flag) }

        /// `xOpen`
        public static let open = Operations(FAULT_OPEN)
        /// `xRead`
        public static let read = Operations(FAULT_READ)
        /// `xWrite`
        public static let write = Operations(FAULT_WRITE)
        /// `xSync`
        public static let sync = Operations(FAULT_SYNC)
        /// `xLock` and `xCheckReservedLock`
        public static let lock = Operations(FAULT_LOCK)
        /// `xTruncate`
        public static let truncate = Operations(FAULT_TRUNCATE)
        /// `xDelete`
        public static let delete = Operations(FAULT_DELETE)
        /// `xAccess`
        public static let access = Operations(FAULT_ACCESS)
        /// `xFileSize`
        public static let size = Operations(FAULT_SIZE)
        /// `xShmMap` and `xShmLock`
        public static let sharedMemory = Operations(FAULT_SHARED_MEMORY)
        /// All of them.
        public static let all: Operations = [
            .open, .read, .write, .sync, .lock, .truncate, .delete, .access, .size, .sharedMemory,
        ]
    }

    /// The name to open connections with.
    public let name: String

    private let vfs: OpaquePointer

    /// Registers a file system with a name of its own.
    public init() throws {
        name = "fault-\(UUID().uuidString)"
        guard FirstConnection.isOpened, let vfs = fault_vfs_register(name) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        self.vfs = vfs
    }

    deinit {
        disarm()
        repair()
    }

    /// Makes an operation fail.
    ///
    /// A write that fails has written half its bytes, as on a full disk. A read that fails has read half of them.
    ///
    /// - parameter nth: which of them, from 1.
    /// - parameter code: what it answers; nil for the operation's own, such as `SQLITE_IOERR_READ`.
    /// - parameter andAllAfter: whether those that follow fail too.
    public func arm(_ operations: Operations, nth: Int, code: ResultCode? = nil, andAllAfter: Bool = false) {
        fault_vfs_arm(vfs, operations.rawValue, Int64(nth), code?.rawValue ?? 0, andAllAfter ? 1 : 0)
    }

    /// Makes each read fail that touches some bytes of a file, as on a disk with bad sectors.
    ///
    /// - parameter path: the full path.
    public func damage(_ path: String, _ bytes: Range<Int>) {
        fault_vfs_damage(vfs, path, Int64(bytes.lowerBound), Int64(bytes.count))
    }

    /// Lets all bytes be read again.
    public func repair() { fault_vfs_repair(vfs) }

    /// Lets all operations succeed.
    public func disarm() { fault_vfs_disarm(vfs) }

    /// The number of operations since the last `arm`, among those that it named.
    public var count: Int { Int(fault_vfs_count(vfs)) }

    /// The number of operations that were made to fail since the last `arm`.
    public var failures: Int { Int(fault_vfs_failures(vfs)) }
}
