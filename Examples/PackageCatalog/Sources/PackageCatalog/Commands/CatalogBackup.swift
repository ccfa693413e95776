import Foundation
import Quarry
import QuarryRecovery
import Synchronization

/// `catalog backup` without its command line: copies the catalogue into a file, or into a folder of dated backups.
/// Imports go on meanwhile.
public struct CatalogBackup: Sendable {
    private let database: String?
    private let target: String
    private let replacesExisting: Bool
    private let keptCount: Int?
    private let console: Console

    /// A backup that hasn't begun, which writes to a console when it does.
    ///
    /// - parameters:
    ///   - database: nil for the file in the temporary directory.
    ///   - target: a file; or an existing folder, in which the backup is named by its time.
    ///   - replacesExisting: whether a file that exists is replaced.
    ///   - keptCount: how many backups a folder keeps; nil for all.
    public init(
        database: String? = nil, target: String, replacesExisting: Bool = false, keptCount: Int? = nil,
        console: Console
    ) {
        self.database = database
        self.target = target
        self.replacesExisting = replacesExisting
        self.keptCount = keptCount
        self.console = console
    }

    /// Runs, and reports an error in one line on standard error.
    ///
    /// - returns: the exit status: 0; 1 after an error; 130 if the task was cancelled.
    public func run() async -> Int32 {
        await console.reportingErrors(database: database) { path in try await run(path: path) }
    }

    private func run(path: String) async throws {
        let isFolder = FileManager.default.isFolder(target)
        if isFolder == false && !replacesExisting {
            throw CatalogError.existing(path: target, advice: "--replace replaces it")
        }
        if isFolder != true, keptCount != nil { throw CatalogError.failed(reason: "\(target): --keep needs a folder") }
        let source = try await Catalog.openFile(path: path)
        let line = StatusLine(console)
        line.begin()
        defer { line.finish() }
        let copy: DatabaseCopy
        var removed: [StoredBackup] = []
        if isFolder == true {
            let folder = BackupFolder(path: target, nameOfCatalog: path)
            copy = try await DatabaseCopy.make(showing: line) { progress in
                let backup: StoredBackup = try await folder.makeBackup(of: source, progress: progress)
                return (backup.path, backup.byteCount)
            }
            if let keptCount {
                removed = try await CatalogError.naming {
                    try await folder.prune(keeping: BackupRetention(count: keptCount))
                }
            }
        } else {
            copy = try await DatabaseCopy.make(of: source, to: target, replacesExisting, showing: line)
        }
        line.finish()
        try await source.closeAsync()
        console.output("Backed up \(path) into \(copy)\n")
        for backup in removed { console.output("  removed \(backup.path)\n") }
    }
}

/// A complete copy of a database.
struct DatabaseCopy: Sendable {
    let path: String
    let byteCount: Int
    let pageCount: Int
    let duration: Duration

    /// Copies a database into a file, and shows the progress.
    ///
    /// - throws: `CatalogError.failed`, `CancellationError`. Then nothing is left of the copy.
    static func make(
        of database: some DatabaseReader, to path: String, _ replacesExisting: Bool, showing line: StatusLine
    ) async throws -> DatabaseCopy {
        var options = BackupOptions()
        options.replacesExisting = replacesExisting
        return try await make(showing: line) { [options] progress in
            let backup = try await database.backup(toFile: path, options: options, progress: progress)
            return (backup.path, backup.byteCount)
        }
    }

    /// Runs a backup, and shows its progress.
    ///
    /// - parameter backUp: returns the path of the copy and its size in bytes.
    static func make(
        showing line: StatusLine,
        _ backUp: (@escaping @Sendable (DatabaseBackupProgress) -> Void) async throws -> (String, Int)
    ) async throws -> DatabaseCopy {
        let start = ContinuousClock.now
        let pageCount = Mutex(0)
        let (path, byteCount) = try await CatalogError.naming {
            try await backUp { progress in
                pageCount.withLock { $0 = progress.totalPageCount }
                let pages = PageProgress(completed: progress.completedPageCount, total: progress.totalPageCount)
                line.show { elapsed in pages.line(after: elapsed) }
            }
        }
        return DatabaseCopy(
            path: path, byteCount: byteCount, pageCount: pageCount.withLock(\.self), duration: .now - start)
    }
}

extension DatabaseCopy: CustomStringConvertible {
    /// `c.sqlite: 1,024 pages, 4.0 MiB, in 31.2 ms`
    var description: String {
        "\(path): \(pageCount.grouped) pages, \(byteCount.asBytes), in \(duration.asMeasured)"
    }
}

extension BackupFolder {
    /// The backups of a catalogue: named by its file, so that a folder may have those of several ones.
    init(path: String, nameOfCatalog file: String) {
        self.init(path: path, name: URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent)
    }
}
