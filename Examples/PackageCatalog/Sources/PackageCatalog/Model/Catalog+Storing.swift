import Quarry

/// What one transaction wrote.
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

    /// Stores packages in one transaction: all of them, or after an error or a cancellation none.
    ///
    /// A package that the catalogue knows is updated in place: on a machine the one with the same name and
    /// architecture, in a list the one that has the same version, too.
    func store(_ packages: [Package], import importID: Int64) async throws -> StoredBatch {
        try await database.write { db in
            var batch = try BatchWriter(db, importID: importID)
            for package in packages { try batch.store(package) }
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
                let absent: SQL = """
                    import_id IN (SELECT id FROM imports
                        WHERE id < \(importID) AND source = (SELECT source FROM imports WHERE id = \(importID)))
                    """
                try db.execute(literal: "DELETE FROM packages WHERE \(absent)")
                removed = db.changesCount
            }
            try db.execute(sql: Self.deletingOrphans)
            return removed
        }
    }

    /// What nothing refers to any more.
    private static let deletingOrphans = """
        DELETE FROM imports WHERE id <> (SELECT max(id) FROM imports)
            AND NOT EXISTS (SELECT 1 FROM packages WHERE import_id = imports.id);
        DELETE FROM sections WHERE NOT EXISTS (SELECT 1 FROM packages WHERE section_id = sections.id);
        DELETE FROM maintainers WHERE NOT EXISTS (SELECT 1 FROM packages WHERE maintainer_id = maintainers.id);
        DELETE FROM names WHERE NOT EXISTS (SELECT 1 FROM packages WHERE name_id = names.id)
            AND NOT EXISTS (SELECT 1 FROM dependencies WHERE target_id = names.id);
        """
}

/// What one batch writes with, and the row ids that its packages share.
///
/// The ids live no longer than the transaction: after a rollback they would name rows that don't exist.
private struct BatchWriter {
    private(set) var stored = StoredBatch()
    private let db: Database
    private let importID: Int64
    private let upsertPackage: Statement
    private let deleteDependencies: Statement
    private var names: InternedTable
    private var sections: InternedTable
    private var maintainers: InternedTable

    init(_ db: Database, importID: Int64) throws {
        self.db = db
        self.importID = importID
        names = InternedTable(db, table: "names")
        sections = InternedTable(db, table: "sections")
        maintainers = InternedTable(db, table: "maintainers")
        deleteDependencies = try db.cachedStatement(sql: "DELETE FROM dependencies WHERE package_id = ?")
        // max(): of two programs that import the same file, the one that started later decides what is absent.
        let update = """
            DO UPDATE SET version = excluded.version, state = excluded.state, section_id = excluded.section_id,
                maintainer_id = excluded.maintainer_id, installed_size = excluded.installed_size,
                download_size = excluded.download_size, summary = excluded.summary,
                import_id = max(import_id, excluded.import_id), revision = revision + 1
            """
        upsertPackage = try db.cachedStatement(
            sql: """
                INSERT INTO packages (name_id, architecture, version, state, section_id, maintainer_id,
                    installed_size, download_size, summary, import_id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
                package.installedSize, package.downloadSize, package.summary, importID,
            ])
        guard let row else { throw DatabaseError(message: "upsert returned no row") }
        let packageID = try row.decode(Int64.self, forColumn: "id")
        if try row.decode(Int.self, forColumn: "revision") == 1 {
            stored.added += 1
        } else {
            stored.updated += 1
            try deleteDependencies.execute(arguments: [packageID])
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

/// A table of texts that are stored once: `names`, `sections`, `maintainers`.
private struct InternedTable {
    private let db: Database
    private let table: String
    private var ids: [String: Int64] = [:]
    private var inserted = 0

    init(_ db: Database, table: String) {
        self.db = db
        self.table = table
    }

    mutating func id(of text: String) throws -> Int64 {
        if let known = ids[text] { return known }
        if let found = try TextRecord.fetchOne(db, key: ["name": text], table: table) {
            ids[text] = found.id
        } else {
            ids[text] = try TextRecord(name: text).inserted(db, table: table).id
            inserted += 1
        }
        return ids[text]!
    }

    mutating func takeInserted() -> Int {
        defer { inserted = 0 }
        return inserted
    }
}
