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
/// `Database` and each of its statements hold the lifetime; the connection is closed when the last of them is gone, so that no
/// statement ever points to a closed connection, and holding a statement doesn't keep a `Database` alive.
///
/// An access begins by writing its thread's number to `owner`, and ends by writing 0. Whoever calls into SQLite compares, so
/// that use from another thread or after the access ended is an error, not a race.
@usableFromInline
final class ConnectionLifetime: @unchecked Sendable {
    // Sendable: `owner` is atomic, the graveyard is locked, and the rest is touched by the owner alone.

    /// The thread that has the connection; 0 between accesses; `closed` for good.
    @usableFromInline
    let owner = Atomic<UInt>(0)

    static let closed = UInt.max

    /// The connection, for the functions that take a pointer. Valid while the lifetime lives and isn't closed.
    @usableFromInline
    let pointer: SQLiteConnection

    private var handle: ConnectionHandle?

    /// The connection's `Database`, which takes itself out when it goes.
    @usableFromInline
    @exclusivity(unchecked)
    unowned(unsafe) var database: Database?

    /// Statements that went away on a thread that didn't have the connection. The owner finalizes them.
    private let graveyard = Lock<[SQLiteStatement]>([])
    private let hasGraves = Atomic<Bool>(false)

    init(_ handle: consuming ConnectionHandle) {
        pointer = handle.pointer
        self.handle = consume handle
    }

    deinit {
        // No statement is left, so nobody else can reach the connection.
        finalizeBuriedStatements()
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

    func take() throws(DatabaseError) {
        // The lease of the connection (a lock) orders this after what its last owner did.
        guard !isClosed else { throw .connectionIsClosed() }
        owner.store(Self.currentThread, ordering: .relaxed)
        if hasGraves.load(ordering: .acquiring) { finalizeBuriedStatements() }
    }

    /// Takes the connection for a `Database` that goes, when nobody can have it any more.
    func takeForGood() { owner.store(Self.currentThread, ordering: .relaxed) }

    func leave() {
        if !isClosed { owner.store(0, ordering: .relaxed) }
    }

    /// The database, if the thread that runs has the connection.
    @usableFromInline
    func accessedDatabase() throws(DatabaseError) -> Database {
        guard isOwned, let database else { throw accessError() }
        return database
    }

    @inline(never)
    private func accessError() -> DatabaseError {
        isClosed || database == nil ? .connectionIsClosed() : .wrongThread()
    }

    /// Finalizes a statement, now or when the owner is back.
    func finalize(_ statement: SQLiteStatement) {
        if isOwned {
            StatementCalls.finalize(statement)
        } else {
            graveyard.withLock { $0.append(statement) }
            hasGraves.store(true, ordering: .releasing)
        }
    }

    func finalizeBuriedStatements() {
        hasGraves.store(false, ordering: .relaxed)
        let statements = graveyard.withLock { graves in
            defer { graves.removeAll() }
            return graves
        }
        for statement in statements { StatementCalls.finalize(statement) }
    }

    /// Closes the connection for good, or throws `SQLITE_BUSY` and leaves it usable.
    func close() throws(DatabaseError) {
        finalizeBuriedStatements()
        guard let code = handle?.close() else { return }
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: "unable to close due to unfinalized statements or unfinished backups")
        }
        handle.take()?.forget()
        owner.store(Self.closed, ordering: .relaxed)
    }
}
