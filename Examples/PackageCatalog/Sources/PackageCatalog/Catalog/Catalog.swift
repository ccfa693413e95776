internal import Foundation
public import Quarry

/// The catalogue of packages: the one type that knows its tables.
///
/// It holds the database and which file that is, so any number of tasks may share it.
///
///     let catalog = try await Catalog.open(path: "catalog.sqlite")
///     let largest = try await catalog.largestPackages(limit: 10)
public struct Catalog: Sendable {
    /// The database, for observations and for services that close it.
    public let database: any DatabaseWriter

    /// The file that was opened; nil for a database in memory, or on a cluster.
    private let file: DatabaseFile?

    /// A catalogue in an open database, whose tables are created, or brought up to date.
    ///
    /// - throws: `CatalogError.foreignDatabase` if there are other tables in it.
    public init(_ database: any DatabaseWriter, path: String = ":memory:") async throws {
        self.database = database
        try Self.refuse(await database.read(CatalogSchema.content), path: path)
        try await CatalogSchema.migrator.migrate(database) { _ in }
        file = DatabaseFile(path)
    }

    /// Whether the file that was opened still has its path. Without it, SQLite goes on with a file that has no name:
    /// whatever is written is gone at the end of the process. <https://www.sqlite.org/howtocorrupt.html#unlink>
    public var isFileInPlace: Bool { file.map { DatabaseFile($0.path) == $0 } ?? true }

    /// Opens or creates a catalogue in a file.
    ///
    /// - parameter maximumPages: how many pages the file may have, for trying what a full disk does:
    ///   <https://www.sqlite.org/pragma.html#pragma_max_page_count>.
    /// - parameter configure: changes the configuration before the file is opened: a server bounds its accesses.
    /// - throws: `CatalogError` for a file that is no catalogue, `DatabaseError` for what SQLite refuses.
    public static func open(
        path: String, readers: Int = 2, maximumPages: Int? = nil, configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> Catalog {
        if FileManager.default.isFolder(path) == true {
            throw CatalogError.unwritable(path: path, reason: "it is a directory")
        }
        try refuse(await content(ofFile: path), path: path)
        var configuration = Configuration()
        configuration.label = "catalog"
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = max(readers, 1)
        // Each package is stored by a statement with triggers, which notes the pages that it would restore.
        configuration.temporaryStorage = .memory
        configuration.cacheSize = 8 << 20
        if let maximumPages {
            configuration.prepareDatabase { db in
                if !db.configuration.readonly { try db.execute(sql: "PRAGMA max_page_count = \(maximumPages)") }
            }
        }
        configure(&configuration)
        return try await Catalog(DatabasePool.open(path: path, configuration: configuration), path: path)
    }

    /// Opens the file of a catalogue as it is: of any version of this program, without creating or changing a table.
    ///
    /// The connection may write: the last one that closes a file in WAL mode has to remove the log.
    ///
    /// - throws: `CatalogError` for a file that is missing, or no catalogue.
    static func openFile(path: String) async throws -> DatabaseQueue {
        guard let isFolder = FileManager.default.isFolder(path) else { throw CatalogError.missing(path: path) }
        if isFolder { throw CatalogError.unreadableInput(path: path, reason: "it is a directory") }
        switch try await content(ofFile: path) {
        case .catalog, .newerCatalog: return try await DatabaseQueue.open(path: path)
        case .empty: throw CatalogError.empty(path: path)
        case .foreign: throw CatalogError.foreignDatabase(path: path)
        }
    }

    /// Moves what is in the write-ahead log into the file, and closes it. A cluster has neither.
    public func close() async throws {
        if file != nil {
            try await database.barrierWriteWithoutTransaction { db in
                try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
        try await database.closeAsync()
    }

    /// The content of a file; a missing one is empty.
    ///
    /// A pool switches its file to WAL mode. So a file that may not be ours is looked at through a connection that
    /// can't write.
    static func content(ofFile path: String) async throws -> CatalogSchema.Content {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return .empty }
        if attributes[.size] as? Int == 0 { return .empty }
        var configuration = Configuration()
        configuration.readonly = true
        do {
            let queue = try await DatabaseQueue.open(path: path, configuration: configuration)
            let content = try await queue.read(CatalogSchema.content)
            try await queue.closeAsync()
            return content
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
            throw CatalogError.unreadableInput(path: path, reason: error.reason)
        } catch let error as DatabaseError {
            throw CatalogError(error, path: path)
        }
    }

    /// Throws for a content that must not be touched.
    static func refuse(_ content: CatalogSchema.Content, path: String) throws {
        switch content {
        case .empty, .catalog: break
        case .newerCatalog: throw CatalogError.newerCatalog(path: path)
        case .foreign: throw CatalogError.foreignDatabase(path: path)
        }
    }
}

extension FileManager {
    /// Whether a path is that of a folder; nil if nothing has it.
    func isFolder(_ path: String) -> Bool? {
        var isFolder: ObjCBool = false
        return fileExists(atPath: path, isDirectory: &isFolder) ? isFolder.boolValue : nil
    }
}

/// Which file a path names.
private struct DatabaseFile: Equatable {
    let path: String
    private let device, number: UInt64

    /// Nil if there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.path = path
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
