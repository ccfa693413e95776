import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file beside its target that a backup or a salvage writes, until it is complete.
///
/// ```
/// players.sqlite                                  the target
/// .players.sqlite.9f86d081884c7d65.partial        a backup that runs, or was killed
/// ```
///
/// A running backup has a lock on its file, which the system releases if the process is killed: so the next backup
/// knows which files nobody completes any more.
package final class PartialFile: Sendable {
    package let path: String
    private let target: BackupTarget
    private let file: FileOperations.Descriptor

    /// Makes an empty file.
    ///
    /// - parameter permissions: of the file; nil for those that the process gives to new files.
    package init(_ target: BackupTarget, permissions: UInt16?) throws {
        self.target = target
        let files = target.files
        (path, file) = try target.calling {
            while true {
                let number = UInt64.random(in: UInt64.min...UInt64.max)
                let digits = String(number, radix: 16)
                let name = ".\(target.name).\(String(repeating: "0", count: 16 - digits.count))\(digits)\(Self.suffix)"
                let path = target.folder == "" ? name : target.folder == "/" ? "/\(name)" : "\(target.folder)/\(name)"
                let file = try files.create(path, permissions: permissions ?? 0o644)
                do {
                    if let permissions { try files.setPermissions(permissions, of: file, path) }
                    // Another backup may have taken the file for a leftover before it was locked.
                    if try files.lock(file, path) ?? true, try files.status(path) != nil { return (path, file) }
                } catch {
                    try? files.remove(path)
                    throw error
                }
            }
        }
    }

    private static let suffix = ".partial"

    /// The files that SQLite may make beside it.
    private static let companions = ["-journal", "-wal", "-shm"]

    /// Waits until the file is on the disk, and gives it the name of the target.
    ///
    /// - throws: `DatabaseError`: the target is as it was, unless the names in the folder could not be synced after a
    ///   file was replaced.
    package func publish(replacesExisting: Bool) throws {
        let files = target.files
        try target.calling {
            try files.sync(file, path)
            if replacesExisting {
                try files.rename(path, to: target.path)
                return try files.syncFolder(target.folderPath)
            }
            do {
                try files.publish(path, as: target.path, in: target.folderPath)
            } catch let failure as FileOperations.Failure where failure.isOfTakenName {
                throw target.existsAlready()
            }
        }
    }

    /// Removes the files that SQLite has made beside it, once it is closed.
    package func removeCompanions() throws {
        for companion in Self.companions { try target.files.remove(path + companion) }
    }

    /// Removes the file.
    package func discard() {
        for companion in Self.companions + [""] { try? target.files.remove(path + companion) }
    }

    /// Removes the files of backups and salvages that were killed, as far as possible.
    ///
    /// - parameter isTarget: whether a name is the name of a target.
    package static func removeLeftovers(in folder: String, _ files: FileOperations, of isTarget: (String) -> Bool) {
        for name in (try? files.list(folder)) ?? [] {
            guard name.hasPrefix("."), name.hasSuffix(suffix) else { continue }
            let parts = name.dropFirst().dropLast(suffix.count)
            guard let dot = parts.lastIndex(of: "."), isTarget(String(parts[..<dot])),
                parts[parts.index(after: dot)...].utf8.count == 16
            else { continue }
            // A leftover that can't be removed keeps neither the others nor the next backup.
            try? removeLeftover(folder + "/" + name, files)
        }
    }

    private static func removeLeftover(_ path: String, _ files: FileOperations) throws {
        guard let file = try files.open(toLock: path), try files.lock(file, path) ?? false else { return }
        // The companions first: without the file, nothing would find them.
        for companion in companions + [""] { try files.remove(path + companion) }
    }
}
