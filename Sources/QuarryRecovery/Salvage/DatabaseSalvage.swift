public import Quarry
import QuarryCore

/// Saves what can be read of a damaged database into a new file.
///
/// ```swift
/// let report = try await DatabaseSalvage(path: "/var/lib/app/players.sqlite.damaged")
///     .salvage(into: "/var/lib/app/players.sqlite")
/// print(report)
/// ```
///
/// Every row on an undamaged page is saved, also if the pages that lead to it are damaged. The damaged file, and the
/// log or journal beside it, are only read. The new file appears when it is complete.
///
/// Rows that can't be attributed to a table, that their table refuses, or whose bytes may be those of another row, are
/// in a table `lost_and_found`. Foreign keys are not enforced meanwhile: `SalvageReport.integrity` has the rows that
/// violate them.
public struct DatabaseSalvage: Sendable {
    /// The path of the damaged file.
    public let path: String

    /// The settings with which the new file is opened: functions, collations and tokenizers that the schema needs.
    public var configuration: Configuration

    /// Whether pages that the database doesn't use are searched, too: they may have deleted rows, which are put into
    /// `lost_and_found`.
    public var includesFreePages = false

    var files = FileOperations()

    /// The salvage of a damaged file.
    ///
    /// ```swift
    /// var salvage = DatabaseSalvage(path: "/var/lib/app/players.sqlite.damaged")
    /// salvage.includesFreePages = true
    /// ```
    ///
    /// - parameter path: the file. Its `-wal` or `-journal`, if it has one, is beside it.
    /// - parameter configuration: the settings with which the new file is opened.
    public init(path: String, configuration: Configuration = Configuration()) {
        self.path = path
        self.configuration = configuration
    }

    /// Saves what can be read, on this thread.
    ///
    /// ```swift
    /// let report = try DatabaseSalvage(path: damaged).salvage(into: path) { progress in
    ///     print("\(progress.phase): \(progress.savedRowCount) rows")
    /// }
    /// ```
    ///
    /// - parameter target: the path of the new file, which must not exist. It is written under another name,
    ///   `.players.sqlite.9f86d081884c7d65.partial`, and renamed at the end. A process that is killed meanwhile leaves
    ///   that file, and the next salvage or backup with the same target removes it. The permissions are those of the
    ///   damaged file.
    /// - parameter progress: called from time to time. Its error ends the salvage, and is thrown.
    /// - returns: what was saved and lost.
    /// - throws: `SQLITE_CANTOPEN` if the damaged file doesn't exist, or if the target does, or has a log or journal
    ///   beside it; `SQLITE_NOTADB` for an empty file; `SQLITE_BUSY` if a connection is just writing the file; errors
    ///   of writing the target, such as `SQLITE_FULL`; `SQLITE_CORRUPT` if it can't be read back; the error of
    ///   `progress`. Then no target exists.
    public func salvage(
        into target: String, progress: ((SalvageProgress) throws -> Void)? = nil
    ) throws -> SalvageReport {
        try run(target, followsTask: false) { try progress?($0) }
    }

    /// Saves what can be read, on a thread of the library.
    ///
    /// ```swift
    /// let report = try await DatabaseSalvage(path: damaged).salvage(into: path)
    /// ```
    ///
    /// Cancelling the task ends the salvage; then no target exists.
    ///
    /// - parameter target: the path of the new file, which must not exist.
    /// - parameter progress: called from time to time. Its error ends the salvage, and is thrown.
    /// - returns: what was saved and lost.
    /// - throws: the errors of the synchronous `salvage`; `CancellationError`.
    public func salvage(
        into target: String, progress: (@Sendable (SalvageProgress) throws -> Void)? = nil
    ) async throws -> SalvageReport {
        let workers = WorkerThreads(connectionCount: 1)
        defer { workers.shutDown() }
        return try await workers.opening {
            try run(target, followsTask: true) { step in
                try Task.checkCancellation()
                try progress?(step)
            }
        }
    }

    private func run(
        _ target: String, followsTask: Bool, _ tick: @escaping (SalvageProgress) throws -> Void
    ) throws -> SalvageReport {
        let newFile = try BackupTarget(target, files, "salvage of \(path) into \(target)", refusal: "the file exists")
        try newFile.check(replacesExisting: false, source: path)
        let source = try PageSource(path: path, vfs: configuration.vfs)
        let stamp = source.stamp()
        let salvager = Salvager(source, target: target, includesFreePages: includesFreePages, tick)
        try salvager.readSchema()
        // A leftover that can't be removed is no reason to save nothing.
        PartialFile.removeLeftovers(in: newFile.folderPath, files) { $0 == newFile.name }
        let permissions = try newFile.calling { try files.status(path)?.permissions }
        let file = try PartialFile(newFile, permissions: permissions)
        defer { file.discard() }
        try write(salvager, file.path, followsTask: followsTask)
        var report = salvager.report
        report.headerIsDamaged = source.header.isDamaged
        report.unreadablePages = source.unreadable.first(1000)
        report.unreadableCompanions = source.unreadableCompanions
        report.sourceWasWritten = source.stamp() != stamp
        try tick(
            SalvageProgress(
                phase: .check, readPageCount: source.readCount, pageCount: report.pageCount,
                savedRowCount: report.savedRowCount))
        report.integrity = try check(file.path, source, followsTask: followsTask)
        // Virtual tables may contradict themselves, as newer versions of SQLite say; pages may not.
        let problems = report.integrity.problems
        if let problem = problems.first(where: { $0.kind == .structure && ($0.page ?? $0.rootPage) != nil }) {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "the new file can't be read back: \(problem)")
        }
        try newFile.calling { try file.removeCompanions() }
        if followsTask { try Task.checkCancellation() }
        try file.publish(replacesExisting: false)
        return report
    }

    /// Fills the new file in one transaction.
    private func write(_ salvager: Salvager, _ path: String, followsTask: Bool) throws {
        let header = salvager.source.header
        var pragmas = [
            "PRAGMA encoding = '\(header.encoding.name)'", "PRAGMA page_size = \(header.pageSize)",
            "PRAGMA auto_vacuum = \(header.isAutoVacuum ? header.isIncrementalVacuum ? 2 : 1 : 0)",
        ]
        // The file is removed after an error, and synced at its end. Only statements that fail need a journal.
        pragmas += ["PRAGMA journal_mode = MEMORY", "PRAGMA synchronous = OFF"]
        let database = try open(path, readonly: false, first: pragmas, followsTask: followsTask)
        defer { try? database.close() }
        try AccessRunner.frame(database, followsTask: followsTask) { db in
            try limitMemory(db, salvager.source)
            let target = SalvageTarget(
                db, encoding: header.encoding, tableNames: Set(salvager.objects.map(\.name)))
            try db.inTransaction(.immediate) {
                try salvager.createTables(target)
                try salvager.salvageTables(target)
                try salvager.salvageOrphans(target)
                try salvager.createOtherObjects(target)
                return .commit
            }
            if target.lostAndFound.rowCount > 0 {
                salvager.report.lostAndFoundTable = target.lostAndFound.name
                salvager.report.lostAndFoundRowCount = target.lostAndFound.rowCount
            }
        }
    }

    private func check(_ path: String, _ source: PageSource, followsTask: Bool) throws -> IntegrityReport {
        // A new connection: that which wrote the file has parts of it in memory.
        let database = try open(path, readonly: false, first: [], followsTask: followsTask)
        defer { try? database.close() }
        return try AccessRunner.frame(database, followsTask: followsTask) { db in
            try limitMemory(db, source)
            let report = try db.integrityReport(.quick, maximumProblems: 1000) { _ in }
            let (failures, unchecked) = try db.checkFullText(writes: true) { _ in }
            return report.adding(failures, unchecked: unchecked)
        }
    }

    /// The expressions of a schema may make values of any size, such as `zeroblob(1e9)`: those that are much larger
    /// than the file are refused.
    private func limitMemory(_ db: Database, _ source: PageSource) throws {
        let size = 4 * source.pageCount * source.header.pageSize
        try db.setLimit(.length, to: min(max(size, 1 << 24), Int(Int32.max)))
    }

    private func open(_ path: String, readonly: Bool, first pragmas: [String], followsTask: Bool) throws -> Database {
        var configuration = configuration
        configuration.label = nil
        configuration.readonly = readonly
        configuration.acceptsURIs = false
        // Text of an old schema, and the tables of virtual tables, are written as they are.
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.defensive = false
        configuration.foreignKeysEnabled = false
        configuration.commitNumbers = .counted
        configuration.statementTimeout = nil
        configuration.allowsUnsafeTransactions = false
        var options = configuration.connectionOptions(readonly: readonly)
        options.pragmas = pragmas + options.pragmas.filter { !$0.hasPrefix("PRAGMA synchronous") }
        return try configuration.open(path: path, readonly: readonly, options: options, followsTask: followsTask)
    }
}
