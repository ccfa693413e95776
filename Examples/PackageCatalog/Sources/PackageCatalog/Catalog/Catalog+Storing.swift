import Quarry

/// The rows that a transaction wrote.
struct StoredBatch: Sendable, Equatable {
    var added = 0
    var updated = 0
    /// Rows written to all tables.
    var rows = 0
}

extension Catalog {
    /// Starts an import of a file, and returns its number: higher than that of every import before it.
    func beginImport(of source: String) async throws -> Int64 {
        try await database.write { db in
            try ImportRecord(source: source).inserted(db).id!
        }
    }

    /// Stores packages in one transaction: all of them, or after an error or a cancellation none. The same transaction
    /// notes how far the program has come, which `importProgress` tells.
    ///
    /// A package that the catalogue knows is updated in place: on a machine the one with the same name and
    /// architecture, in a list the one that has the same version, too.
    ///
    /// - parameter progress: what the program had stored before.
    func store(
        _ packages: [Package], import importID: Int64, after progress: ImportProgress = ImportProgress()
    ) async throws -> StoredBatch {
        try await database.write { db in
            var batch = try BatchWriter(db, importID: importID)
            for package in packages { try batch.store(package) }
            let rows = progress.rows + batch.stored.rows
            _ = try ImportRecord.filter { $0.id == importID }.updateAll(db) {
                [
                    $0.packages.set(to: progress.packages + packages.count), $0.rows.set(to: rows),
                    $0.bytesRead.set(to: progress.bytesRead), $0.byteCount.set(to: progress.byteCount),
                ]
            }
            return batch.stored
        }
    }

    /// Ends an import, and returns how many packages it removed.
    ///
    /// - parameter removingAbsent: whether packages that an earlier import found in the same file, and this one
    ///   didn't, are removed.
    func finishImport(_ importID: Int64, removingAbsent: Bool) async throws -> Int {
        try await database.write { db in
            var removed = 0
            if removingAbsent {
                let source = ImportRecord.filter { $0.id == importID }.select(\.source)
                let earlier = ImportRecord.filter { $0.id < importID && $0.source == source }.select(\.id)
                removed = try Package.filter { earlier.contains($0.importID) }.deleteAll(db)
            }
            try Self.deleteOrphans(db)
            return removed
        }
    }

    /// Deletes what nothing refers to any more.
    private static func deleteOrphans(_ db: Database) throws {
        let (package, mention) = (TableAlias<Package>(), TableAlias<AlternativeRecord>())
        try ImportRecord.filter { $0.id != ImportRecord.select { max($0.id) } }
            .joining(optional: ImportRecord.packages.aliased(package)).filter(!package.exists).deleteAll(db)
        try Section.joining(optional: Section.packages.aliased(package)).filter(!package.exists).deleteAll(db)
        try Maintainer.joining(optional: Maintainer.packages.aliased(package)).filter(!package.exists).deleteAll(db)
        try Name.joining(optional: Name.packages.aliased(package)).joining(optional: Name.mentions.aliased(mention))
            .filter(!package.exists && !mention.exists).deleteAll(db)
    }
}

/// The statements of a batch, and the row ids that its packages share.
///
/// The ids live no longer than the transaction: after a rollback they would name rows that don't exist.
private struct BatchWriter {
    private(set) var stored = StoredBatch()
    private let db: Database
    private let importID: Int64
    private let upsertPackage: Statement
    private var names: InternedTable<Name>
    private var sections: InternedTable<Section>
    private var maintainers: InternedTable<Maintainer>

    init(_ db: Database, importID: Int64) throws {
        self.db = db
        self.importID = importID
        names = InternedTable(db)
        sections = InternedTable(db)
        maintainers = InternedTable(db)
        // max(): of two programs that import the same file, the one that started later decides what is absent.
        let update = """
            DO UPDATE SET version = excluded.version, state = excluded.state, section_id = excluded.section_id,
                maintainer_id = excluded.maintainer_id, installed_size = excluded.installed_size,
                download_size = excluded.download_size, summary = excluded.summary, description = excluded.description,
                import_id = max(import_id, excluded.import_id), revision = revision + 1
            """
        upsertPackage = try db.cachedStatement(
            sql: """
                INSERT INTO packages (name_id, architecture, version, state, section_id, maintainer_id,
                    installed_size, download_size, summary, description, import_id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (name_id, architecture) WHERE state <> 'available' \(update)
                ON CONFLICT (name_id, architecture, version) WHERE state = 'available' \(update)
                RETURNING id, revision
                """)
    }

    mutating func store(_ package: Package) throws {
        let row = try Row.fetchOne(
            upsertPackage,
            arguments: [
                try names.id(of: package.name), package.architecture, package.version, package.state,
                try package.section.map { try sections.id(of: $0) },
                try package.maintainer.map { try maintainers.id(of: $0) },
                package.installedSize, package.downloadSize, package.summary, package.description, importID,
            ])
        guard let row else { throw DatabaseError(message: "upsert returned no row") }
        let packageID = try row.decode(Int64.self, forColumn: "id")
        if try row.decode(Int.self, forColumn: "revision") == 1 {
            stored.added += 1
        } else {
            stored.updated += 1
            try AlternativeRecord.filter { $0.packageID == packageID }.deleteAll(db)
        }
        stored.rows += try AlternativeRecord.insertAll(db, alternatives(of: package, packageID))
        stored.rows += 1 + names.takeInserted() + sections.takeInserted() + maintainers.takeInserted()
    }

    private mutating func alternatives(of package: Package, _ packageID: Int64) throws -> [AlternativeRecord] {
        var records: [AlternativeRecord] = []
        for (position, dependency) in package.dependencies.enumerated() {
            for (number, alternative) in dependency.alternatives.enumerated() {
                records.append(
                    AlternativeRecord(
                        packageId: packageID, position: position, alternative: number, kind: dependency.kind,
                        targetId: try names.id(of: alternative.name), qualifier: alternative.qualifier,
                        relation: alternative.requirement?.relation, version: alternative.requirement?.version,
                        architectures: alternative.architectures, profiles: alternative.profiles))
            }
        }
        return records
    }
}

/// A table of texts that are stored once.
private struct InternedTable<Text: SharedText> {
    private let db: Database
    private var ids: [String: Int64] = [:]
    private var inserted = 0

    init(_ db: Database) { self.db = db }

    mutating func id(of text: String) throws -> Int64 {
        if let known = ids[text] { return known }
        if let found = try Text.fetchOne(db, key: ["name": text]) {
            ids[text] = found.id
        } else {
            ids[text] = try Text(id: nil, name: text).inserted(db).id
            inserted += 1
        }
        return ids[text]!
    }

    mutating func takeInserted() -> Int {
        defer { inserted = 0 }
        return inserted
    }
}
