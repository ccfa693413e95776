import Quarry
public import QuarryIncrementalWrites
import Synchronization

extension Catalog {
    /// Starts an import of a file, and returns its number: higher than that of every import before it.
    func beginImport(of source: String) async throws -> Int64 {
        try await database.write { db in
            try ImportRecord(source: source).inserted(db).id!
        }
    }

    /// Stores packages in steps, and lets other accesses in between. The readers of a catalogue that grows see whole
    /// packages.
    ///
    /// A package that the catalogue knows is updated in place: on a machine the one with the same name and
    /// architecture, in a list the one that has the same version, too.
    ///
    /// - parameter progress: how far the program has come. Each transaction notes it in the catalogue, which
    ///   `importProgress` tells. After an error it counts what was committed before.
    func store(
        _ packages: [Package], import importID: Int64, progress: inout ImportProgress,
        pace: IncrementalWritePace = importPace
    ) async throws {
        guard !packages.isEmpty else { return }
        let ends = Self.stepEnds(of: packages)
        let writer = SharedWriter(PackageWriter(importID: importID, progress: progress))
        defer { progress = writer.state.withLock(\.committed) }
        try await database.writeIncrementally(pace) { step in
            if step.isNewTransaction {
                writer.state.withLock { $0.transactionDidBegin() }
                step.db.afterNextTransaction { _ in writer.state.withLock { $0.transactionDidCommit() } }
            }
            let start = step.index == 0 ? 0 : ends[step.index - 1]
            let end = ends[step.index]
            try writer.state.withLock { try $0.store(packages[start..<end], in: step.db) }
            return end == packages.count ? .done : .next
        }
    }

    static let packagesPerStep = 20

    /// A step ends when its packages weigh more bytes, however few they are: another access waits for it.
    static let maximumStepWeight = 1 << 18

    /// For each step, the index after its last package.
    static func stepEnds(of packages: [Package]) -> [Int] {
        var ends: [Int] = []
        var (start, weight) = (0, 0)
        for (index, package) in packages.enumerated() {
            weight += package.weight
            guard index + 1 - start == packagesPerStep || weight > maximumStepWeight else { continue }
            ends.append(index + 1)
            (start, weight) = (index + 1, 0)
        }
        if start < packages.count { ends.append(packages.count) }
        return ends
    }

    /// Another access waits for 25 ms and a step. A commit costs as much as some steps: the index of the search gets a
    /// segment in each transaction, and merges them.
    public static let importPace = IncrementalWritePace(minimumHold: .milliseconds(25))

    /// Ends an import, and returns how many packages it removed. Others are let in here, too.
    ///
    /// - parameter removingAbsent: whether packages that an earlier import found in the same file, and this one
    ///   didn't, are removed.
    func finishImport(_ importID: Int64, removingAbsent: Bool) async throws -> Int {
        let removed = removingAbsent ? try await removeAbsent(importID) : 0
        try await deleteOrphans(of: importID)
        return removed
    }

    /// Updates the statistics by which SQLite plans queries: without them it takes all tables for large ones.
    ///
    /// The first time with ANALYZE, because `PRAGMA optimize` passes over tables that its own connection has not
    /// queried: <https://www.sqlite.org/lang_analyze.html#req>. The limit bounds the rows that are read.
    ///
    /// ```sql
    /// PRAGMA analysis_limit = 400
    /// ANALYZE -- later: PRAGMA optimize
    /// ```
    func updateStatistics() async throws {
        guard !isOnCluster else { return }
        try await database.write { db in
            db.accessLabel = "update statistics"
            try db.execute(sql: "PRAGMA analysis_limit = 400")
            let isFirst = try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'") == nil
            if isFirst { try db.analyze() } else { try db.optimize() }
        }
    }

    private func removeAbsent(_ importID: Int64) async throws -> Int {
        let source = ImportRecord.filter { $0.id == importID }.select(\.source)
        let earlier = ImportRecord.filter { $0.id < importID && $0.source == source }.select(\.id)
        let absent = Package.filter { earlier.contains($0.importID) }.limit(Self.packagesPerStep)
        let removed = Mutex(0)
        try await database.writeIncrementally { step in
            let count = try absent.deleteAll(step.db)
            removed.withLock { $0 += count }
            return count == 0 ? .done : .next
        }
        return removed.withLock(\.self)
    }

    /// Deletes what nothing refers to any more.
    ///
    /// An import of another source may have begun, and have no packages yet: its record stays.
    private func deleteOrphans(of importID: Int64) async throws {
        let source = ImportRecord.filter { $0.id == importID }.select(\.source)
        try await database.write { db in
            let package = TableAlias<Package>()
            try ImportRecord.filter { $0.id < importID && $0.source == source }
                .joining(optional: ImportRecord.packages.aliased(package)).filter(!package.exists).deleteAll(db)
            try Section.joining(optional: Section.packages.aliased(package)).filter(!package.exists).deleteAll(db)
            try Maintainer.joining(optional: Maintainer.packages.aliased(package)).filter(!package.exists)
                .deleteAll(db)
        }
        // There are many names, few of them orphans: each step looks at some.
        let previous = Mutex(Int64.min)
        try await database.writeIncrementally { step in
            let first = previous.withLock(\.self)
            let some = Name.filter { $0.id > first }.order(\.id).limit(2_000).select(\.id)
            guard let last = try Int64.fetchAll(step.db, some).last else { return .done }
            let (package, mention) = (TableAlias<Package>(), TableAlias<AlternativeRecord>())
            try Name.filter { $0.id > first && $0.id <= last }
                .joining(optional: Name.packages.aliased(package)).joining(optional: Name.mentions.aliased(mention))
                .filter(!package.exists && !mention.exists).deleteAll(step.db)
            previous.withLock { $0 = last }
            return .next
        }
    }
}

/// The writer that the steps and the commits of an incremental write share.
private final class SharedWriter: Sendable {
    let state: Mutex<PackageWriter>

    init(_ writer: PackageWriter) { state = Mutex(writer) }
}

/// How far an incremental write has come, and the row ids that its packages share.
///
/// The ids live no longer than a transaction: another access may delete their rows in between.
private struct PackageWriter {
    /// The progress at the last commit.
    private(set) var committed: ImportProgress
    private var progress: ImportProgress
    private let importID: Int64
    private var names = InternedTable<Name>()
    private var sections = InternedTable<Section>()
    private var maintainers = InternedTable<Maintainer>()

    init(importID: Int64, progress: ImportProgress) {
        self.importID = importID
        self.progress = progress
        committed = progress
    }

    mutating func transactionDidBegin() {
        names = InternedTable()
        sections = InternedTable()
        maintainers = InternedTable()
    }

    mutating func transactionDidCommit() {
        progress.transactions += 1
        committed = progress
    }

    /// Stores some packages, and how far the program has come.
    mutating func store(_ packages: ArraySlice<Package>, in db: Database) throws {
        let upsert = try db.cachedStatement(sql: Self.upsertPackage)
        for package in packages { try store(package, by: upsert, in: db) }
        progress.packages += packages.count
        progress.rows += names.takeInserted() + sections.takeInserted() + maintainers.takeInserted()
        _ = try ImportRecord.filter { $0.id == importID }.updateAll(db) {
            [
                $0.packages.set(to: progress.packages), $0.rows.set(to: progress.rows),
                $0.bytesRead.set(to: progress.bytesRead), $0.byteCount.set(to: progress.byteCount),
            ]
        }
    }

    private static let upsertPackage = {
        // max(): of two programs that import the same file, the one that started later decides what is absent.
        let update = """
            DO UPDATE SET version = excluded.version, state = excluded.state, section_id = excluded.section_id,
                maintainer_id = excluded.maintainer_id, homepage = excluded.homepage,
                installed_size = excluded.installed_size, download_size = excluded.download_size,
                summary = excluded.summary, description = excluded.description,
                import_id = max(import_id, excluded.import_id), revision = revision + 1
            """
        return """
            INSERT INTO packages (name_id, architecture, version, state, section_id, maintainer_id,
                homepage, installed_size, download_size, summary, description, import_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (name_id, architecture) WHERE state <> 'available' \(update)
            ON CONFLICT (name_id, architecture, version) WHERE state = 'available' \(update)
            RETURNING id, revision
            """
    }()

    private mutating func store(_ package: Package, by upsert: Statement, in db: Database) throws {
        let row = try Row.fetchOne(
            upsert,
            arguments: [
                try names.id(of: package.name, in: db), package.architecture, package.version, package.state,
                try package.section.map { try sections.id(of: $0, in: db) },
                try package.maintainer.map { try maintainers.id(of: $0, in: db) },
                package.homepage, package.installedSize, package.downloadSize, package.summary, package.description,
                importID,
            ])
        guard let row else { throw DatabaseError(message: "upsert returned no row") }
        let packageID = try row.decode(Int64.self, forColumn: "id")
        let isNew = try row.decode(Int.self, forColumn: "revision") == 1
        let alternatives = try alternatives(of: package, packageID, in: db)
        if isNew {
            progress.added += 1
            progress.rows += try AlternativeRecord.insertAll(db, alternatives)
        } else {
            progress.updated += 1
            progress.rows += try replaceAlternatives(of: packageID, by: alternatives, in: db)
        }
        progress.rows += 1
    }

    /// Most packages of another import have the dependencies that they had.
    private func replaceAlternatives(
        of packageID: Int64, by alternatives: [AlternativeRecord], in db: Database
    ) throws -> Int {
        let stored = AlternativeRecord.filter { $0.packageID == packageID }
        if try stored.order({ [$0.position, $0.alternative] }).fetchAll(db) == alternatives { return 0 }
        try stored.deleteAll(db)
        return try AlternativeRecord.insertAll(db, alternatives)
    }

    private mutating func alternatives(
        of package: Package, _ packageID: Int64, in db: Database
    ) throws -> [AlternativeRecord] {
        var records: [AlternativeRecord] = []
        for (position, dependency) in package.dependencies.enumerated() {
            for (number, alternative) in dependency.alternatives.enumerated() {
                records.append(
                    AlternativeRecord(
                        packageId: packageID, position: position, alternative: number, kind: dependency.kind,
                        targetId: try names.id(of: alternative.name, in: db), qualifier: alternative.qualifier,
                        relation: alternative.requirement?.relation, version: alternative.requirement?.version,
                        architectures: alternative.architectures, profiles: alternative.profiles))
            }
        }
        return records
    }
}

/// A table of texts that are stored once.
private struct InternedTable<Text: SharedText> {
    private var ids: [String: Int64] = [:]
    private var inserted = 0

    mutating func id(of text: String, in db: Database) throws -> Int64 {
        if let known = ids[text] { return known }
        let search = try db.cachedStatement(sql: "SELECT id FROM \(Text.databaseTableName) WHERE name = ?")
        let id: Int64
        if let found = try Int64.fetchOne(search, arguments: [text]) {
            id = found
        } else {
            id = try Text(id: nil, name: text).inserted(db).id!
            inserted += 1
        }
        ids[text] = id
        return id
    }

    mutating func takeInserted() -> Int {
        defer { inserted = 0 }
        return inserted
    }
}
