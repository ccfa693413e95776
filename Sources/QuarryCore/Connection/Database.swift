import Synchronization

/// A connection, as passed to the closures of `read` and `write`.
///
/// ```swift
/// let count = try dbQueue.read { db in
///     try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
/// }
/// ```
///
/// A `Database` is used inside the closure that receives it, on the closure's thread. Elsewhere it throws
/// `SQLITE_MISUSE`.
public final class Database {
    @usableFromInline
    let lifetime: ConnectionLifetime

    /// The connection's name in logs: the configuration's label, or the path.
    public let description: String

    package let options: ConnectionOptions

    /// Runs the statements, if the data is elsewhere; nil for a database of this machine.
    package let route: (any StatementRoute)?

    /// The object with which the layer above has opened the connection. It never changes, so any thread may read it.
    package let context: (any AnyObject & Sendable)?

    /// The setups that the connection shares with the others of its database.
    let setups: ConnectionSetups

    /// The number of the last setup, of `setups`.
    let setupGeneration: UnsafeMutablePointer<Atomic<Int>>

    /// The setups that the connection has had.
    @exclusivity(unchecked)
    var setupProgress = SetupProgress()

    @exclusivity(unchecked)
    var attachments = Attachments()

    /// The owner of the connection's hooks.
    package let hooks: HookSlots

    /// The client of `trace(options:_:)`.
    var traceClient: HookSlots.Client?

    /// Whether the running statements are the library's own: `trace(options:_:)` isn't told of them.
    var runsOwnStatements = false

    @exclusivity(unchecked)
    var statementCache: StatementCache

    /// The running statements, in the order in which they began.
    @exclusivity(unchecked)
    var activeStatements = ActiveStatements()

    /// The number of statements in a step that run to their end in one call: a function called by one may run another.
    @exclusivity(unchecked)
    var runDepth = 0

    @exclusivity(unchecked)
    var controlStatements = [Statement?](repeating: nil, count: ControlStatement.allCases.count)

    /// Binds the parameters of the statements of `execute(binding:)`.
    private(set) lazy var parameterBinder = ParameterBinder()

    /// The blobs that the access has opened and not yet closed.
    @exclusivity(unchecked)
    var openBlobs: [OpenBlob] = []

    /// The backup that reads this database; nil if none does.
    weak var openBackup: OpenBackup?

    /// Whether a backup of this database tells of its progress.
    var isTellingOfBackup = false

    // MARK: Changes and regions

    /// Watches changes and transactions, while they are asked for.
    @exclusivity(unchecked)
    var monitor: (any ConnectionMonitor)? {
        didSet { watchersDidChange() }
    }

    /// The region that statements read, while it is asked for.
    @exclusivity(unchecked)
    var readRegion: ReadRegion? {
        didSet { watchersDidChange() }
    }

    /// Whether the beginning of a statement concerns the monitor or the region that is read.
    @exclusivity(unchecked)
    private(set) var watchesStatements = false

    /// Whether the end of a transaction concerns anybody, so that the end of each statement is looked at.
    @exclusivity(unchecked)
    private(set) var watchesTransactions = false

    /// Decides which statements may be prepared, while SQL of users runs.
    @exclusivity(unchecked)
    var statementPolicy: (any StatementPolicy)?

    /// The column that is being written through an open blob.
    @exclusivity(unchecked)
    var writtenBlobColumn: String?

    @exclusivity(unchecked)
    var accessRecorder: AccessRecorder?

    /// The SQL of tables and triggers as read at a value of `schemaStamp`.
    @exclusivity(unchecked)
    var knownDefinitions: (stamp: Int, definitions: [TableName: String?]) = (0, [:])

    /// The views; nil before the first look.
    @exclusivity(unchecked)
    var knownViews: KnownViews?

    /// The columns of the keys of tables, as read at a value of `schemaStamp`.
    @exclusivity(unchecked)
    var knownKeyColumns: (stamp: Int, columns: [TableName: KeyColumns?]) = (0, [:])

    /// The origin of the commit that the open transaction, or the next one, will make.
    @exclusivity(unchecked)
    package var commitNote: CommitNote?

    /// The number of the last commit, if the file keeps it.
    @exclusivity(unchecked)
    var storedCommitNumber: StoredCommitNumber? {
        didSet { watchersDidChange() }
    }

    /// Follows the access, while it is traced.
    @exclusivity(unchecked)
    var tracer: (any AccessTracer)? {
        didSet { watchersDidChange() }
    }

    func watchersDidChange() {
        watchesStatements =
            monitor != nil || readRegion != nil || storedCommitNumber != nil || route != nil
            || !(tracer?.followedEvents ?? []).isEmpty
        watchesTransactions =
            monitor != nil || !nextTransactionHandlers.isEmpty || storedCommitNumber != nil || parts.overrun != nil
    }

    // MARK: The current access

    @exclusivity(unchecked)
    var access = CurrentAccess()

    /// A different number for each access.
    package var accessNumber: Int { access.number }

    /// The error of statements that may write, if the connection may only read from now on.
    @exclusivity(unchecked)
    package internal(set) var writeRefusal: DatabaseError?

    /// Whether a lock held by another connection is an error immediately, because the access must not wait where it
    /// runs.
    package var refusesToWait: Bool {
        get { access.refusesToWait }
        set { access.refusesToWait = newValue }
    }

    /// Whether the last access left a transaction that couldn't be rolled back. The next access begins by rolling it
    /// back.
    @exclusivity(unchecked)
    var rollbackIsDue = false

    // MARK: Transactions

    @exclusivity(unchecked)
    var transaction = TransactionStateMachine()

    /// The value of `HookSlots.rollbackCount` when the last transaction began.
    @exclusivity(unchecked)
    var rollbackCountAtBegin = 0

    /// The parts of the open transaction, if writes may share it.
    @exclusivity(unchecked)
    var parts = TransactionParts()

    /// The date of the current transaction, in seconds since the reference date.
    @exclusivity(unchecked)
    var transactionSeconds: Result<Double, any Error>?

    @exclusivity(unchecked)
    var nextTransactionHandlers: [(onCommit: (Database) -> Void, onRollback: (Database) -> Void)] = [] {
        didSet { watchersDidChange() }
    }

    /// Nil if no handlers wait.
    @exclusivity(unchecked)
    var handledRollback: HandledRollback?

    /// The open savepoints.
    @exclusivity(unchecked)
    var savepoints = SavepointStack()

    // MARK: Schema

    /// Tells when cached facts about the schema have to be read again.
    @exclusivity(unchecked)
    var schemaClock = SchemaClock()

    /// Whether a database has been attached. If so, a new table may hide a table that kept statements read.
    @exclusivity(unchecked)
    var hasAttached = false

    /// Counts the changes by other connections that `noteForeignSchemaChanges` has noticed.
    @exclusivity(unchecked)
    package var foreignSchemaChangeCount = 0

    /// The states of the schemas that `noteForeignSchemaChanges` has last seen.
    @exclusivity(unchecked)
    var seenSchemas = SeenSchemas()

    // MARK: Full text

    /// The error that a tokenizer has thrown, until the error of its statement is made.
    @exclusivity(unchecked)
    var tokenizerFailure: ReportedFailure?

    // MARK: Time

    /// Whether the time that the body of the next access takes is measured, and the time of the last one in
    /// nanoseconds.
    @exclusivity(unchecked)
    var timing: (isOn: Bool, runTime: UInt64) = (false, 0)

    @exclusivity(unchecked)
    var busyState = BusyState()

    @exclusivity(unchecked)
    var deadlines = Deadlines()

    /// Whether a progress handler looks at the deadlines. True from the first deadline of the connection on.
    @exclusivity(unchecked)
    var watchesDeadlines = false

    /// Opens a connection, and sets it up: busy handler, string literals, foreign keys, pragmas.
    ///
    /// - parameter context: an object for the layer above.
    /// - parameter setups: the setups of the database, which run after `prepare`, and later as they are added.
    /// - parameter route: runs the statements, if the data is elsewhere.
    /// - parameter followsTask: whether opening is cancelled with the task that runs it.
    /// - parameter prepare: the user's preparation of each connection.
    package init(
        path: String, options: ConnectionOptions, context: (any AnyObject & Sendable)? = nil,
        setups: ConnectionSetups? = nil, route: (any StatementRoute)? = nil, followsTask: Bool = false,
        prepare: (Database) throws -> Void = { _ in }
    ) throws {
        ErrorLog.install()
        try Self.createFile(path, options)
        let handle = try ConnectionHandle(
            path: options.acceptsURIs ? path : FileKind.plainPath(path),
            mode: options.readonly ? .readOnly : .readWriteCreate, vfs: options.vfs)
        lifetime = ConnectionLifetime(handle)
        self.options = options
        self.route = route
        self.context = context
        self.setups = setups ?? .none
        setupGeneration = self.setups.generation
        description = options.label ?? path
        hooks = HookSlots(lifetime.pointer)
        statementCache = StatementCache(capacity: options.statementCacheCapacity)
        lifetime.database = self
        lifetime.route = route

        try takeForAccess(nil, followsTask: followsTask)
        do {
            try naming(path) { try setUp() }
            if let route {
                watchersDidChange()
                setupProgress = SetupProgress(isDue: true)
                try route.connectionDidOpen(self)
            }
            try prepare(self)
            // A pragma or the preparation may have read the schema before the program's functions were known. SQLite
            // doesn't check them later: https://www.sqlite.org/pragma.html#pragma_writable_schema
            if !options.trustedSchema, route == nil { try execute(sql: "PRAGMA writable_schema = RESET") }
            if route == nil { try runSetups() }
            // A file that isn't a database is detected here, not at its first use.
            try naming(path) {
                if route != nil {
                    // The first access talks to the other end.
                } else if options.checksSchema {
                    try executeOnce(sql: "SELECT * FROM sqlite_master LIMIT 1")
                } else {
                    try run(.schemaVersion)
                }
            }
        } catch {
            _ = endAccess()
            throw error
        }
        if let error = endAccess() { throw error }
    }

    /// Makes a substitute for a closure that must be given a connection when none exists.
    ///
    /// - parameter error: the error that each use throws.
    package init(refusing error: DatabaseError) {
        lifetime = ConnectionLifetime(refusing: error)
        options = ConnectionOptions()
        route = nil
        context = nil
        setups = .none
        setupGeneration = setups.generation
        description = "no connection"
        hooks = HookSlots(nil)
        statementCache = StatementCache(capacity: 0)
        lifetime.database = self
    }

    deinit {
        // If the connection is free, it is taken to finalize the cached statements at once rather than leave them to a
        // next owner.
        if !lifetime.isClosed {
            lifetime.takeForGood()
            forgetStatements()
            // Statements may outlive the owner of the hooks, and so may the transaction that closing rolls back.
            hooks.removeAll()
            lifetime.leave()
        }
        lifetime.database = nil
    }

    /// Creates the file of a database with the permissions of the options, if it is missing.
    ///
    /// - throws: `SQLITE_CANTOPEN` if it can't be created; `SQLITE_MISUSE` for a VFS whose files aren't the system's.
    package static func createFile(_ path: String, _ options: ConnectionOptions) throws(DatabaseError) {
        guard let permissions = options.filePermissions, !options.readonly else { return }
        try FileCreation.createFile(
            ofDatabase: path, permissions, acceptsURIs: options.acceptsURIs, vfs: options.vfs)
    }

    /// Runs a part of the opening. Its errors name the file, and not the SQL: where the file can't be read, the first
    /// statement fails, whichever it is.
    private func naming(_ path: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            throw DatabaseError(
                resultCode: error.extendedResultCode, message: error.message
            ).with(circumstances: " - while opening \(path)")
        }
    }

    private func setUp() throws {
        if !options.trustedSchema { ConnectionCalls.turn(pointer, .trustedSchema, on: false) }
        if options.isDefensive { ConnectionCalls.turn(pointer, .defensive, on: true) }
        ConnectionCalls.setAcceptsDoubleQuotedStringLiterals(pointer, options.acceptsDoubleQuotedStringLiterals)
        installBusyHandler()
        installStatementDeadline()
        ConnectionCalls.setForeignKeysEnabled(pointer, options.foreignKeysEnabled)
        for pragma in options.pragmas { try execute(sql: pragma) }
    }

    package var pointer: SQLiteConnection { lifetime.pointer }

    /// SQLite's connection; nil after closing.
    public var sqliteConnection: SQLiteConnection? { lifetime.isClosed ? nil : pointer }

    /// The file of the main database, with all links resolved; nil for a database that is no file.
    package var mainFilePath: String? { hooks.withMainPath { $0.map { String(cString: $0) } } }

    /// Throws unless the current thread has the connection.
    package func checkAccess() throws {
        try lifetime.checkAccess()
    }

    // MARK: - Information

    // Outside an access these are 0 or empty, because another thread may use or close the connection.

    /// The rowid of the last inserted row: <https://www.sqlite.org/c3ref/last_insert_rowid.html>.
    ///
    /// ```swift
    /// try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    /// let id = db.lastInsertedRowID
    /// ```
    public var lastInsertedRowID: Int64 { lifetime.isOwned ? ConnectionCalls.lastInsertedRowID(pointer) : 0 }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed: <https://www.sqlite.org/c3ref/changes.html>.
    ///
    /// ```swift
    /// try db.execute(sql: "DELETE FROM player WHERE score = 0")
    /// print("\(db.changesCount) players are gone")
    /// ```
    public var changesCount: Int { lifetime.isOwned ? ConnectionCalls.changes(pointer) : 0 }

    /// The number of rows changed since the connection was opened: <https://www.sqlite.org/c3ref/total_changes.html>.
    public var totalChangesCount: Int { lifetime.isOwned ? ConnectionCalls.totalChanges(pointer) : 0 }

    /// The code of the last error: <https://www.sqlite.org/c3ref/errcode.html>.
    public var lastErrorCode: ResultCode { lifetime.isOwned ? ConnectionCalls.errorCode(pointer) : .SQLITE_MISUSE }

    /// The message of the last error.
    public var lastErrorMessage: String? { lifetime.isOwned ? ConnectionCalls.errorMessage(pointer) : nil }

    /// SQLite's version as a number: 3040001 for 3.40.1.
    public static var sqliteLibVersionNumber: CInt { SQLiteLibrary.versionNumber }

    /// The maximum number of arguments of a statement: <https://www.sqlite.org/limits.html#max_variable_number>.
    public var maximumStatementArgumentCount: Int { limit(.variableNumber) }

    /// The number that SQLite changes with each change of the schema.
    ///
    /// ```swift
    /// let version = try db.schemaVersion()
    /// ```
    /// ```sql
    /// PRAGMA schema_version
    /// ```
    ///
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    public func schemaVersion() throws -> Int32 {
        let statement = try controlStatement(.schemaVersion)
        return try Int32.fetchOne(statement) ?? 0
    }
}

@available(*, unavailable)
extension Database: Sendable {}

extension Database: CustomStringConvertible, CustomDebugStringConvertible {
    /// `<Database: label>`
    public var debugDescription: String { "<Database: \(description)>" }
}
