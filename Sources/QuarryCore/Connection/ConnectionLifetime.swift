public import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// How long a connection lives, and which thread has it.
///
/// `Database` and each of its statements hold the lifetime; the connection is closed when the last of them is gone, so
/// that no statement ever points to a closed connection, and holding a statement doesn't keep a `Database` alive.
///
/// An access begins by writing its thread's number to `owner`, and ends by writing 0. Whoever calls into SQLite
/// compares, so that use from another thread or after the access ended is an error, not a race.
@usableFromInline
final class ConnectionLifetime: @unchecked Sendable {
    // Sendable: `owner` is atomic, the graveyard is locked, and the rest is touched by the owner alone.

    /// The thread that has the connection; 0 between accesses; `lent` during a backup; `closed` for good.
    @usableFromInline
    let owner = Atomic<UInt>(0)

    static let closed = UInt.max

    /// The owner while a backup writes to the connection, which nobody may use meanwhile.
    static let lent = UInt.max - 1

    /// The thread that had the connection before it was lent; 0 otherwise.
    private let lender = Atomic<UInt>(0)

    /// The connection, for the functions that take a pointer. Valid while the lifetime lives and isn't closed.
    @usableFromInline
    let pointer: SQLiteConnection

    private var handle: ConnectionHandle?

    /// The connection's `Database`, which takes itself out when it goes.
    var database: Database? {
        get { reference?.takeUnretainedValue() }
        set { reference = newValue.map { Unmanaged.passUnretained($0) } }
    }

    @exclusivity(unchecked)
    private var reference: Unmanaged<Database>?

    /// What a thread that doesn't have the connection leaves to the next owner.
    private enum Bequest {
        /// To be finalized.
        case statement(SQLiteStatement)
        /// To be thrown: the misuse of a method that can't throw.
        case error(any Error)
    }

    /// The error of each use, where there has never been a connection.
    private let refusal: DatabaseError?

    private let graveyard = Lock<[Bequest]>([])
    private let hasGraves = Atomic<Bool>(false)

    init(_ handle: consuming ConnectionHandle) {
        pointer = handle.pointer
        self.handle = consume handle
        refusal = nil
    }

    /// A lifetime without a connection: closed from the beginning.
    ///
    /// - parameter refusal: the error that each use throws.
    init(refusing refusal: DatabaseError) {
        pointer = Self.noPointer
        self.refusal = refusal
        owner.store(Self.closed, ordering: .relaxed)
    }

    // Never dereferenced, like the pointer of a closed connection.
    private nonisolated(unsafe) static let noPointer = SQLiteConnection(
        UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

    deinit {
        // No statement is left, so nobody else can reach the connection.
        _ = exhume()
    }

    /// A number for the thread that runs.
    @usableFromInline
    static var currentThread: UInt {
        #if canImport(Darwin) || canImport(Musl)
            UInt(bitPattern: pthread_self())
        #else
            pthread_self()
        #endif
    }

    /// Whether the thread that runs has the connection.
    @usableFromInline
    var isOwned: Bool { owner.load(ordering: .relaxed) == Self.currentThread }

    var isClosed: Bool { owner.load(ordering: .relaxed) == Self.closed }

    /// Makes the thread that runs the owner.
    ///
    /// - returns: an error that another thread has left.
    func take() throws(DatabaseError) -> (any Error)? {
        // The lease of the connection (a lock) orders this after what its last owner did.
        guard !isClosed else { throw refusal ?? .connectionIsClosed() }
        owner.store(Self.currentThread, ordering: .relaxed)
        return hasGraves.load(ordering: .acquiring) ? exhume() : nil
    }

    /// Takes the connection for a `Database` that goes, when nobody can have it any more.
    func takeForGood() { owner.store(Self.currentThread, ordering: .relaxed) }

    func leave() {
        if !isClosed { owner.store(0, ordering: .relaxed) }
    }

    /// The database, if the thread that runs has the connection.
    @inline(__always)
    func accessedDatabase() throws(DatabaseError) -> Database {
        guard isOwned, let reference else { throw accessError() }
        return reference.takeUnretainedValue()
    }

    /// Throws unless the thread that runs has the connection.
    @inline(__always)
    func checkAccess() throws(DatabaseError) {
        guard isOwned else { throw accessError() }
    }

    /// Runs `body` with the database, if the thread that runs has the connection.
    ///
    /// The access keeps the database: `body` needn't.
    @inline(__always)
    func withAccessedDatabase<T>(_ body: (Database) throws -> T) throws -> T {
        guard isOwned, let reference else { throw accessError() }
        return try reference._withUnsafeGuaranteedRef(body)
    }

    @inline(never)
    private func accessError() -> DatabaseError {
        let owner = owner.load(ordering: .relaxed)
        if owner == Self.lent {
            return .misuse("The destination of a backup can't be used until the backup ends.")
        }
        if owner == Self.closed || database == nil { return refusal ?? .connectionIsClosed() }
        return owner == 0 ? .outsideAccess() : .wrongThread()
    }

    /// Runs `body` on the owner's thread, while the connection counts as nobody's.
    func lend<T>(_ body: () throws -> T) rethrows -> T {
        let thread = owner.exchange(Self.lent, ordering: .relaxed)
        lender.store(thread, ordering: .relaxed)
        defer {
            lender.store(0, ordering: .relaxed)
            owner.store(thread, ordering: .relaxed)
        }
        return try body()
    }

    /// Whether an access of the thread that runs is under way, even if it can't use the connection now.
    var isAccessed: Bool { isOwned || lender.load(ordering: .relaxed) == Self.currentThread }

    /// The thread whose access is under way; 0 if there is none.
    var accessingThread: UInt {
        let thread = owner.load(ordering: .relaxed)
        return thread == Self.lent ? lender.load(ordering: .relaxed) : thread == Self.closed ? 0 : thread
    }

    /// Finalizes a statement, now or when the owner is back.
    func finalize(_ statement: SQLiteStatement) {
        if isOwned {
            StatementCalls.finalize(statement)
        } else {
            bequeath(.statement(statement))
        }
    }

    /// Keeps an error for the next access, which throws it.
    func leave(error: any Error) { bequeath(.error(error)) }

    private func bequeath(_ bequest: Bequest) {
        graveyard.withLock { $0.append(bequest) }
        hasGraves.store(true, ordering: .releasing)
    }

    /// Finalizes what was left, and gives the first error among it.
    private func exhume() -> (any Error)? {
        hasGraves.store(false, ordering: .relaxed)
        let bequests = graveyard.withLock { graves in
            defer { graves.removeAll() }
            return graves
        }
        var first: (any Error)?
        for bequest in bequests {
            switch bequest {
            case .statement(let statement): StatementCalls.finalize(statement)
            case .error(let error): first = first ?? error
            }
        }
        return first
    }

    /// Closes the connection for good, or throws `SQLITE_BUSY` and leaves it usable. In the latter case the remaining
    /// statements go to the error log.
    func close() throws(DatabaseError) {
        _ = exhume()
        guard let code = handle?.close() else { return }
        guard code == ResultCode.SQLITE_OK.rawValue else {
            for sql in ConnectionCalls.statements(pointer) { ErrorLog.log(code, "unfinalized statement: \(sql)") }
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: "unable to close due to unfinalized statements or unfinished backups")
        }
        handle.take()?.forget()
        owner.store(Self.closed, ordering: .relaxed)
    }
}
