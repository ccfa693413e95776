import QuarryCore
import Synchronization

/// The snapshots and stable readers of a database, and its backups.
final class PinnedReaders: DatabasePart {
    /// A snapshot or stable reader, and since when it has had its state.
    struct Entry: Sendable {
        fileprivate let ownKind: WALReader.Kind
        let label: String
        let loss: SnapshotLoss
        fileprivate(set) var start: UInt64
        fileprivate let group: WeakGroup

        /// Its own kind, unless a backup reads through it.
        var kind: WALReader.Kind { group.group?.isReadByBackup ?? false ? .backup : ownKind }
    }

    fileprivate struct WeakGroup: Sendable {
        weak let group: ConnectionGroup?
    }

    private let entries = Lock<[Int: Entry]>([:])
    private let lastID = Atomic<Int>(0)
    private let clock: MonotonicClock

    fileprivate init(_ clock: MonotonicClock) { self.clock = clock }

    /// Adds a reader, which has its state from now on.
    func add(_ kind: WALReader.Kind, label: String, _ loss: SnapshotLoss, _ group: ConnectionGroup) -> Int {
        let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
        let entry = Entry(
            ownKind: kind, label: label, loss: loss, start: clock.now,
            group: WeakGroup(group: group))
        entries.withLock { $0[id] = entry }
        return id
    }

    /// The reader has moved to the newest state.
    func didAdvance(_ id: Int) {
        let now = clock.now
        entries.withLock { $0[id]?.start = now }
    }

    /// Whether a thread or task has a connection of one of the readers.
    func isHeld(by holder: UInt) -> Bool {
        entries.withLock { $0.values.map(\.group) }.contains { $0.group?.isHeld(by: holder) ?? false }
    }

    func remove(_ id: Int) {
        // Released outside the lock.
        let removed = entries.withLock { $0.removeValue(forKey: id) }
        _ = consume removed
    }

    /// The readers that are neither closed nor ended.
    var all: [Int: Entry] {
        entries.withLock { $0 }.filter { $0.value.loss.error == nil && !($0.value.group.group?.isClosed ?? true) }
    }

    /// Ends a reader: its reads throw an error from now on.
    ///
    /// - returns: false if it was released or ended meanwhile.
    func end(_ id: Int, _ error: DatabaseError) -> Bool {
        guard let entry = entries.withLock({ $0[id] }), let group = entry.group.group, entry.loss.lose(error) else {
            return false
        }
        for running in group.runningAccesses { _ = group.end(running, error) }
        group.retireAll()
        return true
    }
}

/// The reason why a snapshot or stable reader has lost its state.
final class SnapshotLoss: Sendable {
    private let reason = Lock<DatabaseError?>(nil)

    /// nil as long as the state isn't lost.
    var error: DatabaseError? { reason.withLock { $0 } }

    /// - returns: whether the state wasn't lost before.
    func lose(_ error: DatabaseError) -> Bool {
        reason.withLock { reason in
            guard reason == nil else { return false }
            reason = error
            return true
        }
    }
}

extension DatabaseCore {
    /// The snapshots and stable readers of the database.
    var pinnedReaders: PinnedReaders { part(PinnedReaders.self) { PinnedReaders(clock) } }

    /// The snapshots and stable readers; nil if there has been none.
    var pinnedReadersIfMade: PinnedReaders? { part(PinnedReaders.self) }

    /// Whether a thread or task has a connection of a snapshot or stable reader.
    package func hasPinnedReader(heldBy holder: UInt) -> Bool { pinnedReadersIfMade?.isHeld(by: holder) ?? false }

    /// The labels of the snapshots and stable readers.
    package var labelsOfPinnedReaders: [String] { pinnedReadersIfMade?.all.values.map(\.label) ?? [] }
}
