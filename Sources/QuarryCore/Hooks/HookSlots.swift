/// The owner of the hook slots of a connection.
///
/// SQLite has one slot for each kind of hook; a second `sqlite3_commit_hook` silently replaces the first. Here each kind has any
/// number of clients, and the slot is occupied only while there is one. Nothing else installs a hook (`make lint` proves it).
///
/// The preupdate slot isn't shared with SQLite's session extension: Debian's build crashes when both are in one connection.
package final class HookSlots {
    /// A client of a slot, to be removed with.
    package struct Client: Hashable, Sendable {
        fileprivate let id: Int
    }

    /// The clients of one slot, in the order they came.
    struct Clients<Handler> {
        private(set) var entries: [(client: Client, handler: Handler)] = []
        var isEmpty: Bool { entries.isEmpty }
        var clients: [Client] { entries.map(\.client) }

        fileprivate mutating func append(_ handler: Handler, _ client: Client) {
            entries.append((client, handler))
        }

        fileprivate mutating func remove(_ client: Client) -> Bool {
            guard let index = entries.firstIndex(where: { $0.client == client }) else { return false }
            entries.remove(at: index)
            return true
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

    /// What a statement wants to do, as it is prepared: <https://www.sqlite.org/c3ref/c_alter_table.html>.
    package struct Authorization {
        package var action: CInt
        package var first: UnsafePointer<CChar>?
        package var second: UnsafePointer<CChar>?
        package var schema: UnsafePointer<CChar>?
        package var trigger: UnsafePointer<CChar>?
    }

    /// An answer to an authorization; the strictest of all clients' counts.
    package enum AuthorizationAnswer: Int, Comparable {
        case allow, ignore, deny
        package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// A statement that begins, or one that ended: <https://www.sqlite.org/c3ref/c_trace.html>.
    package enum TraceEvent {
        /// - parameter text: the SQL, or a comment that names a trigger.
        case statement(SQLiteStatement, text: UnsafePointer<CChar>)
        case profile(SQLiteStatement, nanoseconds: Int64)
    }

    package typealias UpdateHandler = (UpdateEvent) -> Void
    package typealias PreupdateHandler = (PreupdateEvent) -> Void
    /// Answers whether the transaction may commit.
    package typealias CommitHandler = () -> Bool
    package typealias RollbackHandler = () -> Void
    /// Gets the schema's name and the number of pages in the log.
    package typealias WALHandler = (UnsafePointer<CChar>, Int) -> Void
    package typealias AuthorizerHandler = (Authorization) -> AuthorizationAnswer
    /// Answers whether to go on.
    package typealias ProgressHandler = () -> Bool
    package typealias TraceHandler = (TraceEvent) -> Void
    /// Gets the number of tries, answers whether to try again.
    package typealias BusyHandler = (Int) -> Bool

    private let connection: SQLiteConnection
    private var lastID = 0

    private(set) var update = Clients<UpdateHandler>()
    private(set) var preupdate = Clients<PreupdateHandler>()
    private(set) var commit = Clients<CommitHandler>()
    private(set) var rollback = Clients<RollbackHandler>()
    private(set) var wal = Clients<WALHandler>()
    private(set) var authorizer = Clients<AuthorizerHandler>()
    private(set) var progress = Clients<ProgressHandler>()
    private(set) var trace = Clients<(statements: Bool, profiles: Bool, handler: TraceHandler)>()
    private(set) var busy = Clients<BusyHandler>()

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    private func nextClient() -> Client {
        lastID += 1
        return Client(id: lastID)
    }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Called after each change of a row in a rowid table.
    package func onUpdate(_ handler: @escaping UpdateHandler) -> Client {
        let client = nextClient()
        update.append(handler, client)
        HookHandles.setUpdateHook(connection, context)
        return client
    }

    /// Called before each change of a row, in WITHOUT ROWID tables too.
    package func onPreupdate(_ handler: @escaping PreupdateHandler) throws(DatabaseError) -> Client {
        guard SQLiteLibrary.isBuilt(with: "ENABLE_PREUPDATE_HOOK") else {
            throw DatabaseError(message: "this build of SQLite has no preupdate hook (SQLITE_ENABLE_PREUPDATE_HOOK)")
        }
        let client = nextClient()
        preupdate.append(handler, client)
        HookHandles.setPreupdateHook(connection, context)
        return client
    }

    /// Called before a commit. One client that answers false makes it a rollback.
    package func onCommit(_ handler: @escaping CommitHandler) -> Client {
        let client = nextClient()
        commit.append(handler, client)
        HookHandles.setCommitHook(connection, context)
        return client
    }

    /// Called after a rollback.
    package func onRollback(_ handler: @escaping RollbackHandler) -> Client {
        let client = nextClient()
        rollback.append(handler, client)
        HookHandles.setRollbackHook(connection, context)
        return client
    }

    /// Called after a commit in WAL mode. Automatic checkpoints, which SQLite runs in this slot, go on.
    package func onWAL(_ handler: @escaping WALHandler) -> Client {
        let client = nextClient()
        wal.append(handler, client)
        HookHandles.setWALHook(connection, context)
        return client
    }

    /// Called while statements are prepared. Coming and going makes SQLite prepare every statement again.
    package func onAuthorization(_ handler: @escaping AuthorizerHandler) -> Client {
        let client = nextClient()
        authorizer.append(handler, client)
        HookHandles.setAuthorizer(connection, context)
        return client
    }

    /// Called every thousand steps of SQLite's virtual machine, or so.
    package func onProgress(_ handler: @escaping ProgressHandler) -> Client {
        let client = nextClient()
        progress.append(handler, client)
        HookHandles.setProgressHandler(connection, context)
        return client
    }

    /// Called when statements begin, or end.
    package func onTrace(statements: Bool, profiles: Bool, _ handler: @escaping TraceHandler) -> Client {
        let client = nextClient()
        trace.append((statements, profiles, handler), client)
        installTrace()
        return client
    }

    /// Called when a lock is taken. All clients must answer true for another try.
    package func onBusy(_ handler: @escaping BusyHandler) -> Client {
        let client = nextClient()
        busy.append(handler, client)
        HookHandles.setBusyHandler(connection, context)
        return client
    }

    /// Removes a client from its slot, and frees the slot with the last.
    package func remove(_ client: Client) {
        if update.remove(client) {
            if update.isEmpty { HookHandles.setUpdateHook(connection, nil) }
        } else if preupdate.remove(client) {
            if preupdate.isEmpty { HookHandles.setPreupdateHook(connection, nil) }
        } else if commit.remove(client) {
            if commit.isEmpty { HookHandles.setCommitHook(connection, nil) }
        } else if rollback.remove(client) {
            if rollback.isEmpty { HookHandles.setRollbackHook(connection, nil) }
        } else if wal.remove(client) {
            if wal.isEmpty { HookHandles.setWALHook(connection, nil) }
        } else if authorizer.remove(client) {
            if authorizer.isEmpty { HookHandles.setAuthorizer(connection, nil) }
        } else if progress.remove(client) {
            if progress.isEmpty { HookHandles.setProgressHandler(connection, nil) }
        } else if trace.remove(client) {
            installTrace()
        } else if busy.remove(client) {
            if busy.isEmpty { HookHandles.setBusyHandler(connection, nil) }
        }
    }

    /// Frees all slots, so that SQLite calls nobody while it closes the connection.
    func removeAll() {
        for client in update.clients + preupdate.clients + commit.clients + rollback.clients + wal.clients { remove(client) }
        for client in authorizer.clients + progress.clients + trace.clients + busy.clients { remove(client) }
    }

    private func installTrace() {
        HookHandles.setTrace(
            connection, trace.isEmpty ? nil : context,
            statements: trace.entries.contains { $0.handler.statements },
            profiles: trace.entries.contains { $0.handler.profiles })
    }
}
