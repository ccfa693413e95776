import QuarryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A database that is written under another name, and has its own name once it is complete.
struct NewFile {
    let target: String
    /// The path under which it is written.
    let path: String

    init(for target: String) {
        self.target = target
        path = "\(target)-salvage-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    }

    /// Throws if a file exists.
    static func checkIsAbsent(_ path: String) throws {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the path has a NUL character: \(String(reflecting: path))")
        }
        var status = stat()
        if lstat(path, &status) == 0 {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "a database can't be salvaged into \(path), which exists already"
            )
        }
    }

    /// Gives the file its name, if no other file has it. A power failure leaves the file with or without the name.
    func publish() throws {
        // A link, unlike a renaming, never replaces a file. Not all file systems have links.
        if link(path, target) == 0 {
            unlink(path)
        } else {
            let number = errno
            if number == EEXIST { try Self.checkIsAbsent(target) }
            guard number != EEXIST, rename(path, target) == 0 else {
                throw Self.error(number, "a database can't be salvaged into \(target)")
            }
        }
        try Self.syncFolder(of: target)
    }

    /// Removes the file, unless it has its name.
    func remove() {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Waits until the names in a file's folder are on the disk.
    static func syncFolder(of path: String) throws {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY)
        guard descriptor >= 0 else { throw error(errno, "the folder \(folder) can't be opened") }
        defer { close(descriptor) }
        // Some file systems can't sync a folder.
        if fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP {
            throw error(errno, "the folder \(folder) can't be synced")
        }
    }

    static func error(_ number: CInt, _ message: String) -> DatabaseError {
        DatabaseError(
            resultCode: number == ENOSPC ? .SQLITE_FULL : .SQLITE_IOERR,
            message: "\(message): \(String(cString: strerror(number)))")
    }
}
