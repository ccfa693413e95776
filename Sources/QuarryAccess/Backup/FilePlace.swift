import QuarryCore

/// The path of a file that is to be written, compared with the files of databases: the database itself, its log, the
/// log's index and its journal (<https://www.sqlite.org/tempfiles.html>). No other file may take their places.
package struct FilePlace {
    /// The absolute path without symbolic links.
    package let path: String
    private let identity: FileIdentity?

    /// - parameter path: has no NUL. The file may be missing.
    package init(_ path: String) {
        self.path = FileName.canonical(path)
        identity = FileIdentity(path: self.path)
    }

    /// Which of the files of a database has this place, by whatever name; a missing file has a place, too.
    ///
    /// - returns: the ending of the file's name, which is empty for the database itself; nil for another file.
    package func suffix(amongFilesOf database: String) -> String? {
        let database = FileName.canonical(database)
        return ["", "-wal", "-shm", "-journal"].first { suffix in
            if path == database + suffix { return true }
            // A hard link.
            guard let identity else { return false }
            return FileIdentity(path: database + suffix) == identity
        }
    }

    /// The path of a database that this process has open, and one of whose files has this place.
    package var openDatabase: String? {
        if let shared = LiveDatabases.sharedPath(of: path) { return shared }
        for writer in LiveDatabases.writers where writer.group.hasOpenConnection {
            let database = FileKind.filePath(writer.source.path)
            // A database in memory has no file.
            guard FileIdentity(path: database) != nil else { continue }
            if suffix(amongFilesOf: database) != nil { return database }
        }
        return nil
    }
}
