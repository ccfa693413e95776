import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The calls of the file system that backups, salvages and quarantines make themselves. SQLite makes the others,
/// through its VFS.
///
/// Each call asks `fault` first, so that tests can make any of them fail.
package struct FileOperations: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case create, lock, permissions, write, sync, syncFolder, rename, link, remove, list, status
    }

    /// Returns the number of the error with which a call fails instead of being made; 0 to make it.
    package var fault: @Sendable (Kind, _ path: String) -> CInt

    package init(fault: @escaping @Sendable (Kind, _ path: String) -> CInt = { _, _ in 0 }) { self.fault = fault }

    /// A call that has failed.
    package struct Failure: Error {
        package let kind: Kind
        package let path: String
        package let number: CInt

        /// Whether another file has the name that a file should get.
        package var isOfTakenName: Bool { number == EEXIST }

        /// Whether the file or folder doesn't exist.
        package var isOfMissingFile: Bool { number == ENOENT }

        /// Whether a new name is on another file system.
        package var isOfOtherFileSystem: Bool { number == EXDEV }

        /// The system's reason: `No space left on device`.
        package var reason: String { String(cString: strerror(number)) }
    }

    /// A file that was opened; closed with the object.
    package final class Descriptor: Sendable {
        fileprivate let number: CInt

        fileprivate init(_ number: CInt) { self.number = number }

        deinit { close(number) }
    }

    /// The properties of a file.
    package struct Status: Equatable {
        package enum Kind: String {
            case file = "a file"
            case folder = "a folder"
            case pipe = "a pipe"
            case socket = "a socket"
            case device = "a device"
        }

        package let kind: Kind
        package let isLink: Bool
        package let byteCount: Int
        /// The permissions: <https://man7.org/linux/man-pages/man7/inode.7.html>.
        package let permissions: UInt16
        package let identity: Identity
    }

    /// Is the same for two paths of one file.
    package struct Identity: Equatable {
        package let device: UInt64
        package let inode: UInt64
    }

    // MARK: - Calls

    /// Creates a file that is missing. The corresponding C function is `open`.
    package func create(_ path: String, permissions: UInt16) throws -> Descriptor {
        try Descriptor(call(.create, path) { openNew(path, permissions) })
    }

    /// Opens a file to lock it; nil if it is missing.
    package func open(toLock path: String) throws -> Descriptor? {
        do {
            return try Descriptor(call(.lock, path) { Self.openReadOnly(path) })
        } catch {
            guard error.number == ENOENT else { throw error }
            return nil
        }
    }

    /// Locks a file until the descriptor is closed, or its process ends. The corresponding C function is `flock`, whose
    /// locks have nothing to do with those of SQLite.
    ///
    /// - returns: false if another descriptor has the lock; nil if the file system has no locks.
    package func lock(_ file: Descriptor, _ path: String) throws -> Bool? {
        do {
            _ = try call(.lock, path) { flock(file.number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            switch error.number {
            case EWOULDBLOCK: return false
            case ENOTSUP, EOPNOTSUPP, ENOSYS, ENOLCK: return nil
            default: throw error
            }
        }
    }

    /// The corresponding C function is `fchmod`: unlike at the creation, the process's mask doesn't apply.
    package func setPermissions(_ permissions: UInt16, of file: Descriptor, _ path: String) throws {
        _ = try call(.permissions, path) { fchmod(file.number, mode_t(permissions)) }
    }

    /// Writes all bytes at the end of a file. The corresponding C function is `write`.
    package func write(_ bytes: [UInt8], to file: Descriptor, _ path: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try call(.write, path) { rest.withUnsafeBytes { Self.write(file.number, $0) } }
            guard count > 0 else { throw Failure(kind: .write, path: path, number: EIO) }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// Waits until a file is on the disk. The corresponding C function is `fsync`.
    package func sync(_ file: Descriptor, _ path: String) throws { _ = try call(.sync, path) { fsync(file.number) } }

    /// Waits until the names in a folder are on the disk. Some file systems can't, and have nothing to wait for.
    package func syncFolder(_ path: String) throws {
        let folder = try Descriptor(call(.syncFolder, path) { Self.openReadOnly(path) })
        do {
            _ = try call(.syncFolder, path) { fsync(folder.number) }
        } catch {
            guard error.number == EINVAL || error.number == ENOTSUP else { throw error }
        }
    }

    /// Replaces the file at the new path, if there is one. The corresponding C function is `rename`.
    package func rename(_ path: String, to newPath: String) throws {
        #if canImport(Darwin)
        _ = try call(.rename, newPath) { Darwin.rename(path, newPath) }
        #elseif canImport(Musl)
        _ = try call(.rename, newPath) { Musl.rename(path, newPath) }
        #else
        _ = try call(.rename, newPath) { Glibc.rename(path, newPath) }
        #endif
    }

    /// Gives a file a second name, unless that is taken. The corresponding C function is `link`.
    ///
    /// - returns: false if the file system has no second names.
    package func link(_ path: String, to newPath: String) throws -> Bool {
        do {
            _ = try call(.link, newPath) { linkat(AT_FDCWD, path, AT_FDCWD, newPath, 0) }
            return true
        } catch {
            guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.number) else { throw error }
            return false
        }
    }

    /// Gives a file a name that no other file has, and waits until the name is on the disk.
    ///
    /// - parameter folder: the path of the folder of the new name.
    /// - throws: `Failure`: the file doesn't have the name. See `Failure.isOfTakenName`.
    package func publish(_ path: String, as newPath: String, in folder: String) throws {
        let isLinked = try link(path, to: newPath)
        if !isLinked {
            // Without second names, another process could make a file of the same name between these two calls.
            if try exists(newPath) { throw Failure(kind: .rename, path: newPath, number: EEXIST) }
            try rename(path, to: newPath)
        }
        do {
            try syncFolder(folder)
        } catch {
            try? remove(newPath)
            throw error
        }
        // From here on the file is complete, and a name that stays is a leftover.
        if isLinked { try? remove(path) }
    }

    /// Removes a file, if it isn't missing. The corresponding C function is `unlink`.
    package func remove(_ path: String) throws {
        do {
            _ = try call(.remove, path) { unlink(path) }
        } catch {
            guard error.number == ENOENT else { throw error }
        }
    }

    /// Whether there is anything at a path, be it a link that leads nowhere. The corresponding C function is `lstat`.
    package func exists(_ path: String) throws -> Bool {
        var status = stat()
        do {
            _ = try call(.status, path) { lstat(path, &status) }
            return true
        } catch {
            guard error.number == ENOENT else { throw error }
            return false
        }
    }

    /// The path of the folder of a path.
    package static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// The properties of a file, after following links; nil if it is missing. The corresponding C functions are `lstat`
    /// and `stat`.
    package func status(_ path: String) throws -> Status? {
        var link = stat()
        var file = stat()
        do {
            _ = try call(.status, path) { lstat(path, &link) == 0 ? stat(path, &file) : -1 }
        } catch {
            guard error.number == ENOENT && link.st_mode & S_IFMT != S_IFLNK else { throw error }
            return nil
        }
        let kind: Status.Kind =
            switch file.st_mode & S_IFMT {
            case S_IFDIR: .folder
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            case S_IFREG: .file
            default: .device
            }
        return Status(
            kind: kind, isLink: link.st_mode & S_IFMT == S_IFLNK, byteCount: Int(file.st_size),
            permissions: UInt16(file.st_mode & 0o777),
            identity: Identity(
                device: UInt64(truncatingIfNeeded: file.st_dev), inode: UInt64(truncatingIfNeeded: file.st_ino)))
    }

    /// Makes the missing folders of a path. The corresponding C function is `mkdir`.
    package func createFolders(_ path: String) throws {
        try check(.create, path)
        guard let failure = FileName.createFolders(path) else { return }
        throw Failure(kind: .create, path: failure.path, number: failure.number)
    }

    /// Throws if no file can be made in a folder. The corresponding C function is `access`.
    package func checkWritable(_ path: String) throws {
        _ = try call(.create, path) { access(path, W_OK | X_OK) }
    }

    /// The names in a folder, in no particular order. The corresponding C function is `readdir`.
    package func list(_ path: String) throws -> [String] {
        try check(.list, path)
        guard let folder = opendir(path) else { throw Failure(kind: .list, path: path, number: errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The path of the file that a link leads to. The corresponding C function is `realpath`.
    package func resolve(_ path: String) throws -> String {
        var resolved: String?
        _ = try call(.status, path) {
            guard let text = realpath(path, nil) else { return -1 }
            defer { free(text) }
            resolved = String(cString: text)
            return 0
        }
        return resolved ?? path
    }

    private static func openReadOnly(_ path: String) -> CInt {
        #if canImport(Darwin)
        Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Musl)
        Musl.open(path, O_RDONLY | O_CLOEXEC)
        #else
        Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #endif
    }

    private static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> CInt {
        #if canImport(Darwin)
        CInt(Darwin.write(descriptor, bytes.baseAddress, min(bytes.count, 1 << 30)))
        #elseif canImport(Musl)
        CInt(Musl.write(descriptor, bytes.baseAddress, min(bytes.count, 1 << 30)))
        #else
        CInt(Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, 1 << 30)))
        #endif
    }

    private func openNew(_ path: String, _ permissions: UInt16) -> CInt {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
        #if canImport(Darwin)
        return Darwin.open(path, flags, mode_t(permissions))
        #elseif canImport(Musl)
        return Musl.open(path, flags, mode_t(permissions))
        #else
        return Glibc.open(path, flags, mode_t(permissions))
        #endif
    }

    private func check(_ kind: Kind, _ path: String) throws(Failure) {
        let number = fault(kind, path)
        guard number == 0 else { throw Failure(kind: kind, path: path, number: number) }
    }

    /// Makes a call, again if a signal has interrupted it.
    private func call(_ kind: Kind, _ path: String, _ body: () -> CInt) throws(Failure) -> CInt {
        try check(kind, path)
        while true {
            let result = body()
            if result >= 0 { return result }
            let number = errno
            guard number == EINTR else { throw Failure(kind: kind, path: path, number: number) }
        }
    }
}

extension FileOperations.Failure {
    /// The error that the program gets.
    package func databaseError(_ operation: String) -> DatabaseError {
        let code: ResultCode =
            switch (kind, number) {
            case (_, ENOSPC), (_, EDQUOT): .SQLITE_FULL
            case (.create, _), (.list, _), (.status, _): .SQLITE_CANTOPEN
            case (.sync, _): .SQLITE_IOERR_FSYNC
            case (.syncFolder, _): .SQLITE_IOERR_DIR_FSYNC
            case (.remove, _): .SQLITE_IOERR_DELETE
            case (.lock, _): .SQLITE_IOERR_LOCK
            case (.write, _): .SQLITE_IOERR_WRITE
            case (.rename, _), (.link, _), (.permissions, _): .SQLITE_IOERR
            }
        return DatabaseError(resultCode: code, message: "\(operation): could not \(verb) \(path): \(reason)")
    }

    private var verb: String {
        switch kind {
        case .create: "create"
        case .lock: "lock"
        case .permissions: "set the permissions of"
        case .write: "write"
        case .sync, .syncFolder: "sync"
        case .rename, .link: "make"
        case .remove: "remove"
        case .list: "list"
        case .status: "look at"
        }
    }
}
