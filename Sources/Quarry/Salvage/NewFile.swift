import QuarryCore

/// A database that is written under another name, and has its own name once it is complete.
struct NewFile {
    let target: String
    /// The path under which it is written.
    let path: String
    private let files: FileOperations
    private let operation: String

    /// - throws: `SQLITE_CANTOPEN` if a file exists.
    init(for target: String, _ files: FileOperations) throws {
        self.target = target
        self.files = files
        path = "\(target)-salvage-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        operation = "salvage into \(target)"
        guard !target.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the path has a NUL character: \(String(reflecting: target))")
        }
        guard try calling({ try files.exists(target) }) else { return }
        throw existsAlready()
    }

    /// Gives the file its name, if no other file has it. A power failure leaves the file with or without the name.
    func publish() throws {
        try calling {
            do {
                try files.publish(path, as: target, in: FileOperations.folder(of: target))
            } catch let failure as FileOperations.Failure where failure.isOfTakenName {
                throw existsAlready()
            }
        }
    }

    /// Removes the file, unless it has its name.
    func remove() {
        for suffix in ["-journal", "-wal", "-shm", ""] { try? files.remove(path + suffix) }
    }

    private func calling<T>(_ body: () throws -> T) throws -> T { try BackupTarget.calling(operation, body) }

    private func existsAlready() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CANTOPEN, message: "a database can't be salvaged into \(target), which exists already")
    }
}
