package import QuarryCore
import Synchronization

/// The part of a database that its connections share: one object for each queue or pool, also for the snapshots of a
/// pool. The queues of one named database in memory share one, because they share its content.
///
/// Each connection has it from its opening (`Database.core`). The core holds neither connections nor their owner.
package final class DatabaseCore: Sendable {
    /// The objects that rooms keep with the database. Opening a database allocates nothing for them.
    let parts = DatabaseParts()

    /// The length of the write-ahead log.
    let log = LogGauge()

    /// The runners of the queue or pool; nil for a database in memory. Used with `OwnerRunners.lock` held.
    nonisolated(unsafe) var runnersOfOwner: OwnerRunners?

    /// Whether several connections have the content of the database.
    let isShared: Bool

    /// The gate of a database in a directory; nil for any other.
    let gate: (any DatabaseGate)?

    /// The clock of timeouts and durations.
    let clock: MonotonicClock

    /// The device and inode of the file that the connection that writes has open; 0 for no file of this machine.
    private let device = Atomic<UInt64>(0)
    private let inode = Atomic<UInt64>(0)

    package init(isShared: Bool, _ clock: MonotonicClock, gate: (any DatabaseGate)? = nil) {
        self.isShared = isShared
        self.clock = clock
        self.gate = gate
    }

    /// The setups of the connections.
    package let setups = ConnectionSetups()

    /// The cores of the named databases in memory, by what SQLite finds the content by.
    private static let namedCores = Lock<[Name: WeakCore]>([:])

    private struct Name: Hashable {
        let name: String
        let vfs: String?
    }

    private struct WeakCore {
        weak var core: DatabaseCore?
    }

    /// The core of a named database in memory.
    ///
    /// - parameter vfs: `Configuration.vfs`: SQLite shares no content between file systems.
    static func named(_ name: String, vfs: String?, _ clock: MonotonicClock) -> DatabaseCore {
        let name = Name(name: name, vfs: vfs)
        let (core, others) = namedCores.withLock { cores in
            let existing = cores.compactMapValues(\.core)
            cores = cores.filter { existing[$0.key] != nil }
            let core = existing[name] ?? DatabaseCore(isShared: true, clock)
            cores[name] = WeakCore(core: core)
            return (core, existing)
        }
        // Released here, without the lock: the last reference to a core releases closures of the user.
        _ = consume others
        return core
    }

    /// The connection that writes was opened.
    func noteFile(at path: String) {
        let file = FileIdentity(path: path)
        device.store(file?.device ?? 0, ordering: .relaxed)
        inode.store(file?.inode ?? 0, ordering: .releasing)
    }

    /// Throws if a path doesn't lead to the file that the connection that writes has open.
    ///
    /// SQLite finds the log and its index by the path. A connection to another file would take them for its own, and
    /// cut the index that the other connections have mapped, so the system would kill the process: this process's own
    /// locks don't hold it back (<https://www.sqlite.org/howtocorrupt.html>).
    func checkFile(at path: String) throws {
        let inode = inode.load(ordering: .acquiring)
        guard inode != 0 else { return }
        let file = FileIdentity(device: device.load(ordering: .relaxed), inode: inode)
        guard FileIdentity(path: path) != file else { return }
        throw DatabaseError(
            resultCode: .SQLITE_READONLY_DBMOVED,
            message: "\(path) was moved, deleted or replaced while it was open, so no other connection is opened: "
                + "close the database, remove \(path)-wal if it is left, the log of the former file, and open it again")
    }

    /// The log was emptied by closing the last connection.
    package func logWasEmptied() { log.logWasEmptied() }

    /// Adds a closure that prepares each connection.
    func prepareConnections(_ setup: @escaping @Sendable (Database) throws -> Void) -> ConnectionPreparation {
        ConnectionPreparation(setups: setups, token: setups.add(.atBeginning(setup)))
    }
}

/// A closure that prepares the connections of a database, as added by `DatabaseReader.prepareConnections(_:)`.
///
/// ```swift
/// let tracing = dbPool.prepareConnections { db in db.trace { print($0) } }
/// …
/// tracing.remove()
/// ```
public struct ConnectionPreparation: Sendable {
    fileprivate let setups: ConnectionSetups
    fileprivate let token: ConnectionSetups.Token

    /// Removes the closure: connections that it hasn't prepared yet, such as those opened later, remain without it.
    ///
    /// ```swift
    /// tracing.remove()
    /// ```
    ///
    /// A prepared connection stays as it is. Removing again has no effect.
    public func remove() { setups.remove(token) }
}

/// The object with which the connections of a database are opened.
final class ConnectionContext: DatabaseContext {
    /// The configuration, `readonly` if the connection is.
    let configuration: Configuration

    /// nil for a connection that belongs to no queue, pool or snapshot.
    let core: DatabaseCore?

    /// The connection, as tracers see it.
    private let path: String
    private let role: DatabaseTraceEvent.Connection.Role
    private let number: Int
    private let configuredTracers: TracerList?

    /// Whether tracers may have been told of the opening, and not of the closing.
    private let isOpen = Atomic<Bool>(false)

    private static let lastNumber = Atomic<Int>(0)

    init(
        _ configuration: Configuration, path: String, _ core: DatabaseCore?, _ role: DatabaseTraceEvent.Connection.Role,
        _ configuredTracers: TracerList?
    ) {
        self.configuration = configuration
        self.core = core
        self.path = path
        self.role = role
        self.configuredTracers = configuredTracers
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    deinit { connectionDidClose() }

    func setting<Setting: Sendable>(_ type: Setting.Type) -> Setting? { configuration.settings[type] }

    /// The connection, as tracers see it.
    var tracedConnection: DatabaseTraceEvent.Connection {
        DatabaseTraceEvent.Connection(
            database: DatabaseTraceEvent.Source(label: configuration.label, path: path), role: role, number: number)
    }

    /// The connection was opened.
    func connectionDidOpen(since start: UInt64?) {
        isOpen.store(true, ordering: .relaxed)
        guard let core, let start else { return }
        let duration = Duration.nanoseconds(Int64(clamping: configuration.monotonicClock.now - start))
        TracerList.deliver(core, configuredTracers, .connections) { _ in
            .connectionOpened(.init(connection: tracedConnection, duration: duration))
        }
    }

    /// Tells tracers of the error of the opening.
    func traced(_ error: DatabaseError) -> DatabaseError {
        guard let core, !error.isTraced else { return error }
        TracerList.deliver(core, configuredTracers, .errors) { options in
            .failure(
                .init(
                    database: tracedConnection.database, connection: nil, accessID: nil, label: nil,
                    severity: .init(of: error, origin: .program), error: error.redacted(options.redaction), context: nil
                ))
        }
        return error.asTraced()
    }

    /// The connection was closed, explicitly or by its release. The first call counts.
    func connectionDidClose() {
        guard isOpen.exchange(false, ordering: .relaxed), let core else { return }
        TracerList.deliver(core, configuredTracers, .connections) { _ in .connectionClosed(tracedConnection) }
        // It may have been the last that kept its database from being closed.
        if role == .snapshot { core.gate?.mayBeIdle() }
    }
}
