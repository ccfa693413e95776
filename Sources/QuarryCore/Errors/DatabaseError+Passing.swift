// Errors after which the library tries again.

extension DatabaseError {
    /// Whether the same access may succeed a moment later: another connection was in the way, the access was
    /// interrupted, or another one has rolled its transaction back.
    package var isTransient: Bool {
        switch extendedResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT, .SQLITE_SCHEMA, .SQLITE_ABORT_ROLLBACK: true
        default: false
        }
    }

    /// Whether the same access may succeed later, with the same database: also if the disk was full or out of reach, or
    /// the process had no memory or file descriptors left.
    package var mayPass: Bool {
        switch resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_CANTOPEN, .SQLITE_PROTOCOL: true
        default: isTransient
        }
    }
}
