import Foundation
import Quarry

/// The catalogue of packages: the one type that knows its tables.
///
/// It holds the database and nothing else, so any number of tasks may share it.
///
///     let catalog = try await Catalog.open(path: "catalog.sqlite")
///     let largest = try await catalog.largestPackages(limit: 10)
struct Catalog: Sendable {
    let database: any DatabaseWriter

    /// A catalogue in an open database, whose tables are created, or brought up to date.
    ///
    /// - throws: `CatalogError.foreignDatabase` if there are other tables in it.
    init(_ database: any DatabaseWriter, path: String = ":memory:") async throws {
        self.database = database
        try await database.read { db in try Self.refuseForeignContent(of: db, path: path) }
        try await CatalogSchema.migrator.migrate(database) { _ in }
    }

    /// Opens or creates a catalogue in a file.
    ///
    /// - parameter maximumPages: how many pages the file may have, for trying what a full disk does:
    ///   <https://www.sqlite.org/pragma.html#pragma_max_page_count>.
    /// - throws: `CatalogError` for a file that is no catalogue, `DatabaseError` for what SQLite refuses.
    static func open(path: String, readers: Int = 2, maximumPages: Int? = nil) async throws -> Catalog {
        try await refuseForeignFile(path)
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
        return try await Catalog(DatabasePool(path: path, configuration: configuration), path: path)
    }

    /// Moves what is in the write-ahead log into the file, and closes it.
    func close() async throws {
        try await database.barrierWriteWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try database.close()
    }

    /// A pool switches its file to WAL mode, so a file that isn't ours is looked at before, through a connection that
    /// can't write.
    private static func refuseForeignFile(_ path: String) async throws {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return }
        if attributes[.type] as? FileAttributeType == .typeDirectory {
            throw CatalogError.unwritable(path: path, reason: "it is a directory")
        }
        if attributes[.size] as? Int == 0 { return }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try await queue.read { db in try refuseForeignContent(of: db, path: path) }
        try queue.close()
    }

    private static func refuseForeignContent(of db: Database, path: String) throws {
        switch try CatalogSchema.content(of: db) {
        case .empty, .catalog: break
        case .newerCatalog: throw CatalogError.newerCatalog(path: path)
        case .foreign: throw CatalogError.foreignDatabase(path: path)
        }
    }
}
