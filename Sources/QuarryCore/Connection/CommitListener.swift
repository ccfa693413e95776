import Synchronization

/// Learns of the commits of a connection, and of what they have changed.
///
/// The methods are called on the thread that has the connection.
package protocol CommitListener: AnyObject, Sendable {
    /// Whether `databaseWillCommit` and `databaseDidNotCommit` have to be called. The commit hook that they need takes
    /// a tenth of a short write.
    var needsWillCommit: Bool { get }

    /// The version of what the listener needs.
    var needs: NeedsVersion { get }

    /// SQLite is about to commit. Until one of the other methods is called, other connections may see the state before
    /// or after the commit. The connection must not be used.
    func databaseWillCommit()

    /// The transaction is committed: reads that begin now see it. Called before the callbacks of users, which may use
    /// the connection and begin other transactions.
    ///
    /// - parameter changes: what has changed; may be empty.
    /// - parameter keys: the changed keys of tables, if keys are asked for; none for a table whose keys aren't known.
    /// - returns: the version of the needs at which these changes aren't needed: commits with the same changes needn't
    ///   be told until it grows. nil if they are needed.
    func databaseDidCommit(_ db: Database, changes: DatabaseRegion, keys: [TableName: KeyChanges]) -> Int?

    /// Another connection has committed: one of another process, or of another queue or pool. Called before the call
    /// for a later commit of this connection.
    ///
    /// - parameter number: the number in the file; nil if the file keeps none.
    func otherConnectionDidCommit(number: Int?)

    /// The transaction was not committed after all: it goes on, or is rolled back.
    func databaseDidNotCommit()
}

/// A number that grows before a listener needs other changes than it did.
///
/// An object of its own, because a connection reads it at each commit: a field of the listener, which has weak
/// references, costs a short write a hundredth.
package final class NeedsVersion: Sendable {
    private let number = Atomic<Int>(0)

    package init() {}

    package var current: Int { number.load(ordering: .acquiring) }

    package func grow() { number.add(1, ordering: .sequentiallyConsistent) }
}
