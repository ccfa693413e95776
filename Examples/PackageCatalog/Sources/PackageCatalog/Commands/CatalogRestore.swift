import Foundation
import Quarry
import QuarryRecovery

/// `catalog restore` without its command line: replaces the content of the catalogue by that of a backup.
public struct CatalogRestore: Sendable {
    private let database: String?
    private let source: String
    private let console: Console

    /// A restoration that hasn't begun, which writes to a console when it does.
    ///
    /// - parameters:
    ///   - database: nil for the file in the temporary directory. It is created if it is missing.
    ///   - source: a backup; or a folder of backups, for the newest one that passes a check.
    public init(database: String? = nil, source: String, console: Console) {
        self.database = database
        self.source = source
        self.console = console
    }

    /// Runs, and reports an error in one line on standard error. After an error the catalogue is as it was.
    ///
    /// - returns: the exit status: 0; 1 after an error; 130 if the task was cancelled.
    public func run() async -> Int32 {
        await console.reportingErrors(database: database) { path in try await run(path: path) }
    }

    private func run(path: String) async throws {
        let backup = try await backup(ofCatalog: path)
        switch try await Catalog.content(ofFile: backup) {
        case .catalog: break
        case .empty: throw CatalogError.empty(path: backup)
        case .newerCatalog: throw CatalogError.newerCatalog(path: backup)
        case .foreign: throw CatalogError.foreignDatabase(path: backup)
        }
        let line = StatusLine(console)
        line.begin()
        defer { line.finish() }
        line.show { _ in "restoring \(path) from \(backup)" }
        if FileManager.default.fileExists(atPath: path) {
            try await replaceContent(of: path, by: backup)
        } else {
            // A copy appears as a whole: a restoration into a new file would leave an empty one if it were interrupted.
            let queue = try await Catalog.openFile(path: backup)
            _ = try await DatabaseCopy.make(of: queue, to: path, false, showing: line)
            try await queue.closeAsync()
        }
        line.finish()
        // Brings the tables of an old backup up to date.
        let catalog = try await Catalog.open(path: path)
        console.output("Restored \(path) from \(backup)\n  \(try await catalog.counts().line)\n")
        try await catalog.close()
    }

    private func replaceContent(of path: String, by backup: String) async throws {
        do {
            // One of a newer version may be replaced: that is the way back to this one.
            guard try await Catalog.content(ofFile: path) != .foreign else {
                throw CatalogError.foreignDatabase(path: path)
            }
        } catch CatalogError.damaged(path, let reason) {
            throw CatalogError.failed(
                reason: "\(path): is damaged: \(reason); move it away, with its -wal, and restore again")
        }
        let pool = try await DatabasePool.open(path: path)
        try await CatalogError.naming { try await pool.restore(from: backup) }
        try await pool.closeAsync()
    }

    /// The file to restore from.
    private func backup(ofCatalog path: String) async throws -> String {
        guard let isFolder = FileManager.default.isFolder(source) else { throw CatalogError.missing(path: source) }
        guard isFolder else { return source }
        let folder = BackupFolder(path: source, nameOfCatalog: path)
        guard let newest = try await CatalogError.naming({ try await folder.newestGood() }) else {
            throw CatalogError.noGoodBackup(folder: source, name: folder.name)
        }
        return newest.path
    }
}
