/// Learns of each transaction that changes a region, on the connection that changes it.
package final class RegionObserver: Sendable {
    let region: DatabaseRegion
    private let onChange: Lock<(@Sendable (Database) -> Void)?>

    /// - parameter onChange: called after the commit. It may use the connection.
    package init(_ region: DatabaseRegion, onChange: @escaping @Sendable (Database) -> Void) {
        self.region = region
        self.onChange = Lock(onChange)
    }

    /// Prevents further calls, from any thread. The connection forgets the observer at its next commit.
    package func cancel() {
        // Released outside the lock, with all that it holds.
        let closure = onChange.withLock { $0.take() }
        _ = consume closure
    }

    var isCancelled: Bool { onChange.withLock { $0 == nil } }

    /// Called after a commit.
    ///
    /// - parameter changes: what the transaction has changed.
    func databaseDidCommit(_ db: Database, changes: DatabaseRegion) {
        guard region.isModified(by: changes), let onChange = onChange.withLock({ $0 }) else { return }
        onChange(db)
    }
}
