import QuarryCore

/// The bytes of the files of a database. A file that doesn't exist has none.
///
/// ```swift
/// let sizes = try dbPool.fileSizes()
/// print(sizes.database, sizes.writeAheadLog, sizes.total)
/// ```
public struct DatabaseFileSizes: Sendable, Hashable {
    /// The database file.
    public var database = 0
    /// The write-ahead log, `-wal`: <https://www.sqlite.org/wal.html>.
    public var writeAheadLog = 0
    /// The index of the log, `-shm`, which is also mapped into memory.
    public var sharedMemory = 0
    /// The rollback journal, `-journal`.
    public var journal = 0

    /// No bytes.
    public init() {}

    /// The sum of all.
    public var total: Int { database + writeAheadLog + sharedMemory + journal }
}

extension DatabaseReader {
    /// The name in errors, traces and `description`: `Configuration.label`.
    public var label: String? { configuration.label }

    /// The files that the database may have: its own, the write-ahead log, the log's index, and the journal. None for a
    /// database in memory or on a cluster.
    ///
    /// ```swift
    /// dbPool.filePaths  // ["/var/lib/a.sqlite", "/var/lib/a.sqlite-wal", "/var/lib/a.sqlite-shm", …-journal]
    /// ```
    ///
    /// A path is as `path`, without the parameters of a URI. See <https://www.sqlite.org/tempfiles.html>.
    public var filePaths: [String] {
        guard let file = filePath else { return [] }
        return ["", "-wal", "-shm", "-journal"].map { file + $0 }
    }

    /// The sizes of the files, while they may change.
    ///
    /// ```swift
    /// let bytes = try dbPool.fileSizes().total
    /// ```
    ///
    /// The file system is asked; no file is opened, and no access waits.
    ///
    /// - throws: `SQLITE_CANTOPEN` if the system doesn't tell, for example because a folder may not be searched.
    public func fileSizes() throws -> DatabaseFileSizes {
        var sizes = DatabaseFileSizes()
        guard let file = filePath else { return sizes }
        sizes.database = try FileSystem.size(ofFile: file) ?? 0
        sizes.writeAheadLog = try FileSystem.size(ofFile: file + "-wal") ?? 0
        sizes.sharedMemory = try FileSystem.size(ofFile: file + "-shm") ?? 0
        sizes.journal = try FileSystem.size(ofFile: file + "-journal") ?? 0
        return sizes
    }

    /// The path of the file; nil for a database in memory, or in a temporary file.
    private var filePath: String? {
        if path == ":memory:" || path.isEmpty || groupReader?.isLocal == false { return nil }
        guard configuration.acceptsURIs || path.hasPrefix("file:") && path.hasSuffix("?mode=memory&cache=shared") else {
            return path
        }
        let file = FileKind.filePath(path)
        let isInMemory = path.hasPrefix("file:") && path.contains("mode=memory") || file == ":memory:" || file.isEmpty
        return isInMemory ? nil : file
    }
}
