public import QuarryCore

/// Calls a closure after each transaction that has changed a region.
///
/// ```swift
/// let observation = DatabaseRegionObservation(tracking: Player.all(), Team.all())
/// let cancellable = observation.start(in: dbPool) { error in
///     print("the observation couldn't start: \(error)")
/// } onChange: { db in
///     print("players or teams have changed")
/// }
/// ```
public struct DatabaseRegionObservation: Sendable {
    private let regions: [any DatabaseRegionConvertible]

    /// An observation of some regions.
    public init(tracking regions: any DatabaseRegionConvertible...) { self.init(tracking: regions) }

    /// An observation of some regions.
    public init(tracking regions: [any DatabaseRegionConvertible]) { self.regions = regions }

    /// Starts the observation of a database's writer.
    ///
    /// The observation begins at the writer's next turn: every write that is requested after this call is observed.
    /// Inside a write of this thread, it begins at once, and observes this write's transaction.
    ///
    /// - parameter onError: called if the region can't be found out, or if the database is closed.
    /// - parameter onChange: called with the connection after a commit, before the write returns. It may use the
    ///   connection, and begin transactions.
    /// - returns: a cancellable that ends the observation when it is cancelled or released.
    public func start(
        in writer: any DatabaseWriter, onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Database) -> Void
    ) -> AnyDatabaseCancellable {
        let start = RegionObservationStart(self, onError, onChange)
        if let db = (writer.groupReader as? any GroupWriter)?.writer.group.ownedConnection {
            start.begin(db)
        } else {
            writer.asyncWriteWithoutTransaction { db in start.begin(db) }
        }
        return AnyDatabaseCancellable { start.cancel() }
    }

    /// Begins the observation on the writer's connection.
    ///
    /// - throws: if the region can't be found out.
    package func begin(_ db: Database, onChange: @escaping @Sendable (Database) -> Void) throws
        -> AnyDatabaseCancellable
    {
        let observer = RegionObserver(try databaseRegion(db), onChange: onChange)
        try db.add(regionObserver: observer)
        return AnyDatabaseCancellable { observer.cancel() }
    }

    fileprivate func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try regions.reduce(into: DatabaseRegion()) { $0.formUnion(try $1.databaseRegion(db)) }
    }
}

/// An observation of regions, which waits for the writer or has begun.
private final class RegionObservationStart: Sendable {
    private enum State {
        case waiting(
            observation: DatabaseRegionObservation, onError: @Sendable (any Error) -> Void,
            onChange: @Sendable (Database) -> Void)
        case observing(RegionObserver)
        case ended
    }

    private let state: Lock<State>

    init(
        _ observation: DatabaseRegionObservation, _ onError: @escaping @Sendable (any Error) -> Void,
        _ onChange: @escaping @Sendable (Database) -> Void
    ) {
        state = Lock(.waiting(observation: observation, onError: onError, onChange: onChange))
    }

    func begin(_ db: Database) {
        guard case .waiting(let observation, let onError, let onChange) = state.withLock({ $0 }) else { return }
        do {
            let observer = RegionObserver(try observation.databaseRegion(db), onChange: onChange)
            let isCancelled = state.withLock { state in
                if case .ended = state { return true }
                state = .observing(observer)
                return false
            }
            if !isCancelled { try db.add(regionObserver: observer) }
        } catch {
            let last = takeState()
            if case .ended = last { return }
            onError(error)
        }
    }

    func cancel() {
        if case .observing(let observer) = takeState() { observer.cancel() }
    }

    /// Ends the observation, and returns its state, which the caller releases outside the lock.
    private func takeState() -> State {
        state.withLock { state in
            defer { state = .ended }
            return state
        }
    }
}
