import Quarry
import QuarryCore

/// The files that are shared in this process: finds the one pool of a file, whichever name the file is given.
///
/// A file is found by its canonical path; if it exists, also by its device and inode, so that hard links meet.
///
/// A pool that was released may have connections for a while. The next pool of the same path can live with them, but
/// not one of another name of the file: SQLite names the log after the path, so that two logs would be in use.
/// Therefore a pool is noted as a user of its file before it opens it, and doesn't open a file that is used under
/// another name.
final class SharedFiles: Sendable {
    static let all = {
        let files = SharedFiles()
        LiveDatabases.addSharedDatabases { files.openPath(of: $0) }
        return files
    }()

    /// A user of a file: it has the file open, or may open it.
    enum Use {
        /// The pool of a shared database.
        case pool(DatabasePool)
        /// A pool that was released, whose last access hasn't ended.
        case releasedPool(SharedFileEnd)
        /// Snapshots, stable readers or backups of the database with a path.
        case pinned(String, [Database])

        var path: String {
            switch self {
            case .pool(let pool): pool.path
            case .releasedPool(let end): end.path
            case .pinned(let path, _): path
            }
        }
    }

    /// Used with the lock held.
    private final class Entry {
        weak var pool: DatabasePool?
        let end: SharedFileEnd

        init(pool: DatabasePool, end: SharedFileEnd) {
            self.pool = pool
            self.end = end
        }
    }

    private struct WeakDatabase {
        weak var database: Database?
    }

    /// A pool that may have a file open.
    private struct User {
        let end: SharedFileEnd
        /// Whether the pool has begun to open the file. Before, it keeps later pools alone from opening it.
        var hasOpened: Bool
    }

    private struct State {
        /// The last pool of each canonical path.
        var entries: [String: Entry] = [:]
        /// The canonical path of each file that existed when it was last looked at.
        var paths: [FileIdentity: String] = [:]
        /// The pools of each canonical path whose end is to come, that of `entries` included.
        var ends: [String: [SharedFileEnd]] = [:]
        /// The pools that may have each file open, by whatever name.
        var users: [FileIdentity: [User]] = [:]
        /// The connections of snapshots, stable readers and backups, by canonical path. They may outlive their pool.
        var pinned: [String: [WeakDatabase]] = [:]
        /// The keys of `pinned` that have led to each file.
        var pinnedPaths: [FileIdentity: [String]] = [:]

        /// The uses of a file that keep a pool from opening it, by other paths than that of the pool; without a pool,
        /// all uses. They are to be released without the lock: the last reference to a pool or to a connection closes
        /// connections, and tells tracers.
        func uses(of identity: FileIdentity, before own: SharedFileEnd?) -> [Use] {
            var uses: [Use] = []
            for user in users[identity] ?? [] {
                let end = user.end
                if let own, end.path == own.path || !(user.hasOpened || end.number < own.number) { continue }
                if let entry = entries[end.path], entry.end === end, let pool = entry.pool {
                    uses.append(.pool(pool))
                } else if !end.hasEnded {
                    uses.append(.releasedPool(end))
                }
            }
            for pinnedPath in pinnedPaths[identity] ?? [] where pinnedPath != own?.path {
                let databases = pinned[pinnedPath]?.compactMap(\.database) ?? []
                if !databases.isEmpty { uses.append(.pinned(pinnedPath, databases)) }
            }
            return uses
        }

        mutating func noteUser(_ end: SharedFileEnd, of identity: FileIdentity, hasOpened: Bool) {
            paths[identity] = end.path
            if let index = users[identity]?.firstIndex(where: { $0.end === end }) {
                if hasOpened { users[identity]?[index].hasOpened = true }
            } else {
                users[identity, default: []].append(User(end: end, hasOpened: hasOpened))
            }
        }

        mutating func removeUser(_ end: SharedFileEnd, of identity: FileIdentity) {
            users[identity]?.removeAll { $0.end === end }
            if users[identity]?.isEmpty ?? false { users[identity] = nil }
            if entries[end.path]?.end === end || entries[end.path] == nil, paths[identity] == end.path {
                paths[identity] = nil
            }
        }
    }

    private let state = Lock(State())

    /// Whether a file is registered.
    func isShared(_ path: String) -> Bool { state.withLock { $0.entries[path] != nil } }

    /// The pool of a file, which is made if the file has none.
    ///
    /// - parameter path: the canonical path.
    /// - parameter make: makes the pool; must not open anything.
    func pool(_ path: String, _ make: () -> DatabasePool) -> DatabasePool {
        let identity = FileIdentity(path: path)
        let (pool, others) = state.withLock { state in
            // Released without the lock: the last reference to a pool closes its connections.
            var seen: [DatabasePool] = []
            if let pool = state.entries[path]?.pool { return (pool, seen) }
            if let identity, let otherPath = state.paths[identity],
                let pool = state.entries[otherPath]?.pool
            {
                if FileIdentity(path: otherPath) == identity { return (pool, seen) }
                seen.append(pool)
            }
            let pool = make()
            if let file = pool.sharedFile {
                state.entries[path] = Entry(pool: pool, end: file.end)
                state.ends[path, default: []].append(file.end)
                if let identity {
                    state.noteUser(file.end, of: identity, hasOpened: false)
                    file.noteIdentity(identity)
                }
            }
            return (pool, seen)
        }
        _ = consume others
        return pool
    }

    /// The pool of a file is gone.
    func remove(_ file: SharedFile, _ identities: [FileIdentity]) {
        let (path, end) = (file.path, file.end)
        let databases = state.withLock { state in
            state.ends[path]?.removeAll { $0 === end }
            if state.ends[path]?.isEmpty ?? false { state.ends[path] = nil }
            for identity in identities { state.removeUser(end, of: identity) }
            let databases = state.pinned[path]?.compactMap(\.database) ?? []
            if databases.isEmpty { state.pinned[path] = nil }
            for identity in identities where state.pinnedPaths[identity] != nil {
                state.pinnedPaths[identity]?.removeAll { state.pinned[$0] == nil }
                if state.pinnedPaths[identity]?.isEmpty ?? false { state.pinnedPaths[identity] = nil }
            }
            if state.entries[path]?.end === end { state.entries[path] = nil }
            return databases
        }
        _ = consume databases
    }

    // MARK: - Users

    /// The ends to come of pools that were released before a pool was made: those of its path, and those that use its
    /// file by another.
    func endsToCome(before file: SharedFile) -> [SharedFileEnd] {
        let identity = FileIdentity(path: file.path)
        let (ends, uses) = state.withLock { state in
            (
                (state.ends[file.path] ?? []).filter { $0.number < file.end.number && !$0.hasEnded },
                identity.map { state.uses(of: $0, before: file.end) } ?? []
            )
        }
        return ends
            + uses.compactMap { use in
                guard case .releasedPool(let end) = use else { return nil }
                return end
            }
    }

    /// The use of a pool's file under another name; nil if there is none.
    func otherUse(of file: SharedFile) -> Use? {
        guard let identity = FileIdentity(path: file.path) else { return nil }
        return state.withLock { $0.uses(of: identity, before: file.end) }
            .first { $0.leads(to: identity) || $0.hasOpenConnection }
    }

    /// Notes that a pool is about to open its file, or has opened it, unless the file is used under another name.
    ///
    /// - parameter formerIdentities: the files that the pool had under its path before, and has closed.
    /// - returns: the other use; nil if there is none.
    func noteUser(_ file: SharedFile, of identity: FileIdentity, notOf formerIdentities: [FileIdentity]) -> Use? {
        let (use, others) = state.withLock { state -> (Use?, [Use]) in
            let uses = state.uses(of: identity, before: file.end)
            if let use = uses.first(where: { $0.leads(to: identity) }) { return (use, uses) }
            for former in formerIdentities { state.removeUser(file.end, of: former) }
            state.noteUser(file.end, of: identity, hasOpened: true)
            return (nil, uses)
        }
        if let use { return use }
        // A pool whose path leads elsewhere by now may still have the file open, and a snapshot may be closed.
        guard let other = others.first(where: \.hasOpenConnection) else { return nil }
        state.withLock { $0.removeUser(file.end, of: identity) }
        return other
    }

    /// The path of the shared database that has a file open; nil if none has.
    func openPath(of path: String) -> String? {
        guard let identity = FileIdentity(path: path) else { return nil }
        return state.withLock { $0.uses(of: identity, before: nil) }.first(where: \.hasOpenConnection)?.path
    }

    // MARK: - Pinned connections

    /// Remembers connections that belong to no pool's group.
    func notePinned(_ databases: [Database], _ path: String) {
        let identity = FileIdentity(path: path)
        let others = state.withLock { state in
            // Released without the lock: the last reference to a connection closes it, and tells tracers.
            let others = state.pinned[path]?.compactMap(\.database) ?? []
            state.pinned[path] = (others + databases).map { WeakDatabase(database: $0) }
            if let identity, !(state.pinnedPaths[identity]?.contains(path) ?? false) {
                state.pinnedPaths[identity, default: []].append(path)
            }
            return others
        }
        _ = consume others
    }

    /// The connections to a file that belong to no pool's group.
    func pinned(_ path: String) -> [Database] {
        state.withLock { state in state.pinned[path]?.compactMap(\.database) ?? [] }
    }
}

extension SharedFiles.Use {
    fileprivate var hasOpenConnection: Bool {
        switch self {
        case .pool(let pool): pool.groups.contains(where: \.hasOpenConnection)
        case .releasedPool: true
        case .pinned(_, let databases): databases.contains { !$0.isClosed }
        }
    }

    /// Whether it is sure to use a file that it has used. Needs no lock of a connection.
    fileprivate func leads(to identity: FileIdentity) -> Bool {
        switch self {
        case .pool(let pool): FileIdentity(path: pool.path) == identity
        case .releasedPool: true
        case .pinned: false
        }
    }
}
