#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Creates the files of databases with chosen permissions.
///
/// SQLite gives a database's journal, log and shared memory the permissions of its file:
/// <https://www.sqlite.org/compile.html#default_file_permissions>. So an empty file, which is an empty database, is
/// made before SQLite opens it.
enum FileCreation {
    /// Creates the file of a database, unless it exists or the database has none.
    ///
    /// - parameter permissions: the bits of `chmod`, whatever the process's umask is.
    /// - throws: `SQLITE_CANTOPEN` with the system's reason; `SQLITE_MISUSE` for a VFS whose files aren't the system's.
    static func createFile(
        ofDatabase path: String, _ permissions: UInt16, acceptsURIs: Bool, vfs: String?
    ) throws(DatabaseError) {
        let isURI = acceptsURIs && path.utf8.starts(with: "file:".utf8)
        let parameters = isURI ? Self.parameters(ofURI: path) : [:]
        let file = isURI ? FileKind.filePath(path) : FileKind.plainPath(path)
        guard !file.isEmpty, file != ":memory:", !file.utf8.contains(0), parameters["mode"] ?? "rwc" == "rwc" else {
            return
        }
        if let vfs = parameters["vfs"] ?? vfs, !vfs.hasPrefix("unix") {
            throw DatabaseError.misuse("Configuration.filePermissions isn't possible with the VFS \(vfs)")
        }
        guard let error = create(file, mode_t(permissions)) else { return }
        throw DatabaseError(
            resultCode: .SQLITE_CANTOPEN, message: "unable to open database file"
        ).with(circumstances: ": \(error) - while opening \(path)")
    }

    /// The corresponding C functions are `mknod` and `chmod`.
    ///
    /// No descriptor is opened: closing it would release the locks of another connection that has opened the new file
    /// meanwhile
    /// (<https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
    ///
    /// - returns: the reason of a failure.
    private static func create(_ path: String, _ permissions: mode_t) -> String? {
        #if canImport(Darwin)
        // `mknod` needs a privilege there.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        if descriptor >= 0 { close(descriptor) }
        let isCreated = descriptor >= 0
        #else
        let isCreated = mknod(path, S_IFREG | permissions, 0) == 0
        #endif
        guard isCreated else { return errno == EEXIST ? refusalOfExisting(path) : String(cString: strerror(errno)) }
        // The umask takes permissions away, which no other process could have used yet.
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o7777 != permissions else { return nil }
        return chmod(path, permissions) == 0 ? nil : String(cString: strerror(errno))
    }

    /// SQLite would create the file that a link names, with other permissions.
    private static func refusalOfExisting(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) != 0, errno == ENOENT else { return nil }
        return "it is a link to a file that doesn't exist"
    }

    /// The parameters of a URI that concern the file: <https://www.sqlite.org/uri.html>.
    private static func parameters(ofURI uri: String) -> [String: String] {
        guard let start = uri.firstIndex(of: "?") else { return [:] }
        let query = uri[uri.index(after: start)...].prefix { $0 != "#" }
        var parameters: [String: String] = [:]
        for parameter in query.split(separator: "&") {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        return parameters
    }
}
