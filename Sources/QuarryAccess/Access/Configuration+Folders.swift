import QuarryCore

extension Configuration {
    /// Makes the missing folders of a database.
    func createFolders(of path: String) throws {
        let isNoFile = path.isEmpty || path == ":memory:" || acceptsURIs && path.hasPrefix("file:")
        if isNoFile || path.utf8.contains(0) { return }
        guard let failure = FileName.createFolders(FileOperations.folder(of: path)) else { return }
        throw FileOperations.Failure(kind: .create, path: failure.path, number: failure.number)
            .databaseError("opening \(path)")
    }
}
