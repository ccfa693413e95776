public import QuarryCore

/// A transaction observer that records what it is told.
public final class RecordingObserver: TransactionObserver, @unchecked Sendable {
    // Sendable: tests use it on one thread at a time.

    private var log: [String] = []
    private let filter: (DatabaseEventKind) -> Bool

    /// Called in the methods of the same name, after they are recorded.
    public var willCommit: (() throws -> Void)?
    /// Called for each change.
    public var didChange: ((RecordingObserver, DatabaseEvent) -> Void)?
    /// Called before each change.
    public var willChange: ((DatabasePreUpdateEvent) -> Void)?
    /// Called after each commit.
    public var didCommit: ((Database) -> Void)?
    /// Called after each rollback.
    public var didRollback: ((Database) -> Void)?

    /// - parameter filter: which changes to observe.
    public init(_ filter: @escaping (DatabaseEventKind) -> Bool = { _ in true }) { self.filter = filter }

    /// Removes and returns what was told: `insert main.player 1`, `will commit`, `did commit`.
    public func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    public func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { filter(eventKind) }

    public func databaseDidChange() { log.append("unknown changes") }

    public func databaseDidChange(with event: DatabaseEvent) {
        log.append("\(event.kind) \(event.databaseName).\(event.tableName) \(event.rowID)")
        didChange?(self, event)
    }

    public func databaseWillChange(with event: DatabasePreUpdateEvent) { willChange?(event) }

    public func databaseWillCommit() throws {
        log.append("will commit")
        try willCommit?()
    }

    public func databaseDidCommit(_ db: Database) {
        log.append("did commit")
        didCommit?(db)
    }

    public func databaseDidRollback(_ db: Database) {
        log.append("did roll back")
        didRollback?(db)
    }
}
