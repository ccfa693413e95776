/// An object that a connection tells of changes and of the ends of transactions.
///
/// ```swift
/// final class PlayerObserver: TransactionObserver {
///     func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }
///     func databaseDidChange(with event: DatabaseEvent) { changedIDs.insert(event.rowID) }
///     func databaseDidCommit(_ db: Database) { publish(changedIDs); changedIDs = [] }
///     func databaseDidRollback(_ db: Database) { changedIDs = [] }
///     private var changedIDs: Set<Int64> = []
/// }
/// dbQueue.add(transactionObserver: observer)
/// ```
///
/// The methods are called on the thread that has the connection. An observer learns of the changes of the connection it
/// was added to: that of a queue, or the writer of a pool. Changes by other connections and processes are unseen.
public protocol TransactionObserver: AnyObject {
    /// Whether the observer wants to be told of the rows that a statement changes.
    ///
    /// Called before a statement of that kind first runs in a transaction.
    ///
    /// - parameter eventKind: a kind of changes that the statement may make.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Called by `Database.notifyChanges(in:)`, for changes whose rows aren't known. Does nothing by default.
    func databaseDidChange()

    /// A row has changed. Called after its statement has ended, or, inside a savepoint, when the outermost savepoint
    /// has ended: changes that were rolled back before are never reported.
    ///
    /// The connection can't be used here.
    func databaseDidChange(with event: DatabaseEvent)

    /// A row is about to change: called for each row while the statement runs, before the change. Does nothing by
    /// default.
    ///
    /// The connection can't be used here. If the statement fails, the change doesn't happen.
    func databaseWillChange(with event: DatabasePreUpdateEvent)

    /// The transaction is about to be committed. Throwing rolls it back, and the statement that commits throws the
    /// error. Does nothing by default.
    ///
    /// The connection can't be used here.
    func databaseWillCommit() throws

    /// The transaction is committed. The connection can be used, and cancelling the task has no effect here.
    func databaseDidCommit(_ db: Database)

    /// The transaction was rolled back: that of a statement outside a transaction, too, which has failed. The
    /// connection can be used, and cancelling the task has no effect here.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    /// Does nothing.
    public func databaseDidChange() {}

    /// Does nothing.
    public func databaseWillChange(with event: DatabasePreUpdateEvent) {}

    /// Accepts the commit.
    public func databaseWillCommit() throws {}

    /// Ends the calls of `databaseDidChange(with:)` until the next transaction begins. Only `databaseDidChange` may
    /// call it; elsewhere it has no effect.
    ///
    /// ```swift
    /// func databaseDidChange(with event: DatabaseEvent) {
    ///     hasChanged = true // the other rows don't matter
    ///     stopObservingDatabaseChangesUntilNextTransaction()
    /// }
    /// ```
    public func stopObservingDatabaseChangesUntilNextTransaction() { ChangeDelivery.current?.stop(self) }
}

/// An observer of a connection.
final class ObserverEntry {
    let extent: Database.TransactionObservationExtent
    private let kept: (any TransactionObserver)?
    private weak var reference: (any TransactionObserver)?

    /// Whether the observer hears of changes, of ends of transactions only, or of nothing any more.
    enum State {
        case active
        /// It has asked not to hear of changes until the next transaction.
        case stopped
        case removed
    }

    var state = State.active

    init(_ observer: any TransactionObserver, _ extent: Database.TransactionObservationExtent) {
        self.extent = extent
        kept = extent == .observerLifetime ? nil : observer
        reference = observer
    }

    /// The observer; nil if it was removed or released.
    var observer: (any TransactionObserver)? { state == .removed ? nil : kept ?? reference }

    /// The observer, if it hears of changes.
    var changeObserver: (any TransactionObserver)? { state == .active ? kept ?? reference : nil }
}

/// A delivery of changes to observers, on one thread.
final class ChangeDelivery {
    /// The deliveries by the number of their thread.
    private static let deliveries = Lock<[UInt: Reference]>([:])

    private struct Reference: @unchecked Sendable {
        // Sendable: only the delivery's thread reads its own entry.
        let delivery: ChangeDelivery
    }

    private var entry: ObserverEntry?

    /// The delivery that the current thread makes.
    static var current: ChangeDelivery? {
        deliveries.withLock { $0[ConnectionLifetime.currentThread] }?.delivery
    }

    /// Runs `body`, which calls observers by `notify`.
    static func run(_ body: (ChangeDelivery) throws -> Void) rethrows {
        let thread = ConnectionLifetime.currentThread
        let delivery = ChangeDelivery()
        // A callback may change another database, whose observers are called inside.
        let outer = deliveries.withLock { $0.updateValue(Reference(delivery: delivery), forKey: thread) }
        defer { deliveries.withLock { $0[thread] = outer } }
        try body(delivery)
    }

    /// Calls an observer, if it hears of changes.
    func notify(_ entry: ObserverEntry, _ body: (any TransactionObserver) -> Void) {
        guard let observer = entry.changeObserver else { return }
        self.entry = entry
        body(observer)
        self.entry = nil
    }

    /// Ends the calls to the observer that is being called.
    func stop(_ observer: any TransactionObserver) {
        if let entry, entry.changeObserver === observer { entry.state = .stopped }
    }
}
