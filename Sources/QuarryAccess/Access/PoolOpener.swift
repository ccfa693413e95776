import QuarryCore

/// Opens the connections of a pool when they are needed, and again after they were closed: the file of a shared
/// database.
package protocol PoolOpener: AnyObject, Sendable {
    /// Bars the connections while the database is closed; nil if nothing does.
    var poolGate: (any DatabaseGate)? { get }

    func openWriter() throws -> Database

    func openReader() throws -> Database

    /// Connections of snapshots, stable readers or backups have the file open.
    func note(_ connections: [Database])

    /// All connections were closed.
    func didClose()

    /// The pool is being released.
    ///
    /// - returns: whether the pool's threads end with it.
    func poolWillEnd(_ writer: AccessRunner, readers: AccessRunner) -> Bool

    /// The pool was released.
    ///
    /// - parameter groups: in the order in which they are closed.
    func poolWasReleased(_ groups: [ConnectionGroup])
}
