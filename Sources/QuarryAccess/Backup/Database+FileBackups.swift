import QuarryCore

extension Database {
    /// Copies the database into a new file: <https://www.sqlite.org/lang_vacuum.html#vacuuminto>.
    func vacuum(into filePath: String) throws {
        guard !filePath.utf8.contains(0) else {
            // SQLite would write to the file that the part before the NUL names.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "the path has a NUL character: \(String(reflecting: filePath))")
        }
        try checkVacuumTarget(options.acceptsURIs ? FileKind.filePath(filePath) : filePath)
        try Self.createFile(filePath, options)
        try execute(sql: "VACUUM INTO ?", arguments: [filePath])
    }

    /// Throws if the copy would take the place of a database's file, or if SQLite would apply a journal to it.
    private func checkVacuumTarget(_ path: String) throws {
        let (place, files) = (FilePlace(path), FileOperations())
        // SQLite itself refuses a file with content, and a folder that is missing.
        guard let status = try? files.status(place.path) ?? files.status(FileOperations.folder(of: place.path)),
            status.kind == .folder || status.byteCount == 0
        else { return }
        let operation = "vacuum of \(description) into \(path)"
        try BackupTarget.check(place, isNoFileOf: mainFilePath, operation)
        try BackupTarget.check(place, files, operation)
    }
}

extension Database {
    /// Throws `SQLITE_CORRUPT` if a check finds a problem.
    package func pass(_ check: BackupCheck, _ operation: String) throws {
        let problems: [String]
        switch check {
        case .none: return
        case .quick: problems = try quickCheck(of: "main", maximumCount: 1)
        case .integrity: problems = try integrityCheck(of: "main", maximumCount: 1)
        }
        guard let problem = problems.first else { return }
        throw DatabaseError(
            resultCode: .SQLITE_CORRUPT, message: "\(operation): the check has found a problem: \(problem)")
    }
}
