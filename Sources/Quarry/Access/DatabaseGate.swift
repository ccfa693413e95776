/// Bars the connections of a database while it is closed, and opens them for the accesses that come: see
/// `DatabaseDirectory`. The groups report to it without their locks.
protocol DatabaseGate: AnyObject, Sendable {
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
}
