public import Quarry
import QuarryCore

/// A folder of databases, such as one for each tenant, of which a limited number is open.
///
/// ```swift
/// let tenants = try DatabaseDirectory(path: "/var/lib/app/tenants", maximumOpenCount: 100, migrator: migrator)
/// let acme = try tenants.database(named: "acme")  // opens nothing
/// try await acme.write { db in                    // opens acme.sqlite, and migrates it
///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
/// }
/// ```
///
/// A database is opened by its first access. If `maximumOpenCount` databases are open, the one that was used least
/// recently of those that no access uses is closed first. If accesses use all of them, the new access waits, in the
/// order of arrival and as long as `Configuration.acquireTimeout` and its deadline let it, until one is idle. An access
/// inside another one of the directory doesn't wait: its database is open beyond the limit, also while others are still
/// being closed.
///
/// All databases have one configuration, one migrator, and one set of threads. Each is a `SharedDatabase`: it may be
/// kept while it is closed, and opens again. Its observations and streams of commits go on; after an opening,
/// observations have a new value. A database with a snapshot, a stable reader or a backup isn't closed.
///
/// An open database has about three files open, and two more for each reader: `Configuration.maximumReaderCount`
/// limits them. If the process has no file descriptor left, an opening closes idle databases, too, as many as it needs.
/// A folder belongs to one directory of the process at a time.
public final class DatabaseDirectory: Sendable {
    /// The path of the folder, without symbolic links.
    public let path: String
    /// The configuration of each database.
    public let configuration: Configuration
    /// How many databases are open at most.
    public let maximumOpenCount: Int

    private let migrator: DatabaseMigrator?
    private let workers: WorkerThreads
    private let need = PlaceNeed()
    private let fileNames: Lock<DirectoryNames>
    private let state: Lock<DirectoryState>

    /// Uses a folder. This opens nothing, and needs no folder: what is wrong with it is the error of the first access.
    ///
    /// ```swift
    /// var configuration = Configuration()
    /// configuration.createsIntermediateDirectories = true
    /// let tenants = try DatabaseDirectory(path: "/var/lib/app/tenants", configuration: configuration)
    /// ```
    ///
    /// - parameter path: the path of the folder. A relative path is one of the current folder now.
    /// - parameter maximumOpenCount: how many databases are open at most.
    /// - parameter configuration: the configuration of each database. With a label, that of each database is
    ///   `label/name`.
    /// - parameter migrator: migrates each database when it is opened, before its first access; that is a query if it
    ///   is up to date. If a migration fails, the access throws its error, and the next access tries again.
    /// - parameter fileExtension: the ending of the files' names, without a dot.
    /// - parameter maximumThreadCount: how many threads run the asynchronous accesses of all databases at most. Threads
    ///   that sleep until a file can be opened come on top, and so does one for each core, if its task goes on there
    ///   after its access.
    /// - throws: `SQLITE_MISUSE` if a count is less than 1; `SQLITE_CANTOPEN` for a bad ending, or if the path is
    ///   empty, a URI, or has a NUL.
    public init(
        path: String, maximumOpenCount: Int = 100, configuration: Configuration = Configuration(),
        migrator: DatabaseMigrator? = nil, fileExtension: String = "sqlite", maximumThreadCount: Int = 16
    ) throws {
        if let refusal = SharedDatabase.refusal(of: path) { throw refusal }
        guard maximumOpenCount > 0, maximumThreadCount > 0 else {
            throw DatabaseError.misuse("a directory needs a place for a database, and a thread")
        }
        let names = DirectoryNames(folder: FileName.canonical(path), fileExtension: fileExtension)
        if let refusal = names.refusal(of: fileExtension) { throw refusal }
        self.path = names.folder
        self.configuration = configuration
        self.maximumOpenCount = maximumOpenCount
        self.migrator = migrator
        // The threads allow for one more than there are connections.
        workers = WorkerThreads(connectionCount: maximumThreadCount - 1)
        fileNames = Lock(names)
        state = Lock(DirectoryState(machine: PlaceStateMachine(limit: maximumOpenCount)))
    }

    deinit {
        // The databases that the program still has go on without a limit.
        let (databases, gates) = state.withLock { state in
            (state.databases.values.compactMap(\.database), Array(state.gates.values))
        }
        for database in databases { database.gate?.open() }
        // Accesses may wait for databases that the program has released.
        for gate in gates { gate.open() }
        workers.shutDown()
    }

    private func withState<T>(_ body: (inout DirectoryState) -> T) -> T {
        var released: [SharedDatabase] = []
        let result = state.withLock { state in
            defer { swap(&released, &state.released) }
            return body(&state)
        }
        return withExtendedLifetime(released) { result }
    }

    // MARK: - Databases

    /// A database of the folder, whether its file exists or not. This opens nothing.
    ///
    /// ```swift
    /// let acme = try tenants.database(named: "acme")
    /// let count = try await acme.read { db in try Player.fetchCount(db) }
    /// ```
    ///
    /// - parameter name: the name of the file without its ending: ASCII letters, digits, and `-`, `_`, `.`, `@` and
    ///   `+`, but no dot at the beginning. So no name leads out of the folder.
    /// - returns: the same object as long as the program has it, or the database is open.
    /// - throws: `SQLITE_CANTOPEN` for another text; if a database exists whose name differs in case alone, since some
    ///   file systems take both for one; if the file is a link that leads elsewhere. `SQLITE_MISUSE` if the file was
    ///   opened outside of this directory.
    public func database(named name: String) throws -> SharedDatabase {
        let key = name.lowercased()
        if let database = withState({ $0.database(key) }) {
            guard let other = database.gate?.name, other != name else { return database }
            throw fileNames.withLock { $0.caseError(name, other) }
        }
        let filePath = try fileNames.withLock { names in
            if let refusal = names.refusal(of: name) { throw refusal }
            try names.checkCase(of: name)
            return names.path(name)
        }
        guard FileName.canonical(filePath) == filePath else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "\(filePath) is a link that leads to another file")
        }
        let pool = SharedFiles.all.pool(filePath) {
            SharedDatabase.makePool(
                filePath, configuration(of: name),
                in: SharedFile.Directory(
                    gate: DirectoryGate(name, of: self, need), workers: workers, migrator: migrator))
        }
        guard let gate = pool.opener?.poolGate as? DirectoryGate, gate.directory === self, gate.name == name else {
            throw DatabaseError.misuse("\(filePath) is used outside of its directory, as \(pool.path)")
        }
        let database = SharedDatabase(pool)
        let noted = withState { $0.note(database, gate) }
        guard let other = noted.gate?.name, other != name else { return noted }
        throw fileNames.withLock { $0.caseError(name, other) }
    }

    private func configuration(of name: String) -> Configuration {
        var configuration = configuration
        configuration.label = configuration.label.map { "\($0)/\(name)" }
        return configuration
    }

    /// The names of the databases whose files exist, sorted.
    ///
    /// ```swift
    /// for name in try tenants.names() { try await tenants.database(named: name).vacuum() }
    /// ```
    ///
    /// Files with another ending, or whose name isn't one of a database, are left out, and so are folders and links.
    ///
    /// - throws: `SQLITE_CANTOPEN` if the folder can't be listed. A missing folder has no names.
    public func names() throws -> [String] { try fileNames.withLock { $0 }.list().sorted() }

    /// Whether the file of a database exists.
    ///
    /// ```swift
    /// guard try tenants.contains("acme") else { throw HTTPError(.notFound) }
    /// ```
    ///
    /// - throws: `SQLITE_CANTOPEN` for a text that can't be a name, and if the file system refuses to tell.
    public func contains(_ name: String) throws -> Bool {
        let names = fileNames.withLock { $0 }
        if let refusal = names.refusal(of: name) { throw refusal }
        return try names.exists(name)
    }

    /// Removes the files of a database, after the accesses that run and wait. Missing files are no error.
    ///
    /// ```swift
    /// try await tenants.remove("acme")
    /// ```
    ///
    /// A later access of the database creates it anew.
    ///
    /// - throws: the errors of `database(named:)`, of `SharedDatabase.withClosedDatabase` and of
    ///   `ClosedDatabaseFiles.remove`.
    public func remove(_ name: String) throws {
        try database(named: name).withClosedDatabase { files in try files.remove() }
    }

    /// As the synchronous `remove`, but waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `remove`; `CancellationError`.
    public func remove(_ name: String) async throws {
        try await database(named: name).withClosedDatabase { files in try files.remove() }
    }

    // MARK: - All databases

    /// Closes all databases that are open, after their running accesses and those that wait. Later accesses open them
    /// again.
    ///
    /// ```swift
    /// try tenants.close()
    /// ```
    ///
    /// Snapshots, stable readers and backups have connections of their own, which stay open. A database that has one
    /// keeps its place among the open ones.
    ///
    /// - throws: the first error of `SharedDatabase.close`. The other databases are closed all the same.
    public func close() throws {
        var firstError: (any Error)?
        for (database, gate) in openDatabases {
            do { try database.close() } catch { firstError = firstError ?? error }
            leave(gate)
        }
        if let firstError { throw firstError }
    }

    /// As `close`; waiting suspends the task.
    ///
    /// ```swift
    /// try await tenants.closeAsync()
    /// ```
    ///
    /// - throws: the errors of `close`; `CancellationError`, and the rest stays open.
    public func closeAsync() async throws {
        var firstError: (any Error)?
        for (database, gate) in openDatabases {
            do {
                try await database.closeAsync()
            } catch let error as CancellationError {
                throw error
            } catch {
                firstError = firstError ?? error
            }
            leave(gate)
        }
        if let firstError { throw firstError }
    }

    /// The databases that have places, also those that observations alone have.
    private var openDatabases: [(database: SharedDatabase, gate: DirectoryGate)] {
        let gates = withState { $0.placedGates }
        return gates.compactMap { gate in gate.database.map { ($0, gate) } }
    }

    /// Gives back what no access uses, in all databases, as `DatabaseWriter.releaseIdle()` for each.
    ///
    /// ```swift
    /// tenants.releaseIdle()
    /// ```
    @discardableResult
    public func releaseIdle() -> DatabaseMemory.Released {
        var released = DatabaseMemory.Released()
        for (database, _) in openDatabases {
            let part = database.releaseIdle()
            released.closedConnections += part.closedConnections
            released.emptiedConnections += part.emptiedConnections
            released.removedRecords += part.removedRecords
        }
        return released
    }

    /// Counts of the work of all databases, and their state. Reading them waits for no access.
    ///
    /// ```swift
    /// print(tenants.statistics.databases["acme"]?.writer.wait.percentile(99) ?? .zero)
    /// ```
    public var statistics: DatabaseDirectoryStatistics {
        var (statistics, databases) = withState { state in
            var statistics = DatabaseDirectoryStatistics()
            statistics.openCount = state.machine.openCount
            statistics.closingCount = state.machine.closingCount
            statistics.waitingCount = state.machine.waitingCount
            statistics.limit = maximumOpenCount
            statistics.openedCount = state.openedCount
            statistics.evictedCount = state.evictedCount
            statistics.total = state.pastStatistics
            return (statistics, state.databases.values.compactMap(\.database))
        }
        for database in databases {
            guard let name = database.gate?.name else { continue }
            let part = database.statistics
            statistics.databases[name] = part
            statistics.total.merge(part)
        }
        return statistics
    }

    /// The number of the library's threads that run for the databases.
    var threadCount: Int { workers.currentThreadCount }

    // MARK: - Places

    /// An access waits behind a gate.
    ///
    /// - parameter holder: the thread or task that waits, if it may have another connection; otherwise 0.
    func want(_ gate: DirectoryGate, for holder: UInt) {
        let hasPlace = want(gate, isNested: false)
        // An access of the holder keeps its place while this one waits.
        if !hasPlace, holder != 0, withState({ $0.placedGates }).contains(where: { $0.parts.isHeld(by: holder) }) {
            _ = want(gate, isNested: true)
        }
        makeRoom()
    }

    /// - returns: whether the database has a place.
    private func want(_ gate: DirectoryGate, isNested: Bool) -> Bool {
        let (served, hasPlace) = withState { state in
            if state.machine.phase(gate.id) == .closed { state.gates[gate.id] = gate }
            let served = state.beginPlaces(state.machine.want(gate.id, isNested: isNested))
            return (served, state.machine.phase(gate.id) == .open)
        }
        open(served)
        return hasPlace
    }

    /// An access that waited has given up. If it was the last that waited behind a shut gate, the database leaves the
    /// line: no other database is closed for it.
    func accessGaveUp(_ gate: DirectoryGate) {
        guard !gate.parts.hasWaiters else { return }
        withState { state in
            state.machine.leave(gate.id)
            if state.machine.phase(gate.id) == .closed { state.forget(gate.id) }
        }
        wantAgain(gate)
    }

    /// Whether a database has no place, and no connection.
    func isClosed(_ gate: DirectoryGate) -> Bool {
        switch withState({ $0.machine.phase(gate.id) }) {
        case .closed, .waiting: true
        case .open, .closing: false
        }
    }

    /// Opens the gates of databases that have got places.
    private func open(_ gates: [DirectoryGate]) {
        var gates = gates
        while let gate = gates.popLast() {
            if gate.parts.hasWaiters {
                gate.open()
            } else {
                // All accesses have given up: the place goes on to the next database.
                gates += withState { state in
                    defer { state.forget(gate.id) }
                    return state.beginPlaces(state.machine.decline(gate.id))
                }
                wantAgain(gate)
            }
        }
    }

    /// Wants a place for a database that has lost its place, or left the line, in the moment in which an access came.
    private func wantAgain(_ gate: DirectoryGate) {
        guard gate.parts.hasWaiters else { return }
        // One of them may be inside another access, which keeps its place: in line it would wait until it gives up.
        for holder in gate.waitingHolders { want(gate, for: holder) }
    }

    private func openParts() -> [DirectoryGate.Parts] {
        let gates = withState { state in state.machine.open.compactMap { state.gates[$0] } }
        return gates.map(\.parts)
    }

    /// The open databases that no snapshot, stable reader or backup uses, the least recently used ones first.
    private func closingCandidates() -> [(parts: DirectoryGate.Parts, lastUse: UInt64)] {
        openParts().filter { !$0.hasOtherReaders }.map { (parts: $0, lastUse: $0.gate.lastUse) }
            .sorted { $0.lastUse < $1.lastUse }
    }

    /// Closes idle databases for those in line, the least recently used ones first.
    func makeRoom() {
        let mustLook = withState { state in
            let mustLook = state.machine.surplus > 0
            // Set before the databases are looked at: an access that ends later sees it.
            need.exists = mustLook
            return mustLook
        }
        guard mustLook else { return }
        let candidates = closingCandidates()
        let chosen = withState { state in
            var chosen: [DirectoryGate] = []
            for (parts, lastUse) in candidates where state.machine.surplus > 0 {
                if state.shut(parts, lastUse) { chosen.append(parts.gate) }
            }
            need.exists = state.machine.surplus > 0
            return chosen
        }
        for gate in chosen {
            // Closing writes to the disk, and an access may have come here on one of Swift's threads.
            Task.detached(executorPreference: workers) { self.finishClosing(gate) }
        }
    }

    /// Closes the idle database that was used least recently, for an opening that lacks file descriptors or memory.
    ///
    /// - returns: whether one was closed.
    func closeForShortage() -> Bool {
        for (parts, lastUse) in closingCandidates()
        where withState({ $0.shut(parts, lastUse) }) && finishClosing(parts.gate) { return true }
        return false
    }

    /// Closes a database whose gate was shut.
    ///
    /// - returns: whether it could be closed.
    @discardableResult
    private func finishClosing(_ gate: DirectoryGate) -> Bool {
        let (parts, lastUse) = (gate.parts, gate.lastUse)
        // They keep the place: an access inside one of their reads counts on it. None begins while the gate is shut.
        let hasOtherReaders = parts.hasOtherReaders
        var isClosed = !hasOtherReaders
        if isClosed { do { try parts.closeConnections() } catch { isClosed = false } }
        if isClosed {
            let served = withState { state in
                state.evictedCount += 1
                defer { state.forget(gate.id) }
                return state.beginPlaces(state.machine.endClosing(gate.id, isClosed: true))
            }
            gate.setClosing(false)
            open(served)
            wantAgain(gate)
        } else {
            let served = withState { state in
                let ids = state.machine.endClosing(gate.id, isClosed: false)
                if !hasOtherReaders { state.unclosable[gate.id] = lastUse }
                return state.beginPlaces(ids.filter { $0 != gate.id })
            }
            gate.setClosing(false)
            gate.open()
            open(served)
        }
        makeRoom()
        return isClosed
    }

    /// Closes a database that may be closed already, and gives its place to another one, unless it is in use again, or
    /// a snapshot, stable reader or backup has it open.
    private func leave(_ gate: DirectoryGate) {
        let parts = gate.parts
        if withState({ $0.shut(parts, nil) }) { finishClosing(gate) }
    }

    // MARK: - Ends

    /// A database was released, and its connections are closed.
    func databaseDidEnd(_ gate: DirectoryGate) {
        let served = withState { state in
            if state.database(gate.key) == nil { state.databases[gate.key] = nil }
            defer { state.forget(gate.id) }
            return state.beginPlaces(state.machine.remove(gate.id))
        }
        fileNames.withLock { names in
            if FileIdentity(path: names.path(gate.name)) != nil { names.note(gate.name) }
        }
        open(served)
        makeRoom()
    }

    /// A database is about to be released.
    func keepStatistics(_ statistics: DatabaseStatistics) {
        withState { $0.pastStatistics.mergeCounts(statistics) }
    }
}
