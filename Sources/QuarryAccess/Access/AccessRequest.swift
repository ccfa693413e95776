import QuarryCore

/// The way an access is made: how it begins and ends, where it runs, and which connections must be idle meanwhile.
package struct AccessRequest: Sendable {
    /// The way an access begins and ends.
    package enum Kind: Sendable {
        /// On the connection as it is: the body begins its own transactions.
        case bare
        /// A read in its own transaction, which sees the state of its first statement.
        case read
        /// A read in its own transaction, which sees the state at its beginning.
        case pinnedRead
        /// A read in a transaction that another thread has begun.
        case begunRead
        /// A read in the transaction that a snapshot keeps open.
        case snapshotRead
        /// A write in its own IMMEDIATE transaction, which is committed at the end.
        case write
    }

    /// The requester of an access.
    package enum Origin: Sendable {
        /// The program.
        case user
        /// The program, which goes on with a write that has let others write: it waits as long as it has to.
        case continuation
        /// The library, on behalf of no access of the program: it fetches for observations, for example. Such an access
        /// waits as long as it has to: neither `Configuration.maximumWaiters` nor `acquireTimeout` applies to it, and
        /// it isn't counted as a waiter.
        case library
    }

    /// Where an asynchronous access runs.
    package enum Placement: Sendable {
        /// Where its task runs.
        case inline
        /// On the library's threads.
        case offloaded
        /// Where `ReadAdmission` decides, based on the durations of reads.
        case measured
    }

    package let kind: Kind
    let placement: Placement
    /// A group whose connections must all be idle while the access runs.
    package let barrier: ConnectionGroup?
    let origin: Origin
    /// Whether the write shares its transaction with those that wait behind it.
    private(set) var sharesCommit: Bool
    /// Whether the task may stay on the library's thread after the access.
    var mayStay: Bool
    /// Collects the events of the access, if it is traced.
    var trace: AccessTrace?
    /// When the access must have ended; nil if only the configuration's timeouts apply.
    private(set) var deadline: AccessDeadline?

    /// - parameter mayStay: false for an access whose task lets others go first. It goes back to Swift's threads then,
    ///   as they have to: otherwise it would ask for its connection again before they are awake.
    package init(
        _ kind: Kind, _ placement: Placement = .offloaded, origin: Origin = .user, sharesCommit: Bool = false,
        mayStay: Bool = true
    ) {
        self.mayStay = mayStay
        self.kind = kind
        self.placement = placement
        self.origin = origin
        self.sharesCommit = sharesCommit
        barrier = nil
    }

    /// An access with a barrier. It holds a connection while it waits for others, so it must not need one of Swift's
    /// threads to continue: it is always offloaded.
    package init(barrier: ConnectionGroup?, origin: Origin = .user, mayStay: Bool = true) {
        kind = .bare
        placement = .offloaded
        self.barrier = barrier
        self.origin = origin
        sharesCommit = false
        self.mayStay = mayStay
    }

    /// The request with a deadline. A write with one doesn't go on with the transaction of another write.
    func until(_ deadline: AccessDeadline) -> AccessRequest {
        var request = self
        request.deadline = deadline
        request.sharesCommit = false
        return request
    }

    /// Throws if the deadline has passed when the access is requested.
    func checkHasTime() throws {
        if let deadline, !deadline.hasTime { throw deadline.hasNoTime }
    }
}

extension AccessRequest.Kind {
    /// Runs `body` between the beginning and the end that the kind requires.
    @inline(__always)
    package func run<T>(_ db: Database, _ body: (Database) throws -> T) throws -> T {
        switch self {
        case .bare: return try body(db)
        case .read: try db.beginRead(pinned: false)
        case .pinnedRead: try db.beginRead(pinned: true)
        case .begunRead: break
        case .snapshotRead:
            try Self.checkSnapshot(db)
            return try body(db)
        case .write: return try db.withTransaction { (.commit, try body(db)) }
        }
        return try db.finishRead { try body(db) }
    }

    /// Throws `SQLITE_ABORT` if SQL has ended the transaction of a snapshot.
    private static func checkSnapshot(_ db: Database) throws {
        guard db.isInsideTransaction else { throw DatabaseError.snapshotIsLost() }
    }
}

extension AsyncExecution {
    /// The placement of reads.
    func readPlacement(inMemory: Bool) -> AccessRequest.Placement {
        switch self {
        case .inline: .inline
        case .offloaded: .offloaded
        case .automatic: inMemory ? .inline : .measured
        }
    }

    /// The placement of other accesses, which may wait for a lock or for the disk.
    func writePlacement(inMemory: Bool) -> AccessRequest.Placement {
        switch self {
        case .inline: .inline
        case .offloaded: .offloaded
        case .automatic: inMemory ? .inline : .offloaded
        }
    }
}
