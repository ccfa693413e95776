/// Bars the connections of a database while it is closed, and opens them for the accesses that come: see
/// `DatabaseDirectory`. The groups report to it without their locks.
package protocol DatabaseGate: AnyObject, Sendable {
    /// An access waits behind the gate.
    ///
    /// - parameter holder: the thread or task that waits, if it may have another connection; otherwise 0.
    func accessWaits(_ holder: UInt)

    /// An access that waited has given up.
    func accessGaveUp()

    /// An access has ended.
    func accessDidEnd()

    /// Something else has ended that may have kept the database from being idle.
    func mayBeIdle()

    /// Whether the database is closed behind the gate. Accesses may wait to open it.
    var isClosed: Bool { get }

    /// Waits for the end of a closing that has begun.
    func waitWhileClosing()

    /// As `waitWhileClosing`, but waiting suspends the task.
    func waitWhileClosingAsync() async
}

extension DatabasePool {
    /// Whether the database is closed behind its gate, and no access waits to open it again. Waits while it is being
    /// closed.
    ///
    /// - throws: `SQLITE_MISUSE` on the thread that closes it.
    package func isClosedBehindGate() throws -> Bool {
        guard let gate = opener?.poolGate else { return false }
        for group in groups { try group.checkIsOutsideWindow() }
        gate.waitWhileClosing()
        return gate.isClosed && writer.group.waiterCount == 0
    }

    /// As `isClosedBehindGate`, but waiting suspends the task.
    package func isClosedBehindGateAsync() async -> Bool {
        guard let gate = opener?.poolGate else { return false }
        await gate.waitWhileClosingAsync()
        return gate.isClosed && writer.group.waiterCount == 0
    }
}
