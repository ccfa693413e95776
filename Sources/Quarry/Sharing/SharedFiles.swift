import QuarryCore

/// The files that are shared in this process: finds the one pool of a file, whichever name the file is given.
///
/// A file is found by its canonical path; if it exists, also by its device and inode, so that hard links meet.
final class SharedFiles: Sendable {
    typealias Identity = CorruptionReport.FileIdentity

    static let all = SharedFiles()

    /// Used with the lock held.
    private final class Entry {
        weak var pool: DatabasePool?
        let file: ObjectIdentifier
        let end: SharedFileEnd

        init(pool: DatabasePool, file: SharedFile) {
            self.pool = pool
            self.file = ObjectIdentifier(file)
            end = file.end
        }
    }

    private struct WeakDatabase {
        weak var database: Database?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The canonical path of each file that existed when it was last looked at.
        var paths: [Identity: String] = [:]
        /// The connections of snapshots, stable readers and backups, by canonical path. They may outlive their pool.
        var pinned: [String: [WeakDatabase]] = [:]
    }

    private let state = Lock(State())

    /// Whether a file is registered.
    func isShared(_ path: String) -> Bool { state.withLock { $0.entries[path] != nil } }

    /// The pool of a file, which is made if the file has none.
    ///
    /// - parameter path: the canonical path.
    /// - parameter make: makes the pool; must not open anything. Receives the end of the pool before, if it is still
    ///   to come.
    func pool(_ path: String, _ make: (SharedFileEnd?) -> DatabasePool) -> DatabasePool {
        let identity = Identity(path: path)
        let (pool, others) = state.withLock { state in
            // Released without the lock: the last reference to a pool closes its connections.
            var seen: [DatabasePool] = []
            if let pool = state.entries[path]?.pool { return (pool, seen) }
            if let identity, let otherPath = state.paths[identity],
                let pool = state.entries[otherPath]?.pool
            {
                if Identity(path: otherPath) == identity { return (pool, seen) }
                seen.append(pool)
            }
            // Under another name, too: SQLite names the log after the path, so that two logs would be in use.
            let ends = [identity.flatMap { state.paths[$0] } ?? path, path].compactMap { state.entries[$0]?.end }
            let pool = make(ends.first { !$0.hasEnded })
            if let file = pool.sharedFile { state.entries[path] = Entry(pool: pool, file: file) }
            if let identity { state.paths[identity] = path }
            return (pool, seen)
        }
        _ = consume others
        return pool
    }

    /// A file is about to be opened, or was opened.
    ///
    /// - returns: the path of another pool, in use, whose file it is; nil if there is none.
    func note(_ path: String, _ file: SharedFile) -> String? {
        guard let identity = Identity(path: path) else { return nil }
        let (otherPath, others) = state.withLock { state in
            var seen: [DatabasePool] = []
            if let otherPath = state.paths[identity], otherPath != path, let pool = state.entries[otherPath]?.pool {
                seen.append(pool)
                if Identity(path: otherPath) == identity { return (otherPath as String?, seen) }
            }
            state.paths[identity] = path
            return (nil, seen)
        }
        _ = consume others
        file.noteIdentity(identity)
        return otherPath
    }

    /// Remembers connections that belong to no pool's group.
    func notePinned(_ databases: [Database], _ path: String) {
        let others = state.withLock { state in
            // Released without the lock: the last reference to a connection closes it, and tells tracers.
            let others = state.pinned[path]?.compactMap(\.database) ?? []
            state.pinned[path] = (others + databases).map { WeakDatabase(database: $0) }
            return others
        }
        _ = consume others
    }

    /// The connections to a file that belong to no pool's group.
    func pinned(_ path: String) -> [Database] {
        state.withLock { state in state.pinned[path]?.compactMap(\.database) ?? [] }
    }

    /// The pool of a file is gone.
    func remove(_ path: String, _ file: ObjectIdentifier, _ identities: [Identity]) {
        let databases = state.withLock { state in
            let databases = state.pinned[path]?.compactMap(\.database) ?? []
            if databases.isEmpty { state.pinned[path] = nil }
            guard state.entries[path]?.file == file || state.entries[path] == nil else { return databases }
            state.entries[path] = nil
            for identity in identities where state.paths[identity] == path {
                state.paths[identity] = nil
            }
            return databases
        }
        _ = consume databases
    }

    /// The path of the shared database that has a file open; nil if none has.
    func openPath(of path: String) -> String? {
        guard let identity = Identity(path: path) else { return nil }
        guard let pool = state.withLock({ state in state.paths[identity].flatMap { state.entries[$0]?.pool } }),
            pool.groups.contains(where: \.hasOpenConnection), Identity(path: pool.path) == identity
        else { return nil }
        return pool.path
    }
}
