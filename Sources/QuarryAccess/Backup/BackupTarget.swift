import QuarryCore

/// The path at which a backup, or another new file, will be: a name in a folder.
package struct BackupTarget {
    let folder: String
    package let name: String
    let files: FileOperations
    /// The operation, for errors.
    let operation: String
    /// The error of a file that exists and may not be replaced.
    private let refusal: String

    var path: String { folder == "" ? name : folder == "/" ? "/" + name : folder + "/" + name }

    /// The path of the folder, `.` for the current one.
    package var folderPath: String { folder == "" ? "." : folder }

    /// - parameter path: a path, never a URI.
    /// - throws: `SQLITE_CANTOPEN` for a path that can't be one of a backup.
    /// - parameter refusal: the error of a file that exists and may not be replaced.
    package init(
        _ path: String, _ files: FileOperations, _ operation: String,
        refusal: String = "the file exists, and BackupOptions.replacesExisting is false"
    ) throws {
        self.files = files
        self.operation = operation
        self.refusal = refusal
        guard path != "" else { throw Self.error(operation, "the path is empty") }
        guard !path.utf8.contains(0) else {
            // The system would use the file that the part before the NUL names.
            throw Self.error(operation, "the path has a NUL character: \(String(reflecting: path))")
        }
        var path = path
        let status = try Self.status(path, files, operation)
        if let status, status.kind != .file { throw Self.error(operation, "\(path) is \(status.kind.rawValue)") }
        // The file is replaced, not the link.
        if status?.isLink ?? false { path = try Self.calling(operation) { try files.resolve(path) } }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            (folder, name) = ("", path)
            return
        }
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.index(after: slash)...])
        guard let status = try Self.status(folder, files, operation) else {
            throw Self.error(operation, "the folder \(folder) does not exist")
        }
        guard status.kind == .folder else { throw Self.error(operation, "\(folder) is no folder") }
        guard name != "" else { throw Self.error(operation, "\(path) names a folder") }
    }

    /// Throws if the file must not be made.
    ///
    /// - parameter source: the path of the database; nil if it has no file.
    package func check(replacesExisting: Bool, source: String?) throws {
        let place = FilePlace(path)
        try Self.check(place, isNoFileOf: source, operation)
        if !replacesExisting, try Self.status(path, files, operation) != nil { throw existsAlready() }
        try Self.check(place, files, operation)
    }

    /// Throws if a place is that of a file of the database itself.
    static func check(_ place: FilePlace, isNoFileOf source: String?, _ operation: String) throws {
        guard let source, let suffix = place.suffix(amongFilesOf: source) else { return }
        throw error(
            operation,
            suffix == ""
                ? "it is the file of the database itself" : "it is a file of the database itself: \(source)\(suffix)")
    }

    /// Throws if a place is that of a file of any database that is open, or was left open.
    static func check(_ place: FilePlace, _ files: FileOperations, _ operation: String) throws {
        for suffix in ["-wal", "-journal"] {
            // SQLite would apply it to the new file:
            // https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use
            guard let status = try status(place.path + suffix, files, operation), status.byteCount > 0 else { continue }
            throw error(
                operation, "the file is in use, or was: it has a journal beside it, \(place.path)\(suffix)")
        }
        if let database = place.openDatabase {
            throw error(operation, "it is a file of \(database), which this process has open: close that first")
        }
    }

    /// Runs calls of the file system, whose errors name the operation.
    package func calling<T>(_ body: () throws -> T) throws -> T { try Self.calling(operation, body) }

    package static func calling<T>(_ operation: String, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let failure as FileOperations.Failure { throw failure.databaseError(operation) }
    }

    private static func status(
        _ path: String, _ files: FileOperations, _ operation: String
    ) throws -> FileOperations.Status? {
        try calling(operation) { try files.status(path) }
    }

    func existsAlready() -> DatabaseError { Self.error(operation, refusal) }

    private static func error(_ operation: String, _ reason: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "\(operation): \(reason)")
    }
}
