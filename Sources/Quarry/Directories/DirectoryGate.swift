import QuarryCore
import Synchronization

/// The gate of a database in a directory: shut while the database has no place, so that accesses wait.
///
/// A shut gate is a barrier of the database's connections that no access has. `PlaceStateMachine` decides.
final class DirectoryGate: Sendable {
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

    private struct Runners {
        weak var writer: AccessRunner?
        weak var readers: AccessRunner?
        weak var file: SharedFile?
    }

    private let runners = Lock(Runners())

    private static let lastID = Atomic<Int>(0)

    init(_ name: String, of directory: DatabaseDirectory, _ need: PlaceNeed) {
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        self.name = name
        self.directory = directory
        self.need = need
    }

    /// The database was made, and nothing uses it yet: shuts the gate.
    func setRunners(_ writer: AccessRunner, readers: AccessRunner, _ file: SharedFile) {
        runners.withLock { $0 = Runners(writer: writer, readers: readers, file: file) }
        _ = ConnectionGroup.shutGate([writer.group, readers.group])
    }

    var lastUse: UInt64 { lastUseTime.load(ordering: .relaxed) }

    // MARK: - Told by the groups, without their locks

    /// An access waits behind the gate.
    ///
    /// - parameter mayBeNested: whether the access may wait inside another one.
    func accessWaits(mayBeNested: Bool) {
        guard let directory else { return open() }
        directory.want(self, mayBeNested: mayBeNested)
    }

    /// An access has ended.
    func accessDidEnd() {
        lastUseTime.store(SystemClock.monotonicNanoseconds(), ordering: .relaxed)
        mayBeIdle()
    }

    /// Something else has ended that may have kept the database from being idle.
    func mayBeIdle() {
        if need.exists { directory?.makeRoom() }
    }

    /// The pool is about to be released.
    func poolWillEnd(_ statistics: DatabaseStatistics) { directory?.keepStatistics(statistics) }

    /// The last connection of the database is closed, and nothing can open another.
    func fileDidEnd() { directory?.databaseDidEnd(self) }

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

        /// Whether this thread is inside an access of the database.
        var isOwnedByThread: Bool { groups.contains { $0.ownedConnection != nil } }

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
        runners.withLock { runners in
            Parts(
                gate: self, groups: [runners.writer?.group, runners.readers?.group].compactMap(\.self),
                file: runners.file)
        }
    }

    /// Lets the accesses run that wait. Has no effect if the gate is open.
    func open() {
        for group in parts.groups.reversed() { group.openGate() }
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

extension ConnectionGroup {
    /// Shuts the gate of a database if no access has a connection of its groups or waits for one.
    ///
    /// The only place that takes the locks of two groups: the writer's first.
    static func shutGate(_ groups: ArraySlice<ConnectionGroup>) -> Bool {
        guard let group = groups.first else { return true }
        return group.state.withLock { state in
            guard state.machine.phase.isOpen, state.machine.isUnused, shutGate(groups.dropFirst()) else { return false }
            state.machine.beginBarrier()
            state.isGateShut = true
            return true
        }
    }

    /// Opens the gate, if it is shut.
    func openGate() {
        let actions = state.withLock { state -> [Machine.Action] in
            guard state.isGateShut else { return [] }
            state.isGateShut = false
            let actions = state.machine.releaseBarrier(now: SystemClock.monotonicNanoseconds())
            watch(&state)
            return actions
        }
        perform(actions)
        Self.tellIfUnused(state)
    }

    /// Closes the connections behind a shut gate, which stays shut.
    static func closeBehindGate(_ groups: [ConnectionGroup]) throws {
        let thread = Database.currentThread
        // An access of this thread, by a tracer, would wait for its own gate.
        for group in groups { group.state.withLock { $0.barrierTask = thread } }
        defer {
            for group in groups { group.forgetClosed() }
            for group in groups { tellIfUnused(group.state) }
        }
        for group in groups.reversed() { try group.closeConnections() }
    }
}
