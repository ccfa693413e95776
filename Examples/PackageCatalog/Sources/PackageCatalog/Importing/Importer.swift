/// The events of a running import.
enum ImportEvent: Sendable, Equatable {
    case malformed(file: String, MalformedStanza)
    /// A batch has been committed.
    case stored(ImportProgress)
}

/// Brings control files into a catalogue, one transaction for each batch.
///
///     let importer = Importer(catalog: catalog, batchSize: 500)
///     let result = try await importer.run([ControlFile("/var/lib/dpkg/status")]) { event in … }
///
/// Parsing happens outside of transactions, so the catalogue's writer is held only for as long as rows are written, and
/// an error or a cancellation costs the batch in progress and nothing else.
struct Importer: Sendable {
    let catalog: Catalog
    let batchSize: Int

    init(catalog: Catalog, batchSize: Int = 500) {
        self.catalog = catalog
        self.batchSize = max(batchSize, 1)
    }

    /// - parameter onEvent: called in the order of events, by the task that imports.
    /// - throws: `CatalogError.unreadableInput`, `DatabaseError`, `CancellationError`.
    func run(
        _ sources: [any ControlFileSource], onEvent: @escaping (ImportEvent) -> Void
    ) async throws -> ImportProgress {
        var run = ImportRun(catalog: catalog, batchSize: batchSize, onEvent: onEvent)
        let sizes = sources.map(\.byteCount)
        run.progress.byteCount = sizes.contains(nil) ? nil : sizes.compactMap(\.self).reduce(0, +)
        for source in sources { try await run.add(source) }
        return run.progress
    }
}

private struct ImportRun {
    let catalog: Catalog
    let batchSize: Int
    let onEvent: (ImportEvent) -> Void
    var progress = ImportProgress()
    private let start = ContinuousClock.now
    private var pending: [Package] = []

    init(catalog: Catalog, batchSize: Int, onEvent: @escaping (ImportEvent) -> Void) {
        self.catalog = catalog
        self.batchSize = batchSize
        self.onEvent = onEvent
    }

    mutating func add(_ source: any ControlFileSource) async throws {
        let importID = try await catalog.beginImport(of: source.name)
        let skippedBefore = progress.skipped
        var parser = ControlFileParser(keeping: Package.fieldNames)
        while let block = try await source.nextBlock() {
            progress.bytesRead += block.count
            try await take(parser.parse(block), of: source, importID: importID)
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
                pending.append(try Package(stanza: try item.get()))
            } catch {
                progress.skipped += 1
                onEvent(.malformed(file: source.name, error))
            }
            if pending.count == batchSize { try await storeBatch(importID) }
        }
    }

    private mutating func storeBatch(_ importID: Int64) async throws {
        guard !pending.isEmpty else { return }
        let stored = try await catalog.store(pending, import: importID, after: progress)
        progress.packages += pending.count
        progress.added += stored.added
        progress.updated += stored.updated
        progress.rows += stored.rows
        progress.batches += 1
        progress.elapsed = .now - start
        pending.removeAll(keepingCapacity: true)
        onEvent(.stored(progress))
    }
}
