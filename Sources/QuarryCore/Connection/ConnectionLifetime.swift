public import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The lifetime of a connection, and the thread that has the connection.
///
/// `Database` and each of its statements hold the lifetime. The connection is closed when the last of them is released.
/// So no statement ever points to a closed connection, and holding a statement doesn't keep a `Database` alive.
///
/// An access begins by writing its thread's number to `owner`, and ends by writing 0. Each call into SQLite first
/// compares its thread with `owner`, so that use from another thread or after the access is an error, not a race.
@usableFromInline
final class ConnectionLifetime: StatementFinalizer, @unchecked Sendable {
    // Sendable: `owner` is atomic, `deferred` is locked, and only the owner touches the rest.

    /// The thread that has the connection; 0 between accesses; a `Borrower` while it is lent; `closed` after closing.
    @usableFromInline
    let owner = Atomic<UInt>(0)

    static let closed = UInt.max

    /// A reason why the thread that has the connection must not use it for a while. The raw values are owners: no
    /// thread has these numbers, because the number of a thread is an address.
    enum Borrower: UInt {
        /// A backup writes to the connection.
        case backup = 1
        /// A callback of SQLite's: <https://www.sqlite.org/c3ref/commit_hook.html>.
        case observer = 2
        /// A closure that resolves the conflicts of a changeset:
        /// <https://www.sqlite.org/session/sqlite3changeset_apply.html>.
        case conflictResolution = 3

        var refusal: DatabaseError {
            switch self {
            case .backup: .misuse("The destination of a backup can't be used until the backup ends.")
            case .observer:
                .misuse(
                    "A transaction observer can use the connection in databaseDidCommit and databaseDidRollback only.")
            case .conflictResolution:
                .misuse("A closure that resolves the conflicts of a changeset can't use the connection.")
            }
        }
    }

    /// The number of the running access, or of the last one, for other threads.
    private let publishedAccess = Atomic<Int>(0)

    /// The number of the access that another thread has ended; 0 for none.
    private let endedAccess = Atomic<Int>(0)

    private let interruption = Atomic<Bool>(false)

    /// Whether the connection has ever been interrupted.
    var wasInterrupted: Bool { interruption.load(ordering: .relaxed) }

    /// The error of the ended access. Written before `endedAccess` has its number, and read only while it has.
    private nonisolated(unsafe) var endError: DatabaseError?

    /// One lock for all connections, because it is seldom taken.
    private static let labelLock = Lock(())

    // Used with the lock held.
    private nonisolated(unsafe) var label: (access: Int, text: String)?

    /// The label of an access; nil if it has none.
    func label(ofAccess number: Int) -> String? {
        Self.labelLock.withLock { _ in label?.access == number ? label?.text : nil }
    }

    func setLabel(_ text: String?, ofAccess number: Int) {
        Self.labelLock.withLock { _ in label = text.map { (number, $0) } }
    }

    /// The thread that had the connection before lending it; 0 otherwise.
    private let lender = Atomic<UInt>(0)

    /// The counts of the connection, for statistics.
    let counters = ConnectionCounters()

    private let backup = Atomic<Bool>(false)

    /// Whether a backup reads the database. Other threads may ask.
    var isReadByBackup: Bool {
        get { backup.load(ordering: .relaxed) }
        set { backup.store(newValue, ordering: .relaxed) }
    }

    /// The connection, for functions that take a pointer. Valid until the lifetime is released or closed.
    @usableFromInline
    let pointer: SQLiteConnection

    private var handle: ConnectionHandle?

    /// The connection's `Database`, which removes itself when it is released.
    var database: Database? {
        get { reference?.takeUnretainedValue() }
        set { reference = newValue.map { Unmanaged.passUnretained($0) } }
    }

    @exclusivity(unchecked)
    private var reference: Unmanaged<Database>?

    /// An item that a thread without the connection leaves to the next owner.
    private enum Deferred {
        /// A statement to finalize.
        case statement(SQLiteStatement)
        /// An error to throw: the misuse of a method that can't throw.
        case error(any Error)
    }

    /// The error that each use throws, if there has never been a connection.
    private let refusal: DatabaseError?

    /// One lock for all connections, because it is seldom taken, and a lock for each would cost allocations when a
    /// connection is opened.
    private static let deferredLock = Lock(())

    /// Runs the statements, if the data is elsewhere. Set before any other thread knows the connection.
    nonisolated(unsafe) var route: (any StatementRoute)?

    // Used with the lock held.
    private nonisolated(unsafe) var deferred: [Deferred] = []
    private let hasDeferred = Atomic<Bool>(false)

    init(_ handle: consuming ConnectionHandle) {
        pointer = handle.pointer
        self.handle = consume handle
        refusal = nil
    }

    /// Makes a lifetime without a connection, closed from the beginning.
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
        // No statement is left, so no other thread can reach the connection.
        _ = releaseDeferred()
    }

    /// The number of the current thread.
    @usableFromInline
    static var currentThread: UInt {
        #if canImport(Darwin) || canImport(Musl)
        UInt(bitPattern: pthread_self())
        #else
        pthread_self()
        #endif
    }

    /// Whether the current thread has the connection.
    @usableFromInline
    var isOwned: Bool { owner.load(ordering: .relaxed) == Self.currentThread }

    var isClosed: Bool { owner.load(ordering: .relaxed) == Self.closed }

    /// Makes the current thread the owner.
    ///
    /// - returns: an error that another thread has left.
    func take() throws(DatabaseError) -> (any Error)? {
        // The lease of the connection (a lock) orders this after all accesses of the last owner.
        guard !isClosed else { throw refusal ?? .connectionIsClosed(database?.description) }
        owner.store(Self.currentThread, ordering: .relaxed)
        return hasDeferred.load(ordering: .acquiring) ? releaseDeferred() : nil
    }

    /// Takes the connection for a `Database` that is being released. No access can have the connection by then.
    func takeForGood() { owner.store(Self.currentThread, ordering: .relaxed) }

    func leave() {
        if !isClosed { owner.store(0, ordering: .relaxed) }
    }

    // MARK: - Ending an access from another thread

    /// The number of the running access; nil if none is running.
    var runningAccess: Int? { accessingThread == 0 ? nil : publishedAccess.load(ordering: .relaxed) }

    /// Whether the access, or an earlier one, has been ended.
    @inline(__always)
    var hasEndedAccess: Bool { endedAccess.load(ordering: .relaxed) != 0 }

    /// Tells other threads of an access that has begun.
    @inline(__always)
    func publish(access number: Int) {
        if hasEndedAccess { forgetEndedAccess() }
        publishedAccess.store(number, ordering: .relaxed)
    }

    /// Makes the statements of an access fail. The caller prevents the next access from beginning meanwhile.
    ///
    /// - returns: whether the access was running, and hadn't been ended.
    func end(access number: Int, _ error: DatabaseError) -> Bool {
        guard runningAccess == number, endedAccess.load(ordering: .acquiring) == 0
        else { return false }
        endError = error
        endedAccess.store(number, ordering: .releasing)
        interrupt()
        return true
    }

    /// Interrupts the running statements, from any thread. The caller prevents the connection from being closed
    /// meanwhile.
    func interrupt() {
        interruption.store(true, ordering: .relaxed)
        if route?.isShielded != true { ConnectionCalls.interrupt(pointer) }
        route?.interrupt()
    }

    /// The error of an access, if it has been ended.
    func endError(ofAccess number: Int) -> DatabaseError? {
        endedAccess.load(ordering: .acquiring) == number ? endError : nil
    }

    /// Forgets that an earlier access was ended. SQLite may not have received the interruption yet.
    @inline(never)
    private func forgetEndedAccess() {
        endError = nil
        endedAccess.store(0, ordering: .releasing)
        ConnectionCalls.forgetInterruption(pointer)
    }

    // MARK: - Use

    /// The database, if the current thread has the connection.
    @inline(__always)
    func accessedDatabase() throws(DatabaseError) -> Database {
        guard isOwned, let reference else { throw accessError() }
        return reference.takeUnretainedValue()
    }

    /// Throws unless the current thread has the connection.
    @inline(__always)
    func checkAccess() throws(DatabaseError) {
        guard isOwned else { throw accessError() }
    }

    /// Runs `body` with the database, if the current thread has the connection.
    ///
    /// The access retains the database, so `body` needn't.
    @inline(__always)
    func withAccessedDatabase<T>(_ body: (Database) throws -> T) throws -> T {
        guard isOwned, let reference else { throw accessError() }
        return try reference._withUnsafeGuaranteedRef(body)
    }

    @inline(never)
    private func accessError() -> DatabaseError {
        let owner = owner.load(ordering: .relaxed)
        if let borrower = Borrower(rawValue: owner) { return borrower.refusal }
        if owner == Self.closed || database == nil {
            return refusal ?? .connectionIsClosed(database?.description)
        }
        return owner == 0 ? .outsideAccess() : .wrongThread()
    }

    /// Runs `body` on the owner's thread, while the connection counts as used by no thread.
    func lend<T>(to borrower: Borrower, _ body: () throws -> T) rethrows -> T {
        let thread = owner.load(ordering: .relaxed)
        // Lent already.
        if Borrower(rawValue: thread) != nil { return try body() }
        lender.store(thread, ordering: .relaxed)
        owner.store(borrower.rawValue, ordering: .relaxed)
        defer {
            owner.store(thread, ordering: .relaxed)
            lender.store(0, ordering: .relaxed)
        }
        return try body()
    }

    /// Whether the current thread's access has the connection, even if the access can't use it now.
    var isAccessed: Bool { isOwned || lender.load(ordering: .relaxed) == Self.currentThread }

    /// The thread whose access has the connection; 0 if none has.
    var accessingThread: UInt {
        let thread = owner.load(ordering: .relaxed)
        if thread == Self.closed { return 0 }
        return Borrower(rawValue: thread) == nil ? thread : lender.load(ordering: .relaxed)
    }

    /// Finalizes a statement, now or when the next owner takes the connection.
    @usableFromInline
    func finalize(_ statement: SQLiteStatement) {
        if isOwned {
            StatementHandle.finalize(statement)
        } else {
            postpone(.statement(statement))
        }
    }

    /// Keeps an error, which the next access throws.
    func leave(error: any Error) { postpone(.error(error)) }

    private func postpone(_ release: Deferred) {
        Self.deferredLock.withLock { _ in deferred.append(release) }
        hasDeferred.store(true, ordering: .releasing)
    }

    /// Finalizes the statements that were left, and returns the first error.
    private func releaseDeferred() -> (any Error)? {
        hasDeferred.store(false, ordering: .relaxed)
        let releases = Self.deferredLock.withLock { _ in
            defer { deferred.removeAll() }
            return deferred
        }
        var first: (any Error)?
        for release in releases {
            switch release {
            case .statement(let statement): StatementHandle.finalize(statement)
            case .error(let error): first = first ?? error
            }
        }
        return first
    }

    /// Closes the connection, or throws `SQLITE_BUSY` and leaves it usable. In the latter case the error log receives
    /// the SQL of the remaining statements.
    func close() throws(DatabaseError) {
        _ = releaseDeferred()
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
