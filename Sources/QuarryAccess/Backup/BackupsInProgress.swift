import QuarryCore

/// The running backups of a database, as closing with a grace period sees them.
///
/// Each is a group without connections, whose only slot is taken until the backup has ended: closing waits for it as
/// for the accesses of the groups of connections.
final class BackupsInProgress: DatabasePart {
    private struct Entry {
        let work: ConnectionGroup
        /// The connections whose closing waits for the backup.
        let source: ConnectionGroup
    }

    private let entries = Lock<[Entry]>([])

    /// A backup begins. It does so before its first access: one that closing doesn't see is refused by its groups.
    ///
    /// - parameter name: of the backup, in messages.
    /// - returns: the group, for `remove(_:)`.
    func add(_ name: String, of source: ConnectionGroup, _ ending: BackupEnding) -> ConnectionGroup {
        let work = ConnectionGroup(
            name, capacity: 1, limits: ConnectionGroup.Limits(clock: source.clock), endWork: { ending.end($0) },
            open: { throw DatabaseError.connectionIsClosed() })
        work.beginWork()
        entries.withLock { $0.append(Entry(work: work, source: source)) }
        return work
    }

    /// A backup has ended.
    func remove(_ work: ConnectionGroup) {
        // Released outside the lock.
        let removed = entries.withLock { entries in
            entries.firstIndex { $0.work === work }.map { entries.remove(at: $0) }
        }
        _ = consume removed
        work.workDidEnd()
    }

    /// The backups that read some groups.
    func work(on groups: [ConnectionGroup]) -> [ConnectionGroup] {
        entries.withLock { entries in
            entries.filter { entry in groups.contains { $0 === entry.source } }.map(\.work)
        }
    }
}

extension DatabaseCore {
    /// The running backups of the database.
    var backups: BackupsInProgress { part(BackupsInProgress.self) { BackupsInProgress() } }
}

/// Ends a backup from another thread.
final class BackupEnding: Sendable {
    /// The token of all accesses to the copy.
    let token = AccessToken()
    private let reason = Lock<DatabaseError?>(nil)

    /// The error with which the backup was ended; nil if it wasn't, or if its task was cancelled.
    var error: DatabaseError? { reason.withLock { $0 } }

    func end(_ error: DatabaseError) {
        reason.withLock { if $0 == nil { $0 = error } }
        token.cancel()
    }
}

extension ConnectionGroup {
    /// Takes the slot of a group without connections.
    fileprivate func beginWork() { _ = decide { $0.acquireNow(.thread, now: { clock.now }) } }

    /// Gives the slot back.
    fileprivate func workDidEnd() {
        perform(decide { $0.openingFailed(0, now: clock.now) })
    }
}
