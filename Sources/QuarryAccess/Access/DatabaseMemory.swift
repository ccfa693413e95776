import QuarryCore

/// The memory and the open files that databases keep for later, and the records of cached tables.
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
        public package(set) var closedConnections = 0
        /// The number of connections that stay open, and have given back their pages and prepared statements.
        public package(set) var emptiedConnections = 0
        /// The number of records that cached tables had in memory.
        public package(set) var removedRecords = 0

        package init(closedConnections: Int = 0, emptiedConnections: Int = 0, removedRecords: Int = 0) {
            self.closedConnections = closedConnections
            self.emptiedConnections = emptiedConnections
            self.removedRecords = removedRecords
        }
    }

    /// The things that a call gives back.
    ///
    /// ```swift
    /// dbPool.releaseIdle([.pages, .statements])   // closes no reader
    /// ```
    public struct Parts: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The idle readers of pools are closed, with their files, pages and statements. With
        /// `Configuration.persistentReadOnlyConnections`, they stay open.
        public static let readers = Parts(rawValue: 1 << 0)

        /// The pages that idle connections keep in memory: <https://www.sqlite.org/c3ref/db_release_memory.html>.
        public static let pages = Parts(rawValue: 1 << 1)

        /// The prepared statements that idle connections keep.
        public static let statements = Parts(rawValue: 1 << 2)

        /// The records that each `CachedTable` has in memory. Its capacity stays.
        public static let records = Parts(rawValue: 1 << 3)

        /// All of them.
        public static let all: Parts = [.readers, .pages, .statements, .records]

        /// The parts of connections.
        static let connections: Parts = [.readers, .pages, .statements]
    }

    /// Gives back what no access uses, in all queues and pools of the process.
    ///
    /// ```swift
    /// DatabaseMemory.releaseIdle()
    /// DatabaseMemory.releaseIdle(.pages)
    /// ```
    ///
    /// As `DatabaseWriter.releaseIdle(_:)` for each. A queue or pool in another copy of the library isn't reached.
    ///
    /// Opening a connection does this by itself, once, when the process has few file descriptors left (`EMFILE` comes
    /// next) or SQLite no memory (`SQLITE_NOMEM`), and then tries again.
    ///
    /// - parameter parts: the things to give back.
    @discardableResult
    public static func releaseIdle(_ parts: Parts = .all) -> Released {
        var released = Released()
        for writer in LiveDatabases.writers { writer.releaseIdle(parts, &released) }
        return released
    }
}

extension DatabaseWriter {
    /// Gives back what no access uses: closes the idle readers, and frees the pages and the prepared statements of the
    /// idle connections that stay open, such as the one that writes. Removes the records of cached tables from memory.
    ///
    /// ```swift
    /// let released = dbPool.releaseIdle()
    /// dbPool.releaseIdle(.pages)
    /// ```
    ///
    /// It waits for no access, and may be called inside one. With `Configuration.persistentReadOnlyConnections`, idle
    /// readers stay open and are emptied. The next accesses open and prepare again what they need.
    ///
    /// `releaseMemory` waits for the running accesses, and frees their connections too.
    ///
    /// - parameter parts: the things to give back.
    @discardableResult
    public func releaseIdle(_ parts: DatabaseMemory.Parts = .all) -> DatabaseMemory.Released {
        var released = DatabaseMemory.Released()
        (groupReader as? any GroupWriter)?.writer.releaseIdle(parts, &released)
        return released
    }
}

extension AccessRunner {
    /// Gives back what no access uses of a database, whose writer this is.
    fileprivate func releaseIdle(_ parts: DatabaseMemory.Parts, _ released: inout DatabaseMemory.Released) {
        if let readers = group.barredGroup {
            if parts.contains(.readers), readers.idleClock != nil {
                released.closedConnections += readers.dropIdle()
            } else {
                readers.emptyIdle(parts, &released)
            }
        }
        group.emptyIdle(parts, &released)
        if parts.contains(.records) { core.parts.forEach { released.removedRecords += $0.releaseRecords() } }
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
    fileprivate func emptyIdle(_ parts: DatabaseMemory.Parts, _ released: inout DatabaseMemory.Released) {
        let (pages, statements) = (parts.contains(.pages), parts.contains(.statements))
        guard pages || statements else { return }
        var leases: [Lease] = []
        while let lease = leaseIfIdle(.thread) { leases.append(lease) }
        for lease in leases {
            // A closure that prepares connections may throw: then so does the next access.
            let empty = { (db: Database) in db.release(pages: pages, statements: statements) }
            if use(lease, { db in try? AccessRunner.frame(db, nil, empty) }) != nil { released.emptiedConnections += 1 }
        }
    }
}
