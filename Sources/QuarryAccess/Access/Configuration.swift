public import QuarryCore

/// The settings for opening and using a database.
///
/// ```swift
/// var config = Configuration()
/// config.label = "players"
/// config.acquireTimeout = 2
/// config.prepareDatabase { db in
///     try db.execute(sql: "PRAGMA temp_store = MEMORY")
/// }
/// let dbPool = try DatabasePool(path: "/var/lib/app/players.sqlite", configuration: config)
/// ```
public struct Configuration: Sendable {
    /// A configuration with the defaults. Opening a database throws `SQLITE_MISUSE` for invalid numbers, such as a
    /// negative timeout.
    public init() {}

    // MARK: - Opening

    /// Names the database in errors, and its connections in `description`.
    ///
    /// ```swift
    /// config.label = "players"   // timeout while waiting for the writer of players: …
    /// ```
    public var label: String?

    /// Whether the database is read-only: writing throws `SQLITE_READONLY`. The file must exist, or opening throws
    /// `SQLITE_CANTOPEN`.
    ///
    /// ```swift
    /// config.readonly = true
    /// let dbQueue = try DatabaseQueue(path: "/usr/share/app/cities.sqlite", configuration: config)
    /// ```
    ///
    /// See <https://www.sqlite.org/c3ref/open.html>.
    public var readonly = false

    /// The journal of a `DatabaseQueue`; a pool is always in WAL mode: <https://www.sqlite.org/wal.html>.
    public var journalMode = JournalModeConfiguration.default

    /// The journal of a database.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.journalMode = .wal
    /// let dbQueue = try DatabaseQueue(path: path, configuration: config)
    /// ```
    public enum JournalModeConfiguration: Sendable {
        /// Leaves a queue's journal unchanged.
        case `default`
        /// Write-ahead logging.
        case wal
    }

    /// How often SQLite waits for the disk: <https://www.sqlite.org/pragma.html#pragma_synchronous>. nil means
    /// `full` in WAL mode and SQLite's default in others, which is `full` too, unless `prepareDatabase` sets another
    /// mode.
    ///
    /// With `full` in WAL mode a write that has returned survives a power failure. A write alone waits for the disk,
    /// and asynchronous writes in line wait together (``groupCommit``). With `normal` no commit waits:
    ///
    /// ```swift
    /// config.synchronous = .normal
    /// ```
    public var synchronous: SynchronousMode?

    /// How often SQLite waits for the disk.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.synchronous = .normal
    /// ```
    public enum SynchronousMode: String, Sendable {
        /// Never: a power failure may corrupt the file.
        case off = "OFF"
        /// In WAL mode a power failure may lose the last commits, but does no other harm.
        case normal = "NORMAL"
        /// At each commit.
        case full = "FULL"
        /// As `full`, and also syncs the folder.
        case extra = "EXTRA"
    }

    /// The bytes of pages that each connection to a file keeps in memory, at most; nil for SQLite's default, 2,000 KiB.
    ///
    /// ```swift
    /// config.cacheSize = 8 << 20  // 8 MiB
    /// ```
    /// ```sql
    /// PRAGMA cache_size = -8192
    /// ```
    ///
    /// A pool has up to `maximumReaderCount` + 1 connections, each with its own pages. The memory is used as pages are
    /// read. 8 MiB suit a server: <https://www.sqlite.org/pragma.html#pragma_cache_size>.
    public var cacheSize: Int?

    /// The bytes of the file that are mapped into memory: <https://www.sqlite.org/pragma.html#pragma_mmap_size>.
    public var mmapSize: Int?

    /// Where temporary tables and indexes are kept, and the pages that a statement would restore if it failed.
    ///
    /// ```swift
    /// config.temporaryStorage = .memory  // for an import of many rows
    /// ```
    /// ```sql
    /// PRAGMA temp_store = MEMORY
    /// ```
    ///
    /// In memory, an import into tables with triggers or full-text indexes writes a sixth of the bytes. But a large
    /// index is then sorted in memory, and a statement that changes a whole table may keep its pages in memory:
    /// <https://www.sqlite.org/tempfiles.html#statement_journal_files>.
    public var temporaryStorage = TemporaryStorage.default

    /// Where temporary content is kept: <https://www.sqlite.org/pragma.html#pragma_temp_store>.
    public enum TemporaryStorage: String, Sendable {
        /// Where SQLite was built to keep it, which is usually in files.
        case `default` = "DEFAULT"
        /// In files of the system's temporary folder.
        case file = "FILE"
        /// In memory.
        case memory = "MEMORY"
    }

    /// Whether deleted content is overwritten with zeros: <https://www.sqlite.org/pragma.html#pragma_secure_delete>.
    public var secureDelete = false

    /// Whether foreign keys are enforced: <https://www.sqlite.org/foreignkeys.html>.
    public var foreignKeysEnabled = true

    /// Whether `"text"` is a string if no column has that name:
    /// <https://www.sqlite.org/quirks.html#double_quoted_string_literals_are_accepted>.
    public var acceptsDoubleQuotedStringLiterals = false

    /// Whether views, triggers, constraints and defaults in the file may call functions with side effects:
    /// <https://www.sqlite.org/pragma.html#pragma_trusted_schema>.
    ///
    /// ```swift
    /// config.trustedSchema = false // for a file from others
    /// ```
    public var trustedSchema = true

    /// Whether SQL that could damage the file is refused: changes of `sqlite_master` and of shadow tables.
    ///
    /// ```swift
    /// config.defensive = true // for SQL from others
    /// ```
    ///
    /// See <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigdefensive>.
    public var defensive = false

    /// Whether a path that begins with `file:` is a URI, whose parameters choose how the file is opened:
    /// <https://www.sqlite.org/uri.html>.
    ///
    /// ```swift
    /// config.acceptsURIs = false // for a path that a user has given
    /// ```
    ///
    /// If false, the path names a file, for `Database.attach` too. `ATTACH` in SQL is not affected.
    public var acceptsURIs = true

    /// The permissions of a file that opening creates: the bits of `chmod`. nil for SQLite's, `0o644` less the
    /// process's umask.
    ///
    /// ```swift
    /// config.filePermissions = 0o600 // for the process's user alone
    /// ```
    ///
    /// The file has exactly these permissions from the beginning, whatever the umask is, and so have its journal, its
    /// write-ahead log and the log's shared memory. They apply to the files that `Database.attach` and `vacuum(into:)`
    /// create, too. An existing file stays as it is, and folders don't have them. SQLite's temporary files always have
    /// `0o600`.
    ///
    /// The owner must be able to read and write. Only SQLite's own file systems can be used: `vfs` is nil, or begins
    /// with `unix`.
    public var filePermissions: UInt16?

    /// Whether opening a database for writing creates the missing folders of its path, with the permissions `0o777`
    /// less the process's umask. URIs and databases in memory have no folders.
    /// ```swift
    /// config.createsIntermediateDirectories = true
    /// ```
    public var createsIntermediateDirectories = false

    /// Whether `Database.loadExtension` may be used: <https://www.sqlite.org/loadext.html>.
    public var allowsLoadingExtensions = false

    /// The name of a registered VFS; nil for the default: <https://www.sqlite.org/vfs.html>.
    public var vfs: String?

    package private(set) var preparations: [@Sendable (Database) throws -> Void] = []

    /// Adds a closure that prepares each connection when it is opened: functions, collations, pragmas.
    ///
    /// ```swift
    /// config.prepareDatabase { db in
    ///     if !db.configuration.readonly { try db.execute(sql: "PRAGMA wal_autocheckpoint = 10000") }
    /// }
    /// ```
    ///
    /// An error of the closure makes the opening fail. Closures run in the order in which they were added.
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        preparations.append(setup)
    }

    // MARK: - Transactions

    /// Whether an access may leave a transaction open for the next access.
    public var allowsUnsafeTransactions = false

    /// The date of transactions, in seconds since 2001-01-01 00:00:00 UTC; nil for the system's clock.
    package var clock: (@Sendable (Database) throws -> Double)?

    /// The source of `clock`, as a type of a layer that knows dates.
    package var chosenClock: (any Sendable)?

    /// The clock of timeouts and durations. A test may move it.
    package var monotonicClock = MonotonicClock.system

    // MARK: - Other processes

    /// How the commits of other processes are noticed, and those of other queues and pools on the same file. See
    /// `OtherProcesses`.
    ///
    /// ```swift
    /// config.otherProcesses = .ignored // no other connection writes
    /// ```
    public var otherProcesses = OtherProcesses.watched

    // MARK: - Waiting

    /// The reaction to a lock that another connection holds.
    ///
    /// ```swift
    /// config.busyMode = .timeout(2)         // SQLITE_BUSY after two seconds
    /// config.busyMode = .immediateError     // SQLITE_BUSY at once
    /// config.busyMode = .callback { tries in tries < 10 }
    /// ```
    ///
    /// By default it waits up to 5 seconds. Asynchronous accesses wait on threads of the library, not on Swift's.
    ///
    /// `PRAGMA busy_timeout` replaces this mode by SQLite's own wait, which can't be cancelled:
    /// <https://www.sqlite.org/pragma.html#pragma_busy_timeout>.
    public var busyMode = Database.BusyMode.timeout(5)

    /// As `busyMode`, for the readers of a pool, which only wait while the database recovers; nil for 10 seconds.
    public var readonlyBusyMode: Database.BusyMode?

    /// The seconds that an access may wait for a connection before it throws `SQLITE_BUSY`; nil for no limit.
    ///
    /// ```swift
    /// config.acquireTimeout = 2
    /// // SQLite error 5: timeout while waiting for a reader of players: none was free within 2.0 seconds
    /// ```
    public var acquireTimeout: Double?

    /// The number of accesses that may wait for a connection; nil for no limit. Further accesses throw `SQLITE_BUSY`
    /// immediately, so that an overloaded server reports the overload early.
    ///
    /// ```swift
    /// config.maximumWaiters = 1000
    /// ```
    public var maximumWaiters: Int?

    /// The seconds that a statement may run, from its first step to its last, including waits for locks; nil for no
    /// limit. After that time it throws `SQLITE_INTERRUPT`, and a transaction that writes is rolled back.
    ///
    /// ```swift
    /// config.statementTimeout = 10
    /// ```
    ///
    /// A change may take twice that time if its interruption would roll back other writes: see <doc:GroupCommit>. Then
    /// its write alone is rolled back. See <https://www.sqlite.org/c3ref/progress_handler.html>.
    public var statementTimeout: Double?

    // MARK: - Connections

    /// The number of connections of a pool that can read at the same time, from 1 to 10,000.
    ///
    /// ```swift
    /// config.maximumReaderCount = ProcessInfo.processInfo.activeProcessorCount
    /// ```
    ///
    /// Each connection has its own cache (`cacheSize`) and some file descriptors.
    public var maximumReaderCount = 5

    /// Whether a pool keeps unused readers open.
    public var persistentReadOnlyConnections = false

    /// The number of prepared statements that a connection keeps.
    public var statementCacheCapacity = 128

    /// Where asynchronous accesses run.
    public var asyncExecution = AsyncExecution.automatic

    /// Whether asynchronous writes that wait for the connection share a transaction, as by default.
    ///
    /// ```swift
    /// try await dbPool.write { db in try player.insert(db) }
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// INSERT INTO player …       -- one task
    /// SAVEPOINT quarry
    /// INSERT INTO player …       -- another
    /// RELEASE SAVEPOINT quarry
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// See <doc:GroupCommit>, also for what differs for a write. `false` gives each write a transaction of its own:
    ///
    /// ```swift
    /// config.groupCommit = false
    /// ```
    ///
    /// It has no effect on databases in memory, on read-only ones, and with
    /// ``AsyncExecution/inline``: a connection in the middle of a transaction would wait for one of Swift's threads.
    public var groupCommit = true

    // MARK: - Write-ahead log

    /// How the write-ahead log is kept small.
    ///
    /// ```swift
    /// config.wal.sizeLimit = 16 << 20
    /// ```
    public var wal = WriteAheadLog()

    /// The work that keeps the file in order, done when the database is idle.
    ///
    /// ```swift
    /// config.maintenance.interval = 6 * 3600
    /// ```
    public var maintenance = Maintenance()

    /// The clock of the keeper of the log, for tests that let it tick themselves.
    var logClock = IdleClock.logs

    // MARK: - Privacy

    /// Whether errors and traces show the arguments of statements, and errors the values of rows.
    public var publicStatementArguments = false

    // MARK: - Settings of other rooms

    /// The settings that rooms above this one declare in extensions of `Configuration`.
    package var settings = ConfigurationSettings()
}

extension Configuration {
    /// Whether the asynchronous writes of a database share transactions.
    package func sharesCommits(inMemory: Bool) -> Bool {
        groupCommit && !inMemory && !readonly && asyncExecution.writePlacement(inMemory: false) == .offloaded
    }

    /// The options of a connection.
    ///
    /// - parameter inMemory: whether the database is in memory, where `cacheSize` has no effect.
    package func connectionOptions(readonly: Bool, inMemory: Bool = false) -> ConnectionOptions {
        var options = ConnectionOptions()
        options.label = label
        options.readonly = readonly
        options.isOfReadonlyDatabase = self.readonly
        options.foreignKeysEnabled = foreignKeysEnabled
        options.acceptsDoubleQuotedStringLiterals = acceptsDoubleQuotedStringLiterals
        options.publicStatementArguments = publicStatementArguments
        options.allowsUnsafeTransactions = allowsUnsafeTransactions
        options.allowsLoadingExtensions = allowsLoadingExtensions
        options.busyMode = busyMode
        options.statementTimeout = statementTimeout
        options.statementCacheCapacity = statementCacheCapacity
        options.vfs = vfs
        options.acceptsURIs = acceptsURIs
        options.filePermissions = filePermissions
        options.trustedSchema = trustedSchema
        options.isDefensive = defensive
        options.storesCommitNumbers = commitNumbers == .stored
        options.transactionClock = clock
        options.monotonicClock = monotonicClock
        // https://www.sqlite.org/pragma.html#pragma_cache_size: a negative number is in kibibytes.
        if let cacheSize, !inMemory { options.pragmas.append("PRAGMA cache_size = -\(max(1, cacheSize / 1024))") }
        if let mmapSize { options.pragmas.append("PRAGMA mmap_size = \(mmapSize)") }
        if temporaryStorage != .default { options.pragmas.append("PRAGMA temp_store = \(temporaryStorage.rawValue)") }
        if secureDelete { options.pragmas.append("PRAGMA secure_delete = ON") }
        if let synchronous { options.pragmas.append("PRAGMA synchronous = \(synchronous.rawValue)") }
        return options
    }

    /// Throws for invalid numbers.
    package func check() throws {
        try check(maximumReaderCount, from: 1, to: 10_000, "maximumReaderCount")
        try check(maximumWaiters, from: 0, "maximumWaiters")
        try check(statementCacheCapacity, from: 0, "statementCacheCapacity")
        try check(cacheSize, from: 0, "cacheSize")
        try check(mmapSize, from: 0, "mmapSize")
        try check(seconds: acquireTimeout, "acquireTimeout")
        try check(seconds: statementTimeout, "statementTimeout")
        if let filePermissions, filePermissions & ~0o777 != 0 || filePermissions & 0o600 != 0o600 {
            throw DatabaseError.misuse(
                """
                Configuration.filePermissions must be from 0o600 to 0o777 and let the owner read and write, not \
                0o\(String(filePermissions, radix: 8))
                """)
        }
        try wal.check()
        try maintenance.check()
        try check(seconds: otherProcesses.interval, "otherProcesses")
        if case .timeout(let seconds) = busyMode { try check(seconds: seconds, "busyMode") }
        if case .timeout(let seconds) = readonlyBusyMode { try check(seconds: seconds, "readonlyBusyMode") }
    }

    private func check(_ value: Int?, from minimum: Int, to maximum: Int = .max, _ name: String) throws {
        guard let value, !(minimum...maximum ~= value) else { return }
        let bounds = maximum == .max ? "at least \(minimum)" : "from \(minimum) to \(maximum)"
        throw DatabaseError.misuse("Configuration.\(name) must be \(bounds), not \(value)")
    }

    private func check(seconds: Double?, _ name: String) throws {
        guard let seconds, !(seconds >= 0) else { return }
        throw DatabaseError.misuse("Configuration.\(name) must be a number of seconds, not \(seconds)")
    }

    package var groupLimits: ConnectionGroup.Limits {
        ConnectionGroup.Limits(
            acquireTimeout: acquireTimeout, maximumWaiters: maximumWaiters, clock: monotonicClock)
    }
}
