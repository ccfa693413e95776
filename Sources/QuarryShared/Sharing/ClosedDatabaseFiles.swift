import Quarry
import QuarryCore

/// The files of a shared database that is closed, inside the closure of `SharedDatabase.withClosedDatabase`.
///
/// ```swift
/// try database.withClosedDatabase { files in
///     print(try files.sizes().total)
///     try files.replace(with: "/var/lib/app/new-players.sqlite")
/// }
/// ```
///
/// Each operation is whole or has no effect, also if the process is killed: a name is changed in one step, once the
/// content is on the disk. Used after the closure has returned, each throws `SQLITE_MISUSE`.
public final class ClosedDatabaseFiles: Sendable {
    /// The sizes of files, in bytes; 0 for a file that is missing.
    ///
    /// ```swift
    /// try database.withClosedDatabase { files in print(try files.sizes().database) }
    /// ```
    public struct Sizes: Sendable, Equatable {
        /// The database.
        public let database: Int
        /// The write-ahead log, `-wal`.
        public let log: Int
        /// The index of the log, `-shm`.
        public let sharedMemory: Int
        /// The rollback journal, `-journal`.
        public let journal: Int
        /// The sum.
        public var total: Int { database + log + sharedMemory + journal }
    }

    /// The path of the database, without symbolic links.
    public let path: String
    private let configuration: Configuration
    private let setups: ConnectionSetups
    private let operations: FileOperations
    private let isEnded = Lock(false)

    init(_ file: SharedFile, _ operations: FileOperations) {
        path = file.path
        configuration = file.configuration
        setups = file.core.setups
        self.operations = operations
    }

    func end() { isEnded.withLock { $0 = true } }

    /// The paths of the database, its write-ahead log, the log's index and the rollback journal, whether the files
    /// exist or not: <https://www.sqlite.org/tempfiles.html>.
    public var paths: [String] { [path] + sidecars }

    private var sidecars: [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

    /// The sizes of the files.
    ///
    /// ```swift
    /// let bytes = try database.withClosedDatabase { files in try files.sizes().total }
    /// ```
    ///
    /// - throws: `SQLITE_CANTOPEN` if the file system refuses to tell; `SQLITE_MISUSE` after the closure.
    public func sizes() throws -> Sizes {
        try perform("reading sizes") {
            let sizes = try paths.map { try operations.status($0)?.byteCount ?? 0 }
            return Sizes(database: sizes[0], log: sizes[1], sharedMemory: sizes[2], journal: sizes[3])
        }
    }

    /// Gives the database another path. The next access creates a new database at the old one.
    ///
    /// ```swift
    /// try database.withClosedDatabase { files in try files.move(to: "/var/archive/players-2026.sqlite") }
    /// ```
    ///
    /// On another file system, the database is copied with SQLite, checked, and then removed: a process that is killed
    /// in between leaves both. The copy has its own journal mode, until a pool opens it.
    ///
    /// - parameter newPath: the path, with a folder that exists. If it is a symbolic link, the path that it leads to.
    /// - parameter overwrites: whether a file that has the new path is replaced. A database that is in use mustn't be.
    /// - throws: `SQLITE_CANTOPEN` if the database is missing, or if `newPath` is taken; `SQLITE_BUSY` if another
    ///   process has the database open, if the log isn't empty, or if `newPath` has a log beside it, which SQLite would
    ///   apply, or is a file of a database that this process has open; `SQLITE_MISUSE` for one of `paths`, by whatever
    ///   name; other `DatabaseError`s, which name both paths. The
    ///   database then has its old path, and a file that had the new one is as it was. There are two exceptions. If
    ///   `SQLITE_IOERR_DIR_FSYNC` follows the new name, the database has its new path, which may not be on the disk.
    ///   If a database that was copied over another one can't be removed, both paths have it: `SQLITE_IOERR_DELETE`.
    public func move(to newPath: String, overwrites: Bool = false) throws {
        try perform("moving \(path) to \(newPath)") {
            try checkIsWhole()
            let newPath = try target(newPath, overwrites: overwrites)
            try removeSidecars()
            do {
                try operations.rename(path, to: newPath)
            } catch let failure as FileOperations.Failure where failure.isOfOtherFileSystem {
                let isNew = try operations.status(newPath) == nil
                try copyDatabase(path, to: newPath, overwrites: overwrites)
                do {
                    try removeOriginal(path)
                } catch {
                    if isNew { try? operations.remove(newPath) }
                    throw error
                }
            }
            try syncFolders(path, newPath)
        }
    }

    /// Copies the database into another file. No log is beside it.
    ///
    /// ```swift
    /// try database.withClosedDatabase { files in try files.copy(to: "/var/backups/players.sqlite") }
    /// ```
    ///
    /// - parameter overwrites: as in ``move(to:overwrites:)``.
    /// - throws: `SQLITE_CANTOPEN` if the database is missing, or if `newPath` is taken; the errors of
    ///   `DatabaseReader.backup(toFile:options:progress:)`.
    public func copy(to newPath: String, overwrites: Bool = false) throws {
        try perform("copying \(path) to \(newPath)") {
            guard try operations.status(path) != nil else { throw missing(path) }
            let newPath = try target(newPath, overwrites: overwrites)
            try copyDatabase(path, to: newPath, overwrites: overwrites)
        }
    }

    /// Removes the database and the files beside it. The next access creates a new database.
    ///
    /// ```swift
    /// try database.withClosedDatabase { files in try files.remove() }
    /// ```
    ///
    /// The database is removed first: SQLite ignores a log without one. Missing files are no error.
    ///
    /// - throws: `SQLITE_BUSY` if another process has the database open; `SQLITE_IOERR_DELETE`.
    public func remove() throws {
        try perform("removing \(path)") {
            try checkIsUnused(path)
            try operations.remove(path)
            try removeSidecars()
            try syncFolders(path)
        }
    }

    /// Gives the path of the database to another one, which loses its own. The next access opens that.
    ///
    /// ```swift
    /// try database.withClosedDatabase { files in try files.replace(with: "/var/lib/app/new-players.sqlite") }
    /// ```
    ///
    /// - parameter newPath: a database that is open nowhere, with an empty log or none. It is checked first, as by
    ///   `restore(from:)`. On another file system it is copied with SQLite, and then removed. If the path is a symbolic
    ///   link, the database that it leads to is taken, and the link leads nowhere afterwards.
    /// - throws: `SQLITE_CANTOPEN` if it is missing or no file; `SQLITE_NOTADB` or `SQLITE_CORRUPT` if it is no
    ///   database, or damaged; `SQLITE_MISUSE` for one of `paths`; `SQLITE_BUSY` if another process has one of the two
    ///   open, if a queue or pool of this process has the new one, or if a log isn't empty; other `DatabaseError`s,
    ///   which name both paths. Both databases are then as they were. There are two exceptions. If
    ///   `SQLITE_IOERR_DIR_FSYNC` follows the new name, the database is replaced, which may not be on the disk. If a
    ///   copied database can't be removed, both paths have it: `SQLITE_IOERR_DELETE`.
    public func replace(with newPath: String) throws {
        try perform("replacing \(path) by \(newPath)") {
            guard !newPath.utf8.contains(0) else { throw DatabaseError.misuse("the path has a NUL character") }
            guard let new = try operations.status(newPath), new.kind == .file else { throw missing(newPath) }
            // Renaming a link would make the path of the database a link.
            let place = try foreignPlace(newPath)
            let newPath = place.path
            if try operations.status(path) != nil { try checkIsWhole() }
            try checkIsUnused(newPath)
            try checkLogIsEmpty(newPath)
            if let other = place.openDatabase { throw busy("\(other) is in use") }
            guard new.byteCount > 0 else {
                throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "\(newPath) is empty")
            }
            do {
                try withSource(newPath) { source in try source.read { db in try db.pass(.quick, newPath) } }
            } catch {
                removeEmptyLog(newPath)
                throw error
            }
            try removeSidecars()
            do {
                try operations.rename(newPath, to: path)
            } catch let failure as FileOperations.Failure where failure.isOfOtherFileSystem {
                try copyDatabase(newPath, to: path, overwrites: true)
                try removeOriginal(newPath)
            }
            removeEmptyLog(newPath)
            try syncFolders(path, newPath)
        }
    }

    // MARK: - Steps

    private func perform<T>(_ operation: String, _ body: () throws -> T) throws -> T {
        guard !isEnded.withLock({ $0 }) else {
            throw DatabaseError.misuse("the files of a database can't be used after the closure of withClosedDatabase")
        }
        do {
            return try body()
        } catch let failure as FileOperations.Failure {
            throw failure.databaseError(operation)
        } catch let error as DatabaseError {
            throw DatabaseError(
                resultCode: error.extendedResultCode, message: "\(operation): \(error.message ?? "")", sql: error.sql
            ).with(circumstances: error.circumstances ?? "")
        }
    }

    /// The place of a path, which must not be that of one of the database's own files.
    private func foreignPlace(_ newPath: String) throws -> FilePlace {
        let place = FilePlace(newPath)
        switch place.suffix(amongFilesOf: path) {
        case nil: return place
        case "": throw DatabaseError.misuse("\(place.path) is the database itself")
        default: throw DatabaseError.misuse("\(place.path) is the path of a file of the database itself")
        }
    }

    /// The path of a new file, without symbolic links.
    private func target(_ newPath: String, overwrites: Bool) throws -> String {
        guard !newPath.isEmpty, !newPath.utf8.contains(0) else {
            throw DatabaseError.misuse("no file can have the path \(String(reflecting: newPath))")
        }
        let status = try operations.status(newPath)
        let place = try foreignPlace(newPath)
        let newPath = place.path
        if let status {
            guard overwrites, status.kind == .file else { throw taken(newPath) }
            try checkIsUnused(newPath)
        }
        if let other = place.openDatabase { throw busy("\(other) is in use") }
        // SQLite would apply a log that a database has left behind:
        // https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use
        try checkLogIsEmpty(newPath)
        return newPath
    }

    /// Throws unless the file has the whole content of the database, and no connection has it open.
    private func checkIsWhole() throws {
        guard let status = try operations.status(path), status.kind == .file else { throw missing(path) }
        try checkIsUnused(path)
        if (try? checkLogIsEmpty(path)) == nil, !configuration.readonly { try recover() }
        try checkLogIsEmpty(path)
    }

    /// Moves a log that a killed process has left into the database: the last connection does when it closes.
    private func recover() throws {
        var configuration = Configuration()
        configuration.acceptsURIs = false
        configuration.vfs = self.configuration.vfs
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.read { db in _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") }
        try queue.close()
    }

    private func checkIsUnused(_ path: String) throws {
        guard let process = FileSystem.otherProcess(withDatabase: path) else { return }
        throw busy("process \(process) has \(path) open")
    }

    private func checkLogIsEmpty(_ path: String) throws {
        for log in [path + "-wal", path + "-journal"] {
            guard let status = try operations.status(log), status.byteCount > 0 else { continue }
            throw busy("\(log) has changes that aren't in the database: another connection has it open, or had it")
        }
    }

    private func removeSidecars() throws {
        for sidecar in sidecars { try operations.remove(sidecar) }
    }

    /// Copies a database with SQLite: a descriptor of our own would release SQLite's locks when it is closed.
    ///
    /// The connection is prepared as those of the database are: the check of the copy may need the functions and
    /// collations of the program.
    private func copyDatabase(_ source: String, to newPath: String, overwrites: Bool) throws {
        var options = BackupOptions()
        options.replacesExisting = overwrites
        options.files = operations
        _ = try withSource(source) { queue in try queue.backup(toFile: newPath, options: options) }
    }

    /// Opens a database, as those of the configuration are opened, and closes it.
    private func withSource<T>(_ source: String, _ body: (DatabaseQueue) throws -> T) throws -> T {
        var configuration = configuration
        // Only the database itself may have to be recovered, which writes.
        configuration.readonly = configuration.readonly || source != path
        configuration.acceptsURIs = false
        configuration.createsIntermediateDirectories = false
        configuration.journalMode = .default
        configuration.commitNumbers = .counted
        configuration.statementTimeout = nil
        configuration.settings = configuration.settings.withoutFollowing
        let queue = try DatabaseQueue(path: source, configuration: configuration)
        let setups = setups
        queue.prepareConnections { db in try setups.prepare(db) }
        let result = try body(queue)
        try queue.close()
        return result
    }

    /// Removes a database that was copied: first the file, because SQLite ignores a log without one.
    private func removeOriginal(_ path: String) throws {
        try operations.remove(path)
        removeEmptyLog(path)
    }

    private func removeEmptyLog(_ path: String) {
        for sidecar in ["-wal", "-shm"] { try? operations.remove(path + sidecar) }
    }

    private func syncFolders(_ paths: String...) throws {
        for folder in Set(paths.map(FileOperations.folder)) { try operations.syncFolder(folder) }
    }

    private func missing(_ path: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "there is no file \(path)")
    }

    private func taken(_ path: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "\(path) exists")
    }

    private func busy(_ message: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_BUSY, message: message)
    }
}
