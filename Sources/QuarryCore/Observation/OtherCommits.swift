package import Synchronization

/// Notices the commits of other connections to the main database: of other processes, and of other queues and pools.
///
/// A connection that has begun to write compares the state that it sees with the state after its own last transaction.
/// If it has changed, others have committed in between, and the listener is told before the connection's own commit. A
/// connection that doesn't write is told to look.
///
/// One thread at a time uses it: the one that has the connection. Any thread may read `checkCount` and `isWriting`.
package final class OtherCommits: @unchecked Sendable {
    // Sendable: `checkCount` and `isWriting` are atomic, and only the thread that has the connection uses the rest.

    private var seen: SeenCommits

    /// Whether the open transaction writes, and was compared at its beginning: no other connection has committed since.
    /// Other threads may read it.
    package let isWriting = Atomic<Bool>(false)

    /// Whether the transaction has added pages to the log.
    private var logHasGrown = false

    /// How often a transaction that writes was compared at its beginning.
    package let checkCount = Atomic<Int>(0)

    /// Nil for a database that is no file: it has no other connections, or none that count.
    init?(_ db: Database) {
        guard let control = ConnectionCalls.dataVersion(db.pointer), db.mainFilePath != nil else {
            return nil
        }
        seen = SeenCommits(control: control)
    }

    /// The connection has begun to write, in a transaction that began with this statement.
    ///
    /// - returns: whether other connections have committed.
    func writeDidBegin(_ db: Database) -> Bool {
        checkCount.store(checkCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        logHasGrown = false
        guard let haveCommitted = look(db) else { return false }
        if !haveCommitted { isWriting.store(true, ordering: .releasing) }
        return haveCommitted
    }

    /// Whether nothing was compared yet: a statement that may commit must not be the first, because not every journal
    /// says that it has.
    var isNew: Bool { seen.version == nil && !isWriting.load(ordering: .relaxed) }

    /// A commit of this connection has added pages to the log of a database.
    func logDidGrow(_ schema: UnsafePointer<CChar>) {
        guard schema.isMain else { return }
        seen.ownCommitDidGrowLog()
        logHasGrown = true
    }

    /// A transaction of this connection is committed.
    ///
    /// - returns: whether other connections have committed before it.
    func writeDidCommit(_ db: Database) -> Bool {
        defer { logHasGrown = false }
        guard isWriting.load(ordering: .relaxed) else { return look(db) ?? false }
        isWriting.store(false, ordering: .releasing)
        if !logHasGrown {
            seen.ownTransactionDidEnd(control: ConnectionCalls.dataVersion(db.pointer))
        }
        return false
    }

    /// A transaction of this connection has ended without a commit, or in a way that wasn't told.
    func forgetComparison() { isWriting.store(false, ordering: .releasing) }

    /// The listener was told of the commits before the open transaction.
    func othersWereTold() { isWriting.store(true, ordering: .releasing) }

    /// Compares, in the open transaction.
    ///
    /// - returns: whether other connections have committed; nil if it can't be known now.
    private func look(_ db: Database) -> Bool? {
        let control = ConnectionCalls.dataVersion(db.pointer)
        guard seen.isUncertain(control: control) else { return false }
        return lookCloser(db)
    }

    /// As `look`. Outside a transaction, sees the last commit.
    ///
    /// ```sql
    /// PRAGMA main.data_version
    /// ```
    @inline(never)
    func lookCloser(_ db: Database) -> Bool? {
        guard let statement = try? db.controlStatement(.dataVersion) else { return nil }
        let refused = db.refusesToWait
        db.refusesToWait = true
        defer { db.refusesToWait = refused }
        // Below the statement's own life: this may be called at the end of another statement.
        defer { statement.handle.reset() }
        guard !statement.handle.isBusy, statement.handle.step() == StatementHandle.row else { return nil }
        let version = StatementColumns.int64(statement.handle.pointer, 0)
        return seen.note(version: version, control: ConnectionCalls.dataVersion(db.pointer))
    }
}

extension UnsafePointer<CChar> {
    /// Whether it is the name of the main database.
    fileprivate var isMain: Bool {
        for (index, byte) in "main".utf8.enumerated() where self[index] != CChar(byte) { return false }
        return self[4] == 0
    }
}
