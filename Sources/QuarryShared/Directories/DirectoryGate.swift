import Dispatch
import Quarry
import QuarryCore
import Synchronization

/// The gate of a database in a directory: shut while the database has no place, so that accesses wait.
///
/// A shut gate is a barrier of the database's connections that no access has. `PlaceStateMachine` decides.
final class DirectoryGate: SharedFileGate {
    /// A different number for each database of the process.
    let id: Int
    /// The name in the directory.
    let name: String
    /// By which the directory finds the database.
    var key: String { name.lowercased() }
    weak let directory: DatabaseDirectory?
    /// Whether the directory looks for a database to close.
    private let need: PlaceNeed
    /// When an access has last ended. Nanoseconds of the monotonic clock.
    private let lastUseTime = Atomic<UInt64>(0)

    /// Groups rather than their runners: a barrier write of a released database has the readers' group alone.
    private struct Groups {
        weak var writer: ConnectionGroup?
        weak var readers: ConnectionGroup?
        weak var file: SharedFile?
    }

    private let groups = Lock(Groups())

    private struct Closing {
        var isRunning = false
        /// Resume the threads and tasks that wait for the end.
        var waiters: [@Sendable () -> Void] = []
    }

    private let closing = Lock(Closing())

    /// The threads and tasks that have come while the gate was shut, and may have another connection. Some may have
    /// given up.
    private let holders = Lock<Set<UInt>>([])

    private static let lastID = Atomic<Int>(0)

    init(_ name: String, of directory: DatabaseDirectory, _ need: PlaceNeed) {
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        self.name = name
        self.directory = directory
        self.need = need
    }

    /// The database was made, and nothing uses it yet: shuts the gate.
    func setRunners(_ writer: AccessRunner, readers: AccessRunner, _ file: SharedFile) {
        groups.withLock { $0 = Groups(writer: writer.group, readers: readers.group, file: file) }
        _ = ConnectionGroup.shutGate([writer.group, readers.group])
    }

    var lastUse: UInt64 { lastUseTime.load(ordering: .relaxed) }

    // MARK: - Called by the groups, without their locks

    func accessWaits(_ holder: UInt) {
        guard let directory else { return open() }
        if holder != 0 { holders.withLock { _ = $0.insert(holder) } }
        directory.want(self, for: holder)
    }

    /// The threads and tasks that may wait inside another access of the directory; just 0 if there are none.
    var waitingHolders: Set<UInt> { holders.withLock { $0.isEmpty ? [0] : $0 } }

    func accessGaveUp() {
        directory?.accessGaveUp(self)
        mayBeIdle()
    }

    func accessDidEnd() {
        lastUseTime.store(SystemClock.monotonicNanoseconds(), ordering: .relaxed)
        mayBeIdle()
    }

    func mayBeIdle() {
        if need.exists { directory?.makeRoom() }
    }

    /// An opening lacks file descriptors or memory: closes an idle database of the directory.
    ///
    /// - returns: whether one was closed.
    func closeOtherForShortage() -> Bool { directory?.closeForShortage() ?? false }

    /// The pool is about to be released.
    func poolWillEnd(_ statistics: DatabaseStatistics) { directory?.keepStatistics(statistics) }

    /// The last connection of the database is closed, and nothing can open another.
    func fileDidEnd() { directory?.databaseDidEnd(self) }

    /// Whether the directory has closed the database. Accesses may wait to open it.
    var isClosed: Bool { directory?.isClosed(self) ?? false }

    // MARK: - Told by the directory

    /// The parts of a database that are alive. Released without the directory's lock: the last reference to a group
    /// ends the database, which takes that lock.
    struct Parts {
        let gate: DirectoryGate
        /// The writer's group and the readers', in this order. One may be gone: the accesses of the other have outlived
        /// the database's object.
        fileprivate let groups: [ConnectionGroup]
        fileprivate let file: SharedFile?

        /// Whether a snapshot, stable reader or backup has the database open.
        var hasOtherReaders: Bool { file?.hasOtherReaders ?? false }

        /// Shuts the gate, if the database is idle.
        func shut() -> Bool { ConnectionGroup.shutGate(groups[...]) }

        /// Whether accesses wait.
        var hasWaiters: Bool { groups.contains { $0.waiterCount > 0 } }

        /// Whether a thread or task has a connection of the database, opens or closes one, or has it closed.
        func isHeld(by holder: UInt) -> Bool {
            groups.contains { $0.isHeld(by: holder) } || file?.core.hasPinnedReader(heldBy: holder) ?? false
        }

        /// Closes the connections behind the shut gate.
        ///
        /// - throws: `SQLITE_BUSY` if statements are left.
        func closeConnections() throws {
            try ConnectionGroup.closeBehindGate(groups)
            file?.didClose()
        }
    }

    /// The parts of the database.
    var parts: Parts {
        groups.withLock { groups in
            Parts(gate: self, groups: [groups.writer, groups.readers].compactMap(\.self), file: groups.file)
        }
    }

    /// The database; nil if it is being released.
    var database: SharedDatabase? { groups.withLock { $0.file }?.pool.map { SharedDatabase($0) } }

    /// The directory begins to close the database, or has closed it.
    func setClosing(_ isRunning: Bool) {
        let waiters = closing.withLock { closing in
            closing.isRunning = isRunning
            guard !isRunning else { return [@Sendable () -> Void]() }
            defer { closing.waiters = [] }
            return closing.waiters
        }
        for resume in waiters { resume() }
    }

    /// Whether the directory is closing the database.
    var isClosing: Bool { closing.withLock { $0.isRunning } }

    /// The number of threads and tasks that wait until the directory has closed the database.
    var closingWaiterCount: Int { closing.withLock { $0.waiters.count } }

    /// Waits on this thread while the directory closes the database.
    func waitWhileClosing() {
        guard isClosing else { return }
        CooperativePool.blocking {
            let hasEnded = DispatchSemaphore(value: 0)
            afterClosing { hasEnded.signal() }
            hasEnded.wait()
        }
    }

    /// As `waitWhileClosing`, but waiting suspends the task.
    func waitWhileClosingAsync() async {
        guard isClosing else { return }
        await withUnsafeContinuation { continuation in afterClosing { continuation.resume() } }
    }

    private func afterClosing(_ resume: @escaping @Sendable () -> Void) {
        let mustWait = closing.withLock { closing in
            if closing.isRunning { closing.waiters.append(resume) }
            return closing.isRunning
        }
        if !mustWait { resume() }
    }

    /// Lets the accesses run that wait. Has no effect if the gate is open.
    func open() {
        holders.withLock { $0 = [] }
        ConnectionGroup.openGate(parts.groups)
    }
}

/// Whether a directory looks for a database to close. Read by each access that ends.
final class PlaceNeed: Sendable {
    private let value = Atomic<Bool>(false)

    var exists: Bool {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}

extension SharedDatabase {
    /// The gate of a database in a directory; nil for any other.
    var gate: DirectoryGate? { pool.opener?.poolGate as? DirectoryGate }
}
