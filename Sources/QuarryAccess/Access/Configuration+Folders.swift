import QuarryCore

extension Configuration {
    /// Makes the missing folders of a database.
    func createFolders(of path: String) throws {
        let isNoFile = path.isEmpty || path == ":memory:" || acceptsURIs && path.hasPrefix("file:")
        if isNoFile || path.utf8.contains(0) { return }
        do {
            try FileOperations().createFolders(FileOperations.folder(of: path))
        } catch let failure as FileOperations.Failure {
            throw failure.databaseError("opening \(path)")
        }
    }
}
