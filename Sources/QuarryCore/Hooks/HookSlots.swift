/// The owner of the hook slots of a connection.
///
/// SQLite has one slot for each kind of hook; a second `sqlite3_commit_hook` silently replaces the first. Here each
/// kind has any number of clients, and the slot is occupied only while it has one. Nothing else installs a hook (`make
/// lint` proves it).
///
/// The preupdate slot isn't shared with SQLite's session extension, which takes the slot's context for a session: the
/// process would crash. The slot belongs either to the clients or to sessions (`withSessions`).
package final class HookSlots {
    /// A client of a slot, needed to remove it.
    package struct Client: Hashable, Sendable {
        fileprivate let id: Int
    }

    /// A client's handler, until the client is removed.
    final class Registration<Handler> {
        let client: Client
        let handler: Handler

        /// False once the client is removed: a client that is removed while its slot's clients are being called isn't
        /// called any more.
        fileprivate(set) var isActive = true

        fileprivate init(_ client: Client, _ handler: Handler) {
            self.client = client
            self.handler = handler
        }
    }

    /// The clients of one slot, in the order of their registration.
    struct Clients<Handler> {
        /// The registrations. Callers iterate over a copy: clients may be added and removed meanwhile, and added ones
        /// are called from the next event on.
        private(set) var entries: [Registration<Handler>] = []
        var isEmpty: Bool { entries.isEmpty }

        /// Calls each client. A single client costs no copy of the list.
        @inline(__always)
        func forEach(_ body: (Handler) -> Void) {
            guard entries.count > 1 else {
                if let entry = entries.first { body(entry.handler) }
                return
            }
            for entry in entries where entry.isActive { body(entry.handler) }
        }

        fileprivate mutating func append(_ handler: Handler, _ client: Client) {
            entries.append(Registration(client, handler))
        }

        /// - parameter removed: receives the registration. The caller releases it when the slot is no longer being
        ///   changed, because the handler may hold objects whose release uses the connection.
        fileprivate mutating func remove(_ client: Client, _ removed: inout AnyObject?) -> Bool {
            guard let index = entries.firstIndex(where: { $0.client == client }) else { return false }
            let entry = entries.remove(at: index)
            entry.isActive = false
            removed = entry
            return true
        }

        fileprivate mutating func removeAll() {
            for entry in entries { entry.isActive = false }
            entries = []
        }
    }

    /// A row that an INSERT, UPDATE or DELETE has changed: <https://www.sqlite.org/c3ref/update_hook.html>.
    package struct UpdateEvent {
        package enum Kind { case insert, update, delete }
        package var kind: Kind
        package var schema: UnsafePointer<CChar>
        package var table: UnsafePointer<CChar>
        package var rowID: Int64
    }

    /// An operation of a statement that is being prepared: <https://www.sqlite.org/c3ref/c_alter_table.html>.
    package struct Authorization {
        package var action: CInt
        package var first: UnsafePointer<CChar>?
        package var second: UnsafePointer<CChar>?
        package var schema: UnsafePointer<CChar>?
        package var trigger: UnsafePointer<CChar>?

        /// An operation on a table.
        enum Operation {
            /// An empty column means rows whose columns aren't read.
            case read(UnsafePointer<CChar>, column: UnsafePointer<CChar>)
            /// A query of a view, a common table expression or a trigger.
            case nestedQuery(UnsafePointer<CChar>)
            case insert(UnsafePointer<CChar>)
            case delete(UnsafePointer<CChar>)
            case update(UnsafePointer<CChar>, column: UnsafePointer<CChar>)
            /// A table or view that is created, altered or dropped, and its schema, unless `schema` names it.
            case definition(UnsafePointer<CChar>, schema: UnsafePointer<CChar>?)
        }
    }

    /// An operation that a policy for untrusted SQL allows or refuses.
    package enum AuthorizationRequest {
        case select
        case recursion
        case function(String)
        /// - parameter schema: nil if the name of the table is all that SQLite says.
        /// - parameter column: empty for the presence of rows.
        case read(schema: String?, table: String, column: String)
        case pragma(String, hasArgument: Bool)
        /// - parameter text: the operation in words.
        case other(String)
    }

    /// An answer to an authorization; the strictest answer of all clients applies.
    package enum AuthorizationAnswer: Int, Comparable {
        case allow, ignore, deny
        package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// A statement that begins, returns a row or has ended: <https://www.sqlite.org/c3ref/c_trace.html>.
    package enum TraceEvent {
        /// - parameter text: the SQL, or a comment that names a trigger.
        case statement(SQLiteStatement, text: UnsafePointer<CChar>)
        case profile(SQLiteStatement, nanoseconds: Int64)
        case row(SQLiteStatement)
    }

    /// The events that a client of the trace slot receives. The raw values are SQLite's.
    package struct TraceEvents: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let statements = TraceEvents(rawValue: 1)
        package static let profiles = TraceEvents(rawValue: 2)
        package static let rows = TraceEvents(rawValue: 4)
    }

    package typealias UpdateHandler = (UpdateEvent) -> Void
    package typealias PreupdateHandler = (PreupdateEvent) -> Void
    /// Returns whether the transaction may commit.
    package typealias CommitHandler = () -> Bool
    package typealias RollbackHandler = () -> Void
    /// Takes the schema's name and the number of pages in the log.
    package typealias WALHandler = (UnsafePointer<CChar>, Int) -> Void
    package typealias AuthorizerHandler = (Authorization) -> AuthorizationAnswer
    /// Returns whether to go on.
    package typealias ProgressHandler = () -> Bool
    package typealias TraceHandler = (TraceEvent) -> Void
    typealias TraceClient = (events: TraceEvents, handler: TraceHandler)
    /// Takes the number of tries, and returns whether to try again.
    package typealias BusyHandler = (Int) -> Bool

    /// The connection, until it is closed.
    private var connection: SQLiteConnection?
    private var lastID = 0

    /// The automatic checkpoints that SQLite's own WAL hook, which otherwise has the slot, would run.
    private(set) var automaticCheckpoints = AutomaticCheckpoints()

    /// Learns of the length of the main database's log, in addition to the clients of the slot.
    private(set) var logListener: (any LogListener)?

    /// The number of times all statements have been expired.
    private(set) var expiryCount = 0

    private(set) var update = Clients<UpdateHandler>()
    private(set) var preupdate = Clients<PreupdateHandler>()
    private(set) var commit = Clients<CommitHandler>()
    private(set) var rollback = Clients<RollbackHandler>()
    private(set) var wal = Clients<WALHandler>()
    private(set) var authorizer = Clients<AuthorizerHandler>()
    private(set) var progress = Clients<ProgressHandler>()
    private var progressInterval: CInt = 1000
    private(set) var trace = Clients<TraceClient>()
    private(set) var busy = Clients<BusyHandler>()

    /// The number of rollbacks of whole transactions that SQLite has told, while they were counted.
    private(set) var rollbackCount = 0

    /// Whether rollbacks are counted even if the slot has no client.
    private var alwaysCountsRollbacks = false

    /// The object that the preupdate slot belongs to.
    private enum PreupdateOwner {
        case clients
        /// SQLite's session objects. The clients are called again when the last of them has ended.
        case sessions(depth: Int)
    }

    private var preupdateOwner = PreupdateOwner.clients

    /// Whether every commit is refused, and no client is asked.
    private(set) var refusesCommits = false

    /// The slots of a connection; those of none if it is nil.
    init(_ connection: SQLiteConnection?) {
        self.connection = connection
    }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Adds a client to a slot, and occupies the slot with the first.
    private func add<Handler>(
        _ handler: Handler, to slot: ReferenceWritableKeyPath<HookSlots, Clients<Handler>>,
        install: (SQLiteConnection) -> Void
    ) -> Client {
        lastID += 1
        let client = Client(id: lastID)
        let isFirst = self[keyPath: slot].isEmpty
        self[keyPath: slot].append(handler, client)
        if isFirst, let connection { install(connection) }
        return client
    }

    /// Called after each change of a row in a rowid table.
    package func onUpdate(_ handler: @escaping UpdateHandler) -> Client {
        add(handler, to: \.update) { HookCalls.setUpdateHook($0, context) }
    }

    /// Called before each change of a row, in WITHOUT ROWID tables too, and of rows that REPLACE deletes. While
    /// sessions have the slot, no client is called.
    package func onPreupdate(_ handler: @escaping PreupdateHandler) throws(DatabaseError) -> Client {
        guard SQLiteLibrary.isBuilt(with: "ENABLE_PREUPDATE_HOOK") else {
            throw DatabaseError(message: "this build of SQLite has no preupdate hook (SQLITE_ENABLE_PREUPDATE_HOOK)")
        }
        return add(handler, to: \.preupdate) { if !hasSessions { HookCalls.setPreupdateHook($0, context) } }
    }

    /// Called before a commit. A client that returns false turns the commit into a rollback.
    package func onCommit(_ handler: @escaping CommitHandler) -> Client {
        add(handler, to: \.commit) { HookCalls.setCommitHook($0, context) }
    }

    /// Called after a rollback.
    package func onRollback(_ handler: @escaping RollbackHandler) -> Client {
        add(handler, to: \.rollback) { HookCalls.setRollbackHook($0, context) }
    }

    /// Whether rollbacks are counted.
    var countsRollbacks: Bool { alwaysCountsRollbacks || !rollback.isEmpty }

    /// Counts rollbacks from now on.
    func countRollbacks() {
        guard !alwaysCountsRollbacks else { return }
        alwaysCountsRollbacks = true
        if let connection { HookCalls.setRollbackHook(connection, context) }
    }

    func didRollBack() {
        rollbackCount &+= 1
        for entry in rollback.entries where entry.isActive { entry.handler() }
    }

    /// Called after a commit in WAL mode. Automatic checkpoints, which SQLite runs in this slot, continue.
    package func onWAL(_ handler: @escaping WALHandler) -> Client {
        add(handler, to: \.wal) { occupyWAL($0) }
    }

    /// Tells a listener of the length of the main database's log after each commit. It allocates nothing, because
    /// each connection that writes to a file begins with it.
    package func listenToLog(_ listener: any LogListener) {
        logListener = listener
        if let connection { occupyWAL(connection) }
    }

    /// The length of the main database's log at which SQLite's own hook would run a checkpoint; 0 for never.
    package var automaticCheckpointPages: Int { automaticCheckpoints.pages }

    /// The absolute path of the main database's file; empty if it has none.
    package var mainPath: String { withMainPath { $0.map { String(cString: $0) } } ?? "" }

    /// As `mainPath`, without a copy; nil if the database has no file.
    package func withMainPath<T>(_ body: (UnsafePointer<CChar>?) -> T) -> T {
        body(connection.flatMap { ConnectionCalls.path($0, schema: "main") })
    }

    /// Called while statements are prepared. The first client makes SQLite prepare every statement again.
    package func onAuthorization(_ handler: @escaping AuthorizerHandler) -> Client {
        add(handler, to: \.authorizer) { HookCalls.setAuthorizer($0, context) }
    }

    /// Called about every thousand steps of SQLite's virtual machine, or more often: `checkingProgress`.
    package func onProgress(_ handler: @escaping ProgressHandler) -> Client {
        add(handler, to: \.progress) { HookCalls.setProgressHandler($0, context, interval: progressInterval) }
    }

    /// Called when statements begin, return a row, or end.
    package func onTrace(_ events: TraceEvents, _ handler: @escaping TraceHandler) -> Client {
        let client = add((events, handler), to: \.trace) { _ in }
        installTrace()
        return client
    }

    /// Called when a lock is held by another connection. SQLite tries again only if all clients return true.
    package func onBusy(_ handler: @escaping BusyHandler) -> Client {
        add(handler, to: \.busy) { HookCalls.setBusyHandler($0, context) }
    }

    /// Removes a client from its slot, and frees the slot with the last.
    package func remove(_ client: Client) {
        var removed: AnyObject?
        if update.remove(client, &removed) {
            if let connection, update.isEmpty { HookCalls.setUpdateHook(connection, nil) }
        } else if preupdate.remove(client, &removed) {
            if let connection, preupdate.isEmpty, !hasSessions { HookCalls.setPreupdateHook(connection, nil) }
        } else if commit.remove(client, &removed) {
            if let connection, commit.isEmpty, !refusesCommits { HookCalls.setCommitHook(connection, nil) }
        } else if rollback.remove(client, &removed) {
            if let connection, !countsRollbacks { HookCalls.setRollbackHook(connection, nil) }
        } else if wal.remove(client, &removed) {
            if let connection, !needsWAL { HookCalls.setAutomaticCheckpoints(connection, automaticCheckpoints.pages) }
        } else if authorizer.remove(client, &removed) {
            if let connection, authorizer.isEmpty { HookCalls.setAuthorizer(connection, nil) }
        } else if progress.remove(client, &removed) {
            if let connection, progress.isEmpty { HookCalls.setProgressHandler(connection, nil) }
        } else if trace.remove(client, &removed) {
            installTrace()
        } else if busy.remove(client, &removed) {
            if let connection, busy.isEmpty { HookCalls.setBusyHandler(connection, nil) }
        }
    }

    /// Frees all slots when the `Database` is released: the connection may live on with a statement, and must not call
    /// back.
    func removeAll() {
        update.removeAll()
        preupdate.removeAll()
        commit.removeAll()
        rollback.removeAll()
        wal.removeAll()
        logListener = nil
        authorizer.removeAll()
        progress.removeAll()
        trace.removeAll()
        busy.removeAll()
        if let connection { HookCalls.clear(connection) }
    }

    /// Releases all clients when the connection has been closed: their handlers may keep the `Database` alive.
    func connectionDidClose() {
        connection = nil
        removeAll()
    }

    /// Runs `body` without the preupdate hook: <https://www.sqlite.org/c3ref/preupdate_count.html>.
    func withPreupdateLifted<T>(_ body: () throws -> T) rethrows -> T {
        // Statements that are prepared for sessions report every row.
        guard !preupdate.isEmpty, !hasSessions, let connection else { return try body() }
        HookCalls.setPreupdateHook(connection, nil)
        defer { if !preupdate.isEmpty { HookCalls.setPreupdateHook(connection, context) } }
        return try body()
    }

    /// Whether session objects have the preupdate slot.
    var hasSessions: Bool {
        if case .sessions = preupdateOwner { true } else { false }
    }

    /// Runs `body`, which may create session objects, and deletes them before it returns. Calls nest.
    ///
    /// The clients of the preupdate slot aren't called meanwhile. The slot is free when the first session is created.
    func withSessions<T>(_ body: () throws -> T) rethrows -> T {
        if let connection, !hasSessions, !preupdate.isEmpty { HookCalls.setPreupdateHook(connection, nil) }
        sessionsDidBegin()
        defer {
            sessionsDidEnd()
            if let connection, !hasSessions, !preupdate.isEmpty { HookCalls.setPreupdateHook(connection, context) }
        }
        return try body()
    }

    private func sessionsDidBegin() {
        switch preupdateOwner {
        case .clients: preupdateOwner = .sessions(depth: 1)
        case .sessions(let depth): preupdateOwner = .sessions(depth: depth + 1)
        }
    }

    private func sessionsDidEnd() {
        if case .sessions(let depth) = preupdateOwner, depth > 1 {
            preupdateOwner = .sessions(depth: depth - 1)
        } else {
            preupdateOwner = .clients
        }
    }

    /// Runs `body`, and refuses every commit meanwhile.
    func refusingCommits<T>(_ body: () throws -> T) rethrows -> T {
        let wasRefusing = refusesCommits
        refusesCommits = true
        if let connection, commit.isEmpty { HookCalls.setCommitHook(connection, context) }
        defer {
            refusesCommits = wasRefusing
            if let connection, commit.isEmpty, !wasRefusing { HookCalls.setCommitHook(connection, nil) }
        }
        return try body()
    }

    /// Makes SQLite prepare every statement again before its next first step. The authorizer has a client.
    ///
    /// A statement that was prepared without the preupdate hook may delete all rows of a table at once, and report
    /// none.
    func expireStatements() {
        expiryCount += 1
        if let connection { HookCalls.setAuthorizer(connection, context) }
    }

    /// As `expireStatements`, for sessions and for SQL of users: the authorizer needs no client, and the clients of the
    /// preupdate slot know nothing of it.
    func expireStatementsUncounted() {
        guard let connection else { return }
        HookCalls.setAuthorizer(connection, context)
        if authorizer.isEmpty { HookCalls.setAuthorizer(connection, nil) }
    }

    /// Runs `body`, in which the clients of the progress slot are called more often.
    ///
    /// - parameter interval: the steps of SQLite's virtual machine between two calls.
    func checkingProgress<T>(each interval: CInt, _ body: () throws -> T) rethrows -> T {
        let outer = progressInterval
        setProgressInterval(interval)
        defer { setProgressInterval(outer) }
        return try body()
    }

    private func setProgressInterval(_ interval: CInt) {
        progressInterval = interval
        guard let connection, !progress.isEmpty else { return }
        HookCalls.setProgressHandler(connection, context, interval: interval)
    }

    /// Calls the busy handlers, for a lock for which SQLite doesn't call them.
    func mayTryAgain(_ tries: Int) -> Bool {
        !busy.isEmpty && busy.entries.allSatisfy { $0.handler(tries) }
    }

    private func installTrace() {
        guard let connection else { return }
        HookCalls.setTrace(
            connection, trace.isEmpty ? nil : context,
            trace.entries.reduce(into: []) { $0.formUnion($1.handler.events) })
    }

    private func occupyWAL(_ connection: SQLiteConnection) {
        if let pages = HookCalls.setWALHook(connection, context) { automaticCheckpoints = .init(pages: pages) }
    }

    /// Whether the WAL slot has a client or a listener.
    @inline(__always)
    var needsWAL: Bool { !wal.isEmpty || logListener != nil }

    /// A commit has made the log of the main database longer, or has begun it anew.
    ///
    /// - returns: whether an automatic checkpoint is due.
    func logDidGrow(toPages pages: Int) -> Bool {
        let isDue = automaticCheckpoints.logDidGrow(toPages: pages)
        logListener?.logDidGrow(toPages: pages, of: self)
        return isDue
    }

    /// Takes the WAL slot back after a statement that may have taken it: `PRAGMA wal_autocheckpoint = N` does so as
    /// soon as it is prepared.
    func takeWALBack() {
        if needsWAL, let connection { occupyWAL(connection) }
    }

    /// Runs `body` while SQLite's own hook has the WAL slot.
    func withWALGivenBack<T>(_ body: () throws -> T) rethrows -> T {
        if let connection { HookCalls.setAutomaticCheckpoints(connection, automaticCheckpoints.pages) }
        defer { takeWALBack() }
        return try body()
    }
}
