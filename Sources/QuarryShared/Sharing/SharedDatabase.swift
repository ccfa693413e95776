public import Quarry
import QuarryCore

/// A database in a file, shared by all parts of a program that name its path, opened by its first access.
///
/// ```swift
/// let database = SharedDatabase(path: "/var/lib/app/players.sqlite") // opens nothing, and never fails
/// try await database.write { db in                                   // opens the file, or creates it
///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
/// }
/// try await database.closeAsync()
/// let count = try await database.read { db in                        // opens it again
///     try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
/// }
/// ```
///
/// All shared databases of one file are one database: one writer, the same readers, observations, commits, tracers,
/// statistics and prepared connections. A relative path, a symbolic link and a hard link lead to the same file. The
/// file is closed when the last of them is released.
///
/// The accesses are those of a `DatabasePool`: the file is in WAL mode, and reads don't wait for writes. A shared
/// database has each method of a pool, but for `DatabasePool.open(path:configuration:)`: making a shared database
/// opens nothing, and `open()` opens it. `close()` is not final, as that of a pool is.
public final class SharedDatabase: ForwardingWriter {
    let pool: DatabasePool

    package var writer: any DatabaseWriter { pool }

    /// Shares the database of a file. This opens nothing: what is wrong with the path is the error of the first access.
    ///
    /// ```swift
    /// let database = SharedDatabase(path: "players.sqlite")
    /// let alias = SharedDatabase(path: "./data/../players.sqlite")
    /// database.isSameDatabase(as: alias) // true
    /// ```
    ///
    /// A relative path is one of the current folder now, whatever that is later.
    ///
    /// - parameter path: the path of a file, never a URI, and never a database in memory.
    /// - parameter configuration: used if no other shared database of the file is alive; nil for that of the others, or
    ///   the default. If another one has a configuration with other values, each access of this one throws
    ///   `SQLITE_MISUSE`, and names a difference. Closures can't be compared: those of the first configuration count.
    public init(path: String, configuration: Configuration? = nil) {
        guard let refusal = Self.refusal(of: path) else {
            let path = FileName.canonical(path)
            let shared = SharedFiles.all.pool(path) { Self.makePool(path, configuration ?? Configuration()) }
            guard let configuration, let name = shared.configuration.difference(from: configuration) else {
                pool = shared
                return
            }
            pool = Self.makePool(
                path, configuration,
                refusal: DatabaseError.misuse(
                    "\(path) is shared with another configuration: Configuration.\(name) differs"))
            return
        }
        pool = Self.makePool(path, configuration ?? Configuration(), refusal: refusal)
    }

    /// - parameter pool: of a shared file.
    init(_ pool: DatabasePool) { self.pool = pool }

    static func makePool(
        _ path: String, _ configuration: Configuration, refusal: DatabaseError? = nil,
        in directory: SharedFile.Directory? = nil
    ) -> DatabasePool {
        let file = SharedFile(path: path, configuration, refusal: refusal, in: directory)
        let pool = DatabasePool(of: file)
        file.setPool(pool)
        return pool
    }

    static func refusal(of path: String) -> DatabaseError? {
        let reason =
            if path.isEmpty || path == ":memory:" {
                "a database in memory can't be shared by its path; see DatabaseQueue(named:)"
            } else if path.hasPrefix("file:") {
                "a shared database needs a path, not a URI"
            } else if path.utf8.contains(0) {
                "the path has a NUL character"
            } else if FileName.isInRemovedFolder(path) {
                "the path is relative, and the current folder was removed"
            } else {
                nil as String?
            }
        return reason.map {
            DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "\($0): \(String(reflecting: path))")
        }
    }

    private var file: SharedFile { pool.sharedFile! }

    /// Whether two shared databases are one: they share the file and its connections.
    ///
    /// ```swift
    /// let alias = SharedDatabase(path: "./players.sqlite")
    /// database.isSameDatabase(as: alias)  // true
    /// ```
    public func isSameDatabase(as other: SharedDatabase) -> Bool { pool === other.pool }

    // MARK: - Opening

    /// Whether the database has an open connection.
    ///
    /// ```swift
    /// let database = SharedDatabase(path: "players.sqlite")
    /// database.isOpened // false
    /// try database.open()
    /// database.isOpened // true
    /// ```
    public var isOpened: Bool { pool.groups.contains(where: \.hasOpenConnection) }

    /// Whether the database is open, or can be opened; opens it. `open()` gives the reason if not.
    ///
    /// Waits for running writes. False inside a closure that has the database closed.
    public var canOpen: Bool { (try? open()) != nil }

    /// Opens the database now, instead of at its first access.
    ///
    /// ```swift
    /// do { try database.open() } catch { logger.critical("\(error)") }
    /// ```
    ///
    /// - throws: the errors of `DatabasePool.init(path:configuration:)`; `SQLITE_MISUSE` if the file is open under
    ///   another name, such as a hard link; `SQLITE_BUSY` if a snapshot, a backup, or an access of a shared database
    ///   that was released, uses it under another name.
    public func open() throws {
        if pool.writer.group.hasOpenConnection { return }
        try pool.writer.perform(pool.writeRequest) { _ in }
    }

    /// As the synchronous `open`; waiting suspends the task, and opening holds none of Swift's threads.
    ///
    /// - throws: the errors of the synchronous `open`; `CancellationError`.
    public func open() async throws {
        try Task.checkCancellation()
        if pool.writer.group.hasOpenConnection { return }
        try await pool.writer.perform(AccessRequest(.bare, .offloaded)) { _ in }
    }

    // MARK: - Closing

    /// Closes all connections, after the running accesses and those that wait. Later accesses open them again.
    ///
    /// ```swift
    /// try database.close()
    /// database.isOpened // false
    /// try database.write { … } // opens the database
    /// ```
    ///
    /// This closes the database of all shared databases of the file. Observations, streams of commits, tracers,
    /// statistics and prepared connections stay; observations have a new value after the next opening, because
    /// others may have changed the file. Snapshots and stable readers keep their own connections.
    ///
    /// - throws: `SQLITE_BUSY` if statements are left; `SQLITE_MISUSE` inside an access of this thread, and inside the
    ///   closure of `withClosedDatabase`; the errors of `Configuration.acquireTimeout` and `maximumWaiters`. The
    ///   database then stays open.
    public func close() throws {
        if try pool.isClosedBehindGate() { return }
        try ConnectionGroup.whileClosed(pool.groups) { file.didClose() }
    }

    /// As `close`; waiting suspends the task, and closing holds none of Swift's threads.
    ///
    /// - throws: the errors of `close`; `CancellationError`.
    public func closeAsync() async throws {
        let file = file
        if await pool.isClosedBehindGateAsync() { return }
        try await ConnectionGroup.whileClosed(pool.groups, pool.workers) { file.didClose() }
    }

    // MARK: - Windows

    /// Runs a closure while the database is closed, to move, copy, remove or replace its files.
    ///
    /// ```swift
    /// try database.withClosedDatabase { files in
    ///     try files.move(to: "/var/archive/players-2026.sqlite")
    /// }
    /// ```
    ///
    /// 1. The running accesses end, and those that wait already; accesses that come meanwhile wait.
    /// 2. All connections are closed, which moves the log into the database.
    /// 3. The closure runs. Accesses of other threads and tasks wait, in their order, as long as
    ///    `Configuration.acquireTimeout` and their own deadlines let them.
    /// 4. The next access opens the database, also if the closure has thrown. After a move, that creates a new database
    ///    at the old path.
    ///
    /// Inside the closure, an access of this database, and of each other one of the file, throws `SQLITE_MISUSE`. A
    /// closure that waits for an access of another thread waits forever.
    ///
    /// - parameter body: receives the files, which can't be used after it has returned.
    /// - throws: the error of `body`; `SQLITE_BUSY` if statements are left, if a snapshot, stable reader or backup
    ///   reads the database, or if an access of a shared database that was released uses it for some seconds;
    ///   `SQLITE_MISUSE` inside an access of this thread, and inside such a closure.
    public func withClosedDatabase<T>(_ body: (ClosedDatabaseFiles) throws -> T) throws -> T {
        try withClosedDatabase(FileOperations(), body)
    }

    /// As the synchronous `withClosedDatabase`; waiting suspends the task, and the closure runs on a thread of the
    /// library.
    ///
    /// ```swift
    /// let byteCount = try await database.withClosedDatabase { files in try files.sizes().total }
    /// ```
    ///
    /// Cancelling the task ends the wait, but not the closure.
    ///
    /// - throws: the errors of the synchronous `withClosedDatabase`; `CancellationError`.
    public func withClosedDatabase<T: Sendable>(
        _ body: @Sendable (ClosedDatabaseFiles) throws -> T
    ) async throws -> T {
        let file = file
        return try await ConnectionGroup.whileClosed(pool.groups, pool.workers) {
            try Self.useFiles(of: file, FileOperations(), body)
        }
    }

    /// Closes the database until the blockade ends: accesses wait meanwhile. Prefer `withClosedDatabase`, which can't
    /// be forgotten.
    ///
    /// ```swift
    /// let blockade = try database.blockade()
    /// defer { blockade.end() }
    /// try blockade.files.copy(to: "/var/backups/players.sqlite")
    /// ```
    ///
    /// Synchronous accesses on the thread that called this throw `SQLITE_MISUSE` until then, because they would wait
    /// for their own thread. On one of Swift's threads, or of the library's, those of other tasks do as well, and after
    /// the end of a thread, a new one may have its number: keep a thread of your own until the end.
    ///
    /// A blockade that is held across an `await` never ends if synchronous accesses block all of Swift's threads
    /// meanwhile: they wait for the blockade, and its task waits for one of the threads. The closure of
    /// `withClosedDatabase` needs none of them.
    ///
    /// - throws: the errors of `withClosedDatabase`.
    public func blockade() throws -> DatabaseBlockade {
        try ConnectionGroup.beginWindow(pool.groups)
        do {
            file.didClose()
            try file.checkHasNoOtherReaders()
        } catch {
            ConnectionGroup.endBarriers(pool.groups)
            throw error
        }
        return DatabaseBlockade(pool, ClosedDatabaseFiles(file, FileOperations()))
    }

    /// As the synchronous `blockade`; waiting suspends the task, and closing holds none of Swift's threads.
    ///
    /// ```swift
    /// let blockade = try await database.blockade()
    /// defer { blockade.end() }
    /// try blockade.files.copy(to: "/var/backups/players.sqlite")
    /// ```
    ///
    /// The blockade belongs to no thread: an access of the task that has it waits for the end as any other does, and so
    /// forever, unless it has a deadline. Cancelling the task ends the wait for the blockade, but not the blockade.
    ///
    /// Held across another `await`, it may never end, as the synchronous form says.
    ///
    /// - throws: the errors of the synchronous `blockade`, but for those of an access of this thread;
    ///   `CancellationError`.
    public func blockade() async throws -> DatabaseBlockade {
        let (pool, file) = (pool, file)
        return try await ConnectionGroup.whileClosed(pool.groups, pool.workers, staysClosed: true) {
            file.didClose()
            try file.checkHasNoOtherReaders()
            return DatabaseBlockade(pool, ClosedDatabaseFiles(file, FileOperations()))
        }
    }

    /// Whether accesses wait for a barrier of the database: a blockade, a closure that has it closed, or another write
    /// that lets no other access run.
    public var isBlockaded: Bool { pool.writer.group.hasWindow }

    func withClosedDatabase<T>(
        _ operations: FileOperations, _ body: (ClosedDatabaseFiles) throws -> T
    ) throws -> T {
        try ConnectionGroup.whileClosed(pool.groups) { try Self.useFiles(of: file, operations, body) }
    }

    private static func useFiles<T>(
        of file: SharedFile, _ operations: FileOperations, _ body: (ClosedDatabaseFiles) throws -> T
    ) throws -> T {
        file.didClose()
        try file.checkHasNoOtherReaders()
        let files = ClosedDatabaseFiles(file, operations)
        defer { files.end() }
        return try body(files)
    }
}

/// Keeps a shared database closed until it ends, or is released.
///
/// ```swift
/// let blockade = try database.blockade()
/// … // no access runs
/// blockade.end()
/// ```
public final class DatabaseBlockade: Sendable {
    /// The files of the database, which can be used until the end.
    public let files: ClosedDatabaseFiles
    private let pool: Lock<DatabasePool?>

    fileprivate init(_ pool: DatabasePool, _ files: ClosedDatabaseFiles) {
        self.pool = Lock(pool)
        self.files = files
    }

    deinit { end() }

    /// Lets accesses run again, on any thread. Ending again has no effect.
    ///
    /// ```swift
    /// blockade.end()
    /// ```
    public func end() {
        guard let pool = pool.withLock({ $0.take() }) else { return }
        files.end()
        ConnectionGroup.endBarriers(pool.groups)
    }
}

extension Configuration {
    /// The name of a value that another configuration has otherwise; nil if there is none. Closures aren't compared.
    func difference(from other: Configuration) -> String? {
        let values: [(String, (Configuration) -> Any)] = [
            ("label", { $0.label as Any }), ("readonly", { $0.readonly }), ("journalMode", { $0.journalMode }),
            ("synchronous", { $0.synchronous as Any }), ("cacheSize", { $0.cacheSize as Any }),
            ("mmapSize", { $0.mmapSize as Any }), ("temporaryStorage", { $0.temporaryStorage }),
            ("secureDelete", { $0.secureDelete }), ("foreignKeysEnabled", { $0.foreignKeysEnabled }),
            ("acceptsDoubleQuotedStringLiterals", { $0.acceptsDoubleQuotedStringLiterals }),
            ("trustedSchema", { $0.trustedSchema }), ("defensive", { $0.defensive }),
            ("acceptsURIs", { $0.acceptsURIs }), ("filePermissions", { $0.filePermissions as Any }),
            ("createsIntermediateDirectories", { $0.createsIntermediateDirectories }),
            ("allowsLoadingExtensions", { $0.allowsLoadingExtensions }), ("vfs", { $0.vfs as Any }),
            ("allowsUnsafeTransactions", { $0.allowsUnsafeTransactions }), ("commitNumbers", { $0.commitNumbers }),
            ("acquireTimeout", { $0.acquireTimeout as Any }), ("maximumWaiters", { $0.maximumWaiters as Any }),
            ("statementTimeout", { $0.statementTimeout as Any }), ("maximumReaderCount", { $0.maximumReaderCount }),
            ("persistentReadOnlyConnections", { $0.persistentReadOnlyConnections }),
            ("statementCacheCapacity", { $0.statementCacheCapacity }), ("groupCommit", { $0.groupCommit }),
            ("publicStatementArguments", { $0.publicStatementArguments }), ("busyMode", { $0.busyMode }),
            ("readonlyBusyMode", { $0.readonlyBusyMode as Any }), ("otherProcesses", { $0.otherProcesses }),
            ("asyncExecution", { $0.asyncExecution }), ("wal", { $0.wal }), ("maintenance", { $0.maintenance }),
        ]
        if let value = values.first(where: { String(describing: $0.1(self)) != String(describing: $0.1(other)) }) {
            return value.0
        }
        let (own, others) = (settings.comparisons, other.settings.comparisons)
        return Set(own.keys).union(others.keys).sorted().first { own[$0] != others[$0] }
    }
}
