import Synchronization

/// The setups that the connections of a database share, also those that are added while the connections are open.
///
/// A connection compares `generation` with its own number at the beginning and at the end of each access, which takes
/// no lock. If they differ, it runs the setups that it hasn't had. So a setup reaches each connection at its next
/// access, on the thread that has the connection.
package final class ConnectionSetups: @unchecked Sendable {
    // Sendable: `generation` is a pointer that never changes, to an atomic number.

    /// When a setup runs.
    package enum Moment: Sendable {
        /// At the beginning of an access, before its body.
        case beginning
        /// At the end of an access that was running when the setup was added.
        case end
    }

    /// A closure that prepares a connection.
    package enum Setup: Sendable {
        /// Runs at the beginning of the connection's next access, which throws the setup's error. The access after
        /// that tries again.
        case atBeginning(@Sendable (Database) throws -> Void)
        /// As `atBeginning`, but an access that is running runs the setup at its end. Its transaction has ended by
        /// then, unless the connection may keep transactions open. An error at the end has no receiver: the next access
        /// tries again.
        case alsoAtEnd(@Sendable (Database, Moment) throws -> Void)
    }

    /// A setup that was added, needed to remove it.
    package struct Token: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// One lock for all databases, because it is seldom taken, and a lock for each would cost allocations when a
    /// database is opened.
    private static let lock = Lock(())

    // Used with the lock held.
    private nonisolated(unsafe) var list = SetupList()

    private func withList<T>(_ body: (inout SetupList) -> T) -> T { Self.lock.withLock { _ in body(&list) } }

    /// The number of the last setup. Outside of any stored property: connections keep the pointer, so that an access
    /// compares the number without retaining this object.
    let generation: UnsafeMutablePointer<Atomic<Int>>

    package init() {
        generation = .allocate(capacity: 1)
        generation.initialize(to: Atomic(0))
    }

    deinit {
        generation.deinitialize(count: 1)
        generation.deallocate()
    }

    /// The setups of connections that share none: none is ever added.
    static let none = ConnectionSetups()

    /// Adds a setup behind the others.
    @discardableResult
    package func add(_ setup: Setup) -> Token {
        withList { list in
            let number = list.add(setup)
            // The thread that adds a setup then looks at the database. A write whose commit it doesn't see must find
            // the new number at its end, so this store comes before that look in the order of all threads.
            generation.pointee.store(number, ordering: .sequentiallyConsistent)
            return Token(number: number)
        }
    }

    /// Removes a setup: connections that haven't had it don't run it. The others stay as they are.
    package func remove(_ token: Token) {
        let removed = withList { $0.remove(token.number) }
        // Released here, without the lock: the closure may hold objects of the user.
        _ = consume removed
    }

    /// Runs the setups of all connections on a database that doesn't share them: one for internal work, such as
    /// comparing schemas, that needs the same functions. Leaves out the setups that also run at the end of accesses,
    /// which belong to the connections themselves.
    package func prepare(_ db: Database) throws {
        for entry in withList({ $0.pending(SetupProgress()) }) {
            if case .atBeginning(let body) = entry.setup { try body(db) }
        }
    }

    /// The setups that a connection hasn't had, and the number of the last setup.
    func pending(_ progress: SetupProgress) -> (entries: [SetupList.Entry], last: Int) {
        withList { ($0.pending(progress), $0.lastNumber) }
    }
}

/// The setups of a database, in order.
struct SetupList {
    struct Entry {
        let number: Int
        let setup: ConnectionSetups.Setup
    }

    private var entries: [Entry] = []

    /// The number of the setup that was added last.
    private(set) var lastNumber = 0

    mutating func add(_ setup: ConnectionSetups.Setup) -> Int {
        lastNumber += 1
        entries.append(Entry(number: lastNumber, setup: setup))
        return lastNumber
    }

    /// - returns: the setup, for the caller to release.
    mutating func remove(_ number: Int) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
        return entries.remove(at: index)
    }

    /// The setups that a connection hasn't had.
    func pending(_ progress: SetupProgress) -> [Entry] { entries.filter { !progress.includes($0.number) } }
}

/// The setups of a connection's database, and those that the connection has had.
struct SetupsOfConnection {
    private let all: ConnectionSetups

    /// The number of the last setup.
    let generation: UnsafeMutablePointer<Atomic<Int>>

    var progress = SetupProgress()

    init(_ setups: ConnectionSetups) {
        all = setups
        generation = setups.generation
    }

    /// The setups that the connection hasn't had.
    var pending: (entries: [SetupList.Entry], last: Int) { all.pending(progress) }
}

/// The setups that a connection has had.
struct SetupProgress {
    /// The connection has had all setups up to this number.
    private(set) var number: Int

    /// - parameter isDue: whether the first access begins by running setups, even if there are none: it learns the
    ///   schema of a route.
    init(isDue: Bool = false) { number = isDue ? -1 : 0 }

    /// Later setups that the connection has had: an earlier one has failed, or waits for the beginning of an access.
    private var later: Set<Int> = []

    func includes(_ number: Int) -> Bool { number <= self.number || later.contains(number) }

    /// The connection has had a setup.
    mutating func didRun(_ number: Int) { later.insert(number) }

    /// The connection has had all setups up to a number.
    mutating func didRunAll(upTo number: Int) {
        self.number = number
        later = later.filter { $0 > number }
    }
}

extension Database {
    /// Whether the next access begins by running setups.
    package var hasPendingSetups: Bool { setups.generation.pointee.load(ordering: .relaxed) != setups.progress.number }

    /// As `hasPendingSetups`, at the end of an access.
    @inline(__always)
    var hasPendingSetupsAtEnd: Bool {
        // After the access's commit in the order of all threads: see `ConnectionSetups.add`.
        setups.generation.pointee.load(ordering: .sequentiallyConsistent) != setups.progress.number
    }

    /// Runs the setups that the connection hasn't had, at the beginning of an access.
    func runSetups() throws {
        if let route, !route.isKnown { try route.learnSchema(self) }
        // A setup may add another one.
        while hasPendingSetups {
            let (entries, last) = setups.pending
            for entry in entries {
                switch entry.setup {
                case .atBeginning(let body): try runSetup { try body(self) }
                case .alsoAtEnd(let body): try runSetup { try body(self, .beginning) }
                }
                setups.progress.didRun(entry.number)
            }
            setups.progress.didRunAll(upTo: last)
        }
    }

    /// Runs a setup. It must not leave a transaction open, in which the access would begin.
    private func runSetup(_ body: () throws -> Void) throws {
        let wasInsideTransaction = isInsideTransaction
        defer { stopAllStatements() }
        try body()
        guard !wasInsideTransaction, isInsideTransaction, !options.allowsUnsafeTransactions else { return }
        try rollback()
        throw DatabaseError.misuse("A transaction has been left open by the preparation of a connection.")
    }

    /// Runs the setups that were added during the access, if they also run at its end.
    @inline(never)
    func runSetupsAtEnd() {
        // An access that could not begin ends without its connection.
        guard lifetime.isOwned, route?.isKnown != false else { return }
        let (entries, last) = setups.pending
        var hasRunAll = true
        for entry in entries {
            guard case .alsoAtEnd(let body) = entry.setup, (try? runSetup { try body(self, .end) }) != nil else {
                hasRunAll = false
                continue
            }
            setups.progress.didRun(entry.number)
        }
        if hasRunAll { setups.progress.didRunAll(upTo: last) }
    }
}
