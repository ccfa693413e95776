import Quarry
public import QuarryIncrementalWrites

/// The events of a running import.
public enum ImportEvent: Sendable, Equatable {
    case malformed(file: String, MalformedStanza)
    /// Packages have been committed.
    case stored(ImportProgress)
}

/// Brings control files into a catalogue, in batches whose steps let other accesses in between.
///
///     let importer = Importer(catalog: catalog, batchSize: 500)
///     let result = try await importer.run([try await ControlFile("/var/lib/dpkg/status")]) { event in … }
///
/// Memory is bounded: a batch ends with its last package, or sooner if its packages are large.
///
/// Parsing happens outside of transactions, so the catalogue's writer is held only for as long as rows are written. An
/// error or a cancellation costs the open transaction and nothing else; so does the end of the process.
///
/// Of a file that is half imported, readers see some packages as the file has them, others as they were before, and
/// those that the file no longer has: these are removed at the end. The next import of the file begins with its first
/// package, and repairs all of that. At the end, the statistics of SQLite's query planner are updated.
public struct Importer: Sendable {
    let catalog: Catalog
    let batchSize: Int
    let pace: IncrementalWritePace

    /// A batch ends when its packages weigh more bytes, however few they are.
    static let maximumBatchWeight = 4 << 20

    public init(catalog: Catalog, batchSize: Int = 500, pace: IncrementalWritePace = Catalog.importPace) {
        self.catalog = catalog
        self.batchSize = max(batchSize, 1)
        self.pace = pace
    }

    /// - parameter onEvent: called in the order of events, by the task that imports.
    /// - throws: `CatalogError.unreadableInput`, `DatabaseError`, `CancellationError`.
    public func run(
        _ sources: [any ControlFileSource], onEvent: @escaping (ImportEvent) -> Void
    ) async throws -> ImportProgress {
        var run = ImportRun(importer: self, onEvent: onEvent)
        let sizes = sources.map(\.byteCount)
        run.progress.byteCount = sizes.contains(nil) ? nil : sizes.compactMap(\.self).reduce(0, +)
        for source in sources { try await run.add(source) }
        try await catalog.updateStatistics()
        return run.progress
    }
}

private struct ImportRun {
    let importer: Importer
    let onEvent: (ImportEvent) -> Void
    var progress = ImportProgress()
    private let start = ContinuousClock.now
    private var pending: [Package] = []
    private var pendingWeight = 0

    private var catalog: Catalog { importer.catalog }

    init(importer: Importer, onEvent: @escaping (ImportEvent) -> Void) {
        self.importer = importer
        self.onEvent = onEvent
    }

    mutating func add(_ source: any ControlFileSource) async throws {
        let importID = try await catalog.beginImport(of: source.name)
        let skippedBefore = progress.skipped
        var parser = ControlFileParser(keeping: Package.fieldNames)
        let bytesBefore = progress.bytesRead
        try await source.read { block in
            progress.bytesRead = bytesBefore + block.bytesRead
            try await take(parser.parse(block.text), of: source, importID: importID)
        }
        try await take(parser.finish(), of: source, importID: importID)
        try await storeBatch(importID)
        // A package may be absent because its stanza is malformed: then it stays as it was.
        let isWhole = progress.skipped == skippedBefore
        progress.removed += try await catalog.finishImport(importID, removingAbsent: isWhole)
    }

    private mutating func take(
        _ items: [ControlFileParser.Item], of source: any ControlFileSource, importID: Int64
    ) async throws {
        for item in items {
            do throws(MalformedStanza) {
                let package = try Package(stanza: try item.get())
                pending.append(package)
                pendingWeight += package.weight
            } catch {
                progress.skipped += 1
                onEvent(.malformed(file: source.name, error))
            }
            if pending.count == importer.batchSize || pendingWeight > Importer.maximumBatchWeight {
                try await storeBatch(importID)
            }
        }
    }

    private mutating func storeBatch(_ importID: Int64) async throws {
        guard !pending.isEmpty else { return }
        defer {
            progress.elapsed = .now - start
            onEvent(.stored(progress))
        }
        try await catalog.store(pending, import: importID, progress: &progress, pace: importer.pace)
        pending.removeAll(keepingCapacity: true)
        pendingWeight = 0
    }
}
