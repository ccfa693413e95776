import CSQLite

/// Reads a file through SQLite's file system, without a connection.
///
/// The file is opened as SQLite opens it, so closing it doesn't release the locks that connections of this process hold
/// on it, as `close` would:
/// <https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
package struct DatabaseFileHandle: ~Copyable {
    /// The part of a database that a file is.
    package enum Kind {
        case database
        /// A database that may be in use: its copy needs no lock.
        case quarantined
        case journal
        case log

        fileprivate var flag: CInt {
            switch self {
            case .database, .quarantined: SQLITE_OPEN_MAIN_DB
            case .journal: SQLITE_OPEN_MAIN_JOURNAL
            case .log: SQLITE_OPEN_WAL
            }
        }
    }

    private let path: String
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let memory: UnsafeMutableRawPointer
    /// The name in SQLite's form, which the open file may refer to.
    private let name: UnsafePointer<CChar>
    private var isLocked = false

    /// The corresponding C functions are `sqlite3_vfs_find`, `sqlite3_create_filename`, and the `xFullPathname` and
    /// `xOpen` of <https://www.sqlite.org/c3ref/vfs.html>.
    ///
    /// - parameter path: a path, which is never a URI.
    /// - parameter vfs: the name of a registered VFS; nil for the default.
    package init(path: String, kind: Kind, vfs: String?) throws(DatabaseError) {
        let system = try Self.system(path, vfs)
        let pathSize = Int(system.pointee.mxPathname) + 1
        let fullPath = UnsafeMutablePointer<CChar>.allocate(capacity: pathSize)
        defer { fullPath.deallocate() }
        let pathCode = system.pointee.xFullPathname(system, path, CInt(pathSize), fullPath)
        // A positive code other than errors says that a link was followed.
        guard pathCode & 0xFF == SQLITE_OK, let name = sqlite3_create_filename(fullPath, "", "", 0, nil) else {
            throw Self.error(pathCode & 0xFF == SQLITE_OK ? SQLITE_NOMEM : pathCode, path)
        }
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(Int(system.pointee.szOsFile), MemoryLayout<sqlite3_file>.size), alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
        let file = memory.bindMemory(to: sqlite3_file.self, capacity: 1)
        var flags: CInt = 0
        let code = system.pointee.xOpen(system, name, file, SQLITE_OPEN_READONLY | kind.flag, &flags)
        guard code == SQLITE_OK, file.pointee.pMethods != nil else {
            // SQLite's contract: a file with methods is closed even if it failed to open.
            if let methods = file.pointee.pMethods { _ = methods.pointee.xClose(file) }
            memory.deallocate()
            sqlite3_free_filename(name)
            throw Self.error(code, path)
        }
        self.path = path
        self.file = file
        self.memory = memory
        self.name = name
    }

    private static func system(_ path: String, _ vfs: String?) throws(DatabaseError) -> UnsafeMutablePointer<
        sqlite3_vfs
    > {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the path has a NUL character: \(String(reflecting: path))")
        }
        let code = sqlite3_initialize()
        guard code == SQLITE_OK else { throw error(code, path) }
        guard let system = sqlite3_vfs_find(vfs) else {
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "no such vfs: \(vfs ?? "")")
        }
        return system
    }

    private static func error(_ code: CInt, _ path: String) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: SQLiteLibrary.errorString(code))
            .with(circumstances: " - while reading \(path)")
    }

    deinit {
        if let methods = file.pointee.pMethods {
            if isLocked { _ = methods.pointee.xUnlock(file, SQLITE_LOCK_NONE) }
            _ = methods.pointee.xClose(file)
        }
        memory.deallocate()
        sqlite3_free_filename(name)
    }

    /// Whether a file exists. The corresponding C function is the `xAccess` of <https://www.sqlite.org/c3ref/vfs.html>.
    package static func exists(_ path: String, vfs: String?) throws(DatabaseError) -> Bool {
        let system = try system(path, vfs)
        var answer: CInt = 0
        let code = system.pointee.xAccess(system, path, SQLITE_ACCESS_EXISTS, &answer)
        guard code == SQLITE_OK else { throw error(code, path) }
        return answer != 0
    }

    /// Takes the lock under which no other connection changes a file that has a rollback journal:
    /// <https://www.sqlite.org/lockingv3.html>. The corresponding C function is the `xLock` of
    /// <https://www.sqlite.org/c3ref/io_methods.html>.
    ///
    /// - throws: `SQLITE_BUSY` if a connection is just writing the file.
    package mutating func lockShared() throws(DatabaseError) {
        guard !isLocked, let methods = file.pointee.pMethods else { return }
        let code = methods.pointee.xLock(file, SQLITE_LOCK_SHARED)
        guard code == SQLITE_OK else { throw Self.error(code, path) }
        isLocked = true
    }

    /// The bytes of the file. The corresponding C function is the `xFileSize` of
    /// <https://www.sqlite.org/c3ref/io_methods.html>.
    package borrowing func size() throws(DatabaseError) -> Int64 {
        var size: sqlite3_int64 = 0
        let code = file.pointee.pMethods.pointee.xFileSize(file, &size)
        guard code == SQLITE_OK else { throw Self.error(code, path) }
        return size
    }

    /// Bytes of the file. The corresponding C function is the `xRead` of
    /// <https://www.sqlite.org/c3ref/io_methods.html>.
    ///
    /// - throws: `SQLITE_IOERR_SHORT_READ` if the file ends before.
    package borrowing func bytes(_ count: Int, at offset: Int64) throws(DatabaseError) -> [UInt8] {
        guard let size = CInt(exactly: count), size > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let code = file.pointee.pMethods.pointee.xRead(file, &bytes, size, offset)
        guard code == SQLITE_OK else { throw Self.error(code, path) }
        return bytes
    }
}
