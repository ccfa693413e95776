import QuarryCore

/// The lack of memory or of file descriptors while a connection is opened.
package enum ResourceShortage {
    /// Whether a connection couldn't be opened because the process has no memory or too few file descriptors
    /// left.
    package static func isCause(of error: DatabaseError) -> Bool {
        if error.extendedResultCode == .SQLITE_IOERR_NOMEM { return true }
        return switch error.resultCode.primaryResultCode {
        case .SQLITE_NOMEM: true
        case .SQLITE_CANTOPEN, .SQLITE_IOERR: FileSystem.isShortOfDescriptors
        default: false
        }
    }
}
