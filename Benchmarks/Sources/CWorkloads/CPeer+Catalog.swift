import BenchSupport
import CSQLiteBench
import Dispatch
import Foundation

/// Rows 13: the import of the example, by statements that are prepared once.
extension CPeer {
    static func importCatalog(path: (@Sendable () -> String)?) throws -> Workload {
        let catalog = try CatalogFile(path)
        return Workload(
            .sync { range in
                var start = range.lowerBound
                while start < range.upperBound {
                    let end = min(start + CatalogData.packagesPerWrite, range.upperBound)
                    try catalog.store(start..<end)
                    start = end
                }
                return range.count
            }, finish: { try catalog.finish() })
    }
}

/// A database with the tables of the example, made anew after each pass.
///
/// Unchecked: one client uses it.
private final class CatalogFile: @unchecked Sendable {
    private let newPath: (@Sendable () -> String)?
    private var path: String?
    private var connection: Connection
    private var names = Texts("names")
    private var sections = Texts("sections")
    private var maintainers = Texts("maintainers")
    private var packageCount = 0
    private var rowCount = 0

    init(_ newPath: (@Sendable () -> String)?) throws {
        self.newPath = newPath
        (connection, path) = try Self.open(newPath)
    }

    deinit { remove() }

    private static func open(_ newPath: (@Sendable () -> String)?) throws -> (Connection, String?) {
        let path = newPath?()
        let connection = try Connection(path ?? ":memory:")
        try connection.execute(path == nil ? CatalogSQL.settings : CatalogSQL.walSettings)
        try connection.execute("BEGIN; \(CatalogSQL.schema); INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0); COMMIT")
        try connection.execute(CatalogSQL.insertImport)
        return (connection, path)
    }

    func finish() throws -> Int {
        let checksum = try connection.integer(CatalogSQL.checksum)
        remove()
        (connection, path) = try Self.open(newPath)
        (packageCount, rowCount) = (0, 0)
        return checksum
    }

    private func remove() {
        guard let path else { return }
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Stores packages in steps; a transaction ends when it has taken long enough.
    func store(_ range: Range<Int>) throws {
        var start = range.lowerBound
        while start < range.upperBound {
            try connection.run(connection.cached("BEGIN IMMEDIATE TRANSACTION"))
            let beginning = DispatchTime.now().uptimeNanoseconds
            names.forget()
            sections.forget()
            maintainers.forget()
            repeat {
                let end = min(start + CatalogData.packagesPerStep, range.upperBound)
                for number in start..<end { try store(CatalogData.packages[number]) }
                try updateImport(count: end - start)
                start = end
            } while start < range.upperBound
                && DispatchTime.now().uptimeNanoseconds - beginning < CatalogData.longestHold
            try connection.run(connection.cached("COMMIT TRANSACTION"))
        }
    }

    private func store(_ package: CatalogData.Package) throws {
        let nameID = try names.id(of: package.name, connection)
        let sectionID = try sections.id(of: package.section, connection)
        let maintainerID = try maintainers.id(of: package.maintainer, connection)
        let upsert = try connection.cached(CatalogSQL.upsertPackage)
        sqlite3_bind_int64(upsert, 1, nameID)
        _ = bindText(package.architecture, to: upsert, at: 2)
        _ = bindText(package.version, to: upsert, at: 3)
        _ = bindText("available", to: upsert, at: 4)
        sqlite3_bind_int64(upsert, 5, sectionID)
        sqlite3_bind_int64(upsert, 6, maintainerID)
        sqlite3_bind_int64(upsert, 7, Int64(package.installedSize))
        sqlite3_bind_int64(upsert, 8, Int64(package.downloadSize))
        _ = bindText(package.summary, to: upsert, at: 9)
        sqlite3_bind_null(upsert, 10)
        sqlite3_bind_int64(upsert, 11, 1)
        guard try connection.step(upsert) else { throw connection.failure(SQLITE_EMPTY) }
        let packageID = sqlite3_column_int64(upsert, 0)
        guard sqlite3_column_int64(upsert, 1) == 1 else { throw connection.failure(SQLITE_CONSTRAINT) }
        try connection.run(upsert)
        let insert = try connection.cached(CatalogSQL.insertDependency)
        for mention in package.mentions {
            let targetID = try names.id(of: mention.target, connection)
            sqlite3_bind_int64(insert, 1, packageID)
            sqlite3_bind_int64(insert, 2, Int64(mention.position))
            sqlite3_bind_int64(insert, 3, Int64(mention.alternative))
            _ = bindText(mention.kind, to: insert, at: 4)
            sqlite3_bind_int64(insert, 5, targetID)
            sqlite3_bind_null(insert, 6)
            bind(mention.relation, to: insert, at: 7)
            bind(mention.version, to: insert, at: 8)
            sqlite3_bind_null(insert, 9)
            sqlite3_bind_null(insert, 10)
            try connection.run(insert)
        }
        rowCount += 1 + package.mentions.count
    }

    private func bind(_ text: String?, to statement: OpaquePointer, at index: Int32) {
        if let text { _ = bindText(text, to: statement, at: index) } else { sqlite3_bind_null(statement, index) }
    }

    private func updateImport(count: Int) throws {
        packageCount += count
        let update = try connection.cached(CatalogSQL.updateImport)
        sqlite3_bind_int64(update, 1, Int64(packageCount))
        sqlite3_bind_int64(update, 2, Int64(rowCount))
        sqlite3_bind_int64(update, 3, 0)
        sqlite3_bind_int64(update, 4, 1)
        try connection.run(update)
    }
}

/// The ids of texts that are stored once.
private struct Texts {
    private let search, insert: String
    private var ids: [String: Int64] = [:]

    init(_ table: String) {
        search = CatalogSQL.search(table)
        insert = CatalogSQL.insert(table)
    }

    mutating func forget() { ids = [:] }

    mutating func id(of text: String, _ connection: Connection) throws -> Int64 {
        if let known = ids[text] { return known }
        let search = try connection.cached(search)
        _ = bindText(text, to: search, at: 1)
        let id: Int64
        if try connection.step(search) {
            id = sqlite3_column_int64(search, 0)
        } else {
            let insert = try connection.cached(insert)
            _ = bindText(text, to: insert, at: 1)
            try connection.run(insert)
            id = sqlite3_last_insert_rowid(connection.handle)
        }
        sqlite3_reset(search)
        ids[text] = id
        return id
    }
}
