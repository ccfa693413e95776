import BenchSupport
import Foundation
import Quarry
import QuarryIncrementalWrites
import Synchronization

/// Rows 13: the import of the example, with its calls of the library.
enum CatalogWorkloads {
    static func workload(for task: BenchTask, _ fixtures: Fixtures) throws -> Workload? {
        switch task {
        case .importCatalog: try importCatalog(path: nil)
        case .importCatalogOnDisk: try importCatalog(path: { fixtures.newDiskPath() })
        default: nil
        }
    }

    private static func importCatalog(path: (@Sendable () -> String)?) throws -> Workload {
        let file = try CatalogFile(path)
        return Workload(
            .async { range in
                var start = range.lowerBound
                while start < range.upperBound {
                    let end = min(start + CatalogData.packagesPerWrite, range.upperBound)
                    try await store(CatalogData.packages[start..<end], in: file)
                    start = end
                }
                return range.count
            }, finish: { try file.finish() })
    }

    /// One transaction, as in C, however slow the machine is: its allocations are counted.
    private static let pace = IncrementalWritePace(maximumHold: .seconds(3_600))

    private static func store(_ packages: ArraySlice<CatalogData.Package>, in file: CatalogFile) async throws {
        let first = packages.startIndex
        try await file.database.writeIncrementally(pace) { step in
            try file.writer.withLock { writer in
                if step.isNewTransaction { writer.transactionDidBegin() }
                let start = first + step.index * CatalogData.packagesPerStep
                let end = min(start + CatalogData.packagesPerStep, packages.endIndex)
                try writer.store(packages[start..<end], in: step.db)
                return end == packages.endIndex ? .done : .next
            }
        }
    }
}

/// A database with the tables of the example, made anew after each pass.
///
/// Unchecked: one client uses it.
private final class CatalogFile: @unchecked Sendable {
    private let newPath: (@Sendable () -> String)?
    private var path: String?
    private(set) var database: any DatabaseWriter
    let writer = Mutex(CatalogPackageWriter())

    init(_ newPath: (@Sendable () -> String)?) throws {
        self.newPath = newPath
        (database, path) = try Self.open(newPath)
    }

    deinit { remove() }

    private static func open(_ newPath: (@Sendable () -> String)?) throws -> (any DatabaseWriter, String?) {
        var configuration = Configuration()
        configuration.temporaryStorage = .memory
        configuration.cacheSize = 8 << 20
        let path = newPath?()
        let database: any DatabaseWriter =
            if let path {
                try DatabasePool(path: path, configuration: configuration)
            } else {
                try DatabaseQueue(configuration: configuration)
            }
        try database.write { db in
            try db.execute(sql: CatalogSQL.schema)
            try db.execute(sql: "INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0); \(CatalogSQL.insertImport)")
        }
        return (database, path)
    }

    func finish() throws -> Int {
        let checksum = try database.read { db in try Int.fetchOne(db, sql: CatalogSQL.checksum) ?? 0 }
        try database.close()
        remove()
        (database, path) = try Self.open(newPath)
        writer.withLock { $0 = CatalogPackageWriter() }
        return checksum
    }

    private func remove() {
        guard let path else { return }
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
}

private protocol CatalogText: Codable, MutablePersistableRecord {
    var id: Int64? { get set }
    init(id: Int64?, name: String)
}

extension CatalogText {
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private struct CatalogName: CatalogText {
    static let databaseTableName = "names"
    var id: Int64?
    var name: String
}

private struct CatalogSection: CatalogText {
    static let databaseTableName = "sections"
    var id: Int64?
    var name: String
}

private struct CatalogMaintainer: CatalogText {
    static let databaseTableName = "maintainers"
    var id: Int64?
    var name: String
}

private struct CatalogImport: TableRecord {
    static let databaseTableName = "imports"

    enum Columns {
        static let id = Column("id")
        static let packages = Column("packages")
        static let rows = Column("rows")
        static let bytesRead = Column("bytes_read")
    }
}

private struct CatalogAlternative: Codable, PersistableRecord {
    static let databaseTableName = "dependencies"
    static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
    var packageId: Int64
    var position, alternative: Int
    var kind: String
    var targetId: Int64
    var qualifier, relation, version, architectures, profiles: String?
}

private struct CatalogPackageWriter {
    private var names = CatalogTexts<CatalogName>()
    private var sections = CatalogTexts<CatalogSection>()
    private var maintainers = CatalogTexts<CatalogMaintainer>()
    private var packageCount = 0
    private var rowCount = 0

    mutating func transactionDidBegin() {
        names = CatalogTexts()
        sections = CatalogTexts()
        maintainers = CatalogTexts()
    }

    mutating func store(_ packages: ArraySlice<CatalogData.Package>, in db: Database) throws {
        let upsert = try db.cachedStatement(sql: CatalogSQL.upsertPackage)
        for package in packages { try store(package, by: upsert, in: db) }
        packageCount += packages.count
        _ = try CatalogImport.filter { $0.id == 1 }.updateAll(db) {
            [$0.packages.set(to: packageCount), $0.rows.set(to: rowCount), $0.bytesRead.set(to: 0)]
        }
    }

    private mutating func store(_ package: CatalogData.Package, by upsert: Statement, in db: Database) throws {
        let row = try Row.fetchOne(
            upsert,
            arguments: [
                try names.id(of: package.name, in: db), package.architecture, package.version, "available",
                try sections.id(of: package.section, in: db), try maintainers.id(of: package.maintainer, in: db),
                package.installedSize, package.downloadSize, package.summary, nil, 1,
            ])
        guard let row, try row.decode(Int.self, forColumn: "revision") == 1 else {
            throw DatabaseError(message: "a package twice")
        }
        let packageID = try row.decode(Int64.self, forColumn: "id")
        let records = try package.mentions.map { mention in
            CatalogAlternative(
                packageId: packageID, position: mention.position, alternative: mention.alternative,
                kind: mention.kind, targetId: try names.id(of: mention.target, in: db), relation: mention.relation,
                version: mention.version)
        }
        rowCount += try 1 + CatalogAlternative.insertAll(db, records)
    }
}

private struct CatalogTexts<Text: CatalogText> {
    private var ids: [String: Int64] = [:]

    mutating func id(of text: String, in db: Database) throws -> Int64 {
        if let known = ids[text] { return known }
        let search = try db.cachedStatement(sql: CatalogSQL.search(Text.databaseTableName))
        let id: Int64
        if let found = try Int64.fetchOne(search, arguments: [text]) {
            id = found
        } else {
            id = try Text(id: nil, name: text).inserted(db).id!
        }
        ids[text] = id
        return id
    }
}
