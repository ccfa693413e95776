public import Quarry
import QuarryCore

extension DatabaseReader {
    /// Checks the file: its pages, indexes, foreign keys, and full-text indexes, on this thread.
    ///
    /// ```swift
    /// let report = try dbPool.checkIntegrity(.quick)
    /// if report.isDamaged { print(report) }
    /// ```
    /// ```sql
    /// PRAGMA main.quick_check(100)
    /// PRAGMA main.foreign_key_check
    /// INSERT INTO article (article) VALUES ('integrity-check')
    /// ```
    ///
    /// The check reads the whole file. In a pool writes go on, except while full-text indexes are compared with their
    /// tables. Readers that can't write read those indexes instead. Damage is handled as that which an error shows: see
    /// `Configuration.onCorruption(_:)`. See <https://www.sqlite.org/pragma.html#pragma_integrity_check>.
    ///
    /// - parameter level: the extent.
    /// - parameter maximumProblems: the maximum number of problems, and of violated foreign keys, to return.
    /// - parameter progress: called when a part begins. Its error ends the check, and is thrown.
    /// - returns: the problems. A file that can't be read at all is a problem.
    /// - throws: the errors of `read`; `SQLITE_MISUSE` for a number of problems below one.
    public func checkIntegrity(
        _ level: IntegrityReport.Level = .full, maximumProblems: Int = 100,
        progress: ((IntegrityStep) throws -> Void)? = nil
    ) throws -> IntegrityReport {
        do {
            let (report, file) = try read { db in
                let report = try db.integrityReport(level, maximumProblems: maximumProblems) { try progress?($0) }
                return (report, db.checkedFile)
            }
            guard file.hasFullText else { return noting(report, file.path) }
            let (failures, unchecked) =
                if let writer = writerForChecks {
                    try writer.perform(AccessRequest(.bare)) { db in
                        try db.checkFullText(writes: true) { try progress?($0) }
                    }
                } else {
                    try unsafeRead { db in try db.checkFullText(writes: false) { try progress?($0) } }
                }
            return noting(report.adding(failures, unchecked: unchecked), file.path)
        } catch let error as DatabaseError where error.saysThatFileIsDamaged {
            return noting(IntegrityReport(level: level, unreadable: error), path)
        }
    }

    /// Checks the file as the synchronous `checkIntegrity`; waiting suspends the task.
    ///
    /// ```swift
    /// let report = try await dbPool.checkIntegrity()
    /// ```
    ///
    /// Cancelling the task interrupts the check.
    ///
    /// - parameter level: the extent.
    /// - parameter maximumProblems: the maximum number of problems, and of violated foreign keys, to return.
    /// - parameter progress: called when a part begins. Its error ends the check, and is thrown.
    /// - returns: the problems. A file that can't be read at all is a problem.
    /// - throws: the errors of the synchronous `checkIntegrity`; `CancellationError`.
    public func checkIntegrity(
        _ level: IntegrityReport.Level = .full, maximumProblems: Int = 100,
        progress: (@Sendable (IntegrityStep) throws -> Void)? = nil
    ) async throws -> IntegrityReport {
        do {
            let check: @Sendable (Database) throws -> (IntegrityReport, CheckedFile) = { db in
                let report = try db.integrityReport(level, maximumProblems: maximumProblems) { try progress?($0) }
                return (report, db.checkedFile)
            }
            // A check takes long: it never runs on one of Swift's threads.
            let (report, file) =
                if let reader = groupReader {
                    try await reader.readers.perform(AccessRequest(reader.readRequest.kind, .offloaded), check)
                } else {
                    try await read(check)
                }
            guard file.hasFullText else { return noting(report, file.path) }
            let (failures, unchecked) =
                if let writer = writerForChecks {
                    try await writer.perform(AccessRequest(.bare)) { db in
                        try db.checkFullText(writes: true) { try progress?($0) }
                    }
                } else {
                    try await unsafeRead { db in try db.checkFullText(writes: false) { try progress?($0) } }
                }
            return noting(report.adding(failures, unchecked: unchecked), file.path)
        } catch let error as DatabaseError where error.saysThatFileIsDamaged {
            return noting(IntegrityReport(level: level, unreadable: error), path)
        }
    }

    /// The damage of the file that is known; nil if none is known, or if another file has replaced it.
    ///
    /// ```swift
    /// if let damage = dbPool.knownCorruption { print(damage.integrity) }
    /// ```
    ///
    /// Damage is known after a check has confirmed it: `checkIntegrity`, or that of `Configuration.onCorruption(_:)`.
    /// It is forgotten once the database is restored, or a check of the level `full` finds nothing.
    public var knownCorruption: CorruptionReport? { groupReader?.core.corruptionIfMade?.knownDamage }

    /// Runs the checks that need a connection that writes; nil if there is none.
    private var writerForChecks: AccessRunner? {
        guard !configuration.readonly, knownCorruption == nil else { return nil }
        return (groupReader as? any GroupWriter)?.writer
    }

    private func noting(_ report: IntegrityReport, _ path: String?) -> IntegrityReport {
        if report.isDamaged, let path, let core = groupReader?.core {
            core.corruption.damageWasFound(report, path: path, configuration)
        } else if !report.isDamaged, report.level == .full, knownCorruption != nil {
            // The program, or another process, has restored the file.
            groupReader?.core.corruptionIfMade?.databaseWasRestored()
        }
        return report
    }
}

/// The file of a check.
private struct CheckedFile {
    /// nil for a database in memory.
    var path: String?
    /// Whether it has full-text indexes, as far as its schema can be read.
    var hasFullText: Bool
}

extension Database {
    fileprivate var checkedFile: CheckedFile {
        CheckedFile(path: mainFilePath, hasFullText: (try? fullTextTables().isEmpty) == false)
    }
}
