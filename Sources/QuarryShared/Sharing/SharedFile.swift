import Quarry
import QuarryCore
import Synchronization

/// The file of a shared database: opens the connections of its pool, again and again.
final class SharedFile: PoolOpener {
    private struct Runners {
        weak var writer: AccessRunner?
        weak var readers: AccessRunner?
    }

    /// The part of a directory that opens the file.
    struct Directory: Sendable {
        let gate: any SharedFileGate
        let workers: WorkerThreads
        /// Migrates the database each time it is opened.
        let migrator: DatabaseMigrator?
    }

    private struct State {
        var runners = Runners()
        weak var pool: DatabasePool?
        /// Whether all connections were closed since the last opening.
        var wasClosed = false
        var identities: [FileIdentity] = []
        /// The released pools of the path that have not ended in time: there are two pools of one file then, as a
        /// program may open them itself.
        var overdueEnds: [SharedFileEnd] = []
    }

    /// The canonical path.
    let path: String
    let configuration: Configuration
    let core: DatabaseCore
    let tracers: TracerList?
    /// The directory of the database; nil for a database outside of one.
    let directory: Directory?
    /// The end of this pool.
    let end: SharedFileEnd
    /// The error with which each opening fails; nil for none.
    private let refusal: DatabaseError?
    private let state = Lock(State())
    private let opening = ConditionLock(OpeningStateMachine.idle)

    init(
        path: String, _ configuration: Configuration, refusal: DatabaseError?, in directory: Directory? = nil
    ) {
        self.directory = directory
        core = DatabaseCore(isShared: true, configuration.monotonicClock, gate: directory?.gate)
        self.path = path
        self.configuration = configuration
        self.refusal = refusal
        tracers = TracerList.configured(configuration)
        end = SharedFileEnd(path, gate: directory?.gate)
    }

    // The last connection is closed, because those who can open one retain this object.
    deinit {
        end.end()
        SharedFiles.all.remove(self, state.withLock { $0.identities })
    }

    func setRunners(_ writer: AccessRunner, readers: AccessRunner) {
        state.withLock { $0.runners = Runners(writer: writer, readers: readers) }
    }

    func setPool(_ pool: DatabasePool) { state.withLock { $0.pool = pool } }

    /// The pool, unless it is being released.
    var pool: DatabasePool? { state.withLock { $0.pool } }

    func noteIdentity(_ identity: FileIdentity) {
        state.withLock { state in
            if !state.identities.contains(identity) { state.identities.append(identity) }
        }
    }

    // MARK: - Opening

    /// Opens the connection that writes.
    func openWriter() throws -> Database {
        try end.openingWillBegin()
        defer { end.openingDidEnd() }
        try beginOpening()
        defer { endOpening() }
        return try openWriterNow()
    }

    /// Opens a connection that reads. If no connection is open, opens the one that writes first: it creates the file.
    func openReader() throws -> Database {
        try end.openingWillBegin()
        defer { end.openingDidEnd() }
        // Kept until the reader is open, if the pool was released and nothing else keeps it.
        var database: Database?
        if !isWriterOpen {
            try beginOpening()
            defer { endOpening() }
            if !isWriterOpen {
                let opened = try openWriterNow()
                database = opened
                // If another access opens the writer meanwhile, this connection has done its work.
                state.withLock { $0.runners.writer }?.group.adopt(opened)
            }
        }
        return try withExtendedLifetime(database) {
            let reader = try closingOthersForShortage {
                try configuration.readerOpener(path: path, core: core, tracers)()
            }
            // The log is opened by the first read.
            if let directory {
                while FileSystem.isShortOfDescriptors, directory.gate.closeOtherForShortage() {}
            }
            return reader
        }
    }

    /// Opens a connection. As long as the process lacks file descriptors or memory, closes idle databases of the
    /// directory, one after another, and tries again.
    private func closingOthersForShortage(_ open: () throws -> Database) throws -> Database {
        while true {
            do {
                return try open()
            } catch let error as DatabaseError where ResourceShortage.isCause(of: error) {
                guard let directory, directory.gate.closeOtherForShortage() else { throw error }
            }
        }
    }

    private var isWriterOpen: Bool {
        state.withLock { $0.runners.writer }?.group.hasOpenConnection ?? false
    }

    /// Waits until no connection of an earlier pool of the file is open, or some seconds. A pool of the path that was
    /// overdue at an earlier opening isn't waited for again.
    private func waitForEarlierPools() {
        let overdue = state.withLock { $0.overdueEnds }
        let ends = SharedFiles.all.endsToCome(before: self).filter { end in !overdue.contains { $0 === end } }
        let stillOverdue = SharedFileEnd.wait(for: ends).filter { $0.path == path }
        if overdue.isEmpty, stillOverdue.isEmpty { return }
        let ended = state.withLock { state in
            defer { state.overdueEnds = state.overdueEnds.filter { !$0.hasEnded } + stillOverdue }
            return state.overdueEnds
        }
        _ = consume ended
    }

    private func beginOpening() throws {
        if let refusal { throw refusal }
        waitForEarlierPools()
        let contents = opening.contents
        opening.lock()
        defer { opening.unlock() }
        while true {
            switch contents.pointee.begin(thread: Database.currentThread) {
            case .open: return
            case .wait: _ = opening.wait()
            case .refuse:
                throw DatabaseError.misuse(
                    "\(configuration.label ?? path) is used while it is opened, by Configuration.prepareDatabase"
                        + (directory?.migrator == nil ? "" : " or a migration"))
            }
        }
    }

    private func endOpening() {
        opening.withLock { $0.end() }
        opening.broadcast()
    }

    private func openWriterNow() throws -> Database {
        try noteUse()
        let database = try closingOthersForShortage {
            try configuration.openWriterOfPool(path: path, core: core, configuredTracers: tracers, followsTask: false)
        }
        // It may have been made only now, with another name meanwhile.
        try noteUse()
        if let migrator = directory?.migrator {
            try database.asAccess { db in try migrator.run(db, upTo: nil) }
        }
        let (pool, wasClosed) = state.withLock { state in
            defer { state.wasClosed = false }
            return (state.pool, state.wasClosed)
        }
        // The log's keeper doesn't hold the runners: the pool does, until it has told the keeper of its end.
        if let pool {
            core.setOwner(pool.writer, readers: pool.readers, database.configuration)
            core.keepLog(of: database)
        }
        if wasClosed { core.journalIfMade?.connectionsWereOpened(of: pool) }
        return database
    }

    /// Throws if the file is in use with another name: SQLite would give it a second log.
    private func noteUse() throws {
        guard let identity = FileIdentity(path: path) else { return }
        // If no connection is open, the pool has closed the files that it had before.
        let isOpen = pool.map { $0.groups.contains(where: \.hasOpenConnection) } ?? true
        let former = isOpen ? [] : state.withLock { $0.identities.filter { $0 != identity } }
        try checkIsUsedByNoOtherName(SharedFiles.all.noteUser(self, of: identity, notOf: former))
        state.withLock { $0.identities.removeAll { former.contains($0) } }
        noteIdentity(identity)
    }

    private func checkIsUsedByNoOtherName(_ use: SharedFiles.Use?) throws {
        switch use {
        case nil: return
        case .pool(let pool):
            throw DatabaseError.misuse(
                "\(path) is another name of \(pool.path), which is in use: its log has that name")
        case .releasedPool(let end):
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "\(path) is another name of \(end.path), which a released shared database still uses: its log "
                    + "has that name")
        case .pinned(let otherPath, let databases):
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "\(path) is another name of \(otherPath), which \(Self.names(of: databases)) reads: its log "
                    + "has that name")
        }
    }

    // MARK: - Closing

    /// All connections were closed, and can't be opened yet.
    func didClose() {
        state.withLock { $0.wasClosed = true }
        core.logWasEmptied()
        core.journalIfMade?.connectionsWereClosed()
    }

    /// Remembers connections that belong to no group: those of snapshots, stable readers and backups.
    func note(_ databases: [Database]) { SharedFiles.all.notePinned(databases, path) }

    /// Whether snapshots, stable readers or backups have connections.
    var hasOtherReaders: Bool { SharedFiles.all.pinned(path).contains { !$0.isClosed } }

    /// Throws if snapshots, stable readers, backups, or a pool that was released, have connections.
    func checkHasNoOtherReaders() throws {
        guard SharedFileEnd.wait(for: SharedFiles.all.endsToCome(before: self)).isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "unable to close \(configuration.label ?? path): a released shared database still uses it")
        }
        try checkIsUsedByNoOtherName(SharedFiles.all.otherUse(of: self))
        let databases = SharedFiles.all.pinned(path).filter { !$0.isClosed }
        guard !databases.isEmpty else { return }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "unable to close \(configuration.label ?? path): \(Self.names(of: databases)) reads it")
    }

    /// The names of the snapshots, stable readers and backups that have connections.
    private static func names(of databases: [Database]) -> String {
        // A connection of a pool that was released has the core of that pool.
        let cores = Dictionary(databases.compactMap { $0.core.map { (ObjectIdentifier($0), $0) } }) { core, _ in core }
        let labels = cores.values.flatMap { core in
            core.labelsOfPinnedReaders.map { "“\($0)”" }
        }.sorted()
        return labels.isEmpty ? "a snapshot or backup" : labels.joined(separator: ", ")
    }
}
