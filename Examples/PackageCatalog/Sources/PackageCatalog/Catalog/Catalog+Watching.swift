import Quarry

/// The progress of a program that imports: the sums of all its files.
struct StoredProgress: CatalogRow {
    var packages, rows, bytesRead: Int
    /// Nil where one of the files is a pipe.
    var byteCount: Int?
}

extension Catalog {
    /// The counts, now and whenever they change.
    ///
    ///     for try await counts in catalog.liveCounts() { print(counts.packages) }
    ///
    /// A slow reader misses values, never the last one.
    func liveCounts() -> AsyncValueObservation<CatalogCounts> {
        ValueObservation.tracking(CatalogCounts.fetch).removeDuplicates().values(in: database)
    }

    /// The progress of the imports that begin after this call.
    func importProgress() async throws -> AsyncValueObservation<StoredProgress?> {
        let last = try await database.read { db in
            try Int64.fetchOne(db, ImportRecord.select { max($0.id) }) ?? 0
        }
        let latest = ImportRecord.filter { $0.id > last }.order(\.id.desc).asRequest(of: StoredProgress.self)
        return ValueObservation.tracking { db in try latest.fetchOne(db) }.removeDuplicates().values(in: database)
    }
}
