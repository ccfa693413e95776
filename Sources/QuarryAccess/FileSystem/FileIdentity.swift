#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file, whatever its name. If the file of a path is replaced, the path has another identity.
///
/// ```swift
/// config.onCorruption { event in
///     if case .confirmed(let report) = event { log("\(report.path): inode \(report.file.inode)") }
/// }
/// ```
public struct FileIdentity: Sendable, Hashable {
    /// The device.
    public let device: UInt64
    /// The number of the file on the device.
    public let inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// The file that has a path now; nil if none has.
    package init?(path: String) {
        var status = stat()
        // The conversion of an argument would allocate.
        guard path.withCString({ stat($0, &status) }) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
