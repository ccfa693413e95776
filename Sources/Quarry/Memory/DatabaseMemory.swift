import QuarryCore

/// The memory and the open files that databases keep for later.
///
/// ```swift
/// let released = DatabaseMemory.releaseIdle()
/// print(released.closedConnections)
/// ```
public enum DatabaseMemory {
    /// The connections from which a call has taken something.
    ///
    /// ```swift
    /// let released = dbPool.releaseIdle()
    /// ```
    public struct Released: Sendable, Hashable {
        /// The number of readers that were closed. Each had one or two files open.
        public internal(set) var closedConnections = 0
        /// The number of connections that stay open, and have given back their pages and prepared statements.
        public internal(set) var emptiedConnections = 0
    }

    /// Gives back what no access uses, in all queues and pools of the process.
    ///
    /// As `DatabaseWriter.releaseIdle()` for each. A queue or pool in another copy of the library isn't reached.
    ///
    /// Opening a connection does this by itself, once, when the process has no file descriptor left (`EMFILE`) or
    /// SQLite no memory (`SQLITE_NOMEM`), and then tries again.
    @discardableResult
    public static func releaseIdle() -> Released {
        var released = Released()
        for writer in LiveDatabases.writers { writer.releaseIdle(&released) }
        return released
    }
}

extension DatabaseWriter {
    /// Gives back what no access uses: closes the idle readers, and frees the pages and the prepared statements of the
    /// connection that writes, if it is idle.
    ///
    /// ```swift
    /// let released = dbPool.releaseIdle()
    /// ```
    ///
    /// It waits for no access, and may be called inside one. With `Configuration.persistentReadOnlyConnections`, idle
    /// readers stay open and are emptied. The next accesses open and prepare again what they need:
    /// <https://www.sqlite.org/c3ref/db_release_memory.html>.
    ///
    /// `releaseMemory` waits for the running accesses, and frees their connections too.
    @discardableResult
    public func releaseIdle() -> DatabaseMemory.Released {
        var released = DatabaseMemory.Released()
        (groupReader as? any GroupWriter)?.writer.releaseIdle(&released)
        return released
    }
}

extension AccessRunner {
    /// Gives back what no access uses of a database, whose writer this is.
    fileprivate func releaseIdle(_ released: inout DatabaseMemory.Released) {
        if let readers = group.barredGroup {
            if readers.idleClock == nil {
                readers.emptyIdle(&released)
            } else {
                released.closedConnections += readers.dropIdle()
            }
        }
        group.emptyIdle(&released)
    }
}

extension ConnectionGroup {
    /// Closes the idle connections.
    ///
    /// - returns: their number.
    fileprivate func dropIdle() -> Int {
        let dropped = state.withLock { state in Self.takeDropped(&state, state.machine.dropIdle()) }
        let count = dropped.count
        Self.close(dropped, state)
        Self.tellIfUnused(state)
        return count
    }

    /// Frees the pages and the prepared statements of the idle connections.
    fileprivate func emptyIdle(_ released: inout DatabaseMemory.Released) {
        var leases: [Lease] = []
        while let lease = leaseIfIdle(.thread) { leases.append(lease) }
        for lease in leases {
            // A closure that prepares connections may throw: then so does the next access.
            if (try? AccessRunner.frame(lease.database, nil, { db in db.releaseMemory() })) != nil {
                released.emptiedConnections += 1
            }
            release(lease)
        }
    }
}

/// The lack of memory or of file descriptors while a connection is opened.
enum ResourceShortage {
    /// Whether a connection couldn't be opened because the process has no memory or no file descriptor left.
    static func isCause(of error: DatabaseError) -> Bool {
        if error.extendedResultCode == .SQLITE_IOERR_NOMEM { return true }
        return switch error.resultCode.primaryResultCode {
        case .SQLITE_NOMEM: true
        case .SQLITE_CANTOPEN, .SQLITE_IOERR: FileSystem.hasNoDescriptorLeft
        default: false
        }
    }
}
