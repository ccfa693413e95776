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
    package let context: (any DatabaseContext)?

    /// The setups that the connection shares with the others of its database, and those that it has had.
    @exclusivity(unchecked)
    var setups: SetupsOfConnection

    @exclusivity(unchecked)
    var attachments = Attachments()

    /// The owner of the connection's hooks.
    package let hooks: HookSlots

    @exclusivity(unchecked)
    var statementCache: StatementCache

    @exclusivity(unchecked)
    var controlStatements = [Statement?](repeating: nil, count: ControlStatement.allCases.count)

    /// Binds the parameters of the statements of `execute(binding:)`.
    private(set) lazy var parameterBinder = ParameterBinder()

    // MARK: - State

    @exclusivity(unchecked)
    var running = RunningWork()

    /// The objects that follow statements and transactions.
    @exclusivity(unchecked)
    var watchers = ConnectionWatchers() {
        didSet { watchersDidChange() }
    }

    /// Whether the beginning of a statement concerns a watcher; whether the end of a transaction does, so that the end
    /// of each statement is looked at.
    @exclusivity(unchecked)
    private(set) var watches = (statements: false, transactions: false)

    @exclusivity(unchecked)
    var schemaMemory = SchemaMemory()

    @exclusivity(unchecked)
    var openTransaction = OpenTransaction()

    @exclusivity(unchecked)
    var clocks = ConnectionClocks()

    func watchersDidChange() {
        watches.statements =
            watchers.monitor != nil || watchers.readRegion != nil || watchers.storedCommitNumber != nil || route != nil
            || !(watchers.tracer?.followedEvents ?? []).isEmpty
        watches.transactions =
            watchers.monitor != nil || !openTransaction.nextHandlers.isEmpty || watchers.storedCommitNumber != nil
            || openTransaction.parts.overrun != nil
    }

    @exclusivity(unchecked)
    var access = CurrentAccess()

    /// The origin of the commit that the open transaction, or the next one, will make.
    package var commitNote: CommitNote? {
        get { watchers.commitNote }
        set { watchers.commitNote = newValue }
    }

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

    /// The error that a tokenizer has thrown, until the error of its statement is made.
    @exclusivity(unchecked)
    var tokenizerFailure: ReportedFailure?

    /// Opens a connection, and sets it up: busy handler, string literals, foreign keys, pragmas.
    ///
    /// - parameter context: an object for the layer above.
    /// - parameter setups: the setups of the database, which run after `prepare`, and later as they are added.
    /// - parameter route: runs the statements, if the data is elsewhere.
    /// - parameter followsTask: whether opening is cancelled with the task that runs it.
    /// - parameter prepare: the user's preparation of each connection.
    package init(
        path: String, options: ConnectionOptions, context: (any DatabaseContext)? = nil,
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
        self.setups = SetupsOfConnection(setups ?? .none)
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
                self.setups.progress = SetupProgress(isDue: true)
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
        setups = SetupsOfConnection(.none)
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
}

@available(*, unavailable)
extension Database: Sendable {}

extension Database: CustomStringConvertible, CustomDebugStringConvertible {
    /// `<Database: label>`
    public var debugDescription: String { "<Database: \(description)>" }
}
